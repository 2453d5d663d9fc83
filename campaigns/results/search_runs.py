"""Read the runs of a search for capacity, and what comes next. Nothing else decides: a restart finds the same step."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, Max, OuterRef, Sum

from campaigns.kit.mappings import Levels
from campaigns.models import Attempt, Block, Campaign, Run
from campaigns.planning.criterion import Criterion, criterion_of
from campaigns.planning.limits import cell_label
from campaigns.planning.metrics import driver_if_known, metrics_of
from campaigns.planning.search import (
    Search,
    bounds_of,
    largest_allowed,
    search_of,
    settings_of,
)
from campaigns.planning.search_text import step_text
from campaigns.results.rows import Accepted, accepted_values
from campaigns.stats.capacity_search import (
    Bounds,
    Bracket,
    Phase,
    SearchRun,
    Step,
    bracket_of,
    made,
    next_step,
)
from campaigns.targets.allowed import allowed_on

FAR_BEYOND = 20.0
"""ln(value / limit) of a value or limit that has no logarithm."""
PHASES = {
    Block.Phase.EXPLORE: Phase.EXPLORE,
    Block.Phase.CONFIRM: Phase.CONFIRM,
    Block.Phase.CHECK: Phase.CHECK,
}


@dataclass(frozen=True, slots=True)
class SearchState:
    """Where a search is. settings: levels by the key of `histories`. text: the next step, or the end, as a sentence.

    failed: units of work that failed in all attempts, also of runs that were repeated and of checks from before a resumption.
    """

    search: Search
    bounds: Bounds
    settings: Mapping[str, Levels]
    histories: Mapping[str, list[SearchRun]]
    step: Step
    text: str
    failed: int

    @property
    def runs(self) -> int:
        """Runs that count."""
        return sum(made(history) for history in self.histories.values())

    @property
    def brackets(self) -> dict[str, Bracket]:
        """The bracket of each setting."""
        return {key: bracket_of(history) for key, history in self.histories.items()}


@dataclass(frozen=True, slots=True)
class SearchLine:
    """What is known of one setting. label: its levels; empty where there is only one setting. runs: (load, phase, held)."""

    levels: Levels
    label: str
    held: float | None
    failed: float | None
    runs: Sequence[tuple[float, Phase, bool | None]]


def lines_of(state: SearchState) -> list[SearchLine]:
    """Return the bracket and the runs of each setting."""
    brackets = state.brackets
    return [
        SearchLine(
            levels,
            cell_label(levels),
            bracket.held,
            bracket.failed,
            [(run.load, run.phase, run.held) for run in state.histories[key]],
        )
        for key, levels in state.settings.items()
        for bracket in [brackets[key]]
    ]


def key_of(levels: Levels) -> str:
    """Return the key of a setting."""
    return json.dumps(levels, sort_keys=True)


def state_of(campaign: Campaign) -> SearchState | None:
    """Return where the search of a campaign is, by its stored runs alone; None for a campaign that searches nothing."""
    search, driver = search_of(campaign.search), driver_if_known(campaign.kind)
    if search is None or driver is None:
        return None
    cells = list(campaign.cells.order_by("position").values_list("levels_by_factor", flat=True))
    settings = {key_of(levels): levels for levels in settings_of(cells, search.load)}
    largest = search.largest
    if campaign.target is not None:
        allowed = allowed_on(campaign.target)
        values = {**campaign.parameters, **next(iter(settings.values()), {})}
        largest = max(1.0, largest_allowed(search, driver, values, allowed))
    bounds = bounds_of(campaign, search, largest=largest)
    histories = _histories(campaign, search, list(settings))
    step = next_step(bounds, histories)
    text = step_text(step, search.load)
    return SearchState(search, bounds, settings, histories, step, text, _failed(campaign))


def _histories(
    campaign: Campaign, search: Search, settings: list[str]
) -> dict[str, list[SearchRun]]:
    """Return the runs that are over, by setting, in the order in which they were made.

    Checks of recovery from before the last resumption are left out: whoever resumes has looked at the target.
    """
    criterion = criterion_of(campaign.criterion)
    metrics = {metric.name: metric for metric in metrics_of(campaign)}
    names = {condition.metric for condition in criterion.conditions} | {campaign.primary_metric}
    values = {name: accepted_values(campaign, name) for name in names}
    histories: dict[str, list[SearchRun]] = {setting: [] for setting in settings}
    primary = metrics.get(campaign.primary_metric)
    runs = (
        campaign.runs.filter(state__in=Run.CLOSED, block__phase__in=list(PHASES))
        .annotate(newest=Max("attempts"), began=_began())
        .order_by("position")
        .select_related("block", "cell")
    )
    counts = _units(campaign)
    for run in runs:
        phase = PHASES[Block.Phase(run.block.phase)]
        if phase == Phase.CHECK and (run.newest or 0) <= campaign.counted_after:
            continue
        levels = dict(run.cell.levels_by_factor)
        load = float(levels.pop(search.load))
        done, failed = counts.get(run.pk, (0, 0))
        mine = {name: values[name].get(run.pk) for name in names}
        pace = _pace(
            mine[campaign.primary_metric], lower=primary is None or primary.lower_is_better
        )
        strains = _strains(criterion, mine)
        share = (
            campaign.failed_limit
            if criterion.failed_percent is None
            else criterion.failed_percent / 100
        )
        too_many = failed > share * (done + failed)
        held: bool | None
        match run.state:
            case Run.State.DONE:
                saturated = any(value is not None and value.bound for value in mine.values())
                broken = any(strain > 1e-12 for strain in strains.values())
                held = not (too_many or broken or saturated)
            case Run.State.FAILED if run.began:
                held, strains = False, {}
            case Run.State.FAILED | Run.State.VOID if phase == Phase.CHECK:
                held, strains = False, {}
            case _:
                held = None
        if too_many:
            strains = {}
        histories.setdefault(key_of(levels), []).append(
            SearchRun(
                load,
                phase,
                max(0, run.block.repetition - 1),
                held,
                strains,
                None if too_many else pace,
                failed,
                done + failed,
            )
        )
    return histories


def _began() -> Exists:
    """Return whether an attempt at a run has begun to load the target."""
    return Exists(Attempt.objects.filter(run=OuterRef("pk"), measure_started_at__isnull=False))


def _units(campaign: Campaign) -> dict[int, tuple[int, int]]:
    """Return units done and failed of the attempt that counts, by run."""
    rows = (
        Attempt.objects.filter(run__campaign=campaign, state__in=Attempt.WITH_VALUES)
        .order_by("number")
        .values_list("run_id", "units_done", "units_failed")
    )
    return {run: (done, failed) for run, done, failed in rows}


def _failed(campaign: Campaign) -> int:
    """Return the units that failed in all attempts: whoever uses the target bore them, whether they count or not."""
    attempts = Attempt.objects.filter(run__campaign=campaign)
    attempts = attempts.exclude(run__purpose=Run.Purpose.TRIAL)
    return attempts.aggregate(failed=Sum("units_failed"))["failed"] or 0


def _strains(criterion: Criterion, values: Mapping[str, Accepted | None]) -> dict[str, float]:
    """Return how far each condition is from its limit; none where the run has no value."""
    strains = {}
    for condition in criterion.conditions:
        measured = values.get(condition.metric)
        if measured is None:
            continue
        way = "at_least" if condition.at_most is None else "at_most"
        over = _logged(measured.value) - _logged(condition.limit)
        strains[f"{condition.metric} {way}"] = over if way == "at_most" else -over
    return strains


def _pace(measured: Accepted | None, *, lower: bool) -> float | None:
    """Return ln of the primary metric, more being slower."""
    if measured is None:
        return None
    return _logged(measured.value) if lower else -_logged(measured.value)


def _logged(value: float) -> float:
    return max(-FAR_BEYOND, math.log(value)) if value > 0 else -FAR_BEYOND
