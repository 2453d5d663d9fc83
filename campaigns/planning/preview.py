"""Preview a definition: cells, blocks, order, time, and which effects it can detect."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kinds.registry import driver_of
from campaigns.kit.database_clock import database_now
from campaigns.kit.numbers import counted, grouped, number, plain_percent, without_sign
from campaigns.kit.units import written
from campaigns.models import Campaign
from campaigns.planning.carried import LEAST, Asked, asked_of
from campaigns.planning.checking import CheckedDefinition, in_time
from campaigns.planning.configurations import run_values
from campaigns.planning.criterion import criterion_of
from campaigns.planning.design import IN_BLOCKS
from campaigns.planning.expected import resets_with, usual_run
from campaigns.planning.launch_checks import LaunchCheck, Outcome, checks_in
from campaigns.planning.noise import largest_noise
from campaigns.planning.plan import Plan, plan_runs, whole_plots
from campaigns.planning.roles import load_among
from campaigns.planning.search import largest_allowed, search_of
from campaigns.stats.capacity import NEIGHBOURS
from campaigns.stats.capacity_by_conditions import are_near
from campaigns.stats.logs import pct_of
from campaigns.stats.power import (
    PAIRS,
    design_of_blocks,
    design_of_cells,
    detectable_pct,
    required_n,
    units_to_show_share,
)
from campaigns.targets.allowed import allowed_on
from campaigns.targets.machines import on_this_machine, shared_machines
from campaigns.targets.overload import why_never

Remarks = list[tuple[str, str]]

OVERHEAD_SECONDS = 1.5
FEWEST_TOGETHER = 3
"""Blocks with both of two targets from which on they are compared."""
GOOD_FOR_DAYS = 31
"""The age from which a calibration should be repeated: machines change."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The effects that a design can detect. noise_pct: of a run. campaigns: the number that it is estimated from.

    calibrated_at: as in KnownNoise. detectable_pct: the smallest change that the design detects in 80 % of
    campaigns. repetitions: those needed for the smallest effect of interest; None where no number suffices.
    """

    noise_pct: float
    campaigns: int
    detectable_pct: float
    smallest_pct: float
    repetitions: int | None
    enough: bool
    calibrated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """The text and tone on what a design can detect. calibrate: whether an A/A campaign would improve it."""

    tone: str
    text: str
    calibrate: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan with its expected time, and remarks on the design.

    estimated_from: number of earlier runs that the time comes from; 0: an estimate of the driver.
    remarks: (tone, text), tone being `pass`, `warn` or `info`. calibrate: whether an A/A campaign
    would improve the estimate. asked: each load of each target, and the most that it has carried. checks: before a launch.
    """

    plan: Plan
    order: str
    seed: int
    seconds: float
    estimated_from: int
    remarks: tuple[tuple[str, str], ...]
    calibrate: bool = False
    asked: tuple[Asked, ...] = ()
    checks: tuple[LaunchCheck, ...] = ()

    @property
    def found(self) -> list[tuple[str, str]]:
        """What the checks found, as remarks."""
        tones = {Outcome.FAILED: "warn", Outcome.NOT_MADE: "info"}
        return [(tones[each.outcome], each.text) for each in self.checks if each.outcome in tones]

    @property
    def measured_runs(self) -> int:
        """Runs without warm-ups."""
        return sum(not run.warm_up for run in self.plan.runs)

    @property
    def warm_up_runs(self) -> int:
        """Runs that are not analysed."""
        return len(self.plan.runs) - self.measured_runs

    @property
    def blocks(self) -> int:
        """Blocks without the one of the warm-ups."""
        return sum(block.number > 0 for block in self.plan.blocks)


