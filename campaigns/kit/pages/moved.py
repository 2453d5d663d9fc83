"""A form that was opened before somebody else saved: the revision in it, and what differs by now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, QueryDict

from campaigns.kit.forms import as_text
from campaigns.kit.revisions import Changed, Data, Seen, revision_of

NAME = "seen"
NOTHING = "(empty)"
HIDDEN = "(changed; not shown)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field: what is stored now, and what stands in the form. anchor: its id on the page."""

    label: str
    stored: str
    typed: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """What `components/_moved.html` shows above a form that was refused. by: who changed it."""

    by: str
    at: datetime | None
    differences: Sequence[Difference]


def posted(request: HttpRequest) -> QueryDict | None:
    """Return what a form was sent with, its lines ended as they are stored; None where none was sent."""
    if request.method != "POST":
        return None
    data = request.POST.copy()
    for name, values in request.POST.lists():
        data.setlist(name, [value.replace("\r\n", "\n") for value in values])
    return data


def seen_in(request: HttpRequest) -> Seen:
    """Return the revision that the form was opened on; None where it bears none."""
    sent = request.POST.get(NAME)
    return None if sent is None else [sent]


def opened_on(request: HttpRequest, data: Data | None, changed: Changed | None = None) -> str:
    """Return the revision that the next saving is held against; empty for what is new.

    That of what is stored now, where the form shows it; else the one that the form was opened on.
    """
    if changed is not None:
        return revision_of(changed.stored)
    if request.method == "POST" and NAME in request.POST:
        return request.POST[NAME]
    return "" if data is None else revision_of(data)


def moved(changed: Changed, differences: Iterable[Difference]) -> Moved:
    """Describe who changed it, and where what is stored is not what was typed."""
    differing = [each for each in differences if each.stored != each.typed or each.stored == HIDDEN]
    return Moved(changed.by, changed.last.at if changed.last else None, differing)


def of_form(
    changed: Changed,
    fields: Iterable[forms.BoundField],
    secrets: Sequence[str] = (),
    stored: Data | None = None,
) -> Moved:
    """Return what differs on a page of a Django form, or of fields of several forms."""
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


def of_texts(
    changed: Changed, typed: Mapping[str, Any], stored: Mapping[str, Any], labels: Mapping[str, str]
) -> Moved:
    """The same for what is drawn in another way: texts by name."""
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
