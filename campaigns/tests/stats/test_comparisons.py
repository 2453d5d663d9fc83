from dataclasses import replace

import numpy as np
import pytest

from campaigns.stats import noisy
from campaigns.stats.compared import Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.multiplicity import holm
from campaigns.stats.verdict import Word, interval_of, p_value

SIDES = {"base": "baseline", "cand": "candidate"}


def compare(base, cand, *, lower_is_better=True, criteria=None):
    """Compare two cells without blocks."""
    (found,) = compare_cells(
        [base, cand],
        [(0, 1)],
        interleaved=False,
        lower_is_better=lower_is_better,
        criteria=criteria or Criteria(),
    ).comparisons
    return found


def interleaved(rows, wanted=None, **kwargs):
    levels = sorted({row["level"] for row in rows}, key=str)
    cells = [
        CellRuns(
            values=[row["value"] for row in rows if row["level"] == level],
            blocks=[row["block"] for row in rows if row["level"] == level],
        )
        for level in levels
    ]
    pairs = [tuple(levels.index(level) for level in pair) for pair in wanted]
    return compare_cells(cells, pairs, interleaved=True, lower_is_better=True, **kwargs)


def unblocked_cells(golden):
    rows = golden("a")["rows"]
    levels = sorted({row["concurrency"] for row in rows})
    return levels, [
        CellRuns([float(row["duration_s"]) for row in rows if row["concurrency"] == level])
        for level in levels
    ]


@pytest.fixture
def one_noise(monkeypatch):
    """Take the noise of all cells for one, as the published numbers do."""
    monkeypatch.setattr(noisy, "OUT", 0.0)


@pytest.mark.usefixtures("one_noise")
def test_the_published_steps_are_judged_as_one_family(golden):
    published = golden("a")["pooled_verdicts"]
    levels, cells = unblocked_cells(golden)
    wanted = [(i, i + 1) for i in range(len(levels) - 1)]

    found = compare_cells(cells, wanted, interleaved=False, lower_is_better=True)

    assert found.model == Model.POOLED
    for (base, cand), comparison in zip(wanted, found.comparisons, strict=True):
        expected = published["verdicts"][f"{levels[base]}->{levels[cand]}"]
        verdict = comparison.verdict
        assert verdict.word == expected["verdict"]
        assert verdict.p_adjusted == pytest.approx(expected["holm_p"], rel=1e-9)
        assert verdict.pct_change == pytest.approx(expected["pct"], rel=1e-9)
        assert list(verdict.ci_pct) == pytest.approx(expected["ci_pct"], rel=1e-9)
        assert ("tests_disagree" in verdict.badges) is expected["tests_disagree"]
        assert (comparison.ranks.min_attainable_p < 0.05) is expected["rank_test_can_reach_alpha"]
        assert verdict.required_n == published["required_n_per_level_for_5pct"]
        assert verdict.more == published["required_n_per_level_for_5pct"] - 3
        assert verdict.mde_pct == pytest.approx(published["mde_pct"], rel=1e-7)


def test_the_noisiest_level_of_the_published_steps_stays_with_the_others(golden):
    levels, cells = unblocked_cells(golden)
    wanted = [(i, i + 1) for i in range(len(levels) - 1)]

    found = compare_cells(cells, wanted, interleaved=False, lower_is_better=True)

    assert {each.model for each in found.comparisons} == {Model.POOLED}
    assert not found.fit.out


def test_two_cells_alone_are_read_as_published(golden):
    levels, cells = unblocked_cells(golden)

    for key, contrast in golden("a")["contrasts"].items():
        base, cand = (levels.index(int(level)) for level in key.split("->"))
        found = compare(cells[base], cells[cand])
        expected = contrast["alone"]["verdict"]
        assert found.model == Model.WELCH
        assert found.verdict.word == expected["verdict"]
        assert found.verdict.required_n == expected["required_n"]
        assert found.verdict.more == expected["more_runs"]
        assert list(found.verdict.ci90_pct) == pytest.approx(expected["ci90_pct"], rel=1e-9)
        assert found.verdict.p_tost == pytest.approx(expected["p_tost"], rel=1e-9)
        if "mde_pct" in expected:
            assert found.verdict.mde_pct == pytest.approx(expected["mde_pct"], rel=1e-7)


def test_unequal_numbers_are_planned_as_published(golden):
    case = golden("g")["unequal_n"]

    found = compare(CellRuns(case["base"]), CellRuns(case["cand"]))

    expected = case["expected"]["verdict"]
    assert found.verdict.word == expected["verdict"]
    assert (found.verdict.required_n, found.verdict.more) == (22, 19)
    assert found.verdict.mde_pct == pytest.approx(expected["mde_pct"], rel=1e-7)
    assert found.pct_change_of_means == pytest.approx(case["expected"]["pct_change_of_means"])


