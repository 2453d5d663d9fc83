"""Where two snapshots of findings differ, and how. Pure: it reads the JSON in which snapshots are stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.charts.labels import words_of
from campaigns.kit.numbers import amount, number
from campaigns.stats.changes import Change

SILENT = frozenset({"summary", "comparison", "verdict", "figures", "groups", "checks", "states"})
"""Steps of a path that texts leave out."""
NAMES = {
    "cv": "coefficient of variation",
    "sd": "standard deviation",
    "sem": "standard error of the mean",
    "gmean": "geometric mean",
    "ci_pct": "95 % interval of the change",
    "ci90_pct": "90 % interval of the change",
    "mean_ci": "interval of the mean",
    "gmean_ci": "interval of the geometric mean",
    "median_ci": "interval of the median",
    "failure_rate_ci": "interval of the failure rate",
    "n_ok": "runs that count",
    "n_total": "runs",
    "pct_change": "change",
    "p_adjusted": "adjusted p",
    "p_tost": "p of equivalence",
    "sd_pct": "standard deviation",
    "df": "degrees of freedom",
    "word": "verdict",
}
SHARES = frozenset({"cv", "failure_rate", "failure_rate_ci", "achieved"})
VALUES = frozenset(
    {"mean", "median", "gmean", "minimum", "maximum", "sd", "sem", "values", "low", "high"}
    | {"mean_ci", "gmean_ci", "median_ci", "reading"}
)
"""Values in the unit of the finding."""


def change_texts(change: Change, findings: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the place of a change in the findings, the former and the present value, as texts."""
    first, *steps = change.path.split(".")
    finding = findings.get(first)
    where = [(first.partition(":")[2] or first).replace("_", " "), *_where(finding, steps)]
    unit = str(finding.get("unit", "")) if isinstance(finding, Mapping) else ""
    name = next((step for step in reversed(steps) if not step.isdigit()), "")
    before, after = (_value(side, name, unit) for side in (change.before, change.after))
    if before == after:  # both to three digits
        before, after = (
            f"{side:.7g}" if isinstance(side, float) else str(side)
            for side in (change.before, change.after)
        )
    return ", ".join(where), before, after


def _where(here: Any, steps: Sequence[str]) -> list[str]:
    """Return labels of the steps of a path."""
    parts: list[str] = []
    levels: dict[Any, Any] = {}
    factor, of = _of(here, "factor"), ""
    for step in steps:
        if isinstance(here, Sequence) and step.isdigit():
            here = here[int(step)] if int(step) < len(here) else None
            label = _member(here, int(step), of, factor, levels)
            parts = [*(parts[:-1] if of not in SILENT else parts), *([label] if label else [])]
        else:
            here, of = _of(here, step), step
            parts += [] if step in SILENT else [NAMES.get(step, step.replace("_", " "))]
        if _of(here, "values") and _of(here, "cells"):
            levels = dict(zip(here["cells"], here["values"], strict=False))
    return parts


def _member(here: Any, place: int, of: str, factor: Any, levels: Mapping[Any, Any]) -> str:
    """Return the label of a member of a list: levels for a cell or group, both sides for a comparison."""
    if not isinstance(here, Mapping):
        if of.endswith(("ci", "pct", "interval")):
            return f"{('lower', 'upper')[place > 0]} bound of the {NAMES.get(of, of)}"
        return f"{NAMES.get(of, of).replace('_', ' ')} {place + 1}"
    if {"candidate", "baseline"} <= here.keys():
        both = [levels.get(here[side], here[side]) for side in ("candidate", "baseline")]
        named = words_of(factor) if factor else "cell"
        return f"{named} {both[0]} vs. {both[1]}".replace("_", " ")
    if isinstance(here.get("levels"), Mapping):
        return ", ".join(f"{words_of(name)} {lv}" for name, lv in here["levels"].items())
    if isinstance(here.get("name"), str):
        return str(here["name"]).replace("_", " ")
    return f"{of.removesuffix('s').replace('_', ' ')} {place + 1}"


def _of(here: Any, name: str) -> Any:
    return here.get(name) if isinstance(here, Mapping) else None


def _value(value: Any, name: str, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name in SHARES:
            return f"{number(100 * value)} %"
        if "pct" in name or name == "pct_change":
            return f"{number(value)} %"
        return amount(value, unit) if name in VALUES else number(value)
    if isinstance(value, str):
        return value.replace("_", " ")
    if isinstance(value, list) and not any(isinstance(each, list | dict) for each in value):
        return ", ".join(_value(each, name, unit) for each in value) or "none"
    return "none" if value is None else "there"
