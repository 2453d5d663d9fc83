from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models import F
from msgspec import structs

from campaigns.findings import compute
from campaigns.findings.compared import sides_of, why_unusable
from campaigns.findings.compute.compared import compare_campaigns, compare_chosen
from campaigns.findings.wording.compare import (
    advice_of_row,
    also_in_row,
    answer_of,
    confirmation_text,
)
from campaigns.models import (
    Campaign,
    EnvironmentFact,
    Factor,
    Proof,
    Run,
    Session,
    Target,
)
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.conftest import store
from campaigns.tests.findings.spoken import caveats_of, details_of
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db


@pytest.fixture
def measured(interleaved):
    """A finished campaign over connections, `factor` times as slow as another one."""

    def make(factor=1.0, levels=(5, 10), **others):
        campaign = interleaved(list(levels), **others)
        store(campaign, lambda run: factor * _seconds(run))
        Campaign.objects.filter(pk=campaign.pk).update(state="finished")
        campaign.refresh_from_db()
        compute.analyse(campaign)
        return campaign

    return make


def _seconds(run):
    return (1 + 0.01 * (run.position % 4)) * 100 / run.cell.levels_by_factor["concurrency"]


def compared(*campaigns, metric=""):
    return compare_campaigns(sides_of([each.pk for each in campaigns], everywhere().see, metric))


def words(found):
    return [row.comparison.verdict.word for row in found.rows]


def in_other_unit(side, unit, factor):
    """The same campaign, as if its values had been stored in another unit."""
    cells = [
        structs.replace(
            cell,
            runs=[structs.replace(run, value=run.value * factor) for run in cell.runs],
            summary=replace(cell.summary, gmean=cell.summary.gmean * factor),
        )
        for cell in finding(side).cells
    ]
    return replace(side, cells=structs.replace(finding(side), unit=unit, cells=cells))


def with_direction(side, lower_is_better):
    return replace(side, cells=structs.replace(finding(side), lower_is_better=lower_is_better))


def finding(side):
    """The stored cells of a side."""
    assert side.cells is not None
    return side.cells


def prove(campaign, count):
    """Let every run have counted so many files."""
    for run in campaign.runs.all():
        Proof.objects.create(
            attempt=run.attempts.get(), step="verify", name="files processed", ok=True,
            expected=count, measured=count, unit="files",
        )  # fmt: skip


def test_the_same_values_in_another_unit_are_equivalent(measured):
    sides = sides_of([measured().pk, measured().pk], everywhere().see)

    plain = compare_campaigns(sides)
    converted = compare_campaigns([sides[0], in_other_unit(sides[1], "ms", 1000)])

    for one, other in zip(plain.rows, converted.rows, strict=True):
        assert other.comparison.verdict.word == one.comparison.verdict.word
        assert other.comparison.verdict.pct_change == pytest.approx(0, abs=1e-9)
        assert other.means == pytest.approx(one.means)


def test_another_dimension_or_direction_is_refused(measured):
    sides = sides_of([measured().pk, measured().pk], everywhere().see)
    sizes = in_other_unit(sides[1], "MB", 1)
    upwards = with_direction(sides[1], False)

    for other, field in ((sizes, "unit"), (upwards, "direction")):
        found = compare_campaigns([sides[0], other])
        assert [each.label for each in found.candidates[0].refused] == [field]
        assert found.rows == []


def test_a_metric_where_neither_way_is_better_gets_no_verdict(measured):
    sides = [
        with_direction(side, None)
        for side in sides_of([measured().pk, measured(factor=2).pk], everywhere().see)
    ]

    found = compare_campaigns(sides)
    chosen = compare_chosen(
        sides, [(place, finding(side).cells[0]) for place, side in enumerate(sides)]
    )

    assert [each.label for each in found.candidates[0].refused] == ["direction"]
    assert found.rows == []
    assert [row.comparison.verdict.word for row in chosen.rows] == [Word.NOT_COMPARABLE]
    assert [each.label for each in chosen.rows[0].refused] == ["direction"]


def test_swapping_the_sides_changes_the_sign_and_no_word_but_better_and_worse(measured):
    one, two = measured(), measured(0.8)
    Campaign.objects.filter(pk=two.pk).update(margin=0.5, smallest_effect=0.9)

    here, there = compared(one, two), compared(two, one)

    assert set(words(here)) == {Word.BETTER}
    assert set(words(there)) == {Word.WORSE}
    assert here.criteria == there.criteria
    for before, after in zip(here.rows, there.rows, strict=True):
        product = before.comparison.verdict.ratio * after.comparison.verdict.ratio
        assert product == pytest.approx(1)


def test_a_campaign_that_could_stop_by_precision_keeps_its_wider_interval(measured):
    one, two = measured(), measured(0.8)
    Campaign.objects.filter(pk=one.pk).update(stop_rule="precision")

    assert compared(one, two).criteria.alpha == 0.035


