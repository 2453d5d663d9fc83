"""Form fields of a target's groups of processes and links: lists, or one entry a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.forms import CONTROL
from campaigns.targets import links
from campaigns.targets.watches.catalog import LOAD, OTHERS, OWN

MOST_GROUPS, MOST_PATTERNS, MOST_LETTERS, MOST_NAME = 50, 50, 200, 60
GROUPS_HELP = (
    "One group a line, as “name: pattern, pattern”. A process belongs to the first group of which a pattern "
    "(* and ? stand for any letters) fits its service, else its program, else its command line. "
    "Empty: the usual groups of the family."
)
LINKS_HELP = (
    "One a line, as “Grafana: https://grafana.example/d/abc?from={from}&to={to}”. Runs open it with their range of time: "
    "{from} and {to} in milliseconds, {from_s} and {to_s} in seconds, {from_iso} and {to_iso}, and {target}."
)


class GroupsField(forms.Field):
    """Groups of processes: a list of names with patterns, or one group a line. Nothing: None."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        """Return the groups, one a line."""
        return value if isinstance(value, str) else groups_text(value or ())

    def clean(self, value: Any) -> list[dict[str, Any]] | None:
        """Return the groups. Raise ValidationError."""
        if isinstance(value, str):
            value = [_line(line) for line in value.splitlines() if line.strip()]
        if not value:
            return None
        if not isinstance(value, list | tuple) or not all(
            isinstance(each, Mapping) for each in value
        ):
            raise ValidationError("Give the groups as a list of objects with name and patterns.")
        if len(value) > MOST_GROUPS:
            raise ValidationError(f"Give at most {MOST_GROUPS} groups.")
        groups = [_group(each) for each in value]
        names = [group["name"] for group in groups]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValidationError(f"There are two groups “{twice[0]}”; give their patterns in one.")
        return groups


class LinksField(forms.Field):
    """Links: a list of titles and URLs, or one a line."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        """Return the links, one a line."""
        return value if isinstance(value, str) else links.as_text(value or ())

    def clean(self, value: Any) -> list[dict[str, str]]:
        """Return the links. Raise ValidationError."""
        try:
            if isinstance(value, str):
                return links.parse_links(value)
            if not isinstance(value, list | tuple | None) or not all(
                isinstance(each, Mapping) for each in value or ()
            ):
                raise ValidationError("Give the links as a list of objects with title and url.")
            return links.checked_links(value or [])
        except links.BadLink as error:
            raise ValidationError(str(error)) from None


def groups_text(groups: Sequence[Mapping[str, Any]]) -> str:
    """Return groups as they are typed."""
    return "\n".join(f"{each['name']}: {', '.join(each['patterns'])}" for each in groups)


def _line(line: str) -> dict[str, Any]:
    name, colon, patterns = line.partition(":")
    if not colon:
        raise ValidationError(
            f"“{line.strip():.60}” is no group: write a name, a colon and patterns, such as "
            "puma: foreman.service, puma*."
        )
    return {"name": name, "patterns": patterns.split(",")}


def _group(group: Mapping[str, Any]) -> dict[str, Any]:
    name, patterns = str(group.get("name", "")).strip(), group.get("patterns", ())
    if not name or len(name) > MOST_NAME:
        raise ValidationError(f"Give each group a name of at most {MOST_NAME} letters.")
    if name in (OTHERS, OWN, LOAD):
        raise ValidationError(f"“{name}” is a group of perfdash itself; take another name.")
    if not isinstance(patterns, list | tuple):
        raise ValidationError(f"Give the patterns of “{name}” as a list of texts.")
    texts = [str(each).strip() for each in patterns if str(each).strip()]
    if not texts or len(texts) > MOST_PATTERNS:
        raise ValidationError(f"Give “{name}” 1 to {MOST_PATTERNS} patterns.")
    if wrong := [text for text in (name, *texts) if CONTROL.search(text) or "\n" in text]:
        raise ValidationError(f"“{wrong[0]!r:.40}” holds a control character; take it out.")
    if long := [text for text in texts if len(text) > MOST_LETTERS]:
        raise ValidationError(f"“{long[0]:.40}…” is longer than {MOST_LETTERS} letters.")
    return {"name": name, "patterns": texts}
