"""Check what a form or a request states against its kind and target: a CheckedDefinition, or errors by path."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_values
from functools import cache
from random import SystemRandom
from typing import Any

from django.db.models import QuerySet
from msgspec.structs import replace

from campaigns.kinds.base import Driver, Metric
from campaigns.kinds.base.values import TARGET, driver_levels
from campaigns.kinds.program.stored import program_of, why_not_run
from campaigns.kinds.registry import UnknownKind, all_kinds, chosen_kind
from campaigns.kit import network
from campaigns.kit.activity import current_user
from campaigns.kit.charts.labels import called, inside
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import FieldValues, Levels
from campaigns.kit.network import normalised_address
from campaigns.kit.numbers import is_number
from campaigns.kit.processor_time import ProcessorTime, TooLong
from campaigns.kit.structs import Problems
from campaigns.models import Campaign, Factor, Target
from campaigns.planning.configurations import read_configurations
from campaigns.planning.contrasts import read_contrast
from campaigns.planning.criterion import Criterion, check_criterion
from campaigns.planning.definition import Definition
from campaigns.planning.design import COLUMNS, as_columns, check_design
from campaigns.planning.kind_fields import (
    MOST_MESSAGES,
    check_anew,
    check_settings,
    note_misfits,
    read_excluded,
    read_factors,
    read_hard,
    read_paired,
    read_parameters,
    read_targets,
)
from campaigns.planning.limits import cell_label, excess_at
from campaigns.planning.plan import Design, Unplannable, plan_runs, possible_cells
from campaigns.planning.reading import decode
from campaigns.planning.roles import check_loads, load_among, read_roles
from campaigns.planning.search import Search, as_json, read_search
from campaigns.planning.stopper import no_one_to_stop, who_stops
from campaigns.planning.watched_metrics import PREFIX, choosable_metrics, watched_metric
from campaigns.targets.allowed import Allowed, allowed_on
from campaigns.targets.credentials.opening import why_not
from campaigns.targets.feeds import why_not_read
from campaigns.targets.reaching import as_known
from campaigns.targets.same_server import urls_of
from campaigns.targets.variables import Variables, variables_of

__all__ = ["CheckedDefinition", "Invalid", "check", "messages_of"]

MOST_RUNS = 5000


OTHERS = (
    *("kind", "target", "parameters", "excluded"),
    *("primary_metric", "primary_contrast", "criterion", "search", "configurations"),
)
"""Columns that are no field of the design: their values depend on the kind."""


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """A campaign that can be planned, and is not stored. Shares are fractions (0.05).

    roles: those of factors that differ from what the kind declares. unlimited: the level that means no limit, of factors that have one. labels: of the parameters and settings.
    builds: factors that are versions of the server's software.
    """

    campaign: Campaign
    factors: Mapping[str, Sequence[Any]]
    hard_to_change: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    unlimited: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    builds: tuple[str, ...] = ()

    def words(self, name: str) -> str:
        """Return how people call a factor inside a sentence."""
        return inside(self.labels.get(name) or called(name))

    def target_at(self, cell: Levels) -> Target | None:
        """Return the server that the runs of a cell measure."""
        named = {target.name: target for target in self.targets}
        return named.get(str(cell.get(TARGET)), self.campaign.target)

    @property
    def design(self) -> Design:
        """Return the values that the order of runs depends on."""
        campaign = self.campaign
        return Design(
            factors=self.factors,
            order=campaign.order,
            repetitions=campaign.repetitions,
            seed=campaign.seed,
            excluded=campaign.excluded,
            paired_factor=campaign.paired_factor,
            warm_ups=campaign.warm_ups,
            hard=self.hard_to_change,
            visited=TARGET,
        )

    def fill(self, campaign: Campaign) -> None:
        """Copy every column of the definition into another campaign."""
        for column in (*OTHERS, *COLUMNS):
            setattr(campaign, column, getattr(self.campaign, column))

    def changed(self, **columns: Any) -> "CheckedDefinition":
        """Return the definition with other values of columns."""
        campaign = Campaign(team_id=None)
        self.fill(campaign)
        for column, value in columns.items():
            setattr(campaign, column, value)
        return with_values(self, campaign=campaign)


def check(data: FieldValues, targets: QuerySet[Target] | None = None) -> CheckedDefinition:
    """Check everything at once. Raise Invalid with all errors.

    data: the fields of `Definition` as JSON has them; of a target its primary key or its name.
    targets: those that may be measured, such as those of a team; by default all. A program of a team that the sender of the
    request may not see is no kind.
    """
    errors = Problems()
    sent = decode(data, errors)
    check_design(sent, errors)
    try:
        kind, driver = chosen_kind(sent.kind, current_user())
    except UnknownKind as error:
        raise Invalid(errors | {"kind": errors.get("kind", [str(error)])}) from None
    servers = read_targets(sent, driver, errors, targets)
    _check_program(kind, servers, errors)
    target = servers[0] if servers else None
    variables = variables_of(driver, target)
    configurations = read_configurations(sent, variables, errors, servers)
    factors = read_factors(sent, variables, errors, servers)
    parameters = read_parameters(sent, driver, variables, driver_levels(factors), errors)
    search = _read_search(sent, driver, variables, errors)
    if search is not None:
        first = driver.parameters.base_fields[search.load].clean(int(search.first))
        factors = {**factors, search.load: (first,)}
        parameters.pop(search.load, None)
        if len(servers) > 1:
            errors.note(
                "search",
                "A search for capacity loads one target. Leave one, or vary the load by levels.",
            )
        _check_who_stops(search, servers, errors)
    hard = read_hard(sent, variables, factors, errors, servers)
    for server in servers:
        note_misfits(server, driver, parameters, driver_levels(factors), errors)
    check_settings(servers, driver, parameters, factors, errors, configurations)
    excluded = read_excluded(sent, driver, factors, errors)
    metric = sent.primary_metric or driver.primary_metric.name
    metrics = choosable_metrics(driver, servers)
    if metric not in [known.name for known in metrics]:
        errors["primary_metric"] = [_no_metric(metric, metrics)]
    paired = read_paired(sent, driver, factors, errors)
    roles = read_roles(sent.roles or {}, driver, factors, errors)
    if search is not None and search.load not in driver.load:
        roles = {**roles, search.load: str(Factor.Role.LOAD)}
    loads = load_among(driver, factors, roles)
    check_loads(loads, factors, paired[0], errors, several=search is None)
    limit = time_limit_of(driver, parameters, factors)
    criterion = check_criterion(sent.criterion or Criterion(), metrics, errors, limit)
    conditions = {str(each.get("metric")) for each in criterion.get("conditions", ())}
    watched = sorted(filter(watched_metric, {metric, *conditions}))
    if search is not None and watched and not sent.requires_watch:
        errors.note(
            "requires_watch",
            f"A search that is decided by {watched[0]} needs it: a run that was not watched would seem to hold.",
        )
    contrast = None
    if not errors:
        cells = possible_cells(factors, excluded)
        contrast = read_contrast(
            sent.primary_contrast, driver, factors, cells, paired, errors, loads=loads
        )
    check_anew(sent, variables, factors, errors)
    if errors:
        raise Invalid(errors)
    sent = replace(
        sent,
        paired_factor=paired[0],
        name=sent.name or _short(sent.question),
        seed=SystemRandom().randrange(2**31) if sent.seed is None else sent.seed,
    )
    campaign = Campaign(
        team_id=None,  # the default one would be looked up
        kind=kind,
        target=target,
        parameters=parameters,
        excluded=[dict(combination) for combination in excluded],
        primary_metric=metric,
        primary_contrast=contrast,
        criterion=criterion,
        search=as_json(search) if search else None,
        configurations=configurations or None,
        **{**as_columns(sent), "baseline": paired[1]},
    )
    unlimited = {
        name: value
        for name, value in variables.unlimited.items()
        if value in factors.get(name, ()) and name not in loads
    }
    checked = CheckedDefinition(
        campaign,
        factors,
        hard,
        roles,
        servers,
        unlimited,
        variables.labels,
        tuple(name for name in factors if name in variables.builds),
    )
    _check_plan(checked, driver)
    return checked


def _no_metric(name: str, metrics: Sequence[Metric]) -> str:
    """Say that a metric is none of the kind, nor one that the target's watches give."""
    if watched_metric(name):
        given = [metric.name for metric in metrics if metric.name.startswith(PREFIX)]
        there = f"they give {', '.join(given)}." if given else "there is none in use."
        return f"“{name[:80]}” is not given by the watches of the target: {there}"
    known = ", ".join(metric.name for metric in metrics)
    return f"“{name[:80]}” is not a metric of this kind; there are {known}."


