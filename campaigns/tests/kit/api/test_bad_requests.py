"""Whatever comes in: a problem that says what is wrong, never a crash (the client re-raises)."""

import json
import re
from random import Random
from typing import Any

import pytest

from campaigns.models import Campaign
from campaigns.planning.definition import Definition
from campaigns.tests.planning.test_checking import JUNK
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

HTTP = {"way": "http", "method": "PUT", "url": "/settings/a"}


def post_raw(api, path, body: bytes, content_type="application/json"):
    return api._read(api.client.post(f"/api/v1/{path}", body, content_type=content_type))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not JSON"),
        (b'{"question": "a"', "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"repetitions": NaN}', "NaN is not a number"),
        (b'{"repetitions": -Infinity}', "-Infinity is not a number"),
        (b'{"repetitions": 1e999}', "too large"),
        (b'{"repetitions": ' + b"9" * 400 + b"}", "too large"),
        (b'{"repetitions": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"question": "a\\u0000b"}', "U+0000"),
        (b'{"question": "\\ud800"}', "surrogate"),
        (b'{"\\u0000": 1}', "U+0000"),
        (b'{"factors": {"engine": ["\\u0000"]}}', "U+0000"),
        (b"[" * 20 + b"]" * 20, "nested deeper"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a":' * 100_000, "nested deeper"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(api, body, words):
    for path in ("campaigns", "campaigns/preview", "targets"):
        status, problem = post_raw(api, path, body)

        assert status == 400
        assert words in problem["detail"]


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"true", b"[{}]"])
def test_a_body_that_is_no_object_is_refused(api, body):
    status, problem = post_raw(api, "campaigns", body)

    assert status == 400
    assert "dictionary" in problem["errors"][0]["message"]


def test_an_empty_body_names_what_is_missing(api):
    status, problem = post_raw(api, "campaigns", b"")

    assert status == 400
    assert {error["field"] for error in problem["errors"]} >= {"kind", "question"}


def test_a_body_that_is_too_large_is_refused(api):
    body = json.dumps({"question": "x" * 1_000_001}).encode()

    assert post_raw(api, "campaigns", body)[0] == 413


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "multipart/form-data"])
def test_another_media_type_is_refused(api, content_type):
    status, problem = post_raw(api, "campaigns", b"question=x", content_type)

    assert status == 415
    assert content_type in problem["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("delete", "campaigns"),
        ("put", "targets/1"),
        ("patch", "campaigns"),
        ("post", "compare"),
        ("get", "campaigns/1/launch"),
        ("get", "campaigns/preview"),
        ("post", "kinds"),
        ("put", "campaigns/1/runs"),
        ("get", "imports"),
        ("post", "formats"),
    ],
)
def test_another_method_is_refused_with_those_that_there_are(api, method, path):
    response = getattr(api.client, method)(f"/api/v1/{path}", b"", content_type="application/json")

    assert response.status_code == 405
    assert response["Content-Type"] == "application/problem+json"
    assert response["Allow"]


@pytest.mark.parametrize(
    "path", ["", "nothing", "campaigns/", "campaigns/x", "campaigns/-1", "campaigns/1/explode"]
)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_address_without_meaning_is_not_found(api, path, method):
    response = getattr(api.client, method)(f"/api/v1/{path}")

    assert response.status_code == 404
    assert response.json()["title"] == "Not Found"


