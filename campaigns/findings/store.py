"""Findings as rows of the database: shapes of `values` to JSON and back. The only place that converts them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from django.db.models import TextField
from django.db.models.functions import Cast
from msgspec import Struct, inspect

from campaigns.findings.values import (
    Answer,
    BindingFinding,
    BriefCells,
    CalibrationFinding,
    CapacityFinding,
    Cells,
    Checks,
    Densities,
    Drift,
    FailedParts,
    LevelsFinding,
    Matrix,
    Outlook,
    Pairs,
    Percentiles,
    Phases,
    Scalability,
    Sensitivity,
    SessionsFinding,
    Thresholds,
    WithExcluded,
    WithinBlocks,
)
from campaigns.models import Campaign, Finding
from campaigns.results.pages_data import Surroundings
from campaigns.stats.methods import METHODS

Shape = TypeVar("Shape")


VERSION = 2
"""Of the shapes in the database, in the key `v`. Version 1 had no such key, and held texts as well."""

SHAPES: Mapping[str, type[Struct] | type[Surroundings]] = {
    "answer": Answer,
    "binding": BindingFinding,
    "brief": BriefCells,
    "calibration": CalibrationFinding,
    "capacity": CapacityFinding,
    "cells": Cells,
    "curves": LevelsFinding,
    "checks": Checks,
    "density": Densities,
    "drift": Drift,
    "failed_parts": FailedParts,
    "levels": LevelsFinding,
    "matrix": Matrix,
    "outlook": Outlook,
    "pairs": Pairs,
    "percentiles": Percentiles,
    "phases": Phases,
    "sensitivity": Sensitivity,
    "sessions": SessionsFinding,
    "surroundings": Surroundings,
    "thresholds": Thresholds,
    "usl": Scalability,
    "with_excluded": WithExcluded,
    "within_blocks": WithinBlocks,
}
"""The shapes of findings by name; a name may go on with a colon and a metric or a quantity, as `cells:duration`."""


ON_PAGES = (
    "pairs", "levels", "checks", "with_excluded", "outlook", "calibration", "matrix", "surroundings",
    "sessions", "sensitivity", "answer", "curves", "capacity", "thresholds", "binding",
    Finding.FAILED_PARTS,
)  # fmt: skip
"""Findings that `Findings` holds as fields of these names, beside the cells."""


def shape_of(name: str) -> type[Struct] | type[Surroundings] | None:
    """Return the shape of a finding; None where none is declared."""
    return SHAPES.get(name.partition(":")[0])


def is_of_version_1(result: Mapping[str, Any]) -> bool:
    """Return whether a stored result has the shapes of version 1."""
    return "v" not in result


def values_of(result: Any, shape: type | None) -> Any:
    """Return a stored result of any version with the keys of today's shape only.

    So results of two versions can be compared. Those of version 1 lose their labels and sentences, which are
    written when they are read since version 2, and the number of the version is left out. A key that its
    version lacked stays absent.
    """
    return _declared(result, _type_info(shape)) if shape else result


@cache
def _type_info(shape: type) -> inspect.Type:
    return inspect.type_info(shape)


def _was_text(value: Any, kind: inspect.Type) -> bool:
    """Return whether version 1 held a sentence where there are values today."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return isinstance(value, str) and any(isinstance(each, inspect.StructType) for each in kinds)


def _declared(value: Any, kind: inspect.Type) -> Any:
    """Leave out of JSON the keys that its type does not declare."""
    if isinstance(kind, inspect.Metadata):
        return _declared(value, kind.type)
    if isinstance(kind, inspect.UnionType):
        kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return _declared(value, kinds[0]) if len(kinds) == 1 else value
    if isinstance(value, Mapping):
        if isinstance(kind, inspect.StructType | inspect.DataclassType):
            return {
                field.encode_name: _declared(value[field.encode_name], field.type)
                for field in kind.fields
                if field.encode_name in value
                and not _was_text(value[field.encode_name], field.type)
            }
        if isinstance(kind, inspect.DictType):
            return {name: _declared(each, kind.value_type) for name, each in value.items()}
    if isinstance(value, list) and isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return [_declared(each, kind.item_type) for each in value]
    return value


def stored(finding: Struct | Surroundings | dict[str, Any]) -> dict[str, Any]:
    """Return a finding as JSON for its row."""
    if isinstance(finding, dict):
        return dict(msgspec.to_builtins(finding, str_keys=True, enc_hook=_number))
    return {
        "v": VERSION,
        **msgspec.to_builtins(finding, builtin_types=(datetime,), str_keys=True, enc_hook=_number),
    }


