"""What a line says of a version, before it was measured and after."""

import pytest

from campaigns.models import Alert, AlertTrend, Point, SubjectVersion, TrendChange
from campaigns.tests.trends.measuring import another, line_from, measured, telling
from campaigns.trends import asking, launching
from campaigns.trends.standing import standing_of

__all__ = ["telling"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    return line_from(measured(target, person, days=9), person)


def judge_all(line):
    for trend in line.trends.all():
        trend.state |= {"p": 0.4}
        trend.save()


def said(line, version="3.2.0", key=""):
    found = standing_of(line, version, key)
    return found.evidence, found.text


def test_a_version_that_was_not_measured_is_not(line):
    assert said(line) == ("not_measured", "core 3.2.0 was not measured by this line.")


def test_a_hook_waits_and_its_campaign_goes_on(line, person):
    asking.ask(line, "build 17", "3.2.0", user=person)
    assert said(line, key="build 17") == (
        "waits", "It waits until the target tells core 3.2.0.",
    )  # fmt: skip

    line.occasions.update(outcome="never_came", reason="The target did not tell it.")
    assert said(line, key="build 17")[0] == "never_came"

    launched, _ = launching.measure(line, person, "hand 1")
    assert said(line, key="hand 1") == ("waits", f"Campaign {launched.campaign_id} measures it.")
    assert said(line)[0] == "waits"


def test_too_little_history_cannot_tell(line, person):
    another(line, person, days=3, core="3.2.0")
    line.trends.update(state={"p": None, "more": 5})

    assert said(line) == (
        "cannot_tell",
        "Whether core 3.2.0 is worse cannot be told: the line has too little history. 5 more sessions are needed.",
    )


def test_nothing_suspected_is_quiet_in_any_spelling(line, person):
    another(line, person, days=3, core="3.2.0")
    judge_all(line)

    assert said(line) == ("quiet", "core 3.2.0 is not suspected to be worse in 2 trends.")
    assert said(line, "3.2")[0] == "quiet"


def test_a_session_without_a_value_says_so(line, person):
    reading = another(line, person, days=3, core="3.2.0")
    Point.objects.filter(reading=reading).update(y=None)

    assert said(line)[0] == "no_value"


@pytest.mark.parametrize(
    ("kind", "evidence", "verb"),
    [("screen", "suspected", "is suspected to be worse"), ("machine", "machine", "is, with the machine, worse")],
    ids=["product", "machine"],
)  # fmt: skip
def test_what_is_suspected_is_named_with_its_size(line, person, kind, evidence, verb):
    reading = another(line, person, days=3, core="3.2.0")
    judge_all(line)
    good, bad = SubjectVersion.objects.order_by("position")
    trend = line.trends.first()
    TrendChange.objects.filter(trend__line=line).delete()
    TrendChange.objects.create(
        trend=trend, kind=kind, direction="worse", reading=reading, good=good, bad=bad,
        estimate=0.06, low=0.02, high=0.10, p=0.01, suspected=True,
    )  # fmt: skip

    found = standing_of(line, "3.2.0")

    assert found.evidence == evidence
    assert (
        found.text == f"core 3.2.0 {verb} than 3.1.0: {trend.label}, +6.2 % (+2.0 … +10.5 %, 95 %)."
    )
    assert (found.campaign, found.sessions, found.trends) == (reading.session.campaign_id, 1, 2)
    assert standing_of(line, "3.1.0").evidence == "quiet"


@pytest.mark.parametrize(
    ("evidence", "handling", "said_of_it"),
    [
        ("confirmed", "new", "confirmed"), ("machine", "new", "machine"), ("unverified", "new", "unverified"),
        ("not_reproduced", "new", "not_reproduced"), ("confirmed", "expected", "quiet"),
        ("confirmed", "not_a_regression", "quiet"),
    ],
    ids=["confirmed", "machine", "unverified", "not-reproduced", "expected", "dismissed"],
)  # fmt: skip
def test_an_alert_says_more_than_a_suspicion(line, person, evidence, handling, said_of_it):
    reading = another(line, person, days=3, core="3.2.0")
    judge_all(line)
    good, bad = SubjectVersion.objects.order_by("position")
    trend = line.trends.first()
    TrendChange.objects.filter(trend__line=line).delete()
    TrendChange.objects.create(
        trend=trend, kind="screen", direction="worse", reading=reading, good=good, bad=bad,
        estimate=0.06, low=0.02, high=0.10, p=0.01, suspected=True,
    )  # fmt: skip
    alert = Alert.objects.create(
        team=line.team, subject="core", good=good, bad=bad, bad_at=reading.at, evidence=evidence,
        handling=handling,
    )  # fmt: skip
    AlertTrend.objects.create(
        alert=alert, trend=trend, direction="worse", kind="screen", reading=reading, seen=reading,
        estimate=0.08, low=0.05, high=0.11, evidence=evidence,
    )  # fmt: skip

    found = standing_of(line, "3.2.0")

    assert found.evidence == said_of_it
    if said_of_it == "confirmed":
        assert found.text == (
            f"core 3.2.0 is confirmed to be worse than 3.1.0: {trend.label}, +8.3 % (+5.1 … +11.6 %, 95 %)."
        )
