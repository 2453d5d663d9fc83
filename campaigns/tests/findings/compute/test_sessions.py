"""Where a session ends and another one begins, and what that does to pairs and blocks."""

from datetime import timedelta

import pytest
from django.db import connection

from campaigns.findings import compute
from campaigns.findings.compared import sides_of
from campaigns.findings.store import read
from campaigns.findings.values import SessionsFinding
from campaigns.findings.wording.sessions import notes_of_changes, session_notes
from campaigns.models import Attempt, Campaign, EnvironmentFact, Run
from campaigns.results.environment import changes_of, environment_of, stretches_of
from campaigns.tests.findings.compute.conftest import findings, noisy, store
from campaigns.tests.findings.spoken import caveats_of, details_of
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db
LEVELS = {2: 10.0, 4: 8.0, 8: 6.0}


def seen(campaign, name, values, after=None):
    """Let each run, by its position, have seen a value of a fact."""
    EnvironmentFact.objects.bulk_create(
        EnvironmentFact(
            attempt=Attempt.objects.get(run__campaign=campaign, run__position=position),
            side="target",
            name=name,
            value=value,
            value_after=(after or {}).get(position, ""),
        )
        for position, value in enumerate(values, 1)
    )


def upgraded(number, before):
    """What `number` runs saw of a version that was another one after `before` of them."""
    return ["3.1"] * before + ["3.2"] * (number - before)


def begun(found):
    told = found.get("sessions")
    return [(each["session"], each["position"]) for each in told["begun"]] if told else []


def notes(found):
    return session_notes(read(found["sessions"], SessionsFinding))


def notes_on_changes(found):
    return notes_of_changes(read(found["sessions"], SessionsFinding))


@pytest.fixture
def nine(interleaved):
    """Three levels in three blocks: runs 1 to 3 are the first one."""
    campaign = interleaved(list(LEVELS))
    store(campaign, noisy(LEVELS))
    return campaign


@pytest.fixture
def six_pairs(paired):
    campaign = paired(["/a"], 6)
    noise = (0.3, 0.2, -0.2, -0.3, -0.1, 0.1)

    def value(run):
        candidate = run.cell.levels_by_factor["engine"] == "asyncio"
        return 9.0 + noise[run.block.repetition - 1] if candidate else 10.0

    store(campaign, value)
    return campaign


def test_an_upgrade_begins_a_session_and_is_told(nine):
    seen(nine, "version", upgraded(9, 6))

    found = findings(nine)

    assert begun(found) == [(2, 7)]
    assert found["levels"]["sessions"] == 2
    assert notes(found) == ["A new session begins at run 7: version (target) 3.1 → 3.2."]
    assert "A new session begins at run 7" in caveats_of(found["answer"])
    sessions = [(s["number"], s["first"], s["last"]) for s in found["drift:duration"]["sessions"]]
    assert sessions == [(1, 1, 6), (2, 7, 9)]


def test_a_block_with_an_upgrade_in_it_is_two_blocks_to_the_model(nine):
    whole = findings(nine)["levels"]["noise"]["blocks"]
    seen(nine, "version", upgraded(9, 4))

    found = findings(nine)

    assert (whole, found["levels"]["noise"]["blocks"]) == (3, 4)
    assert found["sessions"]["parted"] == 1
    assert notes(found)[-1].startswith("1 block lies on both sides of a border")
    effects = [(each["block"], each["session"]) for each in found["drift:duration"]["blocks"]]
    assert effects == [(1, 1), (2, 1), (2, 2), (3, 2)]


def test_a_change_within_a_parted_block_is_told_where_both_runs_are_on_one_side(nine):
    seen(nine, "version", upgraded(9, 5))
    fourth, fifth, sixth = nine.runs.filter(position__in=(4, 5, 6)).order_by("position")

    for row in findings(nine)["within_blocks"]["comparisons"]:
        cells = {row["baseline"], row["candidate"]}
        assert (2 in row["blocks"]) == (cells == {fourth.cell_id, fifth.cell_id})
        assert sixth.cell_id not in cells or row["blocks"] == [1, 3]


