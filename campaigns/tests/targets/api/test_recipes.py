"""Recipes over REST: listed, and imported as settings of a target by the rules of the pages."""

import pytest

from campaigns.models import Setting, TargetStep
from campaigns.tests.targets.pages.test_recipes import OWN
from campaigns.tests.targets.settings_server import serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(target, settings):
    with serving() as found:
        settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:{found.port}"
        target.base_url, target.address = found.url, f"127.0.0.1:{found.port}"
        target.save()
        yield found


@pytest.fixture
def path(target):
    return f"targets/{target.pk}/recipes"


def test_recipes_are_listed_with_what_they_are(api):
    status, body = api.get("recipes")
    assert status == 200
    row = next(each for each in body["results"] if each["recipe"] == "postgresql-work-mem-sql")
    assert row["setting"]["apply"] == {
        "way": "sql",
        "parameter": "work_mem",
        "unit": "kB",
        "seconds": 60,
    }
    assert row["families"] == ["postgresql"]
    assert row["preset"] == {"kind": "sql", "name": "clients-curve"}
    assert row["published"].startswith("8 MB")


def test_a_recipe_becomes_a_setting_and_a_readiness_check(api, path, server):
    status, made = api.post(path, {"yaml": OWN, "setting": {"maximum": 12}})
    assert status == 201, made
    assert (made["name"], made["maximum"], made["read_back"]["at"]) == ("puma_workers", 12, "value")
    assert TargetStep.objects.get().name == "it answers"
    status, body = api.post(path, {"yaml": OWN})
    assert status == 400
    assert "There is a setting “puma_workers” already." in str(body)


def test_what_cannot_be_read_back_is_refused(api, path, server):
    server.values.clear()
    status, body = api.post(path, {"yaml": OWN})
    assert status == 400
    assert "The setting puma_workers cannot be read back: GET http" in str(body)
    assert not Setting.objects.exists()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Give the name of a shipped recipe, or a text as yaml."),
        ({"recipe": "a", "yaml": OWN}, "Give the name of a shipped recipe, or a text as yaml."),
        ({"recipe": "no-such"}, "There is no recipe “no-such”"),
        ({"recipe": "puma-workers"}, "It is for targets of the family katello"),
        ({"recipe": "apache-limitnofile"}, "Say first how commands reach the target"),
        ({"yaml": OWN.replace("expect: ok", "expect: 2020-01-01")}, "that JSON does not have"),
        ({"yaml": OWN.replace("expect: ok", 'expect: "\\0"')}, "yaml"),
        ({"yaml": OWN.replace("body: {", "body: {1: a, ")}, "that JSON does not have"),
        ({"yaml": OWN.replace("minimum", "minimun")}, "There is no field “minimun” here"),
        ({"yaml": "a: 1"}, "A recipe says its question."),
        (
            {
                "yaml": OWN,
                "setting": {
                    "apply": {"way": "sql", "parameter": "work_mem"},
                    "read_back": {"way": "sql", "parameter": "maintenance_work_mem"},
                },
            },
            "It reads maintenance_work_mem, and sets work_mem: that cannot work.",
        ),
        ({"yaml": OWN, "ready": {"way": "manual"}}, "A manual step cannot tell"),
        ({"yaml": OWN, "setting": {"read_back": {"way": "manual"}}}, "What a worker sets is read"),
    ],
)
def test_what_is_wrong_is_told(api, path, server, sent, words):
    status, body = api.post(path, sent)
    assert status == 400
    assert words in str(body)
    assert not Setting.objects.exists()
