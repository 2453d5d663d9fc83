"""The drawings of a figure for a wide place and for a phone, and the figure with their margins. Pure."""

import re
from typing import NamedTuple

from campaigns.kit.charts.figure import Figure
from campaigns.kit.charts.svg import can_draw, drawn, layout_of, marks_of, plan_of
from campaigns.kit.charts.svg_marks import escaped

REM = 16
LOWEST, HIGHEST, USUAL = 160, 1200, 352


class Drawings(NamedTuple):
    """SVG elements of one figure; the style sheet shows one of them, by the width of their place."""

    wide: str
    narrow: str


def drawings_of(
    figure: Figure, height: str, label: str, name: str
) -> tuple[Figure, Drawings | None]:
    """Return a figure whose plot lies where that of its drawings does, and them; None for a figure that is not drawn here.

    height: in rem. name: of the chart on its page; where marks stand in the same places for both, the narrow drawing
    refers to those of the wide one.
    """
    if not can_draw(figure):
        return figure, None
    pixels = pixels_of(height)
    wide, narrow = (
        plan_of(figure, layout_of(figure, narrow=narrow), pixels) for narrow in (False, True)
    )
    placed = {
        **figure,
        "layout": {**figure["layout"], "margin": wide.margin},
        "narrow": {**figure["narrow"], "margin": narrow.margin},
    }
    key = escaped(f"{name}-marks")
    marks = f'<g class="marks" id="{key}">{marks_of(figure, wide)}</g>'
    alike = (wide.wide, wide.talls) == (narrow.wide, narrow.talls)
    return placed, Drawings(
        drawn(figure, height=pixels, label=label, marks=marks),
        drawn(
            figure,
            height=pixels,
            label=label,
            narrow=True,
            marks=f'<use href="#{key}"/>' if alike else None,
        ),
    )


def pixels_of(height: str) -> int:
    """Return a height in rem as pixels."""
    matched = re.match(r"([\d.]+)rem", height)
    return max(LOWEST, min(HIGHEST, round(REM * float(matched[1])))) if matched else USUAL
