"""The checks before a campaign loads its targets: one list, which pages, REST, the preview and the launch read.

`known_checks` asks nothing of a target; `asked_checks` asks each what its kind can see before a run.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from django import forms

from campaigns.kinds.base import Driver, DriverError
from campaigns.kinds.base import Target as TargetView
from campaigns.kinds.base.values import driver_levels
from campaigns.kinds.program.stored import why_not_run
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit import network
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import Levels
from campaigns.models import Campaign, Cell, Run, Target
from campaigns.planning import storage
from campaigns.planning.carried import why_permission
from campaigns.planning.checking import CheckedDefinition, check
from campaigns.planning.configurations import expanded, run_values
from campaigns.planning.fitness.requiring import missing_of
from campaigns.planning.levels import read_levels
from campaigns.planning.limits import excess_at
from campaigns.planning.plan import possible_cells
from campaigns.planning.pools import measuring_pools
from campaigns.planning.search import search_of
from campaigns.planning.stopper import no_one_to_stop, who_stops
from campaigns.targets import overload
from campaigns.targets.allowed import allowed_on
from campaigns.targets.credentials.opening import ends_soon, why_not
from campaigns.targets.feeds import why_not_read
from campaigns.targets.probing import looked_at
from campaigns.targets.reaching import as_known
from campaigns.targets.rights import ask_rights, is_confirmed, why_not_confirmed
from campaigns.targets.saving import rules_for


class Outcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_MADE = "not made"


@dataclass(frozen=True, slots=True)
class LaunchCheck:
    """One check. name: what is checked; of: the target that it is about, empty: the campaign. text: what was found and what to do.

    required: nothing is launched where it has failed; else a person is warned.
    """

    name: str
    of: str
    outcome: Outcome
    text: str = ""
    required: bool = True

    @property
    def refuses(self) -> bool:
        """Whether nothing is launched."""
        return self.required and self.outcome == Outcome.FAILED

    @property
    def warns(self) -> bool:
        """Whether a person is warned."""
        return not self.required and self.outcome == Outcome.FAILED


Checks = Iterator[LaunchCheck]
FITNESS, THERE = "fitness", "there for a run"
MAKE_IT = (
    "Make the check on the page of the target, or state in the definition why it is launched without (`unfit_reason`); "
    "that stands beside the result."
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A campaign that is about to load its targets, or a definition that is not stored.

    cells: all of them, with their targets. chosen: those of which runs begin now. stored: their rows; None of a definition.
    """

    campaign: Campaign
    driver: Driver
    targets: tuple[Target, ...]
    cells: Sequence[tuple[Target, Levels]]
    chosen: Sequence[tuple[Target, Levels]]
    stored: Sequence[Cell] | None = None

    def at(self, target: Target) -> Iterator[Levels]:
        """Yield the levels of each cell of a target, as its driver gets them."""
        for place, levels in self.cells:
            if place.pk == target.pk:
                yield expanded(self.campaign, driver_levels(levels))

    def executed_at(self, target: Target) -> str:
        """Return what a target executes that the author wrote, such as SQL; empty where that is nothing."""
        words = (
            self.driver.executes(run_values(self.campaign, levels))
            for place, levels in self.chosen
            if place.pk == target.pk
        )
        return next(filter(None, words), "")

    @property
    def clients(self) -> list[object]:
        """The numbers of clients that vary."""
        return [levels["clients"] for _, levels in self.cells if "clients" in levels]


# Of the campaign


def _definition(planned: Planned) -> Checks:
    """Whether a draft could still be saved: its targets may have changed since."""
    if planned.campaign.state != Campaign.State.DRAFT or planned.campaign.pk is None:
        return
    try:
        check(storage.definition_of(planned.campaign))
    except Invalid as invalid:
        texts = [text for texts in invalid.errors.values() for text in texts]
        yield LaunchCheck("definition", "", Outcome.FAILED, " ".join(texts))
    else:
        yield LaunchCheck("definition", "", Outcome.PASSED)


