"""The definition of a campaign that measures an old and a new version side by side, in the worst cells of a template. Pure."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from campaigns.kit.mappings import JsonObject, Levels

MOST_CELLS = 4
DROPPED = ("search", "paired_factor", "baseline", "stop_rule", "stop_width_percent", "stop_most")
"""What a template may have that a campaign of whole plots has not."""


def definition_of(
    template: Mapping[str, Any],
    cells: Sequence[Levels],
    switch: str,
    versions: tuple[str, str],
    pairs: int,
) -> JsonObject:
    """Return the definition: whole plots of the build, old and new in random order, each installed anew in each block.

    cells: levels of the cells that are measured, the worst ones first; at most four are. versions: old, new.
    """
    chosen = list(cells)[:MOST_CELLS]
    factors = {
        name: _kept(levels, [cell[name] for cell in chosen if name in cell])
        for name, levels in template.get("factors", {}).items()
    }
    old, new = versions
    data = {name: each for name, each in template.items() if name not in DROPPED}
    return data | {
        "factors": {switch: [old, new], **factors},
        "excluded": [*template.get("excluded", ()), *_excluded(factors, chosen)],
        "order": "interleaved",
        "repetitions": pairs,
        "anew": True,
        "primary_contrast": {"factor": switch, "baseline": old, "candidate": new},
        "question": f"Is {switch} {new} slower than {old}, measured side by side?",
    }


def _kept(levels: Any, chosen: Sequence[Any]) -> Any:
    """Return the levels that are measured; named configurations with what they set."""
    if isinstance(levels, Mapping):
        return {name: each for name, each in levels.items() if name in chosen}
    return [level for level in levels if level in chosen]


def _excluded(factors: Mapping[str, Any], cells: Sequence[Levels]) -> list[Levels]:
    """Return the combinations of kept levels that are none of the cells."""
    names = list(factors)
    combinations = (
        dict(zip(names, levels, strict=True)) for levels in product(*map(list, factors.values()))
    )
    wanted = [{name: cell.get(name) for name in names} for cell in cells]
    return [each for each in combinations if names and each not in wanted]
