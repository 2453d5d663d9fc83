import math

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from scipy.special import ndtri

from campaigns.kit.histogram import (
    HIGHEST_MICROSECONDS,
    added,
    counts_of,
    encode,
    merge,
    needed,
    needs,
    summarise,
)

# Three log-normal shards, the rank of each percentile as hdrhistogram takes it: floor(n p + .5).
SHARDS = {"A": (1000, 1000, 0.5), "B": (200, 3000, 0.8), "C": (5000, 800, 0.3)}
MERGED = {0.5: 829, 0.75: 1051, 0.9: 1366, 0.95: 1736, 0.99: 4487}
EXACT = {0.5: 829, 0.75: 1051, 0.9: 1366, 0.95: 1736, 0.99: 4486}


def shard(name):
    n, median, sigma = SHARDS[name]
    return [round(median * math.exp(sigma * ndtri((i + 0.5) / n))) for i in range(n)]


@pytest.fixture(scope="module")
def encoded():
    return {name: encode(shard(name)) for name in SHARDS}


def values_of(summary):
    return {each.share: each.microseconds for each in summary.percentiles}


def test_the_shards_are_those_of_the_published_sums():
    assert [sum(shard(name)) for name in "ABC"] == [1132876, 823078, 4184059]


def test_merged_shards_have_the_published_percentiles(encoded):
    merged = merge(each.encoded for each in encoded.values())

    summary = summarise(merged, tuple(MERGED))

    assert summary.count == 6200
    assert values_of(summary) == MERGED
    assert summary.maximum == 28351


def test_percentiles_are_within_a_thousandth_of_the_exact_ones(encoded):
    merged = merge(each.encoded for each in encoded.values())

    for share, value in values_of(summarise(merged, tuple(EXACT))).items():
        assert value == pytest.approx(EXACT[share], rel=1e-3)


def test_merging_is_recording_everything_in_one(encoded):
    everything = encode(value for name in SHARDS for value in shard(name))

    merged = merge(each.encoded for each in encoded.values())

    assert summarise(merged) == summarise(everything.encoded)
    assert summarise(merged).minimum == min(min(shard(name)) for name in SHARDS)


def test_the_average_of_percentiles_is_far_off(encoded):
    shards = [summarise(each.encoded, (0.5,)) for each in encoded.values()]
    average = np.mean([values_of(each)[0.5] for each in shards])

    assert average / MERGED[0.5] == pytest.approx(1.92, abs=0.01)


@pytest.mark.parametrize(
    ("share", "count", "expected"),
    [
        (0.5, 20, ""),
        (0.5, 19, "needs 20"),
        (0.9, 100, ""),
        (0.95, 500, ""),
        (0.95, 150, "needs 200"),
        (0.99, 500, "needs 1000"),
        (0.99, 1000, ""),
        (0.999, 6200, "needs 10000"),
    ],
)
def test_a_percentile_needs_values_above_it(share, count, expected):
    assert needs(count, share) == expected


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999])
def test_the_values_needed_leave_ten_above(share):
    assert needed(share) * (1 - share) == pytest.approx(10)


def test_a_percentile_that_lacks_values_is_not_shown():
    (p99,) = summarise(encode([5] * 500).encoded, (0.99,)).percentiles

    assert (p99.label, p99.microseconds, p99.needs) == ("p99", None, "needs 1000")


def test_the_label_keeps_the_digits_of_its_share():
    assert [each.label for each in summarise(encode([]).encoded).percentiles] == [
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
    ]


def test_values_out_of_range_are_dropped_and_counted():
    result = encode([-1, 0, 1, 3_600_000_000, 3_600_000_001])

    assert (result.count, result.dropped) == (3, 2)


def test_an_empty_histogram_has_no_zero():
    summary = summarise(encode([]).encoded)

    assert (summary.count, summary.minimum, summary.maximum, summary.mean) == (0, None, None, None)


def test_no_shards_make_an_empty_histogram():
    assert merge([]) == encode([]).encoded


def test_an_encoded_histogram_is_small_text(encoded):
    text = encoded["A"].encoded.decode("ascii")

    assert text.startswith("HISTFAAAA")
    assert len(text) < 500


def test_many_percentiles_at_once_are_those_of_the_library(encoded):
    shares = [0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1]

    for each in encoded.values():
        library = HdrHistogram.decode(each.encoded)
        found = counts_of(each.encoded)

        assert found.at(shares[1:]) == [
            library.get_value_at_percentile(100 * share) for share in shares[1:]
        ]
        assert found.at([0]) == [library.get_highest_equivalent_value(library.get_min_value())]
        assert found.total == library.get_total_count()
        assert found.mean == pytest.approx(library.get_mean_value())


def test_the_largest_and_the_smallest_values_have_their_steps():
    found = counts_of(encode([0, 1, HIGHEST_MICROSECONDS]).encoded)

    assert found.at([0.1, 0.5]) == [0, 1]
    assert found.at([1])[0] == pytest.approx(HIGHEST_MICROSECONDS, rel=1e-3)


def test_added_counts_are_the_merged_histogram(encoded):
    merged = counts_of(merge(each.encoded for each in encoded.values()))

    found = added(counts_of(each.encoded) for each in encoded.values())

    assert found.total == merged.total == 6200
    assert found.at(list(MERGED)) == list(MERGED.values())


def test_an_empty_histogram_has_no_mean():
    assert counts_of(encode([]).encoded).mean is None
    assert added([]).total == 0
