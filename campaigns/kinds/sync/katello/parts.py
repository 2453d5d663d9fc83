"""The parts that one run syncs through a Katello, each with a task of its own."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from campaigns.kinds.base import Context, DriverError, EffectiveSetting, Parameters
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Answered
from campaigns.kit.mappings import Json, JsonObject

CONTENT_FEATURE = "Pulpcore"
"""The feature of a smart proxy that holds content; older versions call it Pulp Node."""
WORK = "katello.json"
PROXY_COUNTED = "counted on the proxy"
LOGIN = re.compile(r"(?<=://)[^/\s]*@")


@dataclass(frozen=True, slots=True)
class Part:
    """A repository, a proxy, or a repository on a proxy, by their ids in Katello."""

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
    """Return the parts to sync at a cell's levels."""
    proxy = parameters.get("proxy")
    ids = [int(each) for each in str(parameters.get("repository_ids") or "").split(",") if each]
    if not ids:
        return [Part(None, proxy)] if proxy is not None else []
    return [Part(each, proxy) for each in ids]


def body_of(part: Part, parameters: Parameters) -> JsonObject:
    """Return the body of a request for a sync."""
    body: JsonObject = {}
    if part.proxy is not None and part.repository is not None:
        body["repository_id"] = part.repository
    if parameters["optimize"] == "off":
        body["skip_metadata_check"] = True
    return body


def read_back(katello: Katello, parts: Sequence[Part]) -> list[EffectiveSetting]:
    """Return the settings of the repositories, which perfdash does not change. Raise DriverError."""
    settings: list[EffectiveSetting] = []
    for part in parts:
        if part.repository is None:
            continue
        with known(f"repository {part.repository}"):
            repository = katello.repository(part.repository)
        name = f"repository {repository.id}"
        if not repository.url and part.proxy is None:
            raise DriverError(
                f"“{repository.name}” ({name}) has no URL to sync from; choose another."
            )
        if not repository.units:
            raise DriverError(
                f"“{repository.name}” ({name}) holds no content yet. Sync it in Katello once: only a "
                "repeated sync is measured."
            )
        shown = f"{repository.name} ({repository.content_type})"
        url = LOGIN.sub("", repository.url)  # everybody may read what is stored of a run
        policy = repository.download_policy
        settings += [
            EffectiveSetting(name, "as it is", shown, ok=True),
            EffectiveSetting(f"{name}: url", "as it is", url or "none", ok=True),
            EffectiveSetting(f"{name}: download policy", "as it is", policy or "none", ok=True),
            EffectiveSetting(f"{name}: units of content", "1 or more", repository.units, ok=True),
        ]
    return settings + proxies_of(katello, parts)


def proxies_of(katello: Katello, parts: Sequence[Part]) -> list[EffectiveSetting]:
    """Return the names and features of the smart proxies. Raise DriverError where one cannot hold content."""
    settings = []
    for proxy in {part.proxy: None for part in parts if part.proxy is not None}:
        with known(f"smart proxy {proxy}"):
            data = katello.get(f"/api/v2/smart_proxies/{proxy}")
        features = features_of(data)
        if features and not any(feature.startswith("Pulp") for feature in features):
            raise DriverError(
                f"“{data.get('name')}” (smart proxy {proxy}) holds no content: its features are "
                f"{', '.join(features)}. Choose one with {CONTENT_FEATURE}."
            )
        shown = f"{data.get('name')} ({', '.join(features) or 'features not told'})"
        settings.append(EffectiveSetting(f"proxy {proxy}", "as it is", shown, ok=True))
    return settings


def features_of(proxy: Json) -> list[str]:
    """Return the names of a smart proxy's features."""
    listed = proxy.get("features")
    return sorted(
        str(each["name"])
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and each.get("name")
    )


def counts_of(katello: Katello, parts: Sequence[Part]) -> dict[str, dict[str, int]]:
    """Return the counts of content of each part, by type; those of a proxy are what it counted last."""
    counts: dict[str, dict[str, int]] = {}
    for part in parts:
        if part.repository is not None:
            counts[f"repository {part.repository}"] = dict(
                katello.repository(part.repository).counts
            )
        if part.proxy is not None:
            content = katello.proxy_content(part.proxy).get("content_counts")
            counts[f"proxy {part.proxy}"] = {PROXY_COUNTED: _sum(content)}
    return counts


def _sum(content: Any) -> int:
    """Return the sum of the numbers below every key `counts`."""
    if not isinstance(content, dict):
        return 0
    total = 0
    for name, value in content.items():
        if name == "counts" and isinstance(value, dict):
            total += sum(each for each in value.values() if isinstance(each, int))
        else:
            total += _sum(value)
    return total


@dataclass(slots=True)
class Work:
    """What an attempt passes from one step to the next."""

    parts: list[Part]
    counts: dict[str, dict[str, int]]
    tasks: list[str]

    def save(self, context: Context) -> None:
        """Write it to the attempt's directory: the next step may run in another process."""
        context.directory.mkdir(parents=True, exist_ok=True)
        _file(context).write_text(json.dumps(asdict(self)))


def work_of(context: Context) -> Work:
    """Return what the earlier steps have written."""
    data = json.loads(_file(context).read_text())
    return Work([Part(**each) for each in data["parts"]], data["counts"], data["tasks"])


def begun_tasks(context: Context) -> list[str]:
    """Return the ids of the tasks that this attempt has begun."""
    return work_of(context).tasks if _file(context).is_file() else []


def _file(context: Context) -> Path:
    return context.directory / WORK


@contextmanager
def known(what: str) -> Iterator[None]:
    """Raise DriverError for a 404, which means that there is no such thing."""
    try:
        yield
    except Answered as error:
        if error.status != 404:
            raise
        raise DriverError(
            f"This Katello has no {what} that the user may see; check the id."
        ) from None
