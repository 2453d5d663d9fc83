from itertools import pairwise

import pytest
from django.db.models import F
from django.db.models.functions import Now

from campaigns.kit.errors import NotConfirmed, NotPossible
from campaigns.models import Attempt, Campaign, Run, Session, TargetLease
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.plan import plan_runs
from campaigns.targets.saving import retire_target
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return somebody("owner")


@pytest.fixture
def draft(target):
    return drafts.create(check(definition(target=target.pk, seed=5, warm_ups=1)), None)


@pytest.fixture
def launched(draft, user):
    return lifecycle.launch(draft, user)


def queued_attempt(run: Run) -> Attempt:
    attempt = Attempt.objects.create(run=run, number=1, pool="measure", token=1)
    TargetLease.objects.create(address="127.0.0.1:9", attempt=attempt, holder="run", token=1)
    return attempt


def test_launch_plans_every_run_in_a_session(launched, user):
    assert launched.state == Campaign.State.RUNNING
    assert launched.launched_at is not None
    session = launched.sessions.get()
    assert (session.kind, session.user) == (Session.Kind.LAUNCH, user)
    runs = list(launched.runs.order_by("position"))
    assert [run.position for run in runs] == list(range(1, 8))
    assert [run.purpose for run in runs] == ["warm_up", *["measured"] * 6]
    assert {run.state for run in runs} == {"planned"}
    assert launched.log.filter(text__startswith="launched: 7 runs").exists()


def test_the_same_seed_gives_the_same_order(target):
    orders = []
    for _ in range(2):
        sent = definition(
            target=target.pk, order="random", factors={"workers": [1, 2, 3, 4]}, seed=11
        )
        campaign = lifecycle.launch(drafts.create(check(sent), None), None)
        orders.append([str(run.cell) for run in campaign.runs.select_related("cell")])

    assert orders[0] == orders[1]


def test_a_try_out_before_the_launch_does_not_change_the_order(target):
    sent = definition(target=target.pk, order="random", factors={"workers": [1, 2, 3, 4]}, seed=11)
    planned = plan_runs(check(sent).design)
    campaign = drafts.create(check(sent), None)
    lifecycle.try_one(campaign, None)

    lifecycle.launch(campaign, None)

    runs = campaign.runs.filter(purpose="measured").select_related("cell")
    assert [run.cell.levels_by_factor for run in runs] == [
        planned.cells[run.cell] for run in planned.runs
    ]


def test_pairs_alternate_in_who_begins_also_after_an_extension(launched):
    lifecycle.extend(launched, 3, None)

    begins = [
        launched.runs.filter(block=block).order_by("position")[0].cell.levels_by_factor["engine"]
        for block in launched.blocks.filter(number__gte=1)
    ]
    assert len(begins) == 6
    assert all(first != second for first, second in pairwise(begins))


def test_an_extension_goes_on_with_positions_blocks_and_repetitions(launched):
    extended = lifecycle.extend(launched, 2, None)

    assert extended.repetitions == 5
    assert list(extended.runs.values_list("position", flat=True)) == list(range(1, 12))
    assert list(extended.blocks.values_list("number", flat=True)) == [0, 1, 2, 3, 4, 5]
    assert [session.kind for session in extended.sessions.all()] == ["launch", "extension"]
    assert not extended.runs.filter(position__gt=7, purpose="warm_up").exists()


def test_an_extension_opens_a_finished_campaign_again(launched):
    Campaign.objects.update(state=Campaign.State.FINISHED)

    extended = lifecycle.extend(launched, 1, None)

    assert extended.state == Campaign.State.RUNNING
    assert extended.closed_at is None


@pytest.mark.parametrize("blocks", [0, -1, 201])
def test_an_extension_by_nonsense_is_refused(launched, blocks):
    with pytest.raises(NotPossible, match="1 to 200"):
        lifecycle.extend(launched, blocks, None)


def test_a_campaign_does_not_grow_for_ever(launched):
    Run.objects.filter(position=7).update(position=19_999)

    with pytest.raises(NotPossible, match="at most 20,000"):
        lifecycle.extend(launched, 1, None)


