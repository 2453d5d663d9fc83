"""The units that perfdash knows, and their conversion. Pure: no Django, no I/O."""

from dataclasses import dataclass


class UnknownUnit(ValueError):
    """The unit is not in UNITS, or cannot be converted into the other one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: `factor` times the base unit of its `dimension`."""

    symbol: str
    name: str
    dimension: str
    factor: float


UNITS = {
    unit.symbol: unit
    for unit in (
        Unit("s", "seconds", "time", 1.0),
        Unit("ms", "milliseconds", "time", 1e-3),
        Unit("µs", "microseconds", "time", 1e-6),
        Unit("min", "minutes", "time", 60.0),
        Unit("h", "hours", "time", 3600.0),
        Unit("B", "bytes", "size", 1.0),
        Unit("kB", "kilobytes", "size", 1e3),
        Unit("MB", "megabytes", "size", 1e6),
        Unit("GB", "gigabytes", "size", 1e9),
        Unit("KiB", "kibibytes", "size", 1024.0),
        Unit("MiB", "mebibytes", "size", 1024.0**2),
        Unit("GiB", "gibibytes", "size", 1024.0**3),
        Unit("B/s", "bytes per second", "transfer rate", 1.0),
        Unit("MB/s", "megabytes per second", "transfer rate", 1e6),
        Unit("1/s", "per second", "rate", 1.0),
        Unit("files/s", "files per second", "file rate", 1.0),
        Unit("count", "number", "count", 1.0),
        Unit("files", "files", "count of files", 1.0),
        Unit("connections", "connections", "count of connections", 1.0),
        Unit("share", "share of 1", "share", 1.0),
        Unit("%", "percent", "share", 0.01),
    )
}


def is_share(unit: str) -> bool:
    """Return whether values in this unit are parts of a whole."""
    return unit in UNITS and UNITS[unit].dimension == "share"


def convert(value: float, source: str, target: str) -> float:
    """Convert `value` between two symbols of one dimension. Raise UnknownUnit otherwise."""
    for symbol in (source, target):
        if symbol not in UNITS:
            raise UnknownUnit(f"“{symbol}” is not a known unit; known are {', '.join(UNITS)}.")
    if UNITS[source].dimension != UNITS[target].dimension:
        raise UnknownUnit(
            f"{source} is a {UNITS[source].dimension}, {target} is a {UNITS[target].dimension}."
        )
    return value * UNITS[source].factor / UNITS[target].factor


SPANS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
"""Units of durations in seconds, the longest first."""


def written(seconds: float) -> str:
    """Format seconds without loss, so that DurationField can parse the text: 5400 is 1 h 30 min."""
    whole, rest = divmod(seconds, 1)
    if rest or whole < 1:
        return f"{seconds!r} s"
    parts = []
    for unit, size in SPANS:
        number, whole = divmod(whole, size)
        if number:
            parts.append(f"{number:.0f} {unit}")
    return " ".join(parts)


def roughly(seconds: float) -> str:
    """Format seconds roughly: whole seconds, from ten minutes whole minutes; at least 1 s."""
    step = 60 if seconds >= 600 else 1
    return written(max(1, round(seconds / step) * step))
