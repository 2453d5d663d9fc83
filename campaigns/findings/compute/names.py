"""How the cells of a finding are called."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.charts.labels import told_apart


def names_of(cells: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Levels of each cell as “concurrency 20, engine asyncio”; long levels are shortened."""
    levels: dict[str, list[str]] = {}
    for cell in cells:
        for factor, level in cell["levels"].items():
            levels.setdefault(factor, []).append(str(level))
    short = {factor: told_apart(texts) for factor, texts in levels.items()}
    return {
        cell["cell"]: ", ".join(
            f"{factor} {short[factor][str(level)]}" for factor, level in cell["levels"].items()
        )
        for cell in cells
    }
