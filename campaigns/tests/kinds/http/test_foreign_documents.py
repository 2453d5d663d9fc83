"""Documents as Pulp, Foreman, Katello, browsers and shells of Windows write them: every request is read, or told."""

import json
from pathlib import Path

import msgspec
import pytest

from campaigns.kinds.http.importing.reading import KNOWN, read_sketch
from campaigns.kinds.http.importing.recorded import CLOSES, OPENS, BadImport
from campaigns.kinds.http.importing.sketch import written
from campaigns.kinds.http.program.compiling import text_of as text_of_value
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.tests.kinds.http.apidoc import apidoc
from campaigns.tests.kinds.http.recordings import OPENAPI, SIGN_IN, URL, entry, har

FILES = Path(__file__).with_name("files")
UUID = "00000000-0000-4000-8000-000000000000"


def lines(sketch):
    """The requests of a sketch, as they are shown."""
    return [each.line for each in sketch.proposals]


def every(sketch):
    """The scenario of all requests of a sketch."""
    return read_scenario(written(sketch, range(len(sketch.proposals)), ())).scenario


def told(sketch):
    """All messages about a file."""
    return " ".join([*sketch.left_out, *sketch.struck, *sketch.hints])


def shown_without_marks(sketch):
    """Return whether nothing that people see holds a character of marks."""
    seen = told(sketch) + "".join(each.line + each.why for each in sketch.proposals)
    return OPENS not in seen and CLOSES not in seen


# Pulp


def test_all_operations_of_a_pulp_are_of_the_target():
    sketch = read_sketch((FILES / "openapi-pulp-href.json").read_bytes(), "http://pulp.example")

    assert lines(sketch) == [
        "GET /pulp/api/v3/status/",
        "GET /pulp/api/v3/remotes/file/file/",
        "POST /pulp/api/v3/remotes/file/file/",
        "GET {file_file_remote_href}",
    ]
    assert sketch.left_out == []
    assert shown_without_marks(sketch)
    assert every(sketch).steps[3].get == "{file_file_remote_href}"


def pulp(servers="http://localhost:24817/"):
    """A document as drf-spectacular writes Pulp's, in which paths begin with a whole address."""
    href = [
        {
            "in": "path",
            "name": "file_file_remote_href",
            "required": True,
            "schema": {"type": "string"},
        }
    ]
    number = [
        *href,
        {"in": "path", "name": "number", "required": True, "schema": {"type": "integer"}},
    ]

    def operation(name, parameters=()):
        return {"operationId": name, "parameters": list(parameters), "responses": {"200": {}}}

    return {
        "openapi": "3.0.1",
        "servers": [{"url": servers}],
        "paths": {
            "/pulp/api/v3/remotes/file/file/": {"get": operation("remotes_file_file_list")},
            "{file_file_remote_href}": {
                "get": operation("remotes_file_file_read", href),
                "patch": operation("remotes_file_file_partial_update", href),
            },
            "{file_file_remote_href}tasks/": {"get": operation("remotes_file_file_tasks", href)},
            "{file_file_remote_href}versions/{number}/": {"get": operation("a_b", number)},
            "{other_href}/add/": {"post": operation("x_y")},
        },
    }


@pytest.mark.parametrize(
    "servers", ["http://localhost:24817/", "/", "/pulp/", "https://elsewhere.example/base"]
)
def test_an_address_at_the_begin_of_a_path_is_replaced_whole_with_one_slash(servers):
    sketch = read_sketch(json.dumps(pulp(servers)).encode(), "http://pulp.example")

    scenario = every(sketch)
    assert [step.path for step in scenario.steps][1:] == [
        "{file_file_remote_href}",
        "{file_file_remote_href}",
        "{file_file_remote_href}tasks/",
        "{file_file_remote_href}versions/{its_number}/",
        "{other_href}/add/",
    ]
    assert scenario.data["file_file_remote_href"] == [f"/pulp/api/v3/remotes/file/file/{UUID}/"]
    for step in scenario.steps:
        path = step.path
        for name, (value,) in scenario.data.items():
            path = path.replace(f"{{{name}}}", text_of_value(value))
        assert path.startswith("/")
        assert "//" not in path
    assert not sketch.left_out
    assert shown_without_marks(sketch)