def test_all_words_of_the_closed_list_are_reached_as_published(golden):
    cases = golden("g")["verdicts"]

    for name, case in cases.items():
        params = case["params"]
        criteria = Criteria(
            margin=params["margin"],
            delta=params["delta"],
            alpha=params["alpha"],
            power=params["power"],
            minimum_n=params["n_min"],
        )
        found = compare(
            CellRuns(case["base"]),
            CellRuns(case["cand"]),
            lower_is_better=params["lower_is_better"],
            criteria=criteria,
        )
        assert found.verdict.word == case["expected"]["verdict"], name
        if case["expected"].get("ci_pct"):
            published = pytest.approx(case["expected"]["ci_pct"], rel=1e-9)
            assert list(found.verdict.ci_pct) == published


def test_refusals_are_as_published(golden):
    cases = [case for case in golden("g")["words"] if "base" in case]

    assert len(cases) == 7
    for case in cases:
        base, cand = (_cell(case[side]) for side in ("base", "cand"))
        found = compare(base, cand).verdict
        expected = case["expected"]
        assert found.word == expected["verdict"], case["name"]
        assert found.reason == expected.get("reason", ""), case["name"]
        assert found.side == SIDES.get(expected.get("side"), ""), case["name"]
        assert found.fields == tuple(expected.get("fields", ()))
        assert found.positions == tuple(expected.get("positions", ()))
        if expected["verdict"] == "too_many_failures":
            assert found.pct_change is None
        if "lost_share" in expected:
            assert found.share == pytest.approx(expected["lost_share"])
        elif "failed_share" in expected:
            assert found.share == pytest.approx(expected["failed_share"])


def _cell(case):
    return CellRuns(
        values=case["values"],
        failed=case.get("n_failed", 0),
        lost=case.get("n_lost", 0),
        failed_units=case.get("failed_units", ()),
        units=case.get("units", ()),
        key=case.get("key", {}),
    )


@pytest.mark.usefixtures("one_noise")
def test_blocks_are_judged_as_published(golden):
    for name in ("complete_6x5", "incomplete_6x5", "blocks_of_two"):
        dataset = golden("j")["datasets"][name]
        found = interleaved(dataset["rows"], dataset["pairs"])
        assert found.model == Model.BLOCKS
        for (base, cand), comparison in zip(dataset["pairs"], found.comparisons, strict=True):
            expected = dataset["expected"]["contrasts"][f"{base}->{cand}"]
            assert comparison.verdict.word == expected["verdict"], (name, base, cand)
            assert comparison.verdict.p_adjusted == pytest.approx(expected["p_holm"], rel=1e-8)
            assert comparison.effective_n == pytest.approx(expected["n_eff"], rel=1e-8)
            assert comparison.verdict.required_n == dataset["expected"]["required_blocks"]["5%"]
            mde = pytest.approx(expected["mde_pct"], rel=1e-7)
            assert comparison.verdict.mde_pct == mde


def test_cells_without_a_common_block_have_the_published_reason(golden):
    dataset = golden("j")["datasets"]["disconnected"]

    found = interleaved(dataset["rows"], [("b", "c"), ("a", "b")])

    apart, together = (comparison.verdict for comparison in found.comparisons)
    assert (apart.word, apart.reason) == (Word.NOT_ENOUGH_DATA, "not_connected")
    assert (together.word, together.reason) == (Word.NOT_ENOUGH_DATA, "n_below_minimum")


def test_a_noisier_cell_is_compared_by_its_own_pairs():
    rng = np.random.default_rng(8)
    noise = [0.002, 0.002, 0.002, 0.3]
    rows = [
        {"level": level, "block": block, "value": float(np.exp(rng.normal(0, sd)))}
        for level, sd in enumerate(noise)
        for block in range(12)
    ]

    found = interleaved(rows, [(0, 1), (0, 3)])

    assert found.model == Model.BLOCKS
    quiet, loud = found.comparisons
    assert (quiet.model, quiet.sensitivity.model) == (Model.BLOCKS, Model.PAIRED)
    assert "unequal_noise" not in quiet.verdict.badges
    assert quiet.verdict.word == Word.EQUIVALENT
    assert (loud.model, loud.sensitivity.model) == (Model.PAIRED, Model.BLOCKS)
    assert "unequal_noise" in loud.verdict.badges
    assert loud.standard_error > 20 * quiet.standard_error


