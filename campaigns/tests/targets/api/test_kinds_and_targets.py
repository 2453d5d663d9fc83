import json

import pytest
from django.db.models.functions import Now

from campaigns.kit import encryption
from campaigns.models import Target
from campaigns.targets.saving import retire_target

pytestmark = pytest.mark.django_db

SERVER = {
    "name": "mine",
    "family": "http",
    "base_url": "http://127.0.0.2:8080/pulp/",
    "username": "tester",
    "password": "correct horse",
    "confirm_address": True,
}


@pytest.fixture(autouse=True)
def _owner_confirms(settings, toy):
    settings.OWNER_CONFIRMS = True


def test_a_kind_says_what_it_takes_varies_and_measures(api):
    status, body = api.get("kinds")

    assert status == 200
    toy = next(kind for kind in body["results"] if kind["kind"] == "toy")
    assert toy["label"] == "Toy"
    assert toy["factors"] == ["engine", "workers", "slow", "path"]
    assert toy["metrics"][0] == {
        "name": "duration",
        "label": "Duration",
        "unit": "s",
        "lower_is_better": True,
        "primary": True,
    }
    parameters = {parameter["name"]: parameter for parameter in toy["parameters"]}
    assert parameters["workers"] == {
        "name": "workers",
        "label": "Workers",
        "type": "integer",
        "unit": "",
        "required": True,
        "initial": 4,
        "choices": None,
        "min": 1,
        "max": 1000,
        "max_length": None,
        "help": "At once.",
        "can_vary": True,
        "is_work": False,
        "role": "setting",
        "may_be_load": False,
        "only_for": None,
        "as_well": [],
    }
    assert parameters["engine"]["choices"] == [
        {"value": "new", "label": "New"},
        {"value": "old", "label": "Old"},
    ]
    types = {name: parameter["type"] for name, parameter in parameters.items()}
    assert types == {
        "engine": "choice",
        "workers": "integer",
        "slow": "number",
        "careful": "boolean",
        "note": "text",
        "path": "text",
    }
    assert parameters["path"]["is_work"]


def test_every_installed_kind_can_be_described(api):
    _, body = api.get("kinds")

    external = next(kind for kind in body["results"] if kind["kind"] == "external")
    assert not external["executable"]
    assert body["next"] is None


def test_a_kind_says_which_family_alone_knows_a_parameter(api):
    _, body = api.get("kinds")

    sync = next(kind for kind in body["results"] if kind["kind"] == "sync")
    only_for = {parameter["name"]: parameter["only_for"] for parameter in sync["parameters"]}
    assert set(only_for.values()) == {None, "katello", "pulp"}
    assert (only_for["feed"], only_for["repository_ids"]) == ("pulp", "katello")
    assert only_for["optimize"] is None


def test_a_target_is_created_listed_and_read_without_its_password(api):
    status, created = api.post("targets", SERVER)

    assert status == 201
    assert created["address"] == "127.0.0.2:8080"
    assert created["health"] == "unknown"
    assert created["has_password"]
    target = Target.objects.get()
    assert encryption.decrypt(target.password) == "correct horse"
    listed = api.get("targets")[1]
    read = api.get(f"targets/{target.pk}")[1]
    assert listed["results"] == [read]
    for answer in (created, listed, read):
        assert "correct horse" not in json.dumps(answer)
        assert target.password not in json.dumps(answer)


def test_the_location_of_a_new_target_is_told(api):
    response = api.client.post("/api/v1/targets", SERVER, content_type="application/json")

    assert response["Location"] == response.json()["url"]
    assert api.client.get(response["Location"]).status_code == 200


