"""Every run against the mean of its own cell in the order of the runs, and the effects of blocks."""

from collections.abc import Sequence
from datetime import datetime

from campaigns.findings.charts import drift
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.pages.plots import quantity_of, run_note
from campaigns.findings.values import BlockEffect, Cells, Drift
from campaigns.kit.numbers import counted, number
from campaigns.results.phrases import inside
from campaigns.results.run_plots import Plot

HOW = (
    ("Each run", "stands against the mean of its own cell, so that only time is left to see."),
    ("A slope", "means that the machine or the target changed while it was measured."),
)
BLOCKS = (
    (
        "A broad line",
        "is the effect of one block: how far all its runs lie from those of the others, whichever "
        "levels it holds. Steps between blocks leave the comparison of levels alone; they move the "
        "absolute values.",
    ),
)
MISSING = {
    "not_in_blocks": "There are no effects of blocks: the runs were not made in blocks.",
    "not_positive": "There are no effects of blocks: a value is 0 or less, and has no logarithm.",
    "too_many": "There are no effects of blocks: there are more than the model takes.",
    "too_few": "There are no effects of blocks yet: it takes two blocks that share cells.",
}


def drift_panel(shown: Shown) -> Panel | None:
    """Return the panel; None before there is a value."""
    finding = shown.findings.cells
    if not finding:
        return None
    result = shown.findings.charts.read("drift", Drift)
    runs = _runs(shown, finding)
    chart = drift.DriftChart(
        quantity=quantity_of(finding),
        runs=runs,
        factor=" and ".join(inside(factor.label) for factor in shown.labels.factors),
        blocks=[_block(block) for block in result.blocks] if result else (),
        sessions=_sessions(result) if result else (),
        block_sd_pct=result.block_sd_pct if result else None,
        sd_pct=result.sd_pct if result else None,
    )
    sessions = len(result.sessions) if result else shown.outline.sessions
    return Panel(
        plot=Plot(
            id="drift",
            title="Run order and drift",
            label=drift.describe(chart),
            figure=drift.draw(chart),
            key=drift.legend(chart),
            height="20rem",
            note=drift.note(chart),
        ),
        how=(*HOW, *(BLOCKS if chart.blocks else ())),
        numbers=_numbers(chart, finding),
        aside=f"{shown.campaign.get_order_display().lower()}, {counted(sessions, 'session')}",
        notes=(*_notes(result), *_borders(shown)) if result else (),
    )


def _runs(shown: Shown, finding: Cells) -> list[drift.DriftRun]:
    return [
        drift.DriftRun(
            cell=shown.labels.values(cell.levels) or "the only cell",
            value=run.value,
            position=run.position,
            started=_instant(run.started_at),
            name=f"run {run.position}",
            note=run_note(run, shown.labels.block),
            block=run.block,
            session=run.session,
        )
        for cell in finding.cells
        for run in cell.runs
        if run.state == "ok" and run.value is not None
    ]


def _block(result: BlockEffect) -> drift.BlockStep:
    return drift.BlockStep(
        name=f"block {result.block}",
        effect_pct=result.effect_pct,
        first=result.first,
        last=result.last,
        started=_instant(result.started_at),
        ended=_instant(result.ended_at),
        number=result.block,
        session=result.session,
    )


def _sessions(result: Drift) -> list[drift.SessionStart]:
    return [
        drift.SessionStart(f"session {session.number}", session.first, _instant(session.started_at))
        for session in result.sessions[1:]
    ]


def _notes(result: Drift) -> tuple[str, ...]:
    """Return how much blocks vary compared with the runs within one, and how many runs blocks saved."""
    if result.missing:
        return (MISSING[result.missing],)
    texts = (
        f"Blocks vary by {number(result.block_sd_pct)} % (standard deviation), runs within a "
        f"block by {number(result.sd_pct)} %."
    )
    if result.efficiency is None:
        return (texts,)
    return (
        f"{texts} Without blocks it would have taken {number(result.efficiency)} times the runs "
        "to see as much.",
    )


def _borders(shown: Shown) -> tuple[str, ...]:
    """Return why sessions began, and how many blocks they split."""
    value = shown.findings.sessions
    return (" ".join(value["all"]),) if value else ()


def _numbers(chart: drift.DriftChart, finding: Cells) -> Numbers:
    effects = {(block.number, block.session): block.effect_pct for block in chart.blocks}
    changes = drift.changes_of(chart)
    return Numbers(
        (
            Column("run"),
            Column("cell"),
            Column("value", finding.unit),
            Column("from its cell’s mean", "%"),
            Column("block", "count"),
            Column("effect of the block", "%"),
            Column("made"),
        ),
        [
            (
                run.name,
                run.cell,
                run.value,
                changes.get(run.position),
                run.block,
                effects.get((run.block, run.session)),
                run.note,
            )
            for run in _ordered(chart.runs)
        ],
    )


def _ordered(runs: Sequence[drift.DriftRun]) -> list[drift.DriftRun]:
    return sorted(runs, key=lambda run: run.position)


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
