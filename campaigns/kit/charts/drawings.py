"""The drawings of a figure for a wide place and for a phone, and the figure with their margins. Pure."""

import re
from typing import NamedTuple

from campaigns.kit.charts.figure import Figure
from campaigns.kit.charts.svg import can_draw, drawn, layout_of, plan_of

REM = 16
LOWEST, HIGHEST, USUAL = 160, 1200, 352


class Drawings(NamedTuple):
    """SVG elements of one figure; the style sheet shows one of them, by the width of their place."""

    wide: str
    narrow: str


def drawings_of(figure: Figure, height: str, label: str) -> tuple[Figure, Drawings | None]:
    """Return a figure whose plot lies where that of its drawings does, and them; None for a figure that is not drawn here.

    height: in rem.
    """
    if not can_draw(figure):
        return figure, None
    pixels = pixels_of(height)
    margins = [
        plan_of(figure, layout_of(figure, narrow=narrow), pixels).margin for narrow in (False, True)
    ]
    placed = {
        **figure,
        "layout": {**figure["layout"], "margin": margins[0]},
        "narrow": {**figure["narrow"], "margin": margins[1]},
    }
    return placed, Drawings(
        drawn(figure, height=pixels, label=label),
        drawn(figure, height=pixels, label=label, narrow=True),
    )


def pixels_of(height: str) -> int:
    """Return a height in rem as pixels."""
    matched = re.match(r"([\d.]+)rem", height)
    return max(LOWEST, min(HIGHEST, round(REM * float(matched[1])))) if matched else USUAL
