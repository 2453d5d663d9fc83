"""The figures of submissions as Markdown."""

from collections.abc import Iterator, Sequence
from statistics import median

from bench.publishing import written_by
from bench.submissions import data
from bench.submissions.lnt import REQUIREMENTS
from bench.submissions.measures import CELLS, CHUNK, CLIENTS, Found, Size, Taken

INTRODUCTION = """# What submitting and reading results costs

{written_by}

Figures of one machine ({machine}), with other work going on beside it or
not: compare rows that were measured in turn, not machines. *Processor* is of the web server and the database together, and
depends less on what else went on. Each goal says whether it is met.

The same numbers go to perfdash, to {lnt} and to a replica of Conbench's call, by HTTP on loopback: perfdash as `script/server` starts
it, with its default limit of what a token may write; LNT under gunicorn with two processes; the replica under gunicorn as Conbench
runs it, one process of 15 threads. Conbench's server is not on PyPI: `bench/submissions/conbench_replica.py` does for
`POST /api/benchmark-results/` what Conbench's public source (3af4a552) does, with the same libraries, and says what it leaves
out. All use one PostgreSQL, with the settings of `script/server`. LNT looks for regressions before it answers; that is switched
off (`ignore_regressions`) but where the table says otherwise. Conbench analyses what is read. perfdash analyses a campaign
after it has answered; the last columns count that.
"""
GOALS = {
    "bulk": 20_000,
    "singles": 300,
    "milliseconds": 4,
    "bytes": 100,
    "history": 0.011,
}
NOT_MEASURED = "Not measured this time."


def verdict(*, met: bool) -> str:
    return "met" if met else "**missed**"


def markdown(found: Found, *, machine: str) -> str:
    """Write the page."""
    lnt = next(line for line in REQUIREMENTS.read_text().split() if "lnt" in line)
    parts = [
        INTRODUCTION.format(
            written_by=written_by("api"), machine=machine, lnt=lnt.replace("==", " ")
        )
    ]
    parts += ["## In bulk\n", *_bulk(found), ""]
    parts += ["## One run of one value a request\n", *_singles(found), ""]
    parts += ["## Reading\n", *_reads(found), ""]
    parts += ["## Bytes in the database, per value\n", *_sizes(found.sizes), ""]
    parts += ["## With ever more values stored\n", *_grown(found), ""]
    return "\n".join(parts)


def _bulk(found: Found) -> Iterator[str]:
    yield (
        f"A build is {data.TESTS:,} tests. Goal: {GOALS['bulk']:,} values a second in bulk; *of processor*: as many as web server and "
        "database would store if they had one processor for themselves, and took turns. *Analysed*: until the analysis that follows is "
        "stored; between two analyses of one campaign lies a rest, which is not counted as one.\n"
    )
    if not found.builds and not found.bulk:
        yield NOT_MEASURED
        return
    yield (
        "| | values stored | values a second | from, to | goal | analysed, values a second | goal, analysed "
        "| processor, 1,000 values | values a second of processor | goal, of processor | of the analysis, 1,000 values |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
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
    held = found.megabytes
    if not held:
        return
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
    analysed = median(each.analysed_a_second for each in taken)
    analysis = sum(each.analysis for each in taken) * 1000 / values
    judged = (median(rates), analysed, 1000 / processor)
    goals = [verdict(met=rate >= GOALS["bulk"]) for rate in judged]
    if "perfdash" not in what:
        goals = [""] * len(goals)
    return (
        f"| {what} | {values:,} | {median(rates):,.0f} | {spread} | {goals[0]} | {analysed:,.0f} | {goals[1]} | {processor:.3f} s "
        f"| {1000 / processor:,.0f} | {goals[2]} | {analysis:.3f} s |"
    )


def _singles(found: Found) -> Iterator[str]:
    yield (
        f"To campaigns of {CELLS} cells. Goal, of {CLIENTS} clients: {GOALS['singles']} a second, and {GOALS['milliseconds']} ms of processor "
        "each, web server and database together.\n"
    )
    if not found.singles:
        yield NOT_MEASURED
        return
    yield "| | | a second | from, to | goal | processor a request: web server | database | together | goal |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for (way, name), used in found.singles.items():
        rates = [each.a_second for each in used]
        count = sum(each.values for each in used)
        web, database = (
            1000 * sum(each) / count
            for each in ([each.web for each in used], [each.database for each in used])
        )
        spread = f"{min(rates):,.0f} – {max(rates):,.0f}"
        many = name == "perfdash" and way != "1 client"
        goals = (
            verdict(met=median(rates) >= GOALS["singles"]) if many else "",
            verdict(met=web + database <= GOALS["milliseconds"]) if name == "perfdash" else "",
        )
        yield (
            f"| {way} | {name} | {median(rates):,.0f} | {spread} | {goals[0]} | {web:.1f} ms | {database:.1f} ms "
            f"| {web + database:.1f} ms | {goals[1]} |"
        )


READ = {
    "history": "history of one series as JSON, a value a build",
    "comparison": "comparison: LNT of two runs, perfdash of two campaigns of 100 builds",
    "chart": "page of a chart, and its data",
}


def _reads(found: Found) -> Iterator[str]:
    yield f"What the server takes, without a browser. Goal: {1000 * GOALS['history']:.0f} ms for the history.\n"
    yield "| | | fastest | median | slowest | goal |"
    yield "|---|---|---|---|---|---|"
    for (what, name), times in found.reads.items():
        judged = what == "history" and name == "perfdash"
        goal = verdict(met=median(times) <= GOALS["history"]) if judged else ""
        text = " | ".join(
            f"{1000 * each:.1f} ms" for each in (min(times), median(times), max(times))
        )
        yield f"| {READ[what]} | {name} | {text} | {goal} |"


def _sizes(sizes: Sequence[Size]) -> Iterator[str]:
    yield f"Names of tests have {len(data.NAMES[0])} letters. Goal: at most {GOALS['bytes']} with all else, in runs of 1,000 values.\n"
    yield "| | values | table of values | its indexes | together | with runs and all else | goal |"
    yield "|---|---|---|---|---|---|---|"
    last = {each.what: each for each in sizes}
    for each in last.values():
        what = f"perfdash, {WORDS[each.what]}" if each.what in WORDS else each.what
        together = each.heap + each.indexes
        yield (
            f"| {what} | {each.values:,} | {each.heap:.0f} | {each.indexes:.0f} | {together:.0f} |"
            f" {each.everything:.0f} | {verdict(met=each.everything <= GOALS['bytes']) if each.what == 'wide' else ''} |"
        )


def _grown(found: Found) -> Iterator[str]:
    yield "| values stored | 10,000 values in one request | a single run | history as JSON | result page of 10 builds |"
    yield "|---|---|---|---|---|"
    for each in found.grown:
        times = (each.insert, each.single, each.history, each.page)
        yield f"| {each.values:,} | {' | '.join(f'{1000 * time:,.0f} ms' for time in times)} |"
