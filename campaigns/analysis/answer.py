"""The answer: one sentence, its caveat (the strongest, after where it was measured), a few numbers.

It states findings; what to *do* is a conclusion, and conclusions are a person's.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from campaigns.analysis import groups as comparing
from campaigns.analysis.calibration import answer_of_calibration
from campaigns.analysis.displayed import superlative
from campaigns.analysis.level_answer import answer_of_levels
from campaigns.analysis.names import names_of
from campaigns.analysis.pair_answer import answer_of_pairs
from campaigns.analysis.primary_answer import led_by
from campaigns.charts.formats import amount, percent
from campaigns.drivers.base import Metric
from campaigns.models import Campaign
from campaigns.queries.amendments import amendments_of
from campaigns.queries.environment import Change, stand_ins_of
from campaigns.queries.work import work_of

Cells = Mapping[str, Any]
MOST_FACTS, FEWEST_RUNS = 4, 3
UNDECIDED = ("not_enough_data", "too_many_failures", "not_comparable", "invalid_values")
STAND_IN = {"word": "stand-in", "tone": "warn", "icon": "warn", "form": "solid"}
"""Badge of what was not measured on a real server."""


def answer(
    campaign: Campaign,
    metric: Metric,
    cells: Cells,
    pairs: Mapping[str, Any] | None,
    levels: Mapping[str, Any] | None = None,
    *,
    calibrated: Mapping[str, Any] | None = None,
    sessions: Mapping[str, Any] | None = None,
    changes: Sequence[Change] = (),
    failing: Collection[int] = frozenset(),
) -> dict[str, Any]:
    """Compose sentence, caveat, tone, badges, facts and statements from the stored findings.

    sessions: why there are several; changes: of the environment. failing: the cells whose survivors make no number, since too much of them failed.
    """
    if not any(cell["summary"]["n_ok"] for cell in cells["cells"]):
        said = _nothing(cells)
    elif calibrated is not None:
        said = answer_of_calibration(calibrated)
    elif pairs is not None:
        said = answer_of_pairs(pairs)
    else:
        compared = answer_of_levels(metric, cells, levels) if levels else None
        said = compared or _of_cells(metric, cells, work_of(campaign), failing)
    primary = (pairs or levels or {}).get("primary")
    alone = pairs is not None and len(pairs["strata"]) == 1
    if (
        primary
        and not alone
        and calibrated is None
        and any(cell["summary"]["n_ok"] for cell in cells["cells"])
    ):
        said = led_by(primary, said)
    found = {
        "caveat": _caveat(campaign, cells, pairs, levels, failing),
        "badges": [],
        "facts": [],
        **said,
    }
    caveats = [found["caveat"]]
    if changes:
        caveats[:0] = [_of_changes(changes), *(sessions["changed"] if sessions else ())]
    if amended := [line.remark for line in amendments_of(campaign)]:
        found["amended"] = amended
    if stand_ins := stand_ins_of(campaign):
        found["badges"] = [STAND_IN, *found["badges"]]
        caveats.insert(0, f"Measured on a {' and a '.join(stand_ins)}, not on a real server.")
    return found | {"caveat": " ".join(caveats)}


def _of_changes(changes: Sequence[Change]) -> str:
    """Runs on both sides of a change are not comparable as they are."""
    names = list(dict.fromkeys(f"{change.name} ({change.side})" for change in changes))
    more = f" and {len(names) - MOST_FACTS} more" if len(names) > MOST_FACTS else ""
    return (
        f"The environment changed during the campaign: {', '.join(names[:MOST_FACTS])}{more}; "
        "runs before and after it are not comparable as they are."
    )


def _nothing(cells: Cells) -> dict[str, Any]:
    failed = sum(cell["summary"]["n_failed"] for cell in cells["cells"])
    lost = sum(cell["summary"]["n_lost"] for cell in cells["cells"])
    if failed or lost:
        return {
            "sentence": f"No run came through: {failed} failed, {lost} were void, lost or cancelled.",
            "tone": "fail",
        }
    return {"sentence": "No run has ended yet.", "tone": "thin"}


def _of_cells(
    metric: Metric, cells: Cells, work: Sequence[str], failing: Collection[int]
) -> dict[str, Any]:
    """Say which cell is best, apart for each work: cells that did other work are not compared."""
    measured = [cell for cell in cells["cells"] if _centre(cell) is not None]
    known = [cell for cell in measured if cell["cell"] not in failing]
    if measured and not known:
        return {
            "sentence": "No setting can be called best: too much failed in every cell.",
            "tone": "fail",
        }
    if not known:
        return {"sentence": "No cell has a value that can be averaged.", "tone": "thin"}
    ranked = [cell for cell in known if not _is_invalid(cell)]
    if not ranked:
        label = metric.label.lower()
        return {
            "sentence": f"No setting can be called best: every cell has a {label} of zero or below.",
            "tone": "warn",
        }
    ordered = sorted(ranked, key=_centre_or_zero, reverse=not metric.lower_is_better)
    groups: dict[str, list[Cells]] = {}
    for cell in ordered:
        groups.setdefault(str([cell["levels"].get(name) for name in work]), []).append(cell)
    names = names_of(cells["cells"])
    if len(groups) == 1:
        sentence = _best_of_all(metric, ordered, names)
    else:
        sentence = _best_of_each(metric, list(groups.values()), cells["cells"], work)
    return {
        "sentence": sentence[:1].upper() + sentence[1:],
        "tone": "info",
        "facts": [
            {
                "label": names[cell["cell"]] or metric.label,
                "value": amount(_centre_or_zero(cell), metric.unit),
                "note": _interval(cell, metric),
            }
            for cell in ordered[:MOST_FACTS]
        ],
    }


def _best_of_all(metric: Metric, ordered: Sequence[Cells], names: Mapping[int, str]) -> str:
    best, worst = ordered[0], ordered[-1]
    value = amount(_centre_or_zero(best), metric.unit)
    if len(ordered) == 1:
        name = names[best["cell"]]
        return f"{metric.label} is {value} on average" + (f" at {name}." if name else ".")
    return (
        f"{names[best['cell']]} is the {superlative(metric)} setting measured: {value} on "
        f"average; {names[worst['cell']]} {_worse_by(best, worst, metric)}."
    )


def _best_of_each(
    metric: Metric, groups: Sequence[Sequence[Cells]], cells: Sequence[Cells], work: Sequence[str]
) -> str:
    works = names_of([{**c, "levels": _only(c, work, among=True)} for c in cells])
    others = names_of([{**c, "levels": _only(c, work, among=False)} for c in cells])
    parts = []
    for best in (group[0] for group in groups):
        value = amount(_centre_or_zero(best), metric.unit)
        what = others[best["cell"]]
        best_of = f"{what} is the {superlative(metric)} ({value})" if what else value
        parts.append(f"{works[best['cell']]}: {best_of}")
    more = len(parts) - MOST_FACTS
    return "; ".join(parts[:MOST_FACTS]) + (f"; and {more} more." if more > 0 else ".")


def _only(cell: Cells, work: Sequence[str], *, among: bool) -> dict[str, Any]:
    return {name: level for name, level in cell["levels"].items() if (name in work) == among}


def _is_invalid(cell: Cells) -> bool:
    """Whether a value of the cell is zero, negative or no number: it has no log, so no ratio."""
    return any(flag in cell["summary"]["flags"] for flag in ("not_positive", "invalid_values"))


def _centre(cell: Cells) -> float | None:
    """The geometric mean, or the mean where there is only one run or a value of 0."""
    summary = cell["summary"]
    centre: float | None = summary["mean"] if summary["gmean"] is None else summary["gmean"]
    return centre


def _centre_or_zero(cell: Cells) -> float:
    return _centre(cell) or 0.0


def _worse_by(best: Cells, worst: Cells, metric: Metric) -> str:
    """How far the worst cell is from the best one, in words of time where it is one."""
    if not _centre(best):
        return f"has {amount(_centre_or_zero(worst), metric.unit)}"
    change = percent(100 * (_centre_or_zero(worst) / _centre_or_zero(best) - 1))
    if superlative(metric) == "fastest":
        return f"takes {change.lstrip('+')} longer"
    return f"differs most from it ({change})"


def _interval(cell: Mapping[str, Any], metric: Metric) -> str:
    interval = cell["summary"]["gmean_ci"]
    if interval is None:
        return f"n = {cell['summary']['n_ok']}"
    return f"{amount(interval[0], metric.unit)} to {amount(interval[1], metric.unit)}"


def _caveat(
    campaign: Campaign,
    cells: Cells,
    pairs: Mapping[str, Any] | None,
    levels: Mapping[str, Any] | None,
    failing: Collection[int],
) -> str:
    """The strongest reservation that applies; one, not a list."""
    summaries = [cell["summary"] for cell in cells["cells"]]
    failed = sum(summary["n_failed"] for summary in summaries)
    lost = sum(summary["n_lost"] for summary in summaries)
    total = sum(summary["n_total"] + summary["n_lost"] for summary in summaries)
    bounds = sum(summary["n_saturated"] for summary in summaries)
    if invalid := sum(_is_invalid(cell) for cell in cells["cells"]):
        return (
            f"In {invalid} of {len(summaries)} cells a value is zero, negative or no number: "
            "they are not compared with others."
        )
    if failed and not any(summary["n_ok"] for summary in summaries):
        return f"{failed} of {total} runs failed."
    if failed:
        return f"{failed} of {total} runs failed; means are those of the runs that came through."
    if failing:
        return (
            f"In {len(failing)} of {len(summaries)} cells too much of the work failed: nothing is "
            "made of what came through there."
        )
    if bounds:
        return f"In {bounds} of {total} runs the generator was saturated: their values are bounds."
    if lost:
        return f"{lost} of {total} runs were void, lost or cancelled and are not in the numbers."
    if campaign.order == Campaign.Order.BLOCKED and len(summaries) > 1:
        return (
            "All runs of a level were made one after the other, so level and time of day cannot "
            "be told apart; the intervals cover run-to-run noise only."
        )
    if pairs is not None and (effect := pairs["order_effect"]) and effect["flagged"]:
        return (
            "Who ran first in a pair made a difference of "
            f"{percent(effect['difference_pct'])}; look at the order before trusting the change."
        )
    overall = pairs["overall"] if pairs is not None else None
    if overall and overall["heterogeneous"]:
        return (
            f"The change is not the same everywhere (I² {100 * overall['i2']:.0f} %), so one number "
            "does not fit all: read the rows first."
        )
    if few := {cell["cell"] for cell in cells["cells"] if cell["summary"]["n_ok"] < FEWEST_RUNS}:
        tail = (
            "what is said of them rests on the noise of the others"
            if _are_judged(few, levels)
            else "no verdict is given for them"
        )
        return f"Some cells have fewer than {FEWEST_RUNS} runs: {tail}."
    if pairs is not None and pairs["sessions"] > 1:
        return _of_sessions([each["standing"] for each in pairs["strata"]], pairs["sessions"])
    if levels is not None and levels["sessions"] > 1:
        rows = [row["standing"] for group in levels["groups"] for row in group["comparisons"]]
        return _of_sessions(rows, levels["sessions"])
    if pairs is not None or levels is not None:
        return "Seen in one session: repeat it on another day before calling it confirmed."
    if len(summaries) > comparing.MOST_CELLS:
        return (
            f"{len(summaries):,} cells are more than can be compared ({comparing.MOST_CELLS}): each is "
            "summarised, and which is best is not judged."
        )
    return (
        "Each interval is its cell's own; whether two cells differ is not judged by comparing "
        "their intervals."
    )


def _are_judged(few: Collection[int], levels: Mapping[str, Any] | None) -> bool:
    """Whether one of these cells has a verdict: a fit over all cells may know enough for it."""
    return any(
        row["comparison"]["verdict"]["word"] not in UNDECIDED
        for group in (levels or {"groups": ()})["groups"]
        for row in group["comparisons"]
        if row["baseline"] in few or row["candidate"] in few
    )


def _of_sessions(rows: Sequence[Mapping[str, Any]], sessions: int) -> str:
    confirmed = sum(row["standing"] == "confirmed" for row in rows)
    differ = sum(bool(row.get("differ")) for row in rows)
    said = f"{confirmed} of {len(rows)} comparisons are confirmed by {sessions} sessions"
    return (
        f"{said}; in {differ} the sessions differ by more than their noise."
        if differ
        else f"{said}."
    )
