"""Borders, fingerprints and noise, by the known answers."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.trends.borders import borders_in
from campaigns.trends.fingerprints import canonical, fingerprint
from campaigns.trends.noise import noise_of

START = datetime(2026, 11, 1, tzinfo=UTC)


def test_borders_are_the_known_ones(golden):
    for case in golden["borders"]:
        borders, restless = borders_in(case["facts"])
        found = [
            {"at": each.at, "changed": {name: list(both) for name, both in each.changed.items()}}
            for each in borders
        ]
        assert (found, restless) == (case["borders"], case["restless"]), case["name"]


@pytest.mark.parametrize("word", ["", "unknown", "not told"])
def test_a_fact_that_comes_back_as_it_was_borders_nothing(word):
    facts = [{"kernel": "6.1"}, {"kernel": word}, {"kernel": "6.1"}, {}, {"kernel": "6.1"}]

    assert borders_in(facts) == ([], [])


def test_a_long_gap_is_a_border():
    instants = [START + timedelta(days=day) for day in (0, 1, 2, 3, 40, 41)]

    borders, _ = borders_in([{}] * 6, instants)

    assert [(each.at, each.gap) for each in borders] == [(4, timedelta(days=37))]


def test_a_gap_that_is_usual_is_none():
    instants = [START + timedelta(days=40 * each) for each in range(5)]

    assert borders_in([{}] * 5, instants) == ([], [])


def test_a_trend_has_the_known_identity(golden):
    known = golden["fingerprint"]
    key = known["key"]

    assert canonical(key) == known["canonical"]
    assert fingerprint(key) == known["hash"]
    assert fingerprint(dict(reversed(key.items()))) == known["hash"]
    other = key | {"levels": {"download_concurrency": 20}}
    assert fingerprint(other) == known["another_level"]


def test_noise_is_that_of_sessions_in_which_nothing_changed():
    a, b, alone = (0, 0), (0, 1), (1, 1)
    sessions = [(a, 1.00), (a, 1.02), (b, 1.50), (b, 1.53), (alone, 9.0)]

    noise = noise_of(sessions, [(0.03, 3), (0.03, 3), (None, 1)])

    assert noise.repeated == 4
    assert noise.between == pytest.approx(math.sqrt((0.01**2 * 2 + 0.015**2 * 2) / 2))
    assert noise.within == pytest.approx(0.03)


def test_without_a_repeated_session_nothing_is_known_of_it():
    assert noise_of([((0, 0), 1.0), ((0, 1), 1.1)], []).between is None
