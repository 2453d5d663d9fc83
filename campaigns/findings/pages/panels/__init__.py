"""The charts below the answer of a result page, each with its reading help and its numbers."""

from collections.abc import Callable, Collection, Mapping

from campaigns.findings.pages.panels.base import Late, Panel, Shown
from campaigns.findings.pages.panels.contrasts import differences_panel, forest_panel, slopes_panel
from campaigns.findings.pages.panels.drift import drift_panel
from campaigns.findings.pages.panels.matrix import matrix_panel
from campaigns.findings.pages.panels.percentiles import percentiles_panel
from campaigns.findings.pages.panels.phases import phases_panel
from campaigns.findings.pages.panels.run_series import series_panel
from campaigns.findings.pages.panels.scalability import response_panel, usl_panel
from campaigns.findings.pages.panels.spread import density_panel, spread_panel

Maker = Callable[[Shown], Panel | None]

PANELS: tuple[Maker, ...] = (
    forest_panel,
    matrix_panel,
    slopes_panel,
    differences_panel,
    spread_panel,
    density_panel,
    percentiles_panel,
    usl_panel,
    response_panel,
    phases_panel,
    series_panel,
    drift_panel,
)
"""The panels in the order of the page; each returns None where it has nothing to show."""
LATE: Mapping[Maker, Late] = {
    forest_panel: Late("contrasts", "Change of each comparison", needs="levels", judged=True),
    matrix_panel: Late("interaction", "Interaction of the factors", needs="matrix", judged=True),
    spread_panel: Late("ecdf", "Distribution of runs"),
    density_panel: Late("density", "Density of runs", needs="density"),
    usl_panel: Late("usl", "Throughput, and the Universal Scalability Law", needs="usl"),
    response_panel: Late("response", "Response time against throughput", needs="usl"),
    drift_panel: Late("drift", "Run order and drift"),
}
"""Panels of every run or cell: where these are many, they are drawn when a reader opens them."""


def panels_of(shown: Shown, opened: Collection[str] = ()) -> list[Panel | Late]:
    """Return all panels that have something to show; those that can wait and are not opened as `Late`."""
    return [panel for make in PANELS if (panel := _made(make, shown, opened)) is not None]


def panel_of(shown: Shown, wanted: str) -> Panel | None:
    """Return one panel; None where there is no such panel, or nothing to show."""
    for make in PANELS:
        if make in LATE and LATE[make].id != wanted:
            continue
        panel = make(shown)
        if panel is not None and panel.id == wanted:
            return panel
    return None


def _made(make: Maker, shown: Shown, opened: Collection[str]) -> Panel | Late | None:
    late = LATE.get(make)
    there = shown.findings.summaries and (not late or late.fits(shown))
    if late and shown.many and there and late.id not in opened:
        return late
    return make(shown)
