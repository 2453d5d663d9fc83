"""Read wrk: its printed output with or without `--latency`, of one run or several."""

import re

from campaigns.results.readers.base import Builder, Options, Read, Source, refuse
from campaigns.results.readers.base import metrics as common
from campaigns.results.readers.base.texts import number_of, outputs

BEGIN = re.compile(r"^Running (?P<duration>\S{1,20}) test @ (?P<url>\S{1,2000})", re.MULTILINE)
SETTING = re.compile(r"^ {0,9}(\d{1,9}) threads and (\d{1,9}) connections", re.MULTILINE)
MEAN = re.compile(
    r"^ {0,9}Latency {1,20}(-?(?:nan|\d)\S{0,40}) {1,20}\S{1,40} {1,20}\S{1,40} ", re.MULTILINE
)
LATENCIES = re.compile(
    r"^ {0,9}Latency Distribution(?: \((?P<name>.{1,200}?)\)?)?[ ]{0,9}$", re.MULTILINE
)
UNCORRECTED = "Uncorrected"
DISTRIBUTION_END = re.compile(r"^(?! {0,9}[\d.]{1,10}% )", re.MULTILINE)
PERCENTILE = re.compile(r"^ {0,9}(50|75|90|99)(?:\.000)?% {1,20}(\S{1,40}) {0,9}$", re.MULTILINE)
TOTAL = re.compile(r"^ {0,9}(\d{1,15}) requests in \S{1,40}, \S{1,40} read", re.MULTILINE)
SOCKETS = re.compile(
    r"Socket errors: connect (\d{1,15}), read (\d{1,15}), write (\d{1,15}), timeout (\d{1,15})"
)
STATUS = re.compile(r"Non-2xx or 3xx responses: (\d{1,15})")
RATE = re.compile(r"^Requests/sec: {1,20}(\S{1,40})", re.MULTILINE)
TRANSFER = re.compile(r"^Transfer/sec: {1,20}(\S{1,40})", re.MULTILINE)
KNOWN = re.compile(
    r"Running .* test @ | *\d+ threads and \d+ connections| *Thread calibration: | *Thread Stats | *Latency | *Req/Sec "
    r"|Initialised \d+ threads| *\d+(\.\d+)?% +\S+ *$| *\d+ requests in | *Socket errors: | *Non-2xx or 3xx "
    r"|(Requests|Transfer)/sec: | *Detailed Percentile spectrum:| *Value +Percentile | *[\d.]+ +[\d.]+ +\d+ +(inf|[\d.]+) *$"
    r"|#\[|-+ *$"
)
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
        first = BEGIN.search(text)
        source.count_unknown(text[: first.start()] if first else text, KNOWN)
        for begin, block, where in outputs(text, BEGIN):
            source.count_unknown(block, KNOWN, int(where.removeprefix("line ")))
            with source.spare():
                _run(builder, block, where, begin["url"] if len(urls) > 1 else "")
            builder.note("duration", begin["duration"])
        url = next(iter(urls), "")
        builder.note("url", url)
        builder.drop(
            "Req/Sec per thread, standard deviations and further percentiles are left out; wrk rounds what it prints."
        )
        return builder.build(
            name=f"wrk: {url}",
            question="How fast does the server answer at so many connections?",
            primary=[common.percentile(99), common.MEAN, common.RATE],
            tags=("wrk", "closed loop"),
        )


def _run(builder: Builder, block: str, where: str, url: str) -> None:
    setting, mean, total, rate, transfer = (
        _only(pattern, block, where) for pattern in (SETTING, MEAN, TOTAL, RATE, TRANSFER)
    )
    levels: dict[str, str | int] = {
        "connections": int(setting[2]),
        "threads": int(setting[1]),
    }
    if url:
        levels["url"] = url
    values = {
        common.RATE: _quantity(rate[1], {"": 1.0}, where),
        common.TRANSFER: _quantity(transfer[1], BYTES, where),
    }
    answered = int(total[1])
    if answered:
        values |= _latencies(builder, block, mean[1], where)
    wrong = _counted(STATUS, "Non-2xx or 3xx responses", block, where)
    broken = _counted(SOCKETS, "Socket errors", block, where)
    if wrong > answered:
        refuse(where, f"{wrong} wrong responses of {answered} requests; the output is damaged.")
    builder.requests(levels, values, total=answered + broken, failed=wrong + broken)


def _only(pattern: re.Pattern[str], block: str, where: str) -> re.Match[str]:
    """Return the only match of what each output has once."""
    found = list(pattern.finditer(block))
    if not found:
        refuse(where, "The output of this run is not whole; wrk prints up to Transfer/sec.")
    if len(found) > 1:
        refuse(where, f"“{found[0][0].strip()[:40]}” and its like are there {len(found)} times.")
    return found[0]


def _counted(pattern: re.Pattern[str], heading: str, block: str, where: str) -> int:
    """Return the sum of what is printed only if there were errors."""
    if heading not in block:
        return 0
    if not pattern.search(block):
        refuse(where, f"What is behind “{heading}” is no number.")
    return sum(map(int, _only(pattern, block, where).groups()))


def _latencies(builder: Builder, block: str, mean: str, where: str) -> dict[str, float]:
    """Return the mean, and the percentiles as they were recorded: those that wrk2 calls uncorrected are left out."""
    values = {} if "nan" in mean else {common.MEAN: _quantity(mean, SECONDS, where)}
    sections = list(LATENCIES.finditer(block))
    chosen = [each for each in sections if UNCORRECTED not in (each["name"] or "")]
    if len(chosen) > 1:
        refuse(where, f"The latency distribution is there {len(chosen)} times; which one holds?")
    if len(chosen) < len(sections):
        builder.drop(
            "Uncorrected latencies of wrk2 are left out: they leave out the time for which a request waited to be sent."
        )
    for section in chosen:
        end = DISTRIBUTION_END.search(block, section.end() + 1)
        part = block[section.end() : end.start() if end else None]
        for match in PERCENTILE.finditer(part):
            name = common.percentile(int(match[1]))
            if name in values:
                refuse(where, f"The percentile {match[1]} is there twice; which one holds?")
            values[name] = _quantity(match[2], SECONDS, where)
    if zeros := [name for name, value in values.items() if not value]:
        builder.drop(
            "Latencies that wrk prints as 0 are left out: it prints that where it recorded none."
        )
        for name in zeros:
            del values[name]
    return values


def _quantity(text: str, units: dict[str, float], where: str) -> float:
    match = QUANTITY.fullmatch(text)
    number = number_of(match[1]) if match else None
    if match is None or number is None or match[2] not in units:
        refuse(where, f"“{text[:40]}” is no number with one of the units {', '.join(units)}.")
    return number * units[match[2]]


reader = Wrk()
