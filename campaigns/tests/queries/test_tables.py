import io

import pyarrow.parquet as pq
import pytest

from campaigns.queries.tables import _of_one_type, parquet_of
from campaigns.tests.analysis.conftest import interleaved, store, target

__all__ = ["interleaved", "target"]
pytestmark = pytest.mark.django_db


def table_of(campaign):
    return pq.read_table(io.BytesIO(parquet_of(campaign)))


def test_a_row_a_run_with_levels_and_values(interleaved):
    campaign = interleaved([5, 10], engine=["futures", "asyncio"])
    store(campaign, lambda run: float(run.position), failing=(2,))

    table = table_of(campaign)

    rows = table.to_pylist()
    assert [row["position"] for row in rows] == list(range(1, 13))
    assert {(row["concurrency"], row["engine"]) for row in rows} == {
        (level, engine) for level in (5, 10) for engine in ("futures", "asyncio")
    }
    assert (rows[0]["duration"], rows[0]["state"]) == (1.0, "done")
    assert (rows[1]["duration"], rows[1]["state"]) == (None, "failed")
    assert table.schema.metadata[b"question"] == b"How many connections?"


def test_a_campaign_without_runs_is_an_empty_table(interleaved):
    campaign = interleaved([5, 10])
    campaign.runs.all().delete()

    assert table_of(campaign).num_rows == 0


@pytest.mark.parametrize(
    ("levels", "kind", "values"),
    [
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        ([1, "a", None], "string", ["1", "a", None]),
        ([True, 1], "string", ["True", "1"]),
        ([10**30, 1], "string", [str(10**30), "1"]),
        (["a", None], "string", ["a", None]),
        ([None], "null", [None]),
    ],
)
def test_a_column_of_levels_has_one_type(levels, kind, values):
    column = _of_one_type(levels)

    assert (str(column.type), column.to_pylist()) == (kind, values)
