"""What a bundled conclusion says of its data: hashes, which have to be those of the data beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from campaigns.bundles.archive import Damaged
from campaigns.bundles.comparing import Difference
from campaigns.bundles.sending import CONCLUSION
from campaigns.bundles.writing import MORE
from campaigns.models import Conclusion
from campaigns.stats.hashing import hash_together

FILE = MORE + CONCLUSION


def hashes_that_differ(told: Any, hashes: Mapping[str, str]) -> Iterator[Difference]:
    """Compare the hashes of evidence and decisions with those that the data give, by folder.

    Of one that nobody relies on any more the data may have moved since; only its decisions and its
    evidence have to agree then. Raise Damaged.
    """
    evidence = _evidence(told)
    if told.get("state") in Conclusion.STANDING:
        for number, (campaign, says) in enumerate(evidence, 1):
            gives = hashes.get(f"campaign-{campaign}/", "no such campaign")
            if says != gives:
                yield Difference(FILE, f"evidence {number}, data_hash", says, gives)
    together = hash_together(evidence)
    for number, decision in enumerate(_objects(told, "decisions"), 1):
        of_this = decision.get("revision") == told.get("revision")
        if of_this and together and decision.get("data_hash") != together:
            place = f"decision {number} by {decision.get('by')}, data_hash"
            yield Difference(FILE, place, decision.get("data_hash"), together)


def taken_as_read(told: Any, names: Sequence[str]) -> Iterator[str]:
    """Say what of the files beside the campaigns nothing tells once more. names: of those files."""
    if others := [name for name in names if name != FILE]:
        yield f"taken as read: {', '.join(others)}"
    if FILE not in names:
        return
    yield f"taken as read: the words of {FILE}, its versions, and decisions on earlier revisions"
    if told.get("state") not in Conclusion.STANDING:
        yield (
            f"taken as read: the hashes of its evidence, as the conclusion is {told.get('state')}: "
            "its data may have moved since"
        )


def _evidence(told: Any) -> list[tuple[int, str]]:
    """Keys of campaigns, each with the hash that is claimed of its data."""
    try:
        return [
            (int(each["campaign"]), str(each["data_hash"])) for each in _objects(told, "evidence")
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{FILE} is no conclusion: {error!r}.") from None


def _objects(told: Any, name: str) -> list[dict[str, Any]]:
    found = told.get(name) if isinstance(told, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Damaged(f"{FILE} is no conclusion: it has no list “{name}”.")
    return found
