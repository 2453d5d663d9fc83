import math

import pytest

from campaigns.findings.charts.pairs import (
    PairPoint,
    PairsChart,
    StratumRow,
    describe,
    draw,
    legend,
    note,
    title,
)
from campaigns.kit.charts.figure import Quantity

TIME = Quantity("time", "s", lower_is_better=True)


def chart(strata, quantity=TIME):
    return PairsChart(quantity, "futures", "asyncio", strata, "manifest")


@pytest.fixture
def rows():
    return [
        StratumRow(
            "100 files",
            [PairPoint(-27.0, True, "block 1"), PairPoint(-25.2, False), PairPoint(-24.0, True)],
            tone="better",
            word="faster",
            change_pct=-24.0,
            interval=(-25.5, -22.4),
        ),
        StratumRow(
            "200 files",
            [PairPoint(-3.0, True), PairPoint(5.0, False)],
            tone="thin",
            word="not enough data",
            change_pct=1.0,
            interval=(-60.0, 90.0),
        ),
        StratumRow("500 files", [], tone="fail", word="too many failures"),
    ]


def test_every_pair_stands_in_its_row_by_who_ran_first(rows, traces):
    drawn = traces(draw(chart(rows)))

    rings, squares = drawn["pair, asyncio first"], drawn["pair, futures first"]
    assert (rings["x"], squares["x"]) == ([-27, -24, -3], [-25.2, 5])
    assert [round(y) for y in rings["y"]] == [3, 3, 2]
    assert len(set(rings["y"])) == 3
    assert rings["marker"]["symbol"] == "circle-open"
    assert squares["marker"]["symbol"] == "square-open"
    assert rings["text"][0] == "<b>100 files</b>, pair, asyncio first<br>−27.0 %<br>block 1"


def test_the_estimate_has_the_tone_of_its_verdict(rows, traces):
    drawn = traces(draw(chart(rows)))

    better = drawn["95 % interval, better"]
    assert (better["x"], better["marker"]["color"]) == ([-24], "@better")
    assert better["error_x"]["array"] == pytest.approx([1.6])
    assert better["error_x"]["arrayminus"] == pytest.approx([1.5])
    assert better["error_x"]["color"] == "@better/60"
    assert better["text"] == ["100 files: −24.0 % (−25.5 … −22.4 %), faster, 3 pairs."]
    assert drawn["95 % interval, thin"]["marker"]["color"] == "@thin"


def test_a_refused_stratum_shows_its_word_and_no_value(rows, traces):
    drawn = traces(draw(chart(rows)))

    assert drawn["no value"]["text"] == ["too many failures"]
    assert drawn["no value"]["y"] == [1]
    assert "95 % interval, fail" not in drawn


def test_axes_say_what_against_what_and_which_side_is_better(rows, checked):
    layout = checked(draw(chart(rows)))["layout"]

    assert layout["xaxis"]["title"]["text"] == (
        "change of time, asyncio vs. futures (negative is better)"
    )
    assert layout["yaxis"]["ticktext"] == ["100 files", "200 files", "500 files"]
    assert layout["yaxis"]["tickvals"] == [3, 2, 1]
    assert title(chart(rows)) == "Change by manifest, with every pair"


def test_a_rate_is_better_on_the_positive_side(rows, checked):
    rate = Quantity("throughput", "MB/s", lower_is_better=False)

    layout = checked(draw(chart(rows, rate)))["layout"]

    assert "(positive is better)" in layout["xaxis"]["title"]["text"]


def test_zero_is_a_dashed_line_and_always_in_sight(rows, traces):
    figure = draw(chart(rows[:1]))

    assert traces(figure)["no change"]["line"]["dash"] == "dash"
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < -27
    assert high > 0


def test_an_endless_interval_is_cut_off(rows, checked):
    low, high = checked(draw(chart(rows)))["layout"]["xaxis"]["range"]

    assert (low, high) == pytest.approx((-27 - 16 - 3.2, 5 + 16 + 3.2), abs=0.01)


