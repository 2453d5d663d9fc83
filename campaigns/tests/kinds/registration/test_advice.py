import pytest

from campaigns.kinds.registration.advice import (
    connections_of,
    operator_facts,
    tuning_of,
    typed_in,
    warnings_of,
    workers_of_installer,
)


@pytest.mark.parametrize(
    ("cpus", "memory", "workers"),
    [(4, 20, 6), (8, 32, 12), (16, 64, 24), (32, 90, 48), (32, 128, 48), (80, 300, 100), (1, 2, 1),
     (4, 5, 3), (1, 1, 1)],
)  # fmt: skip
def test_the_installer_takes_the_least_of_three_limits(cpus, memory, workers):
    assert workers_of_installer(cpus, memory) == workers


@pytest.mark.parametrize(("workers", "connections"), [(24, 480), (32, 640), (48, 960)])
def test_workers_open_connections_for_threads_and_four_more(workers, connections):
    assert connections_of(workers, 16) == connections


@pytest.mark.parametrize(
    ("cpus", "name"),
    [(2, "default"), (4, "default"), (8, "medium"), (31, "large"), (32, "extra-large"),
     (64, "extra-extra-large")],
)  # fmt: skip
def test_the_largest_profile_that_the_cores_are_enough_for(cpus, name):
    assert tuning_of(cpus).name == name


def test_nothing_is_said_of_what_is_not_known():
    assert warnings_of({}) == []
    assert warnings_of({"puma_workers": 100}) == []
    assert warnings_of({"puma_workers": "many", "puma_threads": None, "cpus": "-1"}) == []


def test_more_connections_than_the_database_has_are_warned_of():
    told = {"puma_workers": 32, "puma_threads": 16, "db_connections": 500}

    assert "may open 640 connections" in warnings_of(told)[0]
    assert warnings_of(told | {"db_connections": 640}) == []
    assert "the tuning profile default allows 500" in warnings_of({**told, "db_connections": ""})[0]


def test_a_pool_smaller_than_the_threads_is_warned_of():
    told = {"puma_workers": 4, "puma_threads": 16, "db_pool": 5}

    assert "db_pool 5 is less than puma_threads 16" in warnings_of(told)[0]


def test_a_formula_outside_of_the_advised_range_is_warned_of():
    assert warnings_of({"cpus": 8, "memory_gib": 32}) == []
    (words,) = warnings_of({"cpus": 32, "memory_gib": 90})
    assert "formula gives 48 workers" in words
    assert "extra-large advises 16 to 24" in words


def test_workers_beyond_the_memory_are_warned_of():
    words = warnings_of({"cpus": 4, "memory_gib": 16, "puma_workers": 20})

    assert "20 workers need about 20 GiB, and there are 16: it will swap." in words


def test_what_is_typed_in_is_read_from_settings_before_the_words_on_the_hardware():
    typed = typed_in({"puma_workers": 8, "db_pool": ""}, "puma_workers: 4, cpus=16. memory_gib 64")

    assert typed == {"puma_workers": 8, "cpus": "16", "memory_gib": "64"}
    told = operator_facts(typed, {"cpus": 8})
    assert told["puma_workers"] == "8 (typed in by the operator)"
    assert told["puma_threads"] == "unknown: no API tells it"
    assert told["cpus"].startswith("set and read back by perfdash")
