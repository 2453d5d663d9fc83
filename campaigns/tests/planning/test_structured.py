"""Parameters that REST and YAML give as an object or a list, where a page has a text."""

import json

import pytest
import yaml
from jsonschema import Draft7Validator

from campaigns.models import Target
from campaigns.planning import checking
from campaigns.planning.api.schemas import definition_schema
from campaigns.planning.checking import Invalid

pytestmark = pytest.mark.django_db

FEED = "http://127.0.0.1:9/PULP_MANIFEST"
SCENARIO = {
    "login": "target",
    "steps": [{"name": "list", "get": "/a", "expect": {"json": {"count": {"at_least": 1}}}}],
}


@pytest.fixture
def sent(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"

    def make(kind, family, parameters, **others):
        server = Target.objects.create(
            name=family, family=family, base_url="http://127.0.0.1:9", address="127.0.0.1:9"
        )
        return {
            "question": "Is it taken?",
            "kind": kind,
            "target": server.pk,
            "parameters": parameters,
            "repetitions": 2,
            **others,
        }

    return make


def complaints(data):
    return [error.message for error in Draft7Validator(definition_schema()).iter_errors(data)]


def test_further_fields_of_a_remote_are_an_object(sent):
    fields = {"tls_validation": False, "headers": [{"Accept": "a/b"}]}
    data = sent(
        "sync",
        "pulp",
        {"feed": FEED, "remote_fields": fields},
        factors={"download_concurrency": [5, 10]},
    )

    definition = checking.check(yaml.safe_load(yaml.safe_dump(data)))

    assert complaints(data) == []
    assert json.loads(definition.campaign.parameters["remote_fields"]) == fields


def test_a_scenario_is_an_object(sent):
    data = sent("http", "http", {"scenario": SCENARIO}, factors={"hosts": [1, 2]})
    Target.objects.update(username="whom it signs in as")

    definition = checking.check(data)

    assert complaints(data) == []
    assert yaml.safe_load(definition.campaign.parameters["scenario"]) == SCENARIO


def test_levels_may_be_lists(sent):
    data = sent(
        "sync", "katello", {"repeat": "unchanged"}, factors={"repository_ids": [[3, 5], [7]]}
    )

    definition = checking.check(data)

    assert complaints(data) == []
    assert definition.factors == {"repository_ids": ("3, 5", "7")}


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"feed": {"a": 1}}, "parameters.feed"),
        ({"feed": FEED, "remote_fields": [1]}, "parameters.remote_fields"),
        ({"feed": FEED, "remote_fields": {"a": [float("nan")]}}, "parameters.remote_fields"),
        ({"feed": FEED, "repositories": [1]}, "parameters.repositories"),
    ],
)
def test_another_one_is_refused(sent, parameters, field):
    data = sent("sync", "pulp", parameters, factors={"download_concurrency": [5, 10]})

    with pytest.raises(Invalid) as caught:
        checking.check(data)

    assert field in caught.value.errors
