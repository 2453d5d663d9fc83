"""The strip of resources by level, and the drawing of all runs."""

from dataclasses import replace

from campaigns.findings.charts.resources import MOST_RUNS, run_heat, shade_of, strips_of
from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.results.watched import observed
from campaigns.stats.binding import Figure, Resource, ResourceState, State
from campaigns.stats.binding_levels import level_binding, ranges_of
from campaigns.stats.binding_rule import judge
from campaigns.tests.stats.machines import MACHINES
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
    assert [cell.text for cell in rows["CPU"]] == ["used 30 %", "used 98 %", "?"]
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
    assert [cell.text for cell in cells] == ["busy 60 %", "busy 40 %"]
    assert "web" in cells[1].title
    heat = run_heat(list(enumerate(runs)))
    assert heat is not None
    assert [line.unknown for line in heat.lines if line.name.startswith("one core")] == [0]


def with_core(label, used):
    core = ResourceState(
        Resource.CORE,
        label,
        State.FREE,
        utilisation=used,
        judged_by=Figure("core_busy", used, limit=0.95),
    )
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


def test_shades_rise_as_a_figure_comes_near_its_limit():
    shades = [
        shade_of(Figure("cpu_used", value, limit=0.9)) for value in (0.0, 0.3, 0.5, 0.7, 0.89)
    ]
    assert shades == ["l1", "l2", "l3", "l4", "l4"]
    assert shade_of(Figure("cpu_used", 0.2, limit=0.9), binds=True) == "l5"
    assert shade_of(None) == shade_of(Figure("database_cpu", 0.9)) == "base"


def test_the_strip_shows_what_the_rule_judged_by(subtests):
    """Where something binds its figure is at the limit by which it was judged, never a mean use below it."""
    for known in MACHINES:
        runs = [judge(known.observed)] * 3
        (strip,) = strips_of(finding(runs, [IDLE] * 3))
        shown = {(each.resource, each.label): each for each in level_binding(runs).resources}
        for each in runs[0].strongest:
            with subtests.test(known.name, resource=each.resource):
                by = shown[each.resource, each.label].judged_by
                assert by
                assert by.limit is None or by.value >= by.limit
        for row in strip.rows:
            with subtests.test(known.name, row=row.name):
                assert row.cells[0].binds == (row.cells[0].shade == "l5")
                assert not row.cells[0].binds or row.cells[0].text not in ("", "—", "?")


def test_half_a_run_is_a_part_in_the_strip():
    known = next(each for each in MACHINES if each.name == "a CPU for the first half")
    (strip,) = strips_of(finding([judge(known.observed)] * 3, [IDLE] * 3))
    cell = next(row.cells[0] for row in strip.rows if row.name == "CPU")
    assert (cell.text, cell.binds, cell.part) == ("used 100 %", True, True)
    assert "for part of the run in 3 of 3 runs" in cell.title


def test_findings_of_earlier_rules_are_drawn_without_figures():
    old = replace(BUSY, resources=[replace(each, judged_by=None) for each in BUSY.resources])
    (strip,) = strips_of(finding([old, old]))
    cell = next(row.cells[0] for row in strip.rows if row.name == "CPU")
    assert (cell.text, cell.binds) == ("—", True)
