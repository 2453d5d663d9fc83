"""The table of runs, page by page: counts and search cover all runs, details only those of the page."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from campaigns.models import Campaign, Measurement, Run
from campaigns.results.rows import (
    RunRow,
    accepted_values,
    excluded_among,
    phases_of,
    rows_of,
    state_of,
)

NO_PLAIN_VALUE = ("failed", "censored", "bound", "void")
COLUMNS = {
    "position": "position",
    "cell": "cell",
    "started": "started_at",
    "value": "",
    "state": "",
}
"""By what the table can be sorted, and the field of a run where it is one."""
WITHOUT_VALUE = "without"
"""What a filter calls all of these together, warm-ups aside."""


class RunList:
    """The runs of a campaign but try-outs, in the order of their positions, with one metric.

    Most are called what the database calls them; those that are not are read one by one.
    """

    def __init__(self, campaign: Campaign, metric: str) -> None:
        self._campaign, self._metric = campaign, metric
        self._runs = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).order_by("position")
        self._excluded = excluded_among(self._runs)
        self._special, warm_ups = self._read()
        self.counts, self.without_counts = self._counted(warm_ups)
        """How many runs there are, and how many measured ones gave no plain value, by state."""
        self.without = self._runs.filter(self._called(*NO_PLAIN_VALUE)).exclude(
            purpose=Run.Purpose.WARM_UP
        )
        """Measured runs that gave no plain value; warm-ups enter no number anyway."""

    def __len__(self) -> int:
        return self.counts.total()

    def matching(self, text: str, state: str) -> "Matching":
        """Runs of a state, or WITHOUT_VALUE, whose levels, block, reason or instant hold a text."""
        runs, count = self._runs, len(self)
        if state == WITHOUT_VALUE:
            runs, count = self.without, self.without_counts.total()
        elif state and not self.counts[state]:
            runs, count = self._runs.none(), 0
        elif state:
            runs, count = self._runs.filter(self._called(state)), self.counts[state]
        wanted = text.strip().lower()
        if wanted:
            return self._holding(runs, wanted)
        return Matching(runs, count)

    def column(self, name: str) -> dict[int, Any]:
        """Return one of COLUMNS of every run, by its key, as something that sorts.

        A run without it is left out, or None.
        """
        match name:
            case "value":
                values = accepted_values(self._campaign, self._metric)
                return {run: accepted.value for run, accepted in values.items()}
            case "state":
                stored = dict(self._runs.values_list("pk", "state"))
                return stored | self._special
        return dict(self._runs.values_list("pk", COLUMNS[name]))

    def rows(self, runs: Iterable[int]) -> list[RunRow]:
        """Read some of the runs whole."""
        keys = list(runs)
        if not keys:
            return []
        values = accepted_values(self._campaign, self._metric, keys)
        return rows_of(self._campaign, self._campaign.runs.filter(pk__in=keys), values)

    def _read(self) -> tuple[dict[int, str], frozenset[int]]:
        """What the runs are called that are not called as they are stored, and which are warm-ups."""
        limits = Measurement.objects.filter(
            Q(bound=True) | Q(censored=True),
            metric=self._metric,
            attempt__run__campaign=self._campaign,
        )
        values = accepted_values(self._campaign, self._metric, limits.values("attempt__run"))
        phases = phases_of(self._runs)
        keys = {*self._excluded, *values, *phases}
        answer = (
            self._runs.filter(pk__in=keys).values_list("pk", "state", "purpose") if keys else ()
        )
        special, warm_ups = {}, set()
        for run, stored, purpose in answer:
            state = state_of(stored, values.get(run), phases.get(run, ""))
            special[run] = "excluded" if run in self._excluded else state
            if purpose == Run.Purpose.WARM_UP:
                warm_ups.add(run)
        return special, frozenset(warm_ups)

    def _counted(self, warm_ups: Container[int]) -> tuple[Counter[str], Counter[str]]:
        every, without = Counter(self._special.values()), Counter[str]()
        without.update(state for run, state in self._special.items() if run not in warm_ups)
        rows = self._runs.exclude(pk__in=list(self._special)).order_by()
        for state, purpose, count in rows.values_list("state", "purpose").annotate(Count("pk")):
            every[state] += count
            without[state] += 0 if purpose == Run.Purpose.WARM_UP else count
        return every, Counter({state: without[state] for state in NO_PLAIN_VALUE})

    def _called(self, *states: str) -> Q:
        """The runs that are called one of these."""
        named = [run for run, state in self._special.items() if state in states]
        return (Q(state__in=states) & ~Q(pk__in=list(self._special))) | Q(pk__in=named)

    @property
    def levels(self) -> dict[int, dict[str, Any]]:
        """The levels of each cell, by its key."""
        return dict(self._campaign.cells.values_list("pk", "levels_by_factor"))

    def _holding(self, runs: QuerySet[Run], wanted: str) -> "Matching":
        names = {cell: _named(each) for cell, each in self.levels.items()}
        rows = runs.values_list("pk", "state", "position", "cell", "reason", "started_at")
        keys = [
            run
            for run, state, position, cell, reason, started_at in rows
            if wanted in self._text(run, f"{position} {names[cell]}", state, reason, started_at)
        ]
        return Matching(keys, len(keys))

    def _text(
        self, run: int, place: str, state: str, reason: str, started_at: datetime | None
    ) -> str:
        started = f"{started_at:%Y-%m-%d %H:%M:%S}" if started_at else ""
        by, why = self._excluded.get(run, ("", ""))
        text = f"{place} {self._special.get(run, state)} {reason} {started} {by} {why}"
        return text.lower()


class Matching:
    """Keys of runs that are counted already, and read where they are asked for."""

    def __init__(self, runs: QuerySet[Run] | Sequence[int], count: int) -> None:
        self._runs, self._count = runs, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, wanted: slice) -> list[int]:
        if isinstance(self._runs, QuerySet):
            return list(self._runs.values_list("pk", flat=True)[wanted])
        return list(self._runs[wanted])


def _named(levels: Mapping[str, Any]) -> str:
    return " ".join(f"{name} {level}" for name, level in levels.items())
