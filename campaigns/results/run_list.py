"""The table of runs, page by page: counts and filters cover all runs, details only those of the page."""

from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from django.db.models import CharField, Count, Func, Q, QuerySet, Value

from campaigns.kit.mappings import Levels
from campaigns.models import Campaign, Measurement, Run
from campaigns.results.rows import (
    RunRow,
    accepted_values,
    excluded_among,
    phases_of,
    rows_of,
    state_of,
)

STARTED = Func(
    "started_at", Value("YYYY-MM-DD HH24:MI:SS"), function="to_char", output_field=CharField()
)
NO_PLAIN_VALUE = ("failed", "censored", "bound", "void")
COLUMNS = {
    "position": "position",
    "cell": "cell",
    "started": "started_at",
    "value": "",
    "state": "",
}
"""Columns by which the table can be sorted, and the field of a run where there is one."""
WITHOUT_VALUE = "without"
"""The value of the filter `state` that matches all states in NO_PLAIN_VALUE, without warm-ups."""


class RunList:
    """The runs of a campaign except try-outs, in the order of their positions, with one metric.

    The state on pages is the stored state, except for `special` runs: open, excluded, bound or censored.
    """

    def __init__(self, campaign: Campaign, metric: str) -> None:
        self._campaign, self._metric = campaign, metric
        runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).order_by("position")
        self.all: QuerySet[Run] = runs.alias(started=STARTED)
        self._excluded = excluded_among(self.all)
        self._phases = phases_of(self.all)
        self._special, warm_ups = self._read()
        self.counts, self.without_counts = self._counted(warm_ups)
        """The number of runs by state, and of measured runs without a plain value by state."""

    def __len__(self) -> int:
        return self.counts.total()

    def count(self, state: str) -> int:
        """Return the number of runs of a state, or WITHOUT_VALUE, or all of them."""
        if state == WITHOUT_VALUE:
            return self.without_counts.total()
        return self.counts[state] if state else len(self)

    def in_state(self, state: str) -> Q:
        """Return the filter of runs of a state on pages, or WITHOUT_VALUE."""
        if state == WITHOUT_VALUE:
            return self._in_states(*NO_PLAIN_VALUE) & ~Q(purpose=Run.Purpose.WARM_UP)
        return self._in_states(state)

    def containing(self, text: str) -> Q:
        """Return the filter of runs of which a text is in position, levels, state, reason, start or exclusion."""
        wanted = text.strip().lower()
        cells = [cell for cell, each in self.levels.items() if wanted in _named(each).lower()]
        excluded = [run for run, who in self._excluded.items() if wanted in " ".join(who).lower()]
        return (
            self._in_states(*(state for state in self.counts if wanted in state))
            | Q(cell__in=cells)
            | Q(pk__in=excluded)
            | Q(position__contains=wanted)
            | Q(reason__icontains=wanted)
            | Q(started__contains=wanted)
        )

    def column(self, name: str) -> dict[int, Any]:
        """Return the values of one of COLUMNS by the key of the run; a run without one is absent or None."""
        match name:
            case "value":
                values = accepted_values(self._campaign, self._metric)
                return {run: accepted.value for run, accepted in values.items()}
            case "state":
                stored = dict(self.all.values_list("pk", "state"))
                return stored | self._special
        return dict(self.all.values_list("pk", COLUMNS[name]))

    def rows(self, runs: Iterable[int]) -> list[RunRow]:
        """Read runs by their keys, with everything that their rows show."""
        keys = list(runs)
        if not keys:
            return []
        values = accepted_values(self._campaign, self._metric, keys)
        shown = self._campaign.runs.filter(pk__in=keys)
        return rows_of(self._campaign, shown, values, self._excluded, self._phases)

    def _read(self) -> tuple[dict[int, str], frozenset[int]]:
        """Return the state on pages of each special run, and the special runs that are warm-ups."""
        limits = Measurement.objects.filter(
            Q(bound=True) | Q(censored=True), attempt__run__campaign=self._campaign
        ).of(self._metric)
        values = accepted_values(self._campaign, self._metric, limits.values("attempt__run"))
        phases = self._phases
        keys = {*self._excluded, *values, *phases}
        special_runs = (
            self.all.filter(pk__in=keys).values_list("pk", "state", "purpose") if keys else ()
        )
        special, warm_ups = {}, set()
        for run, stored, purpose in special_runs:
            state = state_of(stored, values.get(run), phases.get(run, ""))
            special[run] = "excluded" if run in self._excluded else state
            if purpose == Run.Purpose.WARM_UP:
                warm_ups.add(run)
        return special, frozenset(warm_ups)

    def _counted(self, warm_ups: Container[int]) -> tuple[Counter[str], Counter[str]]:
        every, without = Counter(self._special.values()), Counter[str]()
        without.update(state for run, state in self._special.items() if run not in warm_ups)
        rows = self.all.exclude(pk__in=list(self._special)).order_by()
        for state, purpose, count in rows.values_list("state", "purpose").annotate(Count("pk")):
            every[state] += count
            without[state] += 0 if purpose == Run.Purpose.WARM_UP else count
        return every, Counter({state: without[state] for state in NO_PLAIN_VALUE})

    def _in_states(self, *states: str) -> Q:
        named = [run for run, state in self._special.items() if state in states]
        return (Q(state__in=states) & ~Q(pk__in=list(self._special))) | Q(pk__in=named)

    @property
    def levels(self) -> dict[int, Levels]:
        """The levels of each cell by its key."""
        return dict(self._campaign.cells.values_list("pk", "levels_by_factor"))


def _named(levels: Levels) -> str:
    return " ".join(f"{name} {level}" for name, level in levels.items())
