"""Build the parts of the page of a running campaign."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils import timezone

from campaigns.execution import live
from campaigns.execution.manual_steps import open_requests
from campaigns.execution.pages.matrix import matrix_of
from campaigns.execution.pages.run_details import _first, steps_of
from campaigns.execution.queues import place_of
from campaigns.execution.waiting import waiting_for
from campaigns.findings.pages.tables import cell_table
from campaigns.findings.store import findings_of
from campaigns.findings.values import BriefCells, Cells
from campaigns.findings.wording.cells import centre_of
from campaigns.findings.wording.outlook import ahead
from campaigns.findings.wording.starved import keep_waiting, starved_sentence
from campaigns.kit import numbers
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.mappings import ProgramProgress, TemplateContext
from campaigns.kit.numbers import MISSING
from campaigns.kit.units import UNITS
from campaigns.models import Attempt, Campaign
from campaigns.planning.metrics import metrics_of
from campaigns.planning.outline import factors_of, rate_of, sample_of
from campaigns.results.environment import simulators_of
from campaigns.results.phrases import reason_of, value_text
from campaigns.results.rows import RunRow, run_rows
from campaigns.results.run_plots import Plot, labelled, throughput_plot
from campaigns.results.search_runs import lines_of, state_of

P95 = 0.95
RATES = ("rate", "transfer rate", "file rate")


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One try-out: its row, and cell, value and reason as text."""

    row: RunRow
    cell: str
    value: str
    notes: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of the progress bar; an empty tone is the accent."""

    width: str
    tone: str


def conditional(etag: str) -> str:
    """Return the headers of a conditional request for a part."""
    return json.dumps({"If-None-Match": etag})


def progress_context(campaign: Campaign, etag: str) -> TemplateContext:
    """Return the progress of the campaign and the current run."""
    progress = live.progress_of(campaign)
    current = progress.current
    left = progress.left_seconds
    withdrawn = left is None and progress.open_seconds is not None
    return {
        "campaign": campaign,
        "headers": conditional(etag),
        "progress": progress,
        "manual_steps": list(open_requests(campaign)),
        "place": place_of(campaign) if progress.waiting else None,
        "elapsed": _time(progress.elapsed_seconds),
        "left": "not known" if withdrawn else _left(left),
        "open": _left(progress.open_seconds) if withdrawn else "",
        "until": _until(left) if campaign.state == Campaign.State.RUNNING else None,
        "bars": _bars(progress),
        "current": current,
        "cell": LevelLabels(factors_of(campaign)).sentence(current.levels) if current else "",
        "steps": steps_of(current) if current else [],
        "waits": keep_waiting(current.reported.get("waited_share")) if current else "",
        "facts": _facts(current.reported, sample_of(campaign)) if current else [],
        "search": search_context(campaign),
    }


def search_context(campaign: Campaign) -> TemplateContext | None:
    """Return where the search for capacity is, with the next load and why; None for other campaigns."""
    state = state_of(campaign)
    if state is None:
        return None
    return {
        "load": state.search.load,
        "text": state.text,
        "runs": state.runs,
        "most": state.search.most_runs * len(state.settings),
        "largest": numbers.grouped(state.bounds.largest),
        "failed": numbers.grouped(state.failed),
        "most_failed": state.search.most_failed and numbers.grouped(state.search.most_failed),
        "person": state.search.person,
        "lines": [
            {
                "label": line.label,
                "held": MISSING if line.held is None else numbers.grouped(line.held),
                "failed": MISSING if line.failed is None else numbers.grouped(line.failed),
                "runs": [
                    {"load": numbers.grouped(load), "phase": str(phase), "held": held}
                    for load, phase, held in line.runs
                ],
            }
            for line in lines_of(state)
        ],
    }


def matrix_context(campaign: Campaign, etag: str) -> TemplateContext:
    """Return the runs by cell and repetition."""
    rows = run_rows(campaign, campaign.primary_metric)
    return {
        "campaign": campaign,
        "headers": conditional(etag),
        "matrix": matrix_of(campaign, rows, LevelLabels(factors_of(campaign))),
    }


def so_far_context(campaign: Campaign, etag: str) -> TemplateContext:
    """Return the results of the cells so far."""
    findings = findings_of(campaign, campaign.primary_metric)
    cells = findings.summaries
    return {
        "campaign": campaign,
        "headers": conditional(etag),
        "ahead": ahead(findings.outlook) if findings.outlook else "",
        "starved": starved_sentence(cells.cells) if cells else "",
        **_so_far_table(campaign, cells),
    }


def _so_far_table(campaign: Campaign, cells: Cells | BriefCells | None) -> TemplateContext:
    """Return the table of cells; where they are loads, with the 95th percentile and the rate at each."""
    if cells is None:
        return {"table": None}
    labels = LevelLabels(factors_of(campaign))
    table = cell_table(cells, labels)
    beside = _beside(campaign) if labels.load else {}
    columns = {label: _means(campaign, metric) for label, metric in beside.items()}
    first = table.page.start_index() - 1
    keys = [cell.cell for cell in cells.cells[first : first + len(table.lines)]]
    return {
        "table": table,
        "beside": [*columns],
        "lines": [
            (line, [column.get(key, MISSING) for column in columns.values()])
            for line, key in zip(table.lines, keys, strict=True)
        ],
    }


def _beside(campaign: Campaign) -> dict[str, str]:
    """Return the names of the first 95th percentile and the first rate that are not primary, by their labels."""
    others = [each for each in metrics_of(campaign) if each.name != campaign.primary_metric]
    chosen = (
        next((each for each in others if each.percentile == P95), None),
        next(
            (each for each in others if each.unit in UNITS and UNITS[each.unit].dimension in RATES),
            None,
        ),
    )
    return {each.label: each.name for each in chosen if each is not None}


def _means(campaign: Campaign, metric: str) -> dict[int, str]:
    """Return the mean of a metric in each cell as text."""
    found = findings_of(campaign, metric, brief=True, only=("cells",)).summaries
    if found is None or found.metric != metric:
        return {}
    return {
        cell.cell: numbers.amount(centre, found.unit)
        for cell in found.cells
        if (centre := centre_of(cell)) is not None
    }


def trials_context(campaign: Campaign, etag: str) -> TemplateContext:
    """Return the try-outs of a draft, latest first, and what the next one waits for."""
    labels = LevelLabels(factors_of(campaign))
    current, going_on = live.current_of(campaign), live.trial_goes_on(campaign)
    is_on = current is not None and current.state == Attempt.State.RUNNING
    return {
        "campaign": campaign,
        "headers": conditional(etag),
        "lines": [
            TrialLine(row, labels.sentence(row.levels), value_text(row.measured), reason_of(row))
            for row in run_rows(campaign, campaign.primary_metric, trials=True)[::-1]
        ],
        "going_on": going_on,
        "waiting": None if is_on or not going_on else waiting_for(campaign),
        "steps": steps_of(current) if current else [],
    }


def live_plot(campaign: Campaign, current: live.Current | None) -> Plot:
    """Draw the throughput of the current run; before its clock has started, of the last one."""
    return labelled(_live_plot(campaign, current), simulators_of(campaign))


def _live_plot(campaign: Campaign, current: live.Current | None) -> Plot:
    reported = current.reported if current else {}
    name, unit = rate_of(campaign)
    if current and reported.get("rate_series"):
        step = float(reported.get("step_seconds") or 1.0)
        plot = throughput_plot(name, unit, step, reported["rate_series"])
        return replace(plot, id="live", title=f"Run {current.position}: {name}")
    last = live.last_series(campaign)
    if last is None:
        plot = throughput_plot(name, unit, 1.0, [])
        return replace(plot, id="live", title=f"Current run: {name}")
    name = last.name.replace("_", " ")
    plot = throughput_plot(name, last.unit, last.step_seconds, last.values)
    title = f"Run {last.attempt.run.position} (ended): {name}"
    return replace(plot, id="live", title=title)


def _time(seconds: float | None) -> str:
    """Return whole seconds, so that what did not change is not sent again."""
    return MISSING if seconds is None else numbers.duration(round(seconds))


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "not known yet"
    return _time(seconds) if seconds >= 1 else "a moment"


def _until(left: float | None) -> datetime | None:
    return None if left is None else timezone.now() + timedelta(seconds=left)


def _bars(progress: live.Progress) -> list[Bar]:
    parts = (
        (progress.done, ""),
        (progress.failed, "fail"),
        (progress.void, "warn"),
        (progress.cancelled, "thin"),
    )
    planned = max(1, progress.planned)
    return [Bar(f"{100 * number / planned:.2f}%", tone) for number, tone in parts if number]


def _facts(values: ProgramProgress, sample: str) -> Sequence[tuple[str, str]]:
    """Return the health of the generator: (name, value)."""
    facts = []
    transferred = _first(values, "bytes_done", "bytes")
    if transferred is not None:
        facts.append(("transferred", numbers.amount(transferred, "B")))
    if failed := _first(values, "failed", "files_failed"):
        facts.append(("failed", numbers.counted(failed, sample)))
    if "in_flight" in values:
        facts.append(("in flight", str(values["in_flight"])))
    if values.get("cpu_share") is not None:
        facts.append(("generator CPU", numbers.amount(values["cpu_share"], "share")))
    if values.get("loop_lag_ms") is not None:
        facts.append(("loop lag", numbers.amount(values["loop_lag_ms"], "ms")))
    return facts