def test_eight_hundred_operations_are_all_read():
    parameters = [{"in": "path", "name": "a_href", "required": True, "schema": {"type": "string"}}]
    paths = {f"{{a_href}}{n}/": {"get": {"parameters": parameters}} for n in range(800)}

    sketch = read_sketch(json.dumps({"openapi": "3.0.1", "paths": paths}).encode())

    assert len(sketch.proposals) == 800
    assert sketch.left_out == []


def test_an_id_of_one_thing_is_no_id_of_another():
    number = [{"in": "path", "name": "id", "required": True, "schema": {"type": "integer"}}]
    paths = {
        path: {"get": {"parameters": number}}
        for path in ("/users/{id}/", "/users/{id}/keys/", "/groups/{id}/", "/a/groups/{id}/")
    }

    scenario = every(read_sketch(json.dumps({"openapi": "3.0.1", "paths": paths}).encode()))

    assert [step.path for step in scenario.steps] == [
        "/users/{id}/",
        "/users/{id}/keys/",
        "/groups/{groups_id}/",
        "/a/groups/{groups_id_}/",
    ]


def test_a_parameter_that_the_document_does_not_describe_is_filled_too():
    scenario = every(read_sketch(b'{"openapi": "3.0.1", "paths": {"/a/{b}/c": {"get": {}}}}'))

    assert scenario.steps[0].path == "/a/{b}/c"
    assert scenario.data == {"b": ["text"]}


def test_what_is_broken_or_elsewhere_in_a_document_costs_itself():
    document = {
        "openapi": "3.0.1",
        "paths": {
            "/a": {"get": {}, "post": "cut"},
            "/b": 7,
            "/c": {"get": {"$ref": "others.yaml#/c"}},
            "/d": {"post": {"requestBody": {"$ref": "bodies.yaml#/d"}}},
            "/e": {"get": None},
        },
    }

    sketch = read_sketch(json.dumps(document).encode())

    assert lines(sketch) == ["GET /a", "POST /d"]
    assert sketch.left_out == [
        "Of the OpenAPI document: POST /a is no object. The path /b is no object, or is not in the document. "
        "GET /c is no object. 1 more like that."
    ]
    assert "refers to others.yaml#/c and others, outside itself" in told(sketch)


# Foreman and Katello


def test_an_apidoc_gives_a_request_for_each_address():
    sketch = read_sketch(apidoc(), "https://foreman.example")

    assert sketch.format == "apipie"
    assert [(each.line, each.ticked, each.why) for each in sketch.proposals] == [
        ("GET /api/hosts", True, ""),
        ("GET /api/hostgroups/{hostgroup_id}/hosts", False, "it needs values: hostgroup_id"),
        ("GET /api/hosts/{id}", False, "it needs values: id"),
        ("POST /api/hosts", False, "it changes something"),
        ("GET /api/hosts/{id}/facts", False, "deprecated"),
        ("GET /katello/api/ping", True, ""),
        (
            "GET /katello/api/products/{product_id}/repository_sets/{repository_sets_id}/available_repositories?kind=yum",
            False,
            "it needs values: product_id, id, kind",
        ),
    ]
    assert sketch.left_out == ["1 request to the target: the method DESTROY (1)."]
    assert shown_without_marks(sketch)
    scenario = every(sketch)
    assert scenario.login == "target"
    assert scenario.steps[3].json == {"host": {"name": "text-{attempt}-{number}"}}
    assert scenario.data == {
        "hostgroup_id": ["text"], "id": ["text"], "product_id": [1], "repository_sets_id": ["text"],
    }  # fmt: skip


def test_what_is_broken_in_an_apidoc_costs_itself():
    broken = json.loads(apidoc())
    resources = broken["docs"]["resources"]
    resources["nothing"] = None
    resources["ping"]["methods"] += [{"name": "no apis"}, 7]
    del resources["hosts"]["methods"][1]["apis"][0]["http_method"]

    sketch = read_sketch(json.dumps(broken).encode())

    assert len(sketch.proposals) == 6
    assert sketch.left_out[0] == (
        "Of the apidoc: Method 2 of hosts cannot be read ('http_method' is missing). Method 2 of ping cannot be read "
        "('apis' is missing). Method 3 of ping cannot be read (it has another form). 1 more like that."
    )


def test_an_apidoc_of_one_resource_is_read():
    """Apipie lists the resource then, where it has them by name else."""
    one = json.loads(apidoc())
    one["docs"]["resources"] = [one["docs"]["resources"]["hosts"]]

    sketch = read_sketch(json.dumps(one).encode())

    assert len(sketch.proposals) == 5
    assert sketch.proposals[0].step["name"] == "hosts index"


