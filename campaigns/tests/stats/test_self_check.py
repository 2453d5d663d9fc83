"""A short form of `script/bench statistics`, with bounds so wide that only a wrong formula leaves them."""

import numpy as np
import pytest

from bench.selfcheck import (
    alarms,
    capacities,
    cells,
    contrasts,
    curve_fits,
    families,
    floors,
    noises,
    said,
    sentences,
    several,
    stops,
)
from bench.selfcheck.advice import UNSAID, advice_for
from bench.selfcheck.plan import Task, run, tasks
from bench.selfcheck.report import markdown
from bench.selfcheck.speed import Timing
from bench.selfcheck.tally import Figure, Promise, count
from bench.selfcheck.worlds import DRIFTING, HEAVY, IN_BLOCKS, NORMAL
from campaigns.stats.comparison_cells import CellRuns

WIDE = 0.08
"""On both sides of a nominal share; that of 120 campaigns has a standard error of .02."""


@pytest.fixture(
    autouse=True,
    params=[pytest.param(0.4, id="part"), pytest.param(1.0, id="all", marks=pytest.mark.nightly)],
)
def _share(request, monkeypatch):
    """By day so many of the repeats: seeds are fixed, and bounds as wide."""
    monkeypatch.setitem(globals(), "share", request.param)


share = 1.0


def figures_of(simulate, *arguments, reps=120):
    return run(Task(simulate, arguments, max(2, round(share * reps))), seed=1)


@pytest.mark.parametrize("n", [3, 10])
def test_comparisons_cover_the_truth_and_find_what_the_formula_promises(n):
    for figure in figures_of(contrasts.contrasts, NORMAL, n):
        wide = WIDE if figure.section != contrasts.POWER or n > 3 else 0.15  # Welch's is lower
        if figure.promise == Promise.AT_MOST:
            assert figure.share < figure.nominal + WIDE, figure
        else:
            assert figure.share == pytest.approx(figure.nominal, abs=wide), figure


def test_blocks_protect_comparisons_from_the_drift_that_cell_after_cell_falls_for():
    by_name = {
        figure.quantity: figure.share
        for figure in figures_of(contrasts.contrasts, DRIFTING, 10)
        if figure.section == contrasts.COVERAGE
    }

    assert by_name["blocks of 6"] > 0.89
    assert by_name["pooled, cell after cell"] < 0.5


@pytest.mark.parametrize("world", [NORMAL, HEAVY])
def test_cells_ranks_and_hard_factors_cover_the_truth(world):
    for simulate in (cells.summaries, cells.ranks, contrasts.split_plots):
        for figure in figures_of(simulate, world, 10):
            low = figure.nominal - WIDE if figure.promise == Promise.EXACTLY else 0
            assert low < figure.share < figure.nominal + WIDE, figure


@pytest.mark.parametrize("world", [NORMAL, IN_BLOCKS])
def test_one_number_over_several_comparisons_covers_the_truth(world):
    for figure in figures_of(several.several, world, 5):
        low = figure.nominal - WIDE if figure.promise == Promise.EXACTLY else 0
        assert low <= figure.share < figure.nominal + WIDE, figure


@pytest.mark.parametrize("n", [3, 10])
def test_the_floor_of_few_pairs_holds_for_as_many_as_it_says(n):
    (figure,) = figures_of(floors.floors, NORMAL, n, reps=400)

    assert figure.share == pytest.approx(0.95, abs=WIDE)


def test_a_noisy_level_makes_few_false_verdicts():
    for figure in figures_of(noises.noises, 8, 3, reps=20):
        if figure.nominal is not None:
            assert figure.share < figure.nominal + 0.16, figure


def test_families_best_settings_and_sessions_keep_their_promises():
    found = [
        *figures_of(families.families, IN_BLOCKS, 5, reps=100),
        *figures_of(families.best_settings, NORMAL, 5),
        *figures_of(families.sessions, 0.03, 3),
        *figures_of(families.shares, 0.05, 0.02, 5),
    ]

    for figure in found:
        if figure.quantity == "interval of these sessions only":
            assert figure.share < 0.75
        elif figure.promise == Promise.AT_MOST:
            assert figure.share < figure.nominal + 2 * WIDE, figure
        elif figure.nominal:
            assert figure.share > figure.nominal - WIDE, figure


def test_what_is_said_of_sessions_coarse_values_and_drift_is_rarely_wrong():
    found = [
        *figures_of(said.sessions_said, 0.0, 2, reps=200),
        *figures_of(said.sessions_said, 0.03, 3, reps=200),
        *figures_of(said.rounded, 1.0, 8),
        *figures_of(said.blocked, 0.0, reps=60),
        *figures_of(said.blocked, 0.08, reps=60),
    ]

    for figure in found:
        if figure.nominal is not None:
            assert figure.share <= figure.nominal + WIDE, figure
    assert not [each.hits for each in found if "no session said" in each.quantity and each.hits]


