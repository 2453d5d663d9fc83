import csv
import io

import pyarrow.parquet as pq
import pytest

from campaigns.models import Measurement

pytestmark = pytest.mark.django_db


def test_runs_are_written_as_csv(perfdash, published):
    ran = perfdash("export", published.pk)

    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert ran.code == 0, ran.err
    assert len(rows) == 18
    assert rows[0]["concurrency"] == "3"


def test_everything_is_written_as_json(perfdash, published):
    result = perfdash("export", published.pk, "--json").data

    assert result["definition"]["question"] == published.question
    assert len(result["runs"]) == 18
    assert result["runs"][0]["measurements"]["duration"]["unit"] == "s"


def test_runs_are_written_as_a_table_of_typed_columns(perfdash, published, tmp_path):
    file = tmp_path / "runs.parquet"
    Measurement.objects.filter(attempt__run__position=1).update(censored=True)

    ran = perfdash("export", published.pk, "-o", file)

    assert ran.code == 0, ran.err
    table = pq.read_table(file)
    assert table.num_rows == 18
    assert str(table.schema.field("concurrency").type) == "int64"
    assert str(table.schema.field("started_at").type) == "timestamp[us, tz=UTC]"
    assert set(table["unit"].to_pylist()) == {"s"}
    assert table["censored"].to_pylist().count(True) == 1


def test_what_does_not_fit_the_place_is_told(perfdash, published, tmp_path):
    parquet = perfdash("export", published.pk, "--json", "--format", "parquet")
    nowhere = perfdash("export", published.pk, "-o", tmp_path / "no" / "file.csv")
    unknown = perfdash("export", 77)
    odd = perfdash("export", published.pk, "--format", "xlsx")

    assert [parquet.code, nowhere.code, unknown.code, odd.code] == [2, 2, 3, 2]
    assert "cannot be written: No such file" in nowhere.words
