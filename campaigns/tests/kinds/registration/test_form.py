from dataclasses import replace

import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.registration.driver import driver
from campaigns.kinds.registration.presets import PRESETS
from campaigns.kinds.registration.requests import (
    attempt_prefix,
    processes_for,
    rhsm_place,
    root_of,
)
from campaigns.results.importing import simulated_katello
from campaigns.tests.kinds.registration.place import ANOTHER, INSTALLATION, parameters


def form(**changes):
    fields = driver.parameters.base_fields
    return driver.parameters({name: field.initial for name, field in fields.items()} | changes)


def test_everything_may_vary():
    mine = {"hosts", "profile", "organization", "activation_keys", "packages", "start",
            "ramp_seconds", "rate", "arrivals", "timeout_seconds", "retry_rounds", "retry_hosts", "generators"}  # fmt: skip

    assert set(driver.factors) == mine
    assert mine | {"generator_pools"} == set(driver.parameters.base_fields)


def test_the_clients_own_limit_is_the_timeout():
    assert parameters()["timeout_seconds"] == 180.0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"hosts": 0}, "hosts"),
        ({"hosts": 20_001}, "hosts"),
        ({"organization": "A&B=1"}, "organization"),
        ({"organization": "A B"}, "organization"),
        ({"activation_keys": "a, b?x"}, "activation_keys"),
        ({"activation_keys": " , "}, "activation_keys"),
        ({"profile": "rhsm-9"}, "profile"),
        ({"packages": -1}, "packages"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"retry_rounds": 6}, "retry_rounds"),
        ({"rate": 2}, "rate"),
        ({"start": "arrivals"}, "rate"),
        ({"start": "arrivals", "rate": 3000, "ramp_seconds": 10}, "rate"),
        ({"start": "arrivals", "rate": 0.01, "ramp_seconds": 1}, "rate"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(changes, name):
    assert set(form(**changes).errors) == {name}


def test_activation_keys_keep_their_order_and_come_once():
    assert parameters(activation_keys="b, a,b")["activation_keys"] == "b,a"


def test_foremans_registration_is_not_offered_to_a_candlepin():
    fixed = form().initial

    assert "profile" in driver.misfits("candlepin", {"profile": "foreman-global"}, fixed or {})
    levels = {"profile": ["rhsm-1.30", "foreman-global"]}
    assert "profile" in driver.misfits("candlepin", {}, levels)
    assert driver.misfits("katello", {}, levels) == {}


@pytest.mark.parametrize(
    ("url", "family", "place"),
    [
        ("https://k.example", "katello", "/rhsm"),
        ("https://k.example/katello/api/v2/", "katello", "/rhsm"),
        ("https://k.example/foreman", "katello", "/foreman/rhsm"),
        ("https://c.example:23443", "candlepin", "/candlepin"),
        ("https://c.example/other", "candlepin", "/other"),
    ],
)
def test_the_place_of_the_api_follows_from_family_and_url(url, family, place):
    assert rhsm_place(Target("t", family, url)) == place
    assert root_of("https://k.example/api/v2") == ""


def test_names_belong_to_one_installation_and_one_attempt():
    target = Target("t", "katello", "https://k.example", installation=INSTALLATION)
    mine = attempt_prefix(target, "perfdash attempt/12")
    other = replace(target, installation=ANOTHER)

    assert mine == f"perfdash-{INSTALLATION}-a12-"
    assert attempt_prefix(other, "perfdash attempt/12") == f"perfdash-{ANOTHER}-a12-"


def test_many_hosts_take_more_processes_than_few():
    assert processes_for(1) == processes_for(50) == 1
    assert processes_for(100_000) >= processes_for(51)


def test_presets_name_levels_that_the_form_takes():
    curve = next(preset for preset in PRESETS if preset.name == "concurrency-curve")

    assert len(curve.factors["hosts"]) == 8
    assert max(map(int, curve.factors["hosts"])) == 1000
    for preset in PRESETS:
        assert not form(**preset.parameters).errors
        beside = {*preset.parameters, *preset.factors} - set(driver.parameters.base_fields)
        assert beside <= {*simulated_katello.SETTINGS, simulated_katello.PROFILE}
        for level in preset.factors.get("hosts", ()):
            assert not form(hosts=level).errors