def test_checks_of_validity_raise_few_false_alarms():
    for figure in figures_of(alarms.alarms, NORMAL, 10, reps=50):
        if figure.nominal:
            assert figure.share < figure.nominal + 2 * WIDE, figure


def test_after_a_stop_the_interval_still_covers():
    (figure,) = figures_of(stops.stops, 2, 0.05, reps=60)

    assert figure.share > 0.95 - 2 * WIDE
    assert 11 < float(figure.note.removesuffix(" blocks")) < 18


def test_capacities_of_300_campaigns_are_covered():
    covered, decided = figures_of(capacities.capacities, "closed loop", 0.06, 3, reps=300)

    assert covered.off == ""
    assert covered.share > 0.92
    assert decided.share > 0.95


@pytest.mark.parametrize(
    ("simulate", "arguments"),
    [
        (capacities.capacities, ("coherency", 0.06, 3)),
        (capacities.capacities, ("on the bend", 0.03, 3)),
        (capacities.capacities, ("offered rate", 0.06, 3)),
        (capacities.worlds, ("drift", 3)),
        (capacities.worlds, ("noise above", 3)),
        (capacities.worlds, ("holes", 3)),
        (capacities.shapes, ("S-shape", 2.0, 3)),
        (capacities.shapes, ("S-shape", 1.35, 3)),
        (capacities.shapes, ("kink", 1.35, 3)),
        (capacities.shapes, ("cap by time-out", 1.35, 3)),
        (capacities.shapes, ("two states of a run", 1.35, 3)),
        (capacities.failing, (3,)),
        (capacities.two_conditions, (3,)),
        (capacities.lasting, (3,)),
        (capacities.ratios, (1.0, 0.06, 3)),
        (capacities.searches, ("closed loop",)),
        (capacities.searches, ("offered rate",)),
    ],
)
def test_capacities_ratios_and_searches_keep_their_promises(simulate, arguments):
    for figure in figures_of(simulate, *arguments, reps=60):
        if figure.promise == Promise.AT_LEAST:
            assert figure.share > 0.95 - 1.5 * WIDE, figure
        elif figure.promise == Promise.AT_MOST:
            assert figure.share < 0.05 + 2 * WIDE, figure


def test_breaks_and_laws_are_bounded():
    for figure in (
        *figures_of(curve_fits.knees, NORMAL, 5, reps=5),
        *figures_of(curve_fits.laws, 5, reps=2),
    ):
        if figure.promise == Promise.EXACTLY:
            assert figure.share >= 0.4, figure
        else:
            assert figure.share < 0.35, figure


def test_equal_seeds_give_equal_figures_and_parts_have_streams_of_their_own():
    task = Task(cells.ranks, (NORMAL, 5), 20)

    assert run(task, 7) == run(task, 7)
    names = [each.name for each in tasks()]
    assert len(set(names)) == len(names)


def figure(hits, nominal, promise, section="Power", quantity="Welch", column="drift"):
    return Figure(section, quantity, column, "3", hits, 1000, nominal, promise)


def test_a_figure_is_off_where_its_interval_leaves_the_nominal_value():
    assert figure(950, 0.95, Promise.EXACTLY).off == ""
    assert figure(900, 0.95, Promise.EXACTLY).off == "low"
    assert figure(990, 0.95, Promise.EXACTLY).off == "high"
    assert figure(990, 0.95, Promise.AT_LEAST).off == ""
    assert figure(10, 0.05, Promise.AT_MOST).off == ""
    assert figure(100, 0.05, Promise.AT_MOST).off == "high"
    assert count("Checks", "x", "y", 3, [True, False]).off == ""


def test_what_is_off_is_marked_and_advised_on():
    off = figure(900, 0.95, Promise.EXACTLY)

    page = markdown([off], [Timing("S1", 0.5, 1.0)], seed=1, head="Made by it.", seconds=2)

    assert advice_for(off) != UNSAID
    assert advice_for(off) in page
    assert "| 90.0 ▼ (" in page
    assert "| S1 | 0.50 | < 1 |" in page


def test_no_sentence_crowns_an_equal_a_lost_or_a_drifting_setting():
    found = [
        *figures_of(sentences.equal, 3, 5, reps=150),
        *figures_of(sentences.lost, 6, 2, reps=150),
        *figures_of(sentences.drifting, 5, reps=150),
    ]

    page = markdown(found, [], seed=1, head="Made by it.", seconds=2)

    assert "## Sentences" in page
    for figure in found:
        if figure.nominal:
            assert figure.share < figure.nominal + WIDE, figure
        else:
            assert figure.hits == 0, figure


def test_the_sentences_that_are_counted_do_crown_a_setting_that_is_faster():
    logs = np.array([[0.0, 0.01, -0.01], [0.3, 0.31, 0.29]])
    cells = [CellRuns(np.exp(row).tolist(), blocks=(1, 2, 3)) for row in logs]

    sentence = sentences.sentence_of(cells, interleaved=True)

    assert sentence == "W a is the fastest; b is 35.0 % slower."
    assert sentences.crowns(sentence)
