from collections.abc import Callable
from threading import BoundedSemaphore
from time import monotonic

import pytest

from campaigns.kit.api import waiting
from campaigns.models import Campaign
from campaigns.planning import lifecycle
from campaigns.tests.measured import launched

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(target, owner):
    return launched(target, owner)


@pytest.fixture
def places(monkeypatch):
    """Give so many places to wait at."""

    def give(count):
        semaphore = BoundedSemaphore(count) if count else BoundedSemaphore(1)
        if not count:
            semaphore.acquire()
        monkeypatch.setattr(waiting, "_places", lambda: semaphore)

    return give


@pytest.fixture
def looks(monkeypatch):
    """Every look is told to a function, which may change something, and takes no time."""
    told: list[float] = []
    acts: list[Callable[[], object]] = []

    def glance(seconds):
        told.append(seconds)
        for act in acts[len(told) - 1 : len(told)]:
            act()

    monkeypatch.setattr(waiting, "sleep", glance)
    return told, acts


def get(api, campaign, **query):
    query = {"fields": "id,state,version", **query}
    return api.client.get(f"/api/v1/campaigns/{campaign.pk}", query)


def test_what_is_not_so_any_more_is_told_at_once(api, campaign, places, looks):
    places(0)

    answer = get(api, campaign, wait=30, state="draft")

    assert answer.json()["state"] == "running"
    assert "Retry-After" not in answer
    assert looks[0] == []


def test_the_answer_comes_when_the_state_changes(api, campaign, owner, places, looks):
    places(1)
    looks[1].extend([lambda: None, lambda: lifecycle.pause(campaign, owner)])

    answer = get(api, campaign, wait=30, state="running")

    assert answer.json()["state"] == "paused"
    assert len(looks[0]) == 2


def test_a_version_that_was_seen_is_waited_for_as_well(api, campaign, owner, places, looks):
    places(1)
    seen = get(api, campaign).json()["version"]
    looks[1].append(lambda: lifecycle.extend(campaign, 1, owner))

    answer = get(api, campaign, wait=30, seen=seen)

    assert answer.json()["version"] != seen
    assert len(looks[0]) == 1


def test_who_knows_nothing_waits_for_anything_new(api, campaign, owner, places, looks):
    places(1)
    looks[1].append(lambda: lifecycle.extend(campaign, 1, owner))

    get(api, campaign, wait=30)

    assert len(looks[0]) == 1


def test_of_two_things_that_are_known_each_one_may_change(api, campaign, places, looks):
    places(0)
    seen = get(api, campaign).json()["version"]

    still = get(api, campaign, wait=30, state="running", seen=seen)
    other = get(api, campaign, wait=30, state="running", seen="x")

    assert "Retry-After" in still
    assert "Retry-After" not in other


def test_the_answer_comes_at_the_end_of_the_wait_if_nothing_changes(
    api, campaign, places, monkeypatch
):
    places(1)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.1)
    began = monotonic()

    answer = get(api, campaign, wait=1, state="running")

    assert answer.json()["state"] == "running"
    assert "Retry-After" not in answer
    assert monotonic() - began >= 1


def test_where_no_place_is_free_the_answer_says_when_to_ask_again(api, campaign, places, looks):
    places(0)

    answer = get(api, campaign, wait=30, state="running")

    assert (answer.status_code, answer.json()["state"]) == (200, "running")
    assert answer["Retry-After"] == "5"
    assert looks[0] == []


def test_a_place_is_given_back(api, campaign, places, looks, monkeypatch):
    places(1)
    monkeypatch.setattr(waiting, "monotonic", iter(range(0, 1000, 20)).__next__)

    answers = [get(api, campaign, wait=30, state="running") for _ in range(3)]

    assert ["Retry-After" in answer for answer in answers] == [False] * 3


@pytest.mark.parametrize(
    "query",
    [
        {"wait": 31, "state": "running"},
        {"wait": 0, "state": "running"},
        {"wait": "x", "state": "running"},
        {"wait": 5, "state": "lost"},
        {"wait": 5, "state": "running", "fields": "colour"},
    ],
)
def test_a_wait_that_is_none_is_refused(api, campaign, query, looks):
    answer = get(api, campaign, **query)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] in query
    assert looks[0] == []


def test_a_wait_for_a_campaign_that_is_not_there_is_not_found(api):
    assert not Campaign.objects.exists()
    assert api.get("campaigns/1", wait=5, state="running")[0] == 404
