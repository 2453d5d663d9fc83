from collections.abc import Callable

import pytest

from campaigns.findings import compute
from campaigns.kit.api import waiting
from campaigns.models import Campaign, Run
from campaigns.planning.analyses import request_analysis
from campaigns.tests.findings.compute.conftest import store
from perfdash_client import following

pytestmark = pytest.mark.django_db


@pytest.fixture
def meanwhile(monkeypatch):
    """What happens while the server waits for something new, one step each time that it looks."""
    steps: list[Callable[[], object]] = []

    def look_again(seconds):
        assert steps, "it waits for nothing"
        steps.pop(0)()

    monkeypatch.setattr(waiting, "sleep", look_again)
    monkeypatch.setattr(following, "sleep", lambda seconds: None)
    return steps


@pytest.fixture
def going_on(paired):
    """A launched campaign of six pairs."""
    campaign = paired(["/a"], 6)
    campaign.name = "six pairs"
    campaign.save()
    return campaign


def measure(campaign, first, last):
    for run in Run.objects.filter(campaign=campaign, position__range=(first, last)):
        Run.objects.filter(pk=run.pk).update(state="done")


def end(campaign):
    Run.objects.filter(campaign=campaign).update(state="planned")
    store(campaign, lambda run: 10.0 + run.position % 3 * 0.1)
    Campaign.objects.filter(pk=campaign.pk).update(state="finished")
    request_analysis(campaign)


def test_a_campaign_is_watched_until_it_is_analysed(perfdash, going_on, meanwhile):
    meanwhile += [
        lambda: Run.objects.filter(position=1).update(state="running"),
        lambda: Run.objects.filter(position=1).update(state="failed"),
        lambda: end(going_on),
        lambda: None,
        lambda: compute.analyse(going_on),
    ]

    ran = perfdash("campaign", "watch", going_on.pk, "--json")

    assert ran.code == 0, ran.err
    assert ran.data["state"] == "finished"
    assert ran.data["answer"]["sentence"]
    lines = [line for line in ran.err.splitlines() if line.startswith(f"campaign {going_on.pk}")]
    assert "0 of 12 runs" in lines[0]
    assert any("1 of 12 runs, 1 failed" in line for line in lines)
    assert "12 of 12 runs, finished, being analysed" in lines[-2]
    assert lines[-1].endswith("12 of 12 runs, finished")
    assert meanwhile == []


def test_what_runs_now_is_told(perfdash, going_on, meanwhile):
    Run.objects.filter(position=3).update(state="running")
    meanwhile += [lambda: Campaign.objects.update(state="cancelled")]

    ran = perfdash("campaign", "watch", going_on.pk)

    assert ran.code == 5
    assert "now run 3: " in ran.err
    assert "engine=" in ran.err
    assert "was cancelled" in ran.err


def test_why_nothing_runs_is_told(perfdash, going_on, meanwhile):
    meanwhile += [lambda: Campaign.objects.update(state="cancelled")]

    ran = perfdash("campaign", "watch", going_on.pk)

    assert "0 of 12 runs" in ran.err
    assert "it waits: " in ran.err


def test_a_server_that_waits_for_others_is_asked_again_when_it_says(
    perfdash, going_on, meanwhile, monkeypatch
):
    rests = []

    def rest(seconds):
        rests.append(seconds)
        if len(rests) == 3:
            Campaign.objects.update(state="cancelled")

    monkeypatch.setattr(following, "sleep", rest)
    monkeypatch.setattr(waiting, "wait", lambda changed, seconds: changed())

    perfdash("campaign", "watch", going_on.pk)

    assert rests == [1, 5, 5]


def test_ctrl_c_leaves_the_campaign_alone_and_says_how_to_go_on(
    perfdash, going_on, meanwhile, monkeypatch
):
    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(following, "sleep", interrupt)

    ran = perfdash("campaign", "watch", going_on.pk)

    assert ran.code == 130
    assert f"perfdash campaign watch {going_on.pk}" in ran.err
    assert ran.out == ""
    assert Campaign.objects.get().state == "running"


def test_a_campaign_that_waits_for_somebody_is_not_waited_for(perfdash, going_on, meanwhile):
    Campaign.objects.update(state="paused", state_reason="5 runs failed in a row")

    ran = perfdash("campaign", "watch", going_on.pk)

    assert ran.code == 6
    assert "is paused (5 runs failed in a row)" in ran.err
    assert f"perfdash campaign resume {going_on.pk}" in ran.err


def test_time_is_bounded_where_that_is_asked_for(perfdash, going_on, meanwhile):
    ran = perfdash("campaign", "watch", going_on.pk, "--timeout", 0)

    assert ran.code == 6
    assert "has not ended within 0 s; it goes on" in ran.err


def test_a_campaign_that_is_not_there_is_refused(perfdash):
    ran = perfdash("campaign", "watch", 77)

    assert ran.code == 3
    assert "refused (404)" in ran.err


def test_launch_and_watch_are_one_call(perfdash, target, worker, written, meanwhile):
    text = "{question: Q?, kind: toy, target: toy server, parameters: {path: /a}, repetitions: 3}"
    meanwhile += [lambda: Campaign.objects.update(state="cancelled")]

    ran = perfdash("campaign", "create", written(text), "--launch", "--watch")

    assert ran.code == 5
    assert "Launched campaign" in ran.err
    assert "of 3 runs" in ran.err
