"""Export the activity log as a file, row by row: it may be too long to hold in memory."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from campaigns.kit.downloads import gathered, lines_of
from campaigns.kit.mappings import JsonObject
from campaigns.models import AuditEvent

CHUNK = 1000
COLUMNS: Mapping[str, str] = {
    "id": "pk",
    "at": "at",
    "user": "user__username",
    "means": "means",
    "team": "team__name",
    "action": "action",
    "subject_kind": "subject_kind",
    "subject_id": "subject_key",
    "subject": "subject_name",
    "campaign": "campaign_key",
    "details": "details",
}
"""Names of the columns in the file and in the database."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its media type, and the function that writes it."""

    media_type: str
    pieces: Callable[[QuerySet[AuditEvent]], Iterator[bytes]]


def _rows(items: QuerySet[AuditEvent]) -> Iterator[JsonObject]:
    for values in items.values_list(*COLUMNS.values()).iterator(chunk_size=CHUNK):
        row = dict(zip(COLUMNS, values, strict=True))
        row["at"] = row["at"].isoformat()
        yield row


def _csv(items: QuerySet[AuditEvent]) -> Iterator[bytes]:
    def lines() -> Iterator[list[Any]]:
        yield list(COLUMNS)
        for row in _rows(items):
            yield [*list(row.values())[:-1], _json(row["details"])]

    return gathered(lines_of(lines()))


def _json_lines(items: QuerySet[AuditEvent]) -> Iterator[bytes]:
    return gathered(f"{_json(row)}\n" for row in _rows(items))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


FORMATS: Mapping[str, Format] = {
    "csv": Format("text/csv; charset=utf-8", _csv),
    "jsonl": Format("application/jsonl; charset=utf-8", _json_lines),
}


def attachment(name: str) -> str:
    """Return the Content-Disposition header of a file."""
    return f'attachment; filename="activity.{name}"'
