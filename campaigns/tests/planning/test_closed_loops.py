from collections.abc import Mapping, Sequence

import pytest

from campaigns.models import Campaign
from campaigns.planning.closed_loops import is_offered, read_loop

FACTORS: Mapping[str, Sequence[object]] = {
    "throttle": ["none", "maxconn 3"],
    "clients": [1, 2, 4],
    "rate": [10, 20],
}
METRICS = {"rate_done": ("requests/s", False), "response": ("ms", True), "sent": ("MB/s", False)}


def read(roles=None, **requested):
    errors: dict[str, list[str]] = {}
    loop = read_loop(
        {"throughput": "rate_done", **requested}, FACTORS, roles or {}, METRICS, errors
    )
    return loop, {path.rpartition(".")[2]: text for path, (text,) in errors.items()}


def test_the_only_load_is_the_number_at_a_time():
    loop, errors = read({"clients": "load"}, response="response")

    assert loop == {"parameter": "clients", "throughput": "rate_done", "response": "response"}
    assert not errors


def test_one_of_several_loads_is_named():
    roles = {"clients": "load", "rate": "load"}

    assert "clients, rate are declared as load" in read(roles)[1]["parameter"]
    assert read(roles, parameter="clients")[0]["parameter"] == "clients"


def test_without_any_load_the_tag_is_named():
    assert "none is declared as load" in read()[1]["parameter"]
    assert read(parameter="clients")[0]["parameter"] == "clients"


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("users", "“users” does not vary; what varies is throttle, clients, rate."),
        ("throttle", "“throttle” is not declared as load in `roles`; clients is."),
    ],
)
def test_what_is_no_load_is_refused(parameter, message):
    loop, errors = read({"clients": "load"}, parameter=parameter)

    assert loop is None
    assert errors == {"parameter": message}


@pytest.mark.parametrize("name", ["rate", "offered_rate", "RPS", "requests per second"])
def test_an_offered_rate_is_no_number_at_a_time(name):
    errors: dict[str, list[str]] = {}
    requested = {"parameter": name, "throughput": "rate_done"}

    assert read_loop(requested, {name: [10, 20]}, {name: "load"}, METRICS, errors) is None
    (message,) = errors["campaign.closed_loop.parameter"]
    assert "is a rate that is offered" in message


def test_all_errors_are_reported_at_once():
    loop, errors = read(throughput="sent", response="rate_done")

    assert loop is None
    assert set(errors) == {"parameter", "throughput", "response"}
    assert errors["throughput"].startswith("It is in MB/s;")


def test_names_are_texts():
    loop, errors = read(response=3)

    assert loop is None
    assert errors == {"closed_loop": "Name metrics: {“throughput”: “rate”, “response”: “latency”}."}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "parameters", "load", "expected"),
    [
        ("registration", {"start": "ramp"}, "hosts", True),
        ("registration", {"start": "barrier"}, "hosts", False),
        ("external", {}, "arrival_rate", True),
        ("external", {}, "clients", False),
        ("no longer installed", {}, "clients", False),
    ],
)
def test_a_load_is_offered_at_a_rate_by_its_kind_or_its_name(kind, parameters, load, expected):
    campaign = Campaign(team_id=None, kind=kind, parameters=parameters)

    assert is_offered(campaign, load) == expected
