"""Read hey: its printed output, of one run or several."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^Summary:[ \r]*$", re.MULTILINE)
LINE = r"^[ \t]{0,9}%s:[ \t]{1,9}(\S{1,40})"
TOTAL, MEAN, RATE, BYTES = (
    re.compile(LINE % name, re.MULTILINE)
    for name in ("Total", "Average", "Requests/sec", "Total data")
)
PERCENTILE = re.compile(r"^[ \t]{0,9}(50|75|90|95|99)%{1,2} in (\S{1,40}) secs", re.MULTILINE)
STATUS = re.compile(r"^[ \t]{0,9}\[(\d{1,5})\][ \t]{1,9}(\d{1,15}) responses", re.MULTILINE)
ERROR = re.compile(r"^[ \t]{0,9}\[(\d{1,15})\][ \t]{1,9}(\S.{0,500})", re.MULTILINE)
KNOWN = re.compile(
    r"Summary:|[ \t]+(Total|Slowest|Fastest|Average|Requests/sec|Total data|Size/request):|Response time histogram:"
    r"|[ \t]+[\d.]+ \[\d+\]|Latency distribution:|[ \t]+\d+%{1,2} in |Details \(|[ \t]+(DNS\+dialup|DNS-lookup|req write|resp wait|resp read):"
    r"|Status code distribution:|Error distribution:|[ \t]+\[\d+\][ \t]"
)
HALF_DIGIT = 0.00005
STATUSES, ERRORS = "Status code distribution:", "Error distribution:"


class Hey:
    """One output is one run; hey prints neither the address nor its settings."""

    name = "hey"
    label = "hey"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are its headings, which similar tools do not have."""
        return all(key in head for key in (b"Summary:", b"Latency distribution:", b"req write:"))

    def read(self, source: Source, options: Options) -> Read:
        """Read every output in the file."""
        builder = Builder(self.name, self.label)
        builder.declare(
            *common.latency("rounded", (50, 75, 90, 95, 99)),
            common.rate("aggregated"),
            common.failed_share("aggregated"),
            common.transfer("aggregated"),
        )
        text = source.text()
        first = BEGIN.search(text)
        source.count_unknown(text[: first.start()] if first else text, KNOWN)
        for _, block, where in outputs(text, BEGIN):
            source.count_unknown(block, KNOWN, int(where.removeprefix("line ")))
            with source.spare():
                _run(builder, block, where)
        builder.drop(
            "hey prints no address and no setting: all outputs in the file are runs of one setting. It rounds "
            "times to 0.1 ms, and gives those of answered requests."
        )
        return builder.build(
            name="hey",
            question="How fast does the server answer?",
            primary=[common.percentile(95), common.MEAN, common.RATE],
            tags=("hey", "closed loop"),
        )


def _run(builder: Builder, block: str, where: str) -> None:
    for pattern in (TOTAL, RATE, MEAN):
        if len(pattern.findall(block)) > 1 or block.count(STATUSES) > 1:
            refuse(where, "Two outputs ran into one another: their figures are there twice.")
    total, rate = TOTAL.search(block), RATE.search(block)
    before, heading, after = block.partition(STATUSES)
    if not (total and rate and heading):
        refuse(where, f"The output of this run is not whole; hey prints up to “{STATUSES}”.")
    statuses, _, errors = after.partition(ERRORS)
    codes = [(int(code), int(count)) for code, count in STATUS.findall(statuses)]
    answered = sum(count for _, count in codes)
    wrong = sum(count for code, count in codes if code >= 400)
    broken = sum(int(count) for count, _ in ERROR.findall(errors))
    if not answered + broken:
        refuse(where, "The output of this run is not whole: it has no status and no error.")
    seconds, per_second = number_from_0(total[1], where), number_from_0(rate[1], where)
    _check_count((answered, answered + broken), seconds, per_second, where)
    values = {common.RATE: per_second} if answered else {}
    mean, size = MEAN.search(before), BYTES.search(before)
    if answered and mean:
        values[common.MEAN] = number_from_0(mean[1], where)
    if answered and size and seconds:
        values[common.TRANSFER] = number_from_0(size[1], where) / seconds
    for percent, text in PERCENTILE.findall(before):
        values[common.percentile(int(percent))] = number_from_0(text, where)
    for name in [
        name for name, value in values.items() if name.startswith("latency") and not value
    ]:
        del values[name]
        builder.drop("Times that hey prints as 0.0000 s are left out: they are below 0.05 ms.")
    for code, count in codes[:20]:
        builder.note(f"status {code}", count)
    for count, error in ERROR.findall(errors)[:20]:
        builder.note(f"error {error}", count)
    builder.requests({}, values, total=answered + broken, failed=wrong + broken)


def _check_count(counts: tuple[int, ...], seconds: float, rate: float, where: str) -> None:
    """Raise BadFile if the counts do not fit the rate: statuses or errors are missing at the end.

    Both are printed with four decimals. Older versions count only answered requests in the rate.
    """
    expected = rate * seconds
    rounding = 1 + (rate + seconds) * HALF_DIGIT
    if not any(abs(count - expected) <= rounding for count in counts):
        refuse(
            where,
            f"The output of this run is not whole: {counts[-1]:,} statuses and errors of about {expected:,.0f} requests.",
        )


reader = Hey()
