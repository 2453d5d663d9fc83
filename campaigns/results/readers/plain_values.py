"""Read lines `name=value unit`, as a script prints them with echo: each is a value of a metric."""

import re
from collections import Counter

from campaigns.kit.units import UNITS, convert
from campaigns.results.readers.base import (
    UNKNOWN_UNIT,
    Builder,
    Options,
    Read,
    ReadMetric,
    Source,
    refuse,
)
from campaigns.results.readers.base.forms import advice_on
from campaigns.results.readers.base.texts import number_of

LINE = re.compile(
    r"(?P<name>[A-Za-z_][\w.%/+-]{0,79})[ \t]{0,9}=[ \t]{0,9}(?P<value>[-+.\deE]{1,40})(?:[ \t]{0,9}(?P<unit>[A-Za-zµμ%°/][^\s=,;'\"\d]{0,19}))?[ \t]{0,99}",
    re.ASCII,
)
ANY_VALUE = re.compile(r"[A-Za-z_][\w.%/+-]{0,79}[ \t]{0,9}=[^=]{0,100}", re.ASCII)
NAME = re.compile(r"[A-Za-z_][\w.%/+-]{0,79}", re.ASCII)
ALIKE = {
    "": "count",
    "us": "µs",
    "ns": "ns",
    "sec": "s",
    "KB": "kB",
    "kB/s": "kB/s",
    "/s": "1/s",
    "ops/s": "1/s",
    "req/s": "1/s",
}
FACTORS = {
    "ns": ("s", 1e-9),
    "kB/s": ("B/s", 1e3),
    "KB/s": ("B/s", 1e3),
    "GB/s": ("B/s", 1e9),
    "KiB/s": ("B/s", 1024.0),
    "MiB/s": ("B/s", 1024.0**2),
    "GiB/s": ("B/s", 1024.0**3),
}
"""Units that are converted, besides those of campaigns.kit.units."""
BASES = {"time": "s", "size": "B", "transfer rate": "B/s"}
LOWER, HIGHER = {"s", "B"}, {"B/s", "1/s", "files/s"}
MOST_LINES = 100_000


class PlainValues:
    """A name that comes again begins another run; other lines are left out."""

    name = "plain_values"
    label = "lines of name=value unit"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether every line is of this form, or has a value in another form, and at least half are."""
        text = head.decode(errors="replace")
        lines = [line.strip() for line in text.splitlines()[:-1] if line.strip()]
        whole = lines or [text.strip()]
        values = (LINE.fullmatch(line) for line in whole)
        good = sum(match is not None and number_of(match["value"]) is not None for match in values)
        return 2 * good >= len(whole) and all(map(ANY_VALUE.fullmatch, whole)) and good > 0

    def read(self, source: Source, options: Options) -> Read:
        """Read every line."""
        builder = Builder(self.name, self.label)
        runs: list[dict[str, float]] = []
        units: dict[str, str] = {}
        for number, line in source.lines():
            match = LINE.fullmatch(line.strip())
            value = None if match is None else number_of(match["value"])
            if match is None or value is None:
                if line.strip():
                    source.unknown(number)
                if advice := _advice(line):
                    source.note(f"Line {number} is left out. {advice}")
                continue
            if number > MOST_LINES:
                refuse(f"line {number}", f"There are more than {MOST_LINES:,} lines.")
            name = match["name"]
            value, unit = _converted(value, match["unit"] or "")
            if units.setdefault(name, unit) != unit:
                refuse(f"line {number}", f"“{name}” is in {unit} here, and in {units[name]} above.")
            builder.declare(
                ReadMetric(name, name.replace("_", " "), unit, _lower_is_better(unit), "raw")
            )
            if not runs or name in runs[-1]:
                runs.append({})
            runs[-1][name] = value
        if not runs:
            refuse("", "No line is of the form name=value unit, such as latency=12.5 ms.")
        for glued, name in _glued(runs).items():
            source.note(f"“{glued}” is left out: a line that was cut, and one of {name}.")
            for values in runs:
                values.pop(glued, None)
        for values in runs:
            if values:
                builder.run({}, values)
        return builder.build(
            name="Values",
            question="What do these values say?",
            primary=list(units),
            tags=(),
        )


def _glued(runs: list[dict[str, float]]) -> dict[str, str]:
    """Return names that stand once and are the beginning of a name with a whole one after it: `latlatency`.

    So ends a file that was cut, if another one was appended to it.
    """
    counts = Counter(name for values in runs for name in values)
    return {
        name: end
        for name, count in counts.items()
        for end in counts
        if count == 1
        and counts[end] > 1
        and name != end
        and name.endswith(end)
        and any(each != name and each.startswith(name.removesuffix(end)) for each in counts)
    }


def _advice(line: str) -> str:
    """Return how to write the value of a line name=value, if a form of numbers is known in which it is written."""
    name, mark, value = line.strip().partition("=")
    return advice_on(value) if mark and NAME.fullmatch(name.strip()) else ""


def _converted(value: float, unit: str) -> tuple[float, str]:
    """Return a value in the base unit of its dimension, where its unit is known."""
    unit = ALIKE.get(unit, unit)
    if unit in FACTORS:
        base, factor = FACTORS[unit]
        return value * factor, base
    known = UNITS.get(unit)
    if known is None:
        return value, unit or UNKNOWN_UNIT
    base = BASES.get(known.dimension, unit)
    return (convert(value, unit, base) if base != unit else value), base


def _lower_is_better(unit: str) -> bool | None:
    """Return the direction that a unit suggests; None where it suggests none."""
    if unit in LOWER:
        return True
    return False if unit in HIGHER else None


reader = PlainValues()
