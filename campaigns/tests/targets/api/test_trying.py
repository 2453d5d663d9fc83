"""Scenarios at a target over REST: one is tried, and one is drafted from a file."""

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now

from campaigns.kit import encryption
from campaigns.kit.activity import Action
from campaigns.kit.rates import Rate
from campaigns.models import AuditEvent, Target
from campaigns.targets import places
from campaigns.tests.kinds.http.api import PASSWORD, USER, running_api
from campaigns.tests.kinds.http.recordings import SECRETS, SIGN_IN

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
def of_server(target, server, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    Target.objects.filter(pk=target.pk).update(
        base_url=server.base_url, username=USER, password=encryption.encrypt(PASSWORD)
    )
    return Target.objects.get(pk=target.pk)


def test_each_request_and_answer_is_shown_and_no_secret(api, of_server, server):
    status, body = api.post(f"targets/{of_server.pk}/try-scenario", {"scenario": SCENARIO})

    assert (status, body.get("ok")) == (200, False), body
    first, second = body["exchanges"]
    assert (first["step"], first["answer"]["line"], first["failure"]) == ("sign in", "200", "")
    assert (second["failure"], second["message"]) == ("check", "wrong: count is 3, expected 4")
    assert first["request"]["body"] == "user=anna&password=[secret]"
    assert first["taken"] == [{"name": "token", "value": "[secret]"}]
    assert (first["withheld"], first["answer"]["body"], first["answer"]["headers"]) == (
        True,
        "",
        [],
    )
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


def test_a_web_server_does_two_at_a_time_and_refuses_more_with_words(api, of_server, server):
    path, body = f"targets/{of_server.pk}/try-scenario", {"scenario": SCENARIO}
    with places.place(User(pk=10**6), "x"), places.place(None, "x"):
        answer = api.client.post(f"/api/v1/{path}", body, content_type="application/json")
    problem = answer.json()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert (problem["type"], "2 at a time" in problem["detail"]) == ("urn:perfdash:busy", True)
    assert server.asked == []
    assert api.post(path, body)[0] == 200


def test_one_user_does_not_try_all_the_time(api, of_server, server, monkeypatch):
    monkeypatch.setattr(places, "RATE", Rate(1, 60))
    path, body = f"targets/{of_server.pk}/try-scenario", {"scenario": SCENARIO}
    assert [api.post(path, body)[0] for _ in range(2)] == [200, 429]
    status, problem = api.post(path, body)
    assert (status, problem["type"]) == (429, "urn:perfdash:too-many")
    assert "may try something 1 times" in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"scenario": 5},
        {"scenario": ["steps"]},
        {"scenario": "\u0001"},
        {"scenario": SCENARIO, "data": "a,a\n1,2"},
        {"scenario": SCENARIO, "fixed": "nothing"},
        {"scenario": SCENARIO, "hosts": 3},
        {"scenario": "[" * 5000},
    ],
)
def test_bad_input_is_refused_with_its_field(api, of_server, server, body):
    status, problem = api.post(f"targets/{of_server.pk}/try-scenario", body)

    assert status == 400
    assert all(each["message"] for each in problem["errors"])
    assert server.asked == []


def test_a_file_becomes_a_draft_without_secrets(send, target):
    path = f"targets/{target.pk}/import-scenario"

    plain = send(SIGN_IN, path).json()
    chosen = send(SIGN_IN, f"{path}?take=token,href&steps=1,3,4,5&think=true").json()

    assert [(each["number"], each["proposed"]) for each in plain["requests"]][:2] == [
        (1, True),
        (2, False),
    ]
    assert {each["name"]: each["secret"] for each in plain["offers"]} == {
        "csrf": True, "token": True, "href": False, "id": False,
    }  # fmt: skip
    assert "take:" not in plain["scenario"]
    assert "Bearer {token}" in chosen["scenario"]
    assert "think:" in chosen["scenario"]
    assert plain["problems"] == chosen["problems"] == []
    for secret in SECRETS:
        assert secret not in str(plain) + str(chosen)


@pytest.mark.parametrize(
    ("data", "query", "message"),
    [
        (b"nonsense: [", "", "The file is no YAML"),
        (SIGN_IN, "?steps=9", "There is no request 9; the file has 1 to 5."),
        (SIGN_IN, "?steps=a", "steps"),
        (SIGN_IN, "?steps=0", "There is no request 0"),
        (SIGN_IN, "?take=nothing", "“nothing” is not offered; there are csrf, token, href, id."),
        (SIGN_IN, "?think=perhaps", "true or false"),
    ],
)
def test_a_bad_file_or_choice_is_refused_with_a_message(send, target, data, query, message):
    answer = send(data, f"targets/{target.pk}/import-scenario{query}")

    assert answer.status_code == 400
    assert message in answer.content.decode()


def test_nothing_is_tried_at_a_server_whose_load_takes_two_people(api, of_server, server, team):
    """The mark of another target of the same server is enough."""
    body = {"scenario": SCENARIO}
    twin = Target.objects.create(
        name="twin", family="http", base_url=of_server.base_url, address=of_server.address
    )
    Target.objects.filter(pk=twin.pk).update(is_production=True)
    type(team).objects.filter(pk=team.pk).update(second_for_production=True)

    answers = [api.post(f"targets/{each}/try-scenario", body) for each in (of_server.pk, twin.pk)]

    assert [status for status, _ in answers] == [409, 409]
    assert all(
        "takes two people" in str(problem) or "needs two people" in str(problem)
        for _, problem in answers
    )
    assert server.asked == []
