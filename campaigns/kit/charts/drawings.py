"""The drawings of a figure for a wide place and for a phone, and the figure with their margins. Pure."""

import re
from typing import NamedTuple

from campaigns.kit.charts.figure import Figure
from campaigns.kit.charts.svg import Plan, can_draw, drawn, layout_of, marks_of, plan_of
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
    wide, narrow = plans_of(figure, pixels)
    key = escaped(f"{name}-marks")
    marks = f'<g class="marks" id="{key}">{marks_of(figure, wide)}</g>'
    alike = (wide.wide, wide.talls) == (narrow.wide, narrow.talls)
    return _with_margins(figure, wide, narrow), Drawings(
        drawn(figure, height=pixels, label=label, marks=marks),
        drawn(
            figure,
            height=pixels,
            label=label,
            narrow=True,
            marks=f'<use href="#{key}"/>' if alike else None,
        ),
    )


def placed(figure: Figure, height: str) -> Figure:
    """Return a figure whose plot lies where that of its drawings does."""
    return (
        _with_margins(figure, *plans_of(figure, pixels_of(height))) if can_draw(figure) else figure
    )


def plans_of(figure: Figure, pixels: int) -> tuple[Plan, Plan]:
    """Return where everything stands in the wide drawing and in the narrow one."""
    return (
        plan_of(figure, layout_of(figure, narrow=False), pixels),
        plan_of(figure, layout_of(figure, narrow=True), pixels),
    )


def _with_margins(figure: Figure, wide: Plan, narrow: Plan) -> Figure:
    return {
        **figure,
        "layout": {**figure["layout"], "margin": wide.margin},
        "narrow": {**figure["narrow"], "margin": narrow.margin},
    }


def pixels_of(height: str) -> int:
    """Return a height in rem as pixels."""
    matched = re.match(r"([\d.]+)rem", height)
    return max(LOWEST, min(HIGHEST, round(REM * float(matched[1])))) if matched else USUAL