def test_a_jump_by_an_upgrade_within_a_block_is_not_taken_for_a_difference_of_levels(interleaved):
    campaign = interleaved([2, 4, 8])
    store(campaign, lambda run: 20.0 if run.position > 4 else 10.0)
    before = findings(campaign)["levels"]["noise"]["sd_pct"]
    seen(campaign, "version", upgraded(9, 4))

    after = findings(campaign)["levels"]["noise"]["sd_pct"]

    assert before > 20
    assert after == pytest.approx(0, abs=1e-6)


def test_a_pair_with_an_upgrade_in_it_is_left_out_and_that_is_said(six_pairs):
    seen(six_pairs, "version", upgraded(12, 5))

    found = findings(six_pairs)

    comparison = found["pairs"]["strata"][0]["comparison"]
    assert (comparison["n_pairs"], comparison["incomplete_by_loss"]) == (5, 1)
    assert found["pairs"]["sessions"] == 2
    assert notes_on_changes(found) == [
        "A new session begins at run 6: version (target) 3.1 → 3.2.",
        "1 pair with runs on both sides of a border is left out.",
    ]


def test_a_fact_that_comes_and_goes_begins_no_session(nine):
    seen(nine, "workers", ["5", "4", "5"] * 3)

    found = findings(nine)

    assert begun(found) == []
    assert found["levels"]["sessions"] == 1
    assert (
        "The environment changed during the campaign: workers (target)"
        in (found["answer"]["caveat"])
    )


def test_a_fact_that_runs_change_themselves_begins_no_session(nine):
    seen(nine, "repositories", ["1", "2", *["3"] * 7], after={1: "2", 2: "3"})

    assert begun(findings(nine)) == []


def test_an_upgrade_during_a_run_begins_a_session_with_the_next_one(nine):
    seen(nine, "version", upgraded(9, 4), after={4: "3.2"})

    assert begun(findings(nine)) == [(2, 5)]


def test_two_facts_that_change_together_begin_one_session(nine):
    seen(nine, "version", upgraded(9, 3))
    seen(nine, "storage", upgraded(9, 3))
    seen(nine, "workers", ["5", "4", "5"] * 3)

    found = findings(nine)

    assert begun(found) == [(2, 4)]
    (told,) = notes_on_changes(found)
    assert told.endswith(": storage (target) 3.1 → 3.2, version (target) 3.1 → 3.2.")


def test_an_upgrade_that_a_warm_up_saw_first_begins_a_session_with_the_next_run(nine):
    seen(nine, "version", upgraded(9, 6))
    Run.objects.filter(campaign=nine, position=7).update(purpose=Run.Purpose.WARM_UP)

    assert begun(findings(nine)) == [(2, 8)]


def test_a_version_that_follows_the_build_is_no_change_and_begins_no_session(nine):
    runs = nine.runs.order_by("position").select_related("cell")
    seen(nine, "version", [str(run.cell.levels_by_factor) for run in runs])
    seen(nine, "storage", upgraded(9, 6))
    nine.factors.update(role="build")

    facts = environment_of(nine)

    assert [each.name for each in changes_of(nine, facts)] == ["storage"]
    assert [[each.name for each in begun] for begun in stretches_of(nine, facts).begun] == [
        ["storage"]
    ]


def test_a_fact_by_the_name_of_a_setting_that_varies_is_no_change_where_it_follows_it(nine):
    (factor,) = nine.factors.values_list("name", flat=True)
    runs = nine.runs.order_by("position").select_related("cell")
    seen(nine, factor, [f"{run.cell.levels_by_factor[factor]} MB" for run in runs])

    assert changes_of(nine, environment_of(nine)) == []

    one = EnvironmentFact.objects.filter(name=factor).earliest("pk")
    EnvironmentFact.objects.filter(pk=one.pk).update(value="1 MB")
    assert {each.name for each in changes_of(nine, environment_of(nine))} == {factor}


def test_a_run_that_saw_no_facts_is_in_the_session_of_the_one_before_it(nine):
    seen(nine, "version", upgraded(9, 6))
    EnvironmentFact.objects.filter(attempt__run__position__in=(3, 8)).delete()

    runs = [run for cell in findings(nine)["cells"]["cells"] for run in cell["runs"]]

    assert {run["position"] for run in runs if run["session"] == 1} == {1, 2, 3, 4, 5, 6}


