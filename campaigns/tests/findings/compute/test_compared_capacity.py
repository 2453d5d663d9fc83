"""What campaigns over loads carry, against each other."""

from dataclasses import replace

import pytest
from msgspec import structs

from campaigns.findings import compute
from campaigns.findings.compared import sides_of
from campaigns.findings.comparison_rows import rows_of_campaigns
from campaigns.findings.compute.compared import compare_campaigns
from campaigns.findings.pages.compare_tables import carried_tables
from campaigns.findings.wording.compare import answer_of
from campaigns.models import Campaign, Factor, Proof, Target
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.loads import LIMIT, LOADS, launch, queue, store
from campaigns.tests.findings.spoken import all_said, caveats_of, details_of
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db
NEAR = [200, 250, 310, 390, 480, 600]
"""Loads so near to one another that the line between them is claimed."""
OTHER_LIMIT = {"conditions": [{"metric": "duration", "at_most": 50.0}]}


@pytest.fixture
def measured(target):
    """A finished campaign over loads whose settings carry `carried`; connections are load."""

    def make(carried=300.0, loads=LOADS, *, state="finished", value_of=None, name="", **fields):
        fields = {"criterion": LIMIT, **fields}
        campaign = launch(target, {"concurrency": loads}, **fields)
        if value_of is not False:
            store(campaign, value_of or queue({None: carried}))
        Campaign.objects.filter(pk=campaign.pk).update(state=state, name=name or campaign.name)
        campaign.refresh_from_db()
        compute.analyse(campaign)
        return campaign

    return make


def compared(*campaigns):
    return compare_campaigns(sides_of([each.pk for each in campaigns], everywhere().see))


def sentence(found):
    return answer_of(found).sentence


def test_a_version_that_carries_more_is_told_with_both_numbers(measured):
    old, new = measured(300.0, NEAR, name="v1"), measured(450.0, NEAR, name="v2")

    found = compared(old, new)

    (row,) = found.capacities
    assert row.ratio.word == Word.BETTER
    assert row.ratio.low < 1.5 < row.ratio.high
    assert row.sessions == (1, 1)
    text = sentence(found)
    assert text.startswith(
        "“v2” carries concurrency 425 to 479, “v1” 284 to 310: 1.50 times as much (1.47 to 1.53)"
    )
    assert ", one session each." in text
    assert "not paired" in caveats_of(answer_of(found))
    (table,) = carried_tables(found)
    assert table.lines[0].display.word == "carries more"
    rows = [dict(zip(HEAD, line, strict=True)) for line in rows_of_campaigns(found)][1:]
    assert rows[0] | {"metric": "capacity", "unit": "concurrency", "verdict": "better"} == rows[0]
    assert rows[0]["change_pct"] == pytest.approx(50, abs=3)


HEAD = next(iter(rows_of_campaigns(None)))


def test_other_loads_may_have_found_it(measured):
    """A search has loads of its own: values are not compared then, and what is carried is."""
    found = compared(
        measured(300.0, NEAR, name="v1"), measured(300.0, [210, 260, 330, 410], name="v2")
    )

    assert [row.ratio.word for row in found.capacities] == [Word.EQUIVALENT]
    assert "single loads are not compared" in details_of(answer_of(found))
    assert found.candidates[0].refused


def test_other_conditions_and_other_loads_are_refused_with_both_values(measured):
    one, other = measured(name="v1"), measured(criterion=OTHER_LIMIT, name="v2")

    found = compared(one, other)

    (row,) = found.capacities
    assert row.ratio.word == Word.NOT_COMPARABLE
    ((label, *values),) = [(each.label, each.baseline, each.candidate) for each in row.refused]
    assert ("duration" in label, values) == (True, ["40 s", "50 s"])
    assert "What “v2” carries is not comparable" in sentence(found)
    assert found.rows  # values of single loads are


def test_more_work_at_a_load_that_held_is_refused(measured):
    one, other = measured(), measured()
    for campaign, more in ((one, 0), (other, 1)):
        for run in campaign.runs.select_related("cell"):
            load = run.cell.levels_by_factor["concurrency"]
            Proof.objects.create(
                attempt=run.attempts.get(), step="verify", name="files processed", ok=True,
                expected=load, measured=load + more * (load == 800), unit="files",
            )  # fmt: skip

    assert (
        not compared(one, other).capacities[0].refused
    )  # 800 failed: less was done for that reason

    Proof.objects.filter(attempt__run__campaign=other, measured=100).update(measured=107)
    refused = compared(one, other).capacities[0].refused
    assert [(each.label, each.baseline, each.candidate) for each in refused] == [
        ("files processed", "100", "107")
    ]


