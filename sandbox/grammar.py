"""The paths of repositories: from text to settings and back. Pure.

    /repo/files=100,size=20480/latency=20,jitter=5/PULP_MANIFEST
    /rpm/packages=100/size=20480/latency=20/jitter=5/repodata/repomd.xml

Settings are `key=value`, joined by commas, in any number of segments; the first segment without
an equals sign begins the name of a file, so relative names work.
"""

from typing import Any
from urllib.parse import quote

from sandbox.content import LARGEST_FILE, Content
from sandbox.faults import Fault, counts
from sandbox.manifest import Kind, of_an_entry
from sandbox.rpm.package import LARGEST_PACKAGE, LARGEST_TOTAL, OVERHEAD, Packages, Packing
from sandbox.settings import PRESETS, SETTINGS, Feed, Settings


class BadPath(Exception):
    """A path is not valid; the message names the part and what is allowed."""


_BY_KEY = {
    feed: {setting.key: setting for setting in SETTINGS if feed in setting.feeds} for feed in Feed
}


def split(segments: list[str]) -> tuple[list[str], list[str]]:
    """Part the decoded segments after /repo or /rpm into those that hold settings, and the file's name."""
    count = next((i for i, segment in enumerate(segments) if "=" not in segment), len(segments))
    return segments[:count], segments[count:]


def pairs(segments: list[str]) -> list[tuple[str, str]]:
    """Give the settings that segments hold, not understood yet."""
    results = []
    for pair in ",".join(segments).split(",") if segments else ():
        key, equals, text = pair.partition("=")
        if not equals:
            raise BadPath(f"{_short(pair)}: expected key=value,key=value")
        results.append((key, text))
    return results


def read(settings_as_text: list[tuple[str, str]], feed: Feed = Feed.FILE) -> Settings:
    """Understand settings. Raise BadPath where one is unknown, twice, impossible or at odds."""
    known = _BY_KEY[feed]
    values: dict[str, Any] = {}
    for key, text in settings_as_text:
        if key not in known:
            expected = ", ".join(known)
            raise BadPath(f"unknown setting {_short(key)} in {feed}: expected one of {expected}")
        if key in values:
            raise BadPath(f"{key} stands twice in the path: leave one")
        try:
            values[key] = known[key].read(text)
        except ValueError:
            allowed = known[key].allowed
            raise BadPath(f"{key}={_short(text)}: expected {allowed}") from None
    shares = {fault: values.pop(fault) for fault in Fault if fault in values}
    content = _content(values) if feed is Feed.FILE else _packages(values)
    _check(values, content, shares)
    return Settings(content=content, shares=shares, **values)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")


def _measures(values: dict[str, Any], count: str) -> dict[str, Any]:
    """Take number, sizes and seed out of `values`; `count` is the key of the number."""
    if "size" in values and "total" in values:
        raise BadPath("size and total exclude each other: leave one")
    if (preset := values.pop("preset", None)) is not None:
        number, size = PRESETS[preset]
        values.setdefault(count, number)
        if "total" not in values:
            values.setdefault("size", (size, size))
    if count in values:
        values["files"] = values.pop(count)
    if "size" in values:
        values["smallest"], values["largest"] = values.pop("size")
    keys = ("files", "smallest", "largest", "total", "seed")
    return {key: values.pop(key) for key in keys if key in values}


def _content(values: dict[str, Any]) -> Content:
    """Take out of `values` what describes the files."""
    measures = _measures(values, "files")
    if "names" in values:
        measures["names"] = values.pop("names")
    content = Content(**measures)
    if content.total is not None and content.total > content.files * LARGEST_FILE:
        raise BadPath(f"total={content.total}: {content.files} files may hold 10GB each at most")
    return content


def _packages(values: dict[str, Any]) -> Packages:
    """Take out of `values` what describes the packages: sizes are theirs, not of what is in them."""
    whole = Content(**_measures(values, "packages"))
    number = whole.files
    within = f"{number} packages may have {OVERHEAD} bytes to 2GB each, and 20GB in all"
    if whole.total is None:
        smallest, largest, total = whole.smallest, whole.largest, None
        bad = smallest < OVERHEAD or largest > LARGEST_PACKAGE or largest * number > LARGEST_TOTAL
        wanted = f"size={smallest}" + f"-{largest}" * (largest != smallest)
    else:
        smallest = largest = OVERHEAD
        total = whole.total - OVERHEAD * number
        bad = total < 0 or whole.total > min(LARGEST_TOTAL, LARGEST_PACKAGE * number)
        wanted = f"total={whole.total}"
    if bad:
        raise BadPath(f"{wanted}: {within}")
    content = Content(number, smallest - OVERHEAD, largest - OVERHEAD, total, whole.seed)
    return Packages(content, values.pop("compression", Packing.GZ), values.pop("extras", 0))


def _check(values: dict[str, Any], content: Content | Packages, shares: dict[Fault, float]) -> None:
    files = content.files
    if sum(counts(shares, files).values()) > files:
        keys = ", ".join(fault for fault, share in shares.items() if share > 0)
        raise BadPath(f"{keys}: more faults than the {files} files; a file has one at most")
    kind = values.get("manifest", Kind.OK)
    if (kind is Kind.REDIRECT or shares.get(Fault.REDIRECT)) and not values.get("to"):
        raise BadPath("a redirect needs an address: add to=host:port")
    if not files and kind not in (Kind.OK, Kind.EMPTY, Kind.MISSING):
        raise BadPath(f"manifest={kind} with files=0: needs one file at least")
    if "part" in values and (kind is Kind.OK or of_an_entry(kind)):
        raise BadPath(f"part={values['part']} with manifest={kind}: no whole file is wrong")


def path(settings: list[tuple[str, str]], name: str, feed: Feed = Feed.FILE) -> str:
    """Write the path of a file; inverse of `split` and `pairs`."""
    between = "," if feed is Feed.FILE else "/"  # dnf takes a comma in a URL for the end of it
    segment = between.join(f"{key}={text}" for key, text in settings)
    return "/".join(filter(None, (feed, segment, quote(name))))


def entry_path(feed: Feed, **settings: object) -> str:
    """Write the path of what a client reads first from settings as keywords.

    Raise BadPath for a bad one.
    """
    written = [(key, str(value)) for key, value in settings.items()]
    read(written, feed)
    return path(written, feed.entry, feed)


def manifest_path(**settings: object) -> str:
    """Write the path of a PULP_MANIFEST; see `entry_path`."""
    return entry_path(Feed.FILE, **settings)