def preview(definition: CheckedDefinition) -> Preview:
    """Plan a definition and estimate its time, from earlier runs of the kind on the target."""
    plan = plan_runs(definition.design)
    earlier = usual_run(definition.campaign.kind, definition.campaign.target)
    driver = driver_of(definition.campaign.kind)
    if earlier:
        seconds = earlier.seconds * len(plan.runs)
    else:
        guesses = [
            driver.estimate_seconds(run_values(definition.campaign, cell))
            for cell in in_time(plan.cells)
        ]
        seconds = sum(guesses[run.cell] + OVERHEAD_SECONDS for run in plan.runs)
    sight = sight_of(definition, len(plan.cells))
    seconds += definition.campaign.cool_down_seconds * max(0, len(plan.runs) - 1)
    if definition.campaign.anew:
        seconds += installations_in(definition, plan) * seconds_to_install(definition)
    asked = _asked(definition, plan, driver)
    return Preview(
        plan=plan,
        order=definition.campaign.order,
        seed=definition.campaign.seed,
        seconds=seconds,
        estimated_from=earlier.runs if earlier else 0,
        remarks=tuple(_remarks(definition, plan, driver, seconds, sight, asked)),
        calibrate=sight is not None and sight.calibrate and definition.campaign.target is not None,
        asked=tuple(asked),
        checks=tuple(checks_in(definition)),
    )


def _asked(definition: CheckedDefinition, plan: Plan, driver: Driver) -> list[Asked]:
    """Return what is asked of each target, by load, with the most that it has carried."""
    campaign = definition.campaign
    cells = [
        (target, cell) for cell in plan.cells if (target := definition.target_at(cell)) is not None
    ]
    loads = load_among(driver, definition.factors, definition.roles)
    return asked_of(campaign.kind, campaign.parameters, cells, loads)


def _remarks(
    definition: CheckedDefinition,
    plan: Plan,
    driver: Driver,
    seconds: float,
    sight: Sight | None,
    asked: Sequence[Asked],
) -> list[tuple[str, str]]:
    remarks = [
        *_remark_on_search(definition),
        _remark_on_order(definition, plan),
        *_remark_on_hard(definition, plan),
        *_remarks_on_builds(definition, plan),
    ]
    loads = load_among(driver, definition.factors, definition.roles)
    remarks += _remarks_on_load(definition, loads)
    remarks += _remarks_on_criterion(definition, plan, driver, loads)
    remarks += _remarks_on_what_was_carried(definition, asked)
    if sight is not None:
        remarks.append((sight.tone, sight.text))
    if definition.campaign.repetitions < 3:
        remarks.append(
            ("warn", f"{definition.campaign.repetitions} repetitions: no verdict is given below 3.")
        )
    others = [name for name in driver.work if name in definition.factors and name not in loads]
    if others:
        remarks.append(
            (
                "info",
                f"Cells of another {definition.words(others[0])} do other work and are not compared.",
            )
        )
    if len(definition.targets) > 1:
        remarks += _remarks_on_targets(definition)
    budget = definition.campaign.time_budget_seconds
    if budget is not None and seconds > budget:
        remarks.append(
            (
                "warn",
                f"This takes longer than the time budget of {written(budget)}: the "
                "campaign will end before its last run.",
            )
        )
    return remarks


def _remarks_on_load(definition: CheckedDefinition, loads: Sequence[str]) -> Remarks:
    """Return what follows from factors that are load."""
    if not loads:
        return []
    first, *more = map(definition.words, loads)
    settings = [
        definition.words(name)
        for name, levels in definition.factors.items()
        if name not in loads and len(levels) > 1
    ]
    compared = (
        f"{', '.join(settings)} {'is' if len(settings) == 1 else 'are'} compared at each load. "
    )
    remarks: Remarks = [
        (
            "info",
            f"{', '.join([first, *more])} {'is' if not more else 'are'} load: its levels are never ranked or "
            f"judged against each other. {compared if settings else ''}The answer is what is carried.",
        )
    ]
    if said := grid_text(first, definition.factors[loads[0]]):
        remarks.append(("info", said))
    if more:
        remarks.append(
            (
                "info",
                f"Two loads: the capacity of {first} is answered at each level of {', '.join(more)}.",
            )
        )
    return remarks


def grid_text(load: str, levels: Sequence[Any]) -> str:
    """Return what a grid of loads can say of the capacity, before anything runs; empty of fewer than two loads.

    Its loads are decided one by one, so that no bound is finer than its gaps; between neighbours the line is claimed.
    """
    numbers = sorted({value for each in levels if (value := _number_of(each)) > 0})
    if len(numbers) < 2:
        return ""
    widest = max(high / low for low, high in pairwise(numbers))
    ends = f"{grouped(numbers[0])} to {grouped(numbers[-1])}"
    if all(are_near(*pair) for pair in pairwise(numbers)):
        return (
            f"This grid can say of {load} from {ends}: at least L, fewer than {number(widest, 2)} L, and more closely by the "
            "line between its loads."
        )
    return (
        f"This grid can say of {load} from {ends}: at least L, fewer than {number(widest, 2)} L. For a closer answer put "
        f"loads within a ratio of {NEIGHBOURS:g} around the expected capacity, or search."
    )


