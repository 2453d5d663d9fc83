"""Read fio, `--output-format=json` (or json+): a run for each job, of one output or several."""

import re
from collections.abc import Iterator
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

DIRECTIONS = ("read", "write", "trim")
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
SAME = {"readwrite": "rw", "blocksize": "bs"}
MESSAGES = re.compile(r"^(?:fio|note): .*$", re.MULTILINE)
"""Lines that fio may write into the same file, above its JSON."""


class Fio:
    """The options that differ are factors; so is the name of the job, where they do not distinguish jobs."""

    name = "fio"
    label = "fio"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether it begins with the first key of its JSON."""
        return b'"fio version"' in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every job of every output in the file."""
        builder = Builder(self.name, self.label, work=("rw",))
        for direction in DIRECTIONS:
            builder.declare(*_metrics(direction))
        builder.declare(failed_share("aggregated"))
        outputs = _last_reports(builder, documents(MESSAGES.sub("", source.text())))
        jobs = [job for output in outputs for job in _jobs(output)]
        settings, shared = varying([each.settings for each in jobs])
        names = {(each.name, repr(levels)) for each, levels in zip(jobs, settings, strict=True)}
        distinct = len(names) == len({repr(levels) for levels in settings})
        for job, levels in zip(jobs, settings, strict=True):
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


def _last_reports(builder: Builder, outputs: list[Node]) -> list[Node]:
    """Leave out the interim reports of --status-interval: each report counts from the beginning."""
    stored: list[tuple[Node, tuple[list[str], float, float]]] = []
    for output in outputs:
        about = names, began, runtime = _timing(output)
        if stored:
            before = stored[-1][1]
            if before[0] == names and abs(before[1] - began) < SAME_BEGIN and before[2] < runtime:
                stored.pop()
                builder.drop("Reports before the end (--status-interval) are left out.")
        stored.append((output, about))
    return [output for output, _ in stored]


def _timing(output: Node) -> tuple[list[str], float, float]:
    """Return names of the jobs, start, and duration in milliseconds."""
    jobs = output.at("jobs").elements()
    parts = [job.at(each) for job in jobs for each in DIRECTIONS if each in job]
    runtime = max((part.at("runtime").seconds() for part in parts), default=0.0)
    written = output.at("timestamp_ms").number() if "timestamp_ms" in output else 0.0
    return [job.at("jobname").text() for job in jobs], written - runtime, runtime


class _Job:
    """Jobs of one name in one output: fio runs them at the same time, so they are one run."""

    def __init__(self, output: Node, name: str, parts: list[Node]) -> None:
        self.output, self.name, self.parts = output, name, parts
        chosen: dict[str, Scalar] = {}
        for options in (output.get("global options"), parts[0].get("job options")):
            value = dict(options.items()) if options is not None else {}
            chosen |= {SAME.get(key, key): value[key].text() for key in SETTINGS if key in value}
        self.settings = chosen


def _jobs(output: Node) -> Iterator[_Job]:
    output.at("fio version")
    named: dict[str, list[Node]] = {}
    for job in output.at("jobs").elements():
        named.setdefault(job.at("jobname").text(), []).append(job)
    for name, parts in named.items():
        yield _Job(output, name, parts)


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
                f"{label} {of}, {number:g}th percentile",
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
        parts = [part.at(direction) for part in job.parts if direction in part]
        counts = [part.at("total_ios").count() for part in parts]
        done += sum(counts)
        if any(part.at("io_bytes").count() for part in parts):
            values |= _values(builder, direction, parts, counts)
    counted = [part.at("total_err").count() for part in job.parts if "total_err" in part]
    codes = [part.at("error").number() for part in job.parts if "error" in part]
    error = next((code for code in codes if code), 0)
    if not values and not error:
        refuse(job.parts[0].path, f"The job {job.name[:80]} did nothing: it has no operation.")
    failed = max(sum(counted), int(bool(error)))
    if values and counted and done:
        values["failed_share"] = min(1.0, failed / done)
    builder.fact("fio", job.output.at("fio version").text())
    finished = job.output.get("timestamp_ms")
    builder.run(
        levels,
        values,
        reason=f"fio ended with error {error:g}" if error else "",
        finished_at=instant_at(finished.number() / 1000) if finished is not None else None,
        units_done=max(0, done - failed),
        units_failed=failed,
    )


def _values(
    builder: Builder, direction: str, parts: list[Node], counts: list[int]
) -> dict[str, float]:
    values = {
        f"{direction}_iops": fsum(part.at("iops").seconds() for part in parts),
        f"{direction}_bandwidth": fsum(_bandwidth(part) for part in parts),
    }
    latencies = [part.get("lat_ns") for part in parts]
    means = [each.at("mean").seconds(1e-9) for each in latencies if each is not None]
    if len(means) == len(parts) and any(means) and any(counts):
        weighted = fsum(mean * count for mean, count in zip(means, counts, strict=True))
        values[f"{direction}_latency_mean"] = weighted / sum(counts)
    if len(parts) > 1:
        builder.drop(
            "Jobs of one name run at the same time and are one run: operations and bandwidth are summed, and "
            "percentiles left out, since they cannot be combined; fio does that with --group_reporting."
        )
        return values
    for kind, of in PERCENTILES_OF.items():
        latency = parts[0].get(kind)
        percentiles = latency.get("percentile") if latency is not None else None
        for key, number in PERCENTILES.items():
            if percentiles is not None and key in percentiles:
                values[_percentile(direction, of, number)] = percentiles.at(key).seconds(1e-9)
    return values


def _bandwidth(part: Node) -> float:
    """Return bytes per second; fio 2 has only KiB per second."""
    return part.at("bw_bytes").seconds() if "bw_bytes" in part else part.at("bw").seconds(1024)


reader = Fio()
