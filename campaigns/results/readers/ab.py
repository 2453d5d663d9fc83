"""Read ab (ApacheBench): its printed output, of one run or several."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Scalar, Source, refuse, varying
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_from_0, outputs

BEGIN = re.compile(r"^This is ApacheBench, Version (.{1,80})", re.MULTILINE)
PAIR = re.compile(r"^([A-Z][\w /-]{1,40}):[ \t]{1,40}(\S.{0,2000})", re.MULTILINE)
MEAN = re.compile(r"^Time per request:[ \t]{1,40}(\S{1,40}) \[ms\] \(mean\)", re.MULTILINE)
PERCENTILE = re.compile(r"^ {1,9}(50|75|90|95|99)% {1,20}(\d{1,15})[ \r]{0,9}$", re.MULTILINE)
HTML = "<table"
KINDS = re.compile(
    r"\(Connect: (\d{1,15}), Receive: (\d{1,15}), Length: (\d{1,15}), Exceptions: (\d{1,15})\)"
)
BYTES = re.compile(r"\d{1,30} bytes", re.ASCII)
PROBLEM = re.compile(r"^.{0,200}(?:apr_|socket: |SSL ).{0,300}$", re.MULTILINE)
KNOWN = re.compile(
    r"This is ApacheBench|Copyright |Licensed to |Benchmarking |Completed \d+ requests|Finished \d+ requests|\.\.done"
    r"|(Server Software|Server Hostname|Server Port|SSL/TLS Protocol|Server Temp Key|TLS Server Name|Document Path|Document Length"
    r"|Concurrency Level|Time taken for tests|Complete requests|Failed requests|Write errors|Non-2xx responses"
    r"|Keep-Alive requests|Total transferred|Total body sent|Total POSTed|Total PUT|HTML transferred|Requests per second"
    r"|Time per request|Transfer rate|Connect|Processing|Waiting|Total): *|Connection Times \(ms\)| +min +(mean|avg)"
    r"| +\(Connect: | +[\d.]+ kb/s (sent|total)|WARNING: | +These results are |ERROR: The median and mean "
    r"|Percentage of the requests served| +\d+% +\d+| +Total of \d+ requests"
)
NEEDED = (
    "Concurrency Level",
    "Complete requests",
    "Failed requests",
    "Requests per second",
    "Transfer rate",
)
PERCENTAGES, LONGEST = "Percentage of the requests served", "(longest request)"
ONCE = (*NEEDED, "Server Hostname", "Document Path", "Time taken for tests")
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
        text = source.text()
        if HTML in text:
            refuse("", "This is what ab prints with -w; measure without it.")
        builder = Builder(self.name, self.label, work=("path",))
        builder.declare(
            *common.latency("rounded", (50, 75, 90, 95, 99)),
            common.rate("rounded"),
            common.failed_share("aggregated"),
            common.transfer("rounded"),
        )
        result = []
        first = BEGIN.search(text)
        source.count_unknown(text[: first.start()] if first else text, KNOWN)
        for begin, block, where in outputs(text, BEGIN):
            builder.fact("ab", begin[1])
            source.count_unknown(block, KNOWN, int(where.removeprefix("line ")))
            with source.spare():
                result.append((_fields(block, where), block, where))
        levels, shared = varying([_levels(fields) for fields, _, _ in result])
        for (fields, block, where), differing in zip(result, levels, strict=True):
            with source.spare():
                _run(builder, fields, block, where, differing)
        for name, value in shared.items():
            builder.note(name, value)
        software = dict.fromkeys(fields.get("Server Software", "") for fields, _, _ in result)
        builder.note("server software", "; ".join(filter(None, software)))
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
        if key in fields and key in ONCE:
            refuse(where, f"Two outputs ran into one another: “{key}” is there twice.")
        fields.setdefault(key, value.strip())
    if any(key not in fields for key in NEEDED) or (PERCENTAGES in block and LONGEST not in block):
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
    values[common.TRANSFER] = number_from_0(fields["Transfer rate"].partition(" ")[0], where) * KB
    if PERCENTAGES not in block:
        builder.drop("ab printed no percentiles (its option -d), or the output ends before them.")
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
    if "(Connect:" in block and kinds is None:
        refuse(where, "The kinds of failed requests are no numbers; the output is damaged.")
    if not BYTES.match(fields.get("Total transferred", "0 bytes")):
        refuse(where, f"Total transferred: “{fields['Total transferred'][:40]}” is no number.")
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