def test_drift_from_block_to_block_is_no_noise():
    rng = np.random.default_rng(9)
    drift = np.linspace(0, 0.5, 6)
    rows = [
        {
            "level": level,
            "block": block,
            "value": float(np.exp(drift[block] - 0.07 * level + rng.normal(0, 0.01))),
        }
        for level in range(3)
        for block in range(6)
    ]
    cells = [[row["value"] for row in rows if row["level"] == level] for level in range(3)]

    in_blocks = interleaved(rows, [(0, 1)]).comparisons[0]
    without = compare_cells(
        [CellRuns(values) for values in cells],
        [(0, 1)],
        interleaved=False,
        lower_is_better=True,
    ).comparisons[0]

    assert in_blocks.verdict.word == Word.BETTER
    assert without.verdict.word == Word.NOT_ENOUGH_DATA


@pytest.mark.parametrize("interleave", [True, False])
def test_units_and_direction_change_no_verdict(golden, interleave):
    rows = golden("j")["datasets"]["complete_6x5"]["rows"]
    levels = sorted({row["level"] for row in rows})
    cells = [
        CellRuns(
            [row["value"] for row in rows if row["level"] == level],
            [row["block"] for row in rows if row["level"] == level],
        )
        for level in levels
    ]
    wanted = [(i, i + 1) for i in range(len(levels) - 1)]

    def words(values_of, *, lower_is_better):
        changed = [replace(cell, values=[values_of(v) for v in cell.values]) for cell in cells]
        found = compare_cells(
            changed, wanted, interleaved=interleave, lower_is_better=lower_is_better
        )
        return [comparison.verdict.word for comparison in found.comparisons]

    seconds = words(lambda v: v, lower_is_better=True)
    assert words(lambda v: 1000 * v, lower_is_better=True) == seconds
    assert words(lambda v: 1 / v, lower_is_better=False) == seconds


def test_the_order_of_the_runs_changes_nothing(golden):
    rows = golden("j")["datasets"]["incomplete_6x5"]["rows"]
    mixed = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]

    first = interleaved(rows, [(2, 4)]).comparisons[0].verdict
    second = interleaved(mixed, [(2, 4)]).comparisons[0].verdict

    assert first.word == second.word
    assert second.ci_pct == pytest.approx(first.ci_pct, rel=1e-9)


@pytest.mark.parametrize(
    ("base", "cand", "word", "reason"),
    [
        ([], [], Word.NOT_ENOUGH_DATA, "n_below_minimum"),
        ([1.0], [2.0], Word.NOT_ENOUGH_DATA, "n_below_minimum"),
        ([1.0, 1.0], [2.0, 2.0], Word.NOT_ENOUGH_DATA, "n_below_minimum"),
        ([1.0] * 3, [1.0] * 3, Word.EQUIVALENT, ""),
        ([1.0] * 3, [2.0] * 3, Word.WORSE, ""),
        ([1.0] * 3, [1.0, float("nan"), 1.0], Word.INVALID_VALUES, ""),
        ([1.0] * 3, [1.0, float("inf"), 1.0], Word.INVALID_VALUES, ""),
        ([1.0, -1.0, 1.0], [1.0] * 3, Word.INVALID_VALUES, ""),
    ],
)
@pytest.mark.parametrize("interleave", [True, False])
def test_edges_have_their_word(base, cand, word, reason, interleave):
    cells = [CellRuns(values, range(len(values)), failed=0) for values in (base, cand)]

    (found,) = compare_cells(
        cells, [(0, 1)], interleaved=interleave, lower_is_better=True
    ).comparisons

    assert (found.verdict.word, found.verdict.reason) == (word, reason)


def test_a_cell_where_all_failed_leaves_the_others_alone():
    good = CellRuns([10.0, 10.1, 9.9, 10.0], range(4))
    other = CellRuns([12.0, 12.1, 11.9, 12.0], range(4))
    failed = CellRuns([], [], failed=4)

    found = compare_cells(
        [good, failed, other], [(0, 1), (0, 2)], interleaved=True, lower_is_better=True
    )

    assert found.comparisons[0].verdict.word == Word.TOO_MANY_FAILURES
    assert found.comparisons[1].verdict.word == Word.WORSE
    assert found.fitted == (0, 2)


