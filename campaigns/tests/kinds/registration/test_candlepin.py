"""The same kind on a Candlepin without Katello before it."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import NotOurs, ParametersRefused, TargetUnavailable
from campaigns.kinds.registration.driver import driver
from campaigns.tests.kinds.registration.place import (
    ANOTHER,
    INSTALLATION,
    Place,
    parameters,
    target_of,
)

pytestmark = pytest.mark.system


@pytest.fixture
def candlepin(simulator, tmp_path):
    target = target_of(simulator, family="candlepin", base_url=f"{simulator.tls_url}/candlepin")
    return Place(target, tmp_path)


@pytest.mark.parametrize("login", [True, False])
def test_hosts_register_and_are_gone_again(candlepin, simulator, login):
    if not login:
        candlepin.target = replace(candlepin.target, username="", password="")
    values = parameters("candlepin", hosts=4)
    assert all(proof.ok for proof in candlepin.reset(values))
    assert all(setting.ok for setting in candlepin.apply(values))

    measured = candlepin.measure(values)

    assert measured.units_done == 4, measured.failure
    assert all(proof.ok for proof in candlepin.verify(values, measured))
    assert simulator.told()["consumers"] == 4
    candlepin.clean_up(values)
    assert simulator.told()["consumers"] == 0


def test_what_a_run_that_died_left_is_removed(candlepin, simulator, tmp_path):
    values = parameters("candlepin", hosts=3)
    candlepin.reset(values)
    candlepin.measure(values)

    proofs = Place(candlepin.target, tmp_path / "later", attempt=2).reset(values)

    assert [proof.measured for proof in proofs] == [3, 0, 0]
    assert simulator.told()["consumers"] == 0


def test_hosts_of_another_perfdash_are_told_and_left_alone(candlepin, simulator, tmp_path):
    values = parameters("candlepin", hosts=2)
    other = Place(replace(candlepin.target, installation=ANOTHER), tmp_path / "another")
    other.reset(values)
    other.measure(values)

    with pytest.raises(NotOurs, match="2 hosts that another perfdash registered"):
        driver.look(candlepin.target, values, candlepin.context().rules)
    proofs = candlepin.reset(values)

    assert [proof.measured for proof in proofs] == [0, 0, 2]
    assert simulator.told()["consumers"] == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"organization": "X"}, "no owner X"),
        ({"activation_keys": "nope"}, "no activation key nope"),
    ],
)
def test_an_unknown_key_or_owner_is_refused_before_any_load(candlepin, changes, words):
    with pytest.raises(ParametersRefused, match=words):
        candlepin.apply(parameters("candlepin", **changes))


def test_without_a_login_candlepin_says_itself_that_a_key_is_unknown(candlepin):
    candlepin.target = replace(candlepin.target, username="", password="")
    values = parameters("candlepin", hosts=2, activation_keys="nope")
    candlepin.reset(values)

    settings = {setting.name: setting.in_force for setting in candlepin.apply(values)}
    assert settings == {"organization": "not told", "activation_keys": "not told"}
    measured = candlepin.measure(values)

    assert "None of 2 hosts registered (2 auth)" in measured.failure
    assert "None of the activation keys specified exist" in measured.failure


def test_a_suspended_candlepin_is_not_measured(candlepin, simulator):
    simulator.behave(candlepin_mode="SUSPEND")

    with pytest.raises(TargetUnavailable, match="mode SUSPEND"):
        candlepin.reset(parameters("candlepin"))


def test_a_probe_tells_what_it_is(candlepin):
    proofs = driver.probe(candlepin.target, candlepin.context().rules)

    assert all(proof.ok for proof in proofs)
    assert proofs[0].name == "Candlepin"
    assert f"perfdash-{INSTALLATION}-…" in [proof.measured for proof in proofs]


def test_hosts_register_through_a_smart_proxy_which_has_nothing_but_the_path(simulator, tmp_path):
    target = target_of(simulator, family="candlepin", base_url=f"{simulator.tls_url}/rhsm",
                       username="", password="")  # fmt: skip
    place, values = Place(target, tmp_path), parameters("candlepin", hosts=3)
    assert all(proof.ok for proof in driver.probe(target, place.context().rules))
    place.reset(values)
    place.apply(values)

    measured = place.measure(values)

    assert measured.units_done == 3, measured.failure
    assert "profile" in {phase.name for phase in measured.phases}
    assert place.environment()["Candlepin"]
    place.clean_up(values)
    assert simulator.told()["consumers"] == 0