def test_an_apidoc_of_another_program_is_not_signed_in():
    other = json.loads(apidoc())
    other["docs"]["name"] = "Shop"

    assert every(read_sketch(json.dumps(other).encode())).login != "target"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"docs": {"resources": {}}}, "It looks like the apidoc of a Foreman"),
        ({"docs": {"resources": {"a": {"methods": []}}}}, "has no method with an address"),
        ({"docs": {"resources": {"a": {"methods": [1]}}}}, "Method 1 of a cannot be read"),
    ],
)
def test_an_apidoc_without_methods_is_refused(document, message):
    with pytest.raises(BadImport, match=message):
        read_sketch(json.dumps(document).encode())


# YAML

WRITTEN = ["2024-01-31", "NO", "on", "12:30", "010", "0x1F", "1_000", "1.10", "1e3", "2024-01-31T12:00:00Z", "+5", "~"]  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN[:-1])
def test_an_example_of_yaml_stays_what_was_written(text):
    document = f"""\
openapi: 3.0.3
paths:
  /items/{{day}}:
    post:
      parameters:
        - {{name: day, in: path, required: true, schema: {{type: string, example: {text}}}}}
        - {{name: from, in: query, required: true, example: {text}, schema: {{type: string}}}}
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [a, list]
              properties:
                a: {{type: string, default: {text}}}
                list: {{type: array, items: {{type: string}}, example: [{text}, "{text}"]}}
      responses: {{200: {{description: fine}}}}
"""
    sketch = read_sketch(document.encode())
    scenario = every(sketch)
    step = scenario.steps[0]

    assert scenario.data == {"day": [text]}
    assert step.path.partition("from=")[2].replace("%3A", ":").replace("%2B", "+") == text
    assert step.json == {"a": text, "list": [text, text]}
    assert step.expect.status == 200


def test_numbers_of_yaml_stay_numbers_where_numbers_are_wanted():
    document = b"""\
openapi: 3.0.3
paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            example: {count: 5, share: 1.50, name: NO, yes: no, day: 2024-01-31, flag: true, nothing: null}
"""
    step = every(read_sketch(document)).steps[0]

    assert step.json == {
        "count": 5, "share": 1.5, "name": "NO-{attempt}-{number}", "yes": "no", "day": "2024-01-31", "flag": True, "nothing": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", [*WRITTEN, "-.5", "1.5e3", "null", "true", "5", "1.5", "", "=", "<<", "1E5"]
)
def test_a_text_of_a_recording_stays_a_text_in_the_scenario(text):
    """PyYAML writes 1e3 without quotes, and a scenario is read as YAML 1.2, where it is a number."""
    sketch = read_sketch(har(entry("POST", "/a", body={"value": text, "list": [text]})))

    assert every(sketch).steps[0].json == {"value": text, "list": [text]}


def test_merged_keys_of_yaml_are_merged():
    document = b"""\
openapi: 3.0.3
x: &base
  responses: {'201': {description: made}}
paths:
  /a:
    get:
      <<: *base
      operationId: merged
"""
    assert every(read_sketch(document)).steps[0].expect.status == 201


# HAR


def test_a_recording_without_answers_has_its_requests():
    sketch = read_sketch((FILES / "har-no-response.har").read_bytes(), "https://app.example")

    assert lines(sketch) == ["GET /a"]
    assert sketch.proposals[0].ticked
    assert sketch.hints[0].startswith("The file holds no answer to 1 request")


def test_a_recording_in_utf_16_is_read():
    sketch = read_sketch((FILES / "har-utf16.har").read_bytes(), "https://app.example")

    assert lines(sketch) == ["GET /a"]


def test_one_bad_entry_costs_one_entry():
    bad = [
        {"request": {"url": f"{URL}/x"}},
        7,
        {"request": {"method": "GET"}},
        {"request": {"method": "", "url": ""}},
    ]
    data = har(entry("GET", "/a"), *bad, entry("GET", "/b"))

    sketch = read_sketch(data)

    assert lines(sketch) == ["GET /a", "GET /b"]
    assert sketch.left_out == [
        "Entry 2 of the HAR file cannot be read ('method' is missing). Entry 3 of the HAR file cannot be read ('int' object is "
        "not subscriptable). Entry 4 of the HAR file cannot be read ('url' is missing). 1 more like that."
    ]


