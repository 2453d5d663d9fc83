"""Scenarios from HAR files, OpenAPI documents and curl commands: what is taken, carried, struck out and left out."""

import json
import random
import tracemalloc
from contextlib import suppress
from time import thread_time

import msgspec
import pytest

from campaigns.kinds.http.importing.reading import read_sketch
from campaigns.kinds.http.importing.recorded import BadImport
from campaigns.kinds.http.importing.sketch import Sketch, written
from campaigns.kinds.http.program.reading import BadScenario, read_scenario
from campaigns.tests.kinds.http.apidoc import apidoc
from campaigns.tests.kinds.http.recordings import (
    OPENAPI,
    PASSWORD,
    SECRETS,
    SIGN_IN,
    URL,
    entry,
    har,
)

MOST_SECONDS = 8.0
BOMB = "openapi: 3.0.0\na0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 8)
)


def drafted(data, *, offers=True, base_url="", think=False):
    """Read a file, send the sketch to and fro as a browser does, and give it with the scenario of what is proposed."""
    sketch = msgspec.json.decode(msgspec.json.encode(read_sketch(data, base_url)), type=Sketch)
    steps = [number for number, each in enumerate(sketch.proposals) if each.ticked]
    text = written(sketch, steps, range(len(sketch.offers)) if offers else (), think=think)
    return sketch, text, read_scenario(text).scenario


def test_a_recorded_sign_in_becomes_a_scenario_that_carries_its_tokens():
    sketch, text, scenario = drafted(SIGN_IN, base_url=f"{URL}:443/")

    assert [(each.line, each.ticked) for each in sketch.proposals] == [
        ("GET /sign-in", True), ("GET /app.css", False), ("POST /sign-in", True), ("GET /items/?limit=10", True),
        ("PATCH {href}?soft=1", True),
    ]  # fmt: skip
    assert [step.name for step in scenario.steps] == [
        "get sign-in",
        "post sign-in",
        "get items",
        "patch items",
    ]
    first, sign_in, items, patch = scenario.steps
    assert sign_in.form == {
        "user": "{target_user}",
        "password": "{target_password}",
        "csrf": "{csrf}",
    }
    assert first.take["csrf"].between[1] == '"'
    assert sign_in.take["token"].json == "token"
    assert items.headers["Authorization"] == patch.headers["Authorization"] == "Bearer {token}"
    assert items.take["href"].json == "results.0.href"
    assert patch.path == "{href}?soft=1"
    assert patch.json == {"owner": "{id}", "note": "{{x}} and {{{y}}}", "again": "struck-out"}
    assert (items.expect.status, patch.expect.status) == (200, 202)
    assert scenario.cookies == "round"
    assert "User-Agent" not in text
    for secret in SECRETS:
        assert secret not in text
        assert secret not in str(sketch)


def test_what_is_not_taken_is_said_and_a_secret_that_is_not_carried_is_not_sent():
    sketch, text, scenario = drafted(SIGN_IN, offers=False)

    assert sketch.left_out == [
        "1 request that got no answer, as when a page is left or a blocker stops them.",
        "1 request to other hosts: tracker.example.net (1).",
        "1 request to api.example.org: the method HEAD (1).",
    ]
    struck = " ".join(sketch.struck)
    for each in (
        "form field “password” of “post sign-in”",
        "header “X-Api-Key”",
        "“seen”",
        "{target_user}",
    ):
        assert each in struck
    assert "Authorization" not in text
    assert scenario.steps[1].form["csrf"] == "struck-out"
    assert scenario.steps[3].path == "/items/0189-aaaa-bbbb/?soft=1"
    assert scenario.steps[3].json["owner"] == 12345678


