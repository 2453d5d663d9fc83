"""Form fields of a target's groups of processes and links: lists, or one entry a line."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.targets import links
from campaigns.targets.watches.base import Group
from campaigns.targets.watches.groups import (
    BadGroups,
    check_groups,
    format_groups,
    groups_from_json,
    groups_to_json,
    parse_groups,
)

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
        return value if isinstance(value, str) else format_groups(groups_from_json(value or ()))

    def clean(self, value: Any) -> list[Any] | None:
        """Return the groups as their column has them. Raise ValidationError."""
        try:
            if isinstance(value, str):
                groups = parse_groups(value)
            else:
                groups = tuple(_group(each) for each in value or ())
                check_groups(groups)
        except BadGroups as error:
            raise ValidationError(error.messages) from None
        except (KeyError, TypeError):
            raise ValidationError(
                "Give the groups as a list of objects with name and patterns."
            ) from None
        return groups_to_json(groups) or None


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


def _group(value: Any) -> Group:
    patterns = value["patterns"]
    if isinstance(patterns, str):
        raise TypeError
    return Group(str(value["name"]).strip(), tuple(str(each).strip() for each in patterns))
