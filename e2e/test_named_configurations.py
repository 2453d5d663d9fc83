"""Named configurations on the simulated Katello: set, read back, answered by their names, and set back."""

import json
import re
import urllib.request

import pytest

from e2e.conftest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

KATELLO = "Sandbox Katello (TLS)"
TWO_WAYS = {
    "2 x 16": {"puma_workers": 2, "puma_threads": 16},
    "4 x 8": {"puma_workers": 4, "puma_threads": 8},
}
PROFILES = {
    name: {"memory_gib": memory, "cpus": cpus, "puma_workers": workers, "puma_threads": 16}
    for name, memory, cpus, workers in (
        ("default", 20, 4, 4),
        ("medium", 32, 8, 8),
        ("large", 64, 16, 12),
        ("extra-large", 128, 32, 16),
        ("extra-extra-large", 256, 48, 20),
    )
}


@pytest.fixture(scope="module")
def target(perfdash):
    """The number of the simulated Katello, which is there soon after the start."""

    def made():
        rows = perfdash.api("GET", "targets")["results"]
        return next((row["id"] for row in rows if row["name"] == KATELLO), None)

    return wait_for(made, KATELLO)


def values(perfdash):
    """The settings that the simulator has in force, by name."""
    found = {}
    for name in ("puma_workers", "puma_threads", "cpus", "memory_gib"):
        url = f"{perfdash.state['katello_url']}/simulator/settings/{name}"
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - ours
            found[name] = json.loads(answer.read())["value"]
    return found


def measured(perfdash, target, named, **changes):
    """A finished campaign of configurations."""
    campaign = perfdash.api(
        "POST",
        "campaigns",
        {
            "question": "Which configuration registers its hosts soonest?",
            "kind": "registration",
            "target": target,
            "factors": {"configuration": named},
            "order": "interleaved",
            "seed": 4,
            "launch": True,
            **changes,
        },
    )["id"]
    perfdash.until(campaign, "finished", seconds=500)
    return perfdash.api("GET", f"campaigns/{campaign}")


@pytest.mark.nightly
def test_two_workers_of_sixteen_threads_against_four_of_eight(perfdash, target):
    before = values(perfdash)

    done = measured(perfdash, target, TWO_WAYS, parameters={"hosts": 60}, repetitions=4)

    text = done["findings"]["answer"]["text"]
    assert re.fullmatch(r"Configuration 4 x 8 is [\d.]+ % faster than 2 x 16\.", text["sentence"])
    assert values(perfdash) == before


@pytest.mark.nightly
def test_tuning_profiles_are_ranked_by_their_names(perfdash, target):
    done = measured(perfdash, target, PROFILES, parameters={"hosts": 200}, repetitions=4)

    text = done["findings"]["answer"]["text"]
    assert "default takes" in text["sentence"] or "default is" in text["sentence"]
    assert {fact["label"].removeprefix("configuration ") for fact in text["facts"]} <= {*PROFILES}
