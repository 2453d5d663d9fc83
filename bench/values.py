"""Store ten million values, and report their bytes, their queries, vacuum, and the migration of a table of 0.1.0.

In LNT's shape: runs of 100 values. Ten campaigns of 10,000 runs, the first through the importing of submissions,
the others copied by the database. Sizes are those of PostgreSQL's files; all tables are counted.
"""

import argparse
import logging
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench.publishing import add_write, publish, written_by

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when numpy is loaded
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")

GOAL_BYTES, GOAL_A_SECOND = 100, 20_000
VALUES_A_RUN = 100
BEFORE, AFTER = "0018_listed_answers", "0019_stored_metrics"
TABLE = "campaigns_measurement"
BUILDS, TESTS = 20, 1_000
A_REQUEST = 1_000
"""Runs: a request may have 100,000 values."""
COUNT = "SELECT count(*) FROM campaigns_measurement"
ALL = "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables"
SIZES = """
    SELECT relname, pg_relation_size(relid), pg_indexes_size(relid),
        pg_total_relation_size(relid) - pg_relation_size(relid) - pg_indexes_size(relid)
    FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 6
"""
OF_CAMPAIGN = (
    "SELECT a.id FROM campaigns_attempt a JOIN campaigns_run r ON r.id = a.run_id"
    " WHERE r.campaign_id = %s"
)


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes of the table of values and its indexes, and of all tables. of: the largest ones."""

    values: int
    heap: int
    indexes: int
    everything: int
    of: Sequence[tuple[str, int, int, int]]


@dataclass(slots=True)
class Found:
    """What was measured.

    queries: milliseconds of the database's processor, by number of stored values and by what was asked.
    appended: processor seconds of this process and of the database for BUILDS, by number of stored values.
    """

    sizes: dict[str, Size] = field(default_factory=dict)
    queries: dict[int, dict[str, float]] = field(default_factory=dict)
    appended: dict[int, tuple[float, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def main() -> int:
    """Store, measure, and print the page, or write it."""
    import django
    from django.core.management import call_command

    options = arguments()
    django.setup()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    found = measure(options)
    page = "\n".join(markdown(found, f"{platform.machine()}, {os.cpu_count()} processors")) + "\n"
    publish(page, options.write)
    return 0


def measure(options: argparse.Namespace) -> Found:
    """Store the first campaign, then copies of it; look at both states, delete and store again, migrate."""
    from bench.large.bulk import copy_campaign

    found = Found()
    sql("SET max_parallel_workers_per_gather = 0")  # its workers' processor time would be missed
    tell("the first campaign")
    campaign = first_campaign(options.runs)
    look(found, campaign)
    tell("copies")
    found.seconds["copies"] = timed(partial(copy_campaign, campaign, options.campaigns - 1))
    found.seconds["vacuum after the copies"] = timed(partial(sql, f"VACUUM ANALYZE {TABLE}"))
    found.sizes["stored"] = size()
    look(found, campaign)
    tell("vacuum")
    vacuum(found, campaign)
    if not options.no_migration:
        migrate(found)
    return found


def first_campaign(runs: int) -> int:
    """Import a campaign of two cells, analyse it, and return its number."""
    from django.db import transaction

    from bench.submissions.data import NAMES, began, values_of
    from campaigns.findings.compute import analyse
    from campaigns.results.importing.document import read_submission
    from campaigns.results.importing.receiving import append, create

    names = NAMES[:VALUES_A_RUN]

    def part(first: int) -> list[dict[str, Any]]:
        return [
            {
                "tags": {"machine": "a" if number % 2 else "b"},
                "values": dict(zip(names, values_of(number % 100), strict=False)),
                "started_at": began(number).isoformat(),
            }
            for number in range(first, min(first + A_REQUEST, runs))
        ]

    document = {
        "id": "values",
        "campaign": {"question": f"Do {VALUES_A_RUN} tests stay as fast?"},
        "metrics": {name: {"unit": "s", "lower_is_better": True} for name in names},
        "runs": part(0),
    }
    campaign = create(read_submission(document), None).campaign
    for first in range(A_REQUEST, runs, A_REQUEST):
        with transaction.atomic():
            append(campaign.pk, read_submission({"runs": part(first)}, appended=True), None)
    analyse(campaign)
    return campaign.pk


def look(found: Found, campaign: int) -> None:
    """Measure queries, and builds of 1,000 values that are appended, with what is stored now."""
    sql("VACUUM ANALYZE")
    values = one(COUNT)
    tell(f"queries and builds at {values:,} values")
    found.queries[values] = {what: cost(ask) for what, ask in queries(campaign).items()}
    tell(str(found.queries[values]))
    found.appended[values] = append_builds(f"builds at {values}")
    tell(str(found.appended[values]))


def queries(campaign: int) -> dict[str, Callable[[], object]]:
    """Return what pages and REST calls ask of the table."""
    from campaigns.models import Campaign, Measurement, Run
    from campaigns.planning.metrics import metric_of
    from campaigns.results import history, rows, run_stream, storage, values

    row = Campaign.objects.get(pk=campaign)
    metric = row.primary_metric
    run = Run.objects.filter(campaign=row).order_by("position")[5]
    runs = list(range(run.pk, run.pk + 50))
    every = Measurement.objects.filter(attempt__run__campaign=row)
    listed = every.select_related("attempt__run__cell", "metric").order_by("pk")
    return {
        "history of one metric, all runs": lambda: history.history_of(row, metric, most=10_000),
        "values of one metric for the analysis, all runs": lambda: values._values(row, [metric]),
        "values of one metric, 50 runs of a list": lambda: rows.accepted_values(row, metric, runs),
        "all values of one run": lambda: list(Measurement.objects.filter(attempt__run=run)),
        "REST: first 100 values": lambda: list(listed[:101]),
        "REST: first 100 values of one metric": lambda: list(listed.of(metric)[:101]),
        "unit of a metric without values": lambda: metric_of(row, "nothing"),
        "units of all metrics, for exports": lambda: run_stream.units_of(row),
        "view of one metric, all runs, as Grafana reads it": lambda: sql(
            "SELECT started_at, value FROM perfdash_views.measurements"
            " WHERE campaign_id = %s AND metric = %s ORDER BY 1",
            campaign,
            metric,
        ),
        "use of space by campaigns": lambda: storage.values_by_campaign(),
    }


def append_builds(name: str) -> tuple[float, float]:
    """Append builds of 1,000 values to a campaign, one a transaction, as a REST call does."""
    from django.db import transaction

    from bench.submissions import data
    from campaigns.results.importing.document import read_submission
    from campaigns.results.importing.receiving import append, create

    campaign = create(read_submission(data.wide(name, range(1))), None).campaign
    documents = [{"runs": [data.wide_run(build)]} for build in range(1, BUILDS + 1)]
    worked, begun = database_seconds(), process_time()
    for document in documents:
        with transaction.atomic():
            append(campaign.pk, read_submission(document, appended=True), None)
    return process_time() - begun, database_seconds() - worked


def vacuum(found: Found, campaign: int) -> None:
    """Delete the values of the last campaign, and store as many again: is their space used?"""
    last = one("SELECT max(id) FROM campaigns_campaign WHERE name NOT LIKE %s", "builds at%")
    attempts = [row[0] for row in rows_of(OF_CAMPAIGN, last)]
    first = [row[0] for row in rows_of(OF_CAMPAIGN, campaign)]
    sql("DELETE FROM campaigns_measurement WHERE attempt_id = ANY(%s)", attempts)
    found.sizes["a tenth deleted"] = size()
    found.seconds["vacuum after a tenth was deleted"] = timed(partial(sql, f"VACUUM {TABLE}"))
    sql(
        "INSERT INTO campaigns_measurement (attempt_id, value, metric_id, censored, bound)"
        " SELECT g.last, value, metric_id, censored, bound"
        " FROM unnest(%s::bigint[], %s::bigint[]) AS g (first, last)"
        " JOIN campaigns_measurement ON attempt_id = g.first ORDER BY g.last, metric_id",
        sorted(first),
        sorted(attempts),
    )
    found.seconds["vacuum after as many were stored again"] = timed(
        partial(sql, f"VACUUM ANALYZE {TABLE}")
    )
    found.sizes["as many stored again"] = size()


def migrate(found: Found) -> None:
    """Migrate to the table of 0.1.0, with the metric's text in each row, and back."""
    from django.core.management import call_command

    for what, name in (("back to texts", BEFORE), ("to keys", AFTER)):
        tell(f"migration {what}")
        found.seconds[f"migration {what}"] = timed(
            partial(call_command, "migrate", "campaigns", name, verbosity=0)
        )
        found.sizes[f"after the migration {what}"] = size()