def _number_of(level: Any) -> float:
    try:
        return float(level)
    except (TypeError, ValueError):
        return 0.0


def _remarks_on_criterion(
    definition: CheckedDefinition, plan: Plan, driver: Driver, loads: Sequence[str]
) -> Remarks:
    """Return what is to be kept, and whether the plan has enough work to show it."""
    campaign = definition.campaign
    criterion = criterion_of(campaign.criterion)
    varied = [name for name in loads if len(definition.factors[name]) > 1]
    if not criterion.is_set and not varied:
        return []
    failure_limit = 100 * campaign.failed_limit
    failed = criterion.failed_percent or failure_limit
    remarks: Remarks = []
    if not criterion.is_set:
        remarks.append(
            (
                "info",
                f"No criterion is stated: a load is carried if at most {plain_percent(failed)} of its work "
                "fails, the failure limit. State one to ask for more, such as a response time.",
            )
        )
    if criterion.conditions and failed > failure_limit:
        remarks.append(
            (
                "warn",
                f"Above the failure limit of {plain_percent(failure_limit)} a cell has no value to judge, so "
                f"its other conditions are broken before {plain_percent(failed)} fail. Raise the failure "
                "limit, or lower the share that may fail.",
            )
        )
    blocks = campaign.repetitions
    needed = units_to_show_share(failed / 100, blocks)
    if needed is None:
        remarks.append(
            (
                "warn",
                f"{counted(blocks, 'repetition')}: below 3 there is no interval, so neither a capacity nor "
                "whether a condition is kept can be shown.",
            )
        )
        return remarks
    if campaign.order not in IN_BLOCKS:
        remarks.append(
            (
                "warn",
                f"In the order “{campaign.order}” a slow hour looks like a load that is too high: choose "
                "“interleaved” for a capacity.",
            )
        )
    units = [driver.units(run_values(campaign, cell)) for cell in in_time(plan.cells)]
    known = sorted({each * blocks for each in units if each is not None})
    shown = (
        f"It takes {number(needed)} {driver.sample}s per cell without a failure, over {blocks} repetitions, to show that at "
        f"most {plain_percent(failed)} fail"
    )
    if len(known) < 1 or None in units:
        remarks.append(("info", f"{shown}."))
    elif known[0] >= needed:
        remarks.append(("pass", f"{shown}; the smallest cell has {number(known[0])}."))
    else:
        fewer = sum(1 for each in units if each is not None and each * blocks < needed)
        remarks.append(
            (
                "warn" if fewer == len(units) else "info",
                f"{shown}; {fewer} of {counted(len(units), 'cell')} {'has' if fewer == 1 else 'have'} fewer, "
                f"the smallest {number(known[0])}. Such a cell can fail, and is not shown to hold: repeat it more "
                "often, or allow a larger share.",
            )
        )
    return remarks


def _remark_on_search(definition: CheckedDefinition) -> list[tuple[str, str]]:
    """Return how far a search may go before anything runs, and whether the target allows it."""
    campaign = definition.campaign
    search, target = search_of(campaign.search), campaign.target
    if search is None:
        return []
    largest, bound = search.largest, ""
    if target is not None:
        allowed = allowed_on(target)
        largest = largest_allowed(search, driver_of(campaign.kind), campaign.parameters, allowed)
        if largest != search.largest:
            bound = f", which the owner of {allowed.by_whom} allows"
    remarks = [
        (
            "info",
            f"A search: it begins with {grouped(search.first)} {search.load}, and no run has more than "
            f"{grouped(largest)}{bound}. It takes up to {search.most_runs} runs of each setting, without "
            "checks of recovery; the plan shows its first load only. It ends with loads within a ratio of "
            f"{NEIGHBOURS:g}, so that it can say: at least L, fewer than {NEIGHBOURS:g} L, and more closely by the line.",
        )
    ]
    if target is not None and (never := why_never(target, database_now())):
        remarks.append(("warn", never))
    return remarks