def test_numbers_that_are_none_cost_nothing():
    data = har(entry("GET", "/a", answer={"a": 1}), entry("GET", "/b"))
    for time in (b"NaN", b"-Infinity", b"null", b'"fast"'):
        assert lines(read_sketch(data.replace(b'"time": 100', b'"time": ' + time))) == [
            "GET /a",
            "GET /b",
        ]


# curl


@pytest.mark.parametrize(
    "text",
    [
        (FILES / "curl-windows-cmd.txt").read_text(),
        'curl "https://a.example/x" ^\r\n  -H "A: b" ^\r\n  --compressed',
        'curl.exe -X POST https://a.example/ -H "Content-Type: application/json" -d "{""a"":1}"',
        'curl.exe "https://a.example/x" `\r\n  -H "A: b"',
        'Invoke-WebRequest -UseBasicParsing -Uri "https://a.example/x"',
        '$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\r\nInvoke-WebRequest -Uri "https://a.example"',
        'await fetch("https://a.example/x", {"method": "GET"});',
    ],
    ids=["cmd", "old cmd", "doubled quotes", "backticks", "PowerShell", "session", "fetch"],
)
def test_what_is_copied_for_another_shell_is_told_to_copy_for_bash(text):
    with pytest.raises(BadImport, match=r"“Copy as cURL \(bash\)”"):
        read_sketch(text.encode())


def test_carets_within_quotes_of_bash_are_none_of_windows():
    sketch = read_sketch(
        b"curl 'https://a.example/?q=^\"x' -d 'a ^\n b'\ncurl \"https://a.example/^\""
    )

    assert len(sketch.proposals) == 2


def test_lines_between_commands_are_told_and_open_no_quotes():
    text = (
        "Here's how to ask:\n"
        "curl https://a.example/1\n"
        '{"count": 1, "it\'s": "fine"}\n'
        "$ curl https://a.example/2 | jq .\n"
        "[root@host ~]# curl https://a.example/3\n"
        "C:\\Users\\anna>curl https://a.example/4 && rm x\n"
        "curl -F a=b https://a.example/5\n"
        "curl 'https://a.example/6\n"
    )
    sketch = read_sketch(text.encode())

    assert lines(sketch) == ["GET /1", "GET /2", "GET /3", "GET /4"]
    assert sketch.left_out == [
        "Line 1: “Here's how to ask:” is no curl command; leave only commands that begin with curl. "
        'Line 3: “{"count": 1, "it\'s": "fine"}” is no curl command; leave only commands that begin with curl. '
        "Line 6: “rm” is no curl command; leave only commands that begin with curl. 2 more like that."
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curl https://a.example/1 \\ \n  -H 'A: b'\n", "Line 2 begins with an option"),
        ("curl https://a.example/1 \\\n", r"Line 1 ends with \\, and nothing follows"),
        ("curl 'https://a.example/1\ncurl 'https://a.example/2'", "Line 2: a quote"),
        ("curl 'https://a.example/1\ncurl https://a.example/2'", "holds a blank or a line end"),
    ],
)
def test_a_command_that_is_not_whole_is_refused(text, message):
    with pytest.raises(BadImport, match=message):
        read_sketch(text.encode())


