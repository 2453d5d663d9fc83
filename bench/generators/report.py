"""The figures of the load generators as Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from bench.generators.own import NAME
from bench.generators.peers import Found

INTRODUCTION = """# What the load engine costs, beside its peers

{written_by}

{machine},
{load} when it began. nginx with one worker on the same machine, plain HTTP/1.1 on loopback, a body of 1 KB. All generators run in turn within each of {rounds}
rounds of {seconds:g} s; the figures are medians, and ratios are medians of the ratios within a round.
*CPU* is seconds of the generator's processor time per 10,000 requests: of the whole process, but for perfdash of the
measured time, since its program is started before. p50 and p99 are as each generator reports them.

Generators: {versions}.{missing}
"""
CPU_RATE, MOST_CPU = 4000, 0.4
STALLED = "50 connections"
Rounds = Mapping[tuple[str, float], Sequence[Found]]
"""Found by (generator, connections or rate), one for each round."""
Figure = Callable[[Found], float]


def per_10_000(found: Found) -> float:
    """Seconds of processor time per 10,000 requests."""
    return found.cpu_seconds / found.requests * 10_000


def ratio(ours: Sequence[Found], theirs: Sequence[Found], figure: Figure) -> float:
    """Median of the ratios within a round."""
    return median(figure(a) / figure(b) for a, b in zip(ours, theirs, strict=True))


def closed(rounds: Rounds, names: Sequence[str], levels: Sequence[int]) -> Iterator[str]:
    """A table for each number of connections."""
    for level in levels:
        ours = rounds[NAME, level]
        yield f"\n### {level:,} connections\n"
        yield "| generator | requests/s | ours/its | CPU | ours/its | p50 ms | p99 ms | ours/its p50 |"
        yield "|---|--:|--:|--:|--:|--:|--:|--:|"
        for name in names:
            if not (found := rounds.get((name, level))):
                continue
            cells = [
                f"{median(f.rate for f in found):,.0f}",
                f"{ratio(ours, found, lambda f: f.rate):.2f}",
                f"{median(map(per_10_000, found)):.3f}",
                f"{ratio(ours, found, per_10_000):.2f}",
                f"{median(f.p50 for f in found):.2f}",
                f"{median(f.p99 for f in found):.2f}",
                f"{ratio(ours, found, lambda f: f.p50):.2f}" if min(f.p50 for f in found) else "",
            ]
            yield f"| {name} | {' | '.join(cells)} |"


def stalls(rounds: Rounds, names: Sequence[str], rates: Sequence[float]) -> Iterator[str]:
    """p99 by rate."""
    yield "| generator | " + " | ".join(f"{rate:g}/s" for rate in rates) + " |"
    yield "|---|" + "--:|" * len(rates)
    for name in names:
        cells = [
            f"{median(f.p99 for f in found):.1f}" if (found := rounds.get((name, rate))) else ""
            for rate in rates
        ]
        if any(cells):
            yield f"| {name} | {' | '.join(cells)} |"


def cpu_at_rates(rounds: Rounds, names: Sequence[str], rates: Sequence[float]) -> Iterator[str]:
    """Processor time for 10,000 requests by rate."""
    yield "| generator | " + " | ".join(f"{rate:g}/s" for rate in rates) + " |"
    yield "|---|" + "--:|" * len(rates)
    for name in names:
        found = [rounds.get((name, rate)) for rate in rates]
        if any(found):
            cells = (f"{median(map(per_10_000, one)):.2f}" if one else "" for one in found)
            yield f"| {name} | {' | '.join(cells)} |"


def goals(closed: Rounds, stalled: Rounds, rates: Sequence[float]) -> Iterator[str]:
    """What was to be reached, and what was."""

    def at(name: str, level: int, figure: Figure) -> float | None:
        pair = closed.get((NAME, level)), closed.get((name, level))
        return ratio(pair[0], pair[1], figure) if pair[0] and pair[1] else None

    yield "| goal | found | |"
    yield "|---|--:|---|"
    wanted = [
        (
            "rate at 100 connections, of wrk's: at least 0.7",
            at("wrk", 100, lambda f: f.rate),
            0.7,
            1,
        ),
        ("CPU at 100 connections, of wrk's: at most 1.5", at("wrk", 100, per_10_000), 1.5, -1),
        ("rate at 100 connections, of k6's: at least 4", at("k6", 100, lambda f: f.rate), 4.0, 1),
        (
            "p50 at 1,000 connections, of wrk's: at most 1.2",
            at("wrk", 1000, lambda f: f.p50),
            1.2,
            -1,
        ),
    ]
    for text, found, limit, sign in wanted:
        yield _goal(text, found, found is not None and sign * (found - limit) >= 0)
    cpu = stalled.get((NAME, CPU_RATE))
    text = f"CPU at {CPU_RATE:,}/s, an open loop of {STALLED}: at most {MOST_CPU:g}"
    at_rate = median(map(per_10_000, cpu)) if cpu else None
    yield _goal(text, at_rate, at_rate is not None and at_rate <= MOST_CPU)
    for rate in rates:
        ours, name = stalled.get((NAME, rate)), "wrk2"
        theirs = stalled.get((name, rate))
        if not theirs:
            name = "k6"
            theirs = stalled.get((name, rate))
        found = ratio(ours, theirs, lambda f: f.p99) if ours and theirs else None
        text = f"p99 of the stall at {rate:g}/s, of {name}'s: within 5 %"
        yield _goal(text, found, found is not None and abs(found - 1) <= 0.05)


def _goal(text: str, found: float | None, reached: bool) -> str:
    if found is None:
        return f"| {text} | | not measured: it is not there, or could not hold the rate |"
    return f"| {text} | {found:.2f} | {'reached' if reached else '**missed**'} |"
