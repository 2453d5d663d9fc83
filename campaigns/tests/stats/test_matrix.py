import pytest

from campaigns.stats.cell_states import CellState
from campaigns.stats.cell_summary import summarise
from campaigns.stats.comparison_cells import CellRuns, failed_share
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.logs import ratio_of
from campaigns.stats.matrix import compose, improvement_pct, rank, ratio_of_improvement, state_of
from campaigns.stats.verdict import Word

MATRICES = [
    "threads_at_4_workers",
    "workers_default_4cpu",
    "workers_medium_8cpu",
    "workers_xl_32cpu_90gib",
]

WIDE = Criteria(failed_limit=0.2)


@pytest.mark.parametrize("name", MATRICES)
def test_published_matrices_are_read_as_published(golden, name):
    document = golden("c")
    matrix = document["matrices"][name]
    failed = document["too_many_failures"]
    values = [None if value == failed else value for value in matrix["improvement"]]
    expected, levels = matrix["expected"], matrix["levels"]

    found = rank(values)

    assert [levels[i] for i in found.best] == expected["best_levels"]
    assert levels[found.best[0]] == expected["lowest_best"]
    assert [levels[i] for i in found.top] == expected["top_two"]
    assert [levels[i] for i in found.regressions] == expected["regressions"]
    for points, ties in expected["within_pp"].items():
        within = rank(values, points=float(points))
        assert [levels[i] for i in within.ties] == ties
        assert levels[within.recommended] == expected["lowest_within_pp"][points]
    for level, value in zip(levels, values, strict=True):
        if value is not None:
            ratio = ratio_of_improvement(value, lower_is_better=True)
            assert ratio == pytest.approx(expected["implied_time_ratio"][str(level)])


def test_improvements_compose_by_ratios(golden):
    published = golden("c")["proxy_composition"]
    first, second, third = published["raw_seconds"]

    steps = [
        improvement_pct(after / before, lower_is_better=True)
        for before, after in ((first, second), (second, third))
    ]

    composed = compose(published["steps_published"], lower_is_better=True)
    assert composed == pytest.approx(published["composed"])
    assert steps == pytest.approx(published["steps_from_raw"])
    assert compose(steps, lower_is_better=True) == pytest.approx(published["both_from_raw"])


def test_an_improvement_of_raw_cells_is_as_published(golden):
    raw = golden("c")["raw_cells"]
    base, cand = (CellRuns(raw["inputs"][side]) for side in ("base", "cand"))

    (found,) = compare_cells(
        [base, cand], [(0, 1)], interleaved=False, lower_is_better=True
    ).comparisons

    expected = raw["expected"]["cand"]["verdict"]
    assert found.verdict.word == expected["verdict"]
    assert (found.verdict.required_n, found.verdict.more) == (5, 1)
    ratio = 1 + found.pct_change_of_means / 100
    improvement = improvement_pct(ratio, lower_is_better=True)
    assert improvement == pytest.approx(raw["expected"]["improvement_of_means_pct"], rel=1e-9)


def test_a_failing_cell_has_no_number_though_its_survivors_look_good(golden):
    raw = golden("c")["raw_cells"]
    case, expected = raw["inputs"]["failed_cell"], raw["expected"]["failed_cell"]
    cell = CellRuns(case["ok"], failed=case["failed"])

    found = compare_cells(
        [CellRuns(raw["inputs"]["base"]), cell], [(0, 1)], interleaved=False, lower_is_better=True
    ).comparisons[0]

    assert state_of(cell, Criteria()) == CellState.TOO_MANY_FAILURES
    assert found.verdict.word == Word.TOO_MANY_FAILURES
    assert found.verdict.pct_change is None
    assert found.pct_change_of_means is None
    assert found.verdict.share == pytest.approx(expected["failure_rate"])


def test_one_failed_run_is_beyond_the_limit_unless_there_are_twenty(golden):
    """A14: the published case, 1 of 10, is a value with a warning only within a wider limit."""
    raw = golden("c")["raw_cells"]
    case, expected = raw["inputs"]["partly"], raw["expected"]["partly"]
    cell = CellRuns(case["ok"], failed=case["failed"])

    found = compare_cells(
        [CellRuns(raw["inputs"]["base"]), cell],
        [(0, 1)],
        interleaved=False,
        lower_is_better=True,
        criteria=WIDE,
    ).comparisons[0]
    summary = summarise(case["ok"], failed=case["failed"])

    assert expected["shown"] == "value with warning"
    assert state_of(cell, WIDE) == CellState.WARN
    assert state_of(cell, Criteria()) == CellState.TOO_MANY_FAILURES
    assert state_of(CellRuns([1.0] * 19, failed=1), Criteria()) == CellState.WARN
    ratio = 1 + found.pct_change_of_means / 100
    improvement = improvement_pct(ratio, lower_is_better=True)
    assert improvement == pytest.approx(expected["improvement_pct"], rel=1e-9)
    assert summary.failure_rate == pytest.approx(expected["failure_rate"])
    assert list(summary.failure_rate_ci) == pytest.approx(expected["wilson95"], rel=1e-9)


def test_one_failed_unit_in_a_thousand_is_a_warning():
    cell = CellRuns([10.0, 11.0], failed_units=[1, 0], units=[500, 500])

    assert state_of(cell, Criteria()) == CellState.WARN
    assert failed_share([1, 0], [500, 500]).share == pytest.approx(0.001)


def test_states_of_whole_and_empty_cells():
    assert state_of(CellRuns([1.0, 2.0]), Criteria()) == CellState.OK
    assert state_of(CellRuns([1.0]), Criteria(), is_baseline=True) == CellState.BASELINE
    assert state_of(CellRuns([]), Criteria()) == CellState.MISSING
    assert state_of(CellRuns([], lost=3), Criteria()) == CellState.MISSING
    assert state_of(CellRuns([1.0], failed=1), Criteria()) == CellState.TOO_MANY_FAILURES


def test_without_numbers_nothing_is_ranked():
    assert rank([None, None]).recommended is None
    assert rank([]).best == ()


@pytest.mark.parametrize("lower_is_better", [True, False])
def test_improvement_and_ratio_undo_each_other(lower_is_better):
    for log in (-0.5, 0.0, 0.3):
        ratio = ratio_of(log)
        pct = improvement_pct(ratio, lower_is_better=lower_is_better)
        back = ratio_of_improvement(pct, lower_is_better=lower_is_better)
        assert back == pytest.approx(ratio)
