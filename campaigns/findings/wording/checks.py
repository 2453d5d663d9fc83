"""The checks of a result: what each one found, with its number. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from campaigns.findings.values import Checks
from campaigns.findings.wording.drift import slope_text, within_text
from campaigns.kit.marks import OUTCOMES
from campaigns.kit.numbers import (
    change,
    coefficient,
    counted,
    number,
    p_value,
    plain_percent,
    share,
    without_sign,
)
from campaigns.stats.validity import COLD_P, Check, Outcome

MOST_POSITIONS = 8
WORST_FIRST = (Outcome.FAIL, Outcome.WARN, Outcome.PASS, Outcome.NOT_POSSIBLE)
NO_TREND = "No trend with time was found."
NOT_SATURATED = "The generator was not saturated in any run, and nothing else disturbed one."
NOT_WATCHED = "How long the generator waited for a CPU was not recorded."
NO_HEALTH = "The import has no load-generator health data."
NO_FACTS = "No facts of target or generator were stored."
AGGREGATED = (
    "Each value is a mean, or a percentile, of many samples, computed by the tool: the spread "
    "within a run is unknown."
)


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check as text. was_made: false where it was not possible."""

    title: str
    tone: str
    icon: str
    value: str
    text: str
    was_made: bool = True


@dataclass(frozen=True, slots=True)
class Wording:
    """How a check is worded. impossible: why it could not be made. line: its number, and what that means."""

    title: str
    impossible: str
    line: Callable[[Check], tuple[str, str]]


def check_lines(finding: Checks) -> list[CheckLine]:
    """Return all checks as text, failures and warnings first, those that were not possible last."""
    return [
        _line(check)
        for check in sorted(finding.checks, key=lambda each: WORST_FIRST.index(each.outcome))
    ]


def positions_text(positions: Sequence[int]) -> str:
    """Name runs by their positions: “run 5”, or “runs 5, 7 and 12 more”."""
    named = ", ".join(str(position) for position in positions[:MOST_POSITIONS])
    more = len(positions) - MOST_POSITIONS
    return f"run{'' if len(positions) == 1 else 's'} {named}{f' and {number(more)} more' if more > 0 else ''}"


def switches_text(check: Check) -> str:
    """Return how many switches of level there are: “5 of 17 possible switches of level”."""
    return (
        f"{number(int(check.figures['switches']))} of {number(int(check.figures['most']))} "
        "possible switches of level"
    )


def trend_number(check: Check) -> str:
    """Return the correlation with time, and its p."""
    return f"τ {coefficient(check.figures['tau'] or 0.0)}, p {p_value(check.value)}"


def rounding_text(check: Check) -> str:
    """Return in which steps values are written, and what that hides."""
    text = f"Values are written in steps of up to {number(check.value, 2)} % of their mean."
    if check.outcome == Outcome.FAIL:
        effect = plain_percent(check.figures["smallest_effect_pct"])
        text += f" A difference of {effect}, the smallest of interest, cannot be seen."
    return text


def _line(check: Check) -> CheckLine:
    label, tone, icon = OUTCOMES[check.outcome]
    wording = WORDINGS[check.name]
    if check.outcome == Outcome.NOT_POSSIBLE:
        return CheckLine(wording.title, tone, icon, label, wording.impossible, was_made=False)
    return CheckLine(wording.title, tone, icon, *wording.line(check))


def _passed(check: Check) -> bool:
    return check.outcome == Outcome.PASS


def _number(check: Check) -> str:
    return number(int(check.value or 0))


def _interleaving(check: Check) -> tuple[str, str]:
    meaning = "" if _passed(check) else ": level and time of day are fully confounded"
    return coefficient(check.value or 0.0), f"{switches_text(check)}{meaning}."


def _drift(check: Check) -> tuple[str, str]:
    if _passed(check):
        return trend_number(check), NO_TREND
    slope = slope_text(check.figures["slope_pct"], check.figures.get("hours"))
    text = f"Runs change with time ({slope}): compare levels with care."
    return trend_number(check), text


