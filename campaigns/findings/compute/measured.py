"""The stored cells of a campaign, in the unit of another one, as input of a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from campaigns.findings.compared import Side
from campaigns.findings.compute.sessions import in_parts
from campaigns.findings.compute.statistics_input import runs_of_cell
from campaigns.kit.units import UNITS, convert
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.comparison_cells import CellRuns

Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """One campaign. factor: by which its values become those of `unit`; direction: of the metric."""

    side: Side
    name: str
    label: str
    unit: str
    direction: bool | None
    factor: float

    @property
    def lower_is_better(self) -> bool:
        """Return the direction for judgements, of which there are none where neither way is better."""
        return self.direction is True

    @property
    def in_blocks(self) -> bool:
        """Return whether runs of several cells share a block, made close together."""
        return self.side.campaign.order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)

    @cached_property
    def cells(self) -> dict[int, Cell]:
        """Return the cells by their keys, in the order of the campaign."""
        return {cell["cell"]: cell for cell in (self.side.cells or {"cells": ()})["cells"]}

    @cached_property
    def runs(self) -> dict[int, list[ObservedRun]]:
        """Return the runs of each cell, converted."""
        every = [run for cell in self.cells.values() for run in self._observed(cell)]
        result: dict[int, list[ObservedRun]] = {key: [] for key in self.cells}
        for run in in_parts(every):
            result[run.cell].append(run)
        return result

    @cached_property
    def cell_runs(self) -> dict[int, CellRuns]:
        """Return the input of a comparison by cell."""
        return {key: runs_of_cell(runs) for key, runs in self.runs.items()}

    def mean(self, cell: Cell) -> float | None:
        """Return the mean of a cell, geometric where there is one."""
        summary = cell["summary"]
        mean = summary["gmean"] if summary["gmean"] is not None else summary["mean"]
        return None if mean is None else float(mean) * self.factor

    def interval(self, cell: Cell) -> tuple[float, float] | None:
        """Return the interval of that mean, by the cell's own runs."""
        summary = cell["summary"]
        bounds = summary["gmean_ci"] if summary["gmean"] is not None else summary["mean_ci"]
        return None if bounds is None else (bounds[0] * self.factor, bounds[1] * self.factor)

    def _observed(self, cell: Cell) -> list[ObservedRun]:
        return [
            ObservedRun(
                run=run["run"],
                position=run["position"],
                cell=cell["cell"],
                block=run["block"],
                repetition=0,
                session=run.get("session", 1),
                state=run["state"],
                value=None if run["value"] is None else run["value"] * self.factor,
                reason=run["reason"],
                started_at=datetime.fromisoformat(run["started_at"]) if run["started_at"] else None,
                finished_at=None,
                units_done=run.get("units", 0) - run.get("units_failed", 0),
                units_failed=run.get("units_failed", 0),
            )
            for run in cell["runs"]
        ]


def measured_of(side: Side, baseline: Side) -> Measured:
    """Return a campaign with findings in the unit of the baseline, where that can be converted."""
    own, wanted = side.cells or {}, baseline.cells or {}
    source, unit = own.get("unit", ""), wanted.get("unit", "")
    known = source in UNITS and unit in UNITS
    convertible = known and UNITS[source].dimension == UNITS[unit].dimension
    return Measured(
        side=side,
        name=own.get("metric", ""),
        label=own.get("label", ""),
        unit=unit if convertible else source,
        direction=own.get("lower_is_better", True),
        factor=convert(1.0, source, unit) if convertible else 1.0,
    )
