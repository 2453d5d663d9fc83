"""What the Universal Scalability Law says of runs at several concurrencies. Pure."""

from collections.abc import Sequence

from campaigns.findings.values import Law, LoadGroup, LoadLevel, Unranked
from campaigns.kit.numbers import amount, counted, number

LEFT_OUT = {
    "bound": "the generator was saturated or starved",
    "not_steady": "both halves of the run differ by more than 5 %",
    "failures": "too much of the work, or too many runs of the level, failed",
}
ABOVE = 1.1
"""A level above so many times the largest throughput by the law contradicts the law."""


def notes_of(group: LoadGroup, unit: str) -> tuple[str, ...]:
    """Return what the law says of a curve, or why there is none. unit: of the throughput."""
    law = group.law
    if law is None and not group.missing:
        return ("The law is shown when the campaign has ended.", *_left_out(group))
    if law is None:
        levels = len(group.levels_measured)
        return (
            f"No law is fitted: it takes {group.fewest} levels with runs that count, and there "
            f"{'is' if levels == 1 else 'are'} {levels}.",
            *_left_out(group),
        )
    if doubt := doubt_of(law, group.levels_measured, unit):
        return (doubt, *_left_out(group), *waiting(group))
    return (
        *_limit(law, group),
        *_peak(law, group, unit),
        *_left_out(group),
        *waiting(group),
    )


def doubt_of(law: Law, levels: Sequence[LoadLevel], unit: str) -> str:
    """Return where runs carried more than the law allows at all: nothing is to be had from it then."""
    most = law.most
    above = [level for level in levels if most is not None and level.throughput > ABOVE * most]
    if not above:
        return ""
    best = max(above, key=lambda level: float(level.throughput))
    return (
        f"The law does not describe these runs: its largest throughput is {amount(most, unit)}, and "
        f"at {number(best.n)} the runs carried {amount(best.throughput, unit)} on average. No "
        "limit is recommended from it; look at the runs that are far from the others."
    )


def _limit(law: Law, group: LoadGroup) -> tuple[str, ...]:
    if group.unranked:
        return (f"{_why(group.unranked)}: no limit is recommended.",)
    if law.throttle is None:
        return ("The law has no largest throughput, so that no limit is recommended.",)
    if law.extrapolated:
        return (
            f"By the law 95 % of the largest throughput takes {law.throttle} at a time, more "
            f"than the {number(law.largest)} that were measured: measure there before using it.",
        )
    text = f"Recommended limit: {law.throttle} at a time, the fewest with 95 % of the largest throughput"
    if group.bounds and group.bounds.throttle:
        text += f" (95 % interval of where that is: {between(group.bounds.throttle, law)})"
    if law.peak_reached and law.rule_of_thumb is not None:
        agrees = "agrees" if law.rule_agrees else "does not agree"
        text += (
            f". The rule of thumb, 75 % of the peak, says {number(law.rule_of_thumb)}, and {agrees}"
        )
    return (f"{text}.",)


def _why(unranked: Unranked) -> str:
    if unranked.cancelled:
        return "The campaign was cancelled before its stop rule was met"
    have = "has" if unranked.few == 1 else "have"
    return (
        f"{unranked.few} of {counted(unranked.levels, 'level')} {have} fewer than {unranked.fewest} runs"
        " that count"
    )


def _peak(law: Law, group: LoadGroup, unit: str) -> tuple[str, ...]:
    if law.peak is None:
        return ("The law has no peak: no decline at a higher number at a time was observed.",)
    if not law.peak_reached:
        return (
            "The peak was not reached: by the law it lies beyond 1.5 times the largest number "
            "that was measured, and is not estimated.",
        )
    span = ""
    if group.bounds:
        span = f" (95 % interval: {between(group.bounds.peak, law)})"
    elif {level.runs for level in group.levels_measured} == {1}:
        span = " (no interval: no level has two runs that count)"
    most = amount(law.most, unit)
    return (f"The peak lies at {number(law.peak)}{span} at a time, with {most}.",)


def between(bounds: Sequence[float | None], law: Law) -> str:
    """Return an interval of concurrency as text; bounds outside the measured range have no number."""
    low, high = (
        None if bound is None or bound > law.largest else number(bound) for bound in bounds
    )
    if low is None:
        return "beyond what was measured"
    return f"{low} to {high}" if high is not None else f"{low} to beyond what was measured"


def _left_out(group: LoadGroup) -> tuple[str, ...]:
    parts = [
        f"{counted(count, 'run')} where {labels}"
        for reason, labels in LEFT_OUT.items()
        if (count := group.left_out[reason])
    ]
    return (f"In no fit: {'; '.join(parts)}.",) if parts else ()


def waiting(group: LoadGroup) -> tuple[str, ...]:
    """Return by Little's law whether response times include all waiting."""
    off = [level for level in group.levels_measured if level.consistent is False]
    if not off:
        return ()
    worst = max(off, key=lambda level: abs((level.ratio or 0.0) - 1))
    where = ", ".join(number(level.n) for level in off)
    why = (
        "The rest waited where nobody timed it, or was not there all along; end to end an answer "
        "takes number ÷ throughput."
        if (worst.ratio or 0.0) < 1
        else "They are not all of the same requests, or some were counted twice."
    )
    return (
        f"At {where} throughput × response time is not the number at a time within 5 % (Little’s "
        f"law): at {number(worst.n)} it accounts for {number(worst.effective)}. {why}",
    )
