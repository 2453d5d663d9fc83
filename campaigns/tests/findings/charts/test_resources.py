"""The strip of resources by level, and the drawing of all runs."""

from dataclasses import replace

from campaigns.findings.charts.resources import MOST_RUNS, run_heat, shade_of, strips_of
from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.results.watched import observed
from campaigns.stats.binding import Resource, ResourceState, State
from campaigns.stats.binding_levels import level_binding, ranges_of
from campaigns.stats.binding_rule import judge
from campaigns.tests.watched import SECONDS, machine, watched

BUSY = judge(observed(watched(machine(0.98)).sources, SECONDS))
IDLE = judge(observed(watched(machine(0.3)).sources, SECONDS))


def finding(*levels):
    """Return a finding of levels, each a list of runs."""
    words = [level_binding(runs) for runs in levels]
    cells = [BindingLevel(place, 2.0**place, word) for place, word in enumerate(words)]
    group = BindingGroup(levels={}, cells=cells, ranges=ranges_of(words), trends=[])
    runs = sum(map(len, levels))
    return BindingFinding(
        factor="clients", label="clients", is_load=True, numeric=True, groups=[group], runs=runs,
        watched=runs, not_watched=[], missing=[], caveats=[], rule=1, alpha=0.05,
    )  # fmt: skip


def test_a_column_a_level_and_a_mark_where_a_resource_binds():
    (strip,) = strips_of(finding([IDLE, IDLE], [BUSY, BUSY], []))
    assert strip.heads == ("1", "2", "4")
    rows = {row.name: row.cells for row in strip.rows}
    assert [cell.text for cell in rows["CPU"]] == ["30 %", "98 %", "?"]
    assert [cell.binds for cell in rows["CPU"]] == [False, True, False]
    assert [cell.shade for cell in rows["CPU"]] == ["l2", "l5", "unknown"]
    assert "binds in 2 of 2 runs" in rows["CPU"][1].title


def test_a_level_whose_runs_differ_has_neither_mark_nor_value():
    (strip,) = strips_of(finding([IDLE, BUSY], [IDLE, IDLE]))
    cell = next(row.cells[0] for row in strip.rows if row.name == "CPU")
    assert (cell.text, cell.shade, cell.binds) == ("?", "unknown", False)
    assert "binds in 1 of 2 runs" in cell.title


def test_the_busiest_core_has_one_row_whosever_it_is():
    runs = [with_core("", 0.6), with_core("web", 0.4)]
    (strip,) = strips_of(finding(*([run, run] for run in runs)))
    (cells,) = [row.cells for row in strip.rows if row.name.startswith("one core")]
    assert [cell.text for cell in cells] == ["60 %", "40 %"]
    assert "web" in cells[1].title
    heat = run_heat(list(enumerate(runs)))
    assert heat is not None
    assert [line.unknown for line in heat.lines if line.name.startswith("one core")] == [0]


def with_core(label, used):
    core = ResourceState(Resource.CORE, label, State.FREE, utilisation=used)
    others = [each for each in IDLE.resources if each.resource != Resource.CORE]
    return replace(IDLE, resources=[*others, core])


def test_all_runs_in_one_drawing_and_of_many_the_last():
    heat = run_heat([(place, BUSY if place % 2 else IDLE) for place in range(10)])
    assert heat is not None
    lines = {line.name: line for line in heat.lines}
    assert lines["CPU"].binds == 5
    assert [shade for shade, _ in lines["CPU"].paths] == ["l2", "l5"]
    assert heat.label.startswith("Resources of the target in 10 runs: CPU binds in 5")
    many = run_heat([(place, IDLE) for place in range(MOST_RUNS + 7)])
    assert many is not None
    assert (many.runs, many.left_out) == (MOST_RUNS, 7)
    assert run_heat([]) is None


def test_shades_rise_with_utilisation():
    assert [shade_of(value) for value in (None, 0.0, 0.2, 0.5, 0.7, 1.2)] == [
        "base",
        "l1",
        "l2",
        "l3",
        "l4",
        "l5",
    ]
