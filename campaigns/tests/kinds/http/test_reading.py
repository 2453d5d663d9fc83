"""Reading scenarios: what is taken, and what is refused with line, step and name."""

import csv
import json
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from django.conf import settings
from jsonschema import Draft202012Validator

from campaigns.kinds.http.program.reading import (
    MOST_MESSAGES,
    BadScenario,
    read_scenario,
    scalar_of,
)
from campaigns.kinds.http.program.scenario import json_schema
from campaigns.kit.suggesting import MOST_COMPARED
from campaigns.tests.kinds.http.scenarios import LIST_AND_READ, USERS

PUBLISHED = Path(settings.BASE_DIR, "docs/reference/scenario.schema.json")


def refused(text, table="", fixed=""):
    with pytest.raises(BadScenario) as caught:
        read_scenario(text, table, fixed)
    return caught.value.messages


def test_the_published_schema_is_that_of_the_declaration():
    written = json.loads(PUBLISHED.read_text())

    Draft202012Validator.check_schema(written)
    assert written == json_schema(), (
        "Write it anew: python -m campaigns.kinds.http.program.scenario > docs/reference/scenario.schema.json"
    )


def test_a_scenario_has_its_steps_columns_and_a_digest_that_layout_does_not_change():
    loaded = read_scenario(LIST_AND_READ, USERS)

    assert [step.name for step in loaded.scenario.steps] == ["list", "read", "change"]
    assert loaded.columns == {"user": ["anna", "berta"], "size": [1, 10, 100]}
    spaced = LIST_AND_READ.replace("\n  - ", "\n\n  # a comment\n  - ")
    assert read_scenario(spaced, USERS).digest == loaded.digest
    assert read_scenario(LIST_AND_READ, USERS, "size=10").columns["size"] == [10]
    assert read_scenario(LIST_AND_READ, USERS, "size=10").digest != loaded.digest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'get: "{href}"',
            'get: "{hrf}"',
            "Line 12, step 2 “read”: the name {hrf} in get is not known here. Did you mean {href}?",
        ),
        ('get: "{href}"', "get: {href}", "needs quotes in YAML"),
        ("weight", "wieght", "step 3 “change”: there is no “wieght” here; did you mean “weight”?"),
        ("limit={size}", "limit={target_password}", "a password has no place in a path"),
        ("get: /pulp", "get: http://elsewhere/pulp", "no path on the target"),
        ("get: /pulp", "get: //elsewhere/pulp", "no path on the target"),
        ("Accept:", "Host:", "the header Host is not given here"),
        ("Accept:", "Authorization:", "write login: target"),
        ("take: {href: {json: a}}", "take: {href: {json: a, header: b}}", "one of json, header"),
        ("name: read", "name: list", "another step has that name"),
        ("weight: 0.1", "weight: 2", "expected `float` <= 1.0 (weight)"),
        ("patch:", "get: /\n    patch:", "a step has one of get, post"),
        ("{seconds: 0.5}", "{}", "either seconds or exponential"),
        (
            '{description: "by host {host}, round {round}"}',
            "{id: {host}}",
            '{host} needs quotes in YAML: "{host}"',
        ),
        ('get: "{href}"', 'get: "{host}/a"', "no path that a path could begin with; write /{host}"),
        (
            "{seconds: 0.5}",
            "{seconds: 0.5, a=b}",
            "“a=b” has no value; within braces a text with a comma",
        ),
        ("name: read", "name: läs", "a step's name has at most 40 letters"),
        ("users.csv", "&a users.csv", None),
        ("users.csv", "*a", "aliases"),
        ("users.csv", "!!python/object:os.system a", "tags"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old, new, message):
    text = LIST_AND_READ.replace(old, new)
    assert text != LIST_AND_READ

    if message is None:
        read_scenario(text, USERS)
    else:
        assert message in " ".join(refused(text, USERS))


def test_fifty_steps_tell_the_place_of_a_wrong_name():
    steps = "".join(
        f"  - name: step {number}\n    post: /items/{{host}}\n    json: {{a: '{'x' * 3000}'}}\n"
        for number in range(50)
    )
    text = f"steps:\n{steps}    headers: {{X-Token: '{{tokn}}'}}\n"

    (message,) = refused(text)
    assert message.startswith("Line 152, step 50 “step 49”: the name {tokn} in header X-Token")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "[" * 100_000,
        "- " * 100_000,
        "a: b: c",
        "{a: 1, a: 2}",
        "steps: []",
        "steps: 5",
        "steps: [{name: a, get: /}]\n---\nsteps: []",
        "x" * 300_000,
        "\x00",
        "steps: [{name: a, get: '/\x01'}]",
        "steps: [{name: a, get: '/a b'}]",
        "steps: [{? {a: b} : c}]",
        "steps: [{name: a, get: /, json: {a: 1}}]",
        "steps: [{name: a, post: /, body: a, form: {a: b}}]",
        "steps: [{name: a, post: /, answer: discard, take: {x: {json: a}}}]",
        "steps: [{name: a, get: '/{random:9-1}'}]",
        "steps: [{name: a, get: /}]\nprove: {get: /, json: a, delta: b}",
        "steps: [{name: a, get: /}]\ndata: {host: [1]}",
        "steps: [{name: a, get: /, expect: {most_milliseconds: 1e999}}]",
        "steps: [{name: a, get: '{{a}}{uuid}'}]",
        "steps: [{name: a, get: /, headers: {Proxy-Authorization: Basic x}}]",
        'name: "\\0"\nsteps: [{name: a, get: /}]',
        "steps: [{name: a, get: /}]\nafter: [{name: b, get: '/{x}'}]",
    ],
)
def test_anything_else_is_refused_with_a_message(text):
    assert all(refused(text))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("user\n" + "a\n" * 20_000, "20,000 rows"),
        ("user\n", "0 rows"),
        ("user,user\na,b\n", "twice"),
        ("user,x\na\n", "Line 2 of the data has 1 values"),
        ("us er\na\n", "no name of a column"),
        ("host\na\n", "a name that perfdash uses"),
        ('user\n"a\n', "no CSV"),
        ("user\n" + "a" * 1_100_000, "bytes"),
    ],
)
def test_wrong_data_are_refused_with_a_message(table, message):
    assert message in " ".join(refused(LIST_AND_READ, table))