def test_the_same_address_of_more_work_is_refused_with_both_amounts(measured):
    one, two = measured(), measured()
    prove(one, 500)
    prove(two, 520)

    found = compared(one, two)

    assert set(words(found)) == {Word.NOT_COMPARABLE}
    (field,) = found.rows[0].refused
    assert (field.label, field.baseline, field.candidate) == ("files processed", "500", "520")
    assert found.rows[0].comparison.verdict.fields == ("files processed",)


def test_work_that_only_one_side_counted_is_not_taken_for_other_work(measured):
    one, two = measured(), measured()
    prove(one, 500)

    assert Word.NOT_COMPARABLE not in words(compared(one, two))


def test_the_p_values_of_all_campaigns_are_one_family(measured):
    campaigns = [measured(), measured(0.97), measured(0.97)]

    alone = compared(*campaigns[:2]).rows[0].comparison.verdict
    beside = compared(*campaigns).rows[0].comparison.verdict

    assert alone.p == beside.p
    assert beside.p_adjusted > alone.p_adjusted


def test_a_refused_comparison_takes_no_part_in_the_family(measured):
    one, two, other = measured(), measured(0.97), measured(0.97)
    prove(one, 500)
    prove(other, 520)

    alone, beside = compared(one, two), compared(one, two, other)

    assert (
        beside.rows[0].comparison.verdict.p_adjusted == alone.rows[0].comparison.verdict.p_adjusted
    )


def test_a_chosen_cell_is_compared_whatever_its_level(measured):
    sides = sides_of([measured().pk, measured().pk], everywhere().see)
    slow, fast = finding(sides[0]).cells[0], finding(sides[1]).cells[1]

    found = compare_chosen(sides, [(0, slow), (1, fast)])

    assert found.rows[0].comparison.verdict.pct_change == pytest.approx(-50, abs=2)
    assert [(each.label, each.baseline, each.candidate) for each in found.rows[0].settings] == [
        ("concurrency", "5", "10")
    ]
    assert "concurrency 10" in answer_of(found).sentence


def on_larger_server(campaign):
    """As if the campaign had been measured on another target, with more memory."""
    address = "127.0.0.2:9"
    other = Target.objects.create(
        name="larger",
        family="http",
        base_url=f"http://{address}",
        address=address,
        hardware="16 CPUs",
    )
    Campaign.objects.filter(pk=campaign.pk).update(target=other)


def test_what_else_differs_between_two_targets_is_beside_each_verdict(measured):
    one, same, other = measured(), measured(), measured()
    see(one, "3.122")
    see(other, "3.123")
    on_larger_server(other)

    rows = compared(one, same, other).rows

    assert [also_in_row(row) for row in rows] == ["", ""] + 2 * [
        "also differs: hardware and network not recorded / 16 CPUs, Pulp 3.122 / 3.123"
    ]


def test_builds_on_other_hardware_are_refused_unless_it_is_part_of_the_question(measured):
    one, other = measured(), measured()
    Factor.objects.update(role=Factor.Role.BUILD)
    on_larger_server(other)
    sides = sides_of([one.pk, other.pk], everywhere().see)
    slow, same, fast = (
        finding(sides[side]).cells[place] for side, place in ((0, 0), (1, 0), (1, 1))
    )

    found = compare_chosen(sides, [(0, slow), (1, same), (1, fast)])
    asked = compare_chosen(sides, [(0, slow), (1, fast)], hardware=True)

    assert [row.comparison.verdict.reason for row in found.rows] == ["", "other_hardware"]
    assert words(found)[1] == Word.NOT_COMPARABLE
    assert [each.label for each in found.rows[1].refused] == ["hardware and network"]
    assert "Measure both builds on each target" in advice_of_row(found, found.rows[1])
    assert words(asked) == [Word.BETTER]
    assert also_in_row(asked.rows[0]).startswith("also differs: hardware and network")
    assert found.data_hash != asked.data_hash


def in_sessions(campaign, number):
    """Spread the blocks of a campaign over sessions, a day apart."""
    for block in campaign.blocks.all():
        session, _ = Session.objects.get_or_create(
            campaign=campaign, number=1 + block.number % number, defaults={"kind": "extension"}
        )
        block.session = session
        block.save()
        Run.objects.filter(block=block).update(
            started_at=F("started_at") + timedelta(days=block.number % number)
        )
    compute.analyse(campaign)


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        ((1, 1), "one session each"),
        ((2, 3), "2 and 3 sessions: too few to confirm"),
        ((3, 3), "confirmed over 3 and 3 sessions"),
    ],
)
def test_only_three_sessions_on_both_sides_can_confirm(measured, sessions, said):
    campaigns = measured(), measured(0.5)
    for campaign, number in zip(campaigns, sessions, strict=True):
        in_sessions(campaign, number)

    assert {confirmation_text(row) for row in compared(*campaigns).rows} == {said}


