"""Keys, hrefs, PRNs and instants in Pulp's forms."""

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

PREFIX = "/pulp/api/v3/"
VERSION = "3.123.1"  # the pulpcore whose answers were recorded
_HREF = re.compile(PREFIX + r"(?P<path>[a-z]+/[a-z_]+/[a-z_-]+/)(?P<pk>[0-9a-f-]{36})/")

Clock = Callable[[], datetime]


def clock(offset_seconds: Callable[[], float]) -> Clock:
    """Make a clock that is wrong by so many seconds."""
    return lambda: datetime.now(UTC) + timedelta(seconds=offset_seconds())


def instant(at: datetime | None) -> str | None:
    """Write an instant with microseconds, as Pulp does."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at else None


def key(at: datetime) -> str:
    """Make a UUID of version 7."""
    milliseconds = int(at.timestamp() * 1000)
    number = (milliseconds << 80) | secrets.randbits(80)
    number = number & ~(0xF << 76) & ~(0x3 << 62) | (7 << 76) | (2 << 62)
    return str(uuid.UUID(int=number))


def parted(href: str) -> tuple[str, str] | None:
    """Part an href into its path, such as remotes/file/file/, and its key."""
    match = _HREF.fullmatch(href)
    return (match["path"], match["pk"]) if match else None


def model(kind: str, plugin: str) -> str:
    """Name Pulp's model of a resource: FileRemote for remotes of file/file."""
    singular = "Repository" if kind == "repositories" else kind.removesuffix("s").title()
    return plugin.split("/")[1].title() + singular


def prn(kind: str, plugin: str, pk: str) -> str:
    """Give the PRN of a resource."""
    return f"prn:{plugin.split('/')[0]}.{model(kind, plugin).lower()}:{pk}"
