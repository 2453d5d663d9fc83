"""Optimistic locking: refuse to overwrite what somebody else has changed since it was read.

A revision is a hash of the fields of a row; no column holds it. What changes by itself, such as the health
of a target, is not part of it. Secrets are hashed as they are stored: encrypted.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Model

from campaigns.kit.activity import Action
from campaigns.models import AuditEvent

AnyRow = TypeVar("AnyRow", bound=Model)
Data = Mapping[str, Any]
Seen = Sequence[str] | None
"""Revisions of which one must be current; None: no check."""
LETTERS = 6
"""Letters of a revision for each field: 36 bits of a hash."""
EDITS = tuple(
    each for each in Action if each.name.endswith(("_EDITED", "_CHANGED", "_SAVED", "_AMENDED"))
)


class Changed(ValueError):
    """Somebody changed the row since it was read; nothing was stored.

    fields: the names of what differs. stored: the current values; empty where the row was deleted. last: the
    record of the last change, where there is one.
    """

    def __init__(self, fields: Sequence[str], stored: Data, last: AuditEvent | None) -> None:
        self.fields, self.stored, self.last = fields, stored, last
        what = f"{self.by} changed {', '.join(fields)}" if stored else "It is not there any more"
        super().__init__(f"{what} since you read it; nothing was stored.")

    @property
    def by(self) -> str:
        """The name of the user who changed it."""
        user = self.last.user if self.last else None
        return user.get_username() if user else "Somebody"


def revision_of(data: Data) -> str:
    """Return the revision of these values: some letters of a hash for each field."""
    return "".join(_digests(data).values())


def require_seen(row: Model, data: Data, seen: Seen) -> None:
    """Raise Changed unless `data`, the values of a locked row, has one of the seen revisions."""
    if seen is None or revision_of(data) in seen:
        return
    known = {
        each[place : place + LETTERS] for each in seen for place in range(0, len(each), LETTERS)
    }
    raise changed(row, data, [n for n, digest in _digests(data).items() if digest not in known])


def changed(row: Model, data: Data, fields: Sequence[str]) -> Changed:
    """Return the error for fields of a row that differ from what was seen."""
    last = AuditEvent.objects.filter(
        subject_kind=str(row._meta.model_name), subject_key=row.pk, action__in=EDITS
    )
    return Changed(fields, data, last.select_related("user").first())


@contextmanager
def held(row: AnyRow, stored: Callable[[AnyRow], Data], seen: Seen) -> Iterator[None]:
    """Lock a row for a change. Raise Changed where it is not as it was seen.

    Without `seen` it is not locked.
    """
    if seen is None:
        yield
        return
    with transaction.atomic():
        rows = type(row)._base_manager.select_for_update(of=("self",), no_key=True)
        locked = rows.filter(pk=row.pk).first()
        if locked is None:
            raise Changed([], {}, None)
        require_seen(locked, stored(locked), seen)
        yield


def _digests(data: Data) -> dict[str, str]:
    return {name: _digest(name, data[name]) for name in sorted(data)}


def _digest(name: str, value: Any) -> str:
    text = json.dumps([name, value], sort_keys=True, cls=DjangoJSONEncoder)
    return urlsafe_b64encode(sha256(text.encode()).digest())[:LETTERS].decode()
