"""Values of the metrics that watches of a target give: its memory, and its CPU time for each unit of work. Pure."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from campaigns.models.campaigns import METRIC_LETTERS
from campaigns.planning.watched_metrics import (
    CPU_PER,
    MEMORY,
    MEMORY_PEAK,
    name_of,
    watched_metric,
)
from campaigns.results.watched import WatchedRun
from campaigns.stats.binding import LIMITS
from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import LOAD, OWN

MEGABYTE = 1e6
USED = ("cpu.user", "cpu.nice", "cpu.system", "cpu.irq")
"""The modes in which the target itself uses the CPU."""
NEEDED = ("cpu.user", "cpu.system")

Floats = NDArray[np.float64]


def watched_values(run: WatchedRun, seconds: float, work: Mapping[str, float]) -> dict[str, float]:
    """Return the values of one run by the names of their metrics; what was not observed in most of it is left out.

    seconds: of the measurement. work: how much of each unit was done in them, by its noun. A target that shares its machine
    with perfdash is charged without perfdash's own processes.
    """
    values = dict(_values(_Measured(run, seconds), work))
    return {
        name: value
        for name, value in values.items()
        if len(name) <= METRIC_LETTERS and watched_metric(name) is not None
    }


class _Measured:
    """The series of a run while it was measured, of sources whose clock is certain; the first that has one counts."""

    def __init__(self, run: WatchedRun, seconds: float) -> None:
        self.seconds = seconds
        self._series: dict[Key, Floats] = {}
        for source in run.sources:
            for each in source.series if source.certain else ():
                values = each.within(0.0, seconds)
                known = values[np.isfinite(values)]
                expected = max(1.0, seconds / each.step_seconds)
                if len(known) and len(known) >= LIMITS.coverage * expected:
                    self._series.setdefault(each.key, known)

    def labels(self, quantity: str) -> Iterable[str]:
        """Return the groups of a quantity."""
        return sorted(key.label for key in self._series if key.quantity == quantity and key.label)

    def mean(self, quantity: str, label: str = "") -> float | None:
        """Return the mean; None where it was not observed."""
        values = self._series.get(Key(quantity, label))
        return None if values is None else float(values.mean())

    def largest(self, quantity: str, label: str = "") -> float | None:
        """Return the largest value."""
        values = self._series.get(Key(quantity, label))
        return None if values is None else float(values.max())

    def smallest(self, quantity: str) -> float | None:
        """Return the smallest value."""
        values = self._series.get(Key(quantity, ""))
        return None if values is None else float(values.min())


def _values(measured: _Measured, work: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    cores: dict[str, float] = {}
    modes = {mode: measured.mean(mode) for mode in USED}
    if all(modes[mode] is not None for mode in NEEDED):
        own = sum(measured.mean("group.cpu", label) or 0.0 for label in (OWN, LOAD))
        cores[""] = max(sum(mean for mean in modes.values() if mean is not None) - own, 0.0)
    for group in measured.labels("group.cpu"):
        if group not in (OWN, LOAD):
            cores[group] = measured.mean("group.cpu", group) or 0.0
    for unit, amount in work.items():
        if amount > 0:
            for group, mean in cores.items():
                yield name_of(f"{CPU_PER}{unit}", group), mean * measured.seconds / amount
    total = measured.mean("memory.total")
    available, least = measured.mean("memory.available"), measured.smallest("memory.available")
    if total is not None and available is not None and least is not None:
        yield MEMORY, max(total - available, 0.0) / MEGABYTE
        yield MEMORY_PEAK, max(total - least, 0.0) / MEGABYTE
    for group in measured.labels("group.memory"):
        if group not in (OWN, LOAD):
            for name, value in (
                (MEMORY, measured.mean("group.memory", group)),
                (MEMORY_PEAK, measured.largest("group.memory", group)),
            ):
                if value is not None:
                    yield name_of(name, group), value / MEGABYTE
