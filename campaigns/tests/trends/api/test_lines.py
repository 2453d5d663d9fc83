"""Lines by REST: begin, measure once for a key, change, and read what they hold."""

import pytest

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, Line
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient, own_rates
from campaigns.tests.trends.conftest import person, target, toy
from campaigns.tests.trends.measuring import another, line_from, measured, telling

__all__ = ["own_rates", "person", "target", "telling", "toy"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def api(person):
    return ApiClient(make_token(person, "laptop")[1])


@pytest.fixture
def line(telling, target, person):
    return line_from(measured(target, person, days=9), person)


def test_a_line_begins_with_a_campaign(telling, target, person, api):
    campaign = measured(target, person)

    code, line = api.post("lines", {"campaign": campaign.pk, "name": "Nightly", "subject": "core"})

    assert (code, line["state"], line["cron"], line["due_at"]) == (201, "on", "", None)
    assert api.get(f"lines/{line['id']}")[1] == line
    assert api.get("lines", state="on")[1]["results"] == [line]


def test_what_is_no_line_is_refused_by_field(telling, target, person, api):
    campaign = measured(target, person)

    code, problem = api.post("lines", {"campaign": campaign.pk, "name": "A", "cron": "@daily"})

    assert code == 400
    assert "five fields" in str(problem["errors"])


def test_a_key_is_done_once(line, api):
    first = api.post(f"lines/{line.pk}/occasions", {"key": "build 17"})
    second = api.post(f"lines/{line.pk}/occasions", {"key": "build 17"})

    assert (first[0], second[0], first[1]) == (202, 200, second[1])
    assert first[1]["outcome"] == "launched"
    assert Campaign.objects.get(pk=first[1]["campaign"]).line == line
    code, problem = api.post(f"lines/{line.pk}/occasions", {"key": "build 18"})
    assert (code, "one at a time" in problem["detail"]) == (409, True)
    assert [each["key"] for each in api.get(f"lines/{line.pk}/occasions")[1]["results"]] == [
        "build 17"
    ]


@pytest.mark.parametrize("key", ["", "schedule 2026-12-01T02:30Z", "ä", "a" * 81])
def test_what_is_no_key_is_refused(line, api, key):
    assert api.post(f"lines/{line.pk}/occasions", {"key": key})[0] == 400


@pytest.fixture
def hooking(person):
    return ApiClient(make_token(person, "builds", "trigger")[1])


def test_a_token_that_may_only_trigger_asks_a_line_to_look(line, hooking):
    asked = {"key": "build 17", "trigger": "hook", "version": "3.2.0"}

    first = hooking.post(f"lines/{line.pk}/occasions", asked)
    again = hooking.post(f"lines/{line.pk}/occasions", asked)

    assert (first[0], again[0], first[1]) == (202, 200, again[1])
    assert (first[1]["outcome"], first[1]["hint"], first[1]["trigger"]) == (
        "waits",
        "3.2.0",
        "hook",
    )
    assert first[1]["reason"] == "It waits until the target tells core 3.2.0."
    code, problem = hooking.post(f"lines/{line.pk}/occasions", {"key": "build 18"})
    assert (code, problem["needs"]) == (403, "operate")
    assert hooking.get(f"lines/{line.pk}")[0] == 403
    assert hooking.post(f"lines/{line.pk}/pause")[0] == 403


@pytest.mark.parametrize(
    "body",
    [
        {"key": "a", "version": "3.2.0"},
        {"key": "a", "trigger": "hook", "version": ""},
        {"key": "a", "trigger": "hook", "version": "3 2"},
        {"key": "a", "trigger": "hook", "version": "3" * 101},
        {"key": "a", "trigger": "schedule"},
        {"key": "a", "trigger": None},
        {"key": None},
        {"key": ["a"]},
        {"key": "a", "more": 1},
        [],
    ],
    ids=[
        "of-a-hand",
        "empty",
        "two",
        "long",
        "schedule",
        "null",
        "no-key",
        "list",
        "more",
        "nothing",
    ],
)
def test_strange_hooks_are_refused(line, hooking, api, body):
    assert api.post(f"lines/{line.pk}/occasions", body)[0] == 400
    assert not line.occasions.exists()


def test_more_than_ten_hooks_a_minute_are_too_many(line, hooking):
    codes = [
        hooking.post(f"lines/{line.pk}/occasions", {"key": f"build {number}", "trigger": "hook"})[0]
        for number in range(12)
    ]

    assert codes == [202] * 10 + [429] * 2


def test_it_is_changed_paused_resumed_and_ended(line, api):
    assert api.patch(f"lines/{line.pk}", {"cron": "0 5 * * *"})[1]["cron"] == "0 5 * * *"
    assert api.post(f"lines/{line.pk}/pause")[1]["state"] == "paused"
    assert api.post(f"lines/{line.pk}/resume")[1]["state"] == "on"
    assert api.post(f"lines/{line.pk}/end")[1]["state"] == "ended"
    assert api.post(f"lines/{line.pk}/pause")[0] == 409
    assert Line.objects.get().name == "Engines, nightly"


def test_readings_trends_and_points_are_told(line, person, api):
    another(line, person, days=3, core="3.2.0", kernel="6.12")

    readings = api.get(f"lines/{line.pk}/readings")[1]["results"]
    trends = api.get(f"lines/{line.pk}/trends")[1]["results"]
    points = api.get(f"trends/{trends[0]['id']}/points")[1]["results"]

    assert [(each["version"], each["position"], each["environment"]) for each in readings] == [
        ("3.1.0", 0, 0),
        ("3.2.0", 1, 1),
    ]
    assert readings[1]["border"] == "Target: kernel changed from 6.1 to 6.12"
    assert readings[1]["facts"]["target: kernel"] == "6.12"
    assert [each["levels"] for each in trends] == [{"engine": "new"}, {"engine": "old"}]
    assert trends[0]["newest"] == pytest.approx(points[1]["value"])
    assert [(each["runs"], each["flags"]) for each in points] == [(3, []), (3, [])]


def test_a_viewer_reads_and_changes_nothing(line):
    api = ApiClient(make_token(somebody("vic", "viewer"), "laptop")[1])

    assert api.get(f"lines/{line.pk}")[0] == 200
    assert api.post(f"lines/{line.pk}/occasions", {"key": "a"})[0] == 403
