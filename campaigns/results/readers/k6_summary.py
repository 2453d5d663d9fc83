"""Read k6's summary: `--summary-export`, `handleSummary`, and the machine-readable one."""

import re
from datetime import datetime, timedelta

from campaigns.results.readers.base import (
    UNKNOWN_UNIT,
    Builder,
    Node,
    Options,
    Read,
    ReadMetric,
    Source,
    begins_document,
    documents,
    some,
)
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import instant_of

STATISTIC = re.compile(r"p\(?(\d{1,2}(?:\.\d{1,6})?)\)?", re.ASCII)
PLAIN = {"avg": "mean", "med": "p50", "max": "max"}
PARTS = ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
BUILT_IN_TIMES = ("http_req_", "iteration_duration", "group_duration", "grpc_req_", "ws_")
SKIPPED = (
    "http_req_failed",
    "checks",
    "checks_total",
    "checks_failed",
    "checks_succeeded",
    "vus",
    "vus_max",
)
LEFT = ("min", "count", "thresholds", "type", "contains", "values", "name")
OURS = ("latency", "request", "transfer")
"""Prefixes of metrics that k6 measures itself; a script may use the same names."""


class K6Summary:
    """One summary is one run, of the whole test."""

    name = "k6_summary"
    label = "k6, summary"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is an object of metrics with k6's own names."""
        known = b'"iteration_duration"' in head or b'"http_req_duration"' in head
        summary = b'"metrics"' in head and (known or b'"root_group"' in head)
        return begins_document(head) and (
            (summary and b'"type":"Point"' not in head) or b'"k6_version"' in head
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every summary in the file, of any of the three formats."""
        builder = Builder(self.name, self.label)
        builder.declare(*_declared())
        summaries = documents(source)
        for document in summaries:
            with source.spare("A summary"):
                _run(builder, document)
        if len(summaries) > 1:
            builder.drop("k6 writes no setting: all summaries in the file are runs of one setting.")
        return builder.build(
            name="k6",
            question="How fast does the server answer?",
            primary=[common.percentile(95), common.MEAN, common.RATE],
            tags=("k6",),
        )


def _run(builder: Builder, document: Node) -> None:
    results = document.get("results")
    result = _listed(results.at("metrics")) if results is not None else _named(document)
    seconds = _duration(document)
    values: dict[str, float] = {}
    total = result["http_reqs"].count("count") if "http_reqs" in result else 0
    failed, of = _failures(result.get("http_req_failed"), total)
    for name, metric in result.items():
        if "{" in name:
            builder.drop(
                "Metrics of a part (with a tag in braces) are left out; the single samples "
                "(--out json) give them by scenario and request."
            )
        elif name.removeprefix("http_req_") in PARTS:
            builder.drop("The parts of a request (blocked, connecting, waiting …) are left out.")
        elif name == "http_reqs":
            values |= metric.rate(common.RATE, seconds) if total else {}
        elif name not in SKIPPED:
            values |= _values(builder, metric, seconds)
    if total and failed is None:
        builder.drop(
            "Which requests failed is not known: the summary has no http_req_failed, which k6 writes since 0.31."
        )
    _about(builder, document, result)
    ended = _ended(document)
    builder.requests(
        {},
        values,
        total=of or total,
        failed=failed,
        reason="every request failed",
        started_at=ended - timedelta(seconds=seconds) if ended and seconds else None,
        finished_at=ended,
    )


class _Metric:
    """One metric: its name, what it contains (`time`, `data`, or empty), and its numbers.

    kind: as the summary gives it, or empty. A trend may have a `count`, too, and a gauge a `min`.
    """

    def __init__(self, name: str, kind: str, contains: str, values: Node) -> None:
        self.name, self.contains, self.values = name, contains, values
        trend = any(_statistic(key) or key == "min" for key, _ in values.items())
        gauge = "value" in values
        self.is_trend = kind == "trend" or (not kind and trend and not gauge)
        self.is_counter = kind == "counter" or (not kind and not trend and "rate" in values)

    def number(self, key: str) -> float | None:
        result = self.values.get(key)
        return result.number() if result is not None else None

    def count(self, key: str) -> int:
        result = self.values.get(key)
        return result.count() if result is not None else 0

    def rate(self, name: str, seconds: float) -> dict[str, float]:
        """Return the rate, or compute it from the count and the length of the test."""
        rate = self.number("rate")
        if rate is None and seconds > 0:
            rate = self.count("count") / seconds
        return {} if rate is None else {name: rate}


def _named(document: Node) -> dict[str, _Metric]:
    """Read an older format: an object of metrics, whose numbers are next to the type, or in it."""
    result = {}
    for name, node in document.at("metrics").items():
        contains = node.at("contains").text() if "contains" in node else _guessed(name)
        result[name[:200]] = _Metric(name[:200], _kind(node), contains, node.get("values") or node)
    return result


def _listed(nodes: Node) -> dict[str, _Metric]:
    """Read the machine-readable format: a list of metrics."""
    result = {}
    for node in nodes.elements():
        name = node.at("name").text()[:200]
        contains = node.at("contains").text() if "contains" in node else ""
        result[name] = _Metric(name, _kind(node), contains, node.at("values"))
    return result


def _kind(node: Node) -> str:
    return node.at("type").text() if "type" in node else ""


def _guessed(name: str) -> str:
    if name.startswith(BUILT_IN_TIMES) and name != "http_req_failed":
        return "time"
    return "data" if name in ("data_received", "data_sent") else ""


def _failures(metric: _Metric | None, requests: int) -> tuple[int | None, int]:
    """Return failed requests, or None, and of how many. Of this metric a “pass” is a request that failed."""
    if metric is None:
        return None, 0
    if "total" in metric.values:
        failed, total = metric.count("matches"), metric.count("total")
    elif "passes" in metric.values and "fails" in metric.values:
        failed = metric.count("passes")
        total = failed + metric.count("fails")
    else:
        share = metric.number("value" if "value" in metric.values else "rate")
        failed, total = round((share or 0.0) * requests), requests if share is not None else 0
    return (min(failed, total), total) if total else (None, 0)


def _values(builder: Builder, metric: _Metric, seconds: float) -> dict[str, float]:
    if metric.is_counter:
        return _counter(builder, metric, seconds)
    if not metric.is_trend:
        builder.drop(f"{metric.name} is left out: only trends and counters are read.")
        return {}
    found = {
        statistic: node
        for key, node in metric.values.items()
        if (statistic := _statistic(key)) and node.value is not None
    }
    others = [key for key, _ in metric.values.items() if not _statistic(key) and key not in LEFT]
    if others:
        builder.drop(f"{some(others)} of {metric.name}: no statistic that is read.")
    if not any(node.value for node in found.values()):
        builder.drop(f"{metric.name} is left out: it has no sample, or all of them are 0.")
        return {}
    return _statistics(builder, metric, found)


def _statistics(builder: Builder, metric: _Metric, found: dict[str, Node]) -> dict[str, float]:
    values = {}
    time, request = metric.contains == "time", metric.name == "http_req_duration"
    for statistic, node in found.items():
        name = f"{'latency' if request else _own(metric.name)}_{statistic}"
        label = f"{'Latency' if request else metric.name}, {statistic}"
        unit = "s" if time else "B" if metric.contains == "data" else UNKNOWN_UNIT
        better = True if time else None
        builder.declare(ReadMetric(name, label, unit, better, "aggregated", latency=request))
        values[name] = node.number() / 1000 if time else node.number()
        if unit == UNKNOWN_UNIT:
            builder.drop(f"The file does not give the unit of {metric.name}.")
    return values


def _counter(builder: Builder, metric: _Metric, seconds: float) -> dict[str, float]:
    if metric.name == "data_received":
        return metric.rate(common.TRANSFER, seconds)
    if metric.name == "dropped_iterations":
        builder.note(metric.name, metric.count("count"))
        return {}
    if metric.contains == "data":
        return {}
    name = f"{_own(metric.name)}_rate"
    builder.declare(ReadMetric(name, f"{metric.name} per second", "1/s", None, "aggregated"))
    return metric.rate(name, seconds)


def _own(name: str) -> str:
    """Return the metric of a script, which k6 does not measure itself."""
    return f"script_{name}" if name in OURS else name


def _statistic(key: str) -> str | None:
    """Return the name of a statistic of a trend: mean, max, or a percentile."""
    if key in PLAIN:
        return PLAIN[key]
    match = STATISTIC.fullmatch(key)
    return f"p{match[1]}".replace(".", "_") if match else None


def _declared() -> list[ReadMetric]:
    return [
        *common.latency("aggregated"),
        common.rate("aggregated"),
        common.failed_share("aggregated"),
        common.transfer("aggregated"),
    ]


def _duration(document: Node) -> float:
    """Return the length of the test in seconds; 0 if the file does not have it."""
    state, config = document.get("state"), document.get("config")
    if state is not None and "testRunDurationMs" in state:
        return min(state.at("testRunDurationMs").seconds(1e-3), 1e9)
    if config is not None and "duration" in config:
        return min(config.at("duration").seconds(), 1e9)
    return 0.0


def _ended(document: Node) -> datetime | None:
    metadata = document.get("metadata")
    generated = metadata.get("generated_at") if metadata is not None else None
    return instant_of(generated.text()) if generated is not None else None


def _about(builder: Builder, document: Node, result: dict[str, _Metric]) -> None:
    metadata = document.get("metadata")
    if metadata is not None and "k6_version" in metadata:
        builder.fact("k6", metadata.at("k6_version").scalar())
    for name in ("vus", "vus_max"):
        if name in result and (most := result[name].number("max")) is not None:
            builder.note(f"{name}, most", f"{most:g}")
    checks = result.get("checks")
    if checks is not None:
        builder.note("checks failed", checks.count("fails"))
    builder.drop("Checks, groups and thresholds are left out: they are no measurements.")


reader = K6Summary()