def test_one_time_codes_are_struck_out_also_as_numbers():
    commands = (
        b"curl 'https://api.example.org/verify?code=482913&country_code=4911'\n"
        b"curl 'https://api.example.org/verify' -H 'Content-Type: application/json' "
        b"""-d '{"otpCode": 551122, "verification_code": "AB12CD", "status_code": 2000, "code": "DE"}'\n"""
        b"curl 'https://api.example.org/confirm' -d 'one-time=907315&pin=0420&zip_code=10115'\n"
    )
    sketch, text, scenario = drafted(commands)

    first, second, third = scenario.steps
    assert first.path == "/verify?code=struck-out&country_code=4911"
    assert second.json == {
        "otpCode": "struck-out", "verification_code": "struck-out", "status_code": 2000, "code": "DE",
    }  # fmt: skip
    assert third.form == {"one-time": "struck-out", "pin": "struck-out", "zip_code": "10115"}
    assert "One-time codes and PINs: query “code” of" in " ".join(sketch.struck)
    for code in ("482913", "551122", "AB12CD", "907315", "0420"):
        assert code not in text + str(sketch)


def test_pauses_are_taken_only_when_they_are_wanted():
    _, _, scenario = drafted(SIGN_IN, think=True)

    assert [step.think.seconds if step.think else 0 for step in scenario.steps] == [
        0,
        1.9,
        2.9,
        0.9,
    ]
    assert all(step.think is None for step in drafted(SIGN_IN)[2].steps)


def test_a_file_of_another_server_is_taken_for_the_target_and_said():
    sketch, _, _ = drafted(SIGN_IN, base_url="http://staging.example.org")

    assert sketch.host == "api.example.org"
    assert sketch.hints[0].startswith("No request of the file goes to staging.example.org;")


def test_a_request_that_was_refused_before_the_sign_in_is_not_proposed():
    long = [("Accept", "text/html,application/xhtml+xml,image/avif;q=0.9,*/*;q=0.8")]
    sketch, _, scenario = drafted(
        har(entry("GET", "/a", status=401), entry("GET", "/a", headers=long))
    )

    assert [each.why for each in sketch.proposals] == [
        "answered 401: the sign-in came afterwards",
        "",
    ]
    assert scenario.steps[0].headers == {"Accept": "text/html,*/*;q=0.8"}


def test_what_the_client_knew_before_is_not_carried():
    data = har(
        entry("GET", "/search/?q=something-long", answer={"echo": "something-long", "next": "/search/page-two/"}),
        entry("GET", "/search/page-two/?q=something-long"),
    )  # fmt: skip

    assert [each.name for each in read_sketch(data).offers] == ["next"]


def test_more_than_fifty_requests_are_offered_and_fifty_proposed():
    sketch, _, scenario = drafted(har(*(entry("GET", f"/a/{number}") for number in range(60))))

    assert len(sketch.proposals) == 60
    assert len(scenario.steps) == 50
    with pytest.raises(BadImport, match="60 requests are ticked"):
        written(sketch, range(60), ())
    with pytest.raises(BadImport, match="tick at least one"):
        written(sketch, (), ())


def test_operations_that_change_nothing_and_need_nothing_are_proposed():
    sketch, _, scenario = drafted(OPENAPI.encode(), base_url="https://api.example.org")

    assert [(each.line, each.why) for each in sketch.proposals] == [
        ("GET /v1/items/", ""), ("POST /v1/items/", "it changes something"),
        ("GET /v1/items/{item_id}/", "it needs values: item-id"),
    ]  # fmt: skip
    assert scenario.login == "target"
    assert scenario.steps[0].expect.status == 200

    every = read_scenario(written(sketch, range(3), ())).scenario
    assert every.data == {"item_id": ["00000000-0000-4000-8000-000000000000"]}
    new = "a name-{attempt}-{number}"
    assert every.steps[1].json["name"] == every.steps[1].json["parent"]["parent"]["name"] == new
    assert "id" not in every.steps[1].json
    assert any("“key”" in hint for hint in sketch.hints)


