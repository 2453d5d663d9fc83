"""Definitions of programs: what is refused, and what the placeholders become."""

from typing import Any

import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.program.definition import (
    CSV_READER,
    MOST_MESSAGES,
    filled,
    read_definition,
    stored_definition,
)
from campaigns.kinds.program.driver import driver_for, places
from campaigns.kit.errors import Invalid
from campaigns.targets.variables import variables_of

NUMBER = {"name": "n", "initial": 1}
TEXT = {"name": "path", "type": "text", "initial": "a"}
GOOD = {
    "name": "sort",
    "arguments": ["sort", "--parallel={n}", "{{n}}", "{path}", "@{secret:key}", "{target:host}"],
    "parameters": [NUMBER, TEXT],
    "secrets": ["key"],
}


def read(**changes):
    return read_definition(
        GOOD | changes, ("fio", "plain_values", CSV_READER), ("http", "pulp"), ("sync",)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"arguments": ["sort", "{n}", "--file={path}", "{directory}/x"]},
        {"arguments": ["sh", "-e", "/srv/{path}", "{n}"]},
        {"reader": CSV_READER, "mapping": {"value": "x"}},
        {"reader": "plain_values", "metrics": [{"name": "a", "better": "neither"}]},
    ],
)
def test_what_is_near_to_that_is_taken(changes):
    assert read(**changes).name == "sort"


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"name": "Sort It"}, "name", "small letters"),
        ({"name": "sync"}, "name", "kind of perfdash's own"),
        ({"colour": 1}, "", "unknown field `colour`"),
        ({"arguments": []}, "arguments", "length >= 1"),
        ({"arguments": ["{n}", "{path}"]}, "arguments.0", "cannot be a parameter"),
        ({"arguments": ["sh", "-c", "echo {n} {path}"]}, "arguments.2", "A shell would run"),
        (
            {"arguments": ["bash", "-o", "pipefail", "-c", "{path}"]},
            "arguments.4",
            "A shell would run",
        ),
        ({"arguments": ["bash", "-ec", "x", "{n}", "-o{path}"]}, "arguments.4", "is a text"),
        ({"arguments": ["sort", "{n}", "{path}", "{m}"]}, "arguments.3", "no parameter “m”"),
        ({"arguments": ["sort", "{n}", "{path}", "{secret:x}"]}, "arguments.3", "no {secret:x}"),
        ({"arguments": ["sort", "{path}"]}, "parameters", "“n” stands nowhere"),
        ({"parameters": [NUMBER, TEXT | {"initial": None}]}, "parameters.1.initial", "begins with"),
        ({"parameters": [NUMBER | {"initial": 1.5}, TEXT]}, "parameters.0.initial", "no integer"),
        ({"parameters": [NUMBER | {"maximum": 0}, TEXT]}, "parameters.0.initial", "above 0"),
        ({"parameters": [NUMBER, TEXT | {"role": "load"}]}, "parameters.1.role", "a number"),
        ({"parameters": [NUMBER, TEXT | {"unlimited": 0}]}, "parameters.1.unlimited", "a number"),
        (
            {"parameters": [NUMBER | {"minimum": 1, "unlimited": 0}, TEXT]},
            "parameters.0.unlimited",
            "below 1",
        ),
        (
            {"parameters": [NUMBER | {"role": "load", "unlimited": 5}, TEXT]},
            "parameters.0.unlimited",
            "never without a limit",
        ),
        ({"reader": "excel"}, "reader", "no format “excel”"),
        ({"output": "x.json"}, "output", "not among `files`"),
        ({"files": ["../x"]}, "files", "no plain file name"),
        ({"environment": {"PERFDASH_X": "1"}}, "environment", "no name of a variable"),
        ({"families": ["ftp"]}, "families", "no family “ftp”"),
        ({"metrics": [{"name": "a"}]}, "metrics", "Without a reader"),
        ({"seconds": 0}, "seconds", ">= 1"),
        ({"seconds": float("inf")}, "seconds", ""),
        ({"seconds": float("nan")}, "seconds", ""),
        (
            {"parameters": [NUMBER | {"maximum": float("inf")}, TEXT]},
            "parameters.0.maximum",
            "at most",
        ),
        ({"parameters": [NUMBER | {"initial": 10**400}, TEXT]}, "parameters.0.initial", ""),
        ({"parameters": [NUMBER, TEXT | {"initial": "-rf"}]}, "parameters.1.initial", "an option"),
        ({"parameters": [NUMBER, TEXT | {"initial": " "}]}, "parameters.1.initial", "1 to 1000"),
        ({"parameters": [NUMBER | {"help": "a\0b"}, TEXT]}, "parameters.0.help", "control"),
        ({"summary": "\ud800"}, "summary", "half of a letter"),
        ({"files": ["stdout"]}, "files", "what the command prints"),
        ({"arguments": ["hyperfine", "{n}", "cat /srv/{path}"]}, "arguments.2", "is a text"),
        ({"parameters": [NUMBER, TEXT | {"maximum": 5}]}, "parameters.1.minimum", "Only a number"),
        ({"parameters": [NUMBER, TEXT | {"initial": 5}]}, "parameters.1.initial", "no text"),
        (
            {"parameters": [NUMBER, TEXT | {"type": "choice", "choices": ["b", "c"]}]},
            "parameters.1.initial",
            "not among the choices",
        ),
        ({"reader": "plain_values", "mapping": {"value": "x"}}, "mapping", "Only the reader"),
        (
            {"reader": "plain_values", "metrics": [{"name": "command_duration"}]},
            "metrics.0.name",
            "cannot be the name",
        ),
        (
            {
                "reader": "plain_values",
                "metrics": [{"name": "a", "primary": True, "better": "neither"}],
            },
            "metrics.0.better",
            "needs a direction",
        ),
    ],
)
def test_what_is_refused(changes, path, message):
    with pytest.raises(Invalid) as refused:
        read(**changes)
    assert message in " ".join(refused.value.errors[path])


