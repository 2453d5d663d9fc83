"""Versions that a probe sees, and hooks: what is launched for them, once, and what becomes of the rest."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import Attempt, Occasion, Setting, Target
from campaigns.tests.people import somebody
from campaigns.tests.trends.measuring import another, ended, line_from, measured, telling
from campaigns.trends import asking, launching, lines, readings

__all__ = ["telling"]
pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def line(telling, target, person):
    return line_from(measured(target, person, days=9), person, cron="", by_version=True)


def probed(line, version, *, seconds=0, health="ready"):
    """The target of a line, as a probe so long after now found it."""
    proofs = [{"name": "core", "expected": "any", "measured": version, "unit": "", "ok": True}]
    at = NOW + timedelta(seconds=seconds)
    Target.objects.filter(pk=line.target_id).update(
        proofs=proofs, probed_at=at, health=health, base_url=line.target.base_url
    )
    launching.attend(at + timedelta(seconds=1))


def told(line):
    return list(line.occasions.order_by("pk").values_list("key", "outcome"))


def hook(line, person, hint="", key="build 17", at=NOW):
    occasion, _ = asking.ask(line, key, hint, user=person)
    Occasion.objects.filter(pk=occasion.pk).update(due_at=at)
    return Occasion.objects.get(pk=occasion.pk)


def test_a_version_that_two_probes_see_is_measured_once(line):
    probed(line, "3.2.0")
    probed(line, "3.2.0", seconds=30)
    assert told(line) == []

    probed(line, "3.2.0", seconds=60)
    probed(line, "3.2.0", seconds=120)

    assert told(line) == [("version 3.2.0 #1", "launched")]
    campaign = line.campaigns.get(state="running")
    ended(campaign, core="3.2.0")
    readings.extend(campaign)
    probed(line, "3.2.0", seconds=180)
    assert len(told(line)) == 1
    assert line.campaigns.count() == 2


def test_a_version_that_comes_during_a_campaign_is_measured_after_it(line, person):
    first, _ = launching.measure(line, person, "hand 1")
    assert first.campaign
    for seconds in (0, 60, 120):
        probed(line, "3.2.0", seconds=seconds)
    assert told(line)[1:] == [(f"version 3.2.0 during {first.campaign_id}", "merged")]

    ended(first.campaign)
    readings.extend(first.campaign)
    probed(line, "3.2.0", seconds=180)

    assert told(line)[2:] == [("version 3.2.0 #1", "launched")]


@pytest.mark.parametrize("version", ["3.1.0", "3.1", "3.01.0"])
def test_a_version_that_was_measured_is_no_occasion_in_any_spelling(line, version):
    for seconds in (0, 60, 120):
        probed(line, version, seconds=seconds)

    assert told(line) == []


def test_a_version_that_goes_again_is_none(line):
    probed(line, "3.2.0")
    probed(line, "3.1.0", seconds=60)
    probed(line, "3.2.0", seconds=120)

    assert told(line) == []


def test_a_target_that_is_not_ready_tells_nothing(line):
    for seconds in (0, 60, 120):
        probed(line, "3.2.0", seconds=seconds, health="unreachable")

    assert told(line) == []


def test_a_build_that_a_campaign_has_switched_is_no_version(line):
    setting = Setting.objects.create(
        target=line.target, name="pulpcore", is_build=True, apply={}, read_back={}
    )
    setting.found.create(value="3.1.0")

    for seconds in (0, 60):
        probed(line, "3.2.0", seconds=seconds)

    assert told(line) == []


def test_a_torn_session_is_repeated_once(line):
    for _ in range(3):
        seconds = 60 * line.occasions.count() * 10
        probed(line, "3.2.0", seconds=seconds)
        probed(line, "3.2.0", seconds=seconds + 60)
        running = line.campaigns.filter(state="running").first()
        if running:
            ended(running, core="3.1.0", after={"core": "3.2.0"})
            readings.extend(running)

    assert told(line) == [("version 3.2.0 #1", "launched"), ("version 3.2.0 #2", "launched")]


def test_as_many_sessions_as_it_says(line, person):
    lines.change(line, lines.description_of(line) | {"sessions_per_version": 2}, person)
    for seconds in (0, 60, 120, 180):
        probed(line, "3.2.0", seconds=seconds)
        running = line.campaigns.filter(state="running").first()
        if running:
            ended(running, core="3.2.0")
            readings.extend(running)

    assert [key for key, _ in told(line)] == ["version 3.2.0 #1", "version 3.2.0 #2"]


def test_a_version_of_many_letters_has_a_key(line):
    for seconds in (0, 60, 120):
        probed(line, "3.2.0" + "0" * 9000, seconds=seconds)

    assert [outcome for _, outcome in told(line)] == ["launched"]


def test_a_version_waits_for_quiet_hours_and_for_minutes(line):
    Target.objects.filter(pk=line.target_id).update(quiet_hours="daily 00:00-23:59")
    probed(line, "3.2.0")
    probed(line, "3.2.0", seconds=60)
    assert told(line) == [("version 3.2.0 #1", "waits")]

    Target.objects.filter(pk=line.target_id).update(quiet_hours="")
    probed(line, "3.2.0", seconds=120)

    assert told(line) == [("version 3.2.0 #1", "launched")]


def test_minutes_that_are_used_up_make_a_version_wait(line, person):
    Attempt.objects.filter(run__campaign__line=line).update(
        claimed_at=NOW - timedelta(hours=11), finished_at=NOW - timedelta(hours=1)
    )
    probed(line, "3.2.0")
    probed(line, "3.2.0", seconds=60)

    occasion = line.occasions.get()
    assert occasion.outcome == "waits"
    assert "together more than the 600 minutes that it has" in occasion.reason


def test_a_line_by_time_or_from_outside_sees_no_versions(telling, target, person):
    campaign = measured(target, person)

    with pytest.raises(Invalid, match="knows no versions"):
        line_from(campaign, person, subject="", by_version=True)


def test_a_hook_looks_and_measures_what_is_installed(line, person):
    asked = hook(line, person)
    assert (asked.outcome, asked.reason) == (
        "waits", "It waits until the target was probed, and is ready.",
    )  # fmt: skip

    probed(line, "3.2.0", seconds=5)

    asked.refresh_from_db()
    assert (asked.outcome, asked.campaign.state) == ("launched", "running")
    assert asked.campaign.line == line


def test_a_hook_for_what_was_measured_is_skipped(line, person):
    asked = hook(line, person)

    probed(line, "3.1.0", seconds=5)

    asked.refresh_from_db()
    assert asked.outcome == "skipped"
    assert asked.reason == (
        "core 3.1.0 was measured in 1 session already, and hooks measure a version in 1 session."
    )


def test_a_hook_waits_for_its_version(line, person):
    asked = hook(line, person, "3.2")
    probed(line, "3.1.0", seconds=5)
    asked.refresh_from_db()
    assert asked.reason == "It waits until the target tells core 3.2; it tells 3.1.0."

    probed(line, "3.2.0", seconds=50)

    asked.refresh_from_db()
    assert asked.outcome == "launched"


def test_a_version_that_does_not_come_never_came(line, person):
    asked = hook(line, person, "3.2.0", at=NOW - timedelta(hours=6, minutes=1))

    probed(line, "3.1.0", seconds=5)

    asked.refresh_from_db()
    assert asked.outcome == "never_came"
    assert asked.reason == ("The target did not tell core 3.2.0 within 6 hours. It tells 3.1.0.")


def test_a_hook_during_a_campaign_that_measures_its_version_is_merged_into_it(line, person):
    asked = hook(line, person, "3.2.0", at=NOW - timedelta(minutes=1))
    running, _ = launching.measure(line, person, "hand 1")
    assert running.campaign
    probed(line, "3.2.0")
    asked.refresh_from_db()
    assert asked.outcome == "waits"

    ended(running.campaign, core="3.2.0")
    running.campaign.sessions.update(started_at=NOW)
    readings.extend(running.campaign)
    probed(line, "3.2.0", seconds=60)

    asked.refresh_from_db()
    assert (asked.outcome, asked.campaign_id) == ("merged", running.campaign_id)
    assert asked.reason == f"Campaign {running.campaign_id} measured core 3.2.0."


def test_a_hook_is_asked_once_for_a_key_and_not_by_everybody(line, person):
    first, is_new = asking.ask(line, "build 17", "3.2.0", user=person)
    again, is_another = asking.ask(line, "build 17", "3.3.0", user=person)

    assert (first, is_new, is_another) == (again, True, False)
    with pytest.raises(NotAllowed):
        asking.ask(line, "build 18", user=somebody("vic", "viewer"))


def test_a_hook_of_a_paused_line_is_refused_and_of_an_ended_one_not_possible(line, person):
    lines.pause(line, person)
    assert asking.ask(line, "a", user=person)[0].outcome == "refused"
    lines.resume(line, person)
    lines.end(line, person)

    with pytest.raises(NotPossible, match="has ended"):
        asking.ask(line, "b", user=person)


def test_beyond_ten_sessions_a_version_is_scheduled_once_a_week(line, person):
    lines.change(line, lines.description_of(line) | {"cron": "30 2 * * *"}, person)
    line.refresh_from_db()
    for days in range(1, 10):
        another(line, person, days=days)
    assert line.readings.count() == 10
    Target.objects.filter(pk=line.target_id).update(
        proofs=[{"name": "core", "measured": "3.1.0"}], probed_at=NOW, health="ready"
    )

    launching.attend(line.due_at + timedelta(seconds=1))

    occasion = line.occasions.get()
    assert occasion.outcome == "skipped"
    assert "was measured in 10 sessions" in occasion.reason
    assert "once a week" in occasion.reason


def test_occasions_of_long_ago_are_forgotten(line, person):
    asked = hook(line, person, at=NOW - timedelta(days=401))
    Occasion.objects.filter(pk=asked.pk).update(outcome="skipped")

    assert launching.forget_old() == 1
