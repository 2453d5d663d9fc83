"""Read lines `name=value unit`, as a script prints them with echo: each is a value of a metric."""

import re

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
from campaigns.results.readers.base.texts import number_of

LINE = re.compile(
    r"(?P<name>[A-Za-z_][\w.%/+-]{0,79})[ \t]{0,9}=[ \t]{0,9}(?P<value>[-+.\deE]{1,40})(?:[ \t]{0,9}(?P<unit>[^\s=\d][^\s=]{0,19}))?[ \t]{0,99}",
    re.ASCII,
)
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
    """A name that is there several times has a value in as many runs; other lines are left out."""

    name = "plain_values"
    label = "lines of name=value unit"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether every line is of this form."""
        lines = [line for line in head.decode(errors="replace").splitlines()[:-1] if line.strip()]
        whole = lines or [head.decode(errors="replace").strip()]
        return bool(whole[0]) and all(
            LINE.fullmatch(line.strip())
            and number_of(LINE.fullmatch(line.strip())["value"])  # type: ignore[index]
            is not None
            for line in whole
        )

    def read(self, source: Source, options: Options) -> Read:
        """Read every line."""
        builder = Builder(self.name, self.label)
        runs: list[dict[str, float]] = []
        units: dict[str, str] = {}
        seen: dict[str, int] = {}
        for number, line in source.lines():
            match = LINE.fullmatch(line.strip())
            value = None if match is None else number_of(match["value"])
            if match is None or value is None:
                if line.strip():
                    builder.drop("Lines that are not name=value are left out.")
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
            place = seen.get(name, 0)
            seen[name] = place + 1
            if place == len(runs):
                runs.append({})
            runs[place][name] = value
        if not runs:
            refuse("", "No line is of the form name=value unit, such as latency=12.5 ms.")
        for values in runs:
            builder.run({}, values)
        return builder.build(
            name="Values",
            question="What do these values say?",
            primary=list(units),
            tags=(),
        )


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
