"""REST resources of what was observed in a run."""

import io

import pytest
from pyarrow import parquet

from campaigns.results.watched import store_watched
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.test_views import everything_in
from campaigns.tests.watched import REFUSED, machine, series, watch, watched

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(target, owner):
    campaign = launched(target, owner)
    store(campaign, lambda run: 10.0 + run.position / 100)
    return finish(campaign).runs.order_by("position")[0]


def test_what_was_observed_in_a_run(api, run):
    watch(run, 0.5, others=[REFUSED])
    path = f"campaigns/{run.campaign_id}/runs/{run.position}/watched"
    status, body = api.get(path)
    assert status == 200, body
    assert [each["state"] for each in body["sources"]] == ["whole", "not"]
    assert body["binding"]["word"] == "unknown"  # the database was to be watched, too
    cpu = next(each for each in body["series"] if each["quantity"] == "cpu.user")
    assert (cpu["start_seconds"], cpu["step_seconds"], len(cpu["values"])) == (-5.0, 1.0, 35)
    assert body["events"][0]["text"] == "dnf-makecache ran"
    assert {each["phase"] for each in body["summaries"]} == {"measure", "steady"}
    _, body = api.get(path, points=10, attempt=1)
    assert max(len(each["values"]) for each in body["series"]) == 10
    assert api.get(path, attempt=7)[0] == 404
    assert api.get(path, points=10_000)[0] == 400
    assert api.get(path, points="many")[0] == 400


def test_a_run_without_watches_has_no_sources(api, run):
    _, body = api.get(f"campaigns/{run.campaign_id}/runs/{run.position}/watched")
    assert (body["sources"], body["series"], body["binding"]) == ([], [], None)


def test_files_of_every_sample(api, run):
    attempt = run.attempts.get()
    store_watched(attempt, watched(machine(0.5)))
    path = f"/api/v1/campaigns/{run.campaign_id}/runs/{run.position}/watched/export"

    def sent(name):
        response = api.client.get(path, {"format": name})
        assert response.status_code == 200
        assert "attachment" in response["Content-Disposition"]
        return b"".join(response.streaming_content)

    lines = sent("csv").decode().splitlines()
    assert lines[0] == "quantity,label,unit,seconds,value"
    assert "group.cpu,web,cores,0,0.7" in lines
    text = sent("openmetrics").decode()
    assert text.endswith("# EOF\n")
    began = attempt.measure_started_at.timestamp()
    assert (
        f'perfdash_group_cpu{{campaign="{run.campaign_id}",run="{run.position}",attempt="1",'
        f'group="web"}} 0.7 {began:.3f}'
    ) in text
    table = parquet.read_table(io.BytesIO(sent("parquet")))
    assert table.num_rows == 35 * len(machine(0.5))
    assert api.client.get(path, {"format": "xlsx"}).status_code == 400
    whole = api.client.get(
        f"/api/v1/campaigns/{run.campaign_id}/export", {"format": "watched.parquet"}
    )
    table = parquet.read_table(io.BytesIO(b"".join(whole.streaming_content)))
    assert set(table["run"].to_pylist()) == {run.position}


@pytest.mark.parametrize("label", ["=1+1", "\uff1d1+1"])
def test_a_label_of_a_target_is_no_formula_in_a_file(api, run, label):
    store_watched(run.attempts.get(), watched([series("disk.busy", 0.2, label)]))
    path = f"/api/v1/campaigns/{run.campaign_id}/runs/{run.position}/watched/export"

    sent = b"".join(api.client.get(path, {"format": "csv"}).streaming_content).decode()

    assert f",'{label}," in sent
    assert f",{label}," not in sent


def test_the_views_of_sql(run):
    attempt = watch(run, 0.98)
    rows = everything_in("resources")
    assert {row["attempt_id"] for row in rows} == {attempt.pk}
    (memory,) = [
        row for row in rows if (row["quantity"], row["phase"]) == ("memory.available", "steady")
    ]
    assert memory["mean"] == 5e9
    bound = [row for row in everything_in("bindings") if row["state"] == "binds"]
    assert [(row["resource"], row["strongest"]) for row in bound] == [("cpu", True)]
