"""Pairs of runs made back to back, and the reasons not to judge them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.criteria import Criteria
from campaigns.stats.logs import is_number
from campaigns.stats.verdict import Verdict, Word


@dataclass(frozen=True, slots=True)
class Pair:
    """One run of each side, with the metric's value, made in one session.

    candidate_first is None where nobody knows.
    """

    baseline: float
    candidate: float
    candidate_first: bool | None = None
    session: int = 1


@dataclass(frozen=True, slots=True)
class Side:
    """One side without its values.

    key: the comparability key: workload, environment, metric, unit. units: of work in all its runs
    (files, requests, hosts), failed_units of them failed; 0 where a run is its own unit.
    """

    key: Mapping[str, object] = field(default_factory=dict)
    units: int = 0
    failed_units: int = 0


@dataclass(frozen=True, slots=True)
class Stratum:
    """All pairs of one combination of the other factors, for example one manifest.

    A pair with a failed or a lost side is no pair; it is counted here, once: by failure where the
    target failed (or timed out), by loss where the run was void, its worker lost or its generator
    saturated. timed_out: pairs of which a run timed out, among those incomplete by failure.
    """

    name: str
    pairs: Sequence[Pair]
    incomplete_by_failure: int = 0
    incomplete_by_loss: int = 0
    baseline: Side = Side()
    candidate: Side = Side()
    timed_out: int = 0

    @property
    def planned(self) -> int:
        """Return the number of pairs that were planned."""
        return len(self.pairs) + self.incomplete_by_failure + self.incomplete_by_loss


def refusal(stratum: Stratum, criteria: Criteria) -> Verdict | None:
    """Return why the stratum may not be judged: the first rule that applies, or None.

    The share of failed runs of a paired stratum is that of the pairs which they left incomplete; one pair may be
    enough, since what is left is better than a side of which a run is missing because of it.
    """
    return (
        _not_comparable(stratum)
        or _invalid_values(stratum)
        or _failed_units(stratum, criteria)
        or _timed_out(stratum)
        or _incomplete(stratum, criteria)
    )


def values_of(pairs: Sequence[Pair], side: str) -> NDArray[np.float64]:
    """Return the values of `baseline` or `candidate`, shape (n,)."""
    return np.array([getattr(pair, side) for pair in pairs], dtype=float)


def _not_comparable(stratum: Stratum) -> Verdict | None:
    absent = object()
    baseline, candidate = stratum.baseline.key, stratum.candidate.key
    fields = tuple(
        name
        for name in sorted({*baseline, *candidate})
        if baseline.get(name, absent) != candidate.get(name, absent)
    )
    if not fields:
        return None
    return Verdict(word=Word.NOT_COMPARABLE, n=len(stratum.pairs), fields=fields)


def _invalid_values(stratum: Stratum) -> Verdict | None:
    for side in ("baseline", "candidate"):
        values = values_of(stratum.pairs, side)
        bad = np.flatnonzero(~is_number(values) | (values <= 0))
        if bad.size:
            return Verdict(
                word=Word.INVALID_VALUES,
                n=len(stratum.pairs),
                side=side,
                positions=tuple(int(position) for position in bad),
            )
    return None


def _failed_units(stratum: Stratum, criteria: Criteria) -> Verdict | None:
    for name, side in (("baseline", stratum.baseline), ("candidate", stratum.candidate)):
        share = side.failed_units / side.units if side.units else 0.0
        if share > criteria.failed_limit:
            return Verdict(
                word=Word.TOO_MANY_FAILURES,
                n=len(stratum.pairs),
                reason="failed_units",
                side=name,
                share=share,
            )
    return None


def _timed_out(stratum: Stratum) -> Verdict | None:
    """Return the refusal where runs timed out: in the other pairs no run took long, so their change is too good."""
    if not stratum.timed_out:
        return None
    return Verdict(
        word=Word.TOO_MANY_FAILURES,
        n=len(stratum.pairs),
        reason="timed_out",
        share=stratum.timed_out / stratum.planned,
    )


def _incomplete(stratum: Stratum, criteria: Criteria) -> Verdict | None:
    rules = (
        (
            Word.TOO_MANY_FAILURES,
            "failed_runs",
            stratum.incomplete_by_failure,
            min(criteria.incomplete_limit, criteria.failed_limit),
        ),
        (Word.NOT_ENOUGH_DATA, "lost_runs", stratum.incomplete_by_loss, criteria.lost_limit),
    )
    for word, reason, incomplete, limit in rules:
        share = incomplete / stratum.planned if stratum.planned else 0.0
        if share > limit:
            return Verdict(word=word, n=len(stratum.pairs), reason=reason, share=share)
    return None