def in_sessions(effects, blocks=8, sd=0.01, cells=2, seed=3):
    """Cells in blocks, of which the last one changes by another effect in each session."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, sd, (cells, len(effects), blocks))
    logs[-1] += np.array(effects)[:, None]
    number = len(effects) * blocks
    return [
        CellRuns(
            values=np.exp(2 + row.ravel()).tolist(),
            blocks=range(number),
            sessions=[place // blocks for place in range(number)],
        )
        for row in logs
    ]


def last_against_first(cells, **options):
    return compare_cells(
        cells, [(0, len(cells) - 1)], interleaved=True, lower_is_better=True, **options
    )


def test_three_sessions_are_judged_by_what_differs_between_them():
    """Sessions of -6, +1 and -5.5 %: within them the interval leaves 0 out."""
    found = last_against_first(in_sessions([-0.062, 0.01, -0.057])).comparisons[0]

    within = interval_of(found.sessions.within, 0.05)
    assert within.high < 0
    assert found.verdict.ci_pct.low < -9
    assert found.verdict.ci_pct.high > 5
    assert (found.verdict.word, found.verdict.n) == (Word.NOT_ENOUGH_DATA, 3)
    assert found.verdict.pct_change == pytest.approx(
        100 * np.expm1(np.mean(found.sessions.estimates))
    )
    assert found.df == 23  # of the model within sessions


def test_the_p_values_of_a_family_are_those_between_sessions():
    cells = in_sessions([-0.1, -0.12, -0.11], cells=3)

    found = compare_cells(cells, [(0, 1), (0, 2)], interleaved=True, lower_is_better=True)

    raw = [each.verdict.p for each in found.comparisons]
    assert [each.verdict.p_adjusted for each in found.comparisons] == pytest.approx(holm(raw))
    assert raw[1] == pytest.approx(p_value(found.comparisons[1].sessions.between))


def test_two_sessions_that_contradict_each_other_are_no_verdict():
    found = last_against_first(in_sessions([-0.06, 0.03])).comparisons[0]

    assert (found.verdict.word, found.verdict.reason) == (
        Word.NOT_ENOUGH_DATA,
        "sessions_disagree",
    )
    assert "two_sessions" in found.verdict.badges


def test_a_session_of_one_block_counts_though_it_knows_no_noise():
    cells = in_sessions([-0.1, -0.1, -0.1])
    few = [
        CellRuns(
            values=[*cell.values[:8], cell.values[8], cell.values[16]],
            blocks=[*range(8), 8, 16],
            sessions=[*[0] * 8, 1, 2],
        )
        for cell in cells
    ]

    found = last_against_first(few).comparisons[0]

    assert (len(found.sessions.estimates), found.verdict.n) == (3, 3)


def test_a_pair_that_two_of_three_sessions_hold_is_judged_by_those():
    first, second = in_sessions([-0.1, -0.1, -0.1])
    second = CellRuns(second.values[:16], blocks=second.blocks[:16], sessions=second.sessions[:16])

    found = last_against_first([first, second])

    assert "two_sessions" in found.comparisons[0].verdict.badges
    assert found.between is None


@pytest.mark.usefixtures("one_noise")
def test_what_is_said_of_all_cells_rests_on_one_value_a_session():
    cells = in_sessions([-0.1, 0.1, 0.0], cells=3)

    between = last_against_first(cells).between

    assert between.blocks.fit.df == 4
    assert [len(each.values) for each in between.cells] == [3, 3, 3]
    means = [np.log(each.array).mean() for each in cells]
    assert between.blocks.fit.means - between.blocks.fit.means[0] == pytest.approx(
        np.array(means) - means[0]
    )


@pytest.mark.parametrize("interleaved", [True, False])
def test_without_sessions_nothing_is_between_them(interleaved):
    cells = [
        CellRuns(each.values, blocks=each.blocks if interleaved else ())
        for each in in_sessions([0.1])
    ]

    found = compare_cells(cells, [(0, 1)], interleaved=interleaved, lower_is_better=True)

    assert found.between is None
    assert found.comparisons[0].sessions.standing == "one_session"


@pytest.mark.parametrize("in_blocks", [True, False])
def test_without_ranks_each_verdict_is_the_same(golden, in_blocks):
    _, cells = unblocked_cells(golden)
    if in_blocks:
        cells = [replace(cell, blocks=list(range(len(cell.values)))) for cell in cells]
    wanted = [(i, i + 1) for i in range(len(cells) - 1)]

    usual, short = (
        compare_cells(
            cells, wanted, interleaved=in_blocks, lower_is_better=True, ranks=ranks
        ).comparisons
        for ranks in (True, False)
    )

    assert all(each.ranks and each.shift for each in usual)
    assert not any(each.ranks or each.shift for each in short)
    assert [replace(each.verdict, badges=()) for each in usual] == [
        replace(each.verdict, badges=()) for each in short
    ]
