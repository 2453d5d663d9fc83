"""Campaigns as YAML: what `POST campaigns` takes, in the order in which people read it."""

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from perfdash_client.documents import Document, read_yaml, require_mapping
from perfdash_client.errors import BadUse

SCHEMA = "schemas/campaign.json"
LEADING = ("question", "name", "kind", "target", "parameters", "factors", "excluded", "order")
EMPTY: tuple[Any, ...] = ("", None, [], {})
OLDER = ("yes", "no", "on", "off", "y", "n", "true", "false", "null", "~")
"""Words that YAML 1.1, which other tools read, takes for something else: they are quoted."""
ESCAPED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What a block cannot hold, such as a carriage return: such a text is quoted."""


def read_definition(path: Path) -> tuple[dict[str, Any], Document]:
    """Give the fields of a definition, and where they stand. Raise BadUse."""
    document = read_yaml(path)
    fields = require_mapping(document, "a definition of a campaign")
    if "launch" in fields:
        raise BadUse(
            f"{document.name}:{document.lines['launch']}: a definition does not say whether it is"
            " launched; that is perfdash campaign create --launch."
        )
    return fields, document


def definition_of(campaign: Mapping[str, Any]) -> dict[str, Any]:
    """Give a campaign's definition without what is empty, its target by name. Raise BadUse."""
    if campaign["kind"] == "external":
        raise BadUse(
            f"Campaign {campaign['id']} was imported: nothing was executed by a definition."
            f" Its runs: perfdash export {campaign['id']}"
        )
    definition = dict(campaign["definition"])
    target = campaign.get("target")
    if target and not target["name"].strip().isdigit():
        definition["target"] = target["name"]
    names = [*(name for name in LEADING if name in definition)]
    names += [name for name in definition if name not in LEADING]
    return {name: definition[name] for name in names if definition[name] not in EMPTY}


def as_yaml(definition: Mapping[str, Any], url: str, campaign: int) -> str:
    """Write it as a file for git, with its schema for editors."""
    writer = YAML(typ="rt", pure=True)
    writer.Emitter = _Emitter
    writer.width = 100
    writer.indent(mapping=2, sequence=4, offset=2)
    text = StringIO()
    writer.dump(_styled(definition), text)
    head = (
        f"# yaml-language-server: $schema={url}/api/v1/{SCHEMA}\n# Campaign {campaign} of {url}\n"
    )
    return head + text.getvalue()


class _Emitter(Emitter):
    """Writes a block also where lines of it have tabs, or spaces at their end."""

    def analyze_scalar(self, scalar: Any) -> Any:
        result = super().analyze_scalar(scalar)
        result.allow_block = result.allow_block or _fits_block(scalar)
        return result


def _styled(value: Any) -> Any:
    """Write text of several lines as a block, and quote what another reader could take for a number, a truth or a time."""
    if isinstance(value, Mapping):
        return CommentedMap({_quoted(name): _styled(inner) for name, inner in value.items()})
    if isinstance(value, list):
        return [_styled(inner) for inner in value]
    if isinstance(value, str) and _fits_block(value):
        return LiteralScalarString(value)
    return _quoted(value)


def _quoted(value: Any) -> Any:
    if isinstance(value, str) and (value.lower() in OLDER or value[:1].isdigit()):
        return DoubleQuotedScalarString(value)
    return value


def _fits_block(text: str) -> bool:
    """Return whether a text has several lines and can be a block. One that begins with a space or an empty line is quoted."""
    return "\n" in text.strip("\n") and text[0] not in " \n" and not ESCAPED.search(text)
