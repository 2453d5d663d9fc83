"""The matrix of improvements beside what each setting carries."""

import dataclasses

import pytest

from campaigns.findings import values as stored
from campaigns.findings.charts.base import View
from campaigns.findings.charts.heat import heat_table
from campaigns.findings.charts.interaction import matrix_of, panel
from campaigns.kit.charts.labels import FactorOutline, LevelLabels
from campaigns.stats.capacity import Capacity, CapacityRatio, CapacityWord
from campaigns.stats.cell_states import CellState
from campaigns.tests.findings.charts.shown import shown

HOSTS = FactorOutline("hosts", "Hosts", (100, 400), load=True)
WORKERS = FactorOutline("workers", "Puma workers", (2, 4, 8))


def made(found):
    """What is there, of any type."""
    assert found is not None
    return found


def cell(key, level, state="ok", improvement=None, failed=0):
    return stored.MatrixCell(
        cell=key, level=level, state=CellState(state), improvement_pct=improvement, ci_pct=None,
        word=None, n=3, failed=failed, lost=0, failed_units=0,
    )  # fmt: skip


def row(hosts, *cells):
    return stored.MatrixRow(
        levels={"hosts": hosts},
        cells=cells,
        no_baseline=False,
        best=None,
        ties=[],
        recommended=None,
    )


def capacity(word, low, estimate, high):
    return Capacity(CapacityWord(word), low, estimate, high, 3, 100, 400, 1.5, ())


@pytest.fixture
def given():
    matrix = stored.Matrix(
        metric="duration", label="Duration", unit="s", lower_is_better=True, tie_points=2.0,
        factors={
            "workers": stored.FactorMatrix(
                factor="workers", columns=[2, 4, 8], numeric=True, interaction=None,
                rows=[
                    row(100, cell(1, 2, "baseline", 0.0), cell(2, 4, improvement=12.0), cell(3, 8, improvement=14.0)),
                    row(400, cell(4, 2, "baseline", 0.0), cell(5, 4, improvement=40.0), cell(6, 8, "too_many_failures", failed=2)),
                ],
            )
        },
    )  # fmt: skip
    carried = (
        ("carries", 200, 204, 211),
        ("carries", 340, 348, 352),
        ("less_than", None, None, 100),
    )
    finding = stored.CapacityFinding(
        load="hosts", load_label="Hosts", others=[], conditions=[], stated=True, resolution=1.5,
        alpha=0.05, margin_pct=5.0, delta_pct=10.0,
        settings=[
            stored.CapacityOfSetting(levels={"workers": workers}, cells=[], capacity=capacity(*each))
            for workers, each in zip((2, 4, 8), carried, strict=True)
        ],
        ratios=[
            stored.SettingRatio(
                baseline=0, candidate=1, factor="workers",
                ratio=CapacityRatio("better", 1.705, 1.61, 1.79),
            )
        ],
    )  # fmt: skip
    return dataclasses.replace(
        shown(matrix=matrix, capacity=finding),
        labels=LevelLabels([HOSTS, WORKERS]),
        view=View("duration", HOSTS, WORKERS),
    )


def test_what_each_column_carries_stands_below_its_improvements(given):
    table = made(heat_table(given))

    assert [each.name for each in table.rows] == ["100", "400", "carries"]
    last = table.rows[-1]
    assert last.carried
    assert [each.text for each in last.cells] == [
        "200 to 211 hosts", "340 to 352 hosts", "fewer than 100 hosts",
    ]  # fmt: skip
    assert last.cells[1].notes == ("1.7 times (1.6 to 1.8)",)
    assert table.load == "hosts"


def test_too_many_failures_remain_a_result_at_their_load(given):
    table = made(heat_table(given))

    assert table.rows[1].cells[2].text == "too many failures"
    assert table.rows[1].cells[2].title == "3 runs, 2 failed"
    assert table.rows[1].cells[1].title.endswith("3 runs")
    assert (table.failing, table.missing) == (1, 0)


def test_no_column_is_a_load_and_none_is_the_best_of_all(given):
    table = made(heat_table(given))

    assert made(matrix_of(given)).factor == "workers"
    assert table.heads == ("2", "4", "8")
    assert not any("best" in note for each in table.rows for c in each.cells for note in c.notes)


def test_without_a_capacity_there_are_improvements_alone(given):
    given.findings.capacity = None

    assert [each.name for each in made(heat_table(given)).rows] == ["100", "400"]


def test_the_interaction_has_the_load_on_its_axis_and_settings_as_lines(given):
    found = made(panel(given))

    assert found.plot.title == "Interaction: hosts and puma workers"
    assert "4: +12.0 % at 100, +40.0 % at 400. 8: +14.0 % at 100, no value at 400." in (
        found.plot.label
    )
    assert "against puma workers 2" in found.plot.label
