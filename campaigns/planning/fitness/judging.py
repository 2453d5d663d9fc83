"""Compare the runs of a check with its thresholds. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from campaigns.kit.numbers import number
from campaigns.planning.fitness.checks import WARNING, Check

FIT, NOT_KNOWN = "fit", "not known"
FEWEST = 3
MORE = 2
"""Runs to add where the interval holds a threshold."""
QUANTILES = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom (Abramowitz and Stegun, table 26.10)."""
NORMAL = 1.960


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome of a check. low, high: of the 95 % interval of the mean; None where nothing was judged.

    undecided: a threshold is within the interval, so more runs would help.
    """

    outcome: str
    reason: str
    low: float | None = None
    high: float | None = None
    undecided: bool = False


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of at least two values."""
    df = len(values) - 1
    quantile = QUANTILES[df - 1] if df <= len(QUANTILES) else NORMAL
    half = quantile * stdev(values) / sqrt(len(values))
    return fmean(values) - half, fmean(values) + half


def judge(check: Check, values: Sequence[float]) -> Judged:
    """Judge the values of a check's runs.

    A target is not within a threshold only where the whole interval is beyond it, and within it only where none of it is.
    """
    if len(values) < FEWEST:
        return Judged(NOT_KNOWN, f"{len(values)} of {FEWEST} runs have a value.", undecided=True)
    low, high = interval(values)
    shown = f"{_text(fmean(values))} {check.unit} (95 %: {_text(low)} to {_text(high)}) in {len(values)} runs"
    for threshold in check.thresholds:
        beyond = high < threshold.value if check.at_least else low > threshold.value
        within = low >= threshold.value if check.at_least else high <= threshold.value
        bound = f"{_text(threshold.value)} {check.unit}"
        if beyond:
            needs = "needs" if threshold.word != WARNING else "better"
            return Judged(
                threshold.word, f"{shown}; {needs} {bound} ({threshold.source}).", low, high
            )
        if not within:
            if threshold.word == WARNING:
                return Judged(
                    WARNING,
                    f"{shown}; {bound} is within that ({threshold.source}).",
                    low,
                    high,
                    undecided=True,
                )
            return Judged(
                NOT_KNOWN,
                f"{shown}; not decided, {bound} is within that ({threshold.source}): {MORE} more runs.",
                low,
                high,
                undecided=True,
            )
    return Judged(FIT, f"{shown}.", low, high)


def _text(value: float) -> str:
    return number(value)
