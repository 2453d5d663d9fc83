"""Alerts of suspected changes: one for what moved together, judged by what is measured again, handled by people, and kept."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.revisions import Changed, revision_of
from campaigns.kit.rights import NotAllowed
from campaigns.models import (
    Alert,
    AlertTrend,
    Announcement,
    Campaign,
    Confirmation,
    Line,
    Membership,
    Mute,
    Point,
    Reading,
    Setting,
    Trend,
    TrendWord,
)
from campaigns.reviews.comments.inbox import inbox_line
from campaigns.reviews.inbox import count, waiting
from campaigns.tests.measured import finish, store
from campaigns.tests.people import somebody
from campaigns.tests.trends.histories import remembered
from campaigns.tests.trends.measuring import line_from, measured, telling
from campaigns.trends import alerts, attending, confirming, handling, mutes, readings
from campaigns.trends.alert_facts import sentences
from campaigns.trends.standing import standing_of

__all__ = ["telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    """A line of two trends by the versions of core, with a build that switches them."""
    Setting.objects.create(
        target=target, name="core", type="text", is_build=True,
        apply={"way": "http", "method": "PUT", "url": "/core", "body": {"value": "{value}"}},
        read_back={"way": "http", "url": "/core", "at": "value"},
    )  # fmt: skip
    made = line_from(measured(target, person, days=40), person)
    assert made.switch is not None
    return made


def suspected(line, levels=(8,), **more):
    """Twelve quiet sessions, and then these; then what follows."""
    remembered(line, [0] * 12 + list(levels), **more)
    readings.rebuild(line)
    confirming.extend(line)
    return Alert.objects.order_by("pk").first()


def again(confirmation, *, old=10.0, new=10.0, wobble=0.004):
    """Let the campaign of a confirmation end, with so many seconds of the old and the new version."""
    campaign = Campaign.objects.get(pk=confirmation.campaign_id)
    seconds = {str(confirmation.good): old, str(confirmation.bad): new}

    def value(run):
        level = run.cell.levels_by_factor["core"]
        place = 7 * run.block.number + 3 * run.cell.position
        return seconds[level] * (1 + wobble * (place % 5 - 2))

    store(campaign, value)
    finish(campaign)
    confirming.after_analysis(campaign, readings.extend(campaign))
    confirmation.refresh_from_db()
    return confirmation


class TestSuspected:
    def test_one_alert_opens_for_all_trends_and_nobody_is_called(self, line):
        alert = suspected(line)

        assert Alert.objects.count() == 1
        assert alert.trends.count() == 2
        assert (str(alert.good), str(alert.bad)) == ("3.211.0", "3.212.0")
        assert (alert.evidence, alert.handling) == ("suspected", "new")
        assert not Announcement.objects.filter(kind__startswith="alert").exists()
        said = sentences(alert)
        assert said.verdict.startswith("core 3.212.0 may be 8.5 % slower than 3.211.0: Duration")
        assert said.certainty.endswith("seen by the newest sessions, and being measured again.")
        assert said.caveat == "1 other trend moved, too."

    def test_the_same_analysis_twice_opens_one_alert_and_plans_one_confirmation(self, line):
        suspected(line)
        confirming.extend(line)
        readings.rebuild(line)
        attending.attend(timezone.now())

        assert Alert.objects.count() == Confirmation.objects.count() == 1
        assert Campaign.objects.filter(confirmations__isnull=False).count() == 1

    def test_old_and_new_are_measured_side_by_side_each_installed_anew(self, line, person):
        suspected(line)

        campaign = Campaign.objects.get(confirmations__isnull=False)
        assert (campaign.state, campaign.author, campaign.anew) == ("running", person, True)
        assert campaign.order == "interleaved"
        assert campaign.line is None, "its runs enter no plateau"
        factors = {
            each.name: [level.value for level in each.levels.all()]
            for each in campaign.factors.all()
        }
        assert factors == {"core": ["3.211.0", "3.212.0"], "engine": ["new", "old"]}
        assert campaign.repetitions == Confirmation.objects.get().pairs == 6
        assert (campaign.primary_contrast or {})["candidate"] == "3.212.0"

    def test_what_is_better_is_listed_and_not_measured_again(self, line):
        alert = suspected(line, [-8])

        assert (alert.direction, alert.evidence) == ("better", "suspected")
        assert not Confirmation.objects.exists()
        attending.attend(timezone.now())
        assert not Announcement.objects.filter(kind="alert_confirmed").exists()

    def test_a_line_that_asks_waits_for_an_operator(self, line, person):
        Line.objects.filter(pk=line.pk).update(confirm="ask")
        line.refresh_from_db()
        alert = suspected(line)
        assert not Confirmation.objects.exists()

        assert confirming.plan(alert, line, person) == Confirmation.objects.get(way="pairs")
        with pytest.raises(NotAllowed):
            confirming.plan(alert, line, somebody("viewer", "viewer", team=line.team))

    def test_no_session_of_the_line_is_measured_between_the_builds(self, line, person):
        from campaigns.trends import launching

        suspected(line)
        Line.objects.filter(pk=line.pk).update(due_at=timezone.now() - timedelta(seconds=1))
        launching.attend()
        assert line.occasions.get().outcome == "skipped"


class TestJudged:
    def test_a_slower_product_is_confirmed_and_people_are_told_once(self, line):
        alert = suspected(line)
        done = again(Confirmation.objects.get(), new=10.8)
        attending.attend(timezone.now())
        attending.attend(timezone.now())

        alert.refresh_from_db()
        assert (done.outcome, alert.evidence, alert.closed) == ("confirmed", "confirmed", "")
        told = Announcement.objects.get(kind="alert_confirmed")
        assert re.match(
            r"core 3.212.0 is 8\.\d % slower than 3.211.0: Duration: Engine", told.data["what"]
        )
        assert told.data["path"] == f"/alerts/{alert.pk}/"
        assert sentences(alert).certainty.endswith("6 pairs, each side installed anew.")
        assert line.readings.count() == 14, "the pairs are no session of the line"

    def test_a_machine_that_moved_is_no_products_fault_and_ends_the_environment(self, line):
        alert = suspected(line)
        done = again(Confirmation.objects.get(), old=10.9, new=10.9)
        attending.attend(timezone.now())

        alert.refresh_from_db()
        assert (done.outcome, alert.evidence, alert.closed) == ("machine", "machine", "machine")
        assert not Announcement.objects.filter(kind="alert_confirmed").exists()
        newest = line.readings.order_by("at").last()
        assert newest.border == {"unknown": True}
        assert newest.environment == 1
        readings.rebuild(line)
        confirming.extend(line)
        assert Alert.objects.count() == 1, "to compute it again brings nothing back"

    def test_both_are_told_apart(self, line):
        alert = suspected(line)
        done = again(Confirmation.objects.get(), old=10.9, new=11.8)

        alert.refresh_from_db()
        assert (done.outcome, alert.evidence) == ("confirmed_and_machine", "confirmed")
        assert sentences(alert).caveat.startswith(
            "The machine changed, too: 3.211.0 is not as it was in its own history."
        )

    def test_what_is_seen_once_is_marked_and_not_suspected_again(self, line):
        alert = suspected(line)
        done = again(Confirmation.objects.get())

        alert.refresh_from_db()
        assert (done.outcome, alert.closed) == ("not_reproduced", "not_reproduced")
        newest = line.readings.order_by("at").last()
        assert set(Point.objects.filter(once=True).values_list("reading", flat=True)) == {newest.pk}
        assert TrendWord.objects.filter(word="once").count() == 2
        readings.rebuild(line)
        confirming.extend(line)
        assert Alert.objects.count() == Confirmation.objects.count() == 1
        assert sentences(alert).verdict.startswith(
            "core 3.212.0 is not shown to be slower than 3.211.0"
        )

    def test_a_second_time_within_ten_sessions_it_is_the_machine(self, line):
        suspected(line)
        again(Confirmation.objects.get())
        remembered(line, [8, 8, 8], versions=["3.213.0", "3.214.0", "3.215.0"])
        readings.rebuild(line)
        confirming.extend(line)
        second = Alert.objects.latest("pk")
        assert second.evidence == "suspected"
        done = again(Confirmation.objects.get(outcome=""))

        second.refresh_from_db()
        assert (done.outcome, second.evidence) == ("machine", "machine")
        assert str(Reading.objects.get(border__unknown=True).version) == "3.212.0"

    def test_without_an_answer_three_times_the_alert_stays_open_and_says_why(self, line, target):
        alert = suspected(line)
        row = Confirmation.objects.get()
        Campaign.objects.filter(confirmations=row).update(
            state="cancelled", closed_at=timezone.now()
        )
        attending.attend(timezone.now())

        alert.refresh_from_db()
        row.refresh_from_db()
        assert (row.outcome, alert.evidence, alert.closed) == ("unverified", "unverified", "")
        assert "was cancelled" in sentences(alert).certainty

    def test_an_owner_who_lost_the_right_launches_nothing(self, line, person):
        Membership.objects.filter(user=line.owner).update(roles=["viewer"])
        line.owner.is_superuser = False
        line.owner.save()
        alert = suspected(line)
        row = Confirmation.objects.get()
        assert row.campaign is None
        assert "may not launch campaigns" in row.reason
        for hours in (2, 4):
            attending.attend(timezone.now() + timedelta(hours=hours))
        alert.refresh_from_db()
        assert alert.evidence == "unverified"


class TestRepeated:
    @pytest.fixture
    def plain(self, line):
        Line.objects.filter(pk=line.pk).update(switch=None)
        line.refresh_from_db()
        return line

    def test_two_further_sessions_of_the_version_repeat_it(self, plain):
        alert = suspected(plain)
        assert Confirmation.objects.get().way == "sessions"
        remembered(plain, [8, 8], versions=["3.212.0"] * 2)
        readings.rebuild(plain)
        confirming.extend(plain)

        alert.refresh_from_db()
        assert (alert.evidence, alert.closed) == ("repeated", "")
        said = sentences(alert)
        assert said.certainty.endswith("2 further sessions.")
        assert said.caveat.startswith("Product or machine is not known: the line has no build")

    def test_two_further_sessions_that_are_as_before_do_not(self, plain):
        alert = suspected(plain)
        remembered(plain, [0, 0], versions=["3.212.0"] * 2)
        readings.rebuild(plain)
        confirming.extend(plain)

        alert.refresh_from_db()
        assert alert.closed == "not_reproduced"

    def test_the_line_is_measured_again_twelve_hours_later(self, plain):
        suspected(plain, days_a_session=3.07)
        last = plain.readings.order_by("at").last().at
        attending.attend(last + timedelta(hours=11))
        assert not plain.occasions.exists()
        attending.attend(last + timedelta(hours=13))
        attending.attend(last + timedelta(hours=13))
        assert [each.trigger for each in plain.occasions.all()] == ["again"]

    def test_another_version_meanwhile_leaves_it_unverified(self, plain):
        alert = suspected(plain)
        remembered(plain, [0])
        readings.rebuild(plain)
        confirming.extend(plain)

        alert.refresh_from_db()
        assert alert.evidence == "unverified"
        assert "no longer 3.212.0" in alert.evidence_reason


class TestTold:
    def test_at_most_three_an_hour_and_team_the_others_later(self, line):
        trend, reading = Trend.objects.earliest("pk"), Reading.objects.latest("pk")
        now = timezone.now()
        for _ in range(5):
            alert = Alert.objects.create(team=line.team, bad_at=now, evidence="confirmed")
            AlertTrend.objects.create(
                alert=alert, trend=trend, direction="worse", kind="screen", reading=reading,
                seen=reading, evidence="confirmed", is_open=False,
            )  # fmt: skip
        assert [alerts.tell(now), alerts.tell(now)] == [3, 0]
        Announcement.objects.update(at=now - timedelta(minutes=61))
        assert alerts.tell(now) == 2

    def test_the_digest_is_silent_when_there_is_nothing_and_once_a_day(self, line):
        morning = timezone.now().replace(hour=7, minute=0)
        Line.objects.update(cron="")
        Reading.objects.update(border=None)
        assert attending.tell_digests(morning) == 0
        suspected(line)
        again(Confirmation.objects.get(), new=10.8)
        assert attending.tell_digests(morning - timedelta(minutes=1)) == 0
        assert attending.tell_digests(morning) == 1
        assert attending.tell_digests(morning + timedelta(hours=2)) == 0
        assert (
            " % slower than 3.211.0: Duration"
            in Announcement.objects.get(kind="lines_digest").data["words"]
        )


def test_it_waits_in_the_inbox_of_those_who_may_handle_it(line, person):
    suspected(line)
    assert [each.why for each in waiting(person)] == []
    again(Confirmation.objects.get(), new=10.8)
    viewer = somebody("viewer", "viewer", team=line.team)
    (item,) = waiting(person)
    said = inbox_line(item)
    assert (said.what, said.words) == (
        "core 3.212.0",
        "Worse than 3.211.0: confirmed. Take it, or say what it is.",
    )
    assert (count(person), count(viewer)) == (1, 0)
    handling.handle(Alert.objects.get(), "take", handling.Said(), person)
    assert count(person) == 0


class TestMuted:
    def test_nothing_is_called_or_measured_again_until_it_ends(self, line, person):
        mutes.begin(line.team, mutes.Scope(line=line), person, days=5, reason="A migration.")
        assert suspected(line) is None
        Mute.objects.update(until=timezone.now() - timedelta(seconds=1))
        confirming.extend(line)
        assert Alert.objects.count() == 1

    def test_it_ends_with_the_version_that_it_was_for(self, line, person):
        remembered(line, [0] * 12)
        readings.rebuild(line)
        version = line.readings.order_by("at").last().version
        mutes.begin(
            line.team, mutes.Scope(line=line), person, days=5, reason="Wait.", until_version=version
        )
        confirming.extend(line)
        assert Mute.objects.get().ended_at is not None

    @pytest.mark.parametrize(
        ("change", "field"),
        [({"days": 91}, "days"), ({"days": 0}, "days"), ({"reason": " "}, "reason")],
        ids=["long", "none", "no reason"],
    )
    def test_what_is_no_mute_is_refused(self, line, person, change, field):
        with pytest.raises(Invalid) as refused:
            mutes.begin(
                line.team, mutes.Scope(line=line), person, **({"days": 5, "reason": "x"} | change)
            )
        assert field in refused.value.errors

    def test_its_author_is_told_a_week_before(self, line, person):
        mutes.begin(line.team, mutes.Scope(metric="duration"), person, days=30, reason="Noisy.")
        now = timezone.now()
        assert attending.tell_of_mutes(now) == 0
        assert attending.tell_of_mutes(now + timedelta(days=24)) == 1
        assert attending.tell_of_mutes(now + timedelta(days=24)) == 0
        told = Announcement.objects.get(kind="lines_digest")
        assert told.to == [person.pk]


class TestHandled:
    @pytest.fixture
    def alert(self, line):
        suspected(line)
        again(Confirmation.objects.get(), new=10.8)
        return Alert.objects.get()

    def handle(self, alert, word, user, **said):
        return handling.handle(alert, word, handling.Said(**said), user)

    def test_it_is_taken_and_handed_over(self, alert, person, line):
        colleague = somebody("colleague", "author", team=line.team)
        self.handle(alert, "take", person)
        alert.refresh_from_db()
        assert (alert.owner, alert.handling, alert.evidence) == (
            person,
            "acknowledged",
            "confirmed",
        )
        self.handle(alert, "assign", person, person="colleague")
        assert Announcement.objects.get(kind="alert_assigned").to == [colleague.pk]
        with pytest.raises(Invalid, match="Name an author"):
            self.handle(alert, "assign", person, person="nobody")

    @pytest.mark.parametrize(
        ("word", "handled"),
        [("expect", "expected"), ("dismiss", "not_a_regression")],
        ids=["expected", "dismissed"],
    )
    def test_what_people_decide_survives_a_computing_of_all(
        self, alert, person, line, word, handled
    ):
        with pytest.raises(Invalid, match="Say why"):
            self.handle(alert, word, person)
        self.handle(alert, word, person, reason="The price of a new feature.")
        alert.refresh_from_db()
        assert (alert.handling, alert.closed) == (handled, handled)
        remembered(line, [8, 8], versions=["3.213.0", "3.214.0"])
        readings.rebuild(line)
        confirming.extend(line)
        assert Alert.objects.count() == 1

    def test_what_is_fixed_and_is_not_opens_again(self, alert, person, line):
        self.handle(alert, "fix", person, version="3.213.0")
        alert.refresh_from_db()
        assert (alert.closed, str(alert.fixed_in)) == ("fixed", "3.213.0")
        remembered(line, [8], versions=["3.213.0"])
        readings.rebuild(line)
        confirming.extend(line)
        alert.refresh_from_db()
        assert alert.closed == "fixed", "two sessions tell it"
        remembered(line, [8], versions=["3.214.0"])
        readings.rebuild(line)
        confirming.extend(line)
        alert.refresh_from_db()
        assert (alert.closed, alert.handling) == ("", "new")
        assert Alert.objects.count() == 1
        told = Announcement.objects.get(kind="alert_reopened")
        assert told.data["what"].endswith("2 sessions of 3.213.0 or later are not better.")

    def test_what_is_fixed_stays_closed(self, alert, person, line):
        self.handle(alert, "fix", person, version="3.213.0")
        remembered(line, [0, 0], versions=["3.213.0", "3.214.0"])
        readings.rebuild(line)
        confirming.extend(line)
        alert.refresh_from_db()
        assert alert.closed == "fixed"

    def test_it_recovers_by_itself_and_comes_back_if_it_is_worse_again(self, alert, line):
        remembered(line, [0, 0, 0], versions=["3.213.0", "3.214.0", "3.215.0"], wobble=0.3)
        readings.rebuild(line)
        confirming.extend(line)
        alert.refresh_from_db()
        assert alert.closed == "recovered"

    def test_it_is_opened_again_by_a_person(self, alert, person, line):
        self.handle(alert, "dismiss", person, reason="Noise.")
        self.handle(alert, "reopen", person)
        alert.refresh_from_db()
        assert (alert.closed, alert.handling) == ("", "new")
        assert alert.trends.filter(is_open=True).count() == 2

    def test_a_lost_update_is_refused(self, alert, person):
        seen = [revision_of(handling.description_of(alert))]
        self.handle(alert, "take", person)
        with pytest.raises(Changed):
            handling.handle(alert, "dismiss", handling.Said(reason="x"), person, seen)

    def test_a_viewer_handles_nothing_and_an_author_has_nothing_measured(self, alert, line):
        viewer, author = (somebody(name, name, team=line.team) for name in ("viewer", "author"))
        with pytest.raises(NotAllowed):
            self.handle(alert, "take", viewer)
        with pytest.raises(NotAllowed):
            self.handle(alert, "confirm", author)

    def test_what_is_confirmed_has_nothing_to_measure_again(self, alert, person):
        with pytest.raises(NotPossible, match="nothing to measure again"):
            self.handle(alert, "confirm", person)


class TestStanding:
    def test_a_line_says_of_a_version_what_was_found_when_it_was_measured_again(self, line, person):
        suspected(line)
        assert standing_of(line, "3.212.0").evidence == "suspected"
        again(Confirmation.objects.get(), new=10.8)
        found = standing_of(line, "3.212.0")
        assert found.evidence == "confirmed"
        assert re.match(r"core 3.212.0 is confirmed to be worse than 3.211.0: Duration", found.text)
        handling.handle(Alert.objects.get(), "expect", handling.Said(reason="A feature."), person)
        assert standing_of(line, "3.212.0").evidence == "quiet"

    def test_what_was_seen_once_is_said_as_such(self, line):
        suspected(line)
        again(Confirmation.objects.get())
        assert standing_of(line, "3.212.0").evidence == "not_reproduced"
