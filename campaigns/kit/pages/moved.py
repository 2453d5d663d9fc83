"""Conflicts of pages: a form was opened before somebody else saved. It holds the revision that it was opened on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, QueryDict

from campaigns.kit.charts.labels import as_text
from campaigns.kit.mappings import Json
from campaigns.kit.revisions import Changed, Data, Seen, revision_of

NAME = "seen"
NOTHING = "(empty)"
HIDDEN = "(changed; not shown)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs: its stored and its typed value. anchor: its id on the page."""

    label: str
    stored: str
    typed: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """What `components/_moved.html` shows above a refused form. by: who changed the row."""

    by: str
    at: datetime | None
    differences: Sequence[Difference]


def posted(request: HttpRequest) -> QueryDict | None:
    """Return the data of a sent form, with line ends as they are stored; None for other methods."""
    if request.method != "POST":
        return None
    data = request.POST.copy()
    for name, values in request.POST.lists():
        data.setlist(name, [value.replace("\r\n", "\n") for value in values])
    return data


def seen_in(request: HttpRequest) -> Seen:
    """Return the revision that the form was opened on; None where it has none."""
    sent = request.POST.get(NAME)
    return None if sent is None else [sent]


def opened_on(request: HttpRequest, data: Data | None, changed: Changed | None = None) -> str:
    """Return the revision for the hidden field of the form; empty for a new row.

    That of what is stored now, where the form shows it; else the one that the form was opened on.
    """
    if changed is not None:
        return revision_of(changed.stored)
    if request.method == "POST" and NAME in request.POST:
        return request.POST[NAME]
    return "" if data is None else revision_of(data)


def moved(changed: Changed, differences: Iterable[Difference]) -> Moved:
    """Return who changed the row, and the fields whose stored and typed values differ."""
    differing = [each for each in differences if each.stored != each.typed or each.stored == HIDDEN]
    return Moved(changed.by, changed.last.at if changed.last else None, differing)


def of_form(
    changed: Changed,
    fields: Iterable[forms.BoundField],
    secrets: Sequence[str] = (),
    stored: Data | None = None,
) -> Moved:
    """Return what differs between stored values and the fields of one or several Django forms."""
    if stored is None:
        stored = {name: changed.stored[name] for name in changed.fields}
    return moved(
        changed,
        [
            _of_field(field, stored[field.html_name], hidden=field.html_name in secrets)
            for field in fields
            if field.html_name in stored
        ],
    )


def of_texts(changed: Changed, typed: Json, stored: Json, labels: Mapping[str, str]) -> Moved:
    """Return what differs between texts by name."""
    return moved(
        changed,
        [
            Difference(label, _shown(stored.get(name)), _shown(typed.get(name)))
            for name, label in labels.items()
        ],
    )


def _of_field(field: forms.BoundField, stored: Any, *, hidden: bool) -> Difference:
    label = str(field.label)
    if hidden:
        return Difference(label, HIDDEN, "", field.auto_id)
    if isinstance(field.field, forms.BooleanField):
        now, typed = ("yes" if each else "no" for each in (stored, field.value()))
        return Difference(label, now, typed, field.auto_id)
    labels = {str(value): text for value, text in getattr(field.field, "choices", ())}
    now, typed = as_text(stored), as_text(field.value())
    return Difference(
        label, _shown(labels.get(now, now)), _shown(labels.get(typed, typed)), field.auto_id
    )


def _shown(value: Any) -> str:
    return as_text(value).strip() or NOTHING