def see(campaign, *versions):
    """Let runs have seen versions of the server, the last one from then on."""
    for place, run in enumerate(campaign.runs.order_by("position")):
        value = versions[min(place, len(versions) - 1)]
        EnvironmentFact.objects.create(
            attempt=run.attempts.get(), side="target", name="Pulp", value=value
        )


def test_chosen_cells_are_told_of_the_environment_of_their_campaigns(measured):
    one, two = measured(), measured(0.8)
    see(one, "3.122")
    see(two, "3.123")
    sides = sides_of([one.pk, two.pk], everywhere().see)
    cells = [finding(side).cells for side in sides]

    found = compare_chosen(sides, [(0, cells[0][0]), (0, cells[0][1]), (1, cells[1][0])])

    (cause,) = found.causes_of(1)
    assert (found.causes_of(0), cause.label, cause.values) == ([], "Pulp", ("3.122", "3.123"))
    answer = answer_of(found)
    assert "environment differs" in [badge.word for badge in answer.badges]
    assert answer.sentence == "2 cells against the first: faster in 2."
    assert details_of(answer).count(";") == 1


def test_an_environment_that_changed_while_it_was_measured_is_told(measured):
    one, two = measured(), measured(0.8)
    see(one, "3.122", "3.123")
    see(two, "3.123")

    caveat = caveats_of(answer_of(compared(one, two)))

    assert f"The environment of “{one.name} (#{one.pk})” changed while it was measured." in caveat


@pytest.mark.parametrize(
    ("value_of", "word"),
    [
        (lambda run: 10.0, Word.NOT_ENOUGH_DATA),
        (lambda run: 10.0 * (1 + run.campaign.pk % 2), Word.NOT_ENOUGH_DATA),
        (lambda run: 0.0, Word.INVALID_VALUES),
    ],
    ids=["all alike", "alike on each side", "zeros"],
)
def test_values_without_noise_and_without_logs_have_their_word(interleaved, value_of, word):
    campaigns = [interleaved([5, 10]) for _ in range(2)]
    for campaign in campaigns:
        store(campaign, value_of)
        compute.analyse(campaign)

    found = compared(*campaigns)

    assert set(words(found)) <= ({word} if word else {Word.BETTER, Word.WORSE})
    assert answer_of(found).sentence


@pytest.mark.parametrize("failing", [range(2, 99), range(1, 99)])
def test_one_run_and_none_are_too_few(interleaved, failing):
    campaigns = [interleaved([5, 10]) for _ in range(2)]
    for campaign in campaigns:
        store(campaign, _seconds)
        campaign.runs.filter(position__in=failing).update(state="void")
        compute.analyse(campaign)

    found = compared(*campaigns)

    assert set(words(found)) == {Word.NOT_ENOUGH_DATA}
    assert answer_of(found).sentence


def test_the_order_in_which_facts_were_seen_is_no_difference(measured):
    one, two = measured(), measured()
    for campaign, versions in ((one, ("1", "2")), (two, ("2", "1"))):
        for run, version in zip(campaign.runs.order_by("position"), versions, strict=False):
            EnvironmentFact.objects.create(
                attempt=run.attempts.get(), side="target", name="Pulp", value=version
            )

    (row,) = [row for row in compared(one, two).differences if row.label == "Pulp"]

    assert not row.any
    assert row.changed == (True, True)


def test_what_may_be_a_cause_is_named_and_the_design_is_not(measured):
    one, two = measured(), measured(0.8, event_loop=["uvloop"])
    Campaign.objects.filter(pk=two.pk).update(warm_ups=3)

    found = compared(one, two)

    assert found.candidates[0].apart[0].label == "event loop"
    assert found.causes_of(1) == []
    assert any(row.label == "warm-ups" and row.any for row in found.differences)


def test_the_hash_is_that_of_the_data_whenever_it_is_asked_for(measured):
    one, two = measured(), measured(0.8)

    before = compared(one, two).data_hash
    compute.analyse(one)
    assert compared(one, two).data_hash == before
    assert compared(two, one).data_hash != before
    Run.objects.filter(pk=one.runs.first().pk).update(state="void")
    compute.analyse(one)
    assert compared(one, two).data_hash != before


def test_findings_of_other_methods_wait_until_they_are_computed_again(measured):
    one, two = measured(), measured(0.8)
    one.findings.update(versions={"methods": "1"})

    old, current = sides_of([one.pk, two.pk], everywhere().see)

    assert (old.cells, old.metrics) == (None, ())
    assert (
        why_unusable(old)
        == f"“{one.name}” has no findings: this version of perfdash has not analysed it."
    )
    assert current.cells is not None
