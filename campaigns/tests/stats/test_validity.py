from datetime import datetime

import numpy as np
import pytest
from scipy import stats

from campaigns.stats import validity
from campaigns.stats.criteria import Criteria
from campaigns.stats.validity import Outcome
from campaigns.stats.verdict import interval_of


def flagged(check):
    return check.outcome == Outcome.WARN


def near(value):
    return pytest.approx(value, rel=1e-6)


def test_drift_is_as_published(golden):
    published = golden("i")["drift"]

    found = validity.drift(published["residuals"])

    assert found.value == near(published["p"])
    assert found.figures["tau"] == near(published["kendall_tau"])
    assert found.figures["slope_pct"] == near(100 * np.expm1(published["slope"]))
    assert found.figures["slope_p"] == near(published["slope_p"])
    assert flagged(found) is published["flag"]


def test_autocorrelation_is_as_published(golden):
    published = golden("i")["autocorr"]

    found = validity.autocorrelation(published["series"])

    assert found.value == near(published["r1"])
    assert found.figures["threshold"] == near(published["threshold"])
    assert found.figures["n_eff"] == near(published["n_eff"])
    assert flagged(found) is published["flag"]


def test_one_mode_is_as_published(golden):
    published = golden("i")["unimodal"]

    assert validity.modes(published["values"]).value == published["modes"]


def test_two_modes_are_found_where_they_are():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(100, 1, 30), rng.normal(120, 1, 20)])

    found = validity.modes(values)

    assert flagged(found)
    assert [found.figures["mode_1"], found.figures["mode_2"]] == pytest.approx([100, 120], abs=1)


def test_a_mode_of_few_runs_is_none():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(100, 1, 60), rng.normal(150, 0.5, 4)])

    assert validity.modes(values).value == 1


def test_equal_values_have_one_mode():
    assert validity.modes([5.0] * 25).value == 1


def test_the_noise_of_identical_runs_is_as_published(golden):
    published = golden("i")["aa"]

    found = validity.aa_noise(published["log_ratios"])

    assert found.value == near(published["noise_floor_pct"])
    assert found.figures["sd"] == near(published["sd"])
    assert found.figures["mean_p"] == near(published["mean_p"])


def test_littles_law_is_as_published(golden):
    published = golden("i")["little"]

    found = validity.little(published["N"], published["X_per_s"], published["R_ms"] / 1000)

    assert found.value == near(published["ratio"])
    assert flagged(found) is published["flag"]


def test_interleaving_is_as_published(golden):
    published = golden("i")["interleave"]

    blocked = validity.interleaving(published["blocked"])
    turns = validity.interleaving(published["interleaved"])

    assert blocked.value == published["index"]
    assert blocked.figures == {"switches": published["switches"], "most": published["max"]}
    assert flagged(blocked)
    assert turns.value == pytest.approx((3 - 1) / (5 - 1))
    assert not flagged(turns)


def test_the_published_campaign_of_pulp_is_blocked_and_its_drift_unseen(golden):
    published = golden("a")
    design = published["design"]

    found = validity.interleaving(design["order"])

    assert found.figures == {"switches": design["switches"], "most": design["max_switches"]}
    assert flagged(found) is design["blocked"]
    rows = sorted(published["rows"], key=lambda row: row["start"])
    logs = np.log([row["duration_s"] for row in rows])
    levels = np.array([row["concurrency"] for row in rows])
    means = {level: logs[levels == level].mean() for level in levels}
    residuals = logs - [means[level] for level in levels]
    starts = [datetime.fromisoformat(_padded(row["start"])) for row in rows]
    hours = [(start - starts[0]).total_seconds() / 3600 for start in starts]
    trend = validity.drift(residuals, hours)
    expected = published["validity"]
    assert trend.value == near(expected["kendall_p"])
    assert trend.figures["tau"] == near(expected["kendall_tau"])
    assert trend.figures["slope_pct"] == near(100 * np.expm1(expected["slope_log_per_hour"]))
    assert trend.figures["slope_p"] == near(expected["slope_p"])
    lag = validity.autocorrelation(residuals)
    assert lag.value == near(expected["lag1_residual_autocorr"])


