import dataclasses

import pytest
from msgspec import structs

from campaigns.findings import values as stored
from campaigns.findings.charts import capacity
from campaigns.findings.charts.capacity import describe, draw, legend, note, panel
from campaigns.findings.charts.capacity_lines import (
    CapacityChart,
    CapacityLine,
    Carried,
    LoadPoint,
    RunPoint,
    SharePoint,
)
from campaigns.kit.charts.figure import Quantity
from campaigns.stats.capacity import (
    Capacity,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
)
from campaigns.stats.interval import Interval
from campaigns.tests.findings.charts.shown import shown

LOADS = (100, 200, 400, 960)


CARRIED = Carried(188.0, 205.0, 214.0, "carries 205 (188 to 214)")


def line(name="2 workers", carried=CARRIED):
    return CapacityLine(
        name=name,
        points=[
            LoadPoint(100, 5.0, (4.5, 5.5), Held.HELD, 3),
            LoadPoint(200, 17.0, (15.0, 19.0), Held.UNDECIDED, 3),
            LoadPoint(400, 50.0, (45.0, 55.0), Held.FAILED, 3),
            LoadPoint(960, None, None, Held.FAILED, 3),
        ],
        shares=[
            SharePoint(load, share) for load, share in zip(LOADS, (0, 0, 0.1, 0.4), strict=True)
        ],
        runs=[
            RunPoint(100, 5.1, "run 1", position=1),
            RunPoint(200, 16.0, "run 2", position=2, explored=True),
            RunPoint(960, None, "run 3", position=3),
        ],
        carried=carried,
    )


def chart(*lines, **more):
    return CapacityChart(
        factor="hosts",
        quantity=Quantity("p95 of a registration", "s", True),
        lines=lines or [line()],
        **{"limit": 18.0, "share_limit": 0.05} | more,
    )


def test_the_load_is_logarithmic_from_a_ratio_of_eight_on(checked):
    assert checked(draw(chart()))["layout"]["xaxis"]["type"] == "log"

    near = dataclasses.replace(line(), points=line().points[:3], shares=[], runs=[])
    assert "type" not in checked(draw(chart(near)))["layout"]["xaxis"]


def test_without_a_known_share_the_values_take_the_whole_height(checked):
    alone = dataclasses.replace(line(), shares=[])

    figure = checked(draw(chart(alone)))

    assert "yaxis2" not in figure["layout"]
    assert figure["layout"]["yaxis"]["domain"] == [0, 1]
    assert figure["layout"]["xaxis"]["anchor"] == "y"
    assert all(trace.get("yaxis") != "y2" for trace in figure["data"])
    assert all(shape["yref"] != "y2" for shape in figure["layout"]["shapes"])


def test_lines_on_logs_stand_on_logs_at_first_and_can_be_linear(checked):
    figure = checked(draw(chart()))

    assert figure["layout"]["yaxis"]["type"] == "log"
    assert list(figure["scales"]) == ["log", "linear"]
    assert figure["scales"]["linear"]["yaxis"]["range"][0] == 0


def test_a_band_holds_what_is_carried_and_limits_are_lines_of_both_panels(checked):
    shapes = checked(draw(chart()))["layout"]["shapes"]

    band = next(shape for shape in shapes if shape["type"] == "rect")
    assert (band["x0"], band["x1"], band["yref"]) == (188, 214, "paper")
    limits = {s["yref"]: s["y0"] for s in shapes if s["name"] == "limit"}
    assert limits == {"y": 18, "y2": 5}
    assert any(shape["type"] == "line" and shape["x0"] == 205 for shape in shapes)


@pytest.mark.parametrize(
    ("carried", "edges"),
    [
        (Carried(400.0, None, None, "at least 400"), (400, None)),
        (Carried(None, None, 100.0, "less than 100"), (None, 100)),
    ],
)
def test_an_open_end_reaches_to_that_of_the_axis_and_has_no_edge(checked, carried, edges):
    drawn = chart(line(carried=carried))
    shapes = checked(draw(drawn))["layout"]["shapes"]

    band = next(shape for shape in shapes if shape["type"] == "rect")
    low, high = drawn.ends
    assert band["x0"] == pytest.approx(edges[0] or low, rel=1e-5)
    assert band["x1"] == pytest.approx(edges[1] or high, rel=1e-5)
    assert sum(s["name"] == "s1" and s["type"] == "line" for s in shapes) == 1


def test_what_fails_is_hatched_and_what_is_not_decided_is_hollow(traces):
    drawn = traces(draw(chart()))

    hatched = drawn["fails 2 workers"]
    assert len(hatched["x"]) == 2
    assert hatched["marker"]["pattern"]["shape"] == "/"
    assert drawn["typical run 2 workers undecided"]["x"] == [200]
    assert drawn["typical run 2 workers undecided"]["marker"]["color"] == "@surface"
    assert drawn["no value 2 workers"]["x"] == [960]