def _check_program(kind: str, targets: Sequence[Target], errors: dict[str, list[str]]) -> None:
    """Add errors where a kind is a program that does not run, or of another team than its targets."""
    if kind in all_kinds():
        return
    row = program_of(kind)
    if why := why_not_run(kind):
        errors["kind"] = [why]
    elif row is not None and (others := [each for each in targets if each.team_id != row.team_id]):
        errors["kind"] = [
            f"“{row.name}” is a program of the team {row.team}; “{others[0].name}” belongs to another team."
        ]


def _check_who_stops(
    search: Search, targets: Sequence[Target], errors: dict[str, list[str]]
) -> None:
    """Add an error where whom a search names may not stop it: in the same words for an account of another team, and for none."""
    if search.person and targets and who_stops(search, targets[0].team) is None:
        errors.setdefault("search.person", []).append(no_one_to_stop(search, targets[0].team))


def time_limit_of(
    driver: Driver, parameters: FieldValues, factors: Mapping[str, Sequence[Any]]
) -> tuple[str, float] | None:
    """Return the parameter after which the client gives up an answer, with its shortest seconds."""
    name = driver.time_limit
    values = [*factors.get(name, ()), parameters.get(name)]
    seconds = [float(value) for value in values if is_number(value)]
    return (name, min(seconds)) if seconds else None


