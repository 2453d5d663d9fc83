"""The figures of submissions as Markdown."""

from collections.abc import Iterator, Sequence
from statistics import median

from bench.submissions import data
from bench.submissions.lnt import REQUIREMENTS
from bench.submissions.measures import CELLS, CHUNK, Found, Size, Taken

INTRODUCTION = """# What submitting and reading results costs

Written by `script/bench api`. Do not edit it by hand. Figures of one machine ({machine}), with other work going on beside it or
not: compare rows that were measured in turn, not machines. *Processor* is of the web server and the database together, and
depends less on what else went on.

The same numbers go to perfdash and to {lnt}, by HTTP on loopback: perfdash as `script/server` starts it, with
`PERFDASH_API_WRITE_RATE` and `PERFDASH_API_READ_RATE` off; LNT under gunicorn with two processes. Both use one PostgreSQL, with
the settings of `script/server`. LNT looks for regressions before it answers; that is switched off (`ignore_regressions`) but where
the table says otherwise. perfdash analyses a campaign after it has answered.
"""
GOALS = {
    "bulk": 20_000,
    "singles": 300,
    "bytes": 128,
    "history": 0.011,
}


def markdown(found: Found, *, machine: str) -> str:
    """Write the page."""
    lnt = next(line for line in REQUIREMENTS.read_text().split() if "lnt" in line)
    parts = [INTRODUCTION.format(machine=machine, lnt=lnt.replace("==", " "))]
    parts += ["## In bulk\n", *_bulk(found), ""]
    parts += ["## One run of one value a request\n", *_singles(found), ""]
    parts += ["## Reading\n", *_reads(found), ""]
    parts += ["## Bytes in the database, per value\n", *_sizes(found.sizes), ""]
    parts += ["## With ever more values stored\n", *_grown(found), ""]
    return "\n".join(parts)


def _bulk(found: Found) -> Iterator[str]:
    yield f"A build is {data.TESTS:,} tests. Goal: {GOALS['bulk']:,} values a second in bulk.\n"
    yield "| | values stored | values a second | from, to | processor, 1,000 values |"
    yield "|---|---|---|---|---|"
    for name, used in found.builds.items():
        yield _row(f"{name}, a build a request", used)
    if found.regressions:
        yield _row("LNT, a build a request, looking for regressions", found.regressions)
    for shape, used in found.bulk.items():
        yield _row(f"perfdash, {used[0].values:,} values a request, {WORDS[shape]}", used)
    yield ""
    if len(found.builds) > 1:
        ours, theirs = found.builds.values()
        ratios = [a.a_second / b.a_second for a, b in zip(ours, theirs, strict=True)]
        yield (
            f"A build a request, {CHUNK} by each in turn: perfdash takes {median(ratios):.1f} times as many values a second"
            f" ({min(ratios):.1f} to {max(ratios):.1f})."
        )
    for shape, seconds in found.analysis.items():
        yield f"The analysis after a campaign ({WORDS[shape]}): {seconds:.1f} s of processor, at low priority."
    held = found.megabytes
    yield (
        f"Memory of the web server after each of {len(held)} requests in bulk, one after the other: "
        f"{', '.join(f'{each:.0f}' for each in held)} MB."
    )


WORDS = {"wide": "runs of 1,000 values", "narrow": "runs of one value"}


def _row(what: str, taken: Sequence[Taken]) -> str:
    rates = [each.a_second for each in taken]
    values = sum(each.values for each in taken)
    processor = sum(each.web + each.database for each in taken) * 1000 / values
    spread = f"{min(rates):,.0f} – {max(rates):,.0f}"
    return f"| {what} | {values:,} | {median(rates):,.0f} | {spread} | {processor:.3f} s |"


def _singles(found: Found) -> Iterator[str]:
    yield f"To campaigns of {CELLS} cells. Goal: {GOALS['singles']} a second.\n"
    yield "| | | a second | from, to | processor a request: web server | database |"
    yield "|---|---|---|---|---|---|"
    for (way, name), used in found.singles.items():
        rates = [each.a_second for each in used]
        count = sum(each.values for each in used)
        web, database = (
            1000 * sum(each) / count
            for each in ([each.web for each in used], [each.database for each in used])
        )
        spread = f"{min(rates):,.0f} – {max(rates):,.0f}"
        yield f"| {way} | {name} | {median(rates):,.0f} | {spread} | {web:.1f} ms | {database:.1f} ms |"


READ = {
    "history": "history of one series as JSON, a value a build",
    "comparison": "comparison: LNT of two runs, perfdash of two campaigns of 100 builds",
    "chart": "page of a chart, and its data",
}


def _reads(found: Found) -> Iterator[str]:
    yield f"What the server takes, without a browser. Goal: {1000 * GOALS['history']:.0f} ms for the history.\n"
    yield "| | | fastest | median | slowest |"
    yield "|---|---|---|---|---|"
    for (what, name), times in found.reads.items():
        text = " | ".join(
            f"{1000 * each:.1f} ms" for each in (min(times), median(times), max(times))
        )
        yield f"| {READ[what]} | {name} | {text} |"


def _sizes(sizes: Sequence[Size]) -> Iterator[str]:
    yield f"Names of tests have {len(data.NAMES[0])} letters. Goal: below {GOALS['bytes']} for a plain value.\n"
    yield "| | values | table of values | its indexes | together | with runs and all else |"
    yield "|---|---|---|---|---|---|"
    last = {each.what: each for each in sizes}
    for each in last.values():
        what = f"perfdash, {WORDS[each.what]}" if each.what in WORDS else each.what
        together = each.heap + each.indexes
        yield (
            f"| {what} | {each.values:,} | {each.heap:.0f} | {each.indexes:.0f} | {together:.0f} |"
            f" {each.everything:.0f} |"
        )


def _grown(found: Found) -> Iterator[str]:
    yield "| values stored | 10,000 values in one request | a single run | history as JSON | result page of 10 builds |"
    yield "|---|---|---|---|---|"
    for each in found.grown:
        times = (each.insert, each.single, each.history, each.page)
        yield f"| {each.values:,} | {' | '.join(f'{1000 * time:,.0f} ms' for time in times)} |"