def _program(planned: Planned) -> Checks:
    """Whether a program may run."""
    if why := why_not_run(planned.campaign.kind):
        yield LaunchCheck("program", "", Outcome.FAILED, why)


def _choices(planned: Planned) -> Checks:
    """Whether the choices of its kind still have every value: perfdash may have lost one since it was stored, such as an engine."""
    parameters, errors = planned.campaign.parameters, dict[str, list[str]]()
    for name, field in planned.driver.parameters.base_fields.items():
        if isinstance(field, forms.ChoiceField):
            each = ({**parameters, **levels}.get(name) for _, levels in planned.chosen)
            read_levels(field, [value for value in dict.fromkeys(each) if value], name, errors)
    clone = "" if planned.campaign.state == Campaign.State.DRAFT else " Clone the campaign."
    for text in (text for texts in errors.values() for text in texts):
        yield LaunchCheck("choices", "", Outcome.FAILED, f"{text}{clone}")


def _apart(planned: Planned) -> Checks:
    """Whether targets turned out to be one server since they were chosen."""
    for one, other in combinations(planned.targets, 2):
        if one.address == other.address:
            yield LaunchCheck(
                "different servers",
                one.name,
                Outcome.FAILED,
                f"“{one.name}” and “{other.name}” are the same server ({one.address}); nothing "
                "can be compared between them. Clone the campaign with one of them.",
            )


def _watched_search(planned: Planned) -> Checks:
    """Whether a search of a production server has a limit of failures, and somebody who stops it."""
    campaign = planned.campaign
    search, target = search_of(campaign.search), campaign.target
    if search is None or target is None or allowed_on(target).production is None:
        return
    why = ""
    if search.most_failed is None or not search.person:
        why = (
            f"“{target.name}” is a production server: a search needs `most_failed`, the work that may fail in all its runs "
            "together, and `person`, the account of who is to stop it."
        )
    elif who_stops(search, campaign.team) is None:
        why = no_one_to_stop(search, campaign.team)
    yield _judged("who stops the search", target, why)


def _fitness(planned: Planned) -> Checks:
    """Whether the checks of fitness that the campaign requires are known to be passed."""
    campaign = planned.campaign
    if not campaign.required_checks:
        return
    missing = missing_of(campaign, planned.targets, planned.clients)
    excused = bool(campaign.unfit_reason)
    for text in missing:
        yield LaunchCheck(FITNESS, "", Outcome.FAILED, text, required=not excused)
    if missing and not excused:
        yield LaunchCheck(FITNESS, "", Outcome.FAILED, MAKE_IT)
    if not missing:
        yield LaunchCheck(FITNESS, "", Outcome.PASSED)


def _pool(planned: Planned) -> Checks:
    """Whether a worker is there that can measure."""
    pool, pools = planned.campaign.pool, measuring_pools()
    if pool in pools:
        yield LaunchCheck("workers", "", Outcome.PASSED, required=False)
        return
    elsewhere = f" Pools with one: {', '.join(pools)}." if pools else ""
    yield LaunchCheck(
        "workers",
        "",
        Outcome.FAILED,
        f"No worker of the pool “{pool}” answers; runs begin once one does.{elsewhere}",
        required=False,
    )


def _last_try_out(planned: Planned) -> Checks:
    """Whether the last try-out of a draft failed. A change of the draft deletes its try-outs."""
    if planned.campaign.state != Campaign.State.DRAFT or planned.campaign.pk is None:
        return
    if why := failed_try_out(planned.campaign):
        yield LaunchCheck("try-out", "", Outcome.FAILED, why, required=False)
    elif planned.campaign.runs.filter(purpose=Run.Purpose.TRIAL, state__in=Run.CLOSED).exists():
        yield LaunchCheck("try-out", "", Outcome.PASSED, required=False)
    else:
        yield LaunchCheck("try-out", "", Outcome.NOT_MADE, "No run was tried yet.", required=False)


