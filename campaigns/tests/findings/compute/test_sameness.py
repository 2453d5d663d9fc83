"""Cells at different addresses are compared where the same content was proved."""

import pytest

from campaigns.execution.content import as_before
from campaigns.execution.proofs import unproved_of
from campaigns.findings import compute
from campaigns.findings.compared import sides_of
from campaigns.findings.compute.compared import cells_of, compare_campaigns, compare_chosen
from campaigns.findings.store import read
from campaigns.findings.values import Answer, LevelsFinding, Pairs
from campaigns.kinds.base.content import BYTES, DIGEST, UNITS, content_proofs
from campaigns.models import Campaign, Proof
from campaigns.planning import checking, drafts, lifecycle
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.conftest import findings, store
from campaigns.tests.findings.spoken import caveats_of, details_of
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db

HERE, THERE = "here/PULP_MANIFEST", "there/PULP_MANIFEST"
SAME = (100, 5_000_000, "a" * 64)


@pytest.fixture
def of_feeds(target):
    """Launch and store a campaign over two feeds, whose runs take as long in both."""

    def make(feeds=(HERE, THERE), **others):
        data = {
            "question": "Is the mirror as fast?",
            "kind": "downloader",
            "target": target.pk,
            "factors": {"manifest": list(feeds)},
            "repetitions": 4,
            "seed": 1,
            **others,
        }
        campaign = lifecycle.launch(drafts.create(checking.check(data), None), None)
        store(campaign, lambda run: 10 + 0.01 * (run.position % 4))
        Campaign.objects.filter(pk=campaign.pk).update(state="finished")
        campaign.refresh_from_db()
        return campaign

    return make


def prove(campaign, of_feed):
    """Let every run have proved its content: number, bytes and digest, as far as they are there."""
    for run in campaign.runs.select_related("cell"):
        values = of_feed[run.cell.levels_by_factor["manifest"]]
        for name, value, unit in zip(
            (UNITS, BYTES, DIGEST), values, ("files", "B", ""), strict=False
        ):
            Proof.objects.create(
                attempt=run.attempts.get(), step="verify", name=name, ok=True,
                expected="any", measured=value, unit=unit,
            )  # fmt: skip


def test_two_addresses_of_the_same_content_are_compared_and_both_are_named(of_feeds):
    campaign = of_feeds()
    prove(campaign, {HERE: SAME, THERE: SAME})

    found = findings(campaign)

    levels = read(found["levels"], LevelsFinding)
    (row,) = levels.groups[0].comparisons
    assert row.comparison.verdict.word == Word.EQUIVALENT
    told = "Same content (100 files, 5 MB), from 2 addresses (manifest)."
    assert told in details_of(found["answer"])


def test_equal_numbers_without_a_digest_are_compared_and_not_called_the_same(of_feeds):
    campaign = of_feeds()
    prove(campaign, {HERE: (100, 5_000_000), THERE: (100, 5_000_000)})

    found = findings(campaign)

    assert read(found["levels"], LevelsFinding).groups[0].comparisons
    sentence = details_of(found["answer"])
    assert "Same number and size (100 files, 5 MB) at 2 addresses" in sentence
    assert "that it is the same content is not proved" in sentence


def test_other_content_is_refused_with_both_amounts(of_feeds):
    campaign = of_feeds()
    prove(campaign, {HERE: SAME, THERE: (101, 5_100_000, "b" * 64)})

    found = findings(campaign)

    assert "levels" not in found
    assert "other content: 100 / 101 files" in caveats_of(found["answer"])
    content = (
        Campaign.objects.get(pk=campaign.pk).findings.get(name="answer").result["other_content"]
    )
    assert [each["units"] for each in content] == [[100, 101]]


def test_equal_numbers_with_other_digests_are_refused(of_feeds):
    campaign = of_feeds()
    prove(campaign, {HERE: SAME, THERE: (100, 5_000_000, "b" * 64)})

    found = findings(campaign)

    assert "levels" not in found
    assert "100 files each, whose digests differ" in caveats_of(found["answer"])


@pytest.mark.parametrize("proved", [{}, {HERE: SAME}])
def test_without_proof_on_both_sides_an_address_is_work_as_ever(of_feeds, proved):
    campaign = of_feeds()
    prove(campaign, {HERE: (), THERE: (), **proved})

    found = findings(campaign)

    assert "levels" not in found
    assert list(read(campaign.findings.get(name="answer").result, Answer).work) == ["manifest"]


def test_pairs_of_two_addresses_are_judged_only_with_the_same_content(of_feeds):
    order = {"order": "paired", "paired_factor": "manifest", "baseline": HERE}
    same, other = of_feeds(**order), of_feeds(**order)
    prove(same, {HERE: SAME, THERE: SAME})
    prove(other, {HERE: SAME, THERE: (101, 5_100_000, "b" * 64)})

    words = [
        read(findings(each)["pairs"], Pairs).strata[0].comparison.verdict.word
        for each in (same, other)
    ]

    assert words == [Word.EQUIVALENT, Word.NOT_COMPARABLE]


def compared(*campaigns):
    for each in campaigns:
        compute.analyse(each)
    return compare_campaigns(sides_of([each.pk for each in campaigns], everywhere().see))


def first_cells_compared(*campaigns):
    for each in campaigns:
        compute.analyse(each)
    sides = sides_of([each.pk for each in campaigns], everywhere().see)
    return compare_chosen(sides, [(place, cells_of(side)[0]) for place, side in enumerate(sides)])


def test_cells_of_campaigns_over_two_addresses_of_the_same_content_are_compared(of_feeds):
    one, other = of_feeds(feeds=(HERE,)), of_feeds(feeds=(THERE,))
    prove(one, {HERE: SAME})
    prove(other, {THERE: SAME})

    (row,) = first_cells_compared(one, other).rows

    assert row.comparison.verdict.word in (Word.EQUIVALENT, Word.NO_DIFFERENCE_SHOWN)
    assert [(each.baseline, each.candidate) for each in row.settings] == [(HERE, THERE)]


def test_one_address_with_other_content_is_refused_too(of_feeds):
    one, other = of_feeds(feeds=(HERE,)), of_feeds(feeds=(HERE,))
    prove(one, {HERE: SAME})
    prove(other, {HERE: (101, 5_100_000, "b" * 64)})

    (row,) = compared(one, other).rows

    assert row.comparison.verdict.word == Word.NOT_COMPARABLE
    assert [each.label for each in row.refused] == ["content"]
    assert row.refused[0].baseline.startswith("100 files, 5 MB")
    assert row.refused[0].candidate.startswith("101 files, 5.1 MB")


def test_a_run_whose_cell_had_other_content_before_did_other_work(of_feeds):
    campaign = of_feeds()
    first, *later = campaign.runs.filter(cell=campaign.cells.first()).order_by("position")
    prove(campaign, {HERE: (), THERE: ()})
    new = content_proofs([("c" * 64, 10)], "files")
    assert as_before(later[0], new) == new
    for proof in content_proofs([("d" * 64, 10), ("e" * 64, 10)], "files"):
        Proof.objects.create(
            attempt=first.attempts.get(), step="verify", name=proof.name, ok=True,
            expected="any", measured=proof.measured, unit=proof.unit,
        )  # fmt: skip

    changed = as_before(later[0], new)

    assert unproved_of(changed).startswith("content, units 1 file, expected 2 files")
    assert as_before(first, new) == new  # repeated, it has nothing to be compared with
