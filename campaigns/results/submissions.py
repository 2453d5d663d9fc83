"""What came in from outside beside the runs: what was left out, and what else was told. Reads only."""

import json
from dataclasses import dataclass
from itertools import chain
from typing import Any

from campaigns.models import Campaign

MOST = 100
"""Of the sentences, and of the notes: a campaign may have been sent to ten thousand times."""


@dataclass(frozen=True, slots=True)
class CameIn:
    """Sentences on what was left out, and what was told beside: names with their values as text."""

    left_out: tuple[str, ...] = ()
    info: tuple[tuple[str, str], ...] = ()


def came_in(campaign: Campaign) -> CameIn:
    """Of all submissions of a campaign, the first ones; nothing where runs are measured here."""
    if not campaign.source:
        return CameIn()
    result = campaign.submissions.order_by("pk").values_list("dropped", "info")[:MOST]
    rows = list(result)
    notes = dict.fromkeys((name, _text(value)) for _, info in rows for name, value in info.items())
    left_out = dict.fromkeys(chain.from_iterable(dropped for dropped, _ in rows))
    return CameIn(tuple(left_out)[:MOST], tuple(notes)[:MOST])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
