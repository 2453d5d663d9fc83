"""What a driver measured follows from the samples that it gives, as far as it says so."""

import pytest

from campaigns.kit import histogram


def follows(driver, measured):
    """Compute a run again from its samples, as whoever verifies a bundle does; give the metrics."""
    if not measured.samples:
        return set()
    again = driver.recompute(measured.samples, measured.values)
    both = (measured.values.keys() & again.values.keys()) - measured.censored
    for name in both:
        assert measured.values[name] == pytest.approx(again.values[name], rel=1e-9), name
    for each in measured.distributions:
        if each.name in again.times_us:
            stored = histogram.counts_of(each.encoded)
            given = histogram.counts_of(histogram.encode(again.times_us[each.name]).encoded)
            assert stored.steps.tolist() == given.steps.tolist(), each.name
            assert stored.counts.tolist() == given.counts.tolist(), each.name
    if again.units_done is not None:
        assert again.units_done == measured.units_done
    return both