def failed_try_out(campaign: Campaign) -> str:
    """Return why the last try-out of a draft failed; empty where it did not."""
    last = campaign.runs.filter(purpose=Run.Purpose.TRIAL, state__in=Run.CLOSED)
    run = last.order_by("-position").first()
    if run is None or run.state not in (Run.State.FAILED, Run.State.VOID):
        return ""
    reason = run.reason.rstrip(".")
    return f"The last try-out is {run.get_state_display()}: {reason}. Runs of a launch would probably end the same way."


# Of each target


def _in_use(planned: Planned) -> Checks:
    for target in planned.targets:
        why = (
            ""
            if target.retired_at is None
            else f"The target was retired: {target.name}. Clone the campaign."
        )
        yield _judged("in use", target, why)


def _address(planned: Planned) -> Checks:
    for target in planned.targets:
        why = ""
        try:
            network.check_url(target.base_url, rules_for(target), network.SCHEMES)
        except network.NetworkError as error:
            why = str(error)
        yield _judged("address allowed", target, why)


def _limits(planned: Planned) -> Checks:
    for target in planned.targets:
        allowed, parameters = allowed_on(target), planned.campaign.parameters
        excesses = (
            excess_at(allowed, planned.driver, parameters, levels) for levels in planned.at(target)
        )
        yield _judged("limits of its owner", target, next(filter(None, excesses), ""))


def _needs(planned: Planned) -> Checks:
    for target in planned.targets:
        seen = as_known(target)
        yield _judged("what a run needs", target, _first_lack(planned, target, seen))


def _feeds(planned: Planned) -> Checks:
    for target in planned.targets:
        urls = {
            url: None
            for levels in planned.at(target)
            for each in planned.driver.reads({**planned.campaign.parameters, **levels}).values()
            for url in each
        }
        if urls:
            refusals = (why_not_read(target, url, planned.driver.why_read) for url in urls)
            yield _judged("feed allowed", target, next(filter(None, refusals), ""))


def _credentials(planned: Planned) -> Checks:
    """Whether the credentials that runs name are there, are valid, and may be sent where the runs send them."""
    for target in planned.targets:
        sent = _sent(planned, target)
        for name, urls in sent.items():
            yield _judged("credential", target, why_not(target.team_id, name, urls))
        if ending := next(filter(None, (ends_soon(target.team_id, name) for name in sent)), ""):
            yield LaunchCheck(
                "end of the credential", target.name, Outcome.FAILED, ending, required=False
            )


def _sent(planned: Planned, target: Target) -> dict[str, list[str]]:
    """Return the URLs that each credential is sent to in runs of a target."""
    found: dict[str, list[str]] = {}
    for levels in planned.at(target):
        parameters = {**planned.campaign.parameters, **levels}
        for name, urls in planned.driver.sends(target.base_url, parameters).items():
            known = found.setdefault(str(parameters[name]), [])
            known += [url for url in urls if url not in known]
    return found


def _rights(planned: Planned) -> Checks:
    """Whether an admin confirmed the rights with which what the author wrote is executed."""
    for target in planned.targets:
        what = planned.executed_at(target)
        if not what:
            continue
        if target.rights is None:
            text = f"The rights of the user “{target.username}” were not asked yet; launch and run ask."
            yield LaunchCheck("rights of the login", target.name, Outcome.NOT_MADE, text)
        else:
            why = "" if is_confirmed(target) else why_not_confirmed(target, what, target.rights)
            yield _judged("rights of the login", target, why)


def _overload(planned: Planned) -> Checks:
    """Whether the owner allows a load above what the target has carried; the preview tells that of a definition."""
    if planned.stored is None:
        return
    reasons = why_permission(planned.campaign, planned.stored)
    for target in planned.targets:
        if because := reasons.get(target.pk):
            why = overload.why_never(target, database_now(), because)
            yield _judged("may be overloaded", target, why)


