import io

import pyarrow.parquet as pq
import pytest

from campaigns.findings import compute
from campaigns.models import Attempt, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.results import parquet
from campaigns.results.parquet import _array, _type, parquet_pieces
from campaigns.tests.browsing import person
from campaigns.tests.findings.compute.conftest import interleaved, published, store, target
from campaigns.tests.metrics import metric
from perfdash import __version__

__all__ = ["interleaved", "person", "published", "target"]
pytestmark = pytest.mark.django_db


def table_of(campaign):
    return pq.read_table(io.BytesIO(b"".join(parquet_pieces(campaign))))


def test_a_row_a_run_and_metric_with_levels_values_and_instants(interleaved):
    campaign = interleaved([5, 10], engine=["futures", "asyncio"])
    store(campaign, lambda run: run.position / 3)
    first = Attempt.objects.get(run__campaign=campaign, run__position=1)
    Measurement.objects.create(
        attempt=first, metric=metric("rate", "files/s", lower_is_better=None), value=4.5, bound=True
    )

    table = table_of(campaign)

    rows = table.to_pylist()
    assert [(row["run"], row["metric"]) for row in rows[:3]] == [
        (1, "duration"), (1, "rate"), (2, "duration"),
    ]  # fmt: skip
    assert {(row["concurrency"], row["engine"]) for row in rows} == {
        (level, engine) for level in (5, 10) for engine in ("futures", "asyncio")
    }
    assert [row["value"] for row in rows if row["metric"] == "duration"] == [
        position / 3 for position in range(1, 13)
    ]
    rate = rows[1]
    assert (rate["unit"], rate["lower_is_better"], rate["value"]) == ("files/s", None, 4.5)
    assert (rate["bound"], rate["censored"], rate["fidelity"]) == (True, False, "raw")
    assert (rate["worker"], rate["session"], rate["state"]) == ("import", 1, "done")
    assert rate["started_at"].isoformat() == "2026-01-01T00:01:00+00:00"


def test_columns_have_types_of_their_own(interleaved):
    schema = table_of(interleaved([5, 10], engine=["futures", "asyncio"])).schema

    kinds = {field.name: str(field.type) for field in schema}
    assert list(kinds) == [
        "campaign", "run", "cell", "concurrency", "engine", "block", "repetition", "session",
        "purpose", "state", "reason", "attempts", "started_at", "finished_at", "metric", "unit",
        "lower_is_better", "value", "censored", "bound", "fidelity", "excluded", "excluded_by",
        "excluded_reason", "worker", "simulator",
    ]  # fmt: skip
    assert (kinds["concurrency"], kinds["engine"]) == ("int64", "string")
    assert (kinds["value"], kinds["excluded"]) == ("double", "bool")
    assert kinds["started_at"] == kinds["finished_at"] == "timestamp[us, tz=UTC]"


def test_the_file_says_what_it_is_of(published):
    compute.analyse(published)

    about = table_of(published).schema.metadata

    assert about[b"perfdash.campaign"].decode() == str(published.pk)
    assert about[b"perfdash.name"] == b"Pulp 3 sync: download_concurrency"
    assert about[b"perfdash.question"].startswith(b"Which download_concurrency")
    assert about[b"perfdash.data_hash"].startswith(b"v1:")
    assert about[b"perfdash.version"].decode() == __version__


def test_runs_without_a_value_and_excluded_ones_are_not_left_out(interleaved, person):
    campaign = interleaved([5, 10])
    store(campaign, lambda run: 1.0, failing=(2,))
    lifecycle.exclude(campaign.runs.get(position=3), person, "another sync")
    Run.objects.filter(campaign=campaign, position=4).update(
        state=Run.State.PLANNED, finished_at=None
    )

    rows = table_of(campaign).to_pylist()

    assert [row["run"] for row in rows] == [1, 2, 3, 4, 5, 6]
    told = [(row["state"], row["metric"], row["value"], row["excluded"]) for row in rows[1:4]]
    assert told == [
        ("failed", None, None, False),
        ("done", "duration", 1.0, True),
        ("planned", None, None, False),
    ]
    assert rows[1]["reason"] == "refused"
    assert (rows[2]["excluded_by"], rows[2]["excluded_reason"]) == (
        person.username, "another sync",
    )  # fmt: skip


def test_the_accepted_attempt_stands_for_a_run_with_a_failed_one(interleaved):
    campaign = interleaved([5])
    store(campaign, lambda run: 2.0)
    run = campaign.runs.get(position=1)
    failed = Attempt.objects.create(
        run=run, number=2, state="failed", pool="", token=0, claimed_at=run.started_at
    )
    Measurement.objects.create(attempt=failed, metric=metric(), value=99.0)

    rows = [row for row in table_of(campaign).to_pylist() if row["run"] == 1]

    assert [(row["metric"], row["value"]) for row in rows] == [("duration", 2.0)]


def test_large_campaigns_are_written_in_groups(interleaved, monkeypatch):
    campaign = interleaved([5, 10])
    store(campaign, lambda run: float(run.position))
    monkeypatch.setattr(parquet, "ROW_GROUP", 4)

    pieces = list(parquet_pieces(campaign))

    file = pq.ParquetFile(io.BytesIO(b"".join(pieces)))
    assert (len(pieces), file.num_row_groups) == (3, 2)
    assert file.read()["value"].to_pylist() == [1, 2, 3, 4, 5, 6]


def test_a_campaign_without_runs_is_an_empty_table(interleaved):
    campaign = interleaved([5, 10])
    campaign.runs.all().delete()

    assert table_of(campaign).num_rows == 0


def test_a_factor_called_like_a_column_gets_an_underscore(interleaved):
    campaign = interleaved([5, 10], engine=["futures", "asyncio"])
    for name, other in (("concurrency", "Value"), ("engine", "state")):
        campaign.factors.filter(name=name).update(name=other)

    assert [name for name in table_of(campaign).schema.names if name.endswith("_")] == [
        "Value_", "state_",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "kind", "values"),
    [
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        ([1, "a", None], "string", ["1", "a", None]),
        ([True, 1], "string", ["true", "1"]),
        ([True, False], "bool", [True, False]),
        ([10**30, 1], "string", [str(10**30), "1"]),
        ([-(2**63), 1], "string", [str(-(2**63)), "1"]),
        ([2**53 + 1, 1.5], "string", [str(2**53 + 1), "1.5"]),
        ([["a"], ["b", 1]], "string", ['["a"]', '["b", 1]']),
        (["a", None], "string", ["a", None]),
        ([None], "string", [None]),
    ],
)
def test_a_column_of_levels_has_one_type(levels, kind, values):
    column = _array(levels, _type(levels))

    assert (str(column.type), column.to_pylist()) == (kind, values)