def test_commands_of_curl_are_read_as_a_shell_splits_them():
    text = f"""\
# copied from the browser
curl '{URL}/items/?q=a%20b' -H 'Accept: application/json' --compressed \\
  -H 'Referer: {URL}/' | jq .
curl -sSX PUT {URL}/items/7 -u anna:correct-horse --json $'{{"name": "it\\'s \\u00e4"}}' -o /dev/null 2>&1
curl -G {URL}/find --data-urlencode 'q=1 & 2'
curl -sXDELETE {URL}/items/8
curl -d '' {URL}/sign-out
"""
    sketch, written_, scenario = drafted(text.encode())

    assert [each.line for each in sketch.proposals] == [
        "GET /items/?q=a%20b",
        "PUT /items/7",
        "GET /find?q=1%20%26%202",
        "DELETE /items/8",
        "POST /sign-out",
    ]
    assert scenario.login == "target"
    assert scenario.steps[1].json == {"name": "it's ä"}
    assert "correct-horse" not in written_ + str(sketch)


@pytest.mark.parametrize(
    ("type_", "body"),
    [
        ("text/xml", "<login><ns:password a='b'>{}</ns:password>\n</login>"),
        ("text/plain", "pwd={}&a=1"),
        ("application/x-www-form-urlencoded", "pwd={}&a=1&a=2"),
        ("application/json", '{{"query": "mutation {{ login(password: \\"{}\\") }}"}}'),
        ("application/json", '{{"inner": "{{\\"pin\\": \\"{}\\"}}"}}'),
        ("application/json", '{{"a": "Bearer {}"}}'),
        ("application/x-www-form-urlencoded", '{{"password": "{}"}}'),
    ],
)
def test_a_secret_within_a_longer_text_is_struck_out(type_, body):
    sketch, text, _ = drafted(har(entry("POST", "/a", body=body.format(PASSWORD), type_=type_)))

    assert PASSWORD not in text + str(sketch)
    assert sketch.struck
    assert type_ != "text/xml" or "</ns:password>\n</login>" in str(
        sketch.proposals[0].step["body"]
    )


def test_files_that_are_sent_are_left_out_however_their_type_is_told():
    body = f'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{PASSWORD}\r\n--x--'
    headers = [("Content-Type", "multipart/form-data; boundary=x")]

    with pytest.raises(BadImport, match="uploads of files"):
        read_sketch(har(entry("POST", "/a", headers=headers, body=body, type_="")))


def test_a_schema_that_holds_itself_many_times_over_is_made_to_a_limit():
    names = [f"p{n}" for n in range(60)]
    schema = {"required": names, "properties": {name: {"$ref": "#/s"} for name in names}}
    content = {"application/json": {"schema": {"$ref": "#/s"}}}
    paths = {"/a": {"post": {"requestBody": {"content": content}}}, "/b": {"get": {}}}

    sketch = read_sketch(json.dumps({"openapi": "3.1.0", "s": schema, "paths": paths}).encode())

    assert "POST /a" in [each.line for each in sketch.proposals]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The file is empty"),
        (b"\xff\xfe", "The file is empty"),
        (b"openapi: 3.0.0\ninfo: {title: M\xfcller}", "no text in UTF-8: line 2 holds the byte 0xfc"),
        (b"PK\x03\x04", "is packed (ZIP)"),
        (b"a: b", "none of the formats"),
        (b'{"log": {"entries": [', "ends in the middle, in line 1: it was cut off"),
        (b'{"log":\n {"entries" []}}', "Line 2, column 13: the file is no JSON from here on"),
        (b'{"log": {"entries": []}}', "has no entries"),
        (b'{"log": {"entries": 5}}', "is no list"),
        (b'{"log": {"entries": [{"request": {}, "response": {"status": 200}}]}}', "Entry 1 of the HAR file cannot be read"),
        (b'{"log": {"entries": [7]}}', "Entry 1"),
        (b'{"swagger": "2.0", "paths": {}}', "version 2.0"),
        (b"openapi: 3.0.0\npaths: {}", "has no paths"),
        (b"openapi: 3.0.0\npaths: {/a: {get: {$ref: 'other.yaml#/a'}}}", "outside itself"),
        (b"openapi: 3.0.0\n\tpaths", "no YAML (line 2"),
        (b"[" * 100_000, "nested too deeply"),
        (b"curl 'http://a", "Line 1: a quote"),
        (b"curl -I http://a; rm -rf /", "Line 1: “rm” is no curl command"),
        (b"curl -I http://a && \\\n\\rm -rf /", "Line 2: “rm” is no curl command"),
        (b"curl http://a -d @/etc/passwd", "reads a file"),
        (b"curl http://a --data-urlencode x@/etc/passwd", "reads a file"),
        (har(entry("GET", "/", url="http://[::1")), "URLs that cannot be read"),
        (har(entry("POST", "/", body="[" * 900 + "]" * 900)), "nested too deeply"),
        (BOMB.encode(), "stand for more than"),
        (b"openapi: 3.0.0\nx: &a [*a]", "Line 2: *a stands within itself"),
        (b"curl -F a=b http://a", "Line 1: -F sends or reads files"),
        (b"curl ftp://a", "no URL of HTTP"),
        (b"curl --frobnicate http://a", "--frobnicate is not known"),
        (b"curl -X", "-X lacks its value"),
        (b"curl -I http://a", "the method HEAD"),
    ],
)  # fmt: skip
def test_a_bad_file_gets_a_clear_message(data, message):
    with pytest.raises(BadImport) as caught:
        written(sketch := read_sketch(data), range(len(sketch.proposals)), ())
    assert message in str(caught.value)


