"""Read what the latest campaigns that made a check say of a target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

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
    Target,
)
from campaigns.planning.fitness.checks import (
    CHECKS,
    CLOCK_SKEW_SECONDS,
    DAYS,
    HOST,
    HOST_FACTS,
    NAMES,
    SAME_FACTS,
    WARNING,
    Check,
    label_of,
)
from campaigns.planning.fitness.judging import FIT, NOT_KNOWN, Judged, judge

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
    def is_fit(self) -> bool:
        """Whether a campaign that requires it may be launched."""
        return self.outcome in (FIT, WARNING)


def fitness_of(target: Target, names: Sequence[str] = NAMES) -> list[Fitness]:
    """Return what each check says of a target now."""
    now = database_now()
    return [_host(target, now) if name == HOST else _of(CHECKS[name], target, now) for name in names]


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
    cached = EffectiveSetting.objects.filter(attempt__in=attempts, name=MEASURES, in_force=CACHE)
    if check.needs_storage and cached.exists():
        why = "It measured the page cache: its file was smaller than twice the memory."
        return answer(Judged(NOT_KNOWN, why), at, campaign.pk)
    if why := _too_old(at, now, check.days) or _changed(target, attempts, at):
        return answer(Judged(NOT_KNOWN, why), at, campaign.pk)
    values = Measurement.objects.filter(attempt__in=attempts, censored=False).of(check.metric)
    judged = judge(check, list(values.order_by("attempt").values_list("value", flat=True)))
    return answer(judged, at, campaign.pk)


def _campaign_of(check: Check, target: Target) -> Campaign | None:
    """Return the latest campaign that made exactly this check: nothing varied, and no parameter is another."""
    try:
        fields = driver_of(check.kind).parameters.base_fields
    except UnknownKind:
        return None
    rows = Campaign.objects.filter(
        kind=check.kind, target=target, launched_at__isnull=False, factors=None, places=None
    )
    for name, value in check.parameters.items():
        rows = rows.filter(**{f"parameters__{name}": value})
    free = {*check.parameters, "directory", "rw", "size_gib", "drop_caches"}
    for row in rows.order_by("-launched_at"):
        if all(
            row.parameters.get(name) in (field.initial, None, "")
            for name, field in fields.items()
            if name not in free
        ):
            return row
    return None


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


def _changed(target: Target, attempts: QuerySet[Attempt], at: datetime) -> str:
    """Return which fact of the machine is another since; empty where none is known to be."""
    side = EnvironmentFact.Side.TARGET
    then = dict(
        EnvironmentFact.objects.filter(attempt__in=attempts, side=side, name__in=SAME_FACTS)
        .order_by("attempt")
        .values_list("name", "value")
    )
    later = EnvironmentFact.objects.filter(
        _on(target), attempt__finished_at__gt=at, side=side, name__in=tuple(then)
    )
    now = dict(later.order_by("attempt__finished_at").values_list("name", "value"))
    for name, value in now.items():
        if value != then[name] and value not in UNKNOWN and then[name] not in UNKNOWN:
            return f"Since then the {name} of the machine is another: {value}, and was {then[name]}."
    return ""


def _on(target: Target) -> Q:
    run = "attempt__run__"
    return Q(**{f"{run}campaign__target": target, f"{run}cell__target": None}) | Q(
        **{f"{run}cell__target": target}
    )


def _host(target: Target, now: datetime) -> Fitness:
    """Judge the facts of the machine that the latest run of the kind `storage` read."""
    last = (
        Attempt.objects.filter(run__campaign__kind="storage", run__campaign__target=target)
        .filter(state=Attempt.State.ACCEPTED)
        .order_by("-finished_at")
        .first()
    )
    shown = "; ".join(f"{name} {' or '.join(good)}" for name, (good, _) in HOST_FACTS.items())

    def answer(outcome: str, reason: str) -> Fitness:
        at, campaign = (last.finished_at, last.run.campaign_id) if last else (None, None)
        return Fitness(HOST, label_of(HOST), outcome, reason, shown, at, campaign)

    if last is None or last.finished_at is None:
        return answer(NOT_KNOWN, "No run of the kind storage has read its facts.")
    if why := _too_old(last.finished_at, now, DAYS):
        return answer(NOT_KNOWN, why)
    facts = dict(
        last.environment.filter(side=EnvironmentFact.Side.TARGET).values_list("name", "value")
    )
    skew = Proof.objects.filter(attempt=last, name="clock skew").values_list("measured", flat=True)
    if odd := _odd(facts, skew.first()):
        return answer(WARNING, "; ".join(odd) + ".")
    return answer(FIT, "All as the tuning guide has them.")


def _odd(facts: Mapping[str, str], skew: object) -> list[str]:
    odd = [
        f"{name} is {facts[name]}, better {' or '.join(good)} ({source})"
        for name, (good, source) in HOST_FACTS.items()
        if facts.get(name, "") not in (*good, *UNKNOWN)
    ]
    if isinstance(skew, int | float) and skew > CLOCK_SKEW_SECONDS:
        odd.append(f"its clock differs by {skew:g} s")
    return odd