def _remarks_on_what_was_carried(definition: CheckedDefinition, asked: Sequence[Asked]) -> Remarks:
    """Return the most that each target has carried, and which levels are above it: they may overload the target."""
    remarks: Remarks = []
    for each in asked:
        if definition.campaign.search:
            remarks.append(("info", f"{each.text}."))
        elif not each.above:
            if each.levels[-1] > LEAST:
                remarks.append(("pass", f"{each.text}; no level is above that."))
        else:
            remarks.append(_remark_on_more_than_carried(each))
    return remarks


def _remark_on_more_than_carried(asked: Asked) -> tuple[str, str]:
    if allowed_on(asked.target).production is not None:
        now = database_now()
        if never := why_never(asked.target, now, asked.why_permission):
            return ("warn", never)
        until = asked.target.overload_until
        allowed = f" Its owner allows that until {until:%Y-%m-%d %H:%M} UTC." if until else ""
        return ("warn", f"{asked.why_permission}.{allowed}")
    if asked.carried is None:
        many = "each level" if len(asked.levels) > 1 else asked.above_text
        return ("info", f"{asked.text}: {many} may overload it.")
    be = "is" if len(asked.above) == 1 else "are"
    return ("warn", f"{asked.text}; {asked.above_text} {be} above that and may overload it.")