def test_an_unknown_order_has_a_shape_of_its_own(traces):
    row = StratumRow("", [PairPoint(1.0)], "thin", "not enough data")

    drawn = traces(draw(chart([row])))

    assert drawn["pair, order unknown"]["marker"]["symbol"] == "diamond-open"
    assert [item.count for item in legend(chart([row]))] == [0, 0, 1, None]


def test_the_legend_says_who_ran_first(rows):
    items = legend(chart(rows))

    assert [(item.mark, item.text, item.count) for item in items[:2]] == [
        ("circle", "one pair, asyncio ran first", 3),
        ("square", "one pair, futures ran first", 2),
    ]


def test_the_description_tells_every_stratum(rows):
    assert describe(chart(rows)) == (
        "Change by manifest, with every pair: time, asyncio vs. futures, negative is better. "
        "100 files: −24.0 % (−25.5 … −22.4 %), faster, 3 pairs. "
        "200 files: +1.0 % (−60.0 … +90.0 %), not enough data, 2 pairs. "
        "500 files: too many failures, 0 pairs."
    )


def test_many_strata_are_described_by_their_words(rows):
    said = describe(chart(rows * 5))

    assert said.endswith("Of 15 rows: 5 faster, 5 not enough data, 5 too many failures.")


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [StratumRow("a", [], "thin", "not enough data")],
        [StratumRow("a", [PairPoint(math.nan, True)], "thin", "", math.nan, (-math.inf, math.inf))],
        [StratumRow("a", [PairPoint(0.0, True)] * 3, "equal", "equivalent", 0.0, (0.0, 0.0))],
        [StratumRow("a", [PairPoint(1e260, True)], "worse", "slower", 1e260, (-100.0, 1e262))],
        [StratumRow("<script>" * 2000, [PairPoint(1.0, False)], "worse", "slower", 1.0)],
    ],
)
def test_a_figure_is_valid_whatever_was_measured(checked, strata):
    checked(draw(chart(strata)))
    assert describe(chart(strata))
    assert legend(chart(strata))


@pytest.fixture
def contrasts():
    return PairsChart(
        TIME,
        "",
        "",
        [
            StratumRow(
                "7 vs. 5",
                [PairPoint(-15.0), PairPoint(-14.0)],
                tone="better",
                word="faster",
                change_pct=-15.1,
                interval=(-23.4, -6.0),
                second=(-30.0, 2.0),
            ),
            StratumRow("10 vs. 7", [], tone="thin", word="not enough data"),
        ],
    )


def test_contrasts_are_named_by_their_rows_alone(contrasts):
    assert title(contrasts) == "Comparisons, with every block"
    assert describe(contrasts).startswith(
        "Comparisons, with every block: time, negative is better. 7 vs. 5: −15.1 % "
    )
    assert draw(contrasts)["layout"]["xaxis"]["title"]["text"] == (
        "change of time (negative is better)"
    )


def test_another_model_is_a_thin_line_below(contrasts, traces):
    drawn = traces(draw(contrasts))

    assert drawn["by another model"]["x"] == [-30, 2, None]
    assert drawn["within a block"]["x"] == [-15, -14]
    assert drawn["by another model"]["y"][0] < min(drawn["95 % interval, better"]["y"])


def test_of_many_pairs_of_a_row_some_are_drawn_with_both_ends(traces):
    pairs = [PairPoint(float(n), n % 2 == 0) for n in range(1, 101)]
    many = chart([StratumRow("all", pairs, "better", "faster", 5.0, (4.0, 6.0))])

    drawn = traces(draw(many))

    shown = [*drawn["pair, asyncio first"]["x"], *drawn["pair, futures first"]["x"]]
    assert len(shown) == 25
    assert {1, 100} < set(shown)
    assert note(many).startswith("25 of 100 pairs are drawn: up to 25 of each row with 50 or more")


def test_few_pairs_are_all_drawn(rows):
    assert note(chart(rows)) == ""