def test_a_refused_target_does_not_give_its_password_back(api):
    status, problem = api.post("targets", SERVER | {"password": ["correct horse"], "name": ""})

    assert status == 400
    assert "correct horse" not in json.dumps(problem)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": ""}, "name", "required"),
        ({"name": "n" * 101}, "name", "at most 100"),
        ({"name": "a\nb\x07"}, "name", "control character"),
        ({"family": "mainframe"}, "family", "mainframe"),
        ({"base_url": ""}, "base_url", "required"),
        ({"base_url": "ftp://127.0.0.2"}, "base_url", ""),
        ({"base_url": "http://user:pw@127.0.0.2/"}, "base_url", ""),
        ({"base_url": "http://[::1"}, "base_url", ""),
        ({"base_url": "http://127.0.0.2:99999"}, "base_url", ""),
        ({"base_url": "http://169.254.169.254/"}, "base_url", "never"),
        ({"base_url": "http://example.com/"}, "base_url", "PERFDASH_ALLOWED_ADDRESSES"),
        ({"confirm_address": False}, "confirm_address", "Confirm"),
        ({"confirm_address": "maybe"}, "confirm_address", "true or false"),
        ({"notes": "x" * 2001}, "notes", "at most 2000"),
        ({"colour": "red"}, "colour", "no field"),
    ],
)
def test_a_bad_target_is_refused_at_its_field(api, changes, field, words):
    status, problem = api.post("targets", SERVER | changes)

    assert status == 400
    assert field in {error["field"] for error in problem["errors"]}
    assert words in " ".join(error["message"] for error in problem["errors"])
    assert not Target.objects.exists()


def test_a_name_is_there_once(api):
    api.post("targets", SERVER)

    status, problem = api.post("targets", SERVER | {"base_url": "http://127.0.0.3:80/"})

    assert status == 400
    assert problem["errors"][0]["field"] == "name"


def test_a_probe_is_asked_for(api, target):
    status, body = api.post(f"targets/{target.pk}/probe")

    assert status == 202
    assert body["id"] == target.pk


def test_a_probe_that_is_asked_for_too_soon_is_answered_by_the_last_one(api, target):
    Target.objects.update(probed_at=Now(), health="ready")

    status, body = api.post(f"targets/{target.pk}/probe")

    assert (status, body["health"]) == (200, "ready")
    assert "was probed 0 s ago" in body["warnings"][0]


def test_a_retired_target_is_read_but_neither_listed_nor_probed(api, target):
    retire_target(target)

    assert api.get("targets")[1]["results"] == []
    assert api.get(f"targets/{target.pk}")[0] == 200
    assert api.post(f"targets/{target.pk}/probe")[0] == 404


def test_the_limits_of_a_target_come_in_and_go_out(api):
    limits = {
        "is_production": True,
        "max_concurrency": 20,
        "max_requests_per_second": 100.5,
        "quiet_hours": "daily 22:00-06:00",
        "quiet_zone": "Europe/Berlin",
    }

    status, body = api.post("targets", SERVER | limits)

    assert status == 201
    assert {name: body[name] for name in limits} == limits


def test_a_target_may_be_overloaded_until_a_time_and_in_some_hours(api, target):
    sent = {"overload_until": "2099-01-02T03:04:05Z", "overload_hours": "Sat,Sun 00:00-24:00"}

    status, told = api.patch(f"targets/{target.pk}", sent)

    assert status == 200, told
    assert (told["overload_until"], told["overload_hours"]) == tuple(sent.values())
    assert api.patch(f"targets/{target.pk}", {"overload_until": None})[1]["overload_until"] is None
    for bad in ("next week", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        status, told = api.patch(f"targets/{target.pk}", {"overload_until": bad})
        assert (status, told["errors"][0]["field"]) == (400, "overload_until")


def test_quiet_hours_that_cannot_be_read_are_told_at_their_field(api):
    status, body = api.post("targets", SERVER | {"quiet_hours": "at night", "quiet_zone": "Mars"})

    assert status == 400
    assert {error["field"] for error in body["errors"]} == {"quiet_hours", "quiet_zone"}


def test_what_there_is_to_know_of_a_new_target_is_told(api):
    api.post("targets", SERVER)
    status, created = api.post("targets", SERVER | {"name": "again", "password": "admin"})

    assert status == 201
    assert created["same_server_as"] == ["mine"]
    assert ["same server" in each for each in created["warnings"]] == [True, False]
    assert "shorter than 6 letters" in created["warnings"][1]
    listed = {
        target["name"]: target["same_server_as"] for target in api.get("targets")[1]["results"]
    }
    assert listed == {"mine": ["again"], "again": ["mine"]}
