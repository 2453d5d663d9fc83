import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from jsonschema import Draft7Validator

from campaigns.models import Campaign
from campaigns.planning.api.schemas import definition_schema
from campaigns.planning.definition import Definition
from campaigns.tests.toy import definition

MISSING = object()
ADDRESS = "/api/v1/schemas/campaign.json"
PUBLISHED = Path(settings.BASE_DIR, "docs/reference/campaign.schema.json")


def complaints(data):
    return [error.message for error in Draft7Validator(definition_schema()).iter_errors(data)]


def test_it_is_a_schema_that_knows_every_field():
    schema = definition_schema()

    Draft7Validator.check_schema(schema)
    assert set(schema["properties"]) == set(Definition.__struct_fields__)
    assert all(field["description"] for field in schema["properties"].values())


def test_an_editor_reads_it_without_a_token_and_whatever_it_asks_for():
    answer = Client().get(ADDRESS, headers={"Accept": "application/vnd.editor+yaml"})

    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/schema+json"
    assert answer.json() == definition_schema()


def test_the_published_one_is_in_step_with_the_kinds():
    told = f"Write it anew: perfdash campaign schema -o {PUBLISHED.relative_to(settings.BASE_DIR)}"

    assert json.loads(PUBLISHED.read_text()) == definition_schema(), told


def test_a_search_has_a_largest_load():
    sent = {"kind": "toy", "question": "?", "search": {"load": "slow", "largest": None}}

    assert any("None is not of type 'integer'" in each for each in complaints(sent))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"factors": {"workers": [1, 2], "slow": [0.5]}, "order": "interleaved"},
        {"factors": {}, "paired_factor": "blind_label", "order": "paired"},
        {"target": "toy server", "tags": ["a", "b"], "time_budget_seconds": "8 h", "seed": None},
        {
            "factors": {"workers": [1, 2, 3]},
            "order": "random",
            "excluded": [{"workers": 2}],
            "primary_contrast": {"factor": "workers", "candidate": 3, "baseline": 1},
        },
        {"stop_rule": "precision", "repetitions": 8, "parameters": {"path": "/a", "note": ""}},
    ],
)
def test_what_the_server_takes_is_valid_and_so_is_what_it_gives_back(api, target, changes):
    sent = definition(target=target.pk) | changes

    status, body = api.post("campaigns", sent)

    assert status == 201, body
    assert complaints(sent) == []
    assert complaints(body["definition"]) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changes",
    [
        {"colour": "red"},
        {"question": ""},
        {"kind": "telepathy"},
        {"kind": "external"},
        {"target": None},
        {"repetitions": 0},
        {"repetitions": MISSING},
        {"repetitions": 2.5},
        {"order": "sideways"},
        {"margin_percent": "two"},
        {"time_budget_seconds": 0},
        {"parameters": {"path": "/a", "colour": ["red"]}},
        {"parameters": {"path": "/a", "workers": 0}},
        {"factors": {"engine": ["new", "bad"]}},
        {"factors": {"note": "x"}},
        {"factors": {"engine": []}},
        {"primary_metric": "beauty"},
        {"primary_contrast": {"factor": "engine", "against": "old"}},
        {"excluded": {"engine": "new"}},
    ],
    ids=lambda changes: str(changes).replace(str(MISSING), "missing"),
)
def test_what_is_not_valid_the_server_refuses_too(api, target, changes):
    sent = definition(target=target.pk) | changes
    sent = {name: value for name, value in sent.items() if value is not MISSING}

    assert complaints(sent)
    status, _ = api.post("campaigns?launch=true", sent)
    assert status in (400, 409)
    assert not Campaign.objects.filter(launched_at__isnull=False).exists()


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [
        ({"at_most": 5}, True),
        ({"at_most": "5 s", "at_least": None}, False),
        ({"at_most": None}, False),
        ({"at_most": 5, "at_least": 1}, False),
        ({}, False),
    ],
)
def test_a_condition_has_one_bound(bounds, fits):
    criterion = {"conditions": [{"metric": "duration", **bounds}]}
    data = {"kind": "downloader", "target": 1, "question": "?", "repetitions": 3}

    assert (complaints({**data, "criterion": criterion}) == []) is fits