def _read_search(
    sent: Definition, driver: Driver, variables: Variables, errors: Problems
) -> Search | None:
    """Return the search for capacity; record what does not go together with one."""
    loads = [name for name in (*driver.load, *driver.may_be_load) if name in variables.fields]
    search = read_search(sent.search, sent.factors, variables.fields, loads, errors)
    if search is None:
        return None
    if sent.order not in (Campaign.Order.INTERLEAVED, ""):
        errors["order"] = ["A search confirms in interleaved blocks; choose that order."]
    if sent.stop_rule == Campaign.StopRule.PRECISION:
        errors["stop_rule"] = ["A search ends by itself; choose the fixed number of blocks."]
    if sent.warm_ups:
        errors["warm_ups"] = ["A search has no warm-ups: it begins with a small load."]
    return search


def _short(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= 80 else line[:79].rsplit(" ", 1)[0] + "…"


def _check_plan(definition: CheckedDefinition, driver: Driver) -> None:
    """Plan once, and check every cell's parameters together. Raise Invalid."""
    design = definition.design
    cells = len(possible_cells(design.factors, design.excluded))
    runs = cells and cells * design.repetitions + design.warm_ups
    if runs > MOST_RUNS:  # before they are made
        raise Invalid(
            {
                "repetitions": [
                    f"This plan has {runs:,} runs; at most {MOST_RUNS:,} are allowed. "
                    "Lower the repetitions, or take out levels."
                ]
            }
        )
    try:
        plan = plan_runs(design)
    except Unplannable as error:
        raise Invalid({error.field: [str(error)]}) from None
    limits = {target.pk: allowed_on(target) for target in definition.targets}
    known, read = (
        {target.pk: as_known(target) for target in definition.targets},
        cache(why_not_read),
    )
    for levels in in_time(plan.cells):
        target, cell = definition.target_at(levels), driver_levels(levels)
        allowed = None if target is None else limits[target.pk]
        _check_urls(target, definition, driver, cell)
        form = driver.parameters({**definition.campaign.parameters, **cell})
        if not form.is_valid():
            raise Invalid(
                {
                    _path(name, cell): [f"At {cell_label(cell)}: {message}" for message in messages]
                    for name, messages in messages_of(form).items()
                }
            )
        if target is not None:
            parameters = {**definition.campaign.parameters, **cell}
            if why := driver.lacks(known[target.pk], parameters):
                raise Invalid({"target" if len(known) == 1 else "targets": [why]})
            for name, urls in driver.sends(target.base_url, parameters).items():
                if why := why_not(target.team_id, str(parameters[name]), urls):
                    raise Invalid({_path(name, cell): [why]})
            for name, urls in driver.reads(parameters).items():
                if messages := list(
                    filter(None, (read(target, url, driver.why_read) for url in urls))
                ):
                    raise Invalid({_path(name, cell): messages[:MOST_MESSAGES]})
        if allowed is not None:
            _check_concurrency(definition, driver, cell, allowed)


def in_time(cells: Sequence[Levels]) -> Iterator[Levels]:
    """Yield the cells of a plan as long as what is done with them takes little enough processor time. Raise Invalid."""
    what = f"Looking at the {len(cells):,} cells of this plan"
    limit = ProcessorTime(what, "Shorten its longest text, or take out levels.")
    try:
        yield from limit.each(cells)
    except TooLong as error:
        raise Invalid({"parameters": [str(error)]}) from None


def _check_urls(
    target: Target | None, definition: CheckedDefinition, driver: Driver, cell: Levels
) -> None:
    """Raise Invalid where a run would load a server other than the one that it leases."""
    if target is None:
        return
    for name, url in driver.urls(
        target.base_url, {**definition.campaign.parameters, **cell}
    ).items():
        try:
            elsewhere = network.normalised_address(url) not in map(
                normalised_address, urls_of(target)
            )
            message = (
                f"{url} is not on {target.name} ({normalised_address(target.base_url)}). A run loads only the server "
                "that it holds: save that server as a target, and measure it."
            )
        except network.NetworkError as error:
            elsewhere, message = True, str(error)
        if elsewhere:
            raise Invalid({_path(name, cell): [message]})


def _check_concurrency(
    definition: CheckedDefinition, driver: Driver, cell: Levels, allowed: Allowed
) -> None:
    """Raise Invalid where a run would exceed the concurrency that the owner of the target allows."""
    excess = excess_at(allowed, driver, definition.campaign.parameters, cell)
    if not excess:
        return
    path = "target"
    if "concurrency" in driver.parameters.base_fields:
        path = _path("concurrency", cell)
    elif load := [name for name in driver.load if name in driver.parameters.base_fields]:
        path = _path(load[0], cell)
    raise Invalid({path: [excess]})


def _path(name: str, cell: Levels) -> str:
    """Return the path of a cell's value, as errors name it."""
    return f"{'factors' if name in cell else 'parameters'}.{name}"
