"""When a chart is on the screen, and what pages and charts of many runs cost."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.conf import settings
from django.test import Client

from bench.large.browser import ARGUMENTS, CHROMIUM, served
from bench.large.visits import Goal, Visit, visit
from bench.publishing import written_by

WARM, COLD, INTERACTIVE, COLD_BYTES = 300, 600, 1000, 700_000
"""Goals of a chart on the screen: milliseconds from the navigation, and bytes."""
PAGE = (0.15, 200_000)
"""Seconds and bytes of a result page of many runs ..."""
CURVE = (0.15, 300_000)
"""... and of its chart, without compression."""
SETTLE_MILLISECONDS = 300
WATCH = """() => {
  window.marks = {};
  const seen = (selector) => [...document.querySelectorAll(selector)].some((each) => each.checkVisibility());
  const mark = (name, selector) => {
    if (!(name in marks) && seen(selector)) {
      marks[name] = 0;
      requestAnimationFrame((now) => { marks[name] = performance.now(); });
    }
  };
  const look = () => {
    mark("figure", ".chart svg.plot, .chart .main-svg");
    mark("interactive", ".chart[data-drawn] .main-svg");
    if (!("interactive" in marks)) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""A figure is marked in the frame after the one in which it is there, and so has been painted."""
DONE = "() => window.marks.figure > 0 && window.marks.interactive > 0"
READ = """() => ({
  figure: marks.figure, interactive: marks.interactive,
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  first_byte: performance.getEntriesByType("navigation")[0].responseStart,
})"""


@dataclass(frozen=True, slots=True)
class Opening:
    """One page opened again and again. Milliseconds since the navigation, and bytes that came over the network.

    cold: with nothing in the cache of the browser.
    """

    what: str
    cold: bool
    first_byte: tuple[float, ...]
    paint: tuple[float, ...]
    figure: tuple[float, ...]
    interactive: tuple[float, ...]
    received: tuple[int, ...]


def opened(client: Client, campaigns: Mapping[str, int], repeats: int) -> list[Opening]:
    """Open the result page of each campaign, cold and warm in turn."""
    from playwright.sync_api import sync_playwright

    with served() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        name = settings.SESSION_COOKIE_NAME
        cookie: Any = {"name": name, "value": client.cookies[name].value, "url": base}
        results: list[Opening] = []
        for what, campaign in campaigns.items():
            runs: dict[bool, list[dict[str, float]]] = {True: [], False: []}
            for time in range(repeats + 1):
                context = browser.new_context(
                    base_url=base, viewport={"width": 1440, "height": 1000}
                )
                context.add_cookies([cookie])
                for cold in (True, False):
                    read = _opened(context, f"/campaigns/{campaign}/")
                    if time:  # the first time loads modules and templates of the server
                        runs[cold].append(read)
                context.close()
            results += [_opening(what, cold, runs[cold]) for cold in (True, False)]
        browser.close()
    return results


def _opened(context: Any, address: str) -> dict[str, float]:
    """Open a page in a tab of its own, and return its marks when nothing moves any more."""
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    received = [0.0]
    network = context.new_cdp_session(page)
    network.on("Network.loadingFinished", lambda each: received.append(each["encodedDataLength"]))
    network.send("Network.enable")
    page.goto(address, wait_until="commit")
    page.wait_for_function(DONE, timeout=90_000)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    read: dict[str, float] = page.evaluate(READ)
    page.close()
    return {**read, "received": sum(received)}


def _opening(what: str, cold: bool, runs: Sequence[Mapping[str, float]]) -> Opening:
    columns = [
        tuple(run[name] for run in runs)
        for name in ("first_byte", "paint", "figure", "interactive", "received")
    ]
    return Opening(what, cold, *columns)  # type: ignore[arg-type]


def visits(client: Client, campaigns: Mapping[str, int], repeats: int) -> list[tuple[Visit, int]]:
    """Ask for the pages and charts of campaigns through Django; with the goal of bytes, 0 for none."""
    results = []
    for size, campaign in campaigns.items():
        base = f"/campaigns/{campaign}/"
        many = size.startswith(("10,000", "20,000"))
        for what, address, (seconds, size_goal) in (
            ("result page", base, PAGE),
            ("its chart", f"{base}charts/curve/", CURVE),
            ("chart of drift", f"{base}charts/drift/", CURVE),
        ):
            goal = Goal(seconds) if many else None
            name = f"{what}, {size}"
            results.append((visit(client, name, address, repeats, goal), size_goal * many))
    return results


def markdown(
    visited: Sequence[tuple[Visit, int]], openings: Sequence[Opening], *, machine: str
) -> str:
    """Write the page."""
    load = os.getloadavg()[0]
    parts = [INTRODUCTION.format(written_by=written_by("charts"), machine=machine, load=load)]
    if openings:
        parts += ["## A chart on the screen\n", *_opened_rows(openings), ""]
    if visited:
        parts += ["## Pages of many runs\n", *_visited_rows(visited), ""]
    return "\n".join(parts)


INTRODUCTION = """# What a chart costs until it is on the screen

{written_by}

Figures of one machine ({machine}); the load average at their end was
{load:.1f}, and times are longer where it is above 1. Times in cells are the median, and the fastest in brackets; a goal
is met by the median.
"""


def _opened_rows(openings: Sequence[Opening]) -> Iterator[str]:
    yield (
        "The result page in headless Chromium without a GPU, 1440 pixels wide, in milliseconds since the navigation. *Figure*: the"
        " chart is painted, drawn by the server or by Plotly. *Interactive*: Plotly has taken over. Cold: nothing is in the"
        " cache, and every connection is new. Goals: a figure within"
        f" {COLD} ms cold and {WARM} ms warm, interactive within {INTERACTIVE} ms, {COLD_BYTES // 1000} kB cold.\n"
    )
    yield "| | cache | first byte | first paint | figure | interactive | kB received | goals |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in openings:
        times = (each.first_byte, each.paint, each.figure, each.interactive)
        cells = " | ".join(f"{median(t):.0f} ({min(t):.0f})" for t in times)
        received = median(each.received)
        missed = [
            name
            for name, value, goal in (
                ("figure", median(each.figure), COLD if each.cold else WARM),
                ("interactive", median(each.interactive), INTERACTIVE),
                ("bytes", received, COLD_BYTES),
            )
            if value > goal
        ]
        result = f"missed: {', '.join(missed)}" if missed else "met"
        yield (
            f"| {each.what} | {'cold' if each.cold else 'warm'} | {cells} | {received / 1000:.0f} | {result} |"
        )


def _milliseconds(seconds: Sequence[float]) -> str:
    return f"{1000 * median(seconds):.0f} ({1000 * min(seconds):.0f})"


def _visited_rows(visited: Sequence[tuple[Visit, int]]) -> Iterator[str]:
    yield (
        "Requested through Django with all its middleware. *Web* and *database* are milliseconds of the processor; goals of time"
        " are for both together, so that it does not matter what else the machine does."
        f" Goals for 10,000 runs and more: {1000 * PAGE[0]:.0f} ms and {PAGE[1] // 1000} kB a page,"
        f" {1000 * CURVE[0]:.0f} ms and {CURVE[1] // 1000} kB a chart, before compression.\n"
    )
    yield "| | ms | web | database | queries | kB | kB, gzip | goals |"
    yield "|---|---|---|---|---|---|---|---|"
    for each, most in visited:
        missed = [
            name
            for name, is_missed in (("time", each.missed), ("bytes", most and each.plain > most))
            if is_missed
        ]
        result = (f"missed: {', '.join(missed)}" if missed else "met") if most else ""
        yield (
            f"| {each.what} | {_milliseconds(each.seconds)}"
            f" | {_milliseconds(each.processor)} | {_milliseconds(each.database)} | {each.queries} | {each.plain / 1000:,.0f} | {each.packed / 1000:,.0f}"
            f" | {result} |"
        )