def size() -> Size:
    """Return the bytes that are used now."""
    heap, indexes = rows_of("SELECT pg_relation_size(%s), pg_indexes_size(%s)", TABLE, TABLE)[0]
    values = one(COUNT)
    result = Size(values, heap, indexes, one(ALL), [tuple(row) for row in rows_of(SIZES)])
    tell(str(result))
    return result


def cost(ask: Callable[[], object]) -> float:
    """Return the least milliseconds of the database's processor of five times."""
    ask()
    results = []
    for _ in range(5):
        begun = database_seconds()
        ask()
        results.append(1000 * (database_seconds() - begun))
    return min(results)


def database_seconds() -> float:
    """Return how long the process of the database that serves this connection has worked."""
    return (
        int(Path(f"/proc/{one('SELECT pg_backend_pid()')}/schedstat").read_text().split()[0]) / 1e9
    )


def sql(statement: str, *values: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        if cursor.description:
            cursor.fetchall()


def rows_of(statement: str, *values: Any) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall())


def one(statement: str, *values: Any) -> Any:
    return rows_of(statement, *values)[0][0]


def timed(work: Callable[[], object]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun


def tell(what: str) -> None:
    print(f"{perf_counter() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


BEGUN = perf_counter()
INTRODUCTION = """# What stored values take, and what grows

{written_by}

Figures of one machine ({machine}), with other work going on
beside it: bytes and the database's processor time last, seconds do not.

A value is a row of `campaigns_measurement`: the attempt, the number of its metric, the value, and whether it is censored or
bound. Name, unit, direction and fidelity of a metric are stored once, in `campaigns_storedmetric`. Runs here have
{a_run} values (LNT's shape), each campaign has {runs:,} runs.
"""
GROWS = """
## What grows with what

| this | grows with | and shrinks |
|---|---|---|
| values, and their index | each value of each attempt | never: perfdash deletes no values but those of the try-outs of a draft |
| metrics | each new combination of name, unit, direction and fidelity; not with runs | never. A number of a build in the name of a metric makes a new one each time: put it into a level or a tag |
| runs and attempts | each run; some 0.7 KB with their indexes, which is most of the space where a run has one value | never |
| facts of the environment, proofs, phases, settings in force | each attempt that perfdash measures | never |
| raw samples, series, distributions | the samples of each attempt: most of the space where perfdash measures itself | raw samples by the [retention](../how-to/housekeeping.md) of a team |
| findings | cells and runs of a campaign; replaced by each analysis | with the next analysis |

Values are appended and read by attempt, so that most of what is asked of a campaign does not grow with the others. One row of
the table of queries does, since PostgreSQL reads rows of other campaigns for it: the view of one metric. The use of space grows
with the number of runs. Nothing deletes values by age: the table is not partitioned, since there would be no partition to drop,
and a query of a campaign would look into each of them. Deletion of raw samples leaves free space in their table, which is used again;
autovacuum has to run.
"""


def markdown(found: Found, machine: str) -> Iterator[str]:
    """Yield the lines of the page."""
    last = found.sizes["stored"]
    runs = one("SELECT max(c) FROM (SELECT count(*) c FROM campaigns_run GROUP BY campaign_id) x")
    yield INTRODUCTION.format(
        written_by=written_by("values"), machine=machine, a_run=VALUES_A_RUN, runs=runs
    )
    yield "## Bytes a value\n"
    everything = last.everything / last.values
    word = "met" if everything <= GOAL_BYTES else "**missed**"
    yield f"Goal: at most {GOAL_BYTES} with runs, attempts and all other tables: {everything:.0f}, {word}.\n"
    yield "| | values | table | indexes | together | everything |"
    yield "|---|---|---|---|---|---|"
    for what, each in found.sizes.items():
        parts = (each.heap, each.indexes, each.heap + each.indexes, each.everything)
        text = " | ".join(f"{part / each.values:.1f}" for part in parts)
        yield f"| {what} | {each.values:,} | {text} |"
    yield f"\nThe largest tables, with {last.values:,} values stored, in MB:\n"
    yield "| | table | indexes | TOAST and maps |"
    yield "|---|---|---|---|"
    for name, *bytes_of in last.of:
        yield f"| `{name}` | {' | '.join(f'{each / 1e6:,.1f}' for each in bytes_of)} |"
    yield "\n## Queries\n"
    yield "Milliseconds of the database's processor, the least of five times.\n"
    few, many = sorted(found.queries)
    yield f"| | {few:,} values stored | {many:,} |"
    yield "|---|---|---|"
    for what, milliseconds in found.queries[few].items():
        yield f"| {what} | {milliseconds:.2f} | {found.queries[many][what]:.2f} |"
    yield "\n## Builds of 1,000 values, a transaction each\n"
    yield f"Without HTTP. Goal: {GOAL_A_SECOND:,} values a second of processor.\n"
    yield "| values stored | perfdash, a build | database | values a second of both |"
    yield "|---|---|---|---|"
    for values, (own, database) in found.appended.items():
        rate = BUILDS * TESTS / (own + database)
        missed = "" if rate >= GOAL_A_SECOND else " **missed**"
        yield (
            f"| {values:,} | {1000 * own / BUILDS:.1f} ms | {1000 * database / BUILDS:.1f} ms |"
            f" {rate:,.0f}{missed} |"
        )
    yield "\n## Vacuum and migration\n"
    yield "| | seconds |"
    yield "|---|---|"
    for what, seconds in found.seconds.items():
        yield f"| {what} | {seconds:.1f} |"
    yield GROWS.rstrip()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench values", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="of a campaign")
    parser.add_argument("--campaigns", type=int, default=10)
    parser.add_argument("--no-migration", action="store_true", help="do not migrate back and forth")
    add_write(parser, "values")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
