"""Convert rows of the database to JSON and back. Binary columns are base64; raw samples are written as columns."""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import BinaryField, DateTimeField, JSONField, Model, Value

from campaigns.kit.mappings import JsonObject
from campaigns.models import Campaign, RawSamples
from campaigns.reviews.bundles.archive import Damaged
from campaigns.reviews.bundles.tables import Table


def as_objects(table: Table, campaign: Campaign) -> Iterator[JsonObject]:
    """Yield each row as a JSON object, in the order of primary keys."""
    names = list(table.fields)
    paths, fields = zip(*table.fields.values(), strict=True)
    rows = table.rows(campaign).order_by(*table.order).values_list(*paths)
    unpacked = table.model is RawSamples
    for row in rows.iterator(chunk_size=table.chunk):
        result = dict(zip(names, row, strict=True))
        for name, field in zip(names, fields, strict=True):
            if isinstance(field, BinaryField) and result[name] is not None:
                data = bytes(result[name])
                result[name] = (
                    json.loads(zlib.decompress(data)) if unpacked else b64encode(data).decode()
                )
        yield json.loads(text_of(result))


def text_of(value: Any) -> str:
    """Return JSON as bundles hold it: sorted keys, instants with microseconds."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, cls=_Encoder)


class _Encoder(DjangoJSONEncoder):
    def default(self, value: Any) -> Any:
        """Return instants with microseconds, which Django's encoder cuts off."""
        return value.isoformat() if hasattr(value, "utcoffset") else super().default(value)


def as_row(table: Table, result: Any, place: str) -> Model:
    """Return an unsaved row for a JSON object. Raise Damaged, with place and field, where it does not fit."""
    if not isinstance(result, dict):
        raise Damaged(f"{place} is not an object.")
    result = table.of_before(result)
    fields = table.fields
    if unknown := sorted(result.keys() - fields.keys()):
        raise Damaged(f"{place} has a field “{unknown[0]}” that this version does not know.")
    values: JsonObject = {}
    for name, value in result.items():
        try:
            values[name] = _column(table, fields[name][1], value)
        except (ValidationError, TypeError, ValueError, OverflowError) as error:
            text = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            raise Damaged(f"{place}: {name} cannot be {str(value)[:80]!r}: {text}") from None
    return (table.make or table.model)(**values)


def _column(table: Table, field: Any, value: Any) -> Any:
    if isinstance(field, JSONField):
        return Value(None, JSONField()) if value is None and not field.null else value
    if value is None:
        return None
    if isinstance(field, BinaryField):
        if table.model is RawSamples:
            return zlib.compress(json.dumps(value).encode())
        return b64decode(value, validate=True)
    if isinstance(field, DateTimeField) and not isinstance(value, str):
        raise TypeError("it is no instant.")
    return field.to_python(value)


def columns_of(packed: bytes) -> Mapping[str, list[Any]]:
    """Return the samples of an attempt by column. Their size is limited by the line of the bundle that held them."""
    columns: Mapping[str, list[Any]] = json.loads(zlib.decompress(packed))
    return columns
