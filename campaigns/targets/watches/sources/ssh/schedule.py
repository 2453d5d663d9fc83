"""What a machine does at set times: its timers, crontabs, and when its services were started. Pure.

Of a command in a crontab only the program's name is kept: its arguments may hold a password.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from campaigns.targets.watches.base import Event
from campaigns.targets.watches.sources.ssh.frames import CODING
from campaigns.targets.watches.sources.ssh.proc import printable

MOST_OUTPUT = 1 << 20
MOST_HOURS = 48
MOST_TIMES = 20
"""Of one line of a crontab that are told."""
LONGEST_LINE = 1_000
LEGEND = re.compile(
    r"^\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b.*?(?:\s\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b.*?)?\s(\S+\.timer)\s"
)
NAMES = {
    name: str(number)
    for names, first in (
        (("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1),
        (("sun", "mon", "tue", "wed", "thu", "fri", "sat"), 0),
    )
    for number, name in enumerate(names, first)
}
SHORTCUTS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer of systemd: seconds since the epoch of its next and its last start, None where there is none."""

    unit: str
    next: float | None
    last: float | None


@dataclass(frozen=True, slots=True)
class Start:
    """A service's last start, in seconds of uptime, and how often systemd restarted it."""

    restarts: int
    at: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the command `TIMERS` printed."""

    timers: Sequence[Timer] = ()
    services: Mapping[str, Start] | None = None
    crontabs: Sequence[tuple[str, str]] = ()
    zone: timezone = UTC


def schedule_of(output: bytes) -> Schedule:
    """Return what was printed; what is not understood is left out."""
    sections: dict[str, list[str]] = {}
    name = ""
    for line in output[:MOST_OUTPUT].decode(CODING).split("\n"):
        if line.startswith("perfdash "):
            name = line.removeprefix("perfdash ")
        elif line.strip():
            sections.setdefault(name, []).append(line)
    services = dict(_services(sections.get("services", [])))
    return Schedule(
        list(_timers(sections.get("timers", []))),
        services or None,
        [_cron_line(line) for line in sections.get("cron", []) if ":" in line],
        _zone((sections.get("zone") or [""])[0]),
    )


def _timers(lines: Sequence[str]) -> Iterator[Timer]:
    if lines and lines[0].startswith("["):
        try:
            rows = json.loads("\n".join(lines))
        except (ValueError, RecursionError):
            return
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and isinstance(row.get("unit"), str):
                yield Timer(
                    printable(row["unit"]), _micro(row.get("next")), _micro(row.get("last"))
                )
    for line in lines:  # systemd before 250 has no JSON here
        if match := LEGEND.match(line[:LONGEST_LINE]):
            yield Timer(printable(match[3]), _instant(match[1]), _instant(match[2]))


def _micro(value: Any) -> float | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 62
    return value / 1e6 if usable else None


def _instant(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() if text else None
    except ValueError:
        return None


def _services(lines: Sequence[str]) -> Iterator[tuple[str, Start]]:
    """Yield the services of blocks of properties; a block begins where a name comes again."""
    block: dict[str, str] = {}
    for line in [*lines, "Id="]:
        name, _, value = line.partition("=")
        if name in block or line == "Id=":
            start, restarts = block.get("ActiveEnterTimestampMonotonic", ""), block.get("NRestarts", "0")  # fmt: skip
            if block.get("Id") and start.isdigit() and int(start) and restarts.isdigit():
                yield printable(block["Id"]), Start(int(restarts[:9]), int(start[:18]) / 1e6)
            block = {}
        block[name] = value.strip()


def _zone(text: str) -> timezone:
    match = re.fullmatch(r"([+-])(\d\d)(\d\d)", text.strip())
    if match is None or int(match[2]) > 15:
        return UTC
    ahead = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(ahead if match[1] == "+" else -ahead)


def _cron_line(line: str) -> tuple[str, str]:
    path, _, text = line.partition(":")
    return path, text


def expected(schedule: Schedule, begin: float, end: float) -> list[Event]:
    """Return what starts within a span: seconds since the epoch by the machine's clock."""
    events = [
        Event("timer", f"{each.unit} runs.", each.next)
        for each in schedule.timers
        if each.next is not None and begin <= each.next <= end
    ]
    for path, line in schedule.crontabs:
        events += _of_crontab(path, line, schedule.zone, begin, end)
    return sorted(events, key=lambda event: event.at)


