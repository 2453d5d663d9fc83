"""A closed loop that was measured elsewhere: knee, the Universal Scalability Law and the throttle."""

import copy
import json

import pytest

from campaigns.findings import compute
from campaigns.findings.compute import scalability
from campaigns.models import Campaign
from campaigns.results.importing.demonstration import SUBMISSIONS
from campaigns.tests.results.api.documents import errors_of, made

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(scalability, "RESAMPLES", 20)


@pytest.fixture
def throttle():
    """The experiment with a throttle before a database."""
    return json.loads((SUBMISSIONS / "throttle.json").read_text())


def curves(campaign):
    compute.analyse(campaign)
    found = campaign.findings.filter(name="usl").first()
    return (
        {group["levels"].get("throttle"): group for group in found.result["groups"]}
        if found
        else None
    )


def test_the_law_of_a_submitted_closed_loop_recommends_its_throttle(send, throttle):
    campaign = made(send(throttle))

    found = curves(campaign)

    law = found["none"]["law"]
    assert law["g"] == pytest.approx(1000, rel=0.03)
    assert law["peak"] == pytest.approx(6.9, rel=0.08)
    assert law["throttle"] == 5
    assert law["rule_of_thumb"] == pytest.approx(5.2, rel=0.08)
    assert law["rule_agrees"]
    assert found["none"]["levels_measured"][0]["response"] == pytest.approx(0.001, rel=0.03)


def test_what_waits_before_a_throttle_is_told_by_littles_law(send, throttle):
    found = curves(made(send(throttle)))

    assert all(level["consistent"] for level in found["none"]["levels_measured"])
    last = found["maxconn 3"]["levels_measured"][-1]
    assert not last["consistent"]
    assert last["effective"] == pytest.approx(3, rel=0.03)


def test_the_curve_is_on_the_page_with_the_numbers_of_each_level(send, throttle, client):
    campaign = made(send(throttle))
    compute.analyse(campaign)

    page = client.get(f"/campaigns/{campaign.pk}/print/").content.decode()

    assert "Universal Scalability Law" in page
    assert "Recommended limit: 5 at a time" in page
    assert "The rule of thumb, 75 % of the peak, says" in page


def test_a_metric_that_is_not_summarised_is_read_all_the_same(send, throttle, monkeypatch):
    monkeypatch.setattr("campaigns.planning.metrics.MOST_ANALYSED", 1)

    assert curves(made(send(throttle)))["none"]["law"]["throttle"] == 5


def test_no_closed_loop_is_taken_from_names_or_numbers(send, throttle):
    del throttle["campaign"]["closed_loop"]

    campaign = made(send(throttle))

    assert campaign.closed_loop is None
    assert curves(campaign) is None


def test_without_response_times_there_is_the_law_and_no_check_of_them(send, throttle):
    del throttle["campaign"]["closed_loop"]["response"]

    found = curves(made(send(throttle)))

    assert found["none"]["law"]["throttle"] == 5
    assert found["none"]["levels_measured"][0]["response"] is None


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("parameter", "throttle", "“throttle” is not declared as load in `roles`; clients is."),
        ("parameter", "users", "“users” does not vary; what varies is throttle, clients."),
        ("throughput", "latency", "There is no metric “latency”; there are response, throughput."),
        ("throughput", "response", "It is in ms; completions are counted per second"),
        ("response", "throughput", "It is in requests/s; send the mean response time"),
        ("response", "none", "There is no metric “none”"),
    ],
)
def test_a_closed_loop_that_cannot_be_is_refused_with_what_is_wrong(
    send, throttle, field, value, message
):
    throttle["campaign"]["closed_loop"][field] = value

    assert message in errors_of(send(throttle))[f"campaign.closed_loop.{field}"]
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"unit": "MB/s"}, "throughput", "It is in MB/s"),
        ({"unit": "requests"}, "throughput", "It is in requests;"),
        ({"lower_is_better": None}, "throughput", "more is better"),
    ],
)
def test_bytes_and_totals_are_no_completions_per_second(send, throttle, change, path, message):
    throttle["metrics"]["throughput"] |= change

    assert message in errors_of(send(throttle))[f"campaign.closed_loop.{path}"]


@pytest.mark.parametrize("level", [0, -1, "many", True])
def test_a_number_at_a_time_is_a_number_above_0(send, throttle, level):
    sent = copy.deepcopy(throttle)
    del sent["campaign"]["factors"], sent["campaign"]["roles"]
    sent["campaign"]["closed_loop"]["parameter"] = "clients"
    sent["runs"][0]["tags"]["clients"] = level

    message = errors_of(send(sent))["campaign.closed_loop.parameter"]

    assert message == f"Its levels are numbers at a time, above 0; “{level}” is none."


def test_a_loop_that_is_no_object_or_has_no_throughput_is_refused(send, throttle):
    for sent, path in (
        ([], "campaign.closed_loop"),
        ({"response": "response"}, "campaign.closed_loop.throughput"),
    ):
        throttle["campaign"]["closed_loop"] = sent
        assert path in errors_of(send(throttle))