def test_rows_of_the_published_campaign_that_are_off_by_a_second_are_listed(golden):
    published = golden("a")
    rows = published["rows"]
    starts, ends = (
        [datetime.fromisoformat(_padded(row[name])).timestamp() for row in rows]
        for name in ("start", "finish")
    )

    found = validity.rows([row["duration_s"] for row in rows], starts, ends)

    off = published["data_quality"]["rows_where_duration_differs_from_finish_minus_start"]
    assert [index + 1 for index in found.positions] == [row["row"] for row in off]
    assert found.outcome == Outcome.PASS


def _padded(text):
    """Write the hour with two digits, as ISO 8601 wants it."""
    day, hour = text.split(" ")
    return f"{day} {hour.zfill(8)}"


def test_rows_that_overlap_or_end_too_early_are_wrong():
    found = validity.rows([10.0, 10.0, 10.0], [0.0, 5.0, 40.0], [10.0, 15.0, 30.0])

    assert found.positions == (1, 2)
    assert flagged(found)


def test_a_cold_first_run_of_each_block_is_seen():
    cells = [(place + block) % 6 for block in range(6) for place in range(6)]
    blocks = [block for block in range(6) for _ in range(6)]
    warm = [1.0 + 0.1 * cell + 0.01 * block for cell, block in zip(cells, blocks, strict=True)]
    cold = [value + (index % 6 == 0) for index, value in enumerate(warm)]

    found = validity.cold_start(cells, blocks, cold)

    assert flagged(found)
    assert found.value == 1
    assert found.figures["p"] == pytest.approx((1 / 3) ** 6)
    steady = [value + 0.5 * (block == 5) for value, block in zip(warm, blocks, strict=True)]
    assert not flagged(validity.cold_start(cells, blocks, steady))


def test_three_blocks_are_too_few_to_see_a_cold_start():
    cells = [0, 1, 2, 1, 2, 0, 2, 0, 1]
    blocks = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    cold = [2.0, 1.1, 1.2, 2.0, 1.1, 1.1, 2.0, 1.05, 1.05]

    found = validity.cold_start(cells, blocks, cold)

    assert found.value == 1
    assert found.figures["p"] == pytest.approx((2 / 3) ** 3)
    assert not flagged(found)


def test_the_place_within_a_block_may_matter():
    rng = np.random.default_rng(6)
    positions = list(range(5)) * 6
    slowing = 0.02 * np.array(positions) + rng.normal(0, 0.005, 30)

    found = validity.order_in_block(list(slowing), positions)

    assert flagged(found)
    assert found.figures["slope_pct"] == pytest.approx(2, abs=0.3)
    noise = list(rng.normal(0, 1, 30))
    still = validity.order_in_block(noise, positions)
    assert not flagged(still)
    assert still.value == near(stats.linregress(positions, noise).pvalue)
    assert validity.order_in_block([0.1 * place for place in positions], positions).value < 1e-12
    assert validity.order_in_block([0.0] * 30, positions).value == 1


@pytest.mark.parametrize(
    "check",
    [
        validity.interleaving([]),
        validity.interleaving([1, 1, 1]),
        validity.drift([0.1] * 7),
        validity.drift([0.1] * 20),
        validity.block_drift([0.1, 0.2]),
        validity.order_in_block([0.1] * 20, [1] * 20),
        validity.autocorrelation([0.0] * 20),
        validity.autocorrelation([1.0, 2.0]),
        validity.modes([1.0, 2.0]),
        validity.aa_noise([0.1]),
        validity.equal_noise([[1.0, 2.0, 3.0]]),
        validity.equal_noise([[1.0] * 3, [2.0] * 3]),
        validity.cold_start([], [], []),
        validity.rows([], [], []),
    ],
)
def test_a_check_without_enough_data_is_not_possible(check):
    assert check.outcome == Outcome.NOT_POSSIBLE
    assert check.value is None


