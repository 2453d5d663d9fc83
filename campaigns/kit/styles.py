"""The style sheets as text, for pages that stand alone, and what their tokens stand for."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LIGHT = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]+),")
FONT = re.compile(r"--font: (.*);")


@cache
def style_of(*names: str) -> str:
    """Return style sheets of campaigns/static/campaigns as one."""
    sheets = files("campaigns") / "static" / "campaigns"
    return "\n".join((sheets / name).read_text(encoding="utf-8") for name in names)


@cache
def light_colours() -> Mapping[str, str]:
    """Return the colour of each token in the light theme: `series-1`, "#0072b2"."""
    return dict(LIGHT.findall(style_of("style.css")))


@cache
def font_family() -> str:
    """Return the family of all text that is not code."""
    return str(FONT.findall(style_of("style.css"))[0])
