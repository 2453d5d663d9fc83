"""The runs of a campaign against its criterion: conditions as input of the statistics, and as terms of a finding."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from campaigns.findings.compute.statistics_input import failing_cells
from campaigns.findings.values import ConditionTerms
from campaigns.kinds.base import Metric
from campaigns.kit.histogram import counts_of
from campaigns.kit.units import UNITS, convert
from campaigns.models import Attempt, Campaign, Distribution
from campaigns.planning.criterion import Condition, Criterion
from campaigns.planning.metrics import metric_of
from campaigns.results.values import ObservedRun
from campaigns.stats.capacity import ShareCondition, ShareRun, ValueCondition, ValueRun
from campaigns.stats.criteria import Criteria

FAILURES = "failures"
"""The name of the condition on the share that failed."""
COUNTED = ("ok", "failed", "censored")
WITHOUT_VALUE = ("failed", "censored")
"""States of runs that counted and have no value of their own."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a campaign, and the runs that are judged by them.

    by_metric: the runs of each metric; those of the primary one tell what failed.
    """

    campaign: Campaign
    criterion: Criterion
    by_metric: Mapping[str, Sequence[ObservedRun]]
    criteria: Criteria

    @cached_property
    def stated(self) -> list[ConditionTerms]:
        """Return the conditions that somebody stated. Of failures only where their share was."""
        names = Counter(each.metric for each in self.criterion.conditions)
        terms = [self._of_metric(each, names) for each in self.criterion.conditions]
        if self.criterion.failed_percent is not None:
            share = self.criterion.failed_percent / 100
            terms.append(ConditionTerms(name=FAILURES, failed_share=share))
        return terms

    @cached_property
    def of_capacity(self) -> list[ConditionTerms]:
        """Return the stated conditions, or else the campaign's failure limit."""
        limit = ConditionTerms(name=FAILURES, failed_share=self.campaign.failed_limit, stated=False)
        return self.stated or [limit]

    @cached_property
    def runs(self) -> Sequence[ObservedRun]:
        """Return the runs of the primary metric."""
        return self.by_metric[self.campaign.primary_metric]

    def without(self, block: int) -> "Conditions":
        """Return the same conditions without the runs of a block."""
        by_metric = {
            name: [run for run in runs if run.block != block]
            for name, runs in self.by_metric.items()
        }
        rest = Conditions(self.campaign, self.criterion, by_metric, self.criteria)
        rest.__dict__["_above"] = (
            self._above
        )  # of runs, whichever are left: the histograms are read once
        return rest

    @cached_property
    def failing(self) -> frozenset[int]:
        """Return the cells in which too much failed for a number."""
        return failing_cells(self.runs, self.criteria)

    def of_runs(self, term: ConditionTerms) -> list[ObservedRun]:
        """Return the runs with the values of a condition's metric."""
        return list(self.by_metric.get(term.metric, ()))

    def value_of(self, term: ConditionTerms, run: ObservedRun) -> float | None:
        """Return the value of a condition's metric in one run; None where it has none of its own."""
        return self._values.get(term.metric, {}).get(run.run)

    @cached_property
    def _values(self) -> dict[str, dict[int, float]]:
        return {
            name: {
                run.run: run.value for run in runs if run.state == "ok" and run.value is not None
            }
            for name, runs in self.by_metric.items()
        }

    def without_number(self, term: ConditionTerms, cell: int) -> bool:
        """Return whether a cell has no number of this metric: too much failed, or a value lies above a limit."""
        return cell in self.failing or cell in self._with(term.metric, "censored")

    def numbered(self, term: ConditionTerms, cells: Iterable[int]) -> set[int]:
        """Return the cells of which every counted run has a value."""
        valued = self._with(term.metric, "ok")
        return {cell for cell in cells if cell in valued and not self.without_number(term, cell)}

    def _with(self, metric: str, state: str) -> frozenset[int]:
        """Return the cells in which the metric of a run has a state."""
        return self._cells_by_state.get((metric, state), frozenset())

    @cached_property
    def _cells_by_state(self) -> dict[tuple[str, str], frozenset[int]]:
        cells: dict[tuple[str, str], set[int]] = {}
        for metric, runs in self.by_metric.items():
            for run in runs:
                cells.setdefault((metric, run.state), set()).add(run.cell)
        return {key: frozenset(each) for key, each in cells.items()}

    def share_runs(
        self, term: ConditionTerms, loads: Mapping[int, float], runs: Iterable[ObservedRun]
    ) -> list[ShareRun]:
        """Return how much of each run failed, or broke the bound of a percentile. loads: by cell."""
        return [
            ShareRun(run.part, loads[run.cell], *found)
            for run in runs
            if run.cell in loads and (found := self.broken(term, run)) is not None
        ]

    def broken(self, term: ConditionTerms, run: ObservedRun) -> tuple[int, int] | None:
        """Return the units of a run that broke a condition, and all of them; None where that is unknown.

        Of a percentile: those above the bound, and those that failed, which would have taken longer.
        """
        if run.state not in COUNTED:
            return None
        failed, units = self._units(run)
        if not term.metric:
            return failed, units
        if run.run in self._above.get(term.name, {}):
            above, known = self._above[term.name][run.run]
            return above + run.units_failed, known + run.units_failed
        return (units, units) if failed == units else None

    @cached_property
    def _several(self) -> frozenset[int]:
        """Cells whose counted runs consist of units of work; elsewhere a run is its own unit."""
        return frozenset(
            run.cell
            for run in self.runs
            if run.state in COUNTED and run.units_done + run.units_failed > 1
        )

    @cached_property
    def _usual_units(self) -> dict[int, int]:
        """Return the units that runs of a cell usually have."""
        units: dict[int, list[int]] = {}
        for run in self.runs:
            if run.state in COUNTED and run.units_done + run.units_failed:
                units.setdefault(run.cell, []).append(run.units_done + run.units_failed)
        return {cell: round(median(each)) for cell, each in units.items()}

    def _units(self, run: ObservedRun) -> tuple[int, int]:
        """Return the units that failed, and all. A run that failed without any failed with as many as others have."""
        if run.cell not in self._several:
            return int(run.state in WITHOUT_VALUE), 1
        units = run.units_done + run.units_failed
        if not units:
            usual = self._usual_units[run.cell]
            return (usual if run.state in WITHOUT_VALUE else 0), usual
        return run.units_failed, units

    @cached_property
    def _above(self) -> dict[str, dict[int, tuple[int, int]]]:
        """Return the samples of each run above the bound of a percentile, and all, by condition and run."""
        wanted: dict[str, list[tuple[str, float]]] = {}
        for term in self.of_capacity:
            if share_of(self.campaign, term) is not None and term.at_most is not None:
                quantity = term.metric.rpartition("_p")[0]
                bound = convert(term.at_most, term.unit, "s") * 1e6
                wanted.setdefault(quantity, []).append((term.name, bound))
        result: dict[str, dict[int, tuple[int, int]]] = {}
        for name, run, encoded, dropped in _histograms(self.campaign, wanted) if wanted else ():
            counts = counts_of(bytes(encoded))
            for condition, bound in wanted[name]:
                above = counts.above(bound) + dropped
                result.setdefault(condition, {})[run] = (above, counts.total + dropped)
        return result

    def _of_metric(self, condition: Condition, names: Mapping[str, int]) -> ConditionTerms:
        metric = metric_of(self.campaign, condition.metric)
        side = condition.side
        several = names[condition.metric] > 1
        return ConditionTerms(
            name=f"{condition.metric} {side}" if several else condition.metric,
            metric=condition.metric,
            label=metric.label,
            unit=metric.unit,
            at_most=condition.limit if side == "at_most" else None,
            at_least=condition.limit if side == "at_least" else None,
        )


