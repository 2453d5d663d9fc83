"""Texts of several lines in YAML."""

import pytest
import yaml

from campaigns.kit.yaml_text import as_yaml

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
@pytest.mark.parametrize("options", [{}, {"default_flow_style": None, "width": 20}], ids=str)
def test_a_text_comes_back_exactly(text, options):
    value = {"steps": [{"body": text, "n": 1}, text], "last": text}

    assert yaml.safe_load(as_yaml(value, **options)) == value


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_of_several_lines_is_a_block(text):
    written = as_yaml({"body": text, "after": 1})

    assert written.startswith("body: |")
    assert written.splitlines()[1:-1] == [f"  {line}" if line else "" for line in text.splitlines()]
