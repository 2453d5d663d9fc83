"""Trying a scenario at a target that runs, over REST."""

import pytest
from django.db.models.functions import Now

from campaigns.kit import encryption
from campaigns.kit.activity import Action
from campaigns.models import AuditEvent, Target
from campaigns.tests.kinds.http.api import PASSWORD, USER, running_api

pytestmark = pytest.mark.django_db

SCENARIO = """\
steps:
  - name: sign in
    post: /sign-in
    form: {user: "{target_user}", password: "{target_password}"}
    take: {token: {json: token}}
  - name: wrong
    get: /items
    headers: {X-Mine: "{token}"}
    expect: {json: {count: 4}}
"""


@pytest.fixture
def server():
    with running_api() as running:
        yield running


@pytest.fixture
def of_server(target, server):
    Target.objects.filter(pk=target.pk).update(
        base_url=server.base_url, username=USER, password=encryption.encrypt(PASSWORD)
    )
    return Target.objects.get(pk=target.pk)


def test_each_request_and_answer_is_shown_and_no_secret(api, of_server, server):
    status, body = api.post(f"targets/{of_server.pk}/try-scenario", {"scenario": SCENARIO})

    assert (status, body["ok"]) == (200, False)
    first, second = body["exchanges"]
    assert (first["step"], first["answer"]["line"], first["failure"]) == ("sign in", "200", "")
    assert (second["failure"], second["message"]) == ("check", "wrong: count is 3, expected 4")
    assert first["request"]["body"] == "user=anna&password=[secret]"
    assert [each["name"] for each in first["taken"]] == ["token"]
    assert PASSWORD not in repr(body)
    assert "t0k3n" not in repr(body)
    assert "t0k3n" in server.asked[1].headers["X-Mine"]
    assert AuditEvent.objects.filter(action=Action.TARGET_TRIED).exists()
    assert not Target.objects.exclude(probe_began_at=None).exists()


def test_a_wrong_scenario_is_refused_before_anything_is_sent(api, of_server, server):
    scenario = SCENARIO.replace("{token}", "{tokn}")

    status, problem = api.post(f"targets/{of_server.pk}/try-scenario", {"scenario": scenario})

    assert status == 400
    assert problem["errors"][0]["field"] == "scenario"
    assert (
        "Line 8, step 2 “wrong”: the name {tokn} in header X-Mine"
        in problem["errors"][0]["message"]
    )
    assert server.asked == []


def test_nothing_is_tried_at_a_target_that_is_busy_or_not_there(api, of_server, server):
    Target.objects.update(probe_began_at=Now())

    status, problem = api.post(f"targets/{of_server.pk}/try-scenario", {"scenario": SCENARIO})

    assert (status, server.asked) == (409, [])
    assert "is being probed already" in problem["detail"]
