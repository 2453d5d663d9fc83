"""Campaigns with several targets: leases, queues, what becomes of one that fails, and what is told of it."""

import random
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.dispatch.queueing import queue_runs
from campaigns.execution.move_in_queue import move_down, move_up
from campaigns.execution.queues import place_of, queue_of
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.findings.comparison_rows import comparison_rows
from campaigns.findings.compute import findings as computing
from campaigns.findings.store import findings_of
from campaigns.findings.texts import texts_of
from campaigns.findings.values import Grounds
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.targets import targets_texts
from campaigns.kinds.base import Health, Measured, Proof, TargetUnavailable
from campaigns.kit import name_service
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import May
from campaigns.models import Attempt, Campaign, Run, Target, TargetLease, Worker
from campaigns.overview.pages import metrics
from campaigns.planning import lifecycle
from campaigns.reviews.reports.parts import part_of
from campaigns.tests.execution.going_on import execute_next, run_all
from campaigns.tests.findings.spoken import caveats_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def servers(target, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    return [target] + [
        Target.objects.create(
            name=name,
            family="controlled",
            base_url=f"http://127.0.0.{number}:9",
            address=f"127.0.0.{number}:9",
        )
        for name, number in (("proxy-8", 2), ("proxy-16", 3), ("proxy-46", 4))
    ]


@pytest.fixture
def side_by_side(launched, servers):
    def make(*indices, **changes):
        keys = [servers[index].pk for index in indices]
        return launched(target=None, targets=keys, **{"factors": {}, "repetitions": 3} | changes)

    return make


@pytest.fixture
def dead(controlled, monkeypatch):
    """Names of targets that refuse the connection."""
    names: set[str] = set()
    reset = controlled.reset

    def refuse(target, parameters, context):
        if target.name in names:
            raise TargetUnavailable("The target refused the connection.")
        return reset(target, parameters, context)

    def probe(target, rules):
        if target.name in names:
            raise TargetUnavailable("The target refused the connection.")
        return [Proof("answers", "yes", "yes", "", ok=True)]

    def measure(target, parameters, context):
        measured.append(target.name)
        of = {"server": 1, "proxy-8": 1, "proxy-16": 2, "proxy-46": 4}
        seconds = of[target.name] * (1 + 0.01 * (len(measured) * 7 % 11))
        values = {"duration": seconds, "rate": 1 / seconds}
        return Measured(values=values, health=Health("healthy", (), {}), units_done=1)

    measured = []
    monkeypatch.setattr(controlled, "measure", measure)
    monkeypatch.setattr(controlled, "reset", refuse)
    monkeypatch.setattr(controlled, "probe", probe)
    monkeypatch.setattr(
        controlled, "environment", lambda target, context: {"CPU": target.name[-2:], "version": "3"}
    )
    return names


@pytest.fixture
def may(django_user_model):
    return May(django_user_model.objects.create(username="ann", is_superuser=True))


def test_each_run_leases_its_own_target_and_one_is_on_at_a_time(side_by_side):
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    campaign = side_by_side(0, 1, 2)
    seen = set()
    for run in campaign.runs.order_by("position"):
        dispatch.dispatch()
        dispatch.dispatch()
        attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
        assert attempt.run == run
        lease = TargetLease.objects.get(attempt__isnull=False)
        assert lease.address == run.cell.target.address
        seen.add(lease.address)
        execute(attempt.pk, "measure@here", "here")
        Campaign.objects.update(analysis_requested_at=None)
    assert len(seen) == 3
    run_all(campaign)
    assert campaign.state == Campaign.State.FINISHED


def test_it_stands_in_every_queue_at_its_place(side_by_side, launched, servers, may):
    first = side_by_side(1, 2)
    second = launched(target=servers[2].pk)
    third = side_by_side(2, 3)

    names = {
        index: [row.pk for row in queue_of(servers[index], may).waiting] for index in (1, 2, 3)
    }
    assert names == {1: [first.pk], 2: [first.pk, second.pk, third.pk], 3: [third.pk]}
    places = [place_of(third), place_of(first)]
    assert [(each.place, each.target) for each in places if each is not None] == [
        (3, "proxy-16, proxy-46"),
        (1, "proxy-8, proxy-16"),
    ]

    move_up(third, None)
    assert [row.pk for row in queue_of(servers[2], may).waiting] == [
        first.pk,
        third.pk,
        second.pk,
    ]
    with pytest.raises(NotPossible):
        move_up(first, None)


def test_views_and_metrics_name_the_target_of_each_run(side_by_side):
    campaign = side_by_side(1, 2)
    with connection.cursor() as cursor:
        cursor.execute("SELECT target FROM perfdash_views.campaigns")
        assert cursor.fetchall() == [("proxy-8, proxy-16",)]
        cursor.execute("SELECT DISTINCT target FROM perfdash_views.runs ORDER BY target")
        assert cursor.fetchall() == [("proxy-16",), ("proxy-8",)]

    waiting = {row.target: row.runs for row in metrics.figures().queues}
    assert waiting == {"proxy-8": 3, "proxy-16": 3}
    assert campaign.runs.count() == 6


def test_it_says_for_which_target_and_behind_whom_it_waits(side_by_side, launched, servers):
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    first = side_by_side(1, 2, name="first")
    second = side_by_side(2, 3, name="second")
    last = launched(target=servers[3].pk)
    second.runs.filter(position=1).update(cell=second.cells.get(target=servers[2]))

    assert waiting_for(second).why == "Behind “first” in the queue of the target proxy-16" + (
        "."
        if first.runs.get(position=1).cell.target == servers[2]
        else ", whose next run is on proxy-8."
    )
    assert waiting_for(last).why == (
        "Behind “second” in the queue of the target, which waits behind “first” for proxy-16."
    )


def test_each_campaign_in_the_queues_costs_dispatch_one_query(side_by_side):
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    side_by_side(1, 2, 3)
    dispatch.dispatch()
    counts = []
    for _ in range(3):
        side_by_side(1, 2)
        with CaptureQueriesContext(connection) as captured:
            list(queue_runs())
        counts.append(len(captured))

    assert [later - earlier for earlier, later in pairwise(counts)] == [1, 1]


def test_production_marks_of_all_targets_are_read_at_once(side_by_side, django_assert_num_queries):
    campaign = Campaign.objects.get(pk=side_by_side(1, 2, 3).pk)
    Target.objects.filter(name="proxy-16").update(is_production=True)

    with django_assert_num_queries(2):
        assert lifecycle.name_to_confirm(campaign) == "proxy-16"


def test_nobody_behind_it_comes_between(side_by_side, launched, servers):
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    first = side_by_side(1, 2)
    behind = launched(target=servers[2].pk)
    dispatch.dispatch()
    if TargetLease.objects.get(attempt__isnull=False).address == servers[2].address:
        execute_next()
        dispatch.dispatch()

    assert Attempt.objects.filter(state=Attempt.State.QUEUED).get().run.campaign == first
    assert "Behind" in waiting_for(behind).why
    run_all(behind)
    first.refresh_from_db()
    assert {first.state, behind.state} == {Campaign.State.FINISHED}


def test_two_over_the_same_targets_in_opposite_order_both_end(side_by_side):
    one, other = side_by_side(1, 2), side_by_side(2, 1)

    run_all(one)
    other.refresh_from_db()

    assert {one.state, other.state} == {Campaign.State.FINISHED}
    assert not TargetLease.objects.exclude(attempt=None).exists()


def end_what_is_on():
    """Let the queued attempts end well, as workers would; return whether there were some."""
    attempts = list(Attempt.objects.filter(state=Attempt.State.QUEUED, targetlease__isnull=False))
    for attempt in attempts:
        target = attempt.run.cell.target
        assert target is not None
        assert attempt.targetlease.address == target.address
        assert [other.run.campaign_id for other in attempts].count(attempt.run.campaign_id) == 1
        TargetLease.objects.filter(attempt=attempt).update(attempt=None, expires_at=None)
        Run.objects.filter(pk=attempt.run_id).update(state=Run.State.DONE)
        Attempt.objects.filter(pk=attempt.pk).update(
            state=Attempt.State.ACCEPTED, claimed_at=timezone.now()
        )
    return bool(attempts)


@pytest.mark.parametrize(
    ("seed", "launches"),
    [(0, 10), *(pytest.param(seed, 25, marks=pytest.mark.nightly) for seed in range(4))],
)
def test_random_launches_and_moves_over_overlapping_targets_all_end(side_by_side, seed, launches):
    """Every run is on its own target, and nothing waits in a circle."""
    draw = random.Random(seed)
    Worker.objects.create(name="measure@b", host="b", pools=["measure"], seen_at=timezone.now())
    made = []
    for _ in range(launches):
        indices = draw.sample(range(4), draw.randint(2, 3))
        made.append(side_by_side(*indices, repetitions=1))
        waiting = [each for each in made if place_of(each)]
        for _ in range(2):
            try:
                draw.choice([move_up, move_down])(draw.choice(waiting), None)
            except NotPossible:
                continue
        if draw.random() < 0.5:
            dispatch.dispatch()
            end_what_is_on()
    dispatch.dispatch()
    while end_what_is_on():
        dispatch.dispatch()

    assert set(Campaign.objects.values_list("state", flat=True)) == {Campaign.State.FINISHED}
    assert Run.objects.exclude(state=Run.State.DONE).count() == 0


def test_one_that_fails_leaves_the_answer_of_the_others_standing(side_by_side, dead):
    campaign = side_by_side(1, 2, 3, repetitions=5, factors={"level": [1, 2]})
    while campaign.runs.filter(block__number__lte=2, state=Run.State.PLANNED).exists():
        assert execute_next() is not None
    dead.add("proxy-16")
    run_all(campaign, most=100)

    assert campaign.state == Campaign.State.FINISHED
    place = campaign.places.get(level="proxy-16")
    assert "refused the connection" in place.out_reason
    lost = campaign.runs.filter(cell__target=place.target)
    by_block = {
        number: sorted(lost.filter(block__number=number).values_list("state", flat=True))
        for number in range(1, 6)
    }
    assert by_block == {
        1: ["done", "done"],
        2: ["done", "done"],
        3: ["void", "void"],
        4: ["void", "void"],
        5: ["cancelled", "cancelled"],
    }
    assert lost.filter(attempts=None, state="void").count() == 2
    assert campaign.runs.exclude(cell__target=place.target).exclude(state="done").count() == 0

    computing.analyse(campaign)
    found = findings_of(campaign, campaign.primary_metric)
    assert found.answer
    assert found.answer.targets
    told = {part.level: part for part in found.answer.targets.targets}
    assert (told["proxy-16"].took_part, told["proxy-16"].blocks) == (2, 5)
    assert (told["proxy-8"].took_part, told["proxy-8"].out) == (5, "")
    answer = answer_text(Grounds(found.answer, found.pairs, found.levels, sessions=found.sessions))
    text = caveats_of(answer)
    assert "proxy-16 took part in 2 of 5 blocks: " in text
    assert "proxy-8 / proxy-46: also differs: CPU -8 / 46" in text
    assert found.levels
    beside = {(row[2], row[3]): row[-1] for row in comparison_rows(campaign) if row[1] == "target"}
    assert beside["proxy-8", "proxy-46"] == "also differs: CPU -8 / 46"
    texts = texts_of(campaign, ["levels"])["levels"]["comparisons"]
    assert all(text["also"].startswith("also differs: CPU ") for text in texts)
    (compared,) = [
        each for each in part_of(campaign).compared if "proxy-46 vs. proxy-8" in each.name
    ][:1]
    assert compared.also == "also differs: CPU -8 / 46"
    rows = [row for group in found.levels.groups for row in group.comparisons]
    names = {cell.pk: cell.levels_by_factor["target"] for cell in campaign.cells.all()}
    words = {
        (names[row.baseline], names[row.candidate]): row.comparison.verdict.word for row in rows
    }
    assert words["proxy-8", "proxy-46"] == "worse"
    assert all(word == "not_enough_data" for pair, word in words.items() if "proxy-16" in pair), (
        words
    )


def test_a_contrast_needs_three_blocks_with_both(side_by_side, dead):
    campaign = side_by_side(1, 2, 3, repetitions=5)
    for block in range(1, 6):
        dead.clear()
        dead.update({1: {"proxy-8"}, 2: {"proxy-16"}, 3: {"proxy-8"}}.get(block, ()))
        while campaign.runs.filter(block__number=block, state=Run.State.PLANNED).exists():
            execute_next()
    run_all(campaign)
    computing.analyse(campaign)
    found = findings_of(campaign, campaign.primary_metric)
    assert found.answer
    assert found.answer.targets

    assert not campaign.places.exclude(out_at=None).exists()
    names = {cell.pk: cell.levels_by_factor["target"] for cell in campaign.cells.all()}
    told = {(pair.baseline, pair.candidate): pair.together for pair in found.answer.targets.pairs}
    assert told == {
        ("proxy-8", "proxy-16"): 2,
        ("proxy-8", "proxy-46"): 3,
        ("proxy-16", "proxy-46"): 4,
    }
    assert found.levels
    words = {
        (names[row.baseline], names[row.candidate]): row.comparison.verdict.word
        for group in found.levels.groups
        for row in group.comparisons
    }
    assert words["proxy-8", "proxy-16"] == "not_enough_data"
    assert words["proxy-16", "proxy-46"] == "worse"


def test_a_single_lost_block_does_not_end_it(side_by_side, dead):
    campaign = side_by_side(1, 2, repetitions=4)
    while campaign.runs.filter(block__number=1, state=Run.State.PLANNED).exists():
        execute_next()
    dead.add("proxy-16")
    while campaign.runs.filter(block__number=2, state=Run.State.PLANNED).exists():
        execute_next()
    dead.clear()
    run_all(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert not campaign.places.exclude(out_at=None).exists()
    assert campaign.runs.filter(state=Run.State.VOID).count() == 1


def test_the_last_one_is_never_out_and_failures_count_for_each(side_by_side, dead):
    campaign = side_by_side(1, 2, repetitions=12)
    dead.update({"proxy-8", "proxy-16"})
    run_all(campaign, most=100)

    assert campaign.places.exclude(out_at=None).count() == 1
    assert campaign.state == Campaign.State.PAUSED
    assert "5 runs in a row" in campaign.state_reason


def test_an_extension_takes_in_again_what_was_out(side_by_side, dead):
    campaign = side_by_side(1, 2, repetitions=3)
    dead.add("proxy-16")
    run_all(campaign)
    assert campaign.places.exclude(out_at=None).exists()
    dead.clear()

    lifecycle.extend(campaign, 3, None)
    run_all(campaign)

    assert campaign.runs.filter(cell__target__name="proxy-16", state="done").count() == 3


def test_facts_of_each_target_are_compared_with_its_own(side_by_side, controlled, monkeypatch):
    version = {"proxy-8": "1", "proxy-16": "2"}
    monkeypatch.setattr(
        controlled, "environment", lambda target, context: {"version": version[target.name]}
    )
    campaign = side_by_side(1, 2, repetitions=4)
    for block in range(1, 5):
        if block == 3:
            version["proxy-8"] = "1.1"
        while campaign.runs.filter(block__number=block, state=Run.State.PLANNED).exists():
            execute_next()
    run_all(campaign)
    computing.analyse(campaign)
    found = findings_of(campaign, campaign.primary_metric)
    assert found.answer
    assert found.answer.targets

    assert [(each.place, each.before, each.after) for each in found.answer.changes] == [
        ("target proxy-8", "1", "1.1")
    ]
    told = {part.level: part.sessions for part in found.answer.targets.targets}
    assert told == {"proxy-8": 2, "proxy-16": 1}
    assert found.sessions is None  # no more sessions than those of the target with the fewest


def test_the_idle_target_on_the_same_machine_is_asked_whether_it_is_quiet(
    side_by_side, servers, controlled, dead, monkeypatch
):
    Target.objects.filter(pk__in=[servers[1].pk, servers[2].pk]).update(runs_on="rack 7")
    asked = []

    def quiet(target, rules):
        asked.append(target.name)
        if target.name == "proxy-8" and asked.count("proxy-8") == 2:
            raise TargetUnavailable("refused.")
        return ""

    monkeypatch.setattr(controlled, "quiet", quiet)
    monkeypatch.setattr(
        name_service, "addresses_of", lambda names: dict.fromkeys(names, frozenset())
    )
    campaign = side_by_side(1, 2, 3)
    run_all(campaign)
    monkeypatch.setattr(name_service, "addresses_of", None)  # an analysis needs no name server
    computing.analyse(campaign)
    told = findings_of(campaign, campaign.primary_metric).answer.targets  # type: ignore[union-attr]

    assert sorted(asked) == ["proxy-16"] * 3 + ["proxy-8"] * 3
    assert told
    assert told.shared == [["proxy-8", "proxy-16"]]
    assert {each.level: (each.unproved, each.of) for each in told.quiet} == {
        "proxy-16": (0, 3),
        "proxy-8": (1, 3),
    }
    texts = " ".join(targets_texts(told))
    assert "not proved before 1 of 3 runs on other targets (not proved: refused.)" in texts
    assert campaign.runs.exclude(state=Run.State.DONE).count() == 0

    campaign.places.update(machine=None)  # of before hosts were stored
    computing.analyse(campaign)
    again = findings_of(campaign, campaign.primary_metric).answer.targets  # type: ignore[union-attr]
    assert again
    assert again.shared == told.shared
