"""Read ab (ApacheBench): its printed output, of one run or several."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Scalar, Source, refuse, varying
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^This is ApacheBench, Version (.{1,80})", re.MULTILINE)
PAIR = re.compile(r"^([A-Z][\w /-]{1,40}):[ \t]{1,40}(\S.{0,2000})", re.MULTILINE)
MEAN = re.compile(r"^Time per request:[ \t]{1,40}(\S{1,40}) \[ms\] \(mean\)", re.MULTILINE)
PERCENTILE = re.compile(r"^ {1,9}(50|75|90|95|99)% {1,20}(\d{1,15})[ \r]{0,9}$", re.MULTILINE)
KINDS = re.compile(
    r"\(Connect: (\d{1,15}), Receive: (\d{1,15}), Length: (\d{1,15}), Exceptions: (\d{1,15})\)"
)
PROBLEM = re.compile(r"^.{0,200}(?:apr_|socket: |SSL ).{0,300}$", re.MULTILINE)
NEEDED = ("Concurrency Level", "Complete requests", "Failed requests", "Requests per second")
LAST = "Requests per second"
KB = 1024
"""ab writes Kbytes/sec, and divides by 1024."""


class Ab:
    """Concurrency is a factor; so are path, server and keep-alive where they differ. One output is one run."""

    name = "ab"
    label = "ab"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is the first line of its output."""
        return b"This is ApacheBench, Version" in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every output in the file."""
        builder = Builder(self.name, self.label, work=("path",))
        builder.declare(
            *common.latency("rounded", (50, 75, 90, 95, 99)),
            common.rate("rounded"),
            common.failed_share("aggregated"),
            common.transfer("rounded"),
        )
        result = []
        for begin, block, where in outputs(source.text(), BEGIN):
            builder.fact("ab", begin[1])
            result.append((_fields(block, where), block, where))
        levels, shared = varying([_levels(fields) for fields, _, _ in result])
        for (fields, block, where), differing in zip(result, levels, strict=True):
            _run(builder, fields, block, where, differing)
        for name, value in shared.items():
            builder.note(name, value)
        builder.drop(
            "Minima, deviations and the parts of a request are left out. ab rounds percentiles to whole "
            "milliseconds; those of 0 ms are left out."
        )
        return builder.build(
            name=f"ab: {shared.get('path', 'several paths')}",
            question="How fast does the server answer at so many connections?",
            primary=[common.MEAN, common.RATE],
            tags=("ab", "closed loop"),
        )


def _fields(block: str, where: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, value in PAIR.findall(block):
        fields.setdefault(key, value.strip())
    if any(key not in fields for key in NEEDED):
        problem = PROBLEM.search(block)
        text = f" ab says: {problem[0].strip()[-300:]}." if problem else ""
        refuse(
            where, f"The output of this run is not whole; ab prints up to its percentiles.{text}"
        )
    return fields


def _levels(fields: dict[str, str]) -> dict[str, Scalar]:
    host, port = fields.get("Server Hostname", ""), fields.get("Server Port", "")
    return {
        "concurrency": fields["Concurrency Level"],
        "path": fields.get("Document Path", ""),
        "server": f"{host}:{port}",
        "server software": fields.get("Server Software", ""),
        "keep-alive": "Keep-Alive requests" in fields,
    }


def _run(
    builder: Builder, fields: dict[str, str], block: str, where: str, levels: dict[str, Scalar]
) -> None:
    total = _count(fields["Complete requests"], where)
    failed = _failed(builder, fields, block, where, total)
    values = {common.RATE: number_from_0(fields[LAST].partition(" ")[0], where)}
    if mean := MEAN.search(block):
        values[common.MEAN] = number_from_0(mean[1], where) / 1000
    if "Transfer rate" in fields:
        values[common.TRANSFER] = (
            number_from_0(fields["Transfer rate"].partition(" ")[0], where) * KB
        )
    for percent, milliseconds in PERCENTILE.findall(block):
        if int(milliseconds):
            values[common.percentile(int(percent))] = int(milliseconds) / 1000
    reason = "no request succeeded"
    if fields.get("Total transferred", "").startswith("0 bytes"):
        reason = "no byte came back: the server closed every connection, which ab does not count as failed"
    builder.requests(levels, values, total=total, failed=failed, reason=reason)


def _failed(builder: Builder, fields: dict[str, str], block: str, where: str, total: int) -> int:
    """Return the number of failed requests. Those of another length may be those of a wrong status."""
    failed = _count(fields["Failed requests"], where)
    wrong = _count(fields.get("Non-2xx responses", "0"), where)
    kinds = KINDS.search(block)
    other = int(kinds[3]) if kinds else 0
    if other:
        builder.drop(
            "ab counts an answer of another length than the first one as failed, and so does this: where "
            "lengths may differ, measure again with ab -l."
        )
    if failed > total or wrong > total or other > failed:
        refuse(
            where, f"{max(failed, wrong, other)} failed of {total} requests; the output is damaged."
        )
    if fields.get("Total transferred", "").startswith("0 bytes"):
        return total
    return min(total, failed - other + max(other, wrong))


def _count(text: str, where: str) -> int:
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
        refuse(where, f"“{text[:40]}” is no number of requests.")
    return int(text)


reader = Ab()
