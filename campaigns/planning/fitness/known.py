"""Read what the latest campaigns that made a check say of a target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max, Q, QuerySet

from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.database_clock import database_now
from campaigns.models import (
    Attempt,
    Campaign,
    EffectiveSetting,
    EnvironmentFact,
    Measurement,
    Proof,
    Run,
    SshLogin,
    Target,
)
from campaigns.planning.fitness.checks import (
    CHECKS,
    CLOCK_SKEW_SECONDS,
    CONNECTIONS,
    DAYS,
    HOST,
    HOST_FACTS,
    MOST_CLIENTS,
    NAMES,
    NOT_FIT,
    OURS,
    SPARE_CONNECTIONS,
    WARNING,
    Check,
    kind_of,
    label_of,
)
from campaigns.planning.fitness.judging import FEWEST, FIT, NOT_KNOWN, Judged, judge

STORAGE, SQL = "storage", "sql"
MOST_LOOKED_AT = 50
DEVICE = "device"
SIZE, LARGER = "size of the database", "larger than memory"
"""The proof of a run of the kind `sql` that says how large its database is, and what it says of one that is large enough."""
NEVER = "It was never run."
MEASURES, CACHE = "measures", "the page cache"
"""The effective setting by which a run of the kind `storage` says that it measured no storage."""
UNKNOWN = ("", "unknown", "not told")


@dataclass(frozen=True, slots=True)
class Fitness:
    """What one check says of a target. at: when its last run ended; campaign: that made it; both None where it was never run."""

    name: str
    label: str
    outcome: str
    reason: str
    shown: str
    at: datetime | None = None
    campaign: int | None = None
    low: float | None = None
    high: float | None = None
    undecided: bool = False

    @property
    def can_be_made(self) -> bool:
        """Whether a campaign of its own makes it."""
        return self.name in CHECKS

    @property
    def is_fit(self) -> bool:
        """Whether a campaign that requires it may be launched."""
        return self.outcome in (FIT, WARNING)


def fitness_of(
    target: Target, names: Sequence[str] | None = None, clients: int = MOST_CLIENTS
) -> list[Fitness]:
    """Return what each check says of a target now. names: by default all that can be made of it.

    clients: connections that are needed at once.
    """
    now = database_now()
    return [
        _host(target, now)
        if name == HOST
        else _connections(target, now, clients)
        if name == CONNECTIONS
        else _of(CHECKS[name], target, now)
        for name in (names_for(target) if names is None else names)
    ]


def names_for(target: Target) -> list[str]:
    """Return the checks that can be made of a target: by the families of their kinds, and those by SSH with a login alone."""
    families = {kind: _families(kind) for kind in map(kind_of, NAMES)}
    names = [name for name in NAMES if target.family in families[kind_of(name)]]
    by_ssh = [name for name in names if kind_of(name) == STORAGE]
    if by_ssh and not SshLogin.objects.filter(target=target).exists():
        return [name for name in names if name not in by_ssh]
    return names


def _families(kind: str) -> Sequence[str]:
    try:
        return driver_of(kind).families
    except UnknownKind:
        return ()


def _of(check: Check, target: Target, now: datetime) -> Fitness:
    def answer(judged: Judged, at: datetime | None = None, campaign: int | None = None) -> Fitness:
        return Fitness(
            *(check.name, check.label, judged.outcome, judged.reason, check.shown, at, campaign),
            *(judged.low, judged.high, judged.undecided),
        )

    campaign = _campaign_of(check, target)
    if campaign is None:
        return answer(Judged(NOT_KNOWN, NEVER))
    attempts = _accepted(campaign)
    at = attempts.aggregate(at=Max("finished_at"))["at"]
    if at is None:
        return answer(Judged(NOT_KNOWN, "No run of it was accepted yet."), None, campaign.pk)
    why = _measured_another(check, attempts) or _too_old(at, now, check.days)
    if why := why or _changed(check, target, campaign, attempts, at):
        return answer(Judged(NOT_KNOWN, why), at, campaign.pk)
    return answer(judge(check, _values(check, attempts)), at, campaign.pk)


def _measured_another(check: Check, attempts: QuerySet[Attempt]) -> str:
    """Return why the runs have not measured what the check is about; empty where they have."""
    if check.needs_storage:
        cached = EffectiveSetting.objects.filter(
            attempt__in=attempts, name=MEASURES, in_force=CACHE
        )
        if cached.exists():
            return "It measured the page cache: its file was smaller than twice the memory."
    if check.needs_size:
        sizes = Proof.objects.filter(attempt__in=attempts, name=SIZE)
        if not sizes.exists() or sizes.exclude(measured__icontains=LARGER).exists():
            return "Its database fits into memory, or its size is not known: make it with a larger scale."
    return ""


def _values(check: Check, attempts: QuerySet[Attempt]) -> list[float]:
    """Return a value of each run; of a check with levels one of each repetition, the last level's share of the best."""
    rows = Measurement.objects.filter(attempt__in=attempts, censored=False).of(check.metric)
    if not check.factor:
        return list(rows.order_by("attempt").values_list("value", flat=True))
    run = "attempt__run__"
    levels = f"{run}cell__levels_by_factor__{check.factor}"
    blocks: dict[int, dict[int, float]] = {}
    for block, level, value in rows.values_list(f"{run}block", levels, "value"):
        blocks.setdefault(block, {})[level] = value
    whole = [each for each in blocks.values() if set(each) == set(check.levels)]
    return [each[check.levels[-1]] / max(each.values()) for each in whole]


