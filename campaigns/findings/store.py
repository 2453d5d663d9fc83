"""Findings as rows of the database: shapes of `values` to JSON and back. The only place that converts them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from campaigns.models import Campaign, Finding
from campaigns.stats.methods import METHODS

Shape = TypeVar("Shape", bound=Struct)


def stored(finding: Struct | dict[str, Any]) -> dict[str, Any]:
    """Return a finding as JSON for its row."""
    return finding if isinstance(finding, dict) else dict(msgspec.to_builtins(finding))


class _Stored(NamedTuple):
    """The columns that are read of a finding."""

    name: str
    result: Mapping[str, Any]
    computed_at: datetime
    data_hash: str


class LateResults(Mapping[str, Mapping[str, Any]]):
    """Results by name, each read at its first use: some hold megabytes that few pages show."""

    def __init__(self, keys: Mapping[str, int]) -> None:
        self._keys = keys
        self._read: dict[str, Mapping[str, Any]] = {}
        self._typed: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        if name not in self._read:
            results = Finding.objects.values_list("result", flat=True)
            self._read[name] = results.get(pk=self._keys[name])
        return self._read[name]

    def read(self, name: str, shape: type[Shape]) -> Shape | None:
        """Return a finding in its declared shape, converted once; None where there is none."""
        if name not in self:
            return None
        if name not in self._typed:
            self._typed[name] = msgspec.convert(self[name], shape)
        finding: Shape = self._typed[name]
        return finding

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@dataclass(frozen=True, slots=True)
class Findings:
    """The stored findings of a campaign; None where nothing is stored yet.

    `cells` belongs to one metric; `metrics` names all that have cells, the primary one first.

    charts: data that only charts show, by name: density and drift of the metric, phases, usl, changes
    within_blocks, and percentiles:NAME of each quantity that has histograms.
    """

    cells: Mapping[str, Any] | None
    pairs: Mapping[str, Any] | None
    levels: Mapping[str, Any] | None
    checks: Mapping[str, Any] | None
    with_excluded: Mapping[str, Any] | None
    outlook: Mapping[str, Any] | None
    calibration: Mapping[str, Any] | None
    matrix: Mapping[str, Any] | None
    surroundings: Mapping[str, Any] | None
    sessions: Mapping[str, Any] | None
    sensitivity: Mapping[str, Any] | None
    answer: Mapping[str, Any] | None
    failed_parts: Mapping[str, Any] | None
    charts: LateResults
    metrics: tuple[str, ...]
    computed_at: datetime | None
    data_hash: str


def findings_of(campaign: Campaign, metric: str, *, brief: bool = False) -> Findings:
    """Return the findings of a campaign, with the cells of `metric`, or else of the primary one.

    brief: cells have the `values` of their runs instead of `runs`: for ten thousand runs these are
    megabytes.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    current = campaign.findings.filter(versions__methods=METHODS)
    keys = dict(current.order_by("name").values_list("name", "pk"))
    others = [name for name in keys if name.startswith("cells:")]
    cells = f"cells:{metric}" if f"cells:{metric}" in others else "cells"
    shown = metric if cells != "cells" else campaign.primary_metric
    of_metric = {f"{name}:{shown}": name for name in ("density", "drift")}
    wanted = ["answer", "pairs", "levels", "checks", "with_excluded", "outlook", "matrix"]
    wanted += ["calibration", "surroundings", "sessions", "sensitivity", Finding.FAILED_PARTS]
    read = f"brief:{shown}" if brief else cells
    reported = current.filter(name__in=[*wanted, read])
    rows = [_Stored(*row) for row in reported.values_list(*_Stored._fields)]
    results = {row.name: row.result for row in rows}
    late = ("phases", "usl", "within_blocks", *of_metric)
    latest = max(rows, key=lambda row: row.computed_at, default=None)
    return Findings(
        cells=results.get(read),
        pairs=results.get("pairs"),
        levels=results.get("levels"),
        checks=results.get("checks"),
        with_excluded=results.get("with_excluded"),
        outlook=results.get("outlook"),
        calibration=results.get("calibration"),
        matrix=results.get("matrix"),
        surroundings=results.get("surroundings"),
        sessions=results.get("sessions"),
        sensitivity=results.get("sensitivity"),
        answer=results.get("answer"),
        failed_parts=results.get(Finding.FAILED_PARTS),
        charts=LateResults(
            {
                of_metric.get(name, name): pk
                for name, pk in keys.items()
                if name in late or name.startswith("percentiles:")
            }
        ),
        metrics=tuple(
            dict.fromkeys(
                [campaign.primary_metric, *sorted(name.removeprefix("cells:") for name in others)]
            )
        ),
        computed_at=latest.computed_at if latest else None,
        data_hash=latest.data_hash if latest else "",
    )