def _block_drift(check: Check) -> tuple[str, str]:
    if _passed(check):
        return trend_number(check), NO_TREND
    slope = slope_text(check.figures["slope_pct"], check.figures.get("hours"), "block")
    return trend_number(check), (
        f"The target drifts ({slope}): contrasts are protected, absolute levels are not."
    )


def _drift_within(check: Check) -> tuple[str, str]:
    text = within_text(check)
    if not _passed(check):
        text += ": no verdict is given where it may reach the margin."
    return f"p {p_value(check.value)}", text


def _order_in_block(check: Check) -> tuple[str, str]:
    text = "No effect of the position within the block was found."
    if not _passed(check):
        slope = change(check.figures["slope_pct"])
        text = f"Each later position within the block changes a run by {slope}."
    return f"p {p_value(check.value)}", text


def _cold_start(check: Check) -> tuple[str, str]:
    p = check.figures["p"]
    which = "whose lowest or highest value is the first run of a block"
    text = f"Share of levels {which}; chance explains it (p {p_value(p)})."
    if not _passed(check):
        text = f"Share of levels {which}: warm up."
    elif p < COLD_P:
        text = (
            f"Share of levels {which}; more than by chance (p {p_value(p)}), but not most of them."
        )
    return share(check.value, 0), text


def _equal_noise(check: Check) -> tuple[str, str]:
    low, high = (without_sign(check.figures[name]) for name in ("smallest_pct", "largest_pct"))
    text = f"The noise of the levels is {low.removesuffix(' %')} to {high}"
    if not _passed(check):
        return f"p {p_value(check.value)}", f"{text}: each is judged by its own."
    text += "; no difference was found."
    if apart := int(check.figures["apart"]):
        text += f" To be safe, {apart} of them {'is compared by its' if apart == 1 else 'are compared by their'} own noise."
    return f"p {p_value(check.value)}", text


def _autocorrelation(check: Check) -> tuple[str, str]:
    number = f"r₁ {coefficient(check.value or 0.0)}"
    if _passed(check):
        return number, "No correlation of neighbouring runs was found."
    if (check.value or 0) < check.figures["expected"]:
        return number, "Neighbouring runs differ more than independent ones: something alternates."
    runs = counted(max(1, round(check.figures["n_eff"])), "independent run")
    return number, f"Neighbouring runs are alike: together they are worth about {runs}."


def _aggregated(check: Check) -> tuple[str, str]:
    return "aggregated", f"{AGGREGATED} Density and modes are not available."


def _rounded(check: Check) -> tuple[str, str]:
    text = rounding_text(check)
    if check.figures["declared"]:
        text += " Rounding makes ties: rank tests, density and modes are not available."
    return "rounded", text


def _modes(check: Check) -> tuple[str, str]:
    if _passed(check):
        return "one", "Every level with 20 runs or more has one mode."
    return _number(check), "Levels with several modes: compare per mode, means mislead."


def _outliers(check: Check) -> tuple[str, str]:
    if _passed(check):
        return "none", "No run lies far from the others of its level."
    runs = positions_text(check.positions)
    return _number(check), f"Far from the others of their level: {runs}. None is excluded."


def _identical(check: Check) -> tuple[str, str]:
    if _passed(check):
        return "none", "No level has equal values only."
    return _number(check), "Levels with equal values only: suspect the clock or a cache."


def _aa_noise(check: Check) -> tuple[str, str]:
    floor = without_sign(check.value or 0.0)
    if _passed(check):
        return floor, (
            "Based on these pairs, 19 of 20 further ones differ by no more; no difference between "
            "the two labels was found."
        )
    return floor, (
        f"The two labels differ (p {p_value(check.figures['p'])}) although they are one setting: "
        "by chance, or since something changes with time or place."
    )


def _rows(check: Check) -> tuple[str, str]:
    runs = positions_text(check.positions) if check.positions else ""
    if _passed(check):
        off = f"; off by a second: {runs}" if runs else ""
        return "pass", f"Durations agree with start and finish{off}."
    return _number(check), f"Rows that overlap or contradict their instants: {runs}."


