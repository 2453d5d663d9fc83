import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.kinds.load.merging import merge
from campaigns.kinds.load.recorder import Recorder
from campaigns.kit import histogram

HOUR_NS = 3_600_000_000_000
values = st.lists(st.one_of(st.integers(0, 10**7), st.integers(0, HOUR_NS + 10**10)), max_size=60)


def counts(nanoseconds: list[int]) -> tuple[np.ndarray, int]:
    found = histogram.no_counts()
    return found, histogram.add_nanoseconds(found, np.array(nanoseconds, dtype=np.int64))


@settings(max_examples=20)
@given(values)
def test_folding_gives_the_histogram_that_recording_each_value_gives(nanoseconds):
    folded, dropped = counts(nanoseconds)
    recorded = histogram.encode((value + 500) // 1000 for value in nanoseconds)

    assert dropped == recorded.dropped
    assert histogram.summarise(histogram.encode_counts(folded)) == histogram.summarise(
        recorded.encoded
    )
    assert histogram.encode_counts(folded) == recorded.encoded


@settings(max_examples=20)
@given(st.lists(values, min_size=1, max_size=4))
def test_merged_histograms_are_the_histogram_of_all_values(shards):
    whole = Recorder()
    parts = [Recorder() for _ in shards]
    for part, nanoseconds in zip(parts, shards, strict=True):
        for value in nanoseconds:
            part.add("service", value)
            whole.add("service", value)
        part.fold(0)
    whole.fold(0)

    merged = merge([result_of(part) for part in parts])
    expected = result_of(whole)

    assert set(merged["histograms"]) == set(expected["histograms"])
    for name, encoded in expected["histograms"].items():
        found = merged["histograms"][name].encode()
        assert histogram.summarise(found) == histogram.summarise(encoded.encode())
    assert merged["per_second"] == expected["per_second"]


def result_of(recorder: Recorder) -> dict:
    return recorder.result() | {
        "complete": True,
        "seconds": 1.0,
        "examples": {},
        "processes": [],
        "figures": {},
        "window": [],
    }


def test_what_lies_beyond_an_hour_is_dropped_and_counted():
    recorder = Recorder()
    for value in (1_000, HOUR_NS, HOUR_NS + 1_000_000):
        recorder.add("service", value)

    recorder.fold(0)

    assert recorder.result()["dropped"] == {"service": 1}
    assert recorder.percentile("service", 0.5) == 1e-6


def test_what_was_late_by_less_than_nothing_counts_as_nothing():
    recorder = Recorder()
    recorder.add("lag", -5_000)

    recorder.fold(0)

    assert histogram.summarise(recorder.result()["histograms"]["lag"].encode()).maximum == 0


def test_each_second_has_what_came_in_it():
    recorder = Recorder()
    recorder.add("service", 5)
    recorder.fail("5xx")
    recorder.fold(0)
    recorder.add("service", 5)
    recorder.add("retry_service", 5)
    recorder.bytes += 100
    recorder.fold(2)
    recorder.fold(2)

    assert recorder.per_second == {"done": [1, 0, 2], "failed": [1, 0, 0], "bytes": [0, 0, 100]}
    assert recorder.done == 3


def test_no_values_have_no_percentile():
    recorder = Recorder()
    recorder.named("service")

    assert recorder.percentile("service", 0.5) is None
    assert recorder.percentile("nothing", 0.5) is None