def _campaign_of(check: Check, target: Target) -> Campaign | None:
    """Return the latest campaign that made exactly this check: nothing else varied, and no parameter is another.

    One with fewer than three accepted runs is only taken where there is no other.
    """
    try:
        fields = driver_of(check.kind).parameters.base_fields
    except UnknownKind:
        return None
    rows = Campaign.objects.filter(
        kind=check.kind, target=target, launched_at__isnull=False, places=None
    )
    for name, value in check.parameters.items():
        rows = rows.filter(**{f"parameters__{name}": value})
    if not check.factor:
        rows = rows.filter(factors=None)
    fixed = [name for name in fields if name not in (*check.parameters, *check.free)]
    latest = None
    for row in rows.order_by("-launched_at")[:MOST_LOOKED_AT]:
        if any(row.parameters.get(name) not in (fields[name].initial, None, "") for name in fixed):
            continue
        if check.factor and _levels(row) != {check.factor: check.levels}:
            continue
        latest = latest or row
        if _accepted(row).count() >= FEWEST:
            return row
    return latest


def _levels(campaign: Campaign) -> dict[str, tuple[Any, ...]]:
    return {
        factor.name: tuple(level.value for level in factor.levels.all())
        for factor in campaign.factors.all()
    }


def _accepted(campaign: Campaign) -> QuerySet[Attempt]:
    """Return the accepted attempts of measured runs that count."""
    excluded = Q(run__exclusions__withdrawn_at=None) & Q(run__exclusions__isnull=False)
    return Attempt.objects.filter(
        run__campaign=campaign, run__purpose=Run.Purpose.MEASURED, state=Attempt.State.ACCEPTED
    ).exclude(excluded)


def _too_old(at: datetime, now: datetime, days: float) -> str:
    age = now - at
    if age <= timedelta(days=days):
        return ""
    return f"It is {age.days} days old, and says something for {days:g} days."


def _changed(
    check: Check, target: Target, campaign: Campaign, attempts: QuerySet[Attempt], at: datetime
) -> str:
    """Return which fact of the machine is another since; empty where none is known to be."""
    side = EnvironmentFact.Side.TARGET
    then = dict(
        EnvironmentFact.objects.filter(attempt__in=attempts, side=side, name__in=check.same)
        .order_by("attempt")
        .values_list("name", "value")
    )
    later = EnvironmentFact.objects.filter(
        _on(target), attempt__finished_at__gt=at, side=side, name__in=tuple(then)
    )
    now = dict(later.order_by("attempt__finished_at").values_list("name", "value"))
    for name, value in now.items():
        if value != then[name] and value not in UNKNOWN and then[name] not in UNKNOWN:
            return (
                f"Since then the {name} of the machine is another: {value}, and was {then[name]}."
            )
    return _other_device(target, campaign, attempts, at)


