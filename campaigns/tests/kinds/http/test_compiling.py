"""The bytes of requests, and where values are in answers."""

import pytest

from campaigns.kinds.http.program.compiling import Place, compiled_steps
from campaigns.kinds.http.program.judging import MISSING, path_of, value_at
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.load.failures import LoadFailed

HERE = Place("http", "target")


def built(steps, **values):
    scenario = read_scenario(f"steps:\n{steps}").scenario
    *_, last = compiled_steps(scenario, scenario.steps, HERE)
    return last.build(values)


@pytest.mark.parametrize(
    ("path", "values", "line"),
    [
        ("/a%20b/{host}?q=100%25", {"host": 7}, b"/a%20b/7?q=100%25"),
        ("/{host}/{round}/{number}", {"host": 0, "round": 1, "number": 2}, b"/0/1/2"),
        ("/100%25", {}, b"/100%25"),
        ("/{{host}}/%d", {}, b"/%7Bhost%7D/%d"),
    ],
)
def test_percent_signs_of_a_path_stay(path, values, line):
    assert built(f"  - name: it\n    get: '{path}'", **values).split(b" ")[1] == line


TAKEN = "  - name: first\n    get: /\n    take: {name: {json: name}}\n  - name: then\n    get: '%s'"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("plain-1.2_3~x", b"/plain-1.2_3~x"),
        ("a/b c%", b"/a%2Fb%20c%25"),
        ("ü\n", b"/%C3%BC%0A"),
        (7, b"/7"),
        (True, b"/true"),
        (None, b"/"),
        ([1, "a"], b"/%5B1%2C%22a%22%5D"),
        (1.5, b"/1.5"),
    ],
)
def test_a_value_within_a_path_is_encoded(value, line):
    assert built(TAKEN % "/{name}", name=value).split(b" ")[1] == line


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("/items/1/?a=b&c=%20", b"/items/1/?a=b&c=%20"),
        ("/items/ü#part", b"/items/%C3%BC"),
        ("/items/1#part", b"/items/1"),
        ("http://target/items/2?x=1", b"/items/2?x=1"),
    ],
)
def test_a_path_that_the_server_sent_is_kept(value, line):
    assert built(TAKEN % "{name}", name=value).split(b" ")[1] == line


@pytest.mark.parametrize("value", ["//elsewhere/", "http://elsewhere/", "items", ""])
def test_a_path_elsewhere_is_refused(value):
    with pytest.raises(LoadFailed, match="is no path on the target"):
        built(TAKEN % "{name}", name=value)


ANSWER = {"results": [{"href": "/1"}, {"href": "/2"}], "0": "key", "empty": None}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("results.1.href", "/2"),
        ("results.-1.href", "/2"),
        ("0", "key"),
        ("empty", None),
        ("", ANSWER),
        ("results.2.href", MISSING),
        ("results.-3.href", MISSING),
        ("results.href", MISSING),
        ("results.1_0", MISSING),
        ("empty.x", MISSING),
        ("results.0.href.0", MISSING),
    ],
)
def test_a_value_is_found_by_keys_and_positions(path, value):
    assert value_at(ANSWER, path_of(path)) is value or value_at(ANSWER, path_of(path)) == value


@pytest.mark.parametrize("mark", ["\r\n", "\r", "\n", "\0"])
def test_no_value_ends_a_header_and_begins_another(mark):
    steps = f"{TAKEN % '/'}\n    headers: {{X-Name: 'a{{name}}'}}"

    with pytest.raises(LoadFailed, match="then"):
        built(steps, name=f"x{mark}X-Admin: yes")

    assert b"X-Admin" in built(steps, name="x X-Admin: yes")  # within a value it is a text
