"""Inputs of a structured part of a definition: a leaf of its struct is an input, whose name is the path of the value.

So an input that somebody filled in, the value in REST and YAML, and the message about it have one name, such as
`criterion.conditions.0.metric`. No HTML, no database.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from msgspec import Struct

from campaigns.kit.charts.labels import as_text
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.pages.forms import with_errors
from campaigns.kit.structs import fields_of
from campaigns.planning.leaves import Bounded, Count

MOST_INPUTS = 200
"""Inputs of a part that are read."""
NUMBER = re.compile(r"\.\d+\.", re.ASCII)
NAME = re.compile(r"[a-z_]{1,40}(\.([a-z_]{1,40}|\d{1,3})){1,4}", re.ASCII)


class PartForm(forms.Form):
    """A part as typed or as stored; its fields are named by path. `planning.checking` checks it."""

    def __init__(
        self,
        part: type[Struct],
        path: str,
        values: Mapping[str, str],
        errors: Mapping[str, Sequence[str]],
        **inputs: forms.Field,
    ) -> None:
        """Create the inputs of all leaves.

        values, errors: by path, those of other parts, too. inputs: by name, those that stand in place of a leaf; others come first.
        """
        declared = {name: _typed(field) for name, field in fields_of(part).items()}
        fields = {
            **{name: field for name, field in inputs.items() if name not in declared},
            **{name: inputs.get(name, field) for name, field in declared.items()},
        }
        super().__init__(initial=dict(values))
        self.fields |= {f"{path}.{name}": field for name, field in fields.items()}
        with_errors(self, errors)


def _typed(declared: forms.Field) -> forms.CharField:
    """Return the input of a leaf, which takes any text: the leaf reads it."""
    keys = (
        "numeric"
        if isinstance(declared, Count)
        else "decimal"
        if isinstance(declared, Bounded)
        else "text"
    )
    field = forms.CharField(
        label=declared.label,
        help_text=declared.help_text,
        widget=forms.TextInput({"inputmode": keys, "placeholder": getattr(declared, "hint", "")}),
    )
    field.unit = getattr(declared, "unit", "")  # type: ignore[attr-defined]
    return field


def typed_in(sent: Mapping[str, str], inputs: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the texts of parts that a browser sent, by path; rows of a list move up where one before them is empty.

    inputs: by part, the paths that it has, with # for the number of a row. Others are ignored.
    """
    texts = {part: dict[str, str]() for part in inputs}
    for name in [name for name in sent if NAME.fullmatch(name)][:MOST_INPUTS]:
        part = name.partition(".")[0]
        if NUMBER.sub(".#.", name) in inputs.get(part, ()):
            texts[part][name] = sent[name].replace("\r\n", "\n").strip()
    return {path: text for part in inputs for path, text in flat(part, nested(texts[part], part))}


def nested(texts: Mapping[str, str], part: str) -> JsonObject:
    """Return the object of a part that texts by path make, without what is empty; numbers in a path are places in a list."""
    result: JsonObject = {}
    for path, text in texts.items():
        first, *names = path.split(".")
        if first != part or not text:
            continue
        *above, last = names
        inside = result
        for name in above:
            inside = inside.setdefault(name, {})
            if not isinstance(inside, dict):
                break
        else:
            inside[last] = text
    return {name: _listed(value) for name, value in result.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {name: _listed(each) for name, each in value.items()}
    if not all(name.isdecimal() for name in parts):
        return parts
    return [parts[name] for name in sorted(parts, key=int)]


def flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a part by path, as a user would type them."""
    parts: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        yield path, as_text(value)
        return
    for name, each in parts:
        yield from flat(f"{path}.{name}", each)


def without(texts: Mapping[str, str], part: str) -> dict[str, str]:
    """Return texts by path without those of a part."""
    return {path: text for path, text in texts.items() if not path.startswith(f"{part}.")}


def as_stated(part: Json | None, path: str) -> dict[str, str]:
    """Return the texts of a stored part by path."""
    return dict(flat(path, part or {}))
