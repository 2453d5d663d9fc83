"""Shows how a campaign goes on: bars on a terminal, plain lines elsewhere."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from perfdash_client.formats import about, levels
from perfdash_client.output import Output, clean

REST_SECONDS = 5.0
"""The interval of plain lines that only report further runs."""

Campaign = Mapping[str, Any]


class Display(Protocol):
    """Where progress is shown."""

    def show(self, campaign: Campaign, now: str) -> None:
        """Show the campaign as it is, and what runs now."""


def tally(campaign: Campaign) -> tuple[int, int]:
    """Runs that have ended, and all of them."""
    runs = campaign["runs"]
    ended = sum(runs.get(state, 0) for state in ("done", "failed", "void", "cancelled"))
    return ended, runs["total"]


def summary(campaign: Campaign) -> str:
    """One line: runs, failures, time left."""
    runs, (ended, total) = campaign["runs"], tally(campaign)
    search = campaign.get("search")
    parts = [f"{ended} runs of a search" if search else f"{ended} of {total} runs"]
    if search:
        parts.append(str(search["text"]))
    parts += [f"{runs[word]} {word}" for word in ("failed", "void", "cancelled") if runs.get(word)]
    left = campaign.get("seconds_left")
    if left is not None:
        parts.append(f"about {about(left)} left")
    if campaign["state"] != "running":
        parts.append(campaign["state"])
    if campaign["state"] in ("finished", "cancelled") and campaign.get("analysis_pending"):
        parts.append("being analysed")
    return ", ".join(parts)


class Lines:
    """A line where something changed, at most one in a while for runs that come through."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self.last: tuple[Any, ...] = ()
        self.told_at = float("-inf")

    def show(self, campaign: Campaign, now: str) -> None:
        """Print a line, or none."""
        runs = campaign["runs"]
        state = (
            campaign["state"],
            runs.get("failed"),
            runs.get("void"),
            campaign.get("analysis_pending"),
            (campaign.get("search") or {}).get("text"),
        )
        changed = state != self.last
        ended, total = tally(campaign)
        rested = monotonic() - self.told_at >= REST_SECONDS
        if not changed and not (rested and ended != total):
            return
        self.last, self.told_at = state, monotonic()
        self.out.say(f"campaign {campaign['id']}: {summary(campaign)}{f'; {now}' if now else ''}")


class Bars:
    """A bar that moves, and what runs now below it."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.spinner = Spinner("dots")

    def show(self, campaign: Campaign, now: str) -> None:
        """Draw anew."""
        ended, total = tally(campaign)
        bar = ProgressBar(total=max(1, total), completed=ended, width=None)
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=1)
        row.add_column(ratio=1)
        row.add_column(no_wrap=True)
        row.add_row(self.spinner, bar, Text(clean(summary(campaign))))
        below = Text(clean(now), style="dim", no_wrap=True, overflow="ellipsis")
        self.live.update(Group(row, below) if now else row)


@contextmanager
def display(out: Output) -> Iterator[Display]:
    """Give what fits the place that is written to."""
    if not out.is_live:
        yield Lines(out)
        return
    with Live(console=out.err, refresh_per_second=8, transient=True) as live:
        yield Bars(live)


def running_now(run: Mapping[str, Any] | None) -> str:
    """Say which run is on."""
    if run is None:
        return ""
    what = {"warm_up": "warm-up", "trial": "try-out"}.get(run["purpose"], "run")
    where = levels(run["cell"]["levels"])
    return f"now {what} {run['position']}{f': {where}' if where else ''}"
