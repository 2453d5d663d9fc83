"""Lines that load a production server: only with a second operator, and only what was approved."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import Announcement, Membership, Target, Team
from campaigns.tests.people import somebody
from campaigns.tests.trends.measuring import line_from, measured, telling
from campaigns.trends import approvals, launching, lines

__all__ = ["telling"]
pytestmark = pytest.mark.django_db
PAUSED = "“{}” is a production server. A second operator has to approve the line first."


@pytest.fixture
def second(db):
    return somebody("ada", "operator")


@pytest.fixture
def line(telling, target, person, second):
    campaign = measured(target, person, days=9)
    Target.objects.filter(pk=target.pk).update(is_production=True)
    campaign.refresh_from_db()
    return line_from(campaign, person)


@pytest.fixture
def approved(line, second):
    return lines.approve(line, second)


def attend(line, **later):
    line.refresh_from_db()
    launching.attend((line.due_at or timezone.now()) + timedelta(**later))
    line.refresh_from_db()


def test_it_waits_for_a_second_operator_who_is_told(line, second, target, person):
    assert (line.state, line.due_at) == ("paused", None)
    assert line.state_reason == PAUSED.format(target.name)
    told = Announcement.objects.get(kind="launch_asked")
    assert told.to == [second.pk]
    assert told.data["path"] == reverse("line", args=[line.pk])
    with pytest.raises(NotPossible, match="A second operator has to approve"):
        launching.measure(line, person, "hand 1")


def test_an_approved_line_is_launched_as_its_owner(approved, person):
    assert (approved.state, approved.state_reason) == ("on", "")

    attend(approved, seconds=1)

    campaign = approved.campaigns.get(state="running")
    assert approved.occasions.get().outcome == "launched"
    assert campaign.launched_at


def test_a_rule_of_two_people_is_kept_by_the_approval(approved):
    Team.objects.update(second_for_production=True)

    attend(approved, seconds=1)

    assert approved.occasions.get().outcome == "launched"


def test_the_owner_approves_nothing_and_a_viewer_neither(line, person):
    with pytest.raises(NotAllowed, match="You own this line"):
        lines.approve(line, person)
    with pytest.raises(NotAllowed):
        lines.approve(line, somebody("vic", "viewer"))


def test_a_line_of_another_server_needs_no_approval(telling, target, person, second):
    line = line_from(measured(target, person), person)

    assert line.state == "on"
    with pytest.raises(NotPossible, match="nothing to approve"):
        lines.approve(line, second)


@pytest.mark.parametrize(
    "changed",
    [{"cron": "0 5 * * *"}, {"minutes_a_week": 700}, {"by_version": True}, {"sessions_per_version": 2}],
    ids=lambda changed: next(iter(changed)),
)  # fmt: skip
def test_a_change_makes_the_approval_void(approved, person, changed):
    line = lines.change(approved, lines.description_of(approved) | changed, person)

    assert line.state == "paused"
    assert "What was approved has changed since" in line.state_reason


def test_another_name_changes_nothing(approved, person):
    line = lines.change(approved, lines.description_of(approved) | {"name": "Other"}, person)

    assert line.state == "on"


def test_another_address_is_found_at_the_launch(approved):
    Target.objects.filter(pk=approved.target_id).update(base_url="http://127.0.0.1:9/other")

    attend(approved, seconds=1)

    assert approved.occasions.get().outcome == "refused"
    assert approved.state == "paused"
    assert approved.campaigns.count() == 1


def test_an_approval_ends(approved):
    approved.approvals.update(until=timezone.now() - timedelta(days=1))

    attend(approved, seconds=1)

    assert "Its approval ended on" in approved.state_reason


def test_an_owner_who_is_gone_makes_it_void_and_who_resumes_it_needs_another(
    approved, person, second
):
    Membership.objects.filter(user=person).update(roles=["viewer"])
    attend(approved, seconds=1)
    assert "may not launch campaigns" in approved.state_reason

    lines.resume(approved, second)
    approved.refresh_from_db()

    assert (approved.owner, approved.state) == (second, "paused")
    with pytest.raises(NotAllowed, match="You own"):
        lines.approve(approved, second)
    assert lines.approve(approved, somebody("cleo", "operator")).state == "on"


def test_a_server_that_becomes_production_pauses_its_lines(telling, target, person, second):
    line = line_from(measured(target, person), person)
    Target.objects.filter(pk=target.pk).update(is_production=True)

    attend(line, seconds=1)

    assert line.state == "paused"
    assert line.campaigns.count() == 1


def test_who_paused_it_by_hand_resumes_it(approved, person, second):
    lines.pause(approved, person)

    assert lines.approve(approved, second).state == "paused"
    assert lines.resume(approved, person).state == "on"
    assert not approvals.why_unapproved(approved, timezone.now())


def test_the_button_is_for_the_second_operator(line, second, person):
    path = reverse("line-approve", args=[line.pk])

    def page_of(user):
        browser = Client()
        browser.force_login(user)
        return browser, browser.get(reverse("line", args=[line.pk])).content.decode()

    assert path not in page_of(person)[1]
    browser, page = page_of(second)
    assert path in page
    browser.post(path)

    line.refresh_from_db()
    assert line.state == "on"
