"""Sizing tables: one row a target, the setting that is shown to carry the most or nearly so, and what each declared unit carries."""

import math

from campaigns.findings.most_carried import recommended_place
from campaigns.findings.values import (
    CapacityFinding,
    CapacityOfSetting,
    ConditionTerms,
    MostCarried,
    SettingRatio,
)
from campaigns.findings.wording.sizing import sizing_table, with_classes
from campaigns.stats.capacity import Capacity, CapacityRatio, CapacityWord


def setting(levels, low, estimate, high, word=CapacityWord.BETWEEN):
    capacity = Capacity(
        word=word, low=low, estimate=estimate, high=high, blocks=5, lowest=60.0, highest=960.0,
        resolution=1.5, conditions=(), binding="p95", by_line=estimate is not None,
    )  # fmt: skip
    return CapacityOfSetting(levels=levels, cells=(), capacity=capacity)


def found(*settings, ratios=(), most=None):
    return CapacityFinding(
        load="hosts", load_label="hosts", others=(), stated=True, resolution=1.5, alpha=0.05,
        margin_pct=5.0, delta_pct=10.0, settings=settings, ratios=ratios, most=most,
        conditions=[ConditionTerms(name="p95", metric="p95", label="p95 of a registration", unit="s", at_most=180.0)],
    )  # fmt: skip


def ratio(baseline, candidate, word):
    return SettingRatio(
        baseline=baseline, candidate=candidate, factor="workers",
        ratio=CapacityRatio(word=word, ratio=None, low=None, high=None),
    )  # fmt: skip


TWO, FOUR, EIGHT = (
    setting({"workers": 2}, 190.0, 204.0, 217.0),
    setting({"workers": 4}, 330.0, 348.0, 360.0),
    setting({"workers": 8}, 335.0, 350.0, 366.0),
)


MOST = MostCarried(possibly=[1, 2], more_pct=[80.0, 6.0, 4.0], within_pct=10.0, recommended=1)


def test_the_first_setting_that_is_shown_to_carry_nearly_the_most_is_recommended():
    three = [TWO, FOUR, EIGHT]
    more, as_many = ratio(0, 1, "better"), ratio(1, 2, "equivalent")
    assert recommended_place(found(*three, most=MOST), [0, 1, 2]) == 1
    assert recommended_place(found(*three, ratios=[more, as_many]), [0, 1, 2]) == 1
    assert recommended_place(found(*three, ratios=[more, ratio(1, 2, "better")]), [0, 1, 2]) == 2


def test_nothing_is_recommended_where_nothing_is_shown():
    more, unknown = ratio(0, 1, "better"), ratio(1, 2, "no_difference_shown")
    assert recommended_place(found(TWO, FOUR, EIGHT, ratios=[more, unknown]), [0, 1, 2]) is None
    undecided = setting({"workers": 2}, None, None, None, CapacityWord.NOT_ENOUGH_DATA)
    assert recommended_place(found(undecided), [0]) is None


def test_a_row_has_what_is_carried_and_what_each_unit_of_it_carries():
    table = sizing_table(
        found(TWO, FOUR, EIGHT, most=MOST),
        target="proxy-8",
        work=(),
        sizes={"proxy-8": {"CPU": 8.0}},
    )

    (row,) = table.rows
    assert table.heads == (
        "this machine", "recommended setting", "carries (hosts)", "ends first", "per CPU", "per workers",
    )  # fmt: skip
    assert table.cells(row) == (
        "proxy-8", "4 workers", "330 to 360 hosts", "p95 of a registration",
        "43.5 (41.2 to 45)", "87 (82.5 to 90)",
    )  # fmt: skip


def test_targets_are_sorted_by_size_and_not_by_result_and_nothing_is_guessed():
    small = setting({"target": "proxy-4"}, 480.0, 500.0, 520.0)
    large = setting({"target": "proxy-16"}, 380.0, 400.0, 420.0)
    bare = setting({"target": "unknown"}, 900.0, None, None, CapacityWord.AT_LEAST)
    sizes = {"proxy-4": {"CPU": 4.0}, "proxy-16": {"CPU": 16.0}}

    table = sizing_table(found(large, small, bare), target="", work=(), sizes=sizes)

    assert [table.cells(row)[0] for row in table.rows] == ["unknown", "proxy-4", "proxy-16"]
    assert [table.cells(row)[-1] for row in table.rows] == [
        "",
        "125 (120 to 130)",
        "25 (23.7 to 26.3)",
    ]
    assert "What these 3 machines carry, by size" in table.caption


def test_where_nothing_is_decided_no_setting_is_recommended():
    settings = [
        setting({"workers": workers}, 100.0, 300.0, 900.0, CapacityWord.BETWEEN)
        for workers in (2, 4)
    ]

    table = sizing_table(found(*settings), target="proxy", work=(), sizes={})

    assert table.cells(table.rows[0]) == ("proxy", "none decided", "not decided", "")


def of_classes(*words, servers=()):
    """Six targets of two classes; the capacities of `stats.capacity_classes`' own test."""
    estimates = (100.0, 110.0, 121.0, 200.0, 200.0, 266.2)
    settings = [
        setting({"target": f"t{number}"}, 0.9 * estimate, estimate, 1.1 * estimate, word)
        for number, (estimate, word) in enumerate(zip(estimates, words, strict=True))
    ]
    return sizing_table(
        found(*settings),
        target="",
        work=(),
        sizes={f"t{number}": {"CPU": 4.0 if number < 3 else 8.0} for number in range(6)},
        classes={f"t{number}": "small" if number < 3 else "large" for number in range(6)},
        servers=dict(servers),
    )


def test_a_class_of_three_targets_has_a_row_before_its_targets():
    table = with_classes(of_classes(*[CapacityWord.BETWEEN] * 6))

    assert [row.target for row in table.rows] == [
        "class small, 3 targets", "t0", "t1", "t2", "class large, 3 targets", "t3", "t4", "t5",
    ]  # fmt: skip
    assert table.cells(table.rows[0])[2] == "110 hosts (88.6 to 137)"
    assert table.cells(table.rows[0])[-1] == "27.5 (22.1 to 34.2)"
    assert table.targets == 6
    assert "A row of a class is the geometric mean over its targets" in table.caption


def test_nothing_is_said_of_a_class_with_a_target_of_which_only_a_bound_is_known():
    words = [CapacityWord.BETWEEN] * 5 + [CapacityWord.AT_LEAST]
    table = with_classes(of_classes(*words))

    assert [row.target for row in table.rows if row.targets] == ["class small, 3 targets"]
    half = 4.302653 * math.log(1.1) / 3**0.5  # t(.975, 2)
    assert math.isclose(table.rows[0].low or 0, 110 / math.exp(half), rel_tol=1e-5)


def test_names_of_one_server_are_one_target_of_a_class():
    servers = {"t0": "10.0.0.1:443", "t1": "10.0.0.1:443"}
    table = with_classes(of_classes(*[CapacityWord.BETWEEN] * 6, servers=servers))

    assert [row.target for row in table.rows if row.targets] == ["class large, 3 targets"]
