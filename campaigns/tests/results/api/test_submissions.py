"""Submissions over REST: what is stored, what is refused, and that nothing is overwritten."""

import gzip
import json
import sys

import pytest
from django.test import Client

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kit.encryption import new_token, token_hash
from campaigns.models import ApiToken, Campaign, EnvironmentFact, Measurement, Run, Submission
from campaigns.tests.results.api.documents import document, errors_of, made

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.django_db


def test_one_post_makes_a_finished_campaign_with_all_its_runs(send):
    answer = send(document())

    campaign = made(answer)
    assert answer.headers["Location"].endswith(f"/api/v1/campaigns/{campaign.pk}")
    assert (campaign.kind, campaign.state, campaign.source) == ("external", "finished", "our lab")
    assert campaign.primary_metric == "duration"
    assert [cell.levels_by_factor for cell in campaign.cells.all()] == [
        {"engine": "futures"},
        {"engine": "asyncio"},
    ]
    assert campaign.runs.count() == 6
    assert Measurement.objects.count() == 12
    assert {m.unit for m in Measurement.objects.filter(metric__name="memory")} == {"widgets"}
    assert set(EnvironmentFact.objects.values_list("name", "value")) == {
        ("cpu", "i7-6700"),
        ("cores", "8"),
    }
    assert campaign.submissions.get().info == {"job": 7}
    assert campaign.analysis_requested_at is not None


def test_what_was_sent_is_analysed_in_its_own_units_and_directions(send, client):
    campaign = made(send(document()))

    compute.analyse(campaign)

    cells = campaign.findings.get(name="cells:memory").result
    assert (cells["unit"], cells["lower_is_better"], cells["label"]) == (
        "widgets",
        None,
        "Memory used",
    )
    assert "faster" in answers_of([campaign.pk])[campaign.pk].badges[0].word
    for query in ("", "?metric=memory"):
        page = client.get(f"/campaigns/{campaign.pk}/print/{query}")
        assert page.status_code == 200
    assert b"neither way is better" in page.content


def test_values_may_be_lists_one_number_a_repetition_and_null_where_none_was_observed(send):
    campaign = made(
        send(
            document(
                runs=[{"tags": {"size": 5.0}, "values": {"duration": [1.5, None, {"value": 2}]}}]
            )
        )
    )

    states = campaign.runs.order_by("position").values_list("state", "reason")
    assert list(states) == [("done", ""), ("void", "not observed"), ("done", "")]
    assert campaign.cells.get().levels_by_factor == {"size": 5}
    blocks = campaign.runs.order_by("position").values_list("block__number", flat=True)
    assert list(blocks) == [1, 2, 3]


def test_a_censored_value_of_a_failed_run_is_a_lower_limit(send):
    made(
        send(
            document(
                runs=[
                    {
                        "values": {"duration": {"value": 60, "censored": True}},
                        "state": "failed",
                        "reason": "timed out",
                    }
                ]
            )
        )
    )

    assert Run.objects.get().reason == "timed out"
    assert Measurement.objects.get().censored


def test_pairs_are_judged_as_pairs(send):
    data = document()
    data["campaign"] |= {"order": "paired", "baseline": "futures"}
    for place, run in enumerate(data["runs"]):
        run["block"] = place % 3 + 1
    campaign = made(send(data))

    compute.analyse(campaign)

    assert (campaign.paired_factor, campaign.baseline) == ("engine", "futures")
    pairs = campaign.findings.get(name="pairs").result
    assert len(pairs["strata"][0]["pairs"]) == 3


def test_a_dry_run_answers_what_would_be_made_and_makes_nothing(send):
    answer = send(document(), "submissions?dry_run=true")

    told = answer.json()
    assert answer.status_code == 200
    assert (told["dry_run"], told["runs"], told["values"], told["cells"]) == (True, 6, 12, 2)
    assert told["submission"] is None
    assert not Campaign.objects.exists()
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"runs": []}, "runs", "at least one run"),
        ({"runs": {}}, "runs", "a list of runs"),
        ({"runs": [7]}, "runs.0", "an object"),
        ({"speed": 1}, "speed", "no field"),
        ({"metrics": {}}, "metrics", "at least one metric"),
        ({"metrics": {"duration": {"lower_is_better": True}}}, "metrics.duration.unit", "its unit"),
        ({"metrics": {"duration": {"unit": "s"}}}, "metrics.duration.lower_is_better", "null"),
        ({"campaign": {"question": ""}}, "question", "required"),
        ({"campaign": {"question": "q", "colour": "red"}}, "campaign.colour", "no field"),
        ({"campaign": 7}, "campaign", "an object"),
        ({"context": {"cpu": [1]}}, "context.cpu", "a text"),
        ({"id": "x" * 101}, "id", "101 letters"),
        ({"info": {"x": "y" * 20000}}, "info", "larger than"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(send, change, field, words):
    found = errors_of(send(document(**change)))

    assert words in found[field]
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"values": {"duration": "fast"}}, "values.duration", "a number"),
        ({"values": {"duration": True}}, "values.duration", "a number"),
        ({"values": {"duration": 1e18 * 2}}, "", "too large"),
        ({"values": {"speed": 1}}, "values.speed", "no metric"),
        ({"values": {}}, "values", "no value"),
        ({"values": {"duration": [1], "memory": [1, 2]}}, "values", "one length"),
        ({"values": {"duration": [1]}, "id": "x"}, "id", "one run"),
        ({"started_at": "yesterday"}, "started_at", "an instant"),
        ({"started_at": "2026-11-22T10:00:00"}, "started_at", "offset"),
        ({"started_at": "0001-01-01T00:00:00Z"}, "started_at", "1990"),
        ({"started_at": "0000-01-01T00:00:00Z"}, "started_at", "an instant"),
        ({"finished_at": "2026-11-19T10:00:00Z"}, "finished_at", "before"),
        ({"state": "great"}, "state", "ok and failed"),
        ({"tags": {}}, "tags", "no engine"),
        ({"tags": {"engine": "x", "size": 1}}, "tags", "does not vary"),
        ({"tags": {"engine": None}}, "tags.engine", "a text"),
        ({"tags": {"engine": "\x07"}}, "tags.engine", "control"),
        ({"block": 0}, "block", "from 1"),
        ({"block": 1.5}, "block", "whole number"),
        ({"units_done": -1}, "units_done", "whole number"),
        ({"colour": "red"}, "colour", "no field"),
    ],
)
def test_what_is_wrong_with_a_run_is_named_by_its_number(send, change, field, words):
    data = document()
    data["runs"][3] |= change
    answer = send(data)

    if not field:
        assert (answer.status_code, words in answer.json()["detail"]) == (400, True)
        return
    assert words in errors_of(answer)[f"runs.3.{field}"]
    assert not Campaign.objects.exists()