def test_an_answer_in_another_format_cannot_be_had(api):
    response = api.client.get("/api/v1/kinds", headers={"Accept": "text/csv"})

    assert response.status_code == 406
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", ["a"]),
        ("question", {"a": 1}),
        ("question", True),
        ("target", [1]),
        ("target", True),
        ("parameters", [1]),
        ("parameters", "x"),
        ("factors", [1]),
        ("factors", "engine"),
        ("excluded", {"engine": "new"}),
        ("repetitions", [3]),
        ("repetitions", True),
        ("baseline", {"a": 1}),
        ("tags", [1]),
        ("tags", {"a": 1}),
        ("launch", "perhaps"),
        ("launch", 0),
        ("launch", 1),
        ("launch", "true"),
    ],
)
def test_a_wrong_type_is_named_at_its_field(api, target, field, value):
    status, problem = api.post("campaigns", definition(target=target.pk) | {field: value})

    assert status == 400
    assert [error["field"] for error in problem["errors"]] == [field]
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("factors", "field"),
    [
        ({"engine": "new"}, "factors.engine"),
        ({"engine": [["new"], "old"]}, "factors.engine"),
        ({"engine": [{"a": 1}]}, "factors.engine"),
    ],
)
def test_a_wrong_level_is_named_at_its_place(api, target, factors, field):
    status, problem = api.post("campaigns", definition(target=target.pk, factors=factors))

    assert status == 400
    assert problem["errors"][0]["field"] == field


def test_unknown_fields_are_named_beside_the_other_errors(api, target):
    status, problem = api.post(
        "campaigns", definition(target=target.pk, colour="red", question=["a"])
    )

    assert status == 400
    assert {error["field"] for error in problem["errors"]} == {"colour", "question"}


def test_ten_thousand_cells_are_refused(api, target):
    status, problem = api.post(
        "campaigns",
        definition(
            target=target.pk,
            order="random",
            factors={"workers": list(range(1, 101)), "path": [f"/{n}" for n in range(100)]},
        ),
    )

    assert status == 400
    assert "10,000 cells" in problem["errors"][0]["message"]


def test_thousands_of_errors_are_cut(api):
    status, problem = api.post("targets", {f"f{number}": 1 for number in range(5000)})

    assert status == 400
    assert len(problem["errors"]) == 100


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "campaigns", {"passwordx": "hunter2"}),
        ("post", "campaigns", {"parameters": {"passwordx": "hunter2"}}),
        ("post", "campaigns", {"primary_contrast": {"passwordx": "hunter2"}}),
        ("post", "campaigns", {"primary_contrast": {"at": {"passwordx": "hunter2"}}}),
        ("post", "campaigns", {"excluded": [{"passwordx": "hunter2"}]}),
        ("post", "campaigns", {"factors": {"passwordx": ["hunter2"]}}),
        ("post", "campaigns/preview", {"passwordx": "hunter2"}),
        ("post", "targets", {"passwordx": "hunter2"}),
        ("post", "targets", {"passwordx": {"passwordy": "hunter2"}}),
        ("patch", "targets/{target}", {"passwordx": "hunter2"}),
        ("put", "targets/{target}/ssh", {"passwordx": "hunter2"}),
        ("post", "targets/{target}/settings", {"apply": HTTP | {"passwordx": "hunter2"}}),
        ("post", "notifications/channels", {"addressx": "hunter2"}),
        ("post", "submissions", {"passwordx": "hunter2", "runs": [{"passwordy": "hunter2"}]}),
        ("post", "submissions", {"campaign": {"passwordx": "hunter2"}, "runs": []}),
        ("post", "submissions", {"metrics": {"m": {"passwordx": "hunter2"}}, "runs": []}),
        ("post", "submissions", {"runs": [{"values": {"m": {"passwordx": "hunter2"}}}]}),
        ("get", "campaigns?passwordx=hunter2", None),
        ("post", "imports?passwordx=hunter2", {}),
    ],
)
def test_what_stands_under_a_mistyped_name_is_repeated_nowhere(
    api, target, caplog, method, path, body
):
    rest = definition(target=target.pk) if path == "campaigns" else {}
    sent = json.dumps(rest | (body or {})).encode()
    address = f"/api/v1/{path.format(target=target.pk)}"
    response = api.client.generic(method.upper(), address, sent, content_type="application/json")

    words = json.dumps(response.json()["errors"])
    assert response.status_code == 400
    assert "hunter2" not in words + response.json()["detail"] + caplog.text
    assert re.search("passwordx|passwordy|addressx", words)