def test_a_draft_is_not_extended(draft):
    with pytest.raises(NotPossible, match="this one is draft"):
        lifecycle.extend(draft, 1, None)


def test_a_target_that_no_rule_allows_keeps_a_campaign_from_its_launch(draft, settings):
    settings.OWNER_CONFIRMS = False

    with pytest.raises(NotPossible, match="PERFDASH_ALLOWED_ADDRESSES"):
        lifecycle.launch(draft, None)

    draft.refresh_from_db()
    assert draft.state == Campaign.State.DRAFT
    assert not draft.runs.exists()


def test_a_campaign_whose_target_was_retired_is_not_launched(draft):
    retire_target(draft.target)

    with pytest.raises(NotPossible, match="was retired"):
        lifecycle.launch(draft, None)


def test_an_imported_campaign_is_neither_launched_nor_tried():
    sent = {"kind": "external", "question": "What?", "order": "random", "repetitions": 1}
    campaign = drafts.create(check(sent), None)

    for function in (lifecycle.launch, lifecycle.try_one):
        with pytest.raises(NotPossible, match="come from outside"):
            function(campaign, None)


def test_a_campaign_whose_kind_is_not_installed_any_more_is_not_launched(draft):
    Campaign.objects.update(kind="gone")

    with pytest.raises(NotPossible, match="no kind “gone”"):
        lifecycle.launch(draft, None)


def test_one_run_is_tried_at_a_time(draft):
    lifecycle.try_one(draft, None)

    with pytest.raises(NotPossible, match="already"):
        lifecycle.try_one(draft, None)


def test_several_try_outs_share_their_session(draft):
    for _ in range(2):
        lifecycle.try_one(draft, None)
        Run.objects.update(state=Run.State.DONE)

    assert draft.sessions.count() == 1
    assert [run.position for run in draft.runs.all()] == [1, 2]


def test_a_try_out_that_waits_is_not_taken_into_the_launch(draft):
    lifecycle.try_one(draft, None)

    campaign = lifecycle.launch(draft, None)

    trial = campaign.runs.get(purpose=Run.Purpose.TRIAL)
    assert trial.state == Run.State.CANCELLED
    assert campaign.runs.filter(purpose=Run.Purpose.MEASURED).count() == 6


def test_a_try_out_that_goes_on_holds_the_launch_back(draft):
    queued_attempt(lifecycle.try_one(draft, None))

    with pytest.raises(NotPossible, match="try-out"):
        lifecycle.launch(draft, None)


def test_pause_and_resume_move_the_state_and_nothing_else(launched):
    assert lifecycle.pause(launched).state == Campaign.State.PAUSED
    with pytest.raises(NotPossible, match="paused, not running"):
        lifecycle.pause(launched)
    assert lifecycle.resume(launched).state == Campaign.State.RUNNING
    with pytest.raises(NotPossible, match="running, not paused"):
        lifecycle.resume(launched)
    assert set(launched.runs.values_list("state", flat=True)) == {"planned"}


def test_cancel_withdraws_what_nobody_has_claimed_and_frees_its_lease(launched):
    attempt = queued_attempt(launched.runs.get(position=1))

    cancelled = lifecycle.cancel(launched, "wrong target")

    assert cancelled.state == Campaign.State.CANCELLING
    attempt.refresh_from_db()
    assert (attempt.state, attempt.reason) == ("cancelled", "wrong target")
    assert TargetLease.objects.get().attempt is None
    assert set(launched.runs.values_list("state", flat=True)) == {"cancelled"}


def test_cancel_asks_what_goes_on_to_stop_and_leaves_its_end_to_the_keeper(launched):
    run = launched.runs.get(position=1)
    attempt = queued_attempt(run)
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=launched.launched_at)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)

    lifecycle.cancel(launched, "")

    attempt.refresh_from_db()
    run.refresh_from_db()
    assert attempt.state == Attempt.State.RUNNING
    assert attempt.cancel_requested_at is not None
    assert run.state == Run.State.RUNNING
    assert TargetLease.objects.get().attempt == attempt


