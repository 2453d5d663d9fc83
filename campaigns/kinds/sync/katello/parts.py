"""What one run syncs through a Katello: a task for each part."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from campaigns.kinds.base import Context, DriverError, EffectiveSetting, Parameters
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered

CONTENT_FEATURE = "Pulpcore"
"""Of a smart proxy that can hold content; older ones are called Pulp Node."""
WORK = "katello.json"
PROXY_COUNTED = "counted on the proxy"
LOGIN = re.compile(r"(?<=://)[^/\s]*@")


@dataclass(frozen=True, slots=True)
class Part:
    """A repository, a proxy, or a repository on a proxy; by their ids in Katello."""

    repository: int | None
    proxy: int | None

    def __str__(self) -> str:
        names = []
        if self.repository is not None:
            names.append(f"repository {self.repository}")
        if self.proxy is not None:
            names.append(f"proxy {self.proxy}")
        return " on ".join(names)


def parts_of(parameters: Parameters) -> list[Part]:
    """Return what is synced at a cell's levels."""
    proxy = parameters.get("proxy")
    ids = [int(each) for each in str(parameters.get("repository_ids") or "").split(",") if each]
    if not ids:
        return [Part(None, proxy)] if proxy is not None else []
    return [Part(each, proxy) for each in ids]


def body_of(part: Part, parameters: Parameters) -> dict[str, Any]:
    """Return the body that asks for a sync."""
    body: dict[str, Any] = {}
    if part.proxy is not None and part.repository is not None:
        body["repository_id"] = part.repository
    if parameters["optimize"] == "off":
        body["skip_metadata_check"] = True
    return body


def read_back(katello: Katello, parts: Sequence[Part]) -> list[EffectiveSetting]:
    """Return what the repositories are set to, which perfdash does not change. Raise DriverError."""
    settings: list[EffectiveSetting] = []
    for part in parts:
        if part.repository is None:
            continue
        with known(f"repository {part.repository}"):
            found = katello.repository(part.repository)
        if not found.url and part.proxy is None:
            raise DriverError(
                f"“{found.name}” (repository {found.id}) has no URL to sync from; choose another."
            )
        if not found.units:
            raise DriverError(
                f"“{found.name}” (repository {found.id}) holds no content yet. Sync it in Katello "
                "once: what is measured is a sync of what is there already."
            )
        of = f"repository {found.id}"
        settings += [
            EffectiveSetting(of, "as it is", f"{found.name} ({found.content_type})", ok=True),
            EffectiveSetting(
                f"{of}: url", "as it is", _without_login(found.url) or "none", ok=True
            ),
            EffectiveSetting(
                f"{of}: download policy", "as it is", found.download_policy or "none", ok=True
            ),
            EffectiveSetting(f"{of}: units of content", "1 or more", found.units, ok=True),
        ]
    return settings + proxies_of(katello, parts)


def _without_login(url: str) -> str:
    """Take user and password out of the URL of a feed: everybody may read what is stored of a run."""
    return LOGIN.sub("", url)


def proxies_of(katello: Katello, parts: Sequence[Part]) -> list[EffectiveSetting]:
    """Return what the smart proxies are. Raise DriverError where one cannot hold content."""
    settings = []
    for proxy in {part.proxy: None for part in parts if part.proxy is not None}:
        with known(f"smart proxy {proxy}"):
            found = katello.get(f"/api/v2/smart_proxies/{proxy}")
        named = features_of(found)
        if named and not any(feature.startswith("Pulp") for feature in named):
            raise DriverError(
                f"“{found.get('name')}” (smart proxy {proxy}) holds no content: its features are "
                f"{', '.join(named)}. Choose one with {CONTENT_FEATURE}."
            )
        shown = f"{found.get('name')} ({', '.join(named) or 'features not told'})"
        settings.append(EffectiveSetting(f"proxy {proxy}", "as it is", shown, ok=True))
    return settings


def features_of(proxy: Mapping[str, Any]) -> list[str]:
    """Name what a smart proxy can do."""
    listed = proxy.get("features")
    return sorted(
        str(each["name"])
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and each.get("name")
    )


def counts_of(katello: Katello, parts: Sequence[Part]) -> dict[str, dict[str, int]]:
    """Count what is there, of each part by type; a proxy tells only what was counted on it before."""
    counts: dict[str, dict[str, int]] = {}
    for part in parts:
        if part.repository is not None:
            counts[f"repository {part.repository}"] = dict(
                katello.repository(part.repository).counts
            )
        if part.proxy is not None:
            told = katello.proxy_content(part.proxy).get("content_counts")
            counts[f"proxy {part.proxy}"] = {PROXY_COUNTED: _sum(told)}
    return counts


def _sum(told: Any) -> int:
    """Add up the numbers below every key `counts`."""
    if not isinstance(told, dict):
        return 0
    total = 0
    for name, value in told.items():
        if name == "counts" and isinstance(value, dict):
            total += sum(each for each in value.values() if isinstance(each, int))
        else:
            total += _sum(value)
    return total


@dataclass(slots=True)
class Work:
    """What an attempt keeps from one step to the next."""

    parts: list[Part]
    counts: dict[str, dict[str, int]]
    tasks: list[str]

    def save(self, context: Context) -> None:
        """Write it down: the next step may be another process."""
        context.directory.mkdir(parents=True, exist_ok=True)
        _file(context).write_text(json.dumps(asdict(self)))


def work_of(context: Context) -> Work:
    """Return what the steps before have written."""
    told = json.loads(_file(context).read_text())
    return Work([Part(**each) for each in told["parts"]], told["counts"], told["tasks"])


def begun_tasks(context: Context) -> list[str]:
    """Return the ids of the tasks that this attempt has begun."""
    return work_of(context).tasks if _file(context).is_file() else []


def _file(context: Context) -> Path:
    return context.directory / WORK


@contextmanager
def known(what: str) -> Iterator[None]:
    """Say of a 404 what there is none of. Raise DriverError."""
    try:
        yield
    except Answered as error:
        if error.status != 404:
            raise
        raise DriverError(
            f"This Katello has no {what} that the user may see; check the id."
        ) from None