def test_every_bad_run_is_told_at_once(send):
    data = document()
    data["runs"][1]["values"]["duration"] = "x"
    data["runs"][4]["state"] = "odd"

    answer = send(data)

    assert set(errors_of(answer)) == {"runs.1.values.duration", "runs.4.state"}


def test_a_field_that_is_wrong_in_every_run_is_told_once(send):
    data = document()
    for run in data["runs"]:
        run["blok"] = 1
        run["values"]["heap"] = 5

    named = errors_of(send(data))
    for run in data["runs"]:
        del run["blok"]
    unknown = errors_of(send(data))

    more = f"The same in {len(data['runs']) - 1} more runs: 1, 2, 3 …"
    assert (list(named), named["runs.0.blok"].endswith(more)) == (["runs.0.blok"], True)
    assert (list(unknown), unknown["runs.0.values.heap"].endswith(more)) == (
        ["runs.0.values.heap"],
        True,
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"runs": [], "runs": []}', "twice"),
        (b'{"runs": NaN}', "NaN"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "nested deeper"),
    ],
)
def test_a_body_that_is_no_document_is_refused_in_words(send, body, words):
    answer = send(body)

    assert answer.status_code == 400
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("name", "pack"), [("gzip", gzip.compress), ("zstd", zstd.compress), ("identity", bytes)]
)
def test_packed_bodies_are_unpacked(send, name, pack):
    made(send(pack(json.dumps(document()).encode()), **{"Content-Encoding": name}))


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_a_bomb_is_refused_with_the_limit(send, name, pack):
    bomb = pack(b" " * 40_000_000)
    assert len(bomb) < 100_000

    answer = send(bomb, **{"Content-Encoding": name})

    assert answer.status_code == 413
    assert "32,000,000 bytes" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "encoding", "code"),
    [
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip", 400),
        (gzip.compress(b"{}", mtime=0) + b"more", "gzip", 400),
        (b"{}", "gzip", 400),
        (b"{}", "zstd", 400),
        (zstd.compress(b"{}")[:-2], "zstd", 400),
        (b"{}", "br", 415),
    ],
)
def test_damaged_and_unknown_packing_is_refused(send, body, encoding, code):
    assert send(body, **{"Content-Encoding": encoding}).status_code == code


def test_a_body_above_the_limit_is_refused_unpacked_too(send):
    answer = send(b" " * 32_000_001)

    assert answer.status_code == 413


def test_more_values_than_a_request_holds_are_refused_by_number(send):
    runs = [{"tags": {"engine": "x"}, "values": {"duration": [1] * 100_001}}]

    assert "100,001 values" in errors_of(send(document(runs=runs)))["runs"]


def test_more_cells_than_a_campaign_holds_are_refused_with_what_to_do(send):
    runs = [{"tags": {"build": place}, "values": {"duration": 1}} for place in range(501)]

    assert "belongs into `info`" in errors_of(send(document(runs=runs)))["factors"]


@pytest.mark.parametrize(("scope", "code"), [("read", 403), ("submit", 201), ("operate", 201)])
def test_it_takes_the_scope_to_submit(owner, scope, code):
    token = new_token()
    ApiToken.objects.create(user=owner, name="ci", hash=token_hash(token), scopes=[scope])

    answer = Client(headers={"Authorization": f"Bearer {token}"}).post(
        "/api/v1/submissions", json.dumps(document()), content_type="application/json"
    )

    assert answer.status_code == code


def test_what_came_in_is_listed_and_read(send, client):
    campaign = made(send(document()))

    listed = client.get("/api/v1/submissions?campaign=" + str(campaign.pk)).json()["results"]
    assert [each["runs"] for each in listed] == [6]
    one = client.get(f"/api/v1/submissions/{listed[0]['id']}").json()
    assert one == listed[0]
    assert one["user"] == "owner"


def test_of_many_metrics_the_primary_one_and_the_first_are_analysed_and_it_is_said(send, client):
    names = [f"m{place}" for place in range(40)]
    data = document(
        metrics={name: {"unit": "s", "lower_is_better": True} for name in names},
        runs=[{"tags": {"engine": "x"}, "values": {name: [1.0, 2.0] for name in names}}],
    )
    data["campaign"]["primary_metric"] = "m39"
    campaign = made(send(data))

    compute.analyse(campaign)

    cells = campaign.findings.filter(name__startswith="cells:").values_list("name", flat=True)
    assert set(cells) == {f"cells:m{place}" for place in (*range(11), 39)}
    text = " ".join(client.get(f"/campaigns/{campaign.pk}/print/").content.decode().split())
    assert "40, of which 12 are analysed; all are in the exports." in text
