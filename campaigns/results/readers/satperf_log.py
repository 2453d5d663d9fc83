"""Read satperf's measurement.log: CSV without a header, one line a measurement.

Fields: command, log, exit code, start, end, (duration,) katello, satellite, run, (results): those after the end are known by
what they are. Start and end are seconds since 1970, or ISO 8601.
"""

import re
from datetime import datetime

from campaigns.results.readers.base import (
    MOST_VALUES,
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    refuse,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.samples import LeftOut
from campaigns.results.readers.base.tables import lenient_rows
from campaigns.results.readers.base.texts import clean, instant_at, instant_of, number_of

FIRST = re.compile(rb"[^\n]*,-?\d{1,3},(?:[\d.T:+-]*),(?:[\d.T:+-]*),[^\n]*(?:katello|satellite)")
LEVEL = re.compile(
    r"(?P<before>\d{1,4}[a-z]?-(?:.*-)?concurrent-exec)-(?P<number>\d{1,9})(?P<after>-\D.*)?",
    re.ASCII,
)
"""Of the numbers in names of logs only that of concurrent executions is how many there are: others are capsules, or rounds."""
CODE = re.compile(r"-?\d{1,3}", re.ASCII)
INSTANT = re.compile(r"\d{9,10}(\.\d*)?$|\d{4}-\d\d-\d\d[T ]", re.ASCII)
NUMBER = re.compile(r"\d{1,30}(\.\d{0,30})?", re.ASCII)
RESULT = re.compile(r'results\.(items|tasks)\.(\w{1,40})="?([^"\s]*)"?')
NUMBERS = ("items.passed", "items.avg_duration", "tasks.duration")
ITEM_MEAN = "item_duration_mean"
METRICS = (
    common.DURATION,
    ReadMetric(ITEM_MEAN, "Mean duration of an item", "s", True, "aggregated", latency=True),
    ReadMetric("item_rate", "Items per second", "1/s", False, "aggregated"),
    ReadMetric("tasks_duration", "Duration of the tasks", "s", True, "aggregated"),
    common.failed_share("aggregated"),
)
VERSIONED = ("katello", "satellite")
LEAST_FIELDS = 8


class SatperfLog:
    """The test is a factor, and so is the number in its name, the number of hosts."""

    name = "satperf_log"
    label = "satperf"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a line with an exit code, two instants, and versions."""
        if head.lstrip()[:1] in (b"{", b"[", b"<"):
            return False
        return any(FIRST.match(line[:4000]) for line in head.split(b"\n", 5)[:5])

    def read(self, source: Source, options: Options) -> Read:
        """Read every line."""
        builder = Builder(self.name, self.label, work=("test",))
        builder.declare(*METRICS)
        results = _lines(source)
        tests = {_test(parts["log"])[0] for _, parts in results}
        counted = any(_test(parts["log"])[1] is not None for _, parts in results)
        for where, parts in results:
            with source.spare("A measurement"):
                _run(builder, parts, where, several=len(tests) > 1, counted=counted)
        markers = list(dict.fromkeys(parts["run"] for _, parts in results if parts["run"]))
        builder.note("runs", "; ".join(markers[:20]))
        for name in VERSIONED:
            versions = list(dict.fromkeys(parts[name] for _, parts in results if parts[name]))
            builder.fact(name, "; ".join(versions[:10]))
        builder.drop("Commands and names of logs are left out, apart from the test's name.")
        return builder.build(
            name="satperf",
            question="How long do the operations take, and at how many hosts at once?",
            primary=[ITEM_MEAN, "duration", "tasks_duration"],
            tags=("satperf",),
        )


def _lines(source: Source) -> list[tuple[str, dict[str, str]]]:
    """Return where each measurement is, and its parts."""
    results: list[tuple[str, dict[str, str]]] = []
    left = LeftOut()
    for line, fields in lenient_rows(source, left):
        where = f"line {line}"
        if len(results) >= MOST_VALUES:
            refuse("", f"The file has more than {MOST_VALUES:,} lines; split it.")
        if len(fields) == 1:
            source.unknown(line)
        elif len(fields) < LEAST_FIELDS:
            text = (
                f"{len(fields)} fields; satperf writes at least {LEAST_FIELDS}. Is the line whole?"
            )
            left.add(where, text)
        else:
            results.append((where, _parts(fields)))
    left.told(source, len(results))
    return results


def _parts(fields: list[str]) -> dict[str, str]:
    """Return the parts of a line; the optional ones by what they are."""
    place = _place_of_code(fields)
    parts = dict(zip(("log", "code", "start", "end"), fields[place - 1 :], strict=False))
    extra = []
    for field in fields[place + 3 :]:
        text = field.strip()
        if "results." in text:
            extra.append(text)
        elif NUMBER.fullmatch(text[:80]):
            parts.setdefault("duration", text)
        else:
            kind = next((name for name in VERSIONED if name in text.lower()), "run")
            parts.setdefault(kind, text)
    empty = dict.fromkeys(("duration", "run", *VERSIONED), "")
    return empty | parts | {"extra": " ".join(extra)}


def _place_of_code(fields: list[str]) -> int:
    """Return the place of the exit code, before two instants; there may be commas in the command."""
    for place in range(2, len(fields) - 2):
        if CODE.fullmatch(fields[place].strip()) and all(
            not each.strip() or INSTANT.match(each.strip())
            for each in fields[place + 1 : place + 3]
        ):
            return place
    return 2


def _test(log: str) -> tuple[str, int | None]:
    """Split the number from the name of a log: 50-concurrent-exec-40.log is 40 at once."""
    name = re.sub(r"\.(log|json)$", "", log.rpartition("/")[2][:300]).strip() or "unnamed"
    match = LEVEL.fullmatch(name)
    if match is None:
        return clean(name), None
    return clean(match["before"] + (match["after"] or "")), int(match["number"])


def _run(
    builder: Builder, parts: dict[str, str], where: str, *, several: bool, counted: bool
) -> None:
    test, number = _test(parts["log"])
    levels: dict[str, Scalar] = {"test": test} if several else {}
    if counted:
        levels["concurrency"] = "none" if number is None else number
    started, ended = (_instant(parts[key], key, where) for key in ("start", "end"))
    results = {
        f"{kind}.{name}": text for kind, name, text in RESULT.findall(parts["extra"][:20_000])
    }
    for name, text in results.items():
        if name in NUMBERS and text and number_of(text) is None:
            refuse(where, f"results.{name} is “{text[:40]}”, which is no number.")
    if not CODE.fullmatch(parts["code"].strip()):
        refuse(where, f"The exit code “{parts['code'][:40]}” is no number.")
    reason = "" if parts["code"].strip() == "0" else f"exit code {clean(parts['code'], 20)}"
    if started is None or ended is None:
        builder.run(levels, {}, reason=reason or "nothing was found in its log")
        return
    seconds = (ended - started).total_seconds()
    if seconds < 0:
        refuse(where, f"The end {parts['end'][:40]} is before the start {parts['start'][:40]}.")
    passed = number_of(results.get("items.passed", ""))
    values, done, failed = {}, 0, 0
    if passed is None and "items.passed" in results:
        text = clean(results["items.passed"], 40)
        refuse(where, f"results.items.passed is “{text}”, which is no count.")
    if passed is not None and 0 <= passed <= 1e9:
        done = int(passed)
        failed = max(0, number - done) if number is not None else 0
        values = _of_items(results, seconds, done)
        if number is not None and done + failed:
            values[common.FAILED_SHARE] = failed / (done + failed)
    elif (tasks := number_of(results.get("tasks.duration", ""))) is not None:
        values["tasks_duration"] = tasks
    else:
        stated = number_of(parts["duration"])
        values["duration"] = seconds if stated is None else stated
    builder.run(
        levels,
        values,
        reason=reason,
        started_at=started,
        finished_at=ended,
        units_done=done,
        units_failed=failed,
    )


def _of_items(results: dict[str, str], seconds: float, done: int) -> dict[str, float]:
    values = {}
    mean = number_of(results.get("items.avg_duration", ""))
    if mean is not None and mean >= 0:
        values[ITEM_MEAN] = mean
    if seconds > 0:
        values["item_rate"] = done / seconds
    return values


def _instant(text: str, name: str, where: str) -> datetime | None:
    """Return an instant, or None if the field is empty, as it is for a measurement without a result."""
    if not text.strip():
        return None
    seconds = number_of(text)
    result = instant_at(seconds) if seconds is not None else instant_of(text)
    if result is None:
        refuse(where, f"The {name} “{text[:40]}” is no instant of the years 1990 to 2099.")
    return result


reader = SatperfLog()