def test_a_cell_that_varies_more_is_seen():
    rng = np.random.default_rng(2)
    quiet, loud = rng.normal(0, 0.01, (3, 10)), rng.normal(0, 0.3, 10)

    assert not flagged(validity.equal_noise(list(quiet)))
    found = validity.equal_noise([*quiet.tolist(), loud.tolist()])
    assert flagged(found)
    assert found.figures["largest_pct"] > 10 * found.figures["smallest_pct"]


def test_checks_raise_few_false_alarms():
    rng = np.random.default_rng(12)
    alarms = sum(flagged(validity.drift(list(rng.normal(0, 1, 18)))) for _ in range(400))

    assert alarms / 400 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_a_cold_start_is_rarely_seen_where_there_is_none():
    rng = np.random.default_rng(3)
    for blocks in (3, 5, 10):
        alarms = 0
        for _ in range(200):
            order = [int(cell) for _ in range(blocks) for cell in rng.permutation(6)]
            numbers = [place // 6 for place in range(6 * blocks)]
            values = list(rng.lognormal(size=6 * blocks))
            alarms += flagged(validity.cold_start(order, numbers, values))
        assert alarms / 200 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_cold_start_is_seen_where_there_is_one():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(100):
        order = [int(cell) for _ in range(8) for cell in rng.permutation(6)]
        numbers = [place // 6 for place in range(48)]
        values = [float(rng.lognormal(0.3 * (place % 6 == 0), 0.05)) for place in range(48)]
        seen += flagged(validity.cold_start(order, numbers, values))
    assert seen > 70


def level_after_level(levels, slope, sd=0.01, runs=8, seed=4):
    """Logs of levels without a difference, a run an hour, with a drift of so much an hour."""
    rng = np.random.default_rng(seed)
    hours = np.arange(levels * runs, dtype=float)
    logs = slope * hours + rng.normal(0, sd, hours.size)
    return logs, np.repeat(np.arange(levels), runs), hours


def test_drift_is_seen_within_levels_though_each_level_has_its_own_hours():
    logs, levels, hours = level_after_level(4, 0.02)

    found = validity.drift_within(logs, levels, hours)

    assert found.estimate == pytest.approx(0.02, abs=0.003)
    assert found.df == 32 - 4 - 1
    check = validity.drift_within_levels(found, 7.0)
    assert check.outcome == "warn"
    assert check.figures["slope_pct"] == pytest.approx(2.0, abs=0.3)
    assert check.figures["hours"] == 7.0
    assert "hours" not in validity.drift_within_levels(found).figures
    residuals = logs - np.repeat(logs.reshape(4, 8).mean(axis=1), 8)
    assert validity.drift(list(residuals)).outcome == "pass"  # the whole order is blind


def test_levels_that_differ_are_no_drift():
    logs, levels, hours = level_after_level(4, 0.0)

    found = validity.drift_within(logs + 0.3 * levels, levels, hours)

    check = validity.drift_within_levels(found)
    assert check.outcome == "pass"
    low, high = interval_of(found, 0.05)
    assert check.figures["missed_pct"] == pytest.approx(100 * np.expm1(max(-low, high)))


def test_levels_whose_values_are_all_equal_show_nothing_of_a_drift():
    levels, hours = np.repeat([1, 2], 6), np.arange(12.0)

    assert validity.drift_within(np.log(np.where(levels == 1, 10.0, 9.7)), levels, hours) is None


def test_drift_confounds_levels_that_lie_far_enough_apart():
    drift = validity.drift_within(*level_after_level(4, 0.02))

    assert validity.is_confounded(drift, 8.0, Criteria())
    assert not validity.is_confounded(drift, 0.1, Criteria())
    assert not validity.is_confounded(
        validity.drift_within(*level_after_level(4, 0.0)), 100.0, Criteria()
    )


def test_few_runs_and_levels_without_duration_tell_no_drift():
    logs, levels, hours = level_after_level(2, 0.02, runs=3)

    assert validity.drift_within(logs, levels, hours) is None
    assert validity.drift_within([0.1] * 9, range(9), range(9)) is None
    assert validity.drift_within_levels(None).outcome == "not_possible"