def _number(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item()


def read(result: Mapping[str, Any], shape: type[Shape]) -> Shape:
    """Return the result of a row in its declared shape."""
    return msgspec.convert(result, shape, str_keys=True)


AS_TEXT = Cast("result", TextField())
"""The result of a row as text, for `decode`: where many rows are read, it takes half the time."""


def decode(text: str, shape: type[Shape]) -> Shape:
    """Return the result of a row, given as text, in its declared shape."""
    return msgspec.json.decode(text, type=shape)


class _Stored(NamedTuple):
    """The columns that are read of a finding. result: as text."""

    name: str
    result: str
    computed_at: datetime
    data_hash: str


class LateResults:
    """Results by name, each read at its first use: some hold megabytes that few pages show."""

    def __init__(self, keys: Mapping[str, int]) -> None:
        self._keys = keys
        self._read: dict[str, Any] = {}

    def read(self, name: str, shape: type[Shape]) -> Shape | None:
        """Return a finding in its declared shape, converted once; None where there is none."""
        if name not in self:
            return None
        if name not in self._read:
            text = Finding.objects.values_list(AS_TEXT, flat=True).get(pk=self._keys[name])
            self._read[name] = decode(text, shape)
        finding: Shape = self._read[name]
        return finding

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)


@dataclass(frozen=True, slots=True)
class Findings:
    """The stored findings of a campaign; None where nothing is stored yet.

    `cells` belongs to one metric; `metrics` names all that have cells, the primary one first.

    charts: data that only charts show, by name: density and drift of the metric, phases, usl, changes
    within_blocks, percentiles:NAME of each quantity that has histograms, and the cells of other metrics, as `cells_of` reads them.
    """

    cells: Cells | None
    brief: BriefCells | None
    pairs: Pairs | None
    levels: LevelsFinding | None
    checks: Checks | None
    with_excluded: WithExcluded | None
    outlook: Outlook | None
    calibration: CalibrationFinding | None
    matrix: Matrix | None
    surroundings: Surroundings | None
    sessions: SessionsFinding | None
    sensitivity: Sensitivity | None
    answer: Answer | None
    curves: LevelsFinding | None
    capacity: CapacityFinding | None
    thresholds: Thresholds | None
    binding: BindingFinding | None
    failed_parts: FailedParts | None
    charts: LateResults
    metrics: tuple[str, ...]
    computed_at: datetime | None
    data_hash: str

    def cells_of(self, metric: str) -> Cells | None:
        """Return the cells of any metric, with their runs; None where it has none, or where those of no metric are read (`brief`)."""
        if self.cells is None or self.cells.metric == metric:
            return self.cells
        name = "cells" if metric == self.metrics[0] else f"cells:{metric}"
        return self.charts.read(name, Cells)

    def without_verdicts(self) -> "Findings":
        """Return the findings that judge nothing."""
        nothing: dict[str, Any] = {name: None for name in ON_PAGES if name in Finding.JUDGING}
        return replace(self, **nothing)

    @property
    def summaries(self) -> Cells | BriefCells | None:
        """Return the cells that were read, with their runs or without."""
        return self.cells or self.brief


def findings_of(
    campaign: Campaign, metric: str, *, brief: bool = False, only: Collection[str] | None = None
) -> Findings:
    """Return the findings of a campaign, with the cells of `metric`, or else of the primary one.

    brief: cells have the `values` of their runs instead of `runs`: for ten thousand runs these are
    megabytes. only: the fields that are read, "cells" for the cells; None for all.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    current = campaign.findings.filter(versions__methods=METHODS)
    keys = dict(current.order_by("name").values_list("name", "pk"))
    others = [name for name in keys if name.startswith("cells:")]
    cells = f"cells:{metric}" if f"cells:{metric}" in others else "cells"
    shown = metric if cells != "cells" else campaign.primary_metric
    of_metric = {f"{name}:{shown}": name for name in ("density", "drift")}
    wanted_cells = f"brief:{shown}" if brief else cells
    read_cells = only is None or "cells" in only
    names = [name for name in ON_PAGES if only is None or name in only]
    reported = current.filter(name__in=[*names, *([wanted_cells] if read_cells else [])])
    columns = reported.values_list("name", AS_TEXT, "computed_at", "data_hash")
    rows = [_Stored(*row) for row in columns]
    results = {row.name: row.result for row in rows}
    late = ("phases", "usl", "within_blocks", *of_metric)
    latest = max(rows, key=lambda row: row.computed_at, default=None)

    def find(name: str, shape: type[Shape]) -> Shape | None:
        return decode(results[name], shape) if name in results else None

    on_pages: Mapping[str, Any] = {name: find(name, SHAPES[name]) for name in ON_PAGES}
    return Findings(
        **on_pages,
        cells=None if brief else find(wanted_cells, Cells),
        brief=find(wanted_cells, BriefCells) if brief else None,
        charts=LateResults(
            {
                of_metric.get(name, name): pk
                for name, pk in keys.items()
                if name in late or name.startswith(("percentiles:", "cells"))
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