def _starved(check: Check) -> tuple[str, str]:
    text = starved_text(check)
    if _passed(check):
        return "none", text
    return f"{_number(check)} of {number(int(check.figures['runs']))}", text


def starved_text(check: Check) -> str:
    """Write in which runs other programs kept the generator waiting, or how long it waited at most."""
    if _passed(check):
        return f"In no run did the generator wait for a CPU more than {share(check.figures['most'], 0)} of the time."
    return (
        f"Other programs kept the generator waiting for a CPU, up to {share(check.figures['most'], 0)} of the time; what it "
        f"measured then counts for nothing: {positions_text(check.positions)}."
    )


def _saturation(check: Check) -> tuple[str, str]:
    if _passed(check):
        return "none", NOT_SATURATED
    return _number(check), saturation_text(check)


def saturation_text(check: Check) -> str:
    """Write in which runs the generator was saturated, or something may have disturbed it."""
    if check.outcome == Outcome.FAIL:
        return f"The generator was saturated, so that values are bounds: {positions_text(check.positions)}."
    return f"Something may have disturbed the generator; the page of each run says what: {positions_text(check.positions)}."


def _proofs(check: Check) -> tuple[str, str]:
    readings = counted(int(check.figures["readings"]), "reading")
    if _passed(check):
        return "all", f"{readings}, all as expected."
    were = "was" if check.value == 1 else "were"
    return _number(check), f"{_number(check)} of {readings} {were} not as expected."


def _environment(check: Check) -> tuple[str, str]:
    facts = counted(int(check.figures["facts"]), "fact")
    if check.value:
        changes = counted(int(check.value), "change")
        return changes, "Runs before and after a change are not comparable."
    if _passed(check):
        return facts, "The same before the first and after the last run."
    text = f"{facts}, described by the import, not captured with each run."
    return "imported description", text


WORDINGS: Mapping[str, Wording] = {
    "interleaving": Wording(
        "Interleaving",
        "There is one level only, or only one order of its runs is possible.",
        _interleaving,
    ),
    "drift": Wording("Drift", "Needs 8 runs, made at different times, and some spread.", _drift),
    "block_drift": Wording(
        "Drift of blocks", "Needs 5 blocks, made at different times, and some spread.", _block_drift
    ),
    "drift_within": Wording(
        "Drift within levels",
        "Needs 8 runs; between levels it cannot be determined in this order.",
        _drift_within,
    ),
    "order_in_block": Wording(
        "Position within block", "Needs 8 runs, in blocks of two or more.", _order_in_block
    ),
    "cold_start": Wording(
        "Cold start",
        "Needs 3 runs of several levels, some of which opened a block.",
        _cold_start,
    ),
    "equal_noise": Wording(
        "Equal noise",
        "Needs 3 runs of several levels; in blocks of two levels both vary equally by design.",
        _equal_noise,
    ),
    "autocorrelation": Wording(
        "Neighbours", "Needs 5 runs of each level and 10 in total.", _autocorrelation
    ),
    "aggregated": Wording("What the numbers are", "", _aggregated),
    "rounded": Wording("What the numbers are", "", _rounded),
    "modes": Wording(
        "Modes",
        "Needs 20 runs of a level, and values that were not aggregated or rounded.",
        _modes,
    ),
    "outliers": Wording("Outliers", "", _outliers),
    "identical": Wording("Identical values", "", _identical),
    "aa_noise": Wording("A/A noise", "", _aa_noise),
    "rows": Wording(
        "Row consistency", "The import has no durations besides start and finish.", _rows
    ),
    "starved": Wording("Other programs on the generator", NOT_WATCHED, _starved),
    "saturation": Wording("Generator saturation", NO_HEALTH, _saturation),
    "proofs": Wording("Clean state, same work", "No probes were stored.", _proofs),
    "environment": Wording("Environment", NO_FACTS, _environment),
}
