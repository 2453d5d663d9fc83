"""The charts below the answer of a result page, each with its reading help and its numbers."""

from collections.abc import Callable

from campaigns.web.panels.base import Panel, Shown
from campaigns.web.panels.contrasts import differences_panel, forest_panel, slopes_panel
from campaigns.web.panels.drift import drift_panel
from campaigns.web.panels.matrix import matrix_panel

PANELS: tuple[Callable[[Shown], Panel | None], ...] = (
    forest_panel,
    matrix_panel,
    slopes_panel,
    differences_panel,
    drift_panel,
)
"""In the order of the page. A panel that has nothing to show is None."""


def panels_of(shown: Shown) -> list[Panel]:
    """Make all panels that have something to show."""
    return [panel for make in PANELS if (panel := make(shown)) is not None]
