from types import SimpleNamespace
from typing import Any

import msgspec

from campaigns.findings.charts.base import Shown, View
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import FactorOutline, LevelLabels

WORKERS = FactorOutline("workers", "Workers", (2, 4))
MISSING = dict.fromkeys(
    ("answer", "cells", "summaries", "levels", "pairs", "matrix", "sessions", "curves", "capacity")
)


class Stored(dict):
    """Findings by name, as JSON."""

    def read(self, name, shape):
        return msgspec.convert(self[name], shape) if name in self else None


def shown(charts=None, query=None, **findings):
    """The input of a chart without a database. charts: findings that only charts show, by name."""
    stored: Any = SimpleNamespace(
        **MISSING | findings,
        charts=Stored(charts or {}),
        cells_of=lambda metric: findings.get("cells"),
    )
    return Shown(
        findings=stored,
        labels=LevelLabels([WORKERS]),
        view=View("duration", WORKERS),
        primary_metric="duration",
        quantity=lambda name: Quantity(name, "s"),
        series=lambda cell, most: [],
        selector=lambda *choice: choice,
        query=query or {},
    )
