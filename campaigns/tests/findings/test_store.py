"""Findings to JSON and back."""

import json

import msgspec
import pytest

from campaigns.findings.store import SHAPES, shape_of, stored, values_of
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
    assert set(stored(FINDINGS[0])) == {"v", "measure"}


def test_what_has_no_shape_yet_is_stored_as_it_is():
    assert stored({"a": 1}) == {"a": 1}


def test_a_row_of_another_shape_is_refused():
    with pytest.raises(msgspec.ValidationError, match="missing"):
        msgspec.convert({"fewest": 20}, Densities)


def test_a_name_with_a_metric_has_the_shape_of_its_kind():
    assert shape_of("drift:file_rate") is Drift
    assert shape_of("usl") is Scalability
    assert shape_of("alerts") is None


def test_values_have_the_keys_of_their_shape_alone():
    old = {
        "missing": "",
        "blocks": [{"first": 1, "effect_pct": -2.5, "sentence": "Slower."}],
        "sessions": None,
        "tone": "good",
    }

    assert values_of(old, Drift) == {
        "missing": "",
        "blocks": [{"first": 1, "effect_pct": -2.5}],
        "sessions": None,
    }


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda each: type(each).__name__)
def test_values_of_today_lose_their_version_alone(finding):
    result = stored(finding)

    assert values_of(result, type(finding)) == {k: v for k, v in result.items() if k != "v"}


def test_every_shape_describes_the_unit_of_each_number():
    _, shapes = msgspec.json.schema_components(list(SHAPES.values()))

    def without_unit(part, path):
        if not isinstance(part, dict) or ("description" in part and "properties" not in part):
            return
        if part.get("type") in ("number", "integer"):
            yield path
        for name, each in part.items():
            for place, inner in enumerate(each if isinstance(each, list) else [each]):
                yield from without_unit(inner, f"{path}.{name}.{place}")

    missing = [path for name, each in shapes.items() for path in without_unit(each, name)]
    assert missing == []
