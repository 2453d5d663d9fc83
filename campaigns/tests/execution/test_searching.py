"""A search for capacity, run by run, on a target of which the capacity is known."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.claim import claim
from campaigns.execution.running import execute
from campaigns.execution.waiting import waiting_for
from campaigns.findings import compute
from campaigns.kinds.base import Health, Measured, TargetUnavailable
from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.kit.revisions import Changed, revision_of
from campaigns.models import (
    Announcement,
    Attempt,
    Block,
    Campaign,
    Finding,
    LogLine,
    Membership,
    Run,
    TargetLease,
    Team,
)
from campaigns.models.teams import default_team
from campaigns.planning import checking, drafts, lifecycle, storage
from campaigns.planning import preview as previewing
from campaigns.planning.amending import amend
from campaigns.planning.calibrating import calibrate
from campaigns.planning.roles import loads_of
from campaigns.results.search_runs import state_of
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db

CAPACITY = 40
SEARCH = {"load": "level", "first": 5, "largest": 500}
NEAR = SEARCH | {"first": 20, "largest": 100}
"""Takes fewer runs to its end, where that alone matters."""


@pytest.fixture
def server(controlled, target):
    """Let the duration grow with the load, and reach 10 s at the capacity."""
    controlled.load = ("level",)
    target.overload_until = timezone.now() + timedelta(days=1)
    target.save()

    def measure(target, parameters, context):
        value = 10 * (parameters["level"] / CAPACITY) ** 1.5
        return Measured({"duration": value}, Health("healthy", (), {}), units_done=1)

    controlled.measure = measure
    return controlled


@pytest.fixture
def searching(launched, server):
    def make(**changes):
        campaign = launched(**{"factors": {}, "search": SEARCH, "repetitions": 3} | changes)
        Campaign.objects.filter(pk=campaign.pk).update(
            criterion={"conditions": [{"metric": "duration", "at_most": 10}]}
        )
        return campaign

    return make


def go_on(campaign, most=60):
    """Run what is queued until nothing is, and return how many runs there were."""
    for number in range(most):
        Campaign.objects.update(analysis_requested_at=None, not_before=None)
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            campaign.refresh_from_db()
            if campaign.not_before is not None and campaign.not_before > timezone.now():
                continue  # the pause before a check of recovery
            return number
        execute(attempt.pk, "measure@here", "here")
    raise AssertionError("it does not end")


def runs_of(campaign, phase):
    runs = campaign.runs.filter(block__phase=phase).order_by("position")
    return [run.cell.levels_by_factor["level"] for run in runs.select_related("cell")]


def lines_of(campaign):
    return list(
        LogLine.objects.filter(campaign=campaign).order_by("pk").values_list("text", flat=True)
    )


def test_it_explores_and_confirms_and_ends(searching):
    campaign = searching()

    go_on(campaign)

    assert campaign.state == Campaign.State.FINISHED, lines_of(campaign)
    assert runs_of(campaign, "explore")[:3] == [5, 20, 40]
    confirmed = runs_of(campaign, "confirm")
    assert len(confirmed) == 9
    assert {confirmed.count(load) for load in confirmed} == {3}
    assert min(confirmed) < CAPACITY < max(confirmed)
    blocks = Block.objects.filter(campaign=campaign, phase="confirm")
    assert [block.runs.count() for block in blocks] == [3, 3, 3]
    checks = campaign.runs.filter(block__phase="check")
    assert checks
    assert {run.purpose for run in checks} == {Run.Purpose.WARM_UP}
    assert set(runs_of(campaign, "check")) == {5}
    factor = campaign.factors.get(name="level")
    levels = [level.value for level in factor.levels.order_by("position")]
    assert levels == sorted(levels)
    assert loads_of(campaign) == ("level",)
    assert any("held at 40, failed at 80; next" in line for line in lines_of(campaign))
    assert campaign.cells.count() == len(levels)


def test_one_run_is_planned_at_a_time_and_asking_twice_plans_no_second(searching):
    campaign = searching()
    dispatch.dispatch()
    dispatch.dispatch()

    assert campaign.runs.count() == 1


def test_a_worker_that_is_gone_leaves_the_search_where_it_was(searching):
    for killed in (3, 11):  # while it explores, and while it confirms
        campaign = searching()
        for number in range(40):
            Campaign.objects.update(analysis_requested_at=None, not_before=None)
            dispatch.dispatch()
            attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
            if attempt is None:
                break
            if number == killed:
                Attempt.objects.filter(pk=attempt.pk).update(
                    state=Attempt.State.RUNNING, claimed_at=Now(), worker="gone"
                )
                Run.objects.filter(pk=attempt.run_id).update(state=Run.State.RUNNING)
                TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))
                continue
            execute(attempt.pk, "measure@here", "here")
        campaign.refresh_from_db()
        assert campaign.state == Campaign.State.FINISHED
        assert Attempt.objects.filter(run__campaign=campaign, state="lost").count() == 1
        assert len(runs_of(campaign, "confirm")) == 9
        assert len(set(runs_of(campaign, "explore"))) == len(runs_of(campaign, "explore"))


def test_loads_that_fail_do_not_stop_it_however_few_failures_are_allowed(searching):
    campaign = searching(search=NEAR, max_consecutive_failures=1, max_failed_percent=1)

    go_on(campaign)

    assert campaign.state == Campaign.State.FINISHED


def test_runs_that_measure_nothing_pause_it(searching, server):
    campaign = searching(max_consecutive_failures=2)

    def measure(target, parameters, context):
        raise TargetUnavailable("The server is off.")

    server.measure = measure
    go_on(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert "2 runs in a row measured nothing" in campaign.state_reason
    assert "The server is off" in campaign.state_reason


def test_a_run_that_says_so_pauses_the_campaign(searching, server):
    def measure(target, parameters, context):
        why = "the target failed two health checks in a row"
        health = Health("healthy", (), {})
        return Measured({}, health, units_failed=5, failure="Cut short: it hangs.", pauses=why)

    server.measure = measure
    campaign = searching()

    go_on(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert "failed two health checks in a row, the last one: Cut short" in campaign.state_reason
    assert campaign.runs.get().state == Run.State.FAILED


@pytest.mark.parametrize("faulty", [0, 1])
def test_failures_in_one_run_that_confirms_make_no_wrong_number(searching, server, faulty):
    measure = server.measure
    runs = iter(range(100))

    def failing(target, parameters, context):
        measured = replace(measure(target, parameters, context), units_done=40)
        (attempt,) = Attempt.objects.filter(state="running").select_related("run__block")
        if attempt.run.block.phase == "confirm" and next(runs) == faulty:
            why = "Cut short: 3 of 40 had failed."
            return replace(measured, values={}, units_done=37, units_failed=3, failure=why)
        return measured

    server.measure = failing
    campaign = searching(search=NEAR)
    go_on(campaign)
    compute.analyse(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert campaign.runs.filter(state=Run.State.FAILED, block__phase="confirm").count() == 1
    result = Finding.objects.get(campaign=campaign, name="capacity").result
    capacity = result["settings"][0]["capacity"]
    assert capacity["word"] in ("between", "at_least", "fewer_than")
    assert (capacity["low"] or 0) < CAPACITY * 1.001
    assert (capacity["high"] or 1000) > CAPACITY * 0.999


def test_a_target_that_does_not_recover_pauses_it_and_resuming_goes_on(searching, server):
    hung: list[int] = []
    measure = server.measure

    def hanging(target, parameters, context):
        if hung:
            raise TargetUnavailable("It hangs.")
        if parameters["level"] > CAPACITY:
            hung.append(parameters["level"])
        return measure(target, parameters, context)

    server.measure = hanging
    campaign = searching()

    go_on(campaign)

    assert campaign.state == Campaign.State.PAUSED
    assert f"the target has not recovered from {hung[0]} level" in campaign.state_reason
    assert runs_of(campaign, "check") == [5, 5, 5]
    assert max(runs_of(campaign, "explore")) == hung[0]
    server.measure = measure
    lifecycle.resume(campaign)
    go_on(campaign)
    assert campaign.state == Campaign.State.FINISHED


def test_checks_wait_longer_each_time(searching, server):
    campaign = searching()
    state = None
    for _ in range(30):
        Campaign.objects.update(analysis_requested_at=None, not_before=None)
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        campaign.refresh_from_db()
        if attempt is None:
            break
        if attempt.run.block.phase == "check":
            server.measure = _unavailable
        execute(attempt.pk, "measure@here", "here")
    state = state_of(campaign)
    assert state is not None
    assert campaign.not_before > timezone.now() + timedelta(seconds=15)


def _unavailable(target, parameters, context):
    raise TargetUnavailable("It hangs.")


def test_the_largest_load_holds(searching):
    campaign = searching(search=SEARCH | {"largest": 30})

    go_on(campaign)

    assert max(runs_of(campaign, "explore") + runs_of(campaign, "confirm")) == 30
    assert campaign.state == Campaign.State.FINISHED


def test_extensions_of_a_search_have_an_end(searching):
    campaign = searching()
    campaign.search = {**campaign.search, "extra_blocks": 199}
    campaign.save()

    with pytest.raises(NotPossible, match="1 are left"):
        lifecycle.extend(campaign, 2, None)


def test_what_a_search_searches_stays_its_load(searching, server):
    server.may_be_load, server.load = ("level",), ()
    campaign = searching(search=NEAR, roles={"level": "load"})
    go_on(campaign)

    with pytest.raises(Invalid) as refused:
        amend(campaign, {"roles": {"level": "setting"}}, "no", None)

    assert "that stays its load" in str(refused.value.errors["roles"])


def test_an_extension_confirms_with_more_blocks(searching):
    campaign = searching(search=NEAR)
    go_on(campaign)
    before = runs_of(campaign, "confirm")

    lifecycle.extend(campaign, 1, None)
    go_on(campaign)

    after = runs_of(campaign, "confirm")
    assert len(after) == len(before) + 3
    assert set(after) == set(before)
    assert campaign.state == Campaign.State.FINISHED


def test_it_is_refused_without_the_owners_word(draft, server, target):
    campaign = draft(factors={}, search=SEARCH)
    target.overload_until = None
    target.save()

    for begin in (lifecycle.launch, lifecycle.try_one):
        with pytest.raises(NotPossible, match="its owner has not allowed that"):
            begin(campaign, None)

    target.overload_until = timezone.now() - timedelta(hours=1)
    target.save()
    with pytest.raises(NotPossible, match="which is over"):
        lifecycle.launch(campaign, None)


def test_it_waits_for_the_hours_in_which_the_target_may_be_overloaded(searching, target):
    campaign = searching()
    later = timezone.now() + timedelta(hours=2)
    target.overload_hours = f"daily {later:%H:%M}-{later + timedelta(hours=1):%H:%M}"
    target.save()

    assert go_on(campaign) == 0

    assert any("waits for the hours in which" in line for line in lines_of(campaign))
    assert "Waits for the hours in which" in waiting_for(campaign).why


def test_a_run_that_was_sent_does_not_begin_once_the_owner_takes_it_back(searching, target):
    campaign = searching()
    dispatch.dispatch()
    attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
    target.overload_until = None
    target.save()

    assert claim(attempt.pk, "measure@here", "here") is None
    assert not TargetLease.objects.filter(attempt=attempt).exists()
    assert "its owner has not allowed that" in waiting_for(campaign).why


def test_a_production_server_has_to_be_allowed_anew(searching, target):
    target.is_production = True
    target.save()
    somebody("op", "operator")
    with pytest.raises(NotConfirmed, match="exact name"):
        searching(search=NEAR | {"most_failed": 100, "person": "op"})
    Campaign.objects.all().update(state="draft")
    campaign = Campaign.objects.get()
    lifecycle.launch(campaign, None, "server")

    go_on(campaign)

    target.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert target.overload_until is None


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "needs `most_failed`"),
        ({"most_failed": 100}, "and `person`"),
    ],
)
def test_a_production_server_needs_a_limit_of_failures_and_somebody_to_stop_it(
    searching, target, stated, message
):
    target.is_production = True
    target.save()

    with pytest.raises(NotPossible, match=message):
        searching(search=SEARCH | stated)


def test_who_may_not_stop_it_any_more_stops_no_search_of_a_production_server(draft, server, target):
    person = somebody("op", "operator")
    campaign = draft(factors={}, search=SEARCH | {"most_failed": 100, "person": "op"})
    Membership.objects.filter(user=person).update(roles=["viewer"])
    target.is_production = True
    target.save()

    with pytest.raises(NotPossible, match="“op” is no account that may cancel"):
        lifecycle.launch(campaign, None, "server")


@pytest.mark.parametrize("name", ["nobody", "reader", "elsewhere", "gone"])
def test_a_search_names_an_operator_of_its_team_alone(draft, server, name):
    somebody("reader", "viewer")
    somebody("elsewhere", "operator", team=Team.objects.create(name="Others"))
    User.objects.filter(pk=somebody("gone", "operator").pk).update(is_active=False)

    with pytest.raises(Invalid) as refused:
        draft(factors={}, search=SEARCH | {"person": name})

    assert refused.value.errors == {
        "search.person": [
            f"“{name}” is no account that may cancel this campaign. Name an operator of the team {Team.objects.get(pk=default_team())}."
        ]
    }


def test_who_is_to_stop_it_is_told_when_it_begins(searching, target):
    person = somebody("op", "operator")

    campaign = searching(search=SEARCH | {"person": "op"})

    (row,) = Announcement.objects.filter(campaign=campaign)
    assert row.to == [person.pk]
    assert "You are named to stop the search on “server”" in row.data["what"]
    assert "up to 500 level" in row.data["what"]


def test_it_ends_where_more_work_has_failed_than_may_fail_in_all_its_runs(searching, server):
    def measure(target, parameters, context):
        level = parameters["level"]
        failed = level if level > CAPACITY else 0
        return Measured(
            {"duration": 1.0}, Health("healthy", (), {}), units_done=level - failed,
            units_failed=failed, failures={"refused": failed} if failed else {},
        )  # fmt: skip

    server.measure = measure
    campaign = searching(search=SEARCH | {"most_failed": 100})

    go_on(campaign)

    assert campaign.state == Campaign.State.FINISHED
    assert "may fail in the whole search" in campaign.state_reason
    assert not runs_of(campaign, "confirm")
    state = state_of(campaign)
    assert state
    assert state.failed > 100
    Attempt.objects.filter(run__campaign=campaign).update(state=Attempt.State.VOID)
    again = state_of(campaign)
    assert again
    assert again.failed == state.failed  # a repeated run failed all the same
    assert Announcement.objects.filter(campaign=campaign).get().kind == "campaign_failed"


def test_who_takes_a_search_away_is_told_to_those_who_saw_it(draft, server):
    campaign = draft(factors={}, search=SEARCH)
    seen = [revision_of(storage.revised(campaign))]
    without = storage.with_changes(campaign, {"search": None})
    drafts.change(campaign, checking.check(without))

    with pytest.raises(Changed) as refused:
        drafts.change(campaign, checking.check(without), seen)

    assert "search" in refused.value.fields


def test_a_calibration_of_a_search_repeats_its_first_load_and_searches_nothing(draft, server):
    campaign = draft(factors={}, search=SEARCH)

    calibration = calibrate(campaign, None)

    assert calibration.search is None
    assert calibration.parameters["level"] == SEARCH["first"]
    assert lifecycle.launch(calibration, None).runs.count() > 0


def test_a_definition_can_be_sent_again(draft, server):
    campaign = draft(factors={}, search=SEARCH)

    data = storage.definition_of(campaign)

    assert data["search"] == SEARCH | {"lowest": 1, "most_runs": 20}
    assert data["factors"] == {}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"search": {"load": "level"}}, "search.largest"),
        ({"search": {"load": "nonsense", "largest": 5}}, "search.load"),
        ({"search": SEARCH | {"first": 600}}, "search.first"),
        ({"search": SEARCH | {"lowest": 600}}, "search.largest"),
        ({"search": SEARCH | {"largest": "many"}}, "search.largest"),
        ({"search": SEARCH | {"largest": 2.5}}, "search.largest"),
        ({"search": SEARCH | {"most_runs": 3}}, "search.most_runs"),
        ({"search": SEARCH | {"most_failed": 0}}, "search.most_failed"),
        ({"search": SEARCH | {"person": ["op"]}}, "search.person"),
        ({"search": SEARCH | {"colour": 3}}, "search.colour"),
        ({"search": [1]}, "search"),
        ({"factors": {"level": [1, 2]}}, "factors.level"),
        ({"order": "random"}, "order"),
        ({"warm_ups": 1}, "warm_ups"),
    ],
)
def test_bad_searches_are_refused_by_field(draft, server, changes, path):
    with pytest.raises(Invalid) as refused:
        draft(**{"factors": {}, "search": SEARCH} | changes)

    assert path in refused.value.errors


def test_rest_and_page_tell_the_bracket_and_the_next_load(searching, admin_client):
    campaign = searching()
    for _ in range(4):
        go_on_once()

    answer = admin_client.get(
        f"/api/v1/campaigns/{campaign.pk}", headers={"accept": "application/json"}
    )
    page = admin_client.get(f"/campaigns/{campaign.pk}/progress/").content.decode()

    search = answer.json()["search"]
    assert search["settings"] == [{"levels": {}, "held": 40.0, "failed": 80.0}]
    assert (
        search["text"] == "held at 40, failed at 80; next 5: checks that the target has recovered"
    )
    assert (search["phase"], search["next_load"], search["runs"]) == ("check", 5.0, 4)
    assert search["text"] in page
    assert "no run is above" in page


def go_on_once():
    Campaign.objects.update(analysis_requested_at=None, not_before=None)
    dispatch.dispatch()
    execute(Attempt.objects.get(state=Attempt.State.QUEUED).pk, "measure@here", "here")


def test_the_form_states_a_search_and_shows_how_far_it_may_go(draft, server, target, admin_client):
    campaign = draft(factors={}, search=SEARCH)

    page = admin_client.get(f"/campaigns/{campaign.pk}/edit/").content.decode()

    for name, value in (("load", "level"), ("largest", "500")):
        assert f'name="search.{name}"' in page, name
        assert value in page
    preview = previewing.preview(checking.check(storage.definition_of(campaign)))
    assert "no run has more than 500" in preview.remarks[0][1]
    target.max_concurrency = 60
    target.save()
    preview = previewing.preview(checking.check(storage.definition_of(campaign)))
    assert "no run has more than 60, which the owner of" in preview.remarks[0][1]
