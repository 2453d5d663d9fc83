"""The figures as Markdown: a table a section, and a line for whatever is off."""

import platform
from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from bench.selfcheck.advice import advice_for
from bench.selfcheck.speed import Timing
from bench.selfcheck.tally import CONFIDENCE, Figure, Promise

MARKS = {"low": "▼", "high": "▲"}
BOUNDS = {Promise.EXACTLY: "", Promise.AT_MOST: "≤ ", Promise.AT_LEAST: "≥ ", Promise.NONE: ""}
INTRODUCTION = """# Self-check of the statistics

{head}

perfdash simulates campaigns of which it knows the truth, lets `campaigns/stats` judge them, and counts. Every figure is a
share of simulated campaigns in %, with Wilson's {confidence:g} % interval in brackets; at that confidence chance alone marks
less than one figure of the whole page. ▼ is below the nominal value, ▲ above it; where a promise is one-sided (≤, ≥) only
its breach is marked. What is marked has a line under the table that says what to do about it.

The worlds: runs are multiples of a level, with noise on the logs. *log-normal*: sd 3 %. *Heavy tails*: t with 3 degrees of
freedom, sd 3 %. *Two modes*: a quarter of the runs is slower by 4 inner sd; sd 3 %. *Drift*: log-normal, and the target
slows down by 20 % from the first run to the last. *Block effects*: log-normal, and each block has an effect of its own, sd
8 %. *Autocorrelated*: neighbours in time are correlated by .5. n: runs a cell, pairs, blocks or sessions. Margin 2 %, change
of interest 5 %, confidence 95 %.
"""
EXPLAINED = {
    "Coverage of 95 % intervals": "How often the interval holds the truth.",
    "Words": "How often a word is said that is wrong. Less than nominal is well.",
    "Power": "How often a true change of 5 % is found. Nominal: the formula of `stats/power.py` for noise of 3 %.",
    "Best setting": "Hsu's bounds of six settings that cost 35, 16, 8, 3, 0 and 1 % more than the best.",
    "Checks": "How often a check of validity warns. Without a nominal value something is wrong in that world, and it is "
    "how often that is seen. Cochran's Q, shown beside Welch's test, would warn in 31 % at n = 3. Two modes need a wide gap: "
    "at 4 inner sd the smoothing hides most of them, so look at the runs themselves.",
    "Noise floor": "How often the next two identical runs differ by no more than the floor that n pairs of an A/A campaign "
    "state, which is said of 19 of 20.",
    "Sessions": "Eight blocks a session, noise of 3 %, no true change.",
    "What is said": "Words as the answer says them. Sessions of eight pairs, noise of 3 %; n counts sessions. Values of 3 s in "
    "steps, eight pairs with noise of 3 %. Four equal levels one after the other, ten runs each of six minutes, noise of 3 %; "
    "the target drifts.",
    "Sentences": "How often the sentence of an answer, as it is written, claims of settings what is not so. The slower setting takes 3 % longer.",
    "Failed shares": "Coverage of the interval of a failed share over n runs of 500 units.",
    "Curves": "A break at 7 of six levels, and the Universal Scalability Law (contention 5 %, coherency 1 %) at eight.",
    "Capacity": "A target carries a load of 400 within its limit; five loads in steps of 2 around it, noise between blocks of 3 %. "
    "How often what is claimed holds, with its width (high / low; half of it for ratios); an end that is open holds everything on its "
    "side. In steps of 2 the bracket of decided loads is claimed; in steps of 1.35 the line between them, with its bounds moved outward by a fifth of the "
    "gap. *S-shape*: the value rises to 2.7 times within a tenth of the load, somewhere around the capacity. *Kink*: from flat to steep, or back. *Cap*: no value is "
    "above 1.2 times the limit. *Two states*: a third of the runs (or of the blocks) takes 1.5 times as long. *Drift*: 1 % a run. *Noise above*: sd 12 % above "
    "400. *Holes*: an eighth of the runs is lost. Failures: hosts of a run fail the more the larger the load; limit 5 %. "
    "Sessions: the capacity that lasts, by one session or by the interval between them; n counts sessions. Ratios: blocks are common.",
    "Search": "Searches for the capacity of 400 from 25 on, with a largest load of 2000; sd 6 % of a run, 3 % between blocks. The interval is that "
    "of the runs that confirm. Within 10 %: the estimate, or the middle of levels; rms: of its error.",
    "Stop rule": "Coverage of the interval after a stop (target 3 %), and the mean number of blocks; sd: of a difference.",
}


def markdown(
    figures: Sequence[Figure], timings: Sequence[Timing], *, seed: int, head: str, seconds: float
) -> str:
    """Write the page."""
    parts = [INTRODUCTION.format(head=head, confidence=100 * CONFIDENCE)]
    for section in dict.fromkeys(figure.section for figure in figures):
        own = [figure for figure in figures if figure.section == section]
        parts += [f"## {section}\n", EXPLAINED[section] + "\n", "\n".join(_table(own)) + "\n"]
        lines = list(_lines(own))
        if lines:
            parts.append("\n".join(lines) + "\n")
    parts += ["## Speed\n", "\n".join(_speed(timings)) + "\n"]
    off = sum(bool(figure.off) for figure in figures)
    parts.append(
        f"{len(figures)} figures, {off} of them off. Seed {seed}, {seconds:.0f} s. Python"
        f" {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}.\n"
    )
    return "\n".join(parts)


def _table(figures: Sequence[Figure]) -> Iterator[str]:
    columns = list(dict.fromkeys(figure.column for figure in figures))
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for quantity in dict.fromkeys(figure.quantity for figure in figures):
        for figure in figures:
            if figure.quantity == quantity:
                rows.setdefault((quantity, figure.n), {})[figure.column] = figure
    yield f"| | n | nominal | {' | '.join(columns)} |"
    yield f"|---|--:|--:|{'--:|' * len(columns)}"
    for (quantity, n), cells in rows.items():
        promised = next((each for each in cells.values() if each.nominal is not None), None)
        nominal = _nominal(promised) if promised else "–"
        shown = (_cell(cells.get(column), promised) for column in columns)
        yield f"| {quantity} | {n} | {nominal} | {' | '.join(shown)} |"


def _nominal(figure: Figure) -> str:
    return f"{BOUNDS[figure.promise]}{100 * (figure.nominal or 0):.3g}"


def _cell(figure: Figure | None, promised: Figure | None) -> str:
    if figure is None:
        return ""
    low, high = figure.interval
    mark = f" {MARKS[figure.off]}" if figure.off else ""
    seen = " seen" if promised and figure.nominal is None else ""
    note = f", {figure.note}" if figure.note else ""
    return f"{100 * figure.share:.1f}{mark}{seen} ({100 * low:.1f}–{100 * high:.1f}){note}"


def _lines(figures: Sequence[Figure]) -> Iterator[str]:
    """One line for all figures with the same comment."""
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for figure in figures:
        if figure.off:
            key = MARKS[figure.off], advice_for(figure)
            place = f"{figure.quantity}, {figure.column}"
            groups.setdefault(key, {}).setdefault(place, []).append(figure.n)
    for (mark, text), places in groups.items():
        named = "; ".join(f"{place} (n = {', '.join(ns)})" for place, ns in places.items())
        yield f"* {mark} {named}: **{text}**"


def _speed(timings: Sequence[Timing]) -> Iterator[str]:
    yield "| | seconds of processor time | goal |"
    yield "|---|--:|--:|"
    for each in timings:
        goal = "–" if each.goal is None else f"< {each.goal:g}"
        yield f"| {each.what} | {each.seconds:.2f} | {goal} |"
