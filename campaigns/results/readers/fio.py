"""Read fio, `--output-format=json` (json+, or normal,json): a run for each job, of one output or several."""

import re
from collections.abc import Iterator
from datetime import datetime
from math import fsum

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    documents,
    refuse,
    varying,
)
from campaigns.results.readers.base.metrics import failed_share
from campaigns.results.readers.base.texts import instant_at

DIRECTIONS = ("read", "write", "trim", "mixed")
"""`mixed` is what --unified_rw_reporting=1 writes in place of the others, and =both beside them."""
PERCENTILES = {
    "50.000000": 50,
    "90.000000": 90,
    "95.000000": 95,
    "99.000000": 99,
    "99.900000": 99.9,
}
SETTINGS = (
    *("rw", "readwrite", "bs", "blocksize", "iodepth", "numjobs", "ioengine", "direct", "sync"),
    *("fsync", "fdatasync", "size", "rate", "rate_iops", "rwmixread", "thread"),
)
"""Options that change the workload; those that differ between runs are factors."""
SAME_BEGIN = 100
"""Milliseconds: reports of one run have the same start, and a run starts after the end of the last one."""
PERCENTILES_OF = {"lat_ns": "latency", "clat_ns": "completion latency"}
OLD = {"lat_ns": "lat", "clat_ns": "clat"}
"""What fio 2 writes, in microseconds."""
SAME = {"readwrite": "rw", "blocksize": "bs"}
PRINTED = re.compile(rb"^(?:<\S{1,99}> )?fio-\d[^\n]{0,40}\r?\nStarting \d", re.MULTILINE)
JSON = re.compile(r"^\{", re.MULTILINE)
TERSE = re.compile(rb"^\d;fio-\d", re.MULTILINE)
ALL_CLIENTS = "All clients"
"""The name under which a client of several servers writes what it added up."""