def test_markup_is_text_like_any_other(api, target):
    status, body = api.post("campaigns", definition(target=target.pk, name="<script>x</script>"))

    assert status == 201
    assert body["name"] == "<script>x</script>"


@pytest.mark.parametrize(
    "query",
    [
        "limit=x",
        "limit=-1",
        "limit=0",
        "limit=501",
        "limit=1e9",
        "limit=",
        "limit=%00",
        "limit=" + "9" * 5000,
        "limit=%D9%A3",
        "cursor=x",
        "cursor=cD14",  # p=x
        "cursor=cD0tMQ==",  # p=-1
        "cursor=cD0lMDA=",  # p=%00
        "cursor=cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5",  # p=9999999999999999999999
        "cursor=bz0tMQ==",  # o=-1
        "cursor=%00",
        "offset=1",
    ],
)
@pytest.mark.parametrize("path", ["campaigns", "campaigns/{draft}/runs", "targets"])
def test_nonsense_in_the_paging_is_refused(api, draft, path, query):
    if path == "targets" and query.startswith("cursor=cD"):
        query = "cursor=cD0lMDA="

    status, problem = api.get(f"{path.format(draft=draft)}?{query}")

    assert status == 400
    assert problem["errors"][0]["field"] == query.partition("=")[0]


def test_a_bad_query_is_told_whatever_the_body_is(api):
    response = api.client.generic(
        "GET", "/api/v1/campaigns?state=lost", b"\xff{", content_type="text/plain"
    )

    assert response.status_code == 400
    assert response.json()["errors"][0] == {
        "field": "state",
        "message": "“lost” is not one of draft, running, paused, cancelling, cancelled, finished.",
    }


def test_a_bad_query_beside_a_good_body_stores_nothing(api, target):
    status, problem = api.post("campaigns?launch=perhaps", definition(target=target.pk))

    assert status == 400
    assert problem["errors"][0]["field"] == "launch"
    assert not Campaign.objects.exists()


def storable(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("path", ["campaigns", "campaigns/preview", "campaigns/{draft}/clone"])
def test_junk_in_any_field_is_refused_or_taken_but_never_a_crash(api, target, draft, path):
    random = Random(path)
    junk = [value for value in JUNK if storable(value)]

    for _ in range(150):
        data = definition(target=target.pk)
        for name in random.sample([*Definition.__struct_fields__, "launch"], random.randint(1, 3)):
            data[name] = random.choice(junk)

        status, _ = api.post(path.format(draft=draft), data)

        assert status in (200, 201, 400, 409)


@pytest.mark.parametrize("path", ["targets", "campaigns/{draft}/extend", "campaigns/{draft}/try"])
def test_junk_in_smaller_bodies_is_never_a_crash(api, draft, path):
    names = [
        "name",
        "family",
        "base_url",
        "username",
        "password",
        "notes",
        "confirm_address",
        "repetitions",
        "cell",
    ]
    random = Random(path)
    junk = [value for value in JUNK if storable(value)]

    for _ in range(60):
        data = {name: random.choice(junk) for name in random.sample(names, 3)}

        status, _ = api.post(path.format(draft=draft), data)

        assert status in (200, 201, 400, 409)


@pytest.mark.parametrize("action", ["launch", "pause", "resume", "cancel", "extend", "try"])
@pytest.mark.parametrize("body", [{}, [], {"x": 1}, "text", 5, {"reason": ["x"]}])
def test_junk_for_a_step_is_never_a_crash(api, draft, action, body):
    status, _ = post_raw(api, f"campaigns/{draft}/{action}", json.dumps(body).encode())

    assert status in (200, 201, 400, 409)


def test_a_password_within_a_url_is_not_said_again(api):
    status, problem = api.post(
        "targets",
        {"name": "x", "family": "http", "base_url": "http://user:pw-5ecret@127.0.0.1:9/"},
    )

    assert status == 400
    assert problem["errors"][0]["field"] == "base_url"
    assert "pw-5ecret" not in str(problem)