@pytest.mark.parametrize("data", [SIGN_IN, json.dumps({"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}).encode(), OPENAPI.encode(), apidoc(),
                                  f"curl '{URL}/a?b=c' -H 'A: b' -d $'x\\u0041'".encode()])  # fmt: skip
def test_any_change_of_a_file_is_read_or_refused(data):
    chance = random.Random(7)
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(changed))
            changed[at : at + chance.randint(0, 9)] = bytes(
                chance.choices(b'{}[]":,\\\n\x00\xe2 $ref&*', k=chance.randint(0, 3))
            )
        with suppress(BadImport, BadScenario):
            sketch = read_sketch(bytes(changed), URL)
            steps = range(min(50, len(sketch.proposals)))
            read_scenario(written(sketch, steps, range(len(sketch.offers))))


def peak_of(data):
    """The bytes that reading a file takes at most, and its sketch."""
    tracemalloc.start()
    try:
        sketch = read_sketch(data)
        return tracemalloc.get_traced_memory()[1], sketch
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "answer",
    [
        {"k" * 40_000: list(range(10_000_000, 10_005_000))},
        {"k" * 200: {f"{n}": {"k" * 200: "a" * 8} for n in range(200)}},
        [[["a" * 8] * 10_000]],
        {"a": [{"b": [{"c": list(range(10_000_000, 10_000_030))}] * 30}] * 30},
    ],
    ids=["a long key", "long keys in each other", "a long list", "lists in each other"],
)
def test_an_answer_takes_memory_as_it_has_bytes(answer):
    data = har(entry("GET", "/a", answer=answer), entry("GET", "/b"))

    peak, sketch = peak_of(data)

    assert peak < 40 * len(data) + 1_000_000
    assert len(sketch.proposals) == 2


def test_a_value_below_many_keys_is_still_carried():
    place = {"a": [{"b": {"c": ["first", "token-of-a-run"]}}]}
    data = har(
        entry("GET", "/a", answer=place), entry("GET", "/b", headers=[("X-Run", "token-of-a-run")])
    )

    sketch, _, _ = drafted(data)

    assert [offer.take for offer in sketch.offers] == [{"json": "a.0.b.c.1"}]


def test_a_jwt_of_few_different_letters_is_struck_out():
    token = f"eyJ{'a' * 12}.{'b' * 12}.{'c' * 12}"
    data = har(
        entry("GET", "/a", headers=[("X-Page", token)], answer={}),
        entry("GET", f"/b?page={token}"),
    )

    sketch, text, _ = drafted(data)

    assert "/b?page=struck-out" in text  # as a value of its own, and not as a secret within a text
    assert token not in text
    assert token not in str(sketch)