def test_one_planned_run_is_cancelled_alone(launched):
    run = lifecycle.cancel_run(launched.runs.get(position=2), " not needed ")

    assert (run.state, run.reason) == ("cancelled", "not needed")
    assert launched.runs.filter(state=Run.State.PLANNED).count() == 6
    with pytest.raises(NotPossible, match="cancelled already"):
        lifecycle.cancel_run(run, "again")


def test_a_queued_run_is_cancelled_with_its_attempt(launched):
    run = launched.runs.get(position=2)
    attempt = queued_attempt(run)

    cancelled = lifecycle.cancel_run(run, "")

    attempt.refresh_from_db()
    assert (cancelled.state, attempt.state) == ("cancelled", "cancelled")
    assert TargetLease.objects.get().attempt is None


def test_a_run_that_goes_on_is_asked_to_stop(launched):
    run = launched.runs.get(position=2)
    attempt = queued_attempt(run)
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=launched.launched_at)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)

    asked = lifecycle.cancel_run(run, "too slow")
    assert "is being stopped" in launched.log.last().text

    attempt.refresh_from_db()
    assert (asked.state, asked.reason) == ("running", "too slow")
    assert attempt.cancel_requested_at is not None


@pytest.mark.parametrize("state", ["draft", "finished", "cancelled", "cancelling"])
def test_what_is_not_going_on_is_not_cancelled(launched, state):
    Campaign.objects.update(state=state)

    with pytest.raises(NotPossible, match=state):
        lifecycle.cancel(launched, "x")


def test_a_failed_run_is_run_again_with_its_attempts_on_record(launched, user):
    run = launched.runs.get(position=2)
    Attempt.objects.create(
        run=run,
        number=1,
        pool="measure",
        token=1,
        state=Attempt.State.FAILED,
        claimed_at=launched.launched_at,
    )
    Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, reason="timed out")
    Campaign.objects.update(state=Campaign.State.FINISHED)

    again = lifecycle.run_again(run, user)

    assert isinstance(again, Run)
    assert (again.state, again.reason, again.attempts_allowed) == ("planned", "", 2)
    assert again.attempts.count() == 1
    launched.refresh_from_db()
    assert launched.state == Campaign.State.RUNNING
    assert "is run again by owner" in launched.log.last().text


@pytest.mark.parametrize("state", ["planned", "running", "done", "cancelled"])
def test_only_a_failed_or_void_run_is_run_again(launched, state):
    Run.objects.update(state=state)

    with pytest.raises(NotPossible, match=state):
        lifecycle.run_again(launched.runs.get(position=2), None)


def test_an_excluded_run_is_included_before_it_is_run_again(launched, user):
    run = launched.runs.get(position=2)
    Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED, reason="disk full")
    run.refresh_from_db()
    lifecycle.exclude(run, user, "my disk was full")

    with pytest.raises(NotPossible, match="include it first"):
        lifecycle.run_again(run, user)

    lifecycle.include(run, user)
    assert lifecycle.run_again(run, user).state == Run.State.PLANNED


def test_everything_that_a_person_does_is_logged_with_the_name(draft, user):
    lifecycle.launch(draft, user)
    lifecycle.pause(draft, user)
    lifecycle.resume(draft, user)
    lifecycle.extend(draft, 1, user)
    lifecycle.cancel_run(draft.runs.get(position=2), "too slow", user)
    lifecycle.exclude(draft.runs.get(position=2), user, "too slow")
    lifecycle.include(draft.runs.get(position=2), user)
    lifecycle.cancel(draft, "enough", user)

    texts = list(draft.log.values_list("text", flat=True))
    assert len(texts) == 8
    assert all("owner" in text for text in texts)


def test_an_exclusion_needs_a_closed_run_and_a_reason(launched, user):
    run = launched.runs.get(position=2)
    with pytest.raises(NotPossible, match="planned"):
        lifecycle.exclude(run, user, "why not")
    run.state = Run.State.DONE
    run.save(update_fields=["state"])
    with pytest.raises(NotPossible, match="Say why"):
        lifecycle.exclude(run, user, "   ")

    exclusion = lifecycle.exclude(run, user, " disk was full ")

    assert (exclusion.reason, exclusion.user) == ("disk was full", user)
    with pytest.raises(NotPossible, match="already"):
        lifecycle.exclude(run, user, "again")


