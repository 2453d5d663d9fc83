"""The screen, change points and locations, by the known answers."""

import json
import math
from pathlib import Path

import pytest

from campaigns.stats.divisive import change_points, drift
from campaigns.stats.location import locate
from campaigns.stats.multiplicity import benjamini_hochberg
from campaigns.stats.screen import screen


def percent(log):
    return 100 * math.expm1(log)


@pytest.fixture(scope="module")
def series():
    path = Path(__file__).parent / "golden/e_changepoints.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_screens_are_the_known_ones(golden):
    for case in golden["screen"]:
        sign = 1 if case["lower_is_better"] else -1
        found = screen([sign * y for y in case["y"]])
        assert [each.k for each in found.tests] == [each["k"] for each in case["tests"]]
        for test, known in zip(found.tests, case["tests"], strict=True):
            assert test.df == known["df"], case["name"]
            assert test.t == (known["t"] and pytest.approx(known["t"], abs=1e-9)), case["name"]
            assert test.p == pytest.approx(known["p"], rel=1e-6), case["name"]
        assert found.p == (case["p"] and pytest.approx(case["p"], rel=1e-6)), case["name"]
        if case["reason"] is None:
            assert found.best is not None
            assert percent(sign * found.best.estimate) == pytest.approx(
                case["change_pct"], abs=1e-6
            ), case["name"]


def test_families_are_the_known_ones(golden):
    for case in golden["family"]:
        adjusted = benjamini_hochberg(case["p"])
        assert adjusted == pytest.approx(case["adjusted"]), case["name"]
        assert [each <= case["q"] for each in adjusted] == case["suspected"], case["name"]


def test_change_points_are_the_known_ones(golden, series):
    for name, known in golden["divisive_student"]["found"].items():
        points = change_points([math.log(y) for y in series[name]["y"]])
        assert [each.at for each in points] == [each["index"] for each in known], name
        for point, expected in zip(points, known, strict=True):
            assert point.p == pytest.approx(expected["p"], rel=1e-6)
            assert percent(point.estimate) == pytest.approx(expected["pct"], abs=1e-6)
            interval = [percent(point.low), percent(point.high)]
            assert interval == pytest.approx(expected["ci_pct"], abs=1e-6)
            assert (point.before, point.after) == (expected["n_before"], expected["n_after"])


def test_a_straight_line_is_a_drift_and_steps_are_none(series):
    steps = [math.log(y) for y in series["two_steps"]["y"]]
    assert drift(steps, [24, 45]) is None
    line = [0.01 * at + 0.002 * (-1) ** at for at in range(40)]
    found = drift(line, [each.at for each in change_points(line)])
    assert found is not None
    assert found.slope == pytest.approx(0.01, rel=0.01)


def test_the_location_is_the_known_one(golden):
    case = golden["location"]
    found = locate(case["log_values"])
    assert (found.df, found.best, list(found.could_be)) == (
        case["df"], case["best"], case["could_be"],
    )  # fmt: skip
    for split, known in zip(found.splits, case["splits"], strict=True):
        assert split.first_bad == known["first_bad"]
        assert percent(split.change) == pytest.approx(known["change_pct"], abs=1e-6)
        assert split.rss == pytest.approx(known["rss"], rel=1e-6)
