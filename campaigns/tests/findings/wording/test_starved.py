"""What is said of runs whose generator others kept waiting: nothing is judged by them, and it is said how many they are."""

import pytest

from campaigns.findings.wording.best_set import why_unknown
from campaigns.findings.wording.starved import kept_waiting, not_judged
from campaigns.tests.findings.wording.builders import answer, answered, cell


def setting(key, ok, starved, **levels):
    """Return a cell of which some runs are starved; its name is its level of `workers`."""
    return cell(
        key,
        20.0 if ok else None,
        ok,
        n_lost=starved,
        states={"ok": ok, "bound": starved},
        starved=starved,
        **({"workers": key} | levels),
    )


ALL = "Not judged: other programs kept the load generator waiting in {}."


@pytest.mark.parametrize(
    ("cells", "fields", "of"),
    [
        ([setting(1, 0, 8), setting(2, 0, 7)], {}, "15 of 15 runs"),
        ([setting(1, 0, 15)], {}, "15 of 15 runs"),
        ([setting(1, 5, 0), setting(2, 0, 5)], {}, "5 of 10 runs"),
        ([setting(1, 7, 3)], {}, "3 of 10 runs"),
        ([setting(1, 0, 1)], {}, "1 of 1 run"),
        ([setting(1, 0, 3), setting(2, 0, 3)], {"loads": ["workers"]}, "6 of 6 runs"),
    ],
    ids=["all", "one cell", "one of two", "too many", "one run", "all loads"],
)
def test_a_campaign_that_starved_runs_leave_too_little_of_is_not_judged(cells, fields, of):
    text = answered(answer(*cells, **fields))

    assert text.sentence == ALL.format(of)
    assert text.certainty == "Run it on a quiet machine, or from another one."
    assert (text.tone, text.facts, text.statements) == ("warn", (), ())


def test_a_campaign_that_is_not_judged_says_that_its_target_was_simulated():
    text = answered(answer(setting(1, 0, 15), simulators=["simulated Pulp"]))

    assert text.sentence == ALL.format("15 of 15 runs")
    assert text.caveat == "Measured on a simulated Pulp, not on a real server."


@pytest.mark.parametrize(
    ("cells", "fields"),
    [
        ([setting(1, 5, 0), setting(2, 5, 0)], {}),
        ([setting(1, 9, 1), setting(2, 5, 0)], {}),
        ([setting(1, 5, 0), setting(2, 5, 0), setting(3, 0, 5)], {}),
        ([setting(1, 5, 0), setting(2, 0, 5)], {"loads": ["workers"]}),
        ([setting(1, 2, 0), setting(2, 2, 0)], {}),
    ],
    ids=["none", "one of many", "one cell of three", "one load", "too few anyway"],
)
def test_where_enough_is_left_the_rest_is_judged(cells, fields):
    assert not_judged(answer(*cells, **fields)) is None


def test_one_starved_run_is_the_caveat():
    text = answered(answer(setting(1, 9, 1), setting(2, 10, 0)))

    assert text.caveat.startswith(
        "Other programs kept the load generator waiting in 1 of 20 runs: it counts for nothing."
    )
    assert "cannot be judged" not in text.sentence
    assert "void, lost or cancelled" not in text.caveat


def test_a_cell_with_more_than_a_fifth_starved_is_named():
    text = answered(answer(setting(1, 10, 0), setting(2, 10, 0), setting(3, 4, 6)))

    assert (
        "3 cannot be judged (other programs kept the load generator waiting in 6 of 10 runs)"
        in text.sentence
    )


def test_a_cell_with_fewer_starved_than_lost_otherwise_says_that_they_were_lost():
    lost = cell(3, 20.0, 6, n_lost=4, starved=1, states={"ok": 6, "bound": 1, "lost": 3})

    assert why_unknown(lost, "s") == "4 of 10 runs were lost"


def test_saturated_and_starved_runs_are_both_told():
    both = cell(
        1,
        20.0,
        8,
        n_lost=3,
        n_saturated=2,
        states={"ok": 8, "bound": 3},
        starved=1,
        workers=1,
    )
    text = answered(answer(both, setting(2, 10, 0)))

    assert "kept the load generator waiting in 1 of 21 runs" in text.caveat
    assert "In 2 of 21 runs the generator was saturated: their values are bounds." in text.further


@pytest.mark.parametrize(
    ("starved", "runs", "text"),
    [
        (0, 9, "none of 9 runs"),
        (1, 1, "other programs kept the load generator waiting in 1 of 1 run"),
        (15, 15, "other programs kept the load generator waiting in 15 of 15 runs"),
    ],
)
def test_how_many_runs(starved, runs, text):
    assert kept_waiting(starved, runs) == text