def test_a_long_gap_and_an_upgrade_over_night_are_one_border(nine):
    seen(nine, "version", upgraded(9, 6))
    for run in nine.runs.filter(position__gt=6):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(hours=20))

    found = findings(nine)

    assert begun(found) == [(2, 7)]
    assert notes(found) == [
        "A new session begins at run 7: 20 h after the run before it, version (target) 3.1 → 3.2."
    ]


def test_the_hash_tells_an_upgrade(nine):
    compute.analyse(nine)
    before = nine.findings.get(name="levels").data_hash
    seen(nine, "version", upgraded(9, 6))

    compute.analyse(nine)

    assert nine.findings.get(name="levels").data_hash != before


def test_the_compare_page_counts_the_sessions_of_the_analysis(nine):
    seen(nine, "version", upgraded(9, 6))
    compute.analyse(nine)

    (side,) = sides_of([nine.pk], everywhere().see)

    assert side.sessions == 2


def test_what_changed_is_asked_for_once_however_many_facts_changed(nine, django_assert_num_queries):
    for number in range(4):
        seen(nine, f"fact {number}", upgraded(9, 6))
    facts = environment_of(nine)

    with django_assert_num_queries(1):
        found = stretches_of(nine, facts)

    assert [len(changes) for changes in found.begun] == [4]
    assert found.of_run[6] == 0
    assert found.of_run[7] == 1


def on_three_days(campaign):
    """Put each third of the repetitions on a day of its own."""
    for run in campaign.runs.select_related("block"):
        day = timedelta(days=(run.block.repetition - 1) * 3 // campaign.repetitions)
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + day)


