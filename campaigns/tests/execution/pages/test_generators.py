"""What a run's page and the REST API tell of several generators."""

import pytest
from django.utils import timezone

from campaigns.models import Generator, Worker
from campaigns.overview.home import worker_rows
from campaigns.tests.measured import begin, launched
from campaigns.tests.people import everywhere

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(toy, target, person, worker):
    attempt = begin(launched(target, person).runs.get(position=1))
    common = {"attempt": attempt, "pool": "generate", "module": "m", "claimed_at": timezone.now()}
    Generator.objects.create(
        **common,
        number=1,
        state="done",
        worker="generate@a",
        host="a",
        start_at=timezone.now(),
        clock_offset_seconds=-0.0123,
        clock_uncertainty_seconds=0.0004,
        health="warned",
        health_reasons=["Its loop was late."],
        health_figures={
            "busiest_process_cores": 0.75,
            "loop_lag_p99_seconds": 0.002,
            "descriptors": 120.0,
            "descriptor_limit": 1024.0,
        },
        request="sealed",
        result=b"packed",
    )
    Generator.objects.create(
        **common, number=2, state="failed", worker="generate@b", host="b", reason="it fell over"
    )
    return attempt


def test_the_runs_page_shows_each_generator(attempt, client, person):
    client.force_login(person)

    page = client.get(f"/campaigns/{attempt.run.campaign_id}/runs/1/").content.decode()

    for words in ("generate@a on a", "−12.3 ± 0.4 ms", "0.75", "2 ms", "120 of 1,024"):
        assert words in page
    assert "Its loop was late." in page
    assert "it fell over" in page
    assert "sealed" not in page


def test_the_api_tells_of_each_generator_but_not_what_it_was_asked(attempt, client, person):
    client.force_login(person)

    answer = client.get(f"/api/v1/campaigns/{attempt.run.campaign_id}/runs/1").json()

    one, two = answer["attempts"][0]["generators"]
    assert (one["number"], one["host"], one["clock_offset_seconds"]) == (1, "a", -0.0123)
    assert one["health"]["verdict"] == "warned"
    assert (two["state"], two["reason"], two["health"]) == ("failed", "it fell over", None)
    assert not {"request", "result", "samples"} & one.keys()


def test_a_worker_that_generates_is_busy(attempt):
    Worker.objects.create(name="generate@b", host="b", pools=["generate"])
    Generator.objects.filter(number=2).update(state="ready", reason="")

    assert {row.name: row.state for row in worker_rows(everywhere().see)}["generate@b"] == "busy"