class Fio:
    """The options that differ are factors; so is the name of the job, where they do not distinguish jobs."""

    name = "fio"
    label = "fio"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is the first key of its JSON, or what it prints without it."""
        return b'"fio version"' in head or bool(PRINTED.search(head) or TERSE.search(head))

    def read(self, source: Source, options: Options) -> Read:
        """Read every job of every output in the file."""
        builder = Builder(self.name, self.label, work=("rw",))
        for direction in DIRECTIONS:
            builder.declare(*_metrics(direction))
        builder.declare(failed_share("aggregated"))
        text = source.text(whole=True)
        if not JSON.search(text):
            refuse("", "This output of fio has no JSON; measure with --output-format=json.")
        timed: list[_Timed] = []
        for output in documents(source, text):
            with source.spare("An output"):
                timed.append((output, _timing(output)))
        jobs: list[_Job] = []
        for output in _last_reports(builder, timed):
            jobs += _jobs(source, output)
        settings, shared = varying([each.settings for each in jobs])
        names = {(each.name, repr(levels)) for each, levels in zip(jobs, settings, strict=True)}
        distinct = len(names) == len({repr(levels) for levels in settings})
        for job, levels in zip(jobs, settings, strict=True):
            with source.spare():
                _run(builder, job, levels if distinct else {"job": job.name, **levels})
        for name, value in shared.items():
            builder.note(name, value)
        builder.note("jobs", ", ".join(dict.fromkeys(job.name for job in jobs)))
        builder.drop(
            "Submission latency, the lowest and highest values, processor time and disk use are left out. "
            "Completion latency begins when an operation was submitted; fio gives percentiles of the whole "
            "latency with --lat_percentiles=1."
        )
        return builder.build(
            name="fio: " + ", ".join(dict.fromkeys(job.name for job in jobs)),
            question="How many operations per second does the storage take, and how long does each take?",
            primary=[f"{each}_iops" for each in DIRECTIONS],
            tags=("fio",),
        )


_Timed = tuple[Node, tuple[list[str], float, float]]
"""An output with the names of its jobs, its start and its duration in milliseconds."""


def _last_reports(builder: Builder, outputs: list[_Timed]) -> list[Node]:
    """Leave out the interim reports of --status-interval: each report counts from the beginning."""
    stored: list[_Timed] = []
    for output, about in outputs:
        names, began, runtime = about
        if stored:
            before = stored[-1][1]
            timed = "timestamp_ms" in output and "timestamp_ms" in stored[-1][0]
            same = timed and before[0] == names and abs(before[1] - began) < SAME_BEGIN
            if same and before[2] < runtime:
                stored.pop()
                builder.drop("Reports before the end (--status-interval) are left out.")
        stored.append((output, about))
    return [output for output, _ in stored]


def _timing(output: Node) -> tuple[list[str], float, float]:
    """Return names of the jobs, start, and duration in milliseconds."""
    jobs = _entries(output)
    parts = [job.at(each) for job in jobs for each in DIRECTIONS if each in job]
    runtimes = (part.get("runtime") for part in parts)
    runtime = max(
        (each.seconds() for each in runtimes if each and isinstance(each.value, int | float)),
        default=0.0,
    )
    written = output.at("timestamp_ms").number() if "timestamp_ms" in output else 0.0
    names = [str(job.at("jobname").value) for job in jobs if "jobname" in job]
    return names, written - runtime, runtime


def _entries(output: Node) -> list[Node]:
    """Return the jobs of an output; those of a client are named by what it is: client_stats."""
    output.at("fio version")
    return output.at("client_stats" if "client_stats" in output else "jobs").elements()


class _Job:
    """Jobs of one name and one group of an output: fio runs them at the same time, so they are one run.

    Groups begin with `stonewall` or `new_group`. total: what a client of several servers added up itself.
    alone: whether the output has no other group, whose end its time would be.
    """

    def __init__(
        self,
        output: Node,
        name: str,
        parts: list[Node],
        total: Node | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self.alone = alone
        self.output, self.name, self.parts = output, name, parts
        self.measured = [total] if total is not None else parts
        chosen: dict[str, Scalar] = {}
        self.twice: list[str] = []
        for options in (output.get("global options"), parts[0].get("job options")):
            value = dict(options.items()) if options is not None else {}
            chosen |= {SAME.get(key, key): value[key].text() for key in SETTINGS if key in value}
            self.twice += [key for key in SETTINGS if options is not None and options.is_twice(key)]
        self.settings = chosen


def _jobs(source: Source, output: Node) -> Iterator[_Job]:
    named: dict[tuple[str, int], list[Node]] = {}
    for entry in _entries(output):
        with source.spare():
            group = entry.at("groupid").count() if "groupid" in entry else 0
            named.setdefault((entry.at("jobname").text(), group), []).append(entry)
    totals = [each for (name, _), jobs in named.items() if name == ALL_CLIENTS for each in jobs]
    if totals and "client_stats" in output and len(named) > 1:
        named = {key: jobs for key, jobs in named.items() if key[0] != ALL_CLIENTS}
    alike = len(named) == len(totals) == 1
    alone = len({group for _, group in named}) == 1
    for (name, _), parts in named.items():
        with source.spare():
            job = _Job(output, name, parts, totals[0] if alike else None, alone=alone)
            for key in job.twice:
                source.note(
                    f"The option {key} of {name[:80]} is there twice; fio uses the last one."
                )
            yield job


def _metrics(direction: str) -> list[ReadMetric]:
    label = direction.capitalize()
    results = [
        ReadMetric(
            f"{direction}_iops", f"{label} operations per second", "1/s", False, "aggregated"
        ),
        ReadMetric(f"{direction}_bandwidth", f"{label} bandwidth", "B/s", False, "aggregated"),
        ReadMetric(
            f"{direction}_latency_mean", f"Mean {direction} latency", "s", True, "aggregated", True
        ),
    ]
    for kind, of in PERCENTILES_OF.items():
        results += [
            ReadMetric(
                _percentile(direction, of, number),
                f"{label} {of}, p{number:g}",
                "s",
                True,
                "aggregated",
                latency=kind == "lat_ns",
            )
            for number in PERCENTILES.values()
        ]
    return results


def _percentile(direction: str, of: str, number: float) -> str:
    return f"{direction}_{of}_p{number:g}".replace(".", "_").replace(" ", "_")


def _run(builder: Builder, job: _Job, levels: dict[str, Scalar]) -> None:
    values: dict[str, float] = {}
    done = 0
    for direction in DIRECTIONS:
        parts = [part.at(direction) for part in job.measured if direction in part]
        counts = [part.at("total_ios").count() if "total_ios" in part else 0 for part in parts]
        if direction != "mixed" or not done:
            done += sum(counts)
        if any(part.at("io_bytes").count() for part in parts):
            values |= _values(builder, direction, parts, counts)
    counted = [part.at("total_err").count() for part in job.parts if "total_err" in part]
    errors = [error for part in job.parts if (error := _error(part))]
    if 0 < len(errors) < len(job.parts) and "hostname" not in job.parts[0]:
        errors.insert(0, f"{len(errors)} of {len(job.parts)} jobs failed")
    if not values and not errors:
        refuse(job.parts[0].path, f"The job {job.name[:80]} did nothing: it has no operation.")
    failed = max(sum(counted), len(errors[:1]))
    if values and counted and done:
        values["failed_share"] = min(1.0, failed / done)
    builder.fact("fio", job.output.at("fio version").text())
    for part in job.parts:
        if "hostname" in part:
            builder.note(f"server {_server(part)}", job.name)
    if len(job.measured) < len(job.parts):
        builder.drop(f"Jobs of several servers are one run, as fio adds them up ({ALL_CLIENTS}).")
    builder.run(
        levels,
        values,
        reason="; ".join(dict.fromkeys(errors)),
        finished_at=_finished(job),
        units_done=max(0, done - failed),
        units_failed=failed,
    )


def _finished(job: _Job) -> datetime | None:
    """Return when the output was written; None if other groups ran after this one."""
    for key, factor in (("timestamp_ms", 1000), ("timestamp", 1)):
        if job.alone and key in job.output:
            return instant_at(job.output.at(key).number() / factor)
    return None


def _error(part: Node) -> str:
    """Return why a job failed, with its server where there are several; nothing if it did not."""
    code = part.at("error").number() if "error" in part else 0
    where = f" on {_server(part)}" if "hostname" in part else ""
    return f"fio ended with error {code:g}{where}" if code else ""


def _server(part: Node) -> str:
    """Return the name of the server on which a job of a client ran, with its port."""
    port = f":{part.at('port').count()}" if "port" in part else ""
    return f"{part.at('hostname').text()}{port}"


def _values(
    builder: Builder, direction: str, parts: list[Node], counts: list[int]
) -> dict[str, float]:
    values = {
        f"{direction}_iops": fsum(part.at("iops").seconds() for part in parts),
        f"{direction}_bandwidth": fsum(_bandwidth(part) for part in parts),
    }
    latencies = [_latency(part, "lat_ns") for part in parts]
    means = [each.at("mean").seconds(factor) for each, factor in latencies if each is not None]
    if len(parts) == 1 and any(means):
        values[f"{direction}_latency_mean"] = means[0]
    elif len(means) == len(parts) and any(means) and any(counts):
        weighted = fsum(mean * count for mean, count in zip(means, counts, strict=True))
        values[f"{direction}_latency_mean"] = weighted / sum(counts)
    if len(parts) > 1:
        builder.drop(
            "Jobs of one name run at the same time and are one run: operations and bandwidth are summed, and "
            "percentiles left out, since they cannot be combined; fio does that with --group_reporting."
        )
        return values
    for kind, of in PERCENTILES_OF.items():
        latency, factor = _latency(parts[0], kind)
        percentiles = latency.get("percentile") if latency is not None else None
        if percentiles is None:
            continue
        for key, number in PERCENTILES.items():
            if key in percentiles and (seconds := percentiles.at(key).seconds(factor)):
                values[_percentile(direction, of, number)] = seconds
    return values


def _latency(part: Node, kind: str) -> tuple[Node | None, float]:
    """Return a latency and the factor that makes seconds of it: fio 2 writes microseconds, by another name."""
    return (part.at(kind), 1e-9) if kind in part else (part.get(OLD[kind]), 1e-6)


def _bandwidth(part: Node) -> float:
    """Return bytes per second; fio 2 has only KiB per second."""
    return part.at("bw_bytes").seconds() if "bw_bytes" in part else part.at("bw").seconds(1024)


reader = Fio()
