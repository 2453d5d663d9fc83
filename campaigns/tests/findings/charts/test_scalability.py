from dataclasses import replace

import pytest

from campaigns.findings.charts.scalability import (
    LoadChart,
    LoadLevel,
    LoadMark,
    LoadRun,
    bounds_of,
    describe,
    draw,
    draw_throughput,
    legend,
    title,
)
from campaigns.findings.values import LawBounds
from campaigns.kit.charts.figure import Quantity
from campaigns.tests.findings.wording.test_scalability import law_of

RATE = Quantity("files per second", "files/s", lower_is_better=False)


def chart(response=0.02, **more):
    runs = [
        LoadRun(2, 100.0, response, "run 1", "block 1, worker-1", 1),
        LoadRun(4, 150.0, response, "run 2", "block 1", 2, "the generator was saturated"),
    ]
    levels = [LoadLevel(2, 100.0, response)]
    law = [(1.0, 55.0, 0.018), (5.0, 180.0, 0.027)]
    marks = [LoadMark("recommended limit", 3, 140.0, 0.021, "square", "equal")]
    whole = LoadChart("concurrency", RATE, runs, levels, law, marks)
    return replace(whole, **more)


def test_response_time_stands_against_throughput_in_milliseconds_where_it_is_short(traces):
    drawn = traces(draw(chart()))

    assert (drawn["run"]["x"], drawn["run"]["y"]) == ([100], [20])
    assert drawn["Universal Scalability Law"]["x"] == [55, 180]
    assert drawn["Universal Scalability Law"]["y"] == [18, 27]
    assert drawn["mean of a level"]["text"] == ["2"]
    assert draw(chart())["layout"]["yaxis"]["ticksuffix"] == " ms"
    assert draw(chart(response=2.0))["layout"]["yaxis"]["ticksuffix"] == " s"


def test_throughput_stands_against_the_number_at_a_time(traces):
    drawn = traces(draw_throughput(chart()))

    assert (drawn["run"]["x"], drawn["run"]["y"]) == ([2], [100])
    assert (drawn["recommended limit"]["x"], drawn["recommended limit"]["y"]) == ([3], [140])


def test_runs_that_no_fit_has_have_a_shape_of_their_own_and_say_why(traces):
    drawn = traces(draw_throughput(chart()))

    assert drawn["left out"]["marker"]["symbol"] != drawn["run"]["marker"]["symbol"]
    assert drawn["left out"]["text"] == [
        "<b>run 2</b>, concurrency 4<br>150 files/s, answered in 20 ms"
        "<br>in no fit: the generator was saturated<br>block 1"
    ]
    assert drawn["left out"]["customdata"] == [2]


def test_the_legend_counts_both():
    counts = {item.text: item.count for item in legend(chart())}

    assert (counts["one run"], counts["run that no fit has"]) == (1, 1)
    assert "Universal Scalability Law" in counts
    assert "Universal Scalability Law" not in {item.text for item in legend(chart(law=[]))}


def test_runs_without_a_response_time_are_only_in_the_other_chart(traces):
    silent = chart(response=None)

    assert "run" not in traces(draw(silent))
    assert "run" in traces(draw_throughput(silent))


def test_the_description_says_both_means_and_the_marks():
    assert title(chart()) == "Response time against files per second, by concurrency"
    assert describe(chart()) == (
        "Response time against files per second, by concurrency. 2: 100 files/s, answered in 20 ms. "
        "Recommended limit at 3."
    )


@pytest.mark.parametrize("runs", [[], [LoadRun(1, 0.0, 0.0)], [LoadRun(1, 1e300, 1e-300)]])
def test_a_figure_is_valid_whatever_was_measured(checked, runs):
    odd = chart(runs=runs, levels=[], law=[], marks=[])

    checked(draw(odd))
    checked(draw_throughput(odd))
    assert describe(odd)


def test_bounds_where_nothing_was_measured_have_no_figure():
    law = law_of(largest=12)
    bounds = LawBounds(
        g=(12.0, 15.0),
        s=(3.9e-22, 0.2),
        k=(0.01, 0.02),
        peak=(7.5, 1e20),
        most=(144.0, 7.9e20),
        power_point=(3.5, 2.9e19),
        throttle=(5.4, 11.0),
        with_peak=1.0,
    )

    assert bounds_of("s", bounds, law) == (0.0, 0.2)
    assert bounds_of("power_point", bounds, law) == (3.5, None)
    assert bounds_of("most", bounds, law) == (144.0, None)
    assert bounds_of("throttle", bounds, law) == (5.4, 11.0)
    assert bounds_of("g", None, law) == (None, None)
