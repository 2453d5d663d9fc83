"""What can be set in the path of a repository: each key, what it may be, what it does. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.content import LARGEST_FILE, MOST_FILES, Content, Names
from sandbox.faults import Fault
from sandbox.manifest import NAME, Kind
from sandbox.rpm.package import MOST_PACKAGES, OVERHEAD, Packages, Packing
from sandbox.rpm.repodata import Extra, Part

FOREVER = float("inf")
MOST_EXTRAS = 1000
_DAY_MS = 86_400_000
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Feed(StrEnum):
    """The kinds of repositories; each value is the first segment of their paths."""

    FILE = "/repo"
    RPM = "/rpm"

    @property
    def entry(self) -> str:
        """The name of the document that a client reads first."""
        return NAME if self is Feed.FILE else Part.REPOMD.path


class Preset(StrEnum):
    """A name for a number of files (or packages) and their size; `files`, `size`, `total` go first."""

    MANY_SMALL = "many-small"
    FEW_LARGE = "few-large"


PRESETS = {Preset.MANY_SMALL: (4000, 50_000), Preset.FEW_LARGE: (10, 20_000_000)}
"""Number and bytes of each: 200 MB in both."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the grammar. `read` raises ValueError for what is not `allowed`.

    feeds: the repositories that know it.
    """

    key: str
    read: Callable[[str], Any]
    default: str
    allowed: str
    effect: str
    feeds: tuple[Feed, ...] = tuple(Feed)


@dataclass(frozen=True, slots=True)
class Settings:
    """A repository as its path describes it. Times in seconds, `bandwidth` in bytes a second."""

    content: Content | Packages
    shares: Mapping[Fault, float]
    latency: float = 0.0
    jitter: float = 0.0
    bandwidth: float = 0.0
    stall: float = FOREVER
    connections: int = 0
    manifest: Kind = Kind.OK
    part: Part = Part.REPOMD
    to: str = ""
    label: str = ""

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of all documents."""
        if isinstance(self.content, Content):
            return (NAME,)
        extras = Extra if self.content.extras else ()
        return tuple(part.packed(self.content.packing) for part in (*Part, *extras))


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            raise ValueError
        return int(text)

    return read


def _number(most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not re.fullmatch(r"\d{1,18}(\.\d{1,18})?", text, re.ASCII) or float(text) > most:
            raise ValueError
        return float(text)

    return read


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)([A-Za-z]{0,3})", text, re.ASCII)
    if not match or match[2] not in _UNITS:
        raise ValueError
    return round(float(match[1]) * _UNITS[match[2]])


def _sizes(text: str) -> tuple[int, int]:
    smallest, dash, largest = text.partition("-")
    sizes = _bytes(smallest), _bytes(largest if dash else smallest)
    if not sizes[0] <= sizes[1] <= LARGEST_FILE:
        raise ValueError
    return sizes


def _rate(text: str) -> int:
    if not (rate := _bytes(text)):
        raise ValueError
    return rate


def _matching(pattern: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII):
            raise ValueError
        return text

    return read


def _stall(text: str) -> float:
    return FOREVER if text == "forever" else _number(_DAY_MS)(text) / 1000


def _milliseconds(text: str) -> float:
    return _number(_DAY_MS)(text) / 1000


_SIZE = "bytes, with or without a unit (B kB MB GB KiB MiB GiB)"
_MS = "milliseconds, for example 20 or 0.5"
_EFFECTS = {
    Fault.MISSING: "404",
    Fault.ERROR: "500 each time",
    Fault.FLAKY: "500 on the first try only; reading the manifest lets tries begin anew",
    Fault.REDIRECT: "302 to the same file at `to`",
    Fault.STALL: "the body stops half way for `stall`",
    Fault.RESET: "the connection is reset half way through the body",
    Fault.TRUNCATED: "the connection is closed half way through the body",
    Fault.CORRUPT: "the last byte is wrong, the size is right",
    Fault.LONGER: "one byte more than the manifest says",
    Fault.PAGE: "200 with a web page instead of the file",
}

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "files", _whole(0, MOST_FILES), "100", f"0 to {MOST_FILES}", "number of files",
        (Feed.FILE,),
    ),
    Setting(
        "packages", _whole(0, MOST_PACKAGES), "100", f"0 to {MOST_PACKAGES}", "number of packages",
        (Feed.RPM,),
    ),
    Setting(
        "size", _sizes, "20480", f"{_SIZE}, or two of them, 1000-50000; at most 10GB",
        "size of each file; with two, sizes vary evenly between them; "
        f"a package has {OVERHEAD} bytes at least, 2GB at most, all of them 20GB",
    ),
    Setting("total", _bytes, "", f"{_SIZE}; instead of size", "sum of all sizes, spread evenly"),
    Setting(
        "preset", Preset, "", ", ".join(Preset), "number and size: "
        + "; ".join(f"{name}: {count} of {size} bytes" for name, (count, size) in PRESETS.items()),
    ),
    Setting("seed", _whole(0, 2**63 - 1), "0", "a whole number", "other bytes, sizes and faults"),
    Setting(
        "names", Names, "plain", "plain, commas or nested",
        "file-000000.bin; `file, 000000.bin`; part-000/file-000000.bin", (Feed.FILE,),
    ),
    Setting("latency", _milliseconds, "0", _MS, "wait before each answer"),
    Setting("jitter", _milliseconds, "0", _MS, "up to so much more, by seed, file and try"),
    Setting("bandwidth", _rate, "", f"{_SIZE}, above 0", "bytes a second of each body"),
    *(
        Setting(fault, _number(1), "0", "a share of the files, 0 to 1", effect)
        for fault, effect in _EFFECTS.items()
    ),
    Setting("stall", _stall, "forever", f"{_MS}, or forever", "how long `stalls` last"),
    Setting(
        "to", _matching(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?"), "",
        "host, host:port or [IPv6]:port", "where redirects lead",
    ),
    Setting(
        "connections", _whole(1, 10**6), "", "1 to 1000000",
        "with more answers than that under way: 429, Retry-After: 1, at once",
    ),
    Setting(
        "manifest", Kind, "ok", ", ".join(Kind), "what is wrong with the manifest, or the repodata"
    ),
    Setting(
        "part", Part, "repomd", ", ".join(Part),
        "with which file of the repodata, where a whole one is wrong", (Feed.RPM,),
    ),
    Setting(
        "compression", Packing, "gz", ", ".join(Packing), "of the lists in repodata", (Feed.RPM,),
    ),
    Setting(
        "extras", _whole(0, MOST_EXTRAS), "0", f"0 to {MOST_EXTRAS}",
        "number of modules, of package groups and of advisories; with any, there are one category, "
        "one environment and one module's defaults, too", (Feed.RPM,),
    ),
    Setting(
        "label", _matching(r"[A-Za-z0-9._-]{1,64}"), "",
        "1 to 64 letters, digits, dots, dashes, underscores", "counted apart in /stats",
    ),
)  # fmt: skip