def _health(planned: Planned) -> Checks:
    for target in planned.targets:
        if target.health == Target.Health.UNKNOWN:
            outcome, text = Outcome.NOT_MADE, f"{target.name} is {target.get_health_display()}."
        elif target.health == Target.Health.READY:
            outcome, text = Outcome.PASSED, ""
        else:
            outcome, text = (
                Outcome.FAILED,
                f"{target.name} is {target.get_health_display()}.{_unready(target)}",
            )
        yield LaunchCheck("health", target.name, outcome, text, required=False)


def _unready(target: Target) -> str:
    """Return what the last probe found: its message, or the proofs that failed."""
    failed = [
        f"{proof['name']}: expected {proof['expected']}, found {proof['measured']}"
        for proof in target.proofs
        if not proof["ok"]
    ]
    found = target.health_message or "; ".join(failed)
    return f" {found.rstrip('.')}." if found else ""


def _watches(planned: Planned) -> Checks:
    if not planned.campaign.requires_watch:
        return
    for target in planned.targets:
        is_watched = target.watches.filter(is_on=True).exists()
        text = f"{target.name} has no watch in use, and a run without one is void."
        yield _judged("watched", target, "" if is_watched else text, required=False)


def _judged(name: str, target: Target, why: str, *, required: bool = True) -> LaunchCheck:
    outcome = Outcome.FAILED if why else Outcome.PASSED
    return LaunchCheck(name, target.name, outcome, why, required)


def _first_lack(planned: Planned, target: Target, seen: TargetView) -> str:
    """Return what the runs of a target lack; empty where they lack nothing."""
    for levels in planned.at(target):
        try:
            if why := planned.driver.lacks(seen, {**planned.campaign.parameters, **levels}):
                return why
        except DriverError as error:
            return str(error)
    return ""


ALWAYS = (
    *(_program, _choices, _in_use, _apart, _address, _limits, _needs, _feeds),
    *(_credentials, _rights, _overload, _watched_search),
)
"""Before each step that loads a target."""
AT_LAUNCH = (_fitness, _watches, _health, _pool, _last_try_out)
"""Before a launch alone."""


def known_checks(
    campaign: Campaign, cells: Sequence[Cell] | None = None, *, launch: bool = True
) -> list[LaunchCheck]:
    """Return the checks of a stored campaign, by what is known. cells: of which runs begin, by default all. launch: with those of a launch alone."""
    why, planned = _planned(campaign, cells)
    if planned is None:
        return [LaunchCheck("kind", "", Outcome.FAILED, why)]
    checks = _made(planned, launch=launch)
    if launch and not any(each.refuses for each in checks):  # else it says the same in other words
        checks += _definition(planned)
    return checks


def launch_checks(
    campaign: Campaign, asked: Sequence[LaunchCheck] | None = None
) -> list[LaunchCheck]:
    """Return all checks of a draft. asked: those for which its targets were asked; None: they were not."""
    if asked is None:
        text = "A launch asks “{}” whether what its runs need is there."
        planned = planned_by(campaign)
        asked = [
            LaunchCheck(THERE, each.name, Outcome.NOT_MADE, text.format(each.name), required=False)
            for each in (() if planned is None else planned.targets)
        ]
    return [*known_checks(campaign), *asked]


def checks_in(definition: CheckedDefinition) -> list[LaunchCheck]:
    """Return the checks of a definition that may not be stored, by what is known."""
    planned = planned_in(definition)
    return [] if planned is None else _made(planned, launch=True)


def asked_checks(planned: Planned | None) -> list[LaunchCheck]:
    """Ask the targets what their kind can see before a run, and for the rights of their logins.

    It takes seconds, and stores the rights: call it in no transaction, which a refusal would undo.
    """
    if planned is None:
        return []
    ask_rights_at(planned)
    return [each for target in planned.targets for each in _looked(planned, target)]


def ask_rights_at(planned: Planned | None) -> None:
    """Ask the targets that execute what the author wrote for the rights of their logins: see `asked_checks`."""
    if planned is None:
        return
    for target in planned.targets:
        if planned.executed_at(target):
            ask_rights(target, planned.driver)


