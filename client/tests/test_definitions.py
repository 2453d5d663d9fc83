"""Definitions as files of YAML."""

import pytest
import yaml

from perfdash_client.definitions import as_yaml
from perfdash_client.documents import read_yaml

TEXTS = {
    "scenario": "name: x\nsteps:\n  - name: a\n    get: /\n",
    "no end of line": "a\nb",
    "many ends": "a\n\nb\n\n\n",
    "spaces at the end of a line": "select 1;  \n  from x \n",
    "tabs": "if:\n\tthen\t\n\tx",
    "unicode": "größer\n→ 😀\nÅ\u00a0b\n",
    "marks of YAML": "---\n# no comment\n- 'x'\n\"y\": {z\n...\n%a\n",
}
QUOTED = {
    "CRLF": "a\r\nb\r\n",
    "begins with a space": "  a\nb\n",
    "begins with an empty line": "\n\na\n",
    "a separator of lines": "a\u2028b\nc",
    "a control": "a\x07\nb",
    "one line": "a: b # c",
    "only an end": "a\n",
    "empty": "",
}


@pytest.mark.parametrize("text", [*TEXTS.values(), *QUOTED.values()], ids=[*TEXTS, *QUOTED])
def test_a_text_comes_back_exactly_by_this_and_by_another_reader(written, text):
    value = {"parameters": {"scenario": text, "n": "12"}, "tags": [text, "on"], "question": text}

    file = as_yaml(value, "https://perf.example", 7)

    assert read_yaml(written(file)).data == value
    assert yaml.safe_load(file) == value


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_of_several_lines_is_a_block(text):
    file = as_yaml({"parameters": {"scenario": text, "n": 1}}, "https://perf.example", 7)

    _, _, _, first, *lines, _ = file.splitlines()
    assert first.startswith("  scenario: |")
    assert lines == [f"    {line}" if line else "" for line in text.splitlines()]