def happened(
    before: Schedule, after: Schedule, begin: float, end: float, boot: float | None
) -> list[Event]:
    """Return what ran within a span: timers, and services that were started again. boot: when the machine's uptime began."""
    events = [
        Event("timer", f"{each.unit} ran.", each.last)
        for each in after.timers
        if each.last is not None and begin <= each.last <= end
    ]
    timed = {each.unit.rpartition(".")[0] for each in after.timers}
    for unit, start in (after.services or {}).items():
        was = (before.services or {}).get(unit)
        if boot is None or was is None or unit.rpartition(".")[0] in timed:
            continue
        if start.restarts > was.restarts or start.at > was.at:
            times = start.restarts - was.restarts
            how = f"systemd restarted {unit}" if times > 0 else f"{unit} was restarted"
            events.append(Event("restart", f"{how}{f' {times} times' if times > 1 else ''}.", boot + start.at))  # fmt: skip
    return events


def _of_crontab(path: str, line: str, zone: timezone, begin: float, end: float) -> list[Event]:
    words = line.split()
    shared = path == "/etc/crontab" or path.startswith("/etc/cron.d/")
    if words and words[0] in SHORTCUTS:
        words = [*SHORTCUTS[words[0]].split(), *words[1:]]
    sets = [_times(word, *limits) for word, limits in zip(words[:5], RANGES, strict=False)]
    if len(words) < 6 or None in sets or len(words) < 6 + shared:
        return []
    minutes, hours, days, months, weekdays = (each or set() for each in sets)
    weekdays = {day % 7 for day in weekdays}
    name = f"{_program(words[5 + shared :])} of {printable(path.rpartition('/')[2], 40)}"
    at = datetime.fromtimestamp(begin, zone).replace(second=0, microsecond=0)
    events: list[Event] = []
    for _ in range(MOST_HOURS * 60):
        at += timedelta(minutes=1)
        if at.timestamp() > end or len(events) == MOST_TIMES:
            break
        if at.minute not in minutes or at.hour not in hours or at.month not in months:
            continue
        by_day, by_weekday = at.day in days, (at.weekday() + 1) % 7 in weekdays
        both = "*" in (words[2][0], words[4][0])  # cron: either fits, where both are given
        if (by_day and by_weekday) if both else (by_day or by_weekday):
            events.append(Event("timer", f"cron runs {name}.", at.timestamp()))
    return events


def _program(words: Sequence[str]) -> str:
    """Return the name of a command's program: after a test that guards it, and without variables."""
    words = list(words)
    if words and words[0] in {"[", "[[", "test", "if"} and "&&" in words:
        words = words[words.index("&&") + 1 :]
    while words and ("=" in words[0] or words[0] in {"nice", "ionice", "exec", "chronic"}):
        words = words[1:]
    if not words or not re.fullmatch(r"[\w./+-]{1,200}", words[0]):
        return "a command"
    return printable(words[0].rpartition("/")[2], 40)


def _times(text: str, least: int, most: int) -> set[int] | None:
    """Return the numbers of a field of a crontab; None for something else."""
    found: set[int] = set()
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        first, last = NAMES.get(first, first), NAMES.get(last, last)
        if span == "*":
            first, last = str(least), str(most)
        elif not last:
            last = str(most) if step else first
        numbers = [first, last, step or "1"]
        if not all(each.isdigit() and len(each) < 4 for each in numbers) or int(numbers[2]) == 0:
            return None
        if not least <= int(first) <= int(last) <= most:
            return None
        found.update(range(int(first), int(last) + 1, int(numbers[2])))
    return found