def test_runs_of_the_search_are_rings_and_failed_ones_crosses(traces):
    drawn = traces(draw(chart()))

    assert drawn["run 2 workers"]["customdata"] == [1]
    assert drawn["run of the search 2 workers"]["marker"]["symbol"] == "circle-open"
    assert drawn["failed 2 workers"]["customdata"] == [3]


def test_settings_differ_in_more_than_their_colour(checked):
    data = checked(draw(chart(line("2 workers"), line("4 workers"))))["data"]

    typical = [
        each
        for each in data
        if each.get("name") in ("typical run 2 workers", "typical run 4 workers")
    ]
    assert len({each["marker"]["symbol"] for each in typical}) == 2
    texts = [item.text for item in legend(chart())]
    assert texts[0] == "2 workers: carries 205 (188 to 214)"


def test_loads_have_no_superlative():
    words = " ".join(
        [describe(chart()), *(item.text for item in legend(chart())), *sum(capacity.HOW, ())]
    )

    assert not any(word in words.lower() for word in ("fastest", "best", "slower", "recommended"))


def test_a_limit_far_above_the_values_is_named_and_not_drawn(checked):
    far = chart(limit=18000.0)
    shapes = checked(draw(far))["layout"]["shapes"]

    assert {s["yref"] for s in shapes if s["name"] == "limit"} == {"y2"}
    assert note(far).startswith("The limit, 5:00:00 h, lies far above")


def test_one_load_all_failed_and_zeros_are_drawn(checked):
    lost = CapacityLine("", [LoadPoint(40, None, None, Held.FAILED, 3)], [SharePoint(40, 1.0)], [])
    checked(draw(chart(lost)))
    zeros = CapacityLine(
        "", [LoadPoint(n, 0.0, None, Held.HELD, 1) for n in (1, 20)], [], [RunPoint(1, 0.0)]
    )
    assert "log" not in checked(draw(chart(zeros, limit=None, share_limit=None)))["scales"]
    assert describe(chart(lost)).endswith("All runs: 40: no value.")


def finding(**more):
    states = [
        LoadState(5, Held.HELD, 3, value=2.0, band=Interval(1.8, 2.2)),
        LoadState(40, Held.FAILED, 3, value=31.0, band=Interval(28.0, 34.0)),
    ]
    shares = [
        LoadState(n, Held.HELD, 3, share=0.0, share_interval=Interval(0, 0.04)) for n in (5, 40)
    ]
    carried = Capacity(
        CapacityWord.BETWEEN, 5.0, None, 40.0, 3, 5, 40, 1.5,
        [ConditionCapacity("p95", 14, 15, 16, states), ConditionCapacity("failed", 40, None, None, shares)],
    )  # fmt: skip
    return stored.CapacityFinding(
        load="hosts", load_label="Hosts", others=[], stated=True, resolution=1.5, alpha=0.05,
        margin_pct=5.0, delta_pct=10.0, ratios=[],
        conditions=[
            stored.ConditionTerms(name="p95", metric="p95", label="P95", unit="s", at_most=10.0),
            stored.ConditionTerms(name="failed", failed_share=0.05),
        ],
        settings=[stored.CapacityOfSetting(levels={"workers": 2}, cells=[], capacity=carried)],
        **more,
    )  # fmt: skip


def test_the_table_has_the_numbers_of_the_figure():
    found = panel(shown(capacity=finding()))

    assert found is not None
    assert found.aside == "condition: p95 at most 10 s"
    assert found.plot.key[0].text == "2 workers: at least 5 hosts, fewer than 40"
    assert found.numbers.shown[0] == [
        "2 workers", "5", "3", "2 s", "1.8 s", "2.2 s", "0 %", "0 %", "4 %", "holds",
        "at least 5 hosts, fewer than 40",
    ]  # fmt: skip
    assert found.numbers.shown[1][-2:] == ["fails", ""]


def test_nothing_is_judged_while_the_campaign_goes_on():
    found = panel(dataclasses.replace(shown(capacity=finding()), is_open=True))

    assert found is not None
    assert found.notes == ("What is carried is shown when the campaign has ended.",)
    assert not any(shape["type"] == "rect" for shape in found.plot.figure["layout"]["shapes"])


def test_without_a_load_there_is_no_panel():
    assert panel(shown()) is None


def test_where_no_load_has_a_value_there_is_no_empty_chart():
    states = [LoadState(load, Held.UNDECIDED, 3) for load in (5, 40)]
    unknown = Capacity(
        CapacityWord.NOT_ENOUGH_DATA, None, None, None, 3, 5, 40, 1.5,
        [ConditionCapacity("p95", None, None, None, states)],
    )  # fmt: skip
    settings = [stored.CapacityOfSetting(levels={}, cells=[], capacity=unknown)]

    assert panel(shown(capacity=structs.replace(finding(), settings=settings))) is None


def test_of_many_runs_some_are_drawn_and_the_note_counts_them(traces):
    many = dataclasses.replace(line(), runs=[RunPoint(100, 5 + n / 1000) for n in range(300)])

    drawn = traces(draw(chart(many)))

    assert len(drawn["run 2 workers"]["x"]) == 25
    assert note(chart(many)).startswith("25 of 300 runs are drawn")
