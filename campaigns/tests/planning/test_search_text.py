"""Where a search is, in words: single runs are told while it goes on, and nothing of them once it has ended."""

from campaigns.planning.search_text import step_text
from campaigns.stats.capacity_search import Bracket, Phase, Step, Why

KNOWN = Bracket(200.0, 250.0)


def test_a_search_that_goes_on_tells_its_single_runs():
    step = Step(Why.HALVE, KNOWN, 5, phase=Phase.EXPLORE, load=224.0)

    assert step_text(step, "hosts") == "held at 200, failed at 250; next 224: halves the bracket"


def test_a_search_that_has_ended_leaves_what_is_carried_to_the_answer():
    """What one run did may contradict what all of them decide: 250 may be undecided, and 200 as well."""
    text = step_text(Step(Why.CONFIRMED, KNOWN, 14), "hosts")

    assert text == "confirmed; the answer has what is carried"


def test_a_search_without_runs_to_confirm_says_that_it_has_single_ones_only():
    text = step_text(Step(Why.FEW_RUNS, KNOWN, 8), "hosts")

    assert text == "held at 200, failed at 250 in single runs; too few runs are left to confirm it"
