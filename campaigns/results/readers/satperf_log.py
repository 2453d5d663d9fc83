"""Read satperf's measurement.log: CSV without a header, one line a measurement.

Fields: command, log, exit code, start, end, (duration,) katello, satellite, run, (results). Start and end
are seconds since 1970, or ISO 8601.
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
from campaigns.results.readers.base.tables import rows
from campaigns.results.readers.base.texts import clean, instant_at, instant_of, number_of

FIRST = re.compile(rb"[^\n]*,-?\d{1,3},(?:[\d.T:+-]*),(?:[\d.T:+-]*),[^\n]*(?:katello|satellite)")
LEVEL = re.compile(r"(?P<before>.+?)-(?P<number>\d{1,9})(?P<after>-\D.*)?", re.ASCII)
RESULT = re.compile(r'results\.(items|tasks)\.(\w{1,40})="?([^"\s]*)"?')
ITEM_MEAN = "item_duration_mean"
METRICS = (
    common.DURATION,
    ReadMetric(ITEM_MEAN, "Mean duration of an item", "s", True, "aggregated", latency=True),
    ReadMetric("item_rate", "Items per second", "1/s", False, "aggregated"),
    ReadMetric("tasks_duration", "Duration of the tasks", "s", True, "aggregated"),
    common.failed_share("aggregated"),
)
AT_ONCE = "concurrent"


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
        results = [
            (where, _parts(fields, where)) for where, fields in rows(source, most=MOST_VALUES)
        ]
        tests = {_test(parts["log"])[0] for _, parts in results}
        counted = any(_test(parts["log"])[1] is not None for _, parts in results)
        for where, parts in results:
            _run(builder, parts, where, several=len(tests) > 1, counted=counted)
        markers = list(dict.fromkeys(parts["run"] for _, parts in results))
        builder.note("runs", "; ".join(markers[:20]))
        for name in ("katello", "satellite"):
            versions = list(dict.fromkeys(parts[name] for _, parts in results if parts[name]))
            builder.fact(name, "; ".join(versions[:10]))
        builder.drop("Commands and names of logs are left out, apart from the test's name.")
        return builder.build(
            name="satperf",
            question="How long do the operations take, and at how many hosts at once?",
            primary=[ITEM_MEAN, "duration", "tasks_duration"],
            tags=("satperf",),
        )


def _parts(fields: list[str], where: str) -> dict[str, str]:
    if len(fields) < 8:
        refuse(where, f"{len(fields)} fields; satperf writes at least 8. Is the line whole?")
    command, log, code, start, end, *rest = fields
    duration = rest.pop(0) if re.fullmatch(r"\d+\.\d+", rest[0][:40], re.ASCII) else ""
    katello, satellite, run, *extra = [*rest, "", "", ""]
    names = ("command", "log", "code", "start", "end", "duration", "katello", "satellite", "run")
    values = (command, log, code, start, end, duration, katello, satellite, run)
    return dict(zip(names, values, strict=True)) | {"extra": " ".join(extra)}


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
    reason = "" if parts["code"].strip() == "0" else f"exit code {clean(parts['code'], 20)}"
    if started is None or ended is None:
        builder.run(levels, {}, reason=reason or "nothing was found in its log")
        return
    seconds = (ended - started).total_seconds()
    if seconds < 0:
        refuse(where, f"The end {parts['end'][:40]} is before the start {parts['start'][:40]}.")
    passed = number_of(results.get("items.passed", ""))
    values, done, failed = {}, 0, 0
    if passed is not None and 0 <= passed <= 1e9:
        done = int(passed)
        failed = max(0, number - done) if number is not None and AT_ONCE in test else 0
        values = _of_items(results, seconds, done, failed)
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


def _of_items(results: dict[str, str], seconds: float, done: int, failed: int) -> dict[str, float]:
    values = {}
    mean = number_of(results.get("items.avg_duration", ""))
    if mean is not None and mean >= 0:
        values[ITEM_MEAN] = mean
    if seconds > 0:
        values["item_rate"] = done / seconds
    if done + failed:
        values[common.FAILED_SHARE] = failed / (done + failed)
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
