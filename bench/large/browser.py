"""How long headless Chromium takes to draw every run, and how it moves below the pointer."""

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.test import Client

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
MOVES = 120
WATCH = """() => {
  window.frames_seen = []; window.long_tasks = [];
  new PerformanceObserver((list) => { for (const task of list.getEntries()) window.long_tasks.push(task.duration); })
    .observe({ type: "longtask", buffered: true });
  let last = performance.now();
  const step = (now) => { window.frames_seen.push(now - last); last = now; requestAnimationFrame(step); };
  requestAnimationFrame(step);
}"""
DRAWN = "() => document.querySelector('#curve[data-drawn] .main-svg') !== null"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Milliseconds. drawn: from the navigation to the chart. frames: while the pointer moved over it."""

    what: str
    drawn: float
    longest_task: float
    frame_median: float
    frame_95: float
    frame_longest: float
    hovers: int


def drawings(client: Client, campaign: int) -> list[Drawing]:
    """Draw the chart of every run three times, and hover over it."""
    from playwright.sync_api import sync_playwright

    with served() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context(base_url=base, viewport={"width": 1440, "height": 1000})
        name = settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": base}])
        results = [_drawing(context.new_page(), campaign, f"time {n}") for n in (1, 2, 3)]
        browser.close()
        return results


def _drawing(page: Any, campaign: int, what: str) -> Drawing:
    page.add_init_script(f"({WATCH})()")
    page.goto(f"/campaigns/{campaign}/", wait_until="commit")
    page.wait_for_function(DRAWN, timeout=90_000)
    drawn = page.evaluate("performance.now()")
    longest = max(page.evaluate("window.long_tasks"), default=0.0)
    box = page.locator("#curve .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"], box["y"])
    page.evaluate("window.frames_seen.length = 0")
    hovers = 0
    for move in range(MOVES):
        share = move / MOVES
        page.mouse.move(
            box["x"] + share * box["width"],
            box["y"] + box["height"] * (0.2 + 0.6 * (move % 12) / 12),
        )
        hovers += page.evaluate("document.querySelectorAll('#curve .hovertext').length > 0")
    frames = sorted(page.evaluate("window.frames_seen"))
    page.close()
    return Drawing(
        what, drawn, longest, frames[len(frames) // 2], frames[int(0.95 * (len(frames) - 1))],
        frames[-1], hovers,
    )  # fmt: skip


@contextmanager
def served() -> Iterator[str]:
    """The web server as `script/server` starts it, on a port of its own."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(  # noqa: S603  our own server
        [
            sys.executable, "-m", "granian", "--interface", "rsgi", "--http", "1", "--host", "127.0.0.1",
            "--port", str(port), "--workers", "1", "--no-ws", "--log-level", "warning",
            "perfdash.local.server:server",
        ],
        env={**os.environ, "PERFDASH_WEB_THREADS": "4"},
    )  # fmt: skip
    try:
        _wait(f"{base}/health/")
        yield base
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(address: str) -> None:
    end = monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):  # noqa: S310  loopback
                return
        except OSError:
            if monotonic() > end:
                raise
            sleep(0.1)