CREATES = har(
    entry("POST", "/users/", status=201, body={"name": "anna", "role": "admin", "id": 7}, answer={"name": "anna"}),
    entry("POST", "/groups/", body={"title": "crew", "members": [{"name": "berta"}]}),
    entry("PUT", "/hosts/h-1", status=201, body={"hostname": "h-1"}),
    entry("POST", "/mail/", status=201, body="email=anna%40example.org&name=anna", type_="application/x-www-form-urlencoded"),
    entry("GET", "/users/anna/?name=crew&role=admin"),
    entry("PUT", "/users/7", body={"name": "anna", "note": "carla"}),
    entry("POST", "/users/search", body={"name": "dora"}),
    entry("DELETE", "/hosts/h-1", status=204),
)  # fmt: skip


def test_what_a_round_creates_has_a_name_of_its_own():
    sketch, _, scenario = drafted(CREATES)

    first, group, host, mail, read, put, search, delete = scenario.steps
    new = "-{attempt}-{number}"
    assert first.json == {"name": f"anna{new}", "role": "admin", "id": 7}
    assert group.json == {"title": f"crew{new}", "members": [{"name": "berta"}]}
    assert (host.path, host.json) == (f"/hosts/h-1{new}", {"hostname": f"h-1{new}"})
    assert mail.form == {"email": f"anna{new}@example.org", "name": f"anna{new}"}
    assert read.path == f"/users/anna{new}/?name=crew{new}&role=admin"
    assert put.json == {"name": f"anna{new}", "note": "carla"}
    assert search.json == {"name": "dora"}
    assert delete.path == f"/hosts/h-1{new}"
    assert len(sketch.created) == 4
    assert any("-{attempt}-{number}" in hint and "“name” of" in hint for hint in sketch.hints)
    assert [each.line for each in sketch.proposals][
        4
    ] == f"GET /users/anna{new}/?name=crew{new}&role=admin"


def test_names_stay_where_nobody_wants_new_ones():
    sketch = read_sketch(CREATES, "")
    text = written(sketch, range(len(sketch.proposals)), (), new_names=False)

    steps = read_scenario(text).scenario.steps
    assert "{attempt}" not in text
    assert steps[0].json == {"name": "anna", "role": "admin", "id": 7}
    assert steps[4].path == "/users/anna/?name=crew&role=admin"


def test_commands_of_curl_and_documents_create_with_new_names():
    _, _, of_curl = drafted(b'curl https://api.example.org/items --json \'{"name": "a"}\'')
    document = {
        "openapi": "3.0.0",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/items": {
                "post": {
                    "requestBody": {
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["name"],
                                    "properties": {"name": {"type": "string", "example": "a"}},
                                }
                            }
                        }
                    },
                    "responses": {"201": {"description": "made"}},
                }
            }
        },
    }
    sketch = read_sketch(json.dumps(document).encode(), "")
    of_document = read_scenario(written(sketch, [0], ())).scenario

    assert of_curl.steps[0].json == of_document.steps[0].json == {"name": "a-{attempt}-{number}"}


def curls():
    """A word of many pieces, each quoted or escaped."""
    return b"curl https://a.example/ -d " + b"'x'\\y" * 100_000


def servers():
    """Each value of a variable names the next one twice: the path would double 40 times."""
    variables = {f"v{n}": {"default": f"{{v{n + 1}}}{{v{n + 1}}}"} for n in range(40)}
    return json.dumps(
        {
            "openapi": "3.0.0",
            "servers": [{"url": "/{v0}", "variables": variables}],
            "paths": {"/a": {"get": {}}},
        }
    ).encode()


@pytest.mark.parametrize("make", [curls, servers])
def test_a_file_takes_time_as_it_has_bytes(make):
    """Quadratic or worse, each would take minutes, or more memory than there is."""
    began = thread_time()

    with suppress(BadImport):
        read_sketch(make(), "")

    assert thread_time() - began < MOST_SECONDS


def test_a_scenario_that_nobody_reads_is_not_written():
    body = {f"key {n}": [n] * 40 for n in range(200)}
    entries = [entry("POST", f"/{n}", body=body) for n in range(40)]

    with pytest.raises(BadImport, match=r"at most 262,144 are read. Tick fewer"):
        drafted(har(*entries))
