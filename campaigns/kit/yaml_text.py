"""YAML that reads like text: a text of several lines is a block, not one line with escapes."""

import re
from typing import Any

import yaml
from yaml.emitter import ScalarAnalysis

ESCAPED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What a block cannot hold, such as a carriage return: such a text is quoted."""


class Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block, exactly, also with spaces at the end of its lines."""

    def analyze_scalar(self, scalar: str) -> ScalarAnalysis:
        """Return what styles a text may have. PyYAML itself refuses blocks with tabs or with spaces before a line's end."""
        result = super().analyze_scalar(scalar)
        result.allow_block = result.allow_block or fits_block(scalar)
        return result


def fits_block(text: str) -> bool:
    """Return whether a text has several lines and can be a block. One that begins with a space or an empty line is quoted."""
    return "\n" in text.strip("\n") and text[0] not in " \n" and not ESCAPED.search(text)


def as_yaml(value: object, dumper: type[Dumper] = Dumper, **options: Any) -> str:
    """Return a value as YAML, mappings in their order; options: those of PyYAML."""
    return str(yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, **options))


def written_text(dumper: Dumper, text: str) -> yaml.ScalarNode:
    """Return the node of a text: a block where it has several lines."""
    style = "|" if fits_block(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, written_text)