def _histograms(
    campaign: Campaign, names: Iterable[str]
) -> Iterable[tuple[str, int, bytes | memoryview, int]]:
    """Return name, run, histogram and dropped values of the last attempt with values at each run."""
    return (
        Distribution.objects.filter(
            attempt__run__campaign=campaign,
            attempt__state__in=Attempt.WITH_VALUES,
            name__in=list(names),
        )
        .order_by("attempt__run__position", "attempt__number")
        .values_list("name", "attempt__run_id", "encoded", "dropped")
        .iterator(chunk_size=500)
    )


def share_of(campaign: Campaign, term: ConditionTerms) -> float | None:
    """Return the share of units that may lie above the bound of a percentile; None for another metric."""
    if not term.metric or term.at_most is None:
        return None
    metric: Metric = metric_of(campaign, term.metric)
    known = metric.unit in UNITS and UNITS[metric.unit].dimension == "time"
    return 1 - metric.percentile if metric.percentile is not None and known else None


def condition_of(
    conditions: Conditions,
    term: ConditionTerms,
    loads: Mapping[int, float],
    *,
    offered_rate: bool,
    session: int | None = None,
) -> ValueCondition | ShareCondition:
    """Return a condition with the runs of one setting, as input of the statistics.

    loads: of the setting's cells. session: with the runs of that one only.
    """

    def own(runs: Iterable[ObservedRun]) -> list[ObservedRun]:
        return [
            run for run in runs if run.cell in loads and (session is None or run.session == session)
        ]

    shares = conditions.share_runs(term, loads, own(conditions.runs))
    share = share_of(conditions.campaign, term)
    if not term.metric:
        return ShareCondition(term.name, term.failed_share or 0.0, shares)
    if term.as_share and share is not None:
        return ShareCondition(term.name, share, shares)
    out = {cell for cell in loads if conditions.without_number(term, cell)}
    if share is None:  # what failed there shows that it fails
        failures = ConditionTerms(name=FAILURES, failed_share=conditions.campaign.failed_limit)
        shares = conditions.share_runs(failures, loads, own(conditions.runs))
        share = conditions.campaign.failed_limit
    runs = own(conditions.of_runs(term))
    limit = term.at_most if term.at_most is not None else term.at_least
    return ValueCondition(
        name=term.name,
        limit=limit or 0.0,
        lower_is_better=term.at_most is not None,
        runs=[
            ValueRun(run.part, loads[run.cell], run.value)
            for run in runs
            if run.state == "ok" and run.value is not None and run.cell not in out
        ],
        offered_rate=offered_rate,
        without_number=sorted({loads[cell] for cell in out}),
        shares=[each for each in shares if each.load in {loads[cell] for cell in out}],
        share_limit=share,
        bounds=[
            ValueRun(run.part, loads[run.cell], run.value)
            for run in runs
            # What a starved generator measured is longer than the time of the server: it shows no failure.
            if run.state == "bound"
            and not run.starved
            and run.value is not None
            and run.cell not in out
        ],
    )


def keeps(conditions: Conditions, terms: Sequence[ConditionTerms], run: ObservedRun) -> bool:
    """Return whether one run kept every condition by itself."""
    return all(_keeps(conditions, term, run) for term in terms)


def _keeps(conditions: Conditions, term: ConditionTerms, run: ObservedRun) -> bool:
    share = share_of(conditions.campaign, term) if term.metric else term.failed_share
    value = conditions.value_of(term, run)
    if term.metric and value is not None:
        above = term.at_most is None or value <= term.at_most
        return above and (term.at_least is None or value >= term.at_least)
    found = conditions.broken(term, run) if share is not None else None
    return found is not None and share is not None and found[0] <= share * found[1] * (1 + 1e-12)
