"""Targets are changed and retired by the same rules as on their pages."""

import json

import pytest

from campaigns.accounts.access import make_token
from campaigns.kit import encryption
from campaigns.models import Campaign, Target, Team
from campaigns.planning import lifecycle
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"  # noqa: S105


@pytest.fixture
def path(target):
    return f"targets/{target.pk}"


def password_of(target):
    target.refresh_from_db()
    return encryption.decrypt(target.password)


def test_what_is_not_sent_stays(api, target, path):
    api.patch(path, {"quiet_hours": "daily 22:00-06:00", "max_concurrency": 7, "notes": "mine"})
    before = api.get(path)[1]

    status, body = api.patch(path, {"hardware": "2 cores"})

    assert status == 200
    assert body.pop("warnings") == []
    changed = {name for name in before if before[name] != body[name]}
    assert changed == {"hardware"}
    assert password_of(target) == PASSWORD


def test_a_limit_is_taken_away_with_null(api, path):
    api.patch(path, {"max_concurrency": 7})

    assert api.patch(path, {"max_concurrency": None})[1]["max_concurrency"] is None


def test_a_password_is_changed_and_forgotten_and_never_told(api, target, path):
    changed = api.patch(path, {"password": "another long one"})

    assert password_of(target) == "another long one"
    assert "another long one" not in json.dumps(changed)
    assert api.patch(path, {"forget_password": True})[1]["has_password"] is False
    assert password_of(target) == ""


def test_a_password_does_not_go_to_a_new_server_by_itself(api, target, path):
    moved = {"base_url": "http://127.0.0.2:9", "confirm_address": True}

    status, problem = api.patch(path, moved)

    assert status == 400
    assert problem["errors"][0]["field"] == "password"
    target.refresh_from_db()
    assert target.base_url == "http://127.0.0.1:9"
    assert api.patch(path, moved | {"password": PASSWORD})[1]["base_url"] == "http://127.0.0.2:9"


def test_a_key_is_not_told_back_where_it_is_refused(api, path):
    status, problem = api.patch(path, {"client_key": "-----BEGIN SECRET", "password": ["x"]})

    assert status == 400
    assert "BEGIN SECRET" not in json.dumps(problem)
    status, problem = api.patch(path, {"client_key": "k" * 100_000})
    assert status == 400
    assert "kkk" not in json.dumps(problem)


def test_a_name_that_is_taken_is_refused(api, path):
    Target.objects.create(name="taken", family="http", base_url="http://192.0.2.2")

    status, problem = api.patch(path, {"name": "taken"})

    assert status == 400
    (error,) = problem["errors"]
    assert error["field"] == "name"


def test_a_retired_target_is_left_out_read_and_not_changed(api, target, path):
    status, body = api.post(f"{path}/retire")

    assert status == 200
    assert body["retired_at"]
    assert api.get("targets")[1]["results"] == []
    assert api.get(path)[1]["name"] == f"toy server (retired {target.pk})"
    for refused in (api.patch(path, {"notes": "x"}), api.post(f"{path}/retire")):
        assert refused[0] == 409
        assert "was retired" in refused[1]["detail"]


def test_a_target_that_is_measured_is_not_retired(api, draft, target, path):
    lifecycle.launch(Campaign.objects.get(), None)

    status, problem = api.post(f"{path}/retire")

    assert status == 409
    assert "is measuring this target" in problem["detail"]
    target.refresh_from_db()
    assert target.retired_at is None


def test_a_token_that_may_not_operate_changes_no_target(owner, path):
    reader = ApiClient(make_token(owner, "reader", "read")[1])

    assert reader.patch(path, {"notes": "x"})[0] == 403
    assert reader.post(f"{path}/retire")[0] == 403


def test_a_target_that_is_not_there_is_not_found(api, db):
    assert api.patch("targets/99", {})[0] == 404
    assert api.post("targets/99/retire")[0] == 404


def test_one_operator_does_not_take_the_mark_of_production_off_where_it_takes_two(target, path):
    Target.objects.update(is_production=True)
    Team.objects.update(second_for_production=True)
    operator = ApiClient(make_token(somebody("ann", "operator"), "ci")[1])

    status, body = operator.patch(path, {"is_production": False})

    assert status == 403
    assert "loading it needs two people. An admin of the team" in body["detail"]
    assert operator.delete(path)[0] == operator.post(f"{path}/retire")[0] == 403
    assert operator.patch(path, {"notes": "mine"})[0] == 200
    assert Target.objects.get(pk=target.pk, retired_at=None).is_production
