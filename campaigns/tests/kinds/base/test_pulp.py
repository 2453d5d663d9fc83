"""What Pulp's status tells of itself, from a recorded answer of a real one."""

import copy
import json
from pathlib import Path

import pytest

import sandbox.pulp
from campaigns.kinds.base import SIMULATOR, Target
from campaigns.kinds.base.pulp import facts_of, simulator_of

RECORDING = Path(sandbox.pulp.__file__).parent / "recordings/status.json"
TARGET = Target("pulp", "pulp", "http://pulp", hardware="4 cores, SSD")


@pytest.fixture
def status():
    return json.loads(RECORDING.read_text())["exchanges"][0]["response"]["body"]


def test_the_facts_of_a_real_pulp_are_those_that_its_status_tells(status):
    assert facts_of(status, TARGET) == {
        "Pulp": "core 3.123.1, certguard 3.123.1, file 3.123.1",
        "workers": "1",
        "versions of workers": "those of the API",
        "storage": "270553174016 B",
        "content origin": "http://pulp-content",
        "content path": "/pulp/content/",
        "domains": "off",
        "cache": "off",
        "hardware and network": "4 cores, SSD",
        "certificate": "verified",
    }


def test_what_varies_by_itself_is_no_fact(status):
    later = copy.deepcopy(status)
    later["storage"] |= {"used": 1, "free": 2}
    later["online_workers"][0] |= {"name": "worker1-9", "last_heartbeat": "2027-01-01T00:00:00Z"}
    later["online_api_apps"].pop()

    assert facts_of(later, TARGET) == facts_of(status, TARGET)


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        (lambda s: s["online_workers"].append({"name": "7@far"}), "workers", "2"),
        (lambda s: s["online_workers"].append({"name": "7@far"}), "hosts of workers", "far"),
        (
            lambda s: s["online_workers"][0]["versions"].update(file="3.1"),
            "versions of workers",
            "file 3.1",
        ),
        (lambda s: s["storage"].update(total=5), "storage", "5 B"),
        (lambda s: s["redis_connection"].update(connected=True), "cache", "on"),
        (lambda s: s.update(domain_enabled=True), "domains", "on"),
    ],
)
def test_a_change_of_pulp_is_a_change_of_a_fact(status, change, name, value):
    change(status)

    assert facts_of(status, TARGET)[name] == value


def test_a_pulp_that_tells_little_has_facts_all_the_same():
    facts = facts_of({"versions": []}, TARGET)

    assert facts["storage"] == "not told"
    assert facts["workers"] == "0"


def test_only_a_component_of_that_name_makes_a_simulator(status):
    assert simulator_of(status) == ""
    assert SIMULATOR not in facts_of(status, TARGET)

    status["versions"].append({"component": "simulated", "version": "3.123.1"})

    assert facts_of(status, TARGET)[SIMULATOR] == "simulated Pulp 3.123.1"