@pytest.fixture
def contradicting(paired):
    """Pairs of three days that say -6, +1 and -5.5 %: within them the interval leaves 0 out."""
    campaign = paired(["/a"], 12)
    changes = (0.94, 1.01, 0.945)
    noise = (-0.004, 0.002, 0.004, -0.002)

    def value(run):
        place = run.block.repetition - 1
        candidate = run.cell.levels_by_factor["engine"] == "asyncio"
        return 10 * changes[place // 4] * (1 + noise[place % 4]) if candidate else 10.0

    store(campaign, value)
    on_three_days(campaign)
    Campaign.objects.update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    return campaign


def test_three_sessions_of_pairs_are_judged_by_what_differs_between_them(contradicting):
    found = findings(contradicting)

    (stratum,) = found["pairs"]["strata"]
    verdict, standing = stratum["comparison"]["verdict"], stratum["standing"]
    assert stratum["comparison"]["geo_ci_pct"][1] < 0
    assert (verdict["word"], verdict["n"]) == ("not_enough_data", 3)
    assert verdict["ci_pct"][0] < -10 < 0 < verdict["ci_pct"][1]
    assert standing["ci_pct"] == verdict["ci_pct"]
    assert standing["within"]["ci_pct"] == pytest.approx(stratum["comparison"]["geo_ci_pct"])
    assert (standing["standing"], standing["between"]) == ("not_confirmed", True)
    assert "faster" not in found["answer"]["sentence"]
    assert found["sensitivity"]["as_judged"]["decided"] == 0


def test_the_views_say_what_is_between_sessions(contradicting):
    compute.analyse(contradicting)

    with connection.cursor() as cursor:
        cursor.execute("SELECT verdict, low_pct, high_pct FROM perfdash_views.verdicts")
        ((word, low, high),) = cursor.fetchall()

    assert word == "not_enough_data"
    assert low < -10 < 0 < high


def test_three_sessions_of_levels_are_judged_by_what_differs_between_them(interleaved):
    campaign = interleaved([2, 4], repetitions=9)
    effects = (0.94, 1.01, 0.945)

    def value(run):
        session = (run.block.repetition - 1) // 3
        return noisy({2: 10.0, 4: 10.0 * effects[session]}, sd=0.002, seed=run.position)(run)

    store(campaign, value)
    on_three_days(campaign)

    found = findings(campaign)

    ((row,),) = (group["comparisons"] for group in found["levels"]["groups"])
    assert row["standing"]["within"]["ci_pct"][1] < 0
    assert row["comparison"]["verdict"]["word"] == "not_enough_data"
    assert row["comparison"]["verdict"]["ci_pct"] == row["standing"]["ci_pct"]
    (group,) = found["levels"]["groups"]
    assert len(group["best"]["possibly"]) == 2
    assert group["best"]["df"] == 2


def test_levels_of_two_factors_improve_by_the_interval_between_sessions(interleaved):
    campaign = interleaved([2, 4], engine=["asyncio", "futures"], repetitions=9)
    effects = (0.94, 1.01, 0.945)

    def value(run):
        session = (run.block.repetition - 1) // 3
        return noisy({2: 10.0, 4: 10.0 * effects[session]}, sd=0.002, seed=run.position)(run)

    store(campaign, value)
    on_three_days(campaign)

    matrix = findings(campaign)["matrix"]["factors"]["concurrency"]

    words = {cell["word"] for row in matrix["rows"] for cell in row["cells"] if cell["word"]}
    assert words == {"not_enough_data"}


def test_the_primary_contrast_of_pairs_tells_whether_sessions_confirm_it(contradicting):
    contradicting.primary_contrast = {
        "factor": "engine",
        "baseline": "futures",
        "candidate": "asyncio",
        "at": {},
    }
    contradicting.save()

    primary = findings(contradicting)["pairs"]["primary"]

    assert primary["comparison"]["verdict"]["word"] == "not_enough_data"
    assert (primary["standing"]["standing"], primary["standing"]["sessions"]) == (
        "not_confirmed",
        3,
    )


def test_the_answer_names_between_how_many_sessions_it_is(contradicting):
    answer = findings(contradicting)["answer"]

    assert "between 3 sessions" in answer["certainty"]
    assert "Between 3 sessions: −3.6 % (" in details_of(answer)
    assert answer["caveat"] == (
        "3 sessions do not confirm a verdict; the sessions differ by more than their noise."
    )


def test_the_answer_names_what_each_of_two_sessions_says(six_pairs):
    for run in six_pairs.runs.filter(position__gt=6):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(days=1))

    answer = findings(six_pairs)["answer"]

    assert "2 sessions" in answer["certainty"]
    assert "First session −" in details_of(answer)
    assert "2 sessions confirm “faster”." in details_of(answer)
    assert answer["caveat"] == ""


def test_a_mean_over_strata_has_the_interval_between_sessions(paired):
    campaign = paired(["/a", "/b"], 9)
    changes = (0.94, 1.01, 0.945)

    def value(run):
        place = run.block.repetition - 1
        candidate = run.cell.levels_by_factor["engine"] == "asyncio"
        return 10 * changes[place // 3] * (1 + 0.001 * (run.position % 3)) if candidate else 10.0

    store(campaign, value)
    on_three_days(campaign)

    found = findings(campaign)

    low, high = found["pairs"]["overall"]["geometric_ci"]
    assert low < -10 < 0 < high
    assert found["pairs"]["overall"]["average_ci"] is None
    assert found["answer"]["facts"][0]["note"].endswith("between 3 sessions")
    assert "between 3 sessions" in found["answer"]["certainty"]
    assert "All intervals are those between 3 sessions." in details_of(found["answer"])


def test_two_sessions_that_contradict_each_other_crown_nobody(interleaved):
    campaign = interleaved([2, 4, 8], repetitions=6)

    def value(run):
        best = 8 if run.block.repetition > 3 else 4
        level = run.cell.levels_by_factor["concurrency"]
        return noisy({2: 10.0, 4: 9.0, 8: 9.0}, seed=run.position)(run) * (
            0.8 if level == best else 1
        )

    store(campaign, value)
    for run in campaign.runs.filter(block__repetition__gt=3):
        Run.objects.filter(pk=run.pk).update(started_at=run.started_at + timedelta(days=1))

    answer = findings(campaign)["answer"]

    assert answer["sentence"] == "No setting is shown to be the fastest."
    assert "0 of 2 comparisons are confirmed by 2 sessions" in answer["caveat"]
