"""Hash the input of a finding: data, definition, parameters. Pure.

Not part of it: versions of code and libraries, derived numbers, comments, who looked.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from campaigns.kit.mappings import Json, JsonObject

VERSION = "v1"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def data_hash(
    *,
    definition: Json,
    runs: Iterable[Json],
    exclusions: Iterable[Json],
    parameters: Json,
) -> str:
    """Return the hash of the input of a finding, as `v1:` and 64 hex digits.

    runs: all of them, void and lost too, each with `position` and `values` by metric; exclusions:
    each with the `position` of its run.
    """
    text = canonical_text(
        definition=definition, runs=runs, exclusions=exclusions, parameters=parameters
    )
    return f"{VERSION}:{sha256(text.encode()).hexdigest()}"


def hash_together(hashes: Iterable[tuple[int, str]]) -> str:
    """Combine the hashes of campaigns, each with its key; that of one campaign stays.

    Empty where one of them has none.
    """
    results = [each for _, each in sorted(set(hashes))]
    if len(results) < 2 or not all(results):
        return results[0] if len(results) == 1 else ""
    text = json.dumps(results, separators=(",", ":"))
    return f"{VERSION}:{sha256(text.encode()).hexdigest()}"


def canonical_text(
    *,
    definition: Json,
    runs: Iterable[Json],
    exclusions: Iterable[Json],
    parameters: Json,
) -> str:
    """Return the canonical form of the document, which does not depend on the order of data.

    JSON with sorted keys and no spaces; runs and exclusions by position; measured values as floats;
    instants in UTC with microseconds; strings in NFC. Raise ValueError for what JSON cannot hold.
    """
    document = {
        "definition": _canonical(definition),
        "runs": [_canonical(_measured(run)) for run in _by_position(runs)],
        "exclusions": [_canonical(exclusion) for exclusion in _by_position(exclusions)],
        "parameters": _canonical(parameters),
    }
    return json.dumps(
        document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def _by_position(rows: Iterable[Json]) -> list[Json]:
    return sorted(rows, key=lambda row: int(row["position"]))


def _measured(run: Json) -> JsonObject:
    values = run.get("values", {})
    return {
        **run,
        "values": {name: None if v is None else float(v) for name, v in values.items()},
    }


def _canonical(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return float(value) + 0.0  # turns -0.0 into 0.0
        case str():
            return _text(value)
        case datetime():
            return _instant(value)
        case Mapping():
            return {_nfc(key): _canonical(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_canonical(inner) for inner in value]
    raise TypeError(f"A {type(value).__name__} has no canonical form: {value!r}.")


def _text(text: str) -> str:
    if _INSTANT.fullmatch(text):
        try:
            return _instant(datetime.fromisoformat(text))
        except (ValueError, OverflowError):  # looks like an instant, but there is none such
            return text
    return _nfc(text)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _instant(instant: datetime) -> str:
    if instant.utcoffset() is None:
        raise ValueError(f"The instant {instant} has no time zone.")
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
