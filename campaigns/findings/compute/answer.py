"""The answer of a campaign: one sentence, the strongest caveat, a few numbers.

It states findings; what to *do* is a conclusion, and conclusions are a person's.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from campaigns.findings.compute import groups as comparing
from campaigns.findings.compute.calibration import answer_of_calibration
from campaigns.findings.compute.level_answer import FEWEST_RUNS, answer_of_levels, names_of
from campaigns.findings.compute.pair_answer import answer_of_pairs
from campaigns.findings.compute.session_sentences import confirmed_by_sessions, sessions_text
from campaigns.findings.compute.verdict_labels import bound_of
from campaigns.findings.compute.withheld_verdicts import drift_note
from campaigns.kinds.base import Metric
from campaigns.kit.charts.labels import contrast_label
from campaigns.kit.numbers import amount, counted, percent, share, span_pct
from campaigns.models import Campaign
from campaigns.planning.amendments import amendments_of
from campaigns.planning.work_factors import work_of
from campaigns.results.environment import Change, stand_ins_of

Cells = Mapping[str, Any]
MOST_FACTS = 4
MOST_RUNS_NAMED = 5
STAND_IN = {"word": "simulated", "tone": "warn", "icon": "warn", "form": "solid"}
"""Badge of results that were not measured on a real server."""


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
        value = _nothing(cells)
    elif calibrated is not None:
        value = answer_of_calibration(calibrated)
    elif pairs is not None:
        value = answer_of_pairs(pairs)
    else:
        value = answer_of_levels(metric, cells, levels) if levels else {}
        if "sentence" not in value:
            value = {**_of_cells(campaign, metric, cells, failing), **value}
    primary = (pairs or levels or {}).get("primary")
    alone = pairs is not None and len(pairs["strata"]) == 1
    if (
        primary
        and not alone
        and calibrated is None
        and any(cell["summary"]["n_ok"] for cell in cells["cells"])
    ):
        value = led_by(primary, value)
    if calibrated is None and (by_sessions := sessions_text(pairs, levels)):
        value = {**value, "sentence": f"{value['sentence']} {by_sessions}"}
    value = _with_bounds(value, metric, cells)
    if open_drift := drift_note(levels):
        value = {**value, "sentence": f"{value['sentence']} {open_drift}"}
    result = {
        "caveat": _caveat(campaign, cells, pairs, levels, failing),
        "badges": [],
        "facts": [],
        **value,
    }
    caveats = [result["caveat"]]
    if changes:
        caveats[:0] = [_of_changes(changes), *(sessions["changed"] if sessions else ())]
    if amended := [line.remark for line in amendments_of(campaign)]:
        result["amended"] = amended
    if stand_ins := stand_ins_of(campaign):
        result["badges"] = [STAND_IN, *result["badges"]]
        caveats.insert(0, f"Measured on a {' and a '.join(stand_ins)}, not on a real server.")
    return result | {"caveat": " ".join(caveats)}


def _with_bounds(values: dict[str, Any], metric: Metric, cells: Cells) -> dict[str, Any]:
    """Add the cells that have no mean because runs timed out or failed, with their bounds."""
    names = names_of(cells["cells"])
    came = any(cell["summary"]["n_ok"] for cell in cells["cells"])
    bounds = [
        (names[cell["cell"]] or metric.label, *bound)
        for cell in cells["cells"]
        if (bound := bound_of(cell, metric.unit))[0] and (came or cell["summary"]["n_censored"])
    ]
    if not bounds:
        return values
    parts = [f"{name}: {value} ({why})" for name, value, why in bounds[:MOST_FACTS]]
    more = f"; and {len(bounds) - MOST_FACTS} more" if len(bounds) > MOST_FACTS else ""
    added = "; ".join(parts)
    facts = [{"label": name, "value": value, "note": why} for name, value, why in bounds]
    return {
        **values,
        "sentence": f"{values['sentence']} {added[:1].upper()}{added[1:]}{more}.",
        "facts": [*values.get("facts", []), *facts][:MOST_FACTS],
    }


def _of_changes(changes: Sequence[Change]) -> str:
    """Return the caveat about changes of the environment during the campaign."""
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
    campaign: Campaign, metric: Metric, cells: Cells, failing: Collection[int]
) -> dict[str, Any]:
    """Describe the cells where nothing shows which of them is best, and why none is ranked."""
    measured = [cell for cell in cells["cells"] if _centre(cell) is not None]
    known = [cell for cell in measured if cell["cell"] not in failing]
    failed = [cell for cell in cells["cells"] if cell["cell"] in failing]
    if (measured or failed) and not known:
        return {
            "sentence": "No setting can be called best: too much failed in every cell.",
            "tone": "fail",
        }
    if not known:
        return {"sentence": "No cell has a value that can be averaged.", "tone": "thin"}
    valid = [cell for cell in known if not _is_invalid(cell)]
    if not valid:
        return _of_invalid(metric, known, cells["cells"])
    names = names_of(cells["cells"])
    work = work_of(campaign)
    works = {str([cell["levels"].get(name) for name in work]) for cell in cells["cells"]}
    if len(cells["cells"]) == 1 or len(valid) == 1:
        sentence, tone = _of_one(metric, valid[0], names), "info"
    elif len(works) == len(cells["cells"]):
        sentence, tone = _of_each(metric, valid, names), "info"
    else:
        sentence, tone = _unranked(campaign, metric, valid, cells["cells"]), "thin"
    return {
        "sentence": sentence[:1].upper() + sentence[1:],
        "tone": tone,
        "facts": [
            {
                "label": names[cell["cell"]] or metric.label,
                "value": amount(_centre_or_zero(cell), metric.unit),
                "note": _interval(cell, metric),
            }
            for cell in valid[:MOST_FACTS]
        ],
    }


def _of_invalid(metric: Metric, known: Sequence[Cells], cells: Sequence[Cells]) -> dict[str, Any]:
    """Count the values without a logarithm, and list medians, which need none."""
    runs = sum(len(_invalid_runs(cell)) for cell in known)
    of = sum(cell["summary"]["n_ok"] for cell in known)
    names = names_of(cells)
    label = metric.label.lower()
    return {
        "sentence": f"No setting is ranked: {runs} of {of} runs have a {label} of zero or below, in "
        f"{len(known)} of {len(cells)} settings.",
        "tone": "warn",
        "facts": [
            {
                "label": names[cell["cell"]] or metric.label,
                "value": amount(cell["summary"]["median"], metric.unit),
                "note": f"median of {counted(cell['summary']['n_ok'], 'run')}",
            }
            for cell in known[:MOST_FACTS]
            if cell["summary"]["median"] is not None
        ],
    }


def _invalid_runs(cell: Cells) -> list[Cells]:
    """Return the runs whose value is zero, negative or no number."""
    return [
        run
        for run in cell["runs"]
        if run["state"] == "ok" and run["value"] is not None and not 0 < run["value"] < math.inf
    ]


def _of_one(metric: Metric, cell: Cells, names: Mapping[int, str]) -> str:
    value, name = amount(_centre_or_zero(cell), metric.unit), names[cell["cell"]]
    how = "in one run" if cell["summary"]["n_ok"] == 1 else "on average"
    if cell["summary"]["n_failed"]:
        tried = cell["summary"]["n_ok"] + cell["summary"]["n_failed"]
        how += f", in {cell['summary']['n_ok']} of {tried} runs"
    return f"{metric.label} is {value} {how}" + (f" at {name}." if name else ".")


def _of_each(metric: Metric, cells: Sequence[Cells], names: Mapping[int, str]) -> str:
    """Return the value of each cell, where all cells did different work and are not compared."""
    parts = [
        f"{names[cell['cell']]}: {amount(_centre_or_zero(cell), metric.unit)}" for cell in cells
    ]
    more = len(parts) - MOST_FACTS
    return "; ".join(parts[:MOST_FACTS]) + (f"; and {more} more." if more > 0 else ".")


def _unranked(
    campaign: Campaign, metric: Metric, valid: Sequence[Cells], cells: Sequence[Cells]
) -> str:
    """Return why no setting is ranked, and between which values they lie."""
    few = sum(cell["summary"]["n_ok"] < FEWEST_RUNS for cell in cells)
    if campaign.state == Campaign.State.CANCELLED:
        why = "the campaign was cancelled before its stop rule was met"
    elif few:
        why = f"{few} of {len(cells)} settings have fewer than {FEWEST_RUNS} runs"
    elif len(cells) > comparing.MOST_CELLS:
        why = f"{len(cells):,} settings are more than can be compared ({comparing.MOST_CELLS})"
    else:
        why = "the runs do not show how the settings compare"
    values = sorted(_centre_or_zero(cell) for cell in valid)
    ends = dict.fromkeys(amount(value, metric.unit) for value in (values[0], values[-1]))
    span = " to ".join(ends)
    how = " on average" if any(cell["summary"]["n_ok"] > 1 for cell in valid) else ""
    return f"No setting is ranked: {why}. {metric.label} is {span}{how}."


def _is_invalid(cell: Cells) -> bool:
    """Return whether a value of the cell is zero, negative or no number: it has no log, so no ratio."""
    return any(flag in cell["summary"]["flags"] for flag in ("not_positive", "invalid_values"))


def _centre(cell: Cells) -> float | None:
    """Return the geometric mean, or the mean where there is only one run or a value of 0."""
    summary = cell["summary"]
    centre: float | None = summary["mean"] if summary["gmean"] is None else summary["gmean"]
    return centre


def _centre_or_zero(cell: Cells) -> float:
    return _centre(cell) or 0.0


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
    """Return the strongest caveat that applies, after that of cells with too few runs."""
    strongest = _strongest(campaign, cells, pairs, levels, failing)
    few = sum(cell["summary"]["n_ok"] < FEWEST_RUNS for cell in cells["cells"])
    if not few or not any(cell["summary"]["n_ok"] for cell in cells["cells"]):
        return strongest
    which = f"{few} of {len(cells['cells'])} cells" if len(cells["cells"]) > 1 else "The cell"
    have = "has" if few == 1 else "have"
    them = "it" if few == 1 else "them"
    return (
        f"{which} {have} fewer than {FEWEST_RUNS} runs: no verdict is given for {them}. {strongest}"
    )


def _strongest(
    campaign: Campaign,
    cells: Cells,
    pairs: Mapping[str, Any] | None,
    levels: Mapping[str, Any] | None,
    failing: Collection[int],
) -> str:
    summaries = [cell["summary"] for cell in cells["cells"]]
    failed = sum(summary["n_failed"] for summary in summaries)
    lost = sum(summary["n_lost"] for summary in summaries)
    total = sum(summary["n_total"] + summary["n_lost"] for summary in summaries)
    bounds = sum(summary["n_saturated"] for summary in summaries)
    if invalid := sum(_is_invalid(cell) for cell in cells["cells"]):
        runs = [run for cell in cells["cells"] for run in _invalid_runs(cell)]
        reasons = dict.fromkeys(run["reason"] for run in runs if run["reason"])
        which = ", ".join(str(run["position"]) for run in runs[:MOST_RUNS_NAMED])
        more = f" and {len(runs) - MOST_RUNS_NAMED} more" if len(runs) > MOST_RUNS_NAMED else ""
        return " ".join(
            [
                f"In {invalid} of {len(summaries)} cells a value is zero, negative or no number "
                f"({'run' if len(runs) == 1 else 'runs'} {which}{more}): they are not compared with "
                "others.",
                *list(reasons)[:1],
            ]
        )
    timed_out = sum(summary["n_censored"] for summary in summaries)
    if timed_out and any(summary["n_ok"] for summary in summaries):
        return (
            f"{timed_out} of {total} runs timed out: their cells have a lower bound in the place of a "
            "mean, and are not compared."
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
            "be distinguished; the intervals cover run-to-run noise only."
        )
    if pairs is not None and (effect := pairs["order_effect"]) and effect["flagged"]:
        return (
            "Who ran first in a pair made a difference of "
            f"{percent(effect['difference_pct'])}; look at the order before trusting the change."
        )
    overall = pairs["overall"] if pairs is not None else None
    if overall and overall["heterogeneous"]:
        return (
            f"The change is not the same everywhere (I² {share(overall['i2'], 0)}), so one number "
            "does not fit all: read the rows first."
        )
    if (pairs or levels or {"sessions": 0})["sessions"] > 1:
        return confirmed_by_sessions(pairs, levels)
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


def led_by(primary: Mapping[str, Any], answered: Mapping[str, Any]) -> dict[str, Any]:
    """Put the verdict of the primary contrast before everything else of an answer."""
    verdict, shown = primary["comparison"]["verdict"], primary["display"]
    text = contrast_label(primary)
    if primary["over"] > 1:
        text += f", over {primary['over']} combinations"
    change = verdict["pct_change"]
    sentence = f"{text[:1].upper()}{text[1:]}: {shown['word']}"
    facts = list(answered.get("facts", []))
    if change is not None:
        bounds = span_pct(verdict["ci_pct"]) if verdict["ci_pct"] else ""
        sentence += f", {percent(change)}" + (f" ({bounds} %)" if bounds else "")
        facts.insert(
            0, {"label": contrast_label(primary), "value": percent(change), "note": bounds}
        )
    advice = f" {primary['advice']}" if primary["advice"] else ""
    return {
        **answered,
        "sentence": f"{sentence}.{advice} {answered['sentence']}",
        "tone": shown["tone"],
        "badges": [
            {**shown, "word": f"primary contrast: {shown['word']}"},
            *answered.get("badges", []),
        ],
        "facts": facts[:MOST_FACTS],
    }
