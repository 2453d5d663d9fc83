"""The figures of pages as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from bench.large.browser import Drawing
from bench.large.histograms import Recorded
from bench.large.visits import Visit
from bench.publishing import written_by

INTRODUCTION = """# What pages of large campaigns cost

{written_by}

Figures of one machine ({machine}), with nothing else to do or not:
compare columns, not machines.

Campaigns of the kind `downloader`: the 18 published runs (S1), and two factors in 200 cells with 12 facts, 2 settings and 2
proofs a run. Each address is asked through Django with all its middleware, again and again after a first time; *web* is the
processor time of the web process, *database* that of the database for it, both as medians. A goal is one of both together, or of the
database where it says so. Nothing is cached between two requests.
"""
HISTORY = """A run of 1,000 values fills six pages of 8 kB of the table, and four of its index, so the history of a metric reads two pages for
each run that it shows. That is most of its time, and does not grow with other campaigns. An index by metric would put the values of a
metric side by side, at some 36 bytes a value.
"""


def markdown(
    visits: Mapping[str, Sequence[Visit]],
    drawn: Sequence[Drawing],
    analyses: Sequence[tuple[str, float]],
    recorded: Recorded,
    *,
    machine: str,
) -> str:
    """Write the page."""
    parts = [INTRODUCTION.format(written_by=written_by("pages"), machine=machine)]
    for what, some in visits.items():
        parts += [f"## {what}\n", *_visits(some), ""]
        if any(each.what.startswith("history") for each in some):
            parts += [HISTORY, ""]
    if drawn:
        parts += ["## In a browser\n", *_drawn(drawn), ""]
    parts += ["## Analysis\n", "| campaign | processor time |", "|---|---|"]
    parts += [f"| {what} | {seconds:.1f} s |" for what, seconds in analyses]
    parts += ["", "## Latencies\n", _recorded(recorded)]
    return "\n".join(parts)


def _visits(visits: Sequence[Visit]) -> Iterator[str]:
    yield "| | fastest | median | slowest | web | database | queries | kB | kB, gzip | goal |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for each in visits:
        times = (min(each.seconds), each.median, max(each.seconds))
        worked = (median(each.processor), median(each.database))
        yield (
            f"| {each.what} | {' | '.join(f'{1000 * t:.0f} ms' for t in times)}"
            f" | {' | '.join(f'{1000 * t:.1f} ms' for t in worked)} | {each.queries}"
            f" | {each.plain / 1000:,.0f} | {each.packed / 1000:,.0f} | {_goal(each)} |"
        )


def _goal(each: Visit) -> str:
    if each.goal is None:
        return ""
    of = " of the database" if each.goal.database else ""
    return f"{1000 * each.goal.seconds:.0f} ms{of}: {'**missed**' if each.missed else 'met'}"


def _drawn(drawn: Sequence[Drawing]) -> Iterator[str]:
    yield (
        "The last of these campaigns in headless Chromium without a GPU, 1440 pixels wide: from the navigation to the "
        "chart of every run, and the frames while the pointer moves over it.\n"
    )
    yield "| | drawn after | longest task | frame, median | frame, 95 % | longest frame |"
    yield "|---|---|---|---|---|---|"
    for each in drawn:
        times = (
            each.drawn,
            each.longest_task,
            each.frame_median,
            each.frame_95,
            each.frame_longest,
        )
        yield f"| {each.what} | {' | '.join(f'{t:.0f} ms' for t in times)} |"


def _recorded(recorded: Recorded) -> str:
    return (
        f"{recorded.values:,} values, recorded one after the other in a hundred histograms:"
        f" {recorded.encode_seconds:.0f} s; added and read: {recorded.merge_seconds:.2f} s. The most memory that it took:"
        f" {recorded.peak_bytes / 1e6:.1f} MB; the sum is {recorded.encoded_bytes / 1000:.1f} kB"
        f" (p99 {(recorded.p99_microseconds or 0) / 1000:.1f} ms).\n"
    )
