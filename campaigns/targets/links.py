"""Addresses of other tools, such as Grafana, that a run opens with its range of time. Pure.

A link is a title and a URL in which {from} and {to} stand for milliseconds since the epoch, {from_s} and {to_s} for
seconds, {from_iso} and {to_iso} for times as 2026-11-26T12:00:00Z, and {target} for the name of the target.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

MOST_LINKS, MOST_LETTERS, MOST_TITLE = 20, 2000, 60
NAMES = ("from", "to", "from_s", "to_s", "from_iso", "to_iso", "target")
FIELD = re.compile(r"\{([^{}]*)\}")
BETWEEN = re.compile(r":\s*+(?=[a-zA-Z][a-zA-Z+.-]*+://\s*+\S)")
"""The colon between title and URL."""
MARGIN = timedelta(seconds=30)
"""What is shown before and after a run."""


class BadLink(ValueError):
    """A link cannot be used; the message says which and what to do."""


def parse_links(text: str) -> list[dict[str, str]]:
    """Read links, one per line: a title, a colon, and a URL. Raise BadLink."""
    links = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = BETWEEN.search(line)
        title = line[: match.start()].strip() if match else ""
        if match is None or not title:
            raise BadLink(
                f"“{line.strip():.60}” is no link: write a title, a colon and a URL, such as "
                "Grafana: https://grafana.example/d/abc?from={from}&to={to}."
            )
        links.append({"title": title, "url": line[match.end() :].strip()})
    return checked_links(links)


def checked_links(links: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return links with their titles and URLs. Raise BadLink."""
    if len(links) > MOST_LINKS:
        raise BadLink(f"Give at most {MOST_LINKS} links.")
    result = [_checked(link) for link in links]
    titles = [link["title"] for link in result]
    if twice := [title for title in titles if titles.count(title) > 1]:
        raise BadLink(f"There are two links “{twice[0]}”; give each another title.")
    return result


def as_text(links: Sequence[Mapping[str, str]]) -> str:
    """Return links as they are typed."""
    return "\n".join(f"{link['title']}: {link['url']}" for link in links)


def opened(url: str, begin: datetime, end: datetime, target: str) -> str:
    """Return the URL of a link for the time from a little before `begin` to a little after `end`."""
    begin, end = (each.astimezone(UTC) for each in (begin - MARGIN, end + MARGIN))
    values = {"target": target}
    for name, at in (("from", begin), ("to", end)):
        values[name] = str(round(at.timestamp() * 1000))
        values[f"{name}_s"] = str(round(at.timestamp()))
        values[f"{name}_iso"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return FIELD.sub(lambda match: quote(values[match[1]], safe=""), url)


def _checked(link: Mapping[str, Any]) -> dict[str, str]:
    title, url = (str(link.get(name, "")).strip() for name in ("title", "url"))
    if not title or len(title) > MOST_TITLE:
        raise BadLink(f"Give each link a title of at most {MOST_TITLE} letters.")
    if len(url) > MOST_LETTERS or not url.isprintable() or " " in url or "\\" in url:
        raise BadLink(
            f"The URL of “{title}” holds a blank, a backslash or a control character, or is longer "
            f"than {MOST_LETTERS} letters."
        )
    if unknown := [name for name in FIELD.findall(url) if name not in NAMES]:
        known = ", ".join(f"{{{name}}}" for name in NAMES)
        raise BadLink(f"The URL of “{title}” holds {{{unknown[0]:.40}}}; there are {known}.")
    if "{" in FIELD.sub("", url) or "}" in FIELD.sub("", url):
        raise BadLink(f"The URL of “{title}” has a brace without its other one.")
    plain = FIELD.sub("1", url)
    try:
        parts = urlsplit(plain)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise BadLink(f"The URL of “{title}” must begin with http:// or https:// and a host.")
    if FIELD.search(url.split("//", 1)[1].split("/", 1)[0]):
        raise BadLink(f"The host in the URL of “{title}” cannot hold {{…}}.")
    if "@" in parts.netloc:
        raise BadLink(f"The URL of “{title}” holds a user name or password; take it out.")
    return {"title": title, "url": url}
