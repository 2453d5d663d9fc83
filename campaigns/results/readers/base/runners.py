"""Take away what a runner of jobs wrote before, between and around the lines of a tool. Pure.

Runners are those of CI, docker compose, kubectl, journald and shells with `set -x`. Lines keep their numbers.
"""

import re
from collections import Counter
from collections.abc import Iterator

from campaigns.results.readers.base.problems import refuse

COLOUR = re.compile(r"\x1b\[[\d;?]{0,30}[A-Za-z]")
CLOCK = re.compile(r"\d{1,4}(?:[-:/.,T ]\d{1,9}){2,8}(?:Z|[+-]\d\d:?\d\d)?")
STAMP = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?"
END = r"(?: \d\d[OE](?:[+ ]|$)| |$)"
"""After a time; GitLab writes the number of a stream."""
INSTANTS = (
    re.compile(rf"[^\t\n]{{1,100}}\t[^\t\n]{{1,100}}\t\ufeff?{STAMP}{END}", re.ASCII),
    re.compile(rf"{STAMP}{END}", re.ASCII),
    re.compile(
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]{1,80} [\w.@-]{1,80}\[\d{1,9}\]:)?(?: |$)",
        re.ASCII,
    ),
    re.compile(r"\[?\d\d:\d\d:\d\d(?:\.\d{1,9})?\]?(?: |$)", re.ASCII),
)
"""Times, each another one: of gh run view, of CI and compose -t, of journald and ts, of a clock."""
NAMES = re.compile(
    r"[\w.-]{1,80} {1,80}\|(?: |$)|\[[^\]\s][^\]\n]{0,120}\](?: (?:out|err):)?(?: |$)", re.ASCII
)
"""The name of a container, pod or host, the same in all of its lines."""
AROUND = re.compile(
    r"\+{1,4} \S|##\[|::\w{1,20}(?: [^:\n]{0,200})?::|\[command\]|section_(?:start|end):|Attaching to \S|\S{1,80} exited with code \d"
)
"""Whole lines of runners and shells."""
MOST_NAMES = 8
MOST_PREFIXES, MOST_CELLS_OF_TEXT = 20, 5_000_000
MOST_DEEP = 3


def without_runner(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts without what a runner wrote, and a sentence on that; nothing where there are no traces of one.

    The lines of several containers are one text each, since nobody knows which of them measured.
    """
    lines = [_shown(line) for line in text.split("\n")]
    yield from _texts(lines, "", text, MOST_DEEP)


def has_times(head: bytes) -> bool:
    """Return whether a time stands before most lines, so that they must not be read with it."""
    lines = head.decode("utf-8", "replace").split("\n")
    return _time_before([_shown(line) for line in lines]) is not None


def _texts(lines: list[str], told: str, original: str, deep: int) -> Iterator[tuple[str, str]]:
    time = _time_before(lines)
    prefixes = [(time, "The time")] if time else _names(lines)
    if not prefixes or deep < MOST_DEEP:
        yield from _without_lines(lines, told, original)
    for prefix, name in prefixes if deep else ():
        kept, others, first = [], 0, 0
        for number, line in enumerate(lines, 1):
            found = prefix.match(line)
            kept.append(line[found.end() :] if found else "")
            if not found and line.strip() and not AROUND.match(line):
                others, first = others + 1, first or number
        sentence = f"{told} {name} before the lines is taken away."
        if others:
            sentence += f" Lines without it are left out: {others:,}, the first is line {first}."
        yield from _texts(kept, sentence.strip(), original, deep - 1)


def _without_lines(lines: list[str], told: str, original: str) -> Iterator[tuple[str, str]]:
    """Yield a text without whole lines of a runner, unless it is the original."""
    around = _around(lines)
    if around:
        told += (
            f" Lines of a runner are left out: {len(around):,}, the first is line {min(around)}."
        )
    result = "\n".join("" if number in around else line for number, line in enumerate(lines, 1))
    if result != original:
        yield result, told.strip() or "Colours and bars of progress are taken away."


def _around(lines: list[str]) -> set[int]:
    """Return the numbers of the lines that a runner wrote, with those of a command that it is about to run."""
    numbers, inside = set(), False
    for number, line in enumerate(lines, 1):
        inside = inside or line.startswith("##[group]Run ")
        if inside or AROUND.match(line):
            numbers.add(number)
        inside = inside and not line.startswith("##[endgroup]")
    return numbers


def _shown(line: str) -> str:
    """Return a line without colours, as it stood when its bar of progress was overwritten the last time."""
    return COLOUR.sub("", line).rstrip("\r").rpartition("\r")[2]


def _written(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip() and not AROUND.match(line)]


def _time_before(lines: list[str]) -> re.Pattern[str] | None:
    """Return the form of the time that stands before most lines."""
    written = _written(lines)
    for instant in INSTANTS:
        if 2 * sum(bool(instant.match(line)) for line in written) > len(written):
            return instant
    return None


def _names(lines: list[str]) -> list[tuple[re.Pattern[str], str]]:
    """Return the names that stand before most lines, the most frequent first."""
    written = _written(lines)
    counts = Counter(found[0].rstrip() for line in written if (found := NAMES.match(line)))
    if 2 * sum(counts.values()) <= len(written):
        return []
    return [
        (re.compile(re.escape(name) + "(?: |$)"), f"“{name}”")
        for name, _ in counts.most_common(MOST_NAMES)
    ]


def without_prefixes(text: str, mark: re.Pattern[str]) -> list[str]:
    """Return a text without colours and without what a runner wrote before each line, such as `[db1] out: ` or an instant.

    mark: of a line that the tool prints in every output; what stands before it is the prefix. Outputs with
    different prefixes are one text each, with all lines at their place and those of the others empty; lines
    without any of these prefixes are in the first text.
    """
    lines = COLOUR.sub("", text).split("\n")
    prefixes: dict[str, re.Pattern[str]] = {}
    for line in lines:
        if found := mark.search(line):
            prefix = line[: found.start()]
            parts = (re.escape(part) for part in CLOCK.split(prefix.rstrip(" ")))
            spaces = f" {{0,{len(prefix) - len(prefix.rstrip(' '))}}}"
            prefixes.setdefault(
                CLOCK.sub("\n", prefix), re.compile(CLOCK.pattern.join(parts) + spaces)
            )
    if len(prefixes) > MOST_PREFIXES or len(prefixes) * len(lines) > MOST_CELLS_OF_TEXT:
        refuse(
            "",
            f"{len(prefixes)} different texts stand before the lines of the outputs; split the file.",
        )
    if not any(prefixes):
        return ["\n".join(lines)]
    texts = {prefix: [""] * len(lines) for prefix in prefixes}
    by_length = sorted(prefixes, key=len, reverse=True)
    for place, line in enumerate(lines):
        for prefix in by_length:
            if found := prefixes[prefix].match(line):
                texts[prefix][place] = line[found.end() :] if prefix else line
                break
        else:
            next(iter(texts.values()))[place] = line
    return ["\n".join(each) for each in texts.values()]