def _other_device(
    target: Target, campaign: Campaign, attempts: QuerySet[Attempt], at: datetime
) -> str:
    """Return that the directory of a check lies on another device since, as a later run in it has seen."""
    directory = campaign.parameters.get("directory")
    if directory is None:
        return ""
    seen = EffectiveSetting.objects.filter(name=DEVICE)
    then = seen.filter(attempt__in=attempts).order_by("attempt").last()
    later = seen.filter(_on(target), attempt__finished_at__gt=at)
    now = later.filter(attempt__run__campaign__parameters__directory=directory)
    last = now.order_by("attempt__finished_at").last()
    if then is None or last is None or last.in_force == then.in_force:
        return ""
    return (
        f"Since then {directory} is on another device: {last.in_force}, and was on {then.in_force}."
    )


def _on(target: Target) -> Q:
    return _of_target(target, "attempt__run__")


def _of_target(target: Target, run: str) -> Q:
    """Return the condition that a run was on a target. run: the path to it."""
    return Q(**{f"{run}campaign__target": target, f"{run}cell__target": None}) | Q(
        **{f"{run}cell__target": target}
    )


def _last_run(kind: str, target: Target) -> Attempt | None:
    """Return the latest accepted attempt of a kind on a target."""
    rows = Attempt.objects.filter(run__campaign__kind=kind, state=Attempt.State.ACCEPTED)
    of_target = rows.filter(_of_target(target, "run__")).select_related("run")
    return of_target.exclude(finished_at=None).order_by("-finished_at").first()


def _host(target: Target, now: datetime) -> Fitness:
    """Judge the facts of the machine that the latest run of the kind `storage` read."""
    shown = "; ".join(f"{name} {' or '.join(good)}" for name, (good, _) in HOST_FACTS.items())
    last = _last_run(STORAGE, target)
    if why := _no_facts(last, now, STORAGE):
        return _by_facts(HOST, NOT_KNOWN, why, shown, last)
    assert last is not None  # noqa: S101 - else there are no facts
    facts = _facts_of(last)
    skew = Proof.objects.filter(attempt=last, name="clock skew").values_list("measured", flat=True)
    if odd := _odd(facts, skew.first()):
        return _by_facts(HOST, WARNING, "; ".join(odd) + ".", shown, last)
    return _by_facts(HOST, FIT, "All as the tuning guide has them.", shown, last)


def _connections(target: Target, now: datetime, clients: int) -> Fitness:
    """Judge the connections that a database allows, as the latest run of the kind `sql` read them."""
    needed = clients + SPARE_CONNECTIONS
    shown = f"at least {needed} connections for {clients} clients"
    last = _last_run(SQL, target)
    if why := _no_facts(last, now, SQL):
        return _by_facts(CONNECTIONS, NOT_KNOWN, why, shown, last)
    assert last is not None  # noqa: S101 - else there are no facts
    facts = _facts_of(last)
    try:
        allowed = int(facts["max_connections"]) - int(
            facts.get("superuser_reserved_connections", 3)
        )
    except (KeyError, ValueError):
        return _by_facts(
            CONNECTIONS, NOT_KNOWN, "The database does not say how many it allows.", shown, last
        )
    outcome = FIT if allowed >= needed else NOT_FIT
    reason = f"It allows {allowed} connections to ordinary users; {clients} clients need {needed} ({OURS})."
    return _by_facts(CONNECTIONS, outcome, reason, shown, last)


def _by_facts(name: str, outcome: str, reason: str, shown: str, last: Attempt | None) -> Fitness:
    at, campaign = (last.finished_at, last.run.campaign_id) if last else (None, None)
    return Fitness(name, label_of(name), outcome, reason, shown, at, campaign)


def _no_facts(last: Attempt | None, now: datetime, kind: str) -> str:
    """Return why there are no facts to judge; empty where there are."""
    if last is None or last.finished_at is None:
        return f"No run of the kind {kind} has read its facts."
    return _too_old(last.finished_at, now, DAYS)


def _facts_of(attempt: Attempt) -> dict[str, str]:
    of_target = attempt.environment.filter(side=EnvironmentFact.Side.TARGET)
    return dict(of_target.values_list("name", "value"))


def _odd(facts: Mapping[str, str], skew: object) -> list[str]:
    odd = [
        f"{name} is {facts[name]}, better {' or '.join(good)} ({source})"
        for name, (good, source) in HOST_FACTS.items()
        if facts.get(name, "") not in (*good, *UNKNOWN)
    ]
    if isinstance(skew, int | float) and skew > CLOCK_SKEW_SECONDS:
        odd.append(f"its clock differs by {skew:g} s")
    return odd
