"""Submissions against what declares them: all errors at once, whatever the type of what is sent."""

import json
import re
from contextlib import suppress
from itertools import product
from typing import Any

import msgspec
import pytest
from django.conf import settings

from campaigns.kit.api.parsing import strict_json
from campaigns.kit.errors import Invalid
from campaigns.kit.structs import Problems, converted
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.submitted import SubmissionInput
from campaigns.tests.results.api.documents import document

PLACES = ("campaign", "metrics", "context", "info", "runs", "id", "runs.0", "metrics.duration")
VALUES: tuple[Any, ...] = (
    None,
    True,
    7,
    1.5,
    "x",
    [],
    [None],
    [{}],
    {},
    {"": None},
    {"value": []},
    "x" * 3000,
)


def placed(place, value):
    data = document(id="a")
    *path, last = place.split(".")
    at = data
    for name in path:
        at = at[int(name) if name.isdigit() else name]
    at[int(last) if last.isdigit() else last] = value
    return data


def errors(data):
    with pytest.raises(Invalid) as refusal:
        read_submission(data)
    return refusal.value.errors


def test_the_example_of_the_documentation_is_a_submission():
    text = (settings.BASE_DIR / "docs/how-to/submit.md").read_text()

    submitted = read_submission(json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0]))

    assert submitted.runs
    assert {metric.name for metric in submitted.metrics} == {"duration", "memory", "objects"}


def test_whatever_is_sent_is_read_or_refused_with_a_path():
    for place, value in product(PLACES, VALUES):
        with suppress(Invalid):
            assert read_submission(placed(place, value)).runs


def test_the_second_pass_refuses_what_msgspec_refuses_but_null_for_nothing():
    names = ("tags", "values", "context", "info", "id", "reason", "state", "started_at", "block")
    parts = [{name: value} for name, value in product((*names, "units_done"), VALUES)]
    parts += [{"values": {"duration": each}} for value in VALUES for each in (value, [value])]
    for part in parts:
        data, problems = document(runs=[part]), Problems()

        converted(data, SubmissionInput, problems)

        try:
            msgspec.convert(data, SubmissionInput)
        except msgspec.ValidationError:
            assert problems or [*part.values()] == [None], part
        else:
            assert not problems, part


def test_null_is_as_good_as_nothing_where_objects_and_numbers_are_sent():
    run = {"values": {"duration": 1}}
    nulls = dict.fromkeys(("tags", "context", "info", "block", "units_done", "started_at"))

    plain = read_submission(document(runs=[run]))

    assert read_submission(document(runs=[run | nulls])).runs == plain.runs


def test_what_is_wrong_in_several_runs_is_named_beside_what_no_type_can_say():
    data = document()
    data["runs"][0]["values"] = {"duration": "fast", "memory": {"value": 1, "limit": 2}}
    data["runs"][1]["finished_at"] = "2026-11-01T10:00:00Z"
    data["runs"][2] = 7
    data["runs"][3] |= {"tags": {"engine": "\x07"}, "units_done": -1}

    assert {path: len(told) for path, told in errors(data).items()} == {
        "runs.0.values.duration": 1,
        "runs.0.values.memory.limit": 1,
        "runs.1.finished_at": 1,
        "runs.2": 1,
        "runs.3.tags.engine": 1,
        "runs.3.units_done": 1,
    }


@pytest.mark.parametrize("body", [b'{"a":1,"a":2}', b'{"a" :1,"a"\n:2}', b'[{"b":":","b":0}]'])
def test_a_name_that_is_there_twice_is_refused_however_it_is_written(body):
    with pytest.raises(Exception, match="is there twice"):
        strict_json(body, names_once=True)


def test_texts_that_look_like_names_are_no_names():
    data = {"a": '":', "b": [':"', '\\":1', {"a": "\u20ac"}]}

    assert strict_json(json.dumps(data).encode(), names_once=True) == data
