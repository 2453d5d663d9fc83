"""A campaign as a file: in each format the very bytes that the page offers."""

import io
import json

import pyarrow.parquet as pq
import pytest
from django.test import Client

from campaigns.planning import lifecycle
from campaigns.tests.findings.compute.conftest import interleaved, store, target

__all__ = ["interleaved", "target"]
pytestmark = pytest.mark.django_db

PAGES = {"csv": "runs.csv", "json": "campaign.json", "parquet": "runs.parquet"}


@pytest.fixture
def campaign(interleaved):
    campaign = interleaved([5, 10])
    store(campaign, lambda run: run.position / 7, failing=(2,))
    return campaign


@pytest.fixture
def ask(token):
    client = Client(headers={"Authorization": f"Bearer {token}"})
    return lambda campaign, **more: client.get(f"/api/v1/campaigns/{campaign.pk}/export", **more)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("csv", "text/csv; charset=utf-8"),
        ("json", "application/json"),
        ("parquet", "application/vnd.apache.parquet"),
    ],
)
def test_each_format_is_what_the_page_offers(campaign, ask, owner, name, media_type):
    page = Client()
    page.force_login(owner)

    answer = ask(campaign, query_params={"format": name})

    offered = page.get(f"/campaigns/{campaign.pk}/{PAGES[name]}")
    assert (answer.status_code, answer.streaming) == (200, True)
    assert answer["Content-Type"] == media_type == offered["Content-Type"]
    assert answer["Content-Disposition"] == offered["Content-Disposition"]
    assert answer["Content-Disposition"].endswith(f'.{name}"')
    assert answer.getvalue() == offered.getvalue()


def test_json_is_sent_unless_something_else_is_asked_for(campaign, ask):
    document = json.loads(ask(campaign).getvalue())

    assert document["format"] == "perfdash campaign 1"
    assert [run["state"] for run in document["runs"][:2]] == ["done", "failed"]
    assert document["runs"][0]["measurements"]["duration"]["value"] == 1 / 7


def test_what_is_asked_for_is_sent_whatever_is_accepted(campaign, ask):
    answer = ask(
        campaign, query_params={"format": "parquet"}, headers={"Accept": "application/x-parquet"}
    )

    assert pq.read_table(io.BytesIO(answer.getvalue())).num_rows == 6


@pytest.mark.parametrize("query", [{"format": "xlsx"}, {"format": ""}, {"formats": "csv"}])
def test_any_other_format_is_refused_with_those_there_are(campaign, ask, query):
    answer = ask(campaign, query_params=query)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"] in query


def test_it_is_sent_again_only_where_something_has_changed(campaign, ask, owner):
    first = ask(campaign, query_params={"format": "csv"})
    tag = {"If-None-Match": first["ETag"]}

    same = ask(campaign, query_params={"format": "csv"}, headers=tag)
    other = ask(campaign, query_params={"format": "parquet"}, headers=tag)
    lifecycle.exclude(campaign.runs.get(position=3), owner, "another sync")
    changed = ask(campaign, query_params={"format": "csv"}, headers=tag)

    assert [each.status_code for each in (same, other, changed)] == [304, 200, 200]
    assert not same.content
