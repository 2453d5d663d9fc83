"""What is proved of a sync, by what its feeds offer."""

import pytest

from campaigns.kinds.base.feed import Offer
from campaigns.kinds.sync.steps import same_others, same_work

FILES = {b"a": 10, b"b": 20}
MANIFEST = frozenset(["manifest"])


def refused(offers, units, artifacts, downloaded, trees=0, **changes):
    """The proofs that are not as expected, by name."""
    parameters = {
        "content": "file/file",
        "policy": "immediate",
        "sync_policy": "additive",
        "repeat": "first",
    } | changes
    proofs = same_work(
        offers, parameters, units=units, artifacts=artifacts, downloaded=downloaded, trees=trees
    )
    return {proof.name: (proof.expected, proof.measured) for proof in proofs if not proof.ok}


def test_a_sync_of_everything_is_proved():
    assert refused([Offer(2, FILES, MANIFEST)], 2, 2, 2) == {}


def test_modules_comps_and_advisories_are_compared_type_by_type():
    offer = Offer(2, FILES, others={"rpm.modulemd": 2, "rpm.packagegroup": 1, "rpm.advisory": None})
    held = {"rpm.modulemd": {"count": 3}, "rpm.advisory": {"count": 5}, "rpm.packagecategory": {"count": 1}}  # fmt: skip

    proofs = {proof.name: proof for proof in same_others([offer, offer], [held, {}])}

    assert {name: (each.expected, each.measured) for name, each in proofs.items()} == {
        "modules": (4, 3),
        "package groups": (2, 0),
        "package categories": (0, 1),
        "advisories": ("any: not read from the feed", 5),
    }
    assert [name for name, each in proofs.items() if each.ok] == ["advisories"]


def test_each_figure_that_differs_is_named():
    assert refused([Offer(2, FILES, MANIFEST)], 1, 3, 0) == {
        "units of content": (2, 1),
        "artifacts": (2, 3),
        "files downloaded by these syncs": (2, 0),
    }


@pytest.mark.parametrize("policy", ["mirror_content_only", "mirror_complete"])
def test_a_mirror_of_files_holds_a_manifest_more(policy):
    offer = Offer(2, FILES, MANIFEST)

    assert refused([offer], 2, 3, 2, sync_policy=policy) == {}
    assert refused([offer], 2, 2, 2, sync_policy=policy) == {"artifacts": (3, 2)}


def test_a_complete_mirror_of_packages_may_hold_signatures_too():
    offer = Offer(2, FILES, frozenset(["repomd", "primary"]))
    mirror = {"content": "rpm/rpm", "sync_policy": "mirror_complete"}

    assert refused([offer], 2, 4, 2, **mirror) == {}
    assert refused([offer], 2, 5, 2, **mirror) == {}
    assert refused([offer], 2, 3, 2, **mirror) == {"artifacts": ("4 or more", 3)}


def test_one_feed_in_two_repositories_may_be_downloaded_once_or_twice():
    offers = [Offer(2, FILES, MANIFEST)] * 2

    assert refused(offers, 4, 2, 2) == {}
    assert refused(offers, 4, 2, 4) == {}
    assert refused(offers, 4, 2, 5) == {"files downloaded by these syncs": ("2 to 4", 5)}


@pytest.mark.parametrize("changes", [{"repeat": "unchanged"}, {"policy": "on_demand"}])
def test_what_must_not_be_downloaded_is_refused(changes):
    kept = 0 if "policy" in changes else 2

    assert refused([Offer(2, FILES, MANIFEST)], 2, kept, 0, **changes) == {}
    assert refused([Offer(2, FILES, MANIFEST)], 2, kept, 1, **changes) == {
        "files downloaded by these syncs": (0, 1)
    }


def test_trees_bring_images_and_their_description_each_time():
    offer = Offer(2, FILES, frozenset(["repomd"]))
    packages = {"content": "rpm/rpm", "trees": 1}

    assert refused([offer], 2, 9, 9, **packages) == {}
    assert refused([offer], 2, 2, 1, **packages) == {
        "files downloaded by these syncs": ("2 or more", 1)
    }
    assert refused([offer], 2, 1, 2, **packages) == {"artifacts": ("2 or more", 1)}
    assert refused([offer], 2, 9, 1, **packages, repeat="unchanged") == {}
    assert refused([offer], 2, 9, 2, **packages, repeat="unchanged") == {
        "files downloaded by these syncs": ("0 to 1", 2)
    }
