"""Levels that an engine cannot have are said before, or make the run void with what to do."""

import pytest

from campaigns.kinds.base import LevelNotInForce
from campaigns.kinds.downloader.driver import driver
from campaigns.tests.kinds.test_downloader import parameters


def of(settings, name):
    (found,) = (setting for setting in settings if setting.name == name)
    return found


@pytest.mark.parametrize(
    ("fixed", "factors", "said"),
    [
        ({"engine": "asyncio", "http_version": "2"}, {}, "asyncio speaks HTTP/1.1 only"),
        (
            {"http_version": "2"},
            {"engine": ["curl", "futures", "asyncio"]},
            "futures and asyncio speak HTTP/1.1 only",
        ),
        ({"engine": "futures"}, {"http_version": ["1.1", "2"]}, "futures speaks"),
    ],
)
def test_an_engine_that_cannot_speak_a_version_is_told_before_the_launch(fixed, factors, said):
    found = driver.misfits("http", fixed, factors)

    assert list(found) == ["http_version"]
    assert said in found["http_version"]
    assert "choose the engine curl" in found["http_version"]


@pytest.mark.parametrize(
    ("fixed", "factors"),
    [
        ({"engine": "curl", "http_version": "2"}, {}),
        ({"engine": "asyncio", "http_version": "automatic"}, {}),
        ({}, {"engine": ["asyncio", "curl"], "http_version": ["1.1", "2"]}),
    ],
)
def test_what_fits_or_may_be_left_out_is_not_told(fixed, factors):
    assert driver.misfits("http", fixed, factors) == {}


def test_a_run_that_was_planned_with_an_engine_that_went_says_what_to_choose(target, keeper):
    with pytest.raises(LevelNotInForce, match=r"^“aria2” is no engine any more; choose curl, "):
        driver.apply(target, parameters() | {"engine": "aria2"}, keeper.context())


def test_what_an_engine_does_not_use_is_said(target, keeper):
    settings = driver.apply(target, parameters(engine="curl"), keeper.context())

    assert of(settings, "event_loop").in_force == "not applicable"
    assert of(settings, "hashing").in_force == "not applicable"
    assert of(settings, "http_version").in_force == "1.1"
    assert of(settings, "processes").in_force in (1, 2)
    assert all(setting.ok for setting in settings)


def test_more_processes_than_files_at_a_time_are_not_in_force(target, keeper):
    values = parameters(engine="curl", processes="8", concurrency=4)

    processes = of(driver.apply(target, values, keeper.context()), "processes")

    assert (processes.asked, processes.in_force, processes.ok) == ("8", 4, False)
    assert "raise the concurrency" in processes.why


def test_one_process_keeps_the_rate_of_the_owner(target, keeper):
    keeper.most_per_second = 25

    settings = driver.apply(target, parameters(engine="curl", processes="2"), keeper.context())

    assert of(settings, "processes").in_force == 1
    assert "25 requests per second" in of(settings, "processes").why


def test_a_run_that_was_planned_before_there_were_versions_is_automatic(target, keeper):
    values = {
        name: value
        for name, value in parameters(engine="curl").items()
        if name not in ("http_version", "processes")
    }

    assert all(setting.ok for setting in driver.apply(target, values, keeper.context()))
