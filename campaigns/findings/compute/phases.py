"""Mean seconds of each phase by cell: steps of an attempt, parts of the measured time."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from campaigns.findings.values import PhaseCell, Phases, PhaseTable, Spread
from campaigns.models import Attempt, Campaign, Phase
from campaigns.results.values import ObservedRun

Table = dict[str, dict[int, list[float]]]
"""Seconds by name and cell."""


def phases(campaign: Campaign, runs: Sequence[ObservedRun]) -> Phases | None:
    """Return the mean phases of accepted runs; None where none has phases.

    A phase that a run does not have took 0 s of it. Parts that overlap are marked, as they do not
    add up to a whole.
    """
    counted = {run.run: run.cell for run in runs if run.state == "ok"}
    tables: dict[str, Table] = {of: {} for of in Phase.Of.values}
    data: dict[str, set[int]] = {of: set() for of in Phase.Of.values}
    overlap: set[str] = set()
    rows = Phase.objects.filter(
        attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED
    ).order_by("pk")
    for run, of, name, seconds, started in rows.values_list(
        "attempt__run_id", "of", "name", "seconds", "started_seconds"
    ).iterator(chunk_size=5000):
        if run not in counted:
            continue
        tables[of].setdefault(name, {}).setdefault(counted[run], []).append(seconds)
        data[of].add(run)
        if started is not None:
            overlap.add(of)
    result = {
        of: _table(campaign, table, counted, data[of], overlap=of in overlap)
        for of, table in tables.items()
        if table
    }
    return Phases(**result) if result else None


def _table(
    campaign: Campaign, table: Table, counted: Mapping[int, int], runs: set[int], *, overlap: bool
) -> PhaseTable:
    numbers = Counter(counted[run] for run in runs)
    return PhaseTable(
        overlap=overlap,
        names=list(table),
        cells=[
            PhaseCell(
                cell=cell.pk,
                levels=cell.levels_by_factor,
                runs=numbers[cell.pk],
                seconds={
                    name: _spread(by_cell.get(cell.pk, []), numbers[cell.pk])
                    for name, by_cell in table.items()
                },
            )
            for cell in campaign.cells.all()
            if cell.pk in numbers
        ],
    )


def _spread(seconds: Sequence[float], runs: int) -> Spread:
    values = np.zeros(runs)
    values[: len(seconds)] = seconds
    return Spread(float(values.mean()), float(values.std(ddof=1)) if runs > 1 else None)
