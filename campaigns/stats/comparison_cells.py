"""Input of a comparison of cells, and the reasons not to judge it. Pure. STATISTICS 2.3, 2.6."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from campaigns.stats import student
from campaigns.stats.criteria import Criteria
from campaigns.stats.interval import Interval
from campaigns.stats.logs import is_number
from campaigns.stats.verdict import Verdict, Word

CLUMPED = 10.0
"""With a design effect above it failures come in few runs, and the interval is too narrow."""


@dataclass(frozen=True, slots=True)
class CellRuns:
    """The runs of one cell.

    values: one per run that counts, in the order of their positions. blocks: the number of each
    run's block, or empty where there are no blocks. sessions: in which each was made; empty where all
    were made in one. failed: runs that failed as a whole (the target's doing); timed_out: of those,
    runs whose value lies above a limit. lost: runs that were void, lost, or a bound (not the target's
    doing).
    failed_units, units: of work (files, requests, hosts), one of each per run that counts or failed;
    empty where a run is its own unit. key: the comparability key: workload, environment, metric, unit.
    """

    values: Sequence[float]
    blocks: Sequence[int] = ()
    failed: int = 0
    lost: int = 0
    failed_units: Sequence[int] = ()
    units: Sequence[int] = ()
    sessions: Sequence[int] = ()
    key: Mapping[str, object] = field(default_factory=dict)
    timed_out: int = 0

    @property
    def planned(self) -> int:
        """Return the number of runs that were planned."""
        return len(self.values) + self.failed + self.lost

    @property
    def session_count(self) -> int:
        """Return the sessions that hold a value."""
        return len(set(self.sessions)) if self.sessions else min(1, len(self.values))

    def part(self, session: int) -> "CellRuns":
        """Return the cell with the values of one session only, without failed and lost runs."""
        chosen = [i for i, number in enumerate(self.sessions) if number == session]
        return CellRuns(
            values=[self.values[i] for i in chosen],
            blocks=[self.blocks[i] for i in chosen] if self.blocks else (),
            key=self.key,
        )

    @property
    def array(self) -> NDArray[np.float64]:
        """Shape (n,)."""
        return np.array(self.values, dtype=float)

    @property
    def has_logs(self) -> bool:
        """Return whether there are values, all of them numbers above 0."""
        values = self.array
        return bool(values.size) and bool((is_number(values) & (values > 0)).all())


def refusal(baseline: CellRuns, candidate: CellRuns, criteria: Criteria) -> Verdict | None:
    """Return why two cells may not be compared: the first rule that applies, or None."""
    sides = (("baseline", baseline), ("candidate", candidate))
    n = min(len(baseline.values), len(candidate.values))
    if fields := differing(baseline.key, candidate.key):
        return Verdict(Word.NOT_COMPARABLE, n=n, fields=fields)
    refused = [
        replace(no, n=n, side=side)
        for side, cell in sides
        if (no := refusal_of_cell(cell, criteria))
    ]
    if refused:
        return min(refused, key=lambda no: REFUSALS.index(no.word))
    if not n:
        return Verdict(Word.NOT_ENOUGH_DATA, n=0, reason="n_below_minimum")
    return None


REFUSALS = (Word.INVALID_VALUES, Word.TOO_MANY_FAILURES, Word.NOT_ENOUGH_DATA)
"""Of two cells that are refused the first of these is told."""


def refusal_of_cell(cell: CellRuns, criteria: Criteria) -> Verdict | None:
    """Return why a cell may not be compared with any other, or None."""
    n = len(cell.values)
    if positions := _invalid(cell):
        return Verdict(Word.INVALID_VALUES, n=n, positions=positions)
    if result := too_many_failures(cell, criteria):
        reason, share = result
        return Verdict(Word.TOO_MANY_FAILURES, n=n, reason=reason, share=share)
    lost = cell.lost / cell.planned if cell.planned else 0.0
    if lost > criteria.lost_limit:
        return Verdict(Word.NOT_ENOUGH_DATA, n=n, reason="lost_runs", share=lost)
    return None


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[str, ...]:
    """Return the fields in which two comparability keys differ."""
    absent = object()
    return tuple(
        name for name in sorted({*one, *other}) if one.get(name, absent) != other.get(name, absent)
    )


def too_many_failures(cell: CellRuns, criteria: Criteria) -> tuple[str, float] | None:
    """Return the rule that a cell breaks, `failed_units`, `timed_out` or `failed_runs`, and its share.

    One run is enough: what came through is better than the setting where a run is missing because of it.
    """
    units = failed_share(cell.failed_units, cell.units, alpha=criteria.alpha)
    if units and units.share > criteria.failed_limit:
        return "failed_units", units.share
    answered = len(cell.values) + cell.failed
    share = cell.failed / answered if answered else 0.0
    if cell.timed_out:
        return "timed_out", cell.timed_out / answered
    return ("failed_runs", share) if share > criteria.failed_limit else None


def _invalid(cell: CellRuns) -> tuple[int, ...]:
    values = cell.array
    return tuple(int(i) for i in np.flatnonzero(~(is_number(values) & (values > 0))))


@dataclass(frozen=True, slots=True)
class FailedShare:
    """The share of failed units of work over `n` runs; a share of 1.

    design_effect: how many times wider than by counting units alone. within_run: of one run, so it
    says nothing of the next. clumped: say first how many of the runs had failures.
    """

    share: float
    ci: Interval
    n: int
    failed: int
    units: int
    runs_with_failures: int
    design_effect: float
    effective_n: float
    within_run: bool
    clumped: bool


# The run is the unit of inference: three runs of 500 requests are three observations, not 1500.
# STATISTICS 2.6.
def failed_share(
    failed: Sequence[int], units: Sequence[int], *, alpha: float = 0.05
) -> FailedShare | None:
    """Estimate a failed share over runs: Wilson's interval of an effective n, with t(n - 1).

    failed, units: one of each per run; runs without units are left out, None where none is left.
    """
    pairs = [(f, m) for f, m in zip(failed, units, strict=True) if m > 0]
    if any(not 0 <= f <= m for f, m in pairs):
        raise ValueError("A run cannot have more failed units than units, or fewer than none.")
    if not pairs:
        return None
    counts = np.array(pairs, dtype=float)
    total_failed, total = float(counts[:, 0].sum()), float(counts[:, 1].sum())
    share, n = total_failed / total, len(pairs)
    effect = _design_effect(counts, share)
    effective = total / effect
    tail = 1 - alpha / 2
    quantile = float(scipy.stats.norm.ppf(tail)) if n == 1 else student.quantile(tail, n - 1)
    return FailedShare(
        share=share,
        ci=_wilson(share, effective, quantile),
        n=n,
        failed=int(total_failed),
        units=int(total),
        runs_with_failures=int((counts[:, 0] > 0).sum()),
        design_effect=effect,
        effective_n=effective,
        within_run=n == 1,
        clumped=effect > CLUMPED,
    )


def _design_effect(counts: np.ndarray, share: float) -> float:
    n = len(counts)
    if n < 2 or share in (0.0, 1.0):
        return 1.0
    failed, units = counts[:, 0], counts[:, 1]
    spread = float((units * np.square(failed / units - share)).sum())
    return max(1.0, spread / ((n - 1) * share * (1 - share)))


def _wilson(share: float, n: float, quantile: float) -> Interval:
    square = quantile**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile * math.sqrt(share * (1 - share) / n + square / (4 * n**2)) / (1 + square / n)
    low = 0.0 if share == 0 else max(0.0, centre - half)  # not the last digit of a difference
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return Interval(low, high)
