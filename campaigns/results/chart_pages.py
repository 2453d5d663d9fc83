"""A chart as a page of its own: one HTML file in which it can be zoomed, without a network."""

import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from campaigns.kit.charts.drawings import placed
from campaigns.kit.charts.standalone import chosen, html_of
from campaigns.kit.styles import font_family, light_colours, style_of
from campaigns.models import Campaign
from campaigns.results.run_plots import Plot

NO_HELP = SafeString()
STYLES = ("style.css", "report.css")
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPage:
    """A chart with what its page tells.

    heading: the question. about: lines (name, text). address: of the page where it was saved. multiples: small charts in the
    place of `plot`. how: its reading help, as HTML.
    """

    plot: Plot
    heading: str
    about: Sequence[tuple[str, str]]
    address: str
    multiples: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    how: SafeString = NO_HELP


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart, and its figure as HTML."""

    plot: Plot
    html: SafeString


def as_file(page: ChartPage, query: Mapping[str, str], disposition: str) -> HttpResponse:
    """Return a page as a file to save.

    query: of its address, which names the axis and what is hidden. disposition: the header that names the file.
    """
    plot = page.plot
    hidden = {name for name in query.get(f"hide-{plot.id}", "").split(",") if name}
    scale = query.get(f"scale-{plot.id}", "")
    charts = [_drawn(each, scale, hidden) for each in page.multiples or (plot,)]
    policy = policy_of([each.html for each in charts])
    context = {
        "page": page,
        "charts": charts,
        "hidden": "; ".join(item.text for item in plot.key if item.group in hidden),
        "policy": policy,
        "style": style_of(*STYLES),
        "plotly": plotly_script(),
        "script": page_script(),
        "saved": period(timezone.now(), None),
    }
    return HttpResponse(
        render_to_string("results/chart_page.html", context),
        content_type="text/html; charset=utf-8",
        headers={
            "Content-Disposition": disposition,
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; sandbox allow-scripts",
        },
    )


def lines_about(
    campaign: Campaign, first: datetime | None, last: datetime | None
) -> Iterator[tuple[str, str]]:
    """Yield what a page tells of a campaign. first, last: when it was measured."""
    yield "Campaign", campaign.name
    if campaign.targets:
        yield "Target" if len(campaign.targets) == 1 else "Targets", campaign.target_names
    if first:
        yield "Measured", period(first, last)


def period(first: datetime, last: datetime | None) -> str:
    """Return an instant in UTC, and the one at which it ended, if any."""
    end = f" to {last:%Y-%m-%d %H:%M:%S}" if last else ""
    return f"{first:%Y-%m-%d %H:%M:%S}{end} UTC"


def policy_of(charts: Sequence[str]) -> str:
    """Return the Content-Security-Policy of a page: nothing is loaded, and its own scripts alone run. charts: their HTML."""
    scripts = [match[1] for match in map(SCRIPT.search, charts) if match]
    digests = [digest_of_plotly(), *map(digest_of, (page_script(), *scripts))]
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(digests)}",
            "style-src 'unsafe-inline'",  # Plotly positions what it draws
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def digest_of(script: str) -> str:
    """Return a script as a policy names it."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


@cache
def digest_of_plotly() -> str:
    """Return the vendored script as a policy names it."""
    return digest_of(plotly_script())


def plotly_script() -> str:
    """Return the vendored script of Plotly, a quarter of the one in its Python package, and all that our figures need."""
    return _static("vendor/plotly/plotly-basic.min.js")


def page_script() -> str:
    """Return the script that fits charts into the place where they are read."""
    return _static("campaigns/chart_page.js")


def _static(path: str) -> str:
    return (files("campaigns") / "static" / path).read_text(encoding="utf-8")


def _drawn(plot: Plot, scale: str, hidden: Collection[str]) -> DrawnChart:
    figure = placed(plot.figure, plot.height)
    html = html_of(chosen(figure, scale, hidden), plot.id, light_colours(), font_family())
    return DrawnChart(plot, SafeString(html))
