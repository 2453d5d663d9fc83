"""What a sync has to have done, as its feeds say, beside what Pulp holds afterwards. Pure."""

from collections.abc import Sequence

from campaigns.drivers.base import Parameters, Proof
from campaigns.drivers.sync.feed import Offer


def same_work(
    offers: Sequence[Offer], parameters: Parameters, *, units: int, artifacts: int, downloaded: int
) -> list[Proof]:
    """Compare units of content, artifacts and downloaded files with what the feeds offer."""
    files = all_files(offers)
    wanted = sum(offer.units for offer in offers)
    immediate = parameters["policy"] == "immediate"
    kept = len(files) if immediate else 0
    return [
        Proof("units of content", wanted, units, "count", wanted == units),
        _artifacts(offers, parameters, kept, artifacts),
        _downloads(offers, parameters, kept, downloaded),
    ]


def all_files(offers: Sequence[Offer]) -> dict[str, int]:
    """The files of all feeds, each digest once, as Pulp keeps them; sizes in bytes."""
    files: dict[str, int] = {}
    for offer in offers:
        files |= offer.files
    return files


def _artifacts(offers: Sequence[Offer], parameters: Parameters, kept: int, artifacts: int) -> Proof:
    """A mirror is published at once: Pulp keeps metadata of it as artifacts, beside the files."""
    metadata = frozenset[str]().union(*(offer.metadata for offer in offers))
    content, policy = parameters["content"], parameters["sync_policy"]
    if content == "rpm/rpm" and policy == "mirror_complete":
        least = kept + len(metadata)  # and signatures of the metadata, where there are any
        return Proof("artifacts", f"{least} or more", artifacts, "count", artifacts >= least)
    published = content == "file/file" and policy != "additive"
    expected = kept + len(metadata) * published
    return Proof("artifacts", expected, artifacts, "count", artifacts == expected)


def _downloads(
    offers: Sequence[Offer], parameters: Parameters, kept: int, downloaded: int
) -> Proof:
    """Syncs that run at once may each download what both feeds have."""
    name = "files downloaded by these syncs"
    if parameters["repeat"] != "first" or not kept:
        return Proof(name, 0, downloaded, "files", downloaded == 0)
    most = sum(len(offer.files) for offer in offers)
    expected = kept if most == kept else f"{kept} to {most}"
    return Proof(name, expected, downloaded, "files", kept <= downloaded <= most)
