"""Repositories and smart proxies that the stand-in always has, as its API tells of them."""

from dataclasses import dataclass
from typing import Any

FOREMAN, KATELLO = "3.14.0 stand-in", "4.16.0 stand-in"
SERVICES = (
    "candlepin",
    "candlepin_auth",
    "foreman_tasks",
    "katello_events",
    "pulp3",
    "pulp3_content",
)


@dataclass(slots=True, eq=False)
class Repository:
    """A repository; only its units change, where a test lets syncs add some."""

    pk: int
    name: str
    content_type: str = "yum"
    url: str = "http://feed.example/bench/"
    download_policy: str = "on_demand"
    units: int = 120
    library: bool = True

    @property
    def unit_type(self) -> str:
        """What its units are called."""
        return {"yum": "rpm", "deb": "deb"}.get(self.content_type, self.content_type)

    def document(self) -> dict[str, Any]:
        """Tell of it as `GET /katello/api/v2/repositories/:id` does."""
        return {
            "id": self.pk,
            "name": self.name,
            "label": self.name,
            "content_type": self.content_type,
            "url": self.url or None,
            "download_policy": self.download_policy,
            "mirroring_policy": "mirror_content_only",
            "content_counts": {self.unit_type: self.units, "srpm": 0},
            "product": {"id": 1, "name": "Bench"},
            "organization": {"id": 1, "name": "ACME"},
        }


def repositories() -> dict[int, Repository]:
    """Give what a fresh stand-in has."""
    made = (
        Repository(3, "bench"),
        Repository(
            5,
            "more",
            units=80,
            url="http://jane:word@feed.example/more/",
            download_policy="immediate",
        ),
        Repository(6, "files", content_type="file", units=40, download_policy="immediate"),
        Repository(7, "no feed", url=""),
        Repository(8, "never synced", units=0),
        Repository(9, "promoted", library=False),
    )
    return {repository.pk: repository for repository in made}


PROXIES = {
    1: ("katello.example", ("Dynflow", "Pulpcore")),
    2: ("capsule.example", ("Dynflow", "Pulpcore")),
    4: ("dns.example", ("DNS",)),
}


def proxy(pk: int) -> dict[str, Any]:
    """Tell of a smart proxy as `GET /api/v2/smart_proxies/:id` does."""
    name, features = PROXIES[pk]
    return {
        "id": pk,
        "name": name,
        "url": f"https://{name}:9090",
        "features": [
            {"id": number, "name": feature, "capabilities": []}
            for number, feature in enumerate(features, 1)
        ],
    }


def counted(held: dict[int, Repository]) -> dict[str, Any]:
    """Tell what was counted on a proxy."""
    told = {
        str(each.pk): {"counts": {each.unit_type: each.units}, "metadata": {}}
        for each in held.values()
        if each.library
    }
    return {"content_view_versions": {"1": {"repositories": told}}}