def test_open_ends_on_both_sides_give_a_bound(measured):
    """One carries all that was measured, the other nothing of it."""
    found = compared(measured(4000.0, name="v1"), measured(10.0, name="v2"))

    (row,) = found.capacities
    assert (row.ratio.word, row.ratio.bounds_only) == (Word.WORSE, True)
    assert "“v1” carries at least concurrency 800, “v2” below 50" in sentence(found)
    assert "at least 16 times as much" in sentence(found)


def test_far_loads_leave_what_their_brackets_show(measured):
    """Of loads in steps of 2 the line is not claimed: that one holds where the other fails is all that is shown."""
    found = compared(measured(150.0, name="v1"), measured(300.0, name="v2"))

    (row,) = found.capacities
    assert (row.ratio.word, row.ratio.bounds_only, row.ratio.low) == (Word.BETTER, True, 1.0)
    assert sentence(found).startswith(
        "“v2” carries at least concurrency 200, “v1” at least 100: about twice as much, one session each."
    )


def test_what_is_not_monotone_gets_no_ratio(measured):
    def upside_down(run):
        return 4000.0 / run.cell.levels_by_factor["concurrency"] + 0.001 * run.position

    found = compared(measured(name="v1"), measured(value_of=upside_down, name="v2"))

    assert found.capacities[0].ratio.reason == "not_monotone"
    assert "no ratio, because “v2” is not monotone" in sentence(found)


@pytest.mark.parametrize("runs", ["none", "one block"])
def test_a_cancelled_campaign_says_why_there_is_no_ratio(measured, runs):
    cancelled = measured(
        state="cancelled",
        name="v2",
        **({"value_of": False} if runs == "none" else {"repetitions": 1}),
    )

    found = compared(measured(name="v1"), cancelled)

    assert not any(row.ratio.ratio for row in found.capacities)
    for row in found.capacities:
        assert "“v2” has not enough data" in details_of(answer_of(found))
        assert "“v2” was cancelled" in caveats_of(answer_of(found))
        assert row.ratio.word == Word.NOT_ENOUGH_DATA


def test_findings_without_what_a_ratio_needs_say_so(measured):
    sides = sides_of([measured().pk, measured().pk], everywhere().see)
    carried = sides[1].carried
    assert carried is not None
    old = structs.replace(
        carried, settings=[structs.replace(each, alone=None) for each in carried.settings]
    )

    found = compare_campaigns([sides[0], replace(sides[1], carried=old)])

    assert "did not store what a ratio needs" in details_of(answer_of(found))


def test_campaigns_without_load_have_no_word_of_it(measured):
    one = measured(roles={})

    assert not compared(one, measured(roles={})).capacities
    assert not compared(one, measured()).capacities


def test_builds_on_other_hardware_name_that_as_the_reason(measured):
    """A fact of software whose name has “core” in it is no hardware."""
    one, other = measured(name="v1"), measured(450.0, name="v2")
    Factor.objects.create(campaign=one, name="pulpcore", role=Factor.Role.BUILD, position=5)
    sides = sides_of([one.pk, other.pk], everywhere().see)
    elsewhere = Target(
        name="larger", family="http", base_url="http://127.0.0.2:9", address="127.0.0.2:9"
    )
    facts = {"": {"pulpcore": "3.105", "cores": "8"}}, {"": {"pulpcore": "3.123", "cores": "8"}}

    def ratio(theirs):
        pair = replace(sides[0], target_facts=facts[0]), replace(sides[1], target_facts=theirs)
        pair[1].campaign.target = elsewhere
        return compare_campaigns(pair).capacities[0].ratio

    assert ratio(facts[1]).word == Word.BETTER
    on_more = ratio({"": {"pulpcore": "3.123", "cores": "16"}})
    assert (on_more.word, on_more.reason) == (Word.NOT_COMPARABLE, "other_hardware")


def test_among_several_candidates_both_sides_are_named(measured):
    found = compared(
        measured(300.0, NEAR, name="v1"),
        measured(450.0, NEAR, name="v2"),
        measured(200.0, [120, 150, 190, 240, 300], name="v3"),
    )

    text = all_said(answer_of(found))
    assert "“v2” carries 1.50 times as much as “v1” (1.47 to 1.53)" in text
    assert "“v1” carries 1." in text
    assert carried_tables(found)[0].lines[0].interval == "1.47 to 1.53"
