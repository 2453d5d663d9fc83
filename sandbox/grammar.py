"""The paths of repositories: what they may hold, and what each setting means. Pure.

    /repo/files=100,size=20480/latency=20,jitter=5/PULP_MANIFEST

Settings are `key=value`, joined by commas, in any number of segments; the first segment without
an equals sign begins the name of a file, so relative names work.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sandbox.content import LARGEST_FILE, MOST_FILES, Content, Names
from sandbox.faults import Fault, counts
from sandbox.manifest import NAME, Kind

ROOT = "/repo"
FOREVER = float("inf")
_DAY_MS = 86_400_000
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class BadPath(Exception):
    """A path that says something impossible; the message says which part and what is allowed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the grammar. `read` raises ValueError for what is not `allowed`."""

    key: str
    read: Callable[[str], Any]
    default: str
    allowed: str
    effect: str


@dataclass(frozen=True, slots=True)
class Settings:
    """A repository as its path describes it. Times in seconds, `bandwidth` in bytes a second."""

    content: Content
    shares: Mapping[Fault, float]
    latency: float = 0.0
    jitter: float = 0.0
    bandwidth: float = 0.0
    stall: float = FOREVER
    connections: int = 0
    manifest: Kind = Kind.OK
    to: str = ""
    label: str = ""


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
    found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)([A-Za-z]{0,3})", text, re.ASCII)
    if not found or found[2] not in _UNITS:
        raise ValueError
    return round(float(found[1]) * _UNITS[found[2]])


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
    Setting("files", _whole(0, MOST_FILES), "100", f"0 to {MOST_FILES}", "number of files"),
    Setting(
        "size", _sizes, "20480", f"{_SIZE}, or two of them, 1000-50000; at most 10GB",
        "size of each file; with two, sizes vary evenly between them",
    ),
    Setting("total", _bytes, "", f"{_SIZE}; instead of size", "sum of all sizes, spread evenly"),
    Setting("seed", _whole(0, 2**63 - 1), "0", "a whole number", "other bytes, sizes and faults"),
    Setting(
        "names", Names, "plain", "plain, commas or nested",
        "file-000000.bin; `file, 000000.bin`; part-000/file-000000.bin",
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
    Setting("manifest", Kind, "ok", ", ".join(Kind), "what is wrong with the manifest"),
    Setting(
        "label", _matching(r"[A-Za-z0-9._-]{1,64}"), "",
        "1 to 64 letters, digits, dots, dashes, underscores", "counted apart in /stats",
    ),
)  # fmt: skip
_BY_KEY = {setting.key: setting for setting in SETTINGS}


def split(segments: list[str]) -> tuple[list[str], list[str]]:
    """Part the decoded segments after /repo into those that hold settings, and the file's name."""
    count = next((i for i, segment in enumerate(segments) if "=" not in segment), len(segments))
    return segments[:count], segments[count:]


def pairs(segments: list[str]) -> list[tuple[str, str]]:
    """Give the settings that segments hold, not understood yet."""
    found = []
    for pair in ",".join(segments).split(",") if segments else ():
        key, equals, text = pair.partition("=")
        if not equals:
            raise BadPath(f"{_short(pair)}: expected key=value,key=value")
        found.append((key, text))
    return found


def read(settings_as_text: list[tuple[str, str]]) -> Settings:
    """Understand settings. Raise BadPath where one is unknown, twice, impossible or at odds."""
    values: dict[str, Any] = {}
    for key, text in settings_as_text:
        if key not in _BY_KEY:
            raise BadPath(f"unknown setting {_short(key)}: expected one of {', '.join(_BY_KEY)}")
        if key in values:
            raise BadPath(f"{key} stands twice in the path: leave one")
        try:
            values[key] = _BY_KEY[key].read(text)
        except ValueError:
            allowed = _BY_KEY[key].allowed
            raise BadPath(f"{key}={_short(text)}: expected {allowed}") from None
    shares = {fault: values.pop(fault) for fault in Fault if fault in values}
    settings = Settings(content=_content(values), shares=shares, **values)
    _check(settings)
    return settings


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")


def _content(values: dict[str, Any]) -> Content:
    """Take out of `values` what describes the files."""
    if "size" in values and "total" in values:
        raise BadPath("size and total exclude each other: leave one")
    if "size" in values:
        values["smallest"], values["largest"] = values.pop("size")
    keys = ("files", "smallest", "largest", "total", "seed", "names")
    content = Content(**{key: values.pop(key) for key in keys if key in values})
    if content.total is not None and content.total > content.files * LARGEST_FILE:
        raise BadPath(f"total={content.total}: {content.files} files may hold 10GB each at most")
    return content


def _check(settings: Settings) -> None:
    files = settings.content.files
    if sum(counts(settings.shares, files).values()) > files:
        keys = ", ".join(fault for fault, share in settings.shares.items() if share > 0)
        raise BadPath(f"{keys}: more faults than the {files} files; a file has one at most")
    redirects = settings.manifest is Kind.REDIRECT or settings.shares.get(Fault.REDIRECT)
    if redirects and not settings.to:
        raise BadPath("a redirect needs an address: add to=host:port")
    if not files and settings.manifest not in (Kind.OK, Kind.EMPTY, Kind.MISSING):
        raise BadPath(f"manifest={settings.manifest} with files=0: needs one file at least")


def path(settings: list[tuple[str, str]], name: str = NAME) -> str:
    """Write the path of a file; inverse of `split` and `pairs`."""
    segment = ",".join(f"{key}={text}" for key, text in settings)
    return "/".join(filter(None, (ROOT, segment, quote(name))))


def manifest_path(**settings: object) -> str:
    """Write the path of a manifest from settings as keywords; raise BadPath for a bad one."""
    written = [(key, str(value)) for key, value in settings.items()]
    read(written)
    return path(written)
