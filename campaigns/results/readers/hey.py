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
        for _, block, where in outputs(source.text(), BEGIN):
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
    values = {common.RATE: number_from_0(rate[1], where)} if answered else {}
    mean, size = MEAN.search(before), BYTES.search(before)
    if answered and mean:
        values[common.MEAN] = number_from_0(mean[1], where)
    if answered and size and (seconds := number_from_0(total[1], where)):
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


reader = Hey()
