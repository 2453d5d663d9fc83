"""The charts below the answer of a result page, each with its reading help and its numbers."""

from collections.abc import Callable, Collection, Mapping

from campaigns.web.panels.base import Late, Panel, Shown
from campaigns.web.panels.contrasts import differences_panel, forest_panel, slopes_panel
from campaigns.web.panels.drift import drift_panel
from campaigns.web.panels.matrix import matrix_panel

Maker = Callable[[Shown], Panel | None]

PANELS: tuple[Maker, ...] = (
    forest_panel,
    matrix_panel,
    slopes_panel,
    differences_panel,
    drift_panel,
)
"""In the order of the page. A panel that has nothing to show is None."""
LATE: Mapping[Maker, Late] = {drift_panel: Late("drift", "Run order and drift")}
"""Those that draw every run: where there are many, they are made when somebody folds them out."""


def panels_of(shown: Shown, opened: Collection[str] = ()) -> list[Panel | Late]:
    """Make all panels that have something to show, but those that can wait and are not `opened`."""
    return [panel for make in PANELS if (panel := _made(make, shown, opened)) is not None]


def panel_of(shown: Shown, wanted: str) -> Panel | None:
    """Make one panel; None where there is no such one, or nothing to show."""
    for make in PANELS:
        if make in LATE and LATE[make].id != wanted:
            continue
        panel = make(shown)
        if panel is not None and panel.id == wanted:
            return panel
    return None


def _made(make: Maker, shown: Shown, opened: Collection[str]) -> Panel | Late | None:
    late = LATE.get(make)
    if late and shown.many and shown.findings.cells and late.id not in opened:
        return late
    return make(shown)