def test_a_warm_up_is_not_excluded(launched, user):
    Run.objects.update(state=Run.State.DONE)

    with pytest.raises(NotPossible, match="warm-up run is in no analysis"):
        lifecycle.exclude(launched.runs.get(position=1), user, "too slow")


def test_a_withdrawn_exclusion_stays_on_record(launched, user):
    run = launched.runs.get(position=2)
    Run.objects.update(state=Run.State.DONE)
    run.refresh_from_db()
    lifecycle.exclude(run, user, "disk was full")

    lifecycle.include(run)

    assert run.exclusions.get().withdrawn_at is not None
    with pytest.raises(NotPossible, match="not excluded"):
        lifecycle.include(run)


@pytest.fixture
def production(target):
    target.name, target.is_production = "Prod", True
    target.save()


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("typed", ["", "prod", "Prod "])
def test_a_production_server_is_loaded_only_when_its_exact_name_was_typed(draft, typed):
    for function in (lifecycle.launch, lifecycle.try_one):
        with pytest.raises(NotConfirmed, match="“Prod” is a production server"):
            function(draft, None, confirmed_name=typed)
    assert not draft.runs.exists()

    lifecycle.try_one(draft, None, confirmed_name="Prod")
    campaign = lifecycle.launch(draft, None, confirmed_name="Prod")

    with pytest.raises(NotConfirmed):
        lifecycle.extend(campaign, 1, None, confirmed_name=typed)
    lifecycle.extend(campaign, 1, None, confirmed_name="Prod")
    lifecycle.pause(campaign)
    with pytest.raises(NotConfirmed):
        lifecycle.resume(campaign, None, confirmed_name=typed)
    lifecycle.resume(campaign, None, confirmed_name="Prod")


@pytest.mark.usefixtures("production")
def test_a_run_on_a_production_server_is_run_again_only_when_its_name_was_typed(draft):
    campaign = lifecycle.launch(draft, None, confirmed_name="Prod")
    run = campaign.runs.get(position=2)
    Run.objects.filter(pk=run.pk).update(state="failed", finished_at=Now())

    with pytest.raises(NotConfirmed):
        lifecycle.run_again(run, None)
    assert lifecycle.run_again(run, None, confirmed_name="Prod").state == Run.State.PLANNED


def test_any_name_does_for_a_server_that_is_no_production_server(draft):
    assert lifecycle.launch(draft, None, confirmed_name="whatever").state == Campaign.State.RUNNING


def test_each_launch_goes_to_the_end_of_the_queue_and_counts_from_now(target):
    drafted = [drafts.create(check(definition(target=target.pk)), None) for _ in range(3)]

    places = [lifecycle.launch(draft, None) for draft in drafted]

    assert [campaign.queue_place for campaign in places] == [1, 2, 3]
    assert Campaign.objects.filter(counted_from__gte=F("launched_at")).count() == 3


def test_a_campaign_that_is_opened_again_goes_to_the_end_of_the_queue(launched, target):
    Campaign.objects.filter(pk=launched.pk).update(
        state="finished", state_reason="time budget of 2 h is over", closed_at=Now()
    )
    lifecycle.launch(drafts.create(check(definition(target=target.pk)), None), None)

    extended = lifecycle.extend(launched, 1, None)

    assert (extended.queue_place, extended.state_reason) == (3, "")
    assert extended.counted_from > launched.counted_from


def test_an_extension_of_a_running_campaign_leaves_its_place(launched):
    extended = lifecycle.extend(launched, 1, None)

    assert extended.queue_place == launched.queue_place
    assert extended.counted_from == launched.counted_from


def test_resumption_counts_anew(launched):
    lifecycle.pause(launched)
    Campaign.objects.filter(pk=launched.pk).update(state_reason="stopped automatically")

    resumed = lifecycle.resume(launched)

    assert (resumed.queue_place, resumed.state_reason) == (launched.queue_place, "")
    assert resumed.counted_from > launched.counted_from
