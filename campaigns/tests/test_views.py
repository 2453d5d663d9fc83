"""The views that others read: they stay as they are, tell what perfdash tells, and no more."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import NotSupportedError, ProgrammingError, connection, transaction
from django.db.migrations.state import ProjectState
from django.db.models.functions import Now

from campaigns.execution import dispatch
from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.findings.comparison_rows import comparison_rows
from campaigns.migrations._views import VIEWS, drop_views, make_views
from campaigns.models import Attempt, Campaign, EnvironmentFact, Finding, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.results.run_stream import measured_runs
from campaigns.tests.findings.compute.conftest import interleaved, paired, published, store, target
from campaigns.tests.metrics import metric
from campaigns.tests.views_promised import COLUMNS
from campaigns.tests.watched import watch

__all__ = ["interleaved", "paired", "published", "target"]
pytestmark = pytest.mark.django_db

JSONB = 3802
NEWEST = 9
"""The state of the views that the newest migration makes."""
GUIDE = Path(settings.BASE_DIR, "docs/how-to/grafana.md").read_text()
WIDER = "ALTER TABLE campaigns_run ALTER COLUMN state TYPE varchar(30)"
RECIPE, *PANELS = re.findall(r"```sql\n(.*?)```", GUIDE, re.DOTALL)


def read(query, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        head = [(column.name, column.type_code == JSONB) for column in cursor.description]
        return [
            {name: json.loads(value) if of_json and value else value
             for (name, of_json), value in zip(head, row, strict=True)}
            for row in cursor.fetchall()
        ]  # fmt: skip


def everything_in(view):
    return read(f"SELECT * FROM perfdash_views.{view}")  # noqa: S608  a name of ours


@pytest.fixture
def campaign(interleaved):
    """Twelve runs of two factors: one failed, one excluded, and a value of a failed attempt."""
    campaign = interleaved([5, 10], engine=["futures", "asyncio"])
    store(campaign, lambda run: run.position / 3, failing=(2, 4))
    failed = campaign.runs.get(position=4)
    for number in (1, 2):
        attempt = Attempt.objects.create(
            run=failed, number=number, state="failed", pool="", token=0,
            claimed_at=failed.campaign.launched_at, worker="slow",
        )  # fmt: skip
        Measurement.objects.create(
            attempt=attempt, metric=metric(), value=60.0 + number, censored=True
        )
    lifecycle.exclude(campaign.runs.get(position=3), None, "another sync")
    return campaign


def test_their_columns_are_those_that_were_promised():
    found = read(
        "SELECT table_name, column_name, udt_name FROM information_schema.columns"
        " WHERE table_schema = 'perfdash_views' ORDER BY table_name, ordinal_position"
    )

    views: dict[str, list[str]] = {}
    for row in found:
        views.setdefault(row["table_name"], []).append(f"{row['column_name']} {row['udt_name']}")
    assert views == {name: columns.split(", ") for name, columns in COLUMNS.items()}
    assert sorted(VIEWS) == sorted(views)


def test_the_guide_names_every_column():
    lines = {line.split("`")[1]: line for line in GUIDE.splitlines() if line.startswith("| `")}

    assert sorted(lines) == sorted(COLUMNS)
    said = dict(lines)
    said["runs"] += said["cells"]
    said["measurements"] += said["runs"]
    for name, columns in COLUMNS.items():
        for column in columns.split(", "):
            assert f"`{column.split()[0]}`" in said[name], (name, column)


def test_values_are_those_that_stand_for_runs(campaign):
    rows = read(
        "SELECT * FROM perfdash_views.measurements WHERE campaign_id = %s ORDER BY run", campaign.pk
    )

    expected = [
        (run.row.position, name, value.value, value.unit, value.censored, value.worker,
         run.state, bool(run.row.excluded_by), run.row.levels, run.session, run.row.started_at)
        for run in measured_runs(campaign)
        for name, value in run.values.items()
    ]  # fmt: skip
    assert [
        (row["run"], row["metric"], row["value"], row["unit"], row["censored"], row["worker"],
         row["state"], row["excluded"], row["levels"], row["session"], row["started_at"])
        for row in rows
    ] == expected  # fmt: skip
    assert len(rows) == 11
    assert (rows[2]["run"], rows[2]["value"], rows[2]["worker"]) == (4, 62.0, "slow")


def test_runs_have_their_cell_in_words_and_their_exclusion(campaign):
    rows = read(
        "SELECT * FROM perfdash_views.runs WHERE campaign_id = %s ORDER BY run", campaign.pk
    )

    runs = list(campaign.runs.select_related("cell", "block").order_by("position"))
    assert [row["run_id"] for row in rows] == [run.pk for run in runs]
    first, levels = rows[0], runs[0].cell.levels_by_factor
    assert first["label"] == f"concurrency {levels['concurrency']}, engine {levels['engine']}"
    assert [row["attempts"] for row in rows[:4]] == [1, 0, 1, 2]
    assert [row["excluded_reason"] for row in rows[:4]] == [None, None, "another sync", None]


def test_try_outs_are_in_none_of_them(campaign):
    Run.objects.filter(campaign=campaign, position=1).update(purpose=Run.Purpose.TRIAL)
    EnvironmentFact.objects.create(
        attempt=Attempt.objects.get(run__campaign=campaign, run__position=1),
        side="target", name="version", value="1",
    )  # fmt: skip

    for view in ("runs", "measurements", "attempts", "environment"):
        assert 1 not in {row["run"] for row in everything_in(view)}, view
    assert read("SELECT runs FROM perfdash_views.campaigns") == [{"runs": 11}]


def test_summaries_and_answers_are_those_of_the_findings(campaign):
    compute.analyse(campaign)
    Campaign.objects.update(state=Campaign.State.FINISHED)

    rows = read(
        "SELECT * FROM perfdash_views.cell_summaries WHERE metric = 'duration' ORDER BY cell"
    )
    (told,) = everything_in("campaigns")

    found = {each.name: each for each in Finding.objects.filter(campaign=campaign)}
    cells = found["cells"].result["cells"]
    assert [row["levels"] for row in rows] == [cell["levels"] for cell in cells]
    for row, cell in zip(rows, cells, strict=True):
        summary = cell["summary"]
        assert (row["n"], row["n_failed"]) == (summary["n_ok"], summary["n_failed"])
        assert (row["gmean"], row["sd"]) == (summary["gmean"], summary["sd"])
        interval = summary["gmean_ci"]
        assert [row["gmean_low"], row["gmean_high"]] == list(interval or [None, None])
    assert told["answered_at"] == found["answer"].computed_at
    assert told["data_hash"] == found["answer"].data_hash
    assert (told["runs"], told["runs_done"], told["runs_failed"]) == (12, 10, 2)


@pytest.mark.parametrize("kind", ["levels", "pairs"])
def test_verdicts_are_those_that_are_offered_as_csv(kind, published, paired):
    campaign = published
    if kind == "pairs":
        campaign = paired(["repo/files=1", "repo/files=2"], 4)
        store(campaign, lambda run: 10.0 + run.position / 3)
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    compute.analyse(campaign)

    rows = read("SELECT * FROM perfdash_views.verdicts WHERE campaign_id = %s", campaign.pk)

    head, *lines = comparison_rows(campaign)
    expected = [dict(zip(head, line, strict=True)) for line in lines]
    assert rows
    for row, line in zip(rows, expected, strict=True):
        for level in ("baseline", "candidate"):
            assert row[level] == str(line[level])
        names = ("factor", "verdict", "reason", "change_pct", "low_pct", "high_pct", "p", "p_holm",
                 "model", "n", "required_n", "detectable_pct", "metric", "unit", "data_hash")  # fmt: skip
        assert {name: row[name] for name in names} == {name: line[name] for name in names}
        where = ", ".join(f"{name}={level}" for name, level in row["at_levels"].items())
        assert where == line["where"]


def answer_read():
    (row,) = read("SELECT answer, answer_caveat FROM perfdash_views.campaigns")
    return row["answer"], row["answer_caveat"]


def test_the_answer_is_the_one_that_pages_show(published):
    for excluded in (False, True):
        if excluded:
            lifecycle.exclude(published.runs.get(position=1), None, "another sync")
        compute.analyse(published)

        shown = answers_of([published.pk])[published.pk]

        assert answer_read() == (shown.sentence, shown.caveat)
        assert ("2 runs" in shown.sentence) is excluded


def test_an_archived_or_cancelled_campaign_keeps_its_answer(published):
    compute.analyse(published)
    answer = answer_read()

    Campaign.objects.update(archived_at=Now())
    assert answer_read() == answer
    Campaign.objects.update(state=Campaign.State.CANCELLED)
    assert answer_read() == answer


def test_a_campaign_that_has_ended_has_no_answer_until_it_is_analysed(published):
    Campaign.objects.update(state=Campaign.State.RUNNING)
    published.runs.filter(position=1).update(state=Run.State.CANCELLED)
    compute.analyse(published)

    Campaign.objects.update(state=Campaign.State.CANCELLING)
    dispatch.dispatch()

    published.refresh_from_db()
    assert published.state == Campaign.State.CANCELLED
    assert answer_read() == (None, None)
    compute.analyse(published)
    assert all(answer_read())


def test_nobody_judges_a_campaign_that_goes_on(published):
    compute.analyse(published)
    Campaign.objects.filter(pk=published.pk).update(state=Campaign.State.PAUSED)

    assert read("SELECT answer FROM perfdash_views.campaigns") == [{"answer": None}]
    assert not read("SELECT 1 FROM perfdash_views.verdicts")


def change(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def as_grafana(schema, name):
    """Count the rows that the role of the recipe reads."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE grafana")
        cursor.execute(f"SELECT count(*) FROM {schema}.{name}")  # noqa: S608  names of ours
        (count,) = cursor.fetchone()
        cursor.execute("RESET ROLE")
        return count


