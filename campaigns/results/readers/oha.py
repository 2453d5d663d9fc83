"""Read oha, `--output-format json` (`--json` before 1.9): summaries, in seconds and bytes."""

import re

from campaigns.results.readers.base import (
    Builder,
    Node,
    Options,
    Read,
    Source,
    documents,
    refuse,
    some,
)
from campaigns.results.readers.base import metrics as common

CUT = "aborted due to deadline"
"""Errors that are no failures: requests that were in flight when the time was over."""

LEFT = ("p10", "p25", "p75", "p99.99")
NUMBERS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9}


class Oha:
    """One summary is one run, of all requests."""

    name = "oha"
    label = "oha"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a summary with oha's own names."""
        return b'"latencyPercentiles"' in head or (
            b'"successRate"' in head and b'"requestsPerSec"' in head
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every summary in the file."""
        builder = Builder(self.name, self.label)
        builder.declare(
            *common.latency("aggregated", NUMBERS.values()),
            common.rate("aggregated"),
            common.failed_share("aggregated"),
            common.transfer("aggregated"),
        )
        summaries = documents(source)
        for document in summaries:
            with source.spare("A summary"):
                _run(builder, document)
        builder.drop("Histograms and the details of connections are left out.")
        if len(summaries) > 1:
            builder.drop(
                "oha writes no setting: all summaries in the file are runs of one setting."
            )
        return builder.build(
            name="oha",
            question="How fast does the server answer?",
            primary=[common.percentile(95), common.MEAN, common.RATE],
            tags=("oha",),
        )


def _run(builder: Builder, document: Node) -> None:
    summary = document.at("summary")
    counts = document.get("statusCodeDistribution"), document.get("errorDistribution")
    answered, wrong, broken = _sum(counts[0]), _sum(counts[0], least=400), _sum(counts[1])
    counted = any(each is not None for each in counts)
    if counted and not answered + broken:
        refuse(document.path or "the summary", "No request had ended when the time was over.")
    if not counted:
        builder.drop(
            "Which requests failed is not known: there are no counts of statuses and errors."
        )
    values = _values(builder, document, summary) if answered or not counted else {}
    for key in ("total", "slowest", "fastest"):
        if key in summary:
            builder.note(f"{key} seconds", summary.at(key).scalar())
    _distributions(builder, document)
    builder.requests(
        {}, values, total=answered + broken, failed=wrong + broken if counted else None
    )


def _values(builder: Builder, document: Node, summary: Node) -> dict[str, float]:
    values = {}
    for key, name in (
        ("average", common.MEAN),
        ("requestsPerSec", common.RATE),
        ("sizePerSec", common.TRANSFER),
    ):
        if key in summary:
            values[name] = summary.at(key).seconds()
    percentiles = document.get("latencyPercentiles")
    for key, number in NUMBERS.items():
        if percentiles is not None and key in percentiles:
            values[common.percentile(number)] = percentiles.at(key).seconds()
    others = [] if percentiles is None else [key for key, _ in percentiles.items()]
    if others := [key for key in others if key not in (*NUMBERS, *LEFT)]:
        builder.drop(f"{some(others)} of latencyPercentiles: no percentile that is read.")
    return values


def _sum(counts: Node | None, least: int = 0) -> int:
    """Return the sum of the counts of status codes from `least` on."""
    if counts is None:
        return 0
    return sum(
        each.count()
        for key, each in counts.items()
        if key != CUT and (not least or _code(key) >= least)
    )


def _code(key: str) -> int:
    if not re.fullmatch(r"\d{1,9}", key, re.ASCII):
        refuse("statusCodeDistribution", f"The status “{key[:40]}” is no number.")
    return int(key)


def _distributions(builder: Builder, document: Node) -> None:
    for key, name in (("statusCodeDistribution", "status"), ("errorDistribution", "error")):
        counts = document.get(key)
        for what, count in list(counts.items())[:20] if counts is not None else ():
            builder.note(f"{name} {what}", count.count())


reader = Oha()
