"""Lines: how one begins, what becomes of its occasions, and who may have it measured."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import AuditEvent, Campaign, Line, Membership, Target, Template
from campaigns.planning.templates import make_template
from campaigns.tests.people import somebody
from campaigns.tests.trends.measuring import ended, line_from, measured, telling
from campaigns.trends import launching, lines, readings

__all__ = ["telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    return line_from(measured(target, person, days=9), person)


@pytest.fixture
def due(line):
    """A function that looks at the lines so long after the one is due."""

    def attend(**later):
        line.refresh_from_db()
        launching.attend(line.due_at + timedelta(**later))
        line.refresh_from_db()

    return attend


def outcomes(line):
    return list(line.occasions.order_by("due_at", "pk").values_list("outcome", flat=True))


def test_a_line_begins_with_a_template_of_the_campaign(line):
    campaign = line.campaigns.get()

    assert line.template == campaign.template == Template.objects.get()
    assert (line.name, line.state, line.metrics) == ("Engines, nightly", "on", ["duration"])
    assert line.due_at > timezone.now()
    assert AuditEvent.objects.filter(action="line_created", subject_key=line.pk).exists()


def test_the_template_of_the_campaign_is_taken_where_there_is_one(telling, target, person):
    first = measured(target, person, days=3)
    template = make_template(first, {"name": "Engines", "notes": ""}, person)
    campaigns = [measured(target, person, template=template, days=days) for days in (2, 1)]

    line = line_from(campaigns[-1], person)

    assert line.template == template
    assert set(line.campaigns.all()) == set(campaigns)
    assert line.readings.count() == 2


def test_two_lines_of_the_same_thing_are_refused(line, target, person):
    campaign = measured(target, person, template=line.template)

    with pytest.raises(Invalid, match="open line of this template and target"):
        line_from(campaign, person, name="Again")


def test_a_campaign_that_goes_on_begins_no_line(telling, target, person):
    campaign = measured(target, person)
    Campaign.objects.filter(pk=campaign.pk).update(state="running")

    with pytest.raises(NotPossible, match="begins with a campaign that has ended"):
        line_from(campaign, person)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cron": "@daily"}, "exactly five fields"),
        ({"cron": "* * * * *"}, "at most every 15 minutes"),
        ({"zone": "Europe/Atlantis"}, "no known time zone"),
        ({"minutes_a_week": 0}, "greater than or equal to 1"),
        ({"subject": "nobodys"}, "not one of the available choices"),
        ({"name": ""}, "required"),
        ({"name": "a\x00b"}, "control character|Null characters"),
    ],
    ids=["words", "often", "zone", "minutes", "subject", "name", "control"],
)
def test_what_is_no_line_is_refused_with_a_message(telling, target, person, changes, message):
    with pytest.raises(Invalid, match=message):
        line_from(measured(target, person), person, **changes)

    assert not Line.objects.exists()
    assert not Template.objects.exists()


def test_a_due_line_is_launched_once_as_its_owner(line, due, person):
    at = line.due_at
    due(seconds=20)
    launching.attend(at + timedelta(seconds=50))

    occasion = line.occasions.get()
    assert (occasion.outcome, occasion.due_at, occasion.trigger) == ("launched", at, "schedule")
    assert (occasion.campaign.state, occasion.campaign.line) == ("running", line)
    assert (occasion.campaign.author, occasion.campaign.template) == (person, line.template)
    assert occasion.campaign.runs.count() == 6
    assert line.due_at == at + timedelta(days=1)


def test_nothing_happens_before_it_is_due(line, due):
    due(seconds=-1)

    assert not line.occasions.exists()


def test_an_occasion_that_there_is_already_launches_nothing(line, due):
    at = line.due_at
    due(seconds=1)
    Line.objects.filter(pk=line.pk).update(due_at=at)  # as if the clock had been set back
    due(seconds=1)

    assert line.occasions.count() == 1
    assert line.campaigns.count() == 2


def test_a_process_that_is_killed_leaves_no_half_of_an_occasion(line, due, monkeypatch):
    at = line.due_at

    def killed(*arguments):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(launching, "_settle", killed)
        with pytest.raises(SystemExit):
            launching.attend(at)

    line.refresh_from_db()
    assert (line.due_at, line.occasions.count(), line.campaigns.count()) == (at, 0, 1)
    due(seconds=30)
    assert outcomes(line) == ["launched"]
    assert line.campaigns.count() == 2


def test_one_campaign_of_a_line_at_a_time(line, due):
    due(seconds=1)
    due(seconds=1)

    assert outcomes(line) == ["launched", "skipped"]
    assert "one at a time" in line.occasions.latest("due_at").reason


def test_an_occasion_that_was_missed_long_ago_is_skipped(line, due):
    due(hours=13)

    assert outcomes(line) == ["skipped"]
    assert line.campaigns.count() == 1


def test_quiet_hours_let_it_wait_until_they_end(line, due):
    begin = line.due_at
    Target.objects.filter(pk=line.target_id).update(quiet_hours="daily 02:00-04:00")

    due(seconds=1)
    assert outcomes(line) == ["waits"]
    assert "waits for the end of the quiet hours" in line.occasions.get().reason

    launching.attend(begin + timedelta(minutes=89))
    assert outcomes(line) == ["waits"]
    launching.attend(begin + timedelta(minutes=91))
    assert outcomes(line) == ["launched"]


def test_what_still_waits_at_the_next_occasion_is_skipped(line, due):
    Target.objects.filter(pk=line.target_id).update(quiet_hours="daily 02:00-04:00")
    due(seconds=1)
    due(seconds=1)

    assert outcomes(line) == ["skipped", "waits"]


def test_a_campaign_that_never_fits_between_quiet_hours_is_refused(telling, target, person):
    campaign = measured(target, person)
    Target.objects.filter(pk=target.pk).update(quiet_hours="daily 00:01-24:00")

    with pytest.raises(Invalid, match="leave at most"):
        line_from(campaign, person)


def test_the_minutes_of_a_week_are_kept(line, due):
    campaign = line.campaigns.get()
    attempts = [run.attempts.get() for run in campaign.runs.all()]
    for attempt in attempts:
        attempt.claimed_at = line.due_at - timedelta(hours=2)
        attempt.finished_at = attempt.claimed_at + timedelta(minutes=10)
        attempt.save()
    Line.objects.filter(pk=line.pk).update(minutes_a_week=61)

    due(seconds=1)

    assert outcomes(line) == ["skipped"]
    assert "more than the 61 minutes" in line.occasions.get().reason


def test_an_owner_without_the_right_pauses_the_line(line, due, person):
    Membership.objects.filter(user=person).update(roles=["viewer"])

    due(seconds=1)

    assert outcomes(line) == ["refused"]
    assert line.state == "paused"
    assert "may not launch campaigns" in line.state_reason
    assert line.campaigns.count() == 1


def test_who_resumes_a_line_owns_it(line, due, person):
    Membership.objects.filter(user=person).update(roles=["viewer"])
    due(seconds=1)
    ada = somebody("ada", "operator")

    lines.resume(line, ada)
    line.refresh_from_db()

    assert (line.owner, line.state, line.state_reason) == (ada, "on", "")
    assert line.due_at is not None


def test_a_template_that_was_retired_is_a_reason(line, due):
    Template.objects.filter(pk=line.template_id).update(retired_at=timezone.now())

    due(seconds=1)

    assert outcomes(line) == ["refused"]
    assert "was retired" in line.occasions.get().reason
    assert not Campaign.objects.filter(state="draft").exists()


def test_measuring_by_hand_is_done_once_for_a_key(line, person):
    occasion, is_new = launching.measure(line, person, "hand 1")
    again, is_another = launching.measure(line, person, "hand 1")

    assert (is_new, is_another) == (True, False)
    assert occasion == again
    assert occasion.campaign
    assert (occasion.campaign.state, occasion.asked_by) == ("running", person)
    with pytest.raises(NotPossible, match="one at a time"):
        launching.measure(line, person, "hand 2")


def test_quiet_hours_do_not_hold_back_what_a_person_asks_for(line, person):
    Target.objects.filter(pk=line.target_id).update(quiet_hours="daily 00:00-23:59")

    assert launching.measure(line, person, "hand 1")[0].outcome == "launched"


def test_who_may_not_launch_measures_nothing(line):
    with pytest.raises(NotAllowed):
        launching.measure(line, somebody("vic", "viewer"), "hand 1")


def test_a_paused_line_is_due_no_more_and_an_ended_one_is_over(line, person):
    lines.pause(line, person)
    assert launching.attend(timezone.now() + timedelta(days=3)) == 0
    lines.resume(line, person)
    lines.end(line, person)

    with pytest.raises(NotPossible, match="has ended"):
        launching.measure(line, person, "hand 1")
    with pytest.raises(NotPossible, match="has ended"):
        lines.resume(line, person)


def test_a_bug_of_one_line_does_not_hold_up_the_others(line, due, monkeypatch):
    other = Line.objects.create(
        team=line.team, template=line.template, target=line.target, kind="toy", name="B", subject="b",
        owner=line.owner, cron="nonsense", due_at=line.due_at - timedelta(hours=1),
    )  # fmt: skip

    due(seconds=1)

    other.refresh_from_db()
    assert (other.state, outcomes(line)) == ("paused", ["launched"])
    assert "exactly" in other.state_reason or "no schedule" in other.state_reason


def test_a_session_that_a_killed_worker_left_unread_is_read_later(line, due):
    due(seconds=1)
    ended(line.campaigns.get(state="running"), core="3.2.0")

    launching.attend()
    launching.attend()

    assert line.readings.count() == 2


def test_a_campaign_that_it_launched_becomes_its_next_session(line, due):
    due(seconds=1)
    campaign = line.campaigns.get(state="running")

    ended(campaign, core="3.2.0")
    readings.extend(campaign)

    assert [str(each.version) for each in line.readings.order_by("version__position")] == [
        "3.1.0", "3.2.0",
    ]  # fmt: skip
    assert all(trend.state["sessions"] == 2 for trend in line.trends.all())
