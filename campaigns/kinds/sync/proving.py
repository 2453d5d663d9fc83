"""What a sync has to have done, as its feeds say, beside what Pulp holds afterwards. Pure."""

from collections.abc import Sequence

from campaigns.kinds.base import Parameters, Proof
from campaigns.kinds.sync.feed import Offer


def same_work(
    offers: Sequence[Offer],
    parameters: Parameters,
    *,
    units: int,
    artifacts: int,
    downloaded: int,
    trees: int = 0,
) -> list[Proof]:
    """Compare units of content, artifacts and downloaded files with what the feeds offer.

    trees: how many of the feeds have images beside their packages, which their metadata do not list.
    """
    files = all_files(offers)
    wanted = sum(offer.units for offer in offers)
    immediate = parameters["policy"] == "immediate"
    kept = len(files) if immediate else 0
    return [
        Proof("units of content", wanted, units, "count", wanted == units),
        _artifacts(offers, parameters, kept, artifacts, trees=trees),
        _downloads(offers, parameters, kept, downloaded, trees=trees),
    ]


def same_clock(seconds: float | None, bounds: tuple[float, float]) -> Proof:
    """Compare the seconds by Pulp's clock with what our looks leave possible: a clock may be set."""
    least, most = (round(bounds[0], 1), round(bounds[1], 1))
    right = seconds is not None and least <= seconds <= most
    found = "not known" if seconds is None else round(seconds, 3)
    return Proof("duration, beside our clock", f"{least:g} to {most:g} s", found, "s", right)


def all_files(offers: Sequence[Offer]) -> dict[str, int]:
    """The files of all feeds, each digest once, as Pulp keeps them; sizes in bytes."""
    files: dict[str, int] = {}
    for offer in offers:
        files |= offer.files
    return files


def _artifacts(
    offers: Sequence[Offer], parameters: Parameters, kept: int, artifacts: int, *, trees: int
) -> Proof:
    """A mirror is published at once: Pulp keeps metadata of it as artifacts, beside the files."""
    metadata = len(frozenset[str]().union(*(offer.metadata for offer in offers)))
    content, policy = parameters["content"], parameters["sync_policy"]
    whole_mirror = content == "rpm/rpm" and policy == "mirror_complete"
    published = whole_mirror or (content == "file/file" and policy != "additive")
    least = kept + metadata * published
    if trees or whole_mirror:  # and signatures of the metadata, where there are any
        return Proof("artifacts", f"{least} or more", artifacts, "count", artifacts >= least)
    return Proof("artifacts", least, artifacts, "count", artifacts == least)


def _downloads(
    offers: Sequence[Offer], parameters: Parameters, kept: int, downloaded: int, *, trees: int
) -> Proof:
    """Syncs that run at once may each download what both feeds have; a tree's description comes anew."""
    name = "files downloaded by these syncs"
    if parameters["repeat"] != "first" or not kept:
        few = f"0 to {trees}" if trees else 0
        return Proof(name, few, downloaded, "files", downloaded <= trees)
    if trees:
        return Proof(name, f"{kept} or more", downloaded, "files", downloaded >= kept)
    most = sum(len(offer.files) for offer in offers)
    expected = kept if most == kept else f"{kept} to {most}"
    return Proof(name, expected, downloaded, "files", kept <= downloaded <= most)