def _remarks_on_targets(definition: CheckedDefinition) -> Iterator[tuple[str, str]]:
    """Yield what several targets mean for order and conclusions, and which of them share a machine."""
    names = ", ".join(target.name for target in definition.targets)
    together = TARGET in definition.hard_to_change
    yield (
        "info",
        f"{len(definition.targets)} targets side by side: {names}. "
        + (
            "Each block visits every target once, in random order, and measures its cells together. "
            if together
            else "Each block measures every target. "
        )
        + "One run is on at a time. Differences are those of these machines and what is installed on them.",
    )
    for shared in shared_machines(definition.targets):
        yield (
            "warn",
            f"{_listed(shared)} run on one machine: they are never loaded at once, and yet each may "
            "slow the other down.",
        )
    if here := on_this_machine(definition.targets):
        yield (
            "warn",
            f"{_listed(here)} may run on the machine that generates the load, which "
            "takes part of its CPU.",
        )
    if definition.campaign.repetitions < FEWEST_TOGETHER:
        yield (
            "warn",
            f"Targets are compared only over {FEWEST_TOGETHER} blocks or more with both of them.",
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _remark_on_hard(definition: CheckedDefinition, plan: Plan) -> list[tuple[str, str]]:
    """Return how a factor that is hard to change affects the order, and its conclusions."""
    hard = [name for name in definition.hard_to_change if len(definition.factors[name]) > 1]
    if not hard or definition.campaign.order not in (
        Campaign.Order.INTERLEAVED,
        Campaign.Order.PAIRED,
    ):
        return []
    named = " and ".join(map(definition.words, hard))
    plots = whole_plots(plan.cells, hard)
    if len(plots) == len(plan.cells) or definition.campaign.order == Campaign.Order.PAIRED:
        return [("info", f"Hard to change: {named}. It changes as seldom as this order lets it.")]
    return [
        (
            "info",
            f"Split plot: within each block {named} is set {len(plots)} times, in random order, and the "
            "other factors vary in between. Its changes are judged by the noise between such settings, so "
            "they need more blocks than the others.",
        )
    ]


def installations_in(definition: CheckedDefinition, plan: Plan) -> int:
    """Return how often builds are installed that are installed anew: once in each whole plot."""
    hard = definition.hard_to_change
    plots = [
        (run.block, repr([plan.cells[run.cell].get(name) for name in hard])) for run in plan.runs
    ]
    return 1 + sum(before != after for before, after in pairwise(plots)) if plots else 0


def seconds_to_install(definition: CheckedDefinition) -> float:
    """Return how much longer the longest reset of the latest runs took than the shortest: with an installation, and without."""
    target = definition.campaign.target
    if target is None:
        return 0.0
    latest = resets_with(target, definition.builds)
    return max(latest) - min(latest) if latest else 0.0


def _remarks_on_builds(definition: CheckedDefinition, plan: Plan) -> Remarks:
    """Return how often builds are installed that are installed anew."""
    if not definition.campaign.anew:
        return []
    named = " and ".join(map(definition.words, definition.builds))
    times = counted(installations_in(definition, plan), "time")
    return [
        ("info", f"{named[:1].upper()}{named[1:]} is installed {times}: anew in each whole plot.")
    ]


def _remark_on_order(definition: CheckedDefinition, plan: Plan) -> tuple[str, str]:
    if definition.campaign.paired_factor == BLIND_LABEL:
        return (
            "info",
            "A/A: both labels are one setting. What the pairs differ by is noise, and nothing else.",
        )
    if len(plan.cells) == 1:
        return ("info", "One setting only: no comparison possible.")
    texts: Mapping[str, tuple[str, str]] = {
        Campaign.Order.INTERLEAVED: ("pass", "Interleaved: level and time are not confounded."),
        Campaign.Order.PAIRED: (
            "pass",
            f"Pairs of {definition.words(definition.campaign.paired_factor)}, back to back; who begins alternates.",
        ),
        Campaign.Order.BLOCKED: (
            "warn",
            "Blocked: level and time are confounded; a slow hour looks like a slow level.",
        ),
        Campaign.Order.RANDOM: (
            "info",
            "Random: level and time are mixed, but slow hours are not taken out.",
        ),
    }
    return texts[definition.campaign.order]


def detection_of(definition: CheckedDefinition, cells: int) -> Detection | None:
    """Return the detectable effects by earlier campaigns of the kind on the target; None without any, or nothing to compare."""
    campaign, targets = definition.campaign, definition.targets
    only = [campaign.target] if campaign.target else []
    noise = largest_noise(campaign.kind, campaign.primary_metric, targets or only)
    if noise is None or cells < 2 or definition.campaign.repetitions < 2:
        return None
    sd = noise.sd_log
    match definition.campaign.order:
        case Campaign.Order.PAIRED:
            design, sd = PAIRS, noise.sd_log * 2**0.5
        case Campaign.Order.INTERLEAVED:
            design = design_of_blocks(cells)
        case _:
            design = design_of_cells(cells)
    needed = required_n(sd, design=design, delta=definition.campaign.smallest_effect)
    return Detection(
        noise_pct=pct_of(noise.sd_log),
        campaigns=noise.campaigns,
        detectable_pct=detectable_pct(definition.campaign.repetitions, sd, design=design),
        smallest_pct=100 * definition.campaign.smallest_effect,
        repetitions=needed,
        enough=needed is not None and needed <= definition.campaign.repetitions,
        calibrated_at=noise.calibrated_at,
    )


def sight_of(definition: CheckedDefinition, cells: int) -> Sight | None:
    """Return the text on what the design can detect; None where there is nothing to compare, and for A/A itself."""
    campaign = definition.campaign
    loads = load_among(driver_of(campaign.kind), definition.factors, definition.roles)
    compared = any(
        len(levels) > 1 for name, levels in definition.factors.items() if name not in loads
    )
    if (
        campaign.paired_factor == BLIND_LABEL
        or cells < 2
        or campaign.repetitions < 2
        or not compared
    ):
        return None
    result = detection_of(definition, cells)
    if result is None:
        return Sight(
            "info",
            "The run-to-run variation is unknown before the first campaign of this kind on this "
            "server, and so is what this design can detect. Run an A/A calibration to find out.",
            calibrate=True,
        )
    age = (database_now() - result.calibrated_at).days if result.calibrated_at else 0
    seen = (
        f"{_source(result)} ({without_sign(result.noise_pct)}) this detects changes of "
        f"{without_sign(result.detectable_pct)} and more, with 80 % power"
    )
    smallest = plain_percent(result.smallest_pct)
    if result.enough:
        text = f"{seen}."
    elif result.repetitions is None:
        text = f"{seen}; no sensible number of repetitions would find {smallest}."
    else:
        text = f"{seen}; {smallest} would take about {result.repetitions} repetitions."
    if age > GOOD_FOR_DAYS:
        text += f" That calibration is {age} days old; repeat it."
    known = result.calibrated_at is not None and age <= GOOD_FOR_DAYS
    return Sight("pass" if result.enough else "warn", text, calibrate=not known)


def _source(detection: Detection) -> str:
    if detection.calibrated_at is not None:
        return f"Based on the A/A calibration of {detection.calibrated_at:%Y-%m-%d} here"
    noun = "campaign" if detection.campaigns == 1 else f"{detection.campaigns} campaigns"
    return f"Based on the noise of the last {noun} here"