# Files of another kind


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x1f\x8b\x08\x00", "packed (gzip)"),
        (b"\x00\x01\x02\x03abc", "no text"),
        (b"<!DOCTYPE html><html><title>Sign in</title>", "a page of HTML"),
        (b'<?xml version="1.0"?><jmeterTestPlan version="1.2">', "a test plan of JMeter"),
        (b"<metadata></metadata>", "It is XML"),
        (b"import http from 'k6/http';\nexport default function () {}", "a script of k6"),
        (b"from locust import HttpUser\n", "a file of Locust"),
        (b"wget https://a.example/", "another program than curl"),
        (b"a.iso," + b"0" * 64 + b",1\n", "a PULP_MANIFEST"),
        (b'{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/"}, "item": []}', "a collection of Postman"),
        (b'{"_type": "export", "resources": []}', "an export of Insomnia"),
        (b"steps:\n- {name: a, get: /}\n", "a scenario already"),
        (b'{"paths": {"/a": {}}}', "looks like an OpenAPI document"),
        (b'{"entries": []}', "looks like a HAR file"),
        (b'{"asyncapi": "2.0.0"}', "an AsyncAPI document"),
        (b'[{"a": 1}]', "It is a list"),
        (b"a word", "It is a text"),
        (b"Running 30s test @ http://a/\n  2 threads and 10 connections\n  Requests/sec: 10", "none of the formats"),
        (b'"Name","Request Count"\n"/a",5\n', "none of the formats"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_says_what_it_looks_like(data, message):
    with pytest.raises(BadImport) as caught:
        read_sketch(data)
    assert message in str(caught.value)
    assert str(caught.value).endswith(KNOWN)


# Every importer, every damage

SAMPLES = {
    "HAR": SIGN_IN,
    "HAR, indented": json.dumps(json.loads(SIGN_IN), indent=2).encode(),
    "HAR without answers": (FILES / "har-no-response.har").read_bytes(),
    "OpenAPI in YAML": OPENAPI.encode(),
    "OpenAPI in JSON": json.dumps(pulp(), indent=1).encode(),
    "apipie": apidoc(),
    "curl": (
        f"curl '{URL}/items/?q=ä' -H 'Accept: application/json' \\\n  --compressed\n"
        f"curl -X POST {URL}/items/ --json '{{\"a\":\n 1}}'\ncurl {URL}/items/7\n"
    ).encode(),
}


def requests_of(data):
    """Requests and bodies of a file."""
    sketch = read_sketch(data, URL)
    return [(each.line, each.step) for each in sketch.proposals]


def read_or_refused(data):
    """The sketch of a file; None where it is refused in a few words."""
    refused = ""
    try:
        return read_sketch(data, URL)
    except BadImport as refusal:
        refused = str(refusal)
    assert 0 < len(refused) < 700
    return None


def with_line_ends_of_windows(data):
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


ENCODINGS = {
    "UTF-8 with a mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda data: data.decode().encode("utf-16-le"),
    "UTF-16, the other way": lambda data: data.decode().encode("utf-16-be"),
    "line ends of Windows": with_line_ends_of_windows,
    "both of Windows": lambda data: with_line_ends_of_windows(data).decode().encode("utf-16"),
    "empty lines around": lambda data: b"\n\n" + data + b"\n\n",
}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_same_requests_are_read_in_each_encoding(sample, encoding):
    changed = ENCODINGS[encoding](SAMPLES[sample])

    read = json.loads(json.dumps(requests_of(changed)).replace("\\r\\n", "\\n"))

    assert read == json.loads(json.dumps(requests_of(SAMPLES[sample])))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("tenth", range(1, 10))
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_a_file_that_was_cut_off_gives_all_requests_or_a_message(sample, tenth, codec):
    whole = SAMPLES[sample]
    cut = whole.decode()[: len(whole.decode()) * tenth // 10].encode(codec)
    sketch = read_or_refused(cut)
    if sketch is None:
        return
    missing = len(requests_of(whole)) - len(sketch.proposals)
    if sample == "curl":  # nothing shows that commands were there
        assert all(
            line in [each for each, _ in requests_of(whole)] or line == lines(sketch)[-1]
            for line in lines(sketch)
        )
    else:
        assert missing <= 0 or "it was cut off" in told(sketch) or "was cut off" in told(sketch)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("at", ["before", "between", "after"])
def test_a_line_of_noise_is_told(sample, at):
    noise = "2026-01-02 10:00:00 It's a line of a log\n"
    rows = SAMPLES[sample].decode().splitlines(keepends=True)
    rows[-1] += "" if rows[-1].endswith("\n") else "\n"
    place = {"before": 0, "between": len(rows) // 2, "after": len(rows)}[at]
    changed = "".join([*rows[:place], noise, *rows[place:]]).encode()
    sketch = read_or_refused(changed)
    if sketch is None:
        return
    assert (
        requests_of(SAMPLES[sample]) == [(each.line, each.step) for each in sketch.proposals]
        or sketch.left_out
    )


@pytest.mark.parametrize(
    "sample", [each for each in SAMPLES if each != "curl" and "YAML" not in each]
)
def test_a_second_copy_behind_a_document_is_refused_with_its_line(sample):
    with pytest.raises(BadImport, match=r"Line \d+, column \d+: the file is no JSON from here on"):
        read_sketch(SAMPLES[sample] + b"\n" + SAMPLES[sample])


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_goes_to_the_browser_holds_no_mark(sample):
    sketch = read_sketch(SAMPLES[sample], URL)

    assert shown_without_marks(sketch)
    assert OPENS not in json.dumps(json.loads(msgspec.json.encode(sketch)))
