"""The finding of a stored campaign says what was computed apart from the same numbers (CAPACITY 7)."""

import json
from pathlib import Path

import pytest

from campaigns.findings import compute
from campaigns.findings.store import findings_of
from campaigns.stats.capacity_by_conditions import by_lines
from campaigns.tests import stats
from campaigns.tests.findings.compute.loads import launch, store

pytestmark = pytest.mark.django_db

(GOLDEN,) = (Path(stats.__file__).parent / "golden").glob("l_*.json")
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]


def rows_of(case, name):
    return {(block, load): rest for block, load, *rest in case["conditions"][name]["rows"]}


def found(target, case, criterion, **runs):
    campaign = launch(
        target,
        {"concurrency": case["loads"]},
        repetitions=case["blocks"],
        criterion={**criterion, "resolution": case["rho"]},
    )
    store(campaign, **runs)
    compute.analyse(campaign)
    capacity = findings_of(campaign, campaign.primary_metric).capacity
    assert capacity is not None
    (setting,) = capacity.settings
    return setting.capacity


def place(run):
    return run.block.repetition, run.cell.levels_by_factor["concurrency"]


WORDS = {"carries": "between", "less_than": "fewer_than"}
"""Words of the reference by those of today: a bracket is claimed, the numbers of the line are computed."""


def check(capacity, expected):
    assert capacity.word == WORDS.get(expected["word"], expected["word"])
    assert capacity.reason == expected.get("reason", "")
    if not capacity.reason:
        low, estimate, high, _ = by_lines(capacity.conditions)
        for end, found in (("low", low), ("estimate", estimate), ("high", high)):
            wanted = expected[end]
            assert found == (wanted and pytest.approx(wanted, rel=1e-6)), end


@pytest.mark.parametrize(
    "name",
    ["value_five_loads", "all_pass", "all_fail", "not_monotone", "pooled_neighbours", "one_block"],
)
def test_a_bound_of_a_metric(target, name):
    case = CASES[name]
    rows = rows_of(case, "p95")

    check(
        found(
            target,
            case,
            {"conditions": [{"metric": "duration", "at_most": case["conditions"]["p95"]["limit"]}]},
            value_of=lambda run: rows[place(run)][0],
        ),
        case["expected"],
    )


def test_a_share_that_fails(target):
    case = CASES["share_levels"]
    rows = rows_of(case, "failed")

    check(
        found(
            target,
            case,
            {"failed_percent": 5},
            failed=lambda run: rows[place(run)][0],
            units=lambda run: rows[place(run)][1],
        ),
        case["expected"],
    )
