"""The table of runs, page by page: all runs are counted and searched, those of the page are read."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from campaigns.models import Campaign, Measurement, Run
from campaigns.queries.rows import (
    RunRow,
    excluded_among,
    phases_of,
    rows_of,
    standing_values,
    state_of,
)

NO_PLAIN_VALUE = ("failed", "censored", "bound", "void")
WITHOUT_VALUE = "without"
"""What a filter calls all of these together, warm-ups aside."""


class RunList:
    """The runs of a campaign but try-outs, in the order of their positions, with one metric."""

    def __init__(self, campaign: Campaign, metric: str) -> None:
        self._campaign, self._metric = campaign, metric
        self._runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
        self._excluded = excluded_among(self._runs)
        self._states = self._read()
        self.counts = Counter(self._states.values())
        warm_ups = self._runs.filter(purpose=Run.Purpose.WARM_UP).values_list("pk", flat=True)
        self.without = self._without(frozenset(warm_ups))
        """Measured runs that gave no plain value; warm-ups enter no number anyway."""

    def __len__(self) -> int:
        return len(self._states)

    @property
    def without_counts(self) -> Mapping[str, int]:
        """How many runs gave no plain value, by state."""
        return Counter(self._states[run] for run in self.without)

    def found(self, text: str, state: str) -> list[int]:
        """Runs of a state, or WITHOUT_VALUE, whose levels, block, reason or instant hold a text."""
        runs: Iterable[int] = self._states
        if state == WITHOUT_VALUE:
            runs = self.without
        elif state:
            runs = [run for run, own in self._states.items() if own == state]
        wanted = text.strip().lower()
        return self._holding(set(runs), wanted) if wanted else list(runs)

    def rows(self, runs: Sequence[int]) -> list[RunRow]:
        """Read some of the runs whole."""
        values = standing_values(self._campaign, self._metric, runs)
        return rows_of(self._campaign, self._campaign.runs.filter(pk__in=runs), values)

    def _read(self) -> dict[int, str]:
        """What every run is called, in the order of the positions."""
        limits = Measurement.objects.filter(
            Q(bound=True) | Q(censored=True),
            metric=self._metric,
            attempt__run__campaign=self._campaign,
        )
        values = standing_values(self._campaign, self._metric, limits.values("attempt__run"))
        phases = phases_of(self._runs)
        return {
            run: "excluded"
            if run in self._excluded
            else state_of(state, values.get(run), phases.get(run, ""))
            for run, state in self._runs.order_by("position").values_list("pk", "state")
        }

    def _without(self, warm_ups: Container[int]) -> list[int]:
        return [
            run
            for run, state in self._states.items()
            if state in NO_PLAIN_VALUE and run not in warm_ups
        ]

    def _holding(self, runs: Container[int], wanted: str) -> list[int]:
        levels = dict(self._campaign.cells.values_list("pk", "levels_by_factor"))
        names = {cell: _named(each) for cell, each in levels.items()}
        told = self._runs.order_by("position").values_list(
            "pk", "position", "cell", "reason", "started_at"
        )
        return [
            run
            for run, position, cell, reason, started_at in told
            if run in runs and wanted in self._text(run, position, names[cell], reason, started_at)
        ]

    def _text(
        self, run: int, position: int, levels: str, reason: str, started_at: datetime | None
    ) -> str:
        started = f"{started_at:%Y-%m-%d %H:%M:%S}" if started_at else ""
        by, why = self._excluded.get(run, ("", ""))
        words = f"{position} {levels} {self._states[run]} {reason} {started} {by} {why}"
        return words.lower()


def _named(levels: Mapping[str, Any]) -> str:
    return " ".join(f"{name} {level}" for name, level in levels.items())
