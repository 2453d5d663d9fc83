import base64
import html
import json
import shlex
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, quote_plus

import pytest

from campaigns.kit import redaction

SECRET = """p%20ß'"<&>\\$(x);-- ü/+="""  # noqa: S105


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(redaction, "_forms", {})
    monkeypatch.setattr(redaction, "_secrets", set())


def in_base64(before, encode=base64.b64encode):
    return lambda text: encode(f"{before}{text}!".encode()).decode()


WAYS = {
    "as it is": str,
    "python": repr,
    "bytes": lambda text: str(text.encode()),
    "URL": quote,
    "whole URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "HTML": html.escape,
    "shell": shlex.quote,
    "SQL": lambda text: "'" + text.replace("'", "''") + "'",
    "hex": lambda text: text.encode().hex(),
    "base64": in_base64(""),
    "base64 after one": in_base64(":"),
    "base64 after two": in_base64("u:"),
    "base64 after four": in_base64("you:", base64.urlsafe_b64encode),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_found_in_every_form(way):
    redaction.remember(SECRET)

    cleaned = redaction.redact(f"It said: {WAYS[way](SECRET)} and went away.")

    assert redaction.REDACTED in cleaned
    assert len(cleaned) < len("It said: [secret] and went away.") + 12


@pytest.mark.parametrize("before", range(0, 120, 7))
def test_a_text_is_not_cut_within_a_secret(before):
    redaction.remember("correct-horse-battery")
    text = "." * before + "correct-horse-battery" + "." * 200

    begin = redaction.begin_of(text, 100)

    assert "c" not in begin.replace(redaction.REDACTED, "")
    assert begin.startswith("." * min(before, 90))
    assert redaction.begin_of("short", 100) == "short"


def test_what_is_short_is_no_secret_that_could_be_looked_for():
    redaction.remember("admin")

    assert redaction.redact("the admin came") == "the admin came"


def test_a_password_that_is_a_word_of_our_sentences_hides_none_of_them():
    redaction.remember("password")

    assert redaction.redact("Enter the password again.") == "Enter the password again."


def test_texts_within_anything_are_cleaned_and_numbers_stay():
    @dataclass(frozen=True)
    class Inner:
        text: str
        number: float

    redaction.remember("hunter22")

    cleaned = redaction.redact_all(
        {"a hunter22": [Inner("hunter22", 1.5)], "b": ("x", 2, None), "c": True}
    )

    assert cleaned == {"a [secret]": [Inner("[secret]", 1.5)], "b": ("x", 2, None), "c": True}


def test_named_tuples_stay_what_they_are():
    class Answer(NamedTuple):
        status: int
        text: str

    redaction.remember("hunter22")

    assert redaction.redact_all(Answer(200, "hunter22")) == Answer(200, "[secret]")


def test_of_two_secrets_the_longer_goes_first():
    redaction.remember("battery")
    redaction.remember("horse battery")

    assert redaction.redact("horse battery, battery") == "[secret], [secret]"