def test_values_that_are_set_need_their_column():
    assert refused(LIST_AND_READ, USERS, "colour=red") == [
        "There is no column “colour”; there are user, size."
    ]
    assert "write name=value" in refused(LIST_AND_READ, USERS, "size")[0]


def test_plain_texts_are_those_of_yaml_1_2():
    assert [scalar_of(text) for text in ("yes", "on", "010", "1", "1.5", "true", "", "2024-01-01")] == [
        "yes", "on", "010", 1, 1.5, True, None, "2024-01-01",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "cookies: sometimes\nsteps: [{name: a, get: /}]",
            "Line 1: “cookies” is one of drop, keep, round.",
        ),
        (
            "steps:\n  - {name: a, get: /}\n  - {name: b, get: /, answer: eat}",
            "Line 3, step 2 “b”: “answer” is one of keep, discard.",
        ),
        (
            "steps:\n  - {name: a, get: /}\nlogin: me",
            "Line 3: “login” is one of none, target.",
        ),
    ],
)
def test_a_value_that_is_none_of_a_list_is_told_with_the_list(text, message):
    with pytest.raises(BadScenario) as refused:
        read_scenario(text)

    assert str(refused.value).startswith(message)


# A small text costs little, however wrong it is


def step_with(body: str, before: str = "") -> str:
    return f"{before}steps: [{{name: a, post: /, body: '{body}'}}]"


@pytest.fixture
def compared(monkeypatch):
    """The names that were compared with others, to find one that is alike."""
    seen: list[str] = []
    plain = SequenceMatcher.set_seq1

    def noted(self, name):
        if name:
            seen.append(name)
        plain(self, name)

    monkeypatch.setattr(SequenceMatcher, "set_seq1", noted)
    return seen


def test_of_many_unknown_names_only_those_that_are_told_are_compared(compared):
    columns = ", ".join(f"a{number}: [1]" for number in range(500))
    names = "".join(f"{{b{number}}}" for number in range(3000))

    messages = refused(step_with(names, f"data: {{{columns}}}\n"))

    assert len(messages) == MOST_MESSAGES
    assert "the name {b19} in body is not known here" in messages[-1]
    assert len(compared) <= MOST_MESSAGES * MOST_COMPARED


def test_a_name_that_is_no_name_is_compared_with_none(compared):
    (message,) = refused(step_with(f"{{a:{'b' * 100_000}}}"))

    assert not compared
    assert len(message) < 1000


def test_messages_hold_neither_long_names_nor_all_columns():
    table = ",".join(f"c{number:039d}" for number in range(100)) + "\n" + ",".join("1" * 100)
    wanted = ", ".join(f"a{number}: b" for number in range(5000))

    with pytest.raises(BadScenario) as caught:
        read_scenario(f"steps: [{{name: a, get: /}}]\ndata: {{{wanted}}}", table)

    assert len(caught.value.messages) == MOST_MESSAGES
    assert " and 70 more." in caught.value.messages[0]
    assert len(str(caught.value)) < 50_000


def test_a_table_is_read_once_for_all_that_is_fixed_beside_it(monkeypatch):
    read = []
    plain = csv.reader

    def noted(*arguments, **options):
        read.append(arguments)
        return plain(*arguments, **options)

    monkeypatch.setattr(csv, "reader", noted)
    table = "size,colour\n1,red\n2,blue-of-this-test\n"

    for size in range(30):
        loaded = read_scenario(step_with("{size} {colour}"), table, f"size={size}")
        assert loaded.columns == {"size": [size], "colour": ["red", "blue-of-this-test"]}

    assert len(read) == 1


@pytest.mark.parametrize(
    "text", ["2024-01-31", "NO", "off", "12:30", "010", "0x1F", "1_000", "2024-01-31T12:00:00Z"]
)
def test_what_is_no_number_stays_a_text(text):
    scenario = (
        f"data: {{a: [{text}]}}\nsteps: [{{name: a, post: /, json: {{b: {text}, c: [{text}]}}}}]"
    )

    loaded = read_scenario(scenario)

    assert loaded.columns == {"a": [text]}
    assert loaded.scenario.steps[0].json == {"b": text, "c": [text]}


def test_numbers_of_a_table_are_sent_as_they_stand_there():
    table = "a,b\n1,1.5\n1.10,12e4\n007,-3\n+5,2024-01-31\n"

    columns = read_scenario("steps: [{name: a, get: '/{a}'}]", table).columns

    assert columns == {"a": [1, "1.10", "007", "+5"], "b": [1.5, "12e4", -3, "2024-01-31"]}


def test_a_scenario_is_the_same_as_windows_saves_it():
    text = "steps:\n  - name: a\n    get: /\n"

    for saved in (text.replace("\n", "\r\n"), f"\ufeff{text}"):
        assert read_scenario(saved).scenario == read_scenario(text).scenario
