"""Every run against the mean of its own cell, in the order in which the runs were made."""

from datetime import datetime

from campaigns.charts import drift
from campaigns.web.panels.base import Column, Numbers, Panel, Shown
from campaigns.web.phrases import inside
from campaigns.web.plots import Plot, quantity_of

HOW = (
    ("Each run", "stands against the mean of its own cell, so that only time is left to see."),
    ("A slope", "means that the machine or the target changed while it was measured."),
)


def drift_panel(shown: Shown) -> Panel | None:
    """None before there is a value."""
    finding = shown.findings.cells
    if not finding:
        return None
    words = shown.words
    runs = [
        drift.DriftRun(
            cell=words.values(cell["levels"]) or "the only cell",
            value=run["value"],
            position=run["position"],
            started=datetime.fromisoformat(run["started_at"]) if run["started_at"] else None,
            name=f"run {run['position']}",
        )
        for cell in finding["cells"]
        for run in cell["runs"]
        if run["state"] == "ok" and run["value"] is not None
    ]
    chart = drift.DriftChart(
        quantity=quantity_of(finding),
        runs=runs,
        factor=" and ".join(inside(factor.label) for factor in words.factors),
    )
    sessions = shown.outline.sessions
    return Panel(
        plot=Plot(
            id="drift",
            title="Run order and drift",
            label=drift.describe(chart),
            figure=drift.draw(chart),
            height="18rem",
        ),
        how=HOW,
        numbers=Numbers(
            (Column("run"), Column("cell"), Column("value", finding["unit"]), Column("started")),
            [
                (run.name, run.cell, run.value, run.started.isoformat() if run.started else None)
                for run in sorted(runs, key=lambda run: run.position)
            ],
        ),
        aside=f"{shown.campaign.get_order_display().lower()}, "
        f"{sessions} session{'' if sessions == 1 else 's'}",
    )
