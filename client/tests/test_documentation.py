import json
import re
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from typer.main import get_command

from perfdash_client.app import app
from perfdash_client.exits import MEANINGS
from perfdash_client.verdicts import WORDS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/how-to/command-line.md").read_text(encoding="utf-8")
IN_CI = (ROOT / "docs/how-to/judge-a-version-in-ci.md").read_text(encoding="utf-8")
NIGHTLY = (ROOT / "docs/how-to/every-night.md").read_text(encoding="utf-8")


def blocks(language, text=TEXT):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_table_of_exit_codes_is_the_programs():
    table = re.findall(r"^\| (\d+) \| (.+) \|$", TEXT, re.MULTILINE)

    assert table == [(str(code.value), answer) for code, answer in MEANINGS.items()]


def test_every_verdict_is_described():
    assert all(f"`{word}`" in TEXT for word in WORDS)


@pytest.mark.django_db
@pytest.mark.parametrize("text", [TEXT, NIGHTLY], ids=["command-line", "every-night"])
def test_the_example_of_a_definition_is_taken(perfdash, written, sandbox_target, text):
    schema = json.loads((ROOT / "docs/reference/campaign.schema.json").read_text())
    file = written(blocks("yaml", text)[0])

    ran = perfdash("campaign", "create", file, "--json")

    assert ran.code == 0, ran.err
    assert [e.message for e in Draft7Validator(schema).iter_errors(ran.data["definition"])] == []


def calls():
    """Every call of the program in an example, without what the shell does with its output."""
    cron = re.findall(r"&& (perfdash .*?) >", NIGHTLY)
    assert cron
    text = "\n".join(blocks("sh") + blocks("yaml") + blocks("sh", IN_CI) + cron)
    for line in re.findall(r"perfdash ((?!client)[a-z].*)", text):
        message = shlex.split(
            re.split(r" [|#] ?| ?#", line.removeprefix("- run: "))[0], comments=True
        )
        if message:
            yield message


@pytest.mark.parametrize("words", list(calls()), ids=" ".join)
def test_every_call_in_an_example_has_commands_and_options_that_exist(words):
    command = get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        command = command.commands[words.pop(0)]

    context = command.make_context("perfdash", list(words), resilient_parsing=True)

    assert context.args == []
