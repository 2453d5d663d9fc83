import numpy as np
import pytest

from campaigns.kit import histogram
from campaigns.stats.percentiles import bounds_of, ranks_of


def test_the_values_that_percentiles_need_are_as_published(golden):
    for row in golden("g")["percentile_needs"]:
        assert histogram.needs(row["n"], row["p"]) == (row["expected"] or "")


def test_the_ranks_are_as_published(golden):
    published = golden("f")["percentile_ci"]

    assert list(ranks_of(published["n"], published["p"])) == published["ranks"]


def test_the_values_at_the_ranks_bound_the_percentile():
    values = list(range(1, 1001))
    found = bounds_of(histogram.encode(values).encoded, 1000, 0.99)

    assert (found.low_rank, found.high_rank) == (983, 997)
    assert (found.low, found.high) == (983, 997)


def test_too_few_values_have_no_bounds():
    assert ranks_of(10, 0.99) is None
    assert bounds_of(histogram.encode([1, 2, 3]).encoded, 3, 0.95) is None


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        ranks_of(100, share)


def test_the_bounds_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    low, high = ranks_of(500, 0.9)
    truth = -np.log(0.1)
    hits = 0
    for _ in range(600):
        ordered = np.sort(rng.exponential(size=500))
        hits += ordered[low - 1] <= truth <= ordered[high - 1]
    assert hits / 600 > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 600)


def test_a_stall_that_kept_requests_from_being_made_is_corrected_as_published(golden):
    case = golden("f")["coordinated_omission"]
    values = [case["normal_us"]] * case["normal_count"] + [case["stall_us"]]

    plain = histogram.encode(values)
    corrected = histogram.encode_corrected(values, case["expected_interval_us"])

    assert plain.count == case["uncorrected_total"]
    assert corrected.count == case["corrected_total"]
    for key, expected in case["corrected"].items():
        rank = round(float(key) / 100 * corrected.count)
        found = histogram.value_at_rank(corrected.encoded, rank, corrected.count)
        assert found == pytest.approx(expected, rel=1e-3)
    summary = histogram.summarise(corrected.encoded)
    assert summary.mean == pytest.approx(case["mean_corrected"], rel=1e-3)
