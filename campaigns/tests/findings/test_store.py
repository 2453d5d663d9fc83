"""Findings to JSON and back."""

import json

import msgspec
import pytest

from campaigns.findings.store import stored
from campaigns.findings.values import (
    BlockEffect,
    CurveTogether,
    Densities,
    DensityCell,
    DensityCurve,
    Drift,
    LoadGroup,
    LoadRun,
    PercentileCell,
    Percentiles,
    PhaseCell,
    Phases,
    PhaseTable,
    Scalability,
    SessionStretch,
    Spread,
)
from campaigns.stats.density import Mode

AT = "2026-07-25T10:41:05+00:00"
FINDINGS = [
    Phases(
        measure=PhaseTable(
            overlap=False,
            names=["wait"],
            cells=[PhaseCell(7, {"engine": "curl"}, 1, {"wait": Spread(0.5, None)})],
        )
    ),
    Drift(
        "",
        [BlockEffect(1, 4, AT, None, block=1, session=1, effect_pct=-2.5)],
        1.5,
        0.75,
        None,
        [SessionStretch(1, 4, AT, AT, number=1, runs=4)],
    ),
    Densities(
        20,
        [
            DensityCell(7, DensityCurve(1.0, 2.0, False, [0.5, 1.0], [Mode(1.5, 1.0)]), 30),
            DensityCell(8, None, 3),
        ],
    ),
    Percentiles(
        "response",
        [PercentileCell(7, 0, 3, 900, 300, [0.5], [0.01], [None], [None], CurveTogether([], []))],
    ),
    Scalability(
        "concurrency",
        "files_per_second",
        "response",
        [
            LoadGroup(
                {},
                "not_enough_levels",
                5,
                {"bound": 1},
                [LoadRun(1, 1, "", AT, 2.0, 40.0, None, "bound")],
                [],
                None,
                None,
                [[1.0, 20.0, 0.05]],
                {},
            )
        ],
    ),
]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda each: type(each).__name__)
def test_a_finding_comes_back_as_it_was_stored(finding):
    row = stored(finding)

    read = json.loads(json.dumps(row))
    assert read == row  # a tuple would come back as a list
    assert msgspec.convert(read, type(finding)) == finding


def test_what_no_run_has_is_not_stored():
    assert set(stored(FINDINGS[0])) == {"measure"}


def test_what_has_no_shape_yet_is_stored_as_it_is():
    assert stored({"a": 1}) == {"a": 1}


def test_a_row_of_another_shape_is_refused():
    with pytest.raises(msgspec.ValidationError, match="missing"):
        msgspec.convert({"fewest": 20}, Densities)