def _looked(planned: Planned, target: Target) -> Checks:
    parameters = planned.campaign.parameters
    found = looked_at(target, planned.driver, parameters, planned.at(target))
    if found is None:
        text = f"“{target.name}” was not asked: it is measured or probed now, or does not answer from here."
        yield LaunchCheck(THERE, target.name, Outcome.NOT_MADE, text, required=False)
    elif not found:
        yield LaunchCheck(THERE, target.name, Outcome.PASSED, required=False)
    for text in found or ():
        yield LaunchCheck(THERE, target.name, Outcome.FAILED, text, required=False)


def require_ready(
    campaign: Campaign, cells: Sequence[Cell] | None = None, *, launch: bool = False
) -> list[LaunchCheck]:
    """Return the checks by what is known. Raise NotPossible, with what to do, where one refuses."""
    checks = known_checks(campaign, cells, launch=launch)
    if refusals := list(dict.fromkeys(each.text for each in checks if each.refuses)):
        raise NotPossible(" ".join(refusals))
    return checks


def require_there(planned: Planned | None, confirmed_name: str, *, anyway: bool) -> None:
    """Ask the targets. Raise NotPossible where one lacks something that runs need, unless it is to be launched anyway.

    confirmed_name: production servers are asked only if their names were typed; without them the launch refuses.
    """
    if planned is None:
        return
    marked = [target.name for target in planned.targets if allowed_on(target).production]
    if marked and confirmed_name != ", ".join(marked):
        return
    missing = [each.text for each in asked_checks(planned) if each.warns]
    if missing and not anyway:
        raise NotPossible(
            f"{' '.join(missing)} Nothing was launched; send `anyway` to launch all the same."
        )


def caveat_of(campaign: Campaign, checks: Sequence[LaunchCheck]) -> str:
    """Return the caveat of a campaign that is launched for a reason although checks of fitness are missing; empty where none is."""
    missing = [each.text for each in checks if each.name == FITNESS and each.warns]
    if not missing:
        return ""
    return f"{' '.join(missing)} Launched all the same: {campaign.unfit_reason}"


def planned_by(campaign: Campaign, cells: Sequence[Cell] | None = None) -> Planned | None:
    """Return what a stored campaign is about to do, by default with all cells; None where it cannot be executed."""
    return _planned(campaign, cells)[1]


def planned_in(definition: CheckedDefinition) -> Planned | None:
    """Return what a definition would do; None where nothing is executed."""
    campaign, design = definition.campaign, definition.design
    if campaign.target is None:
        return None
    cells = possible_cells(design.factors, design.excluded)
    places = tuple((target, cell) for cell in cells if (target := definition.target_at(cell)))
    return Planned(campaign, driver_of(campaign.kind), definition.targets, places, places)


def _planned(campaign: Campaign, cells: Sequence[Cell] | None) -> tuple[str, Planned | None]:
    """Return what is about to load targets; None where nothing can, with the reason."""
    try:
        driver = driver_of(campaign.kind)
    except UnknownKind as error:
        return f"{error} Install the package that brings it.", None
    if not driver.executable or campaign.target is None:
        return "The runs of this campaign come from outside; it cannot be executed.", None
    rows, targets = list(campaign.cells.order_by("position")), campaign.targets
    chosen = rows if cells is None else list(cells)
    known = {target.pk: target for target in targets}

    def placed(some: Sequence[Cell]) -> list[tuple[Target, Levels]]:
        return [(known.get(row.target_id or 0, targets[0]), row.levels_by_factor) for row in some]

    return "", Planned(campaign, driver, tuple(targets), placed(rows), placed(chosen), chosen)


def _made(planned: Planned, *, launch: bool) -> list[LaunchCheck]:
    checks: tuple[Callable[[Planned], Checks], ...] = (*ALWAYS, *AT_LAUNCH) if launch else ALWAYS
    return [made for each in checks for made in each(planned)]
