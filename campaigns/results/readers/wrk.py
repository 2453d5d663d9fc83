"""Read wrk: its printed output with or without `--latency`, of one run or several."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_of, outputs

BEGIN = re.compile(r"^Running (?P<duration>\S{1,20}) test @ (?P<url>\S{1,2000})", re.MULTILINE)
SETTING = re.compile(r"^ {0,9}(\d{1,9}) threads and (\d{1,9}) connections", re.MULTILINE)
MEAN = re.compile(r"^ {0,9}Latency {1,20}(\S{1,40}) {1,20}\S{1,40} {1,20}\S{1,40} ", re.MULTILINE)
PERCENTILE = re.compile(
    r"^ {0,9}(50|75|90|99)(?:\.000)?% {1,20}(\S{1,40})[ \r]{0,9}$", re.MULTILINE
)
TOTAL = re.compile(r"^ {0,9}(\d{1,15}) requests in \S{1,40}, \S{1,40} read", re.MULTILINE)
SOCKETS = re.compile(
    r"Socket errors: connect (\d{1,15}), read (\d{1,15}), write (\d{1,15}), timeout (\d{1,15})"
)
STATUS = re.compile(r"Non-2xx or 3xx responses: (\d{1,15})")
RATE = re.compile(r"^Requests/sec: {1,20}(\S{1,40})", re.MULTILINE)
TRANSFER = re.compile(r"^Transfer/sec: {1,20}(\S{1,40})", re.MULTILINE)
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}
QUANTITY = re.compile(r"([\d.]{1,30})([A-Za-z]{0,2})", re.ASCII)


class Wrk:
    """Threads and connections are factors; one output is one run."""

    name = "wrk"
    label = "wrk"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there are its first two lines, and the third part that all outputs have."""
        return b"Running " in head and b" test @ " in head and b"Thread Stats" in head

    def read(self, source: Source, options: Options) -> Read:
        """Read every output in the file."""
        text = source.text()
        builder = Builder(self.name, self.label)
        builder.declare(
            *common.latency("rounded", (50, 75, 90, 99)),
            common.rate("rounded"),
            common.failed_share("aggregated"),
            common.transfer("rounded"),
        )
        urls = dict.fromkeys(begin["url"] for begin in BEGIN.finditer(text))
        for begin, block, where in outputs(text, BEGIN):
            _run(builder, block, where, begin["url"] if len(urls) > 1 else "")
            builder.note("duration", begin["duration"])
        url = next(iter(urls), "")
        builder.note("url", url)
        builder.drop(
            "Req/Sec per thread and the standard deviations are left out; wrk rounds what it prints."
        )
        return builder.build(
            name=f"wrk: {url}",
            question="How fast does the server answer at so many connections?",
            primary=[common.percentile(99), common.MEAN, common.RATE],
            tags=("wrk", "closed loop"),
        )


def _run(builder: Builder, block: str, where: str, url: str) -> None:
    setting, mean, total, rate = (pattern.search(block) for pattern in (SETTING, MEAN, TOTAL, RATE))
    if not (setting and mean and total and rate):
        refuse(where, "The output of this run is not whole; wrk prints up to Transfer/sec.")
    levels: dict[str, str | int] = {
        "connections": int(setting[2]),
        "threads": int(setting[1]),
    }
    if url:
        levels["url"] = url
    values = {
        common.MEAN: _quantity(mean[1], SECONDS, where),
        common.RATE: _quantity(rate[1], {"": 1.0}, where),
    }
    for match in PERCENTILE.finditer(block):
        values[common.percentile(int(match[1]))] = _quantity(match[2], SECONDS, where)
    if transfer := TRANSFER.search(block):
        values[common.TRANSFER] = _quantity(transfer[1], BYTES, where)
    answered = int(total[1])
    wrong = sum(int(match[1]) for match in STATUS.finditer(block))
    broken = sum(sum(map(int, match.groups())) for match in SOCKETS.finditer(block))
    if wrong > answered:
        refuse(where, f"{wrong} wrong responses of {answered} requests; the output is damaged.")
    builder.requests(levels, values, total=answered + broken, failed=wrong + broken)


def _quantity(text: str, units: dict[str, float], where: str) -> float:
    match = QUANTITY.fullmatch(text)
    number = number_of(match[1]) if match else None
    if match is None or number is None or match[2] not in units:
        refuse(where, f"“{text[:40]}” is no number with one of the units {', '.join(units)}.")
    return number * units[match[2]]


reader = Wrk()
