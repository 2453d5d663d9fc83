"""What of the evidence follows from other evidence: measurements and histograms from raw samples."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from campaigns.kinds.base import Recomputed
from campaigns.kit import histogram
from campaigns.kit.charts.formats import counted
from campaigns.models import Attempt, Campaign, Distribution, Measurement, RawSamples, Run
from campaigns.planning.metrics import driver_if_known
from campaigns.reviews.bundles.comparing import Difference
from campaigns.reviews.bundles.rows import columns_of

CLOSE = 1e-9
"""Sums in another order; a digit of a measured value is far above it."""


class Evidence:
    """The loaded evidence of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.driver = driver_if_known(campaign.kind)
        self.recomputed: Counter[str] = Counter()
        self.with_samples = 0

    def differences(self, folder: str) -> Iterator[Difference]:
        """Compute again what follows from raw samples, and count what histograms hold."""
        yield from self._counts(folder)
        attempts = Attempt.objects.filter(run__campaign=self.campaign).select_related("run")
        for attempt in attempts.filter(raw_samples__isnull=False).iterator(chunk_size=50):
            raw = RawSamples.objects.get(attempt=attempt)
            columns = columns_of(bytes(raw.columns))
            place = _of(attempt)
            lengths = {len(column) for column in columns.values()}
            if lengths - {raw.count}:
                file = f"{folder}rows/raw_samples.ndjson"
                yield Difference(file, f"{place}, rows", raw.count, max(lengths))
            again = self._again(attempt, columns)
            if again is not None:
                self.with_samples += 1
                yield from self._values(folder, attempt, again)
                yield from self._histograms(folder, attempt, again)

    def unverified(self) -> list[str]:
        """Return what nothing else in the bundle tells once more."""
        measured = Measurement.objects.filter(attempt__run__campaign=self.campaign)
        metrics = sorted(set(measured.values_list("metric", flat=True)) - self.recomputed.keys())
        attempts = Attempt.objects.filter(run__campaign=self.campaign)
        ended = attempts.filter(state__in=Attempt.WITH_VALUES).count()
        result = []
        if self.recomputed:
            result.append(
                f"computed again from raw samples of {self.with_samples} of "
                f"{counted(ended, 'attempt')}: {', '.join(sorted(self.recomputed))}"
            )
        if metrics:
            result.append(f"taken as read, since no raw samples give them: {', '.join(metrics)}")
        if self.with_samples < ended:
            left = counted(ended - self.with_samples, "attempt")
            result.append(f"taken as read: all values of {left} without raw samples")
        result.append(
            "taken as read: series, phases, proofs, settings in force, environment, the log, and of "
            "attempts CPU, bandwidth, reasons and instants"
        )
        return result

    def _counts(self, folder: str) -> Iterator[Difference]:
        every = Distribution.objects.filter(attempt__run__campaign=self.campaign)
        for row in every.select_related("attempt__run").order_by("pk").iterator(chunk_size=50):
            total = _total(bytes(row.encoded))
            if total != row.count:
                file, place = f"{folder}rows/distribution.ndjson", f"{_of(row.attempt)}, {row.name}"
                yield Difference(file, f"{place}, count", row.count, total)

    def _again(self, attempt: Attempt, columns: Mapping[str, list[Any]]) -> Recomputed | None:
        if self.driver is None:
            return None
        values = dict(attempt.measurements.values_list("metric", "value"))
        try:
            return self.driver.recompute(columns, values)
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
            return None

    def _values(self, folder: str, attempt: Attempt, again: Recomputed) -> Iterator[Difference]:
        file = f"{folder}rows/measurement.ndjson"
        for row in attempt.measurements.order_by("metric"):
            gives = again.values.get(row.metric)
            if gives is None or row.censored:
                continue
            self.recomputed[row.metric] += 1
            if not math.isclose(row.value, gives, rel_tol=CLOSE):
                yield Difference(file, f"{_of(attempt)}, {row.metric}", row.value, gives)
        if again.units_done is not None and again.units_done != attempt.units_done:
            file = f"{folder}rows/attempt.ndjson"
            yield Difference(
                file, f"{_of(attempt)}, units_done", attempt.units_done, again.units_done
            )

    def _histograms(self, folder: str, attempt: Attempt, again: Recomputed) -> Iterator[Difference]:
        for row in attempt.distributions.order_by("name"):
            times = again.times_us.get(row.name)
            if times is None:
                continue
            self.recomputed[f"histogram of {row.name}"] += 1
            if difference := _step_that_differs(bytes(row.encoded), times):
                file = f"{folder}rows/distribution.ndjson"
                yield Difference(file, f"{_of(attempt)}, {row.name}", *difference)


def _total(encoded: bytes) -> int | str:
    try:
        return histogram.counts_of(encoded).total
    except Exception as error:  # noqa: BLE001  the library raises what it likes
        return f"no histogram ({type(error).__name__})"


def _step_that_differs(encoded: bytes, times: Iterable[int]) -> tuple[str, str] | None:
    """The first step of a histogram with another count than the samples give."""
    value = histogram.counts_of(encoded)
    gives = histogram.counts_of(histogram.encode(times).encoded)
    if np.array_equal(value.steps, gives.steps) and np.array_equal(value.counts, gives.counts):
        return None
    text, given = (
        dict(zip(e.steps.tolist(), e.counts.tolist(), strict=True)) for e in (value, gives)
    )
    step = min(s for s in {*text, *given} if text.get(s) != given.get(s))
    return f"{text.get(step, 0)} in step {step}", f"{given.get(step, 0)}"


def _of(attempt: Attempt) -> str:
    trial = "try-out " if attempt.run.purpose == Run.Purpose.TRIAL else ""
    return f"{trial}run {attempt.run.position}, attempt {attempt.number}"
