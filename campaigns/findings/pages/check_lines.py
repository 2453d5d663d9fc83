"""The checks of a result as sentences, each with its number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.kit.marks import OUTCOMES
from campaigns.kit.numbers import counted, p_value, percent, share, without_sign

TITLES = {
    "interleaving": "Interleaving",
    "drift": "Drift",
    "block_drift": "Drift of blocks",
    "drift_within": "Drift within levels",
    "order_in_block": "Position within block",
    "cold_start": "Cold start",
    "equal_noise": "Equal noise",
    "autocorrelation": "Neighbours",
    "aggregated": "What the numbers are",
    "rounded": "What the numbers are",
    "modes": "Modes",
    "outliers": "Outliers",
    "identical": "Identical values",
    "aa_noise": "A/A noise",
    "rows": "Row consistency",
    "saturation": "Generator saturation",
    "proofs": "Clean state, same work",
    "environment": "Environment",
}
IMPOSSIBLE = {
    "interleaving": "There is one level only, or its runs can stand in one order only.",
    "drift": "Needs 8 runs and some spread.",
    "block_drift": "Needs 5 blocks.",
    "drift_within": "Needs 8 runs; between levels it cannot be determined in this order.",
    "order_in_block": "Needs 8 runs, in blocks of two or more.",
    "cold_start": "Needs 3 runs of several levels, some of which opened a block.",
    "equal_noise": "Needs 3 runs of several levels; in blocks of two levels both vary equally by design.",
    "autocorrelation": "Needs 5 runs of each level and 10 in total.",
    "modes": "Needs 20 runs of a level, and values that were not aggregated or rounded.",
    "rows": "The import has no durations besides start and finish.",
    "saturation": "The import has no load-generator health data.",
    "proofs": "No probes were stored.",
    "environment": "No facts of target or generator were stored.",
}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check as text."""

    title: str
    tone: str
    icon: str
    value: str
    text: str


def check_lines(finding: Mapping[str, Any]) -> list[CheckLine]:
    """Return all checks as text, warnings first, those that were not possible last."""
    order = ("fail", "warn", "pass", "not_possible")
    checks = sorted(finding["checks"], key=lambda each: order.index(each["outcome"]))
    return [_line(each) for each in checks]


def _line(check: Mapping[str, Any]) -> CheckLine:
    word, tone, icon = OUTCOMES[check["outcome"]]
    name = check["name"]
    if check["outcome"] == "not_possible":
        value, text = word, IMPOSSIBLE.get(name, "Too few data.")
    else:
        value, text = _text(name, check)
    return CheckLine(TITLES.get(name, name), tone, icon, value, text)


def _text(name: str, check: Mapping[str, Any]) -> tuple[str, str]:
    """Return the number of a check, and what it means."""
    value, figures, good = check["value"], check["figures"], check["outcome"] == "pass"
    runs = ", ".join(str(position) for position in check["positions"][:8])
    match name:
        case "interleaving":
            switches = (
                f"{figures['switches']:.0f} switches of level, of {figures['most']:.0f} possible"
            )
            meaning = "" if good else ": level and time of day are fully confounded"
            return f"{value:.2f}", f"{switches}{meaning}."
        case "drift" | "block_drift":
            trend = f"{percent(figures['slope_pct'], 2)} an hour" if "slope_pct" in figures else ""
            if good:
                text = "No trend with time was found."
            elif name == "drift":
                text = f"Runs change with time ({trend}): compare levels with care."
            else:
                text = f"The target drifts ({trend}): contrasts are protected, absolute levels are not."
            return f"τ {figures['tau']:.2f}, p {p_value(value)}", text
        case "drift_within":
            text = "No drift within levels; between levels it cannot be determined in this order."
            if not good:
                trend = f"{percent(figures['slope_pct'], 2)} an hour"
                text = (
                    f"Runs of one level drift ({trend}), so levels measured one after the other differ "
                    "by that, too: no verdict is given where it may reach the margin."
                )
            return f"p {p_value(value)}", text
        case "order_in_block":
            text = "No effect of the position within the block was found."
            if not good:
                text = f"Each later position within the block changes a run by {percent(figures['slope_pct'])}."
            return f"p {p_value(value)}", text
        case "cold_start":
            text = (
                "First runs of blocks are the extremes of this share of the levels: no more often "
                f"than chance makes them (p {p_value(figures['p'])})."
            )
            if not good:
                text = (
                    "The first run of a block is the extreme of its level in most levels: warm up."
                )
            return f"{share(value, 0)}", text
        case "equal_noise":
            spread = f"{figures['smallest_pct']:.1f} to {without_sign(figures['largest_pct'])}"
            text = f"The noise of the levels is {spread}"
            text += "; no difference was found." if good else ": each is judged by its own."
            if good and (apart := figures.get("apart", 0)):
                text += f" To be safe, {apart:.0f} of them {'is' if apart == 1 else 'are'} compared by its own noise."
            return f"p {p_value(value)}", text
        case "autocorrelation":
            text = f"Worth {figures['n_eff']:.0f} independent runs."
            return (
                f"r₁ {value:.2f}",
                text if not good else "No correlation of neighbouring runs was found.",
            )
        case "modes":
            if good:
                return "one", "The runs of each level have one mode."
            return f"{value:.0f}", "Levels with several modes: compare per mode, means mislead."
        case "aggregated":
            return "aggregated", (
                "Each value is a mean, or a percentile, of many samples, computed by the tool: "
                "the spread within a run is unknown. Density and modes are not available."
            )
        case "rounded":
            coarse = f"Values are written in steps of up to {value:.2g} % of their mean."
            if figures.get("declared", 1):
                coarse += " Rounding makes ties: rank tests, density and modes are not available."
            wanted = f"{figures['smallest_effect_pct']:g} %"
            if check["outcome"] == "fail":
                coarse += f" A difference of {wanted}, the smallest of interest, cannot be seen."
            return "rounded", coarse
        case "outliers":
            if good:
                return "none", "No run lies far from the others of its level."
            return (
                f"{value:.0f}",
                f"Far from the others of their level: runs {runs}. None is excluded.",
            )
        case "identical":
            if good:
                return "none", "No level has equal values only."
            return f"{value:.0f}", "Levels with equal values only: suspect the clock or a cache."
        case "aa_noise":
            text = "19 of 20 further pairs differ by no more, based on these; no difference between the two labels was found."
            if not good:
                text = (
                    f"The two labels differ (p {p_value(figures['p'])}) although they are one setting: "
                    "by chance, or since something changes with time or place."
                )
            return f"{without_sign(value)}", text
        case "rows":
            listed = f"; off by a second: runs {runs}" if runs else ""
            if good:
                return "pass", f"Durations are what start and finish say{listed}."
            return f"{value:.0f}", f"Rows that overlap or contradict their instants: runs {runs}."
        case "saturation":
            if good:
                return "none", "The generator was not saturated in any run."
            return f"{value:.0f}", f"The values of these runs are bounds: {runs}."
        case "proofs":
            total = f"{figures['readings']:.0f} readings"
            return (
                ("all", f"{total}, all as they had to be.")
                if good
                else (f"{value:.0f}", f"Of {total} so many were not as they had to be.")
            )
        case "environment":
            facts = counted(int(figures["facts"]), "fact")
            if value:
                return counted(
                    int(value), "change"
                ), "Runs before and after a change are not comparable."
            if good:
                return facts, "The same before the first and after the last run."
            return (
                "imported description",
                f"{facts}, described by the import, not captured with each run.",
            )
    return f"{value:g}", ""