ODD: list[Any] = [None, 7, {"a": {}}, [[[]]], [None]]
ODD_NUMBERS: list[Any] = [True, [], {}, "x", b"x"]


@pytest.mark.parametrize(
    "odd",
    [
        *(None, 7, [], "sort", {}, {1: 2}, {"name": 1}, GOOD | {3: 4}),
        *(GOOD | {name: odd} for name in GOOD for odd in ODD),
        *(GOOD | {"parameters": [NUMBER | {"initial": odd}]} for odd in ODD_NUMBERS),
    ],
    ids=repr,
)
def test_odd_definitions_are_refused_in_words(odd):
    with pytest.raises(Invalid) as refused:
        read_definition(odd, ("fio",), ("http",), ("sync",))
    assert all(text for texts in refused.value.errors.values() for text in texts)


def test_placeholders_become_arguments():
    definition = read()
    target = Target("a", "http", "http://example.org:8080/")
    values = places(definition, target, {"n": 4, "path": "a b; c"}, "/w")
    assert [filled(text, values) for text in definition.arguments] == [
        *("sort", "--parallel=4", "{n}", "a b; c", "@/w/secrets/key", "example.org"),
    ]


def test_equal_definitions_are_one_kind():
    definition = read()
    again = stored_definition(definition.as_json())
    assert again.kind == definition.kind
    assert definition.kind.startswith("sort-")
    assert read(seconds=601).kind != definition.kind


def test_its_parameters_are_factors_with_roles():
    driver = driver_for(
        read(parameters=[NUMBER | {"role": "load"}, TEXT | {"varies": False}]), ["http"]
    )
    assert (driver.factors, driver.load, driver.work) == (("n",), ("n",), ())
    assert driver.primary_metric.name == "command_duration"
    form = driver.parameters({"n": 1, "path": "--output=/etc/x"})
    assert "could take it for an option" in str(form.errors["path"])


def test_of_many_mistakes_the_first_are_told():
    with pytest.raises(Invalid) as caught:
        read(arguments=["sort", *[f"{{x{number}}}" for number in range(90)], "{n}", "{path}"])

    assert sum(map(len, caught.value.errors.values())) == MOST_MESSAGES


def test_the_number_of_a_parameter_that_means_no_limit_is_that_of_its_kind():
    made = driver_for(read(parameters=[NUMBER | {"unlimited": 0}, TEXT]), ("http",))

    assert variables_of(made, None).unlimited == {"n": 0}