def test_the_role_of_the_recipe_reads_the_views_and_no_table(campaign):
    with connection.cursor() as cursor:
        cursor.execute(RECIPE)

    assert {view: as_grafana("perfdash_views", view) for view in VIEWS} == {
        view: len(everything_in(view)) for view in VIEWS
    }
    tables = read("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert len(tables) > 30
    for table in tables:
        with pytest.raises(ProgrammingError, match="permission denied"):
            as_grafana("public", table["tablename"])


def test_a_column_under_a_view_is_changed_and_the_role_reads_on(campaign):
    state = ProjectState()
    with connection.cursor() as cursor:
        cursor.execute(RECIPE)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(NotSupportedError, match="used by a view"), transaction.atomic():
        change(WIDER)

    with connection.schema_editor(atomic=False) as editor:
        drop_views(NEWEST).database_forwards("campaigns", editor, state, state)
        change(WIDER)
        make_views(NEWEST).database_forwards("campaigns", editor, state, state)

    assert as_grafana("perfdash_views", "runs") == 12


def test_going_back_takes_them_away(campaign):
    state = ProjectState()
    with connection.schema_editor(atomic=False) as editor:
        make_views(NEWEST).database_backwards("campaigns", editor, state, state)

    assert not read("SELECT 1 FROM pg_views WHERE schemaname = 'perfdash_views'")


def test_no_secret_and_no_address_is_in_them(campaign):
    server = campaign.target
    server.username, server.password, server.notes = "admin", "correct horse", "rack 7"
    server.save()
    compute.analyse(campaign)

    text = "".join(str(everything_in(view)) for view in VIEWS)

    assert "concurrency 5" in text
    for secret in (server.password, "correct horse", "127.0.0.1", "rack 7", "admin"):
        assert secret not in text


OF_CAMPAIGNS = [query for query in PANELS if "perfdash_views.trend_" not in query]
"""Those of lines are tried in trends/test_views.py."""


@pytest.mark.parametrize("query", OF_CAMPAIGNS, ids=["runs", "averages", "worse", "groups"])
def test_the_panels_of_the_guide_show_something(query, campaign):
    campaign.target.name = "sandbox"
    campaign.target.save()
    watch(campaign.runs.get(position=1), 0.5)
    compute.analyse(campaign)
    Campaign.objects.update(
        state=Campaign.State.FINISHED, tags=["nightly"], closed_at="2026-01-02T00:00Z"
    )
    shown = re.sub(
        r"\$__timeFilter\((.*?)\)", r"\1 BETWEEN '2026-01-01T00:00Z' AND '2099-01-01T00:00Z'", query
    )

    rows = read(shown)

    assert rows or "'worse'" in query
    assert not rows or {"time"} < set(rows[0])
