"""What the target of a session told: versions of subjects, and the facts of its environment. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Max

from campaigns.kinds.base import SIMULATOR, Driver, Subject
from campaigns.kit.database_clock import database_now
from campaigns.kit.network import normalised_address
from campaigns.models import Attempt, Campaign, EnvironmentFact, Run, Session
from campaigns.models.trends import VERSION_LETTERS
from campaigns.planning.metrics import driver_if_known
from campaigns.results.environment import WHICH_TARGET, place_of

SOON = timedelta(minutes=5)
"""A file may say that it was measured so far in the future: clocks differ."""
ADDRESS = "target: address"


def as_kept(version: str) -> str:
    """Return a version as it is kept and shown: printable, and at most so long as a column."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in version)
    return shown[:VERSION_LETTERS]


@dataclass(frozen=True, slots=True)
class Told:
    """What a session's runs observed. subjects: by name. facts: of the environment, by side and name.

    torn: by subject, whether its version changed, or parts of the target had different ones. simulator: what was measured
    in place of a real server; empty for one.
    """

    at: datetime
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    torn: bool = False
    simulator: str = ""

    def companions_of(self, subject: str) -> dict[str, str]:
        """Return the versions of the other subjects."""
        return {
            name: each.version for name, each in sorted(self.subjects.items()) if name != subject
        }


class _Observed(NamedTuple):
    """A value of a fact, and the value after the run where that was another."""

    place: str
    side: str
    name: str
    value: str
    value_after: str


def told_in(campaign: Campaign, session: Session) -> Told:
    """Return what the accepted runs of a session observed; where a fact changed, the last value."""
    observed = _observed(campaign, session)
    driver = driver_if_known(campaign.kind)
    first = _of_target([(each.name, each.value) for each in reversed(observed)], observed)
    last = _of_target([(each.name, each.value_after or each.value) for each in observed], observed)
    # Of several targets each has versions of its own.
    told = driver.subjects(last) if driver and not campaign.places.exists() else ()
    subjects = [replace(each, version=as_kept(each.version)) for each in told]
    facts = _environment(observed, driver, subjects)
    if campaign.target is not None:
        facts[ADDRESS] = normalised_address(campaign.target.base_url)
    return Told(
        at=_instant(campaign, session),
        subjects={each.name: each for each in subjects},
        facts=dict(sorted(facts.items())),
        torn=bool(driver and subjects and _is_torn(driver, observed, first, last)),
        simulator=last.get(SIMULATOR, ""),
    )


def subjects_told(campaign: Campaign) -> list[Subject]:
    """Return the subjects whose versions the target of a campaign told, in its last session, the most important first."""
    session = campaign.sessions.exclude(kind=Session.Kind.TRIAL).last()
    return list(told_in(campaign, session).subjects.values()) if session else []


def _observed(campaign: Campaign, session: Session) -> list[_Observed]:
    """Return the values of facts, those that were observed last at the end; one query."""
    rows = (
        EnvironmentFact.objects.filter(
            attempt__run__campaign=campaign,
            attempt__run__block__session=session,
            attempt__state=Attempt.State.ACCEPTED,
        )
        .exclude(attempt__run__purpose=Run.Purpose.TRIAL)
        .order_by()
        .annotate(which=WHICH_TARGET)
        .values("side", "which", "name", "value", "value_after")
        .annotate(last=Max("attempt"))
        .order_by("last", "name")
        .values_list("side", "which", "name", "value", "value_after")
    )
    return [
        _Observed(place_of(side, which), side, name, value, after)
        for side, which, name, value, after in rows
    ]


def _of_target(values: Sequence[tuple[str, str]], observed: Sequence[_Observed]) -> dict[str, str]:
    """Return the values of the target's own facts by name; later ones replace earlier ones."""
    own = {each.name for each in observed if each.side == EnvironmentFact.Side.TARGET}
    return {name: value for name, value in values if name in own}


def _environment(
    observed: Sequence[_Observed], driver: Driver | None, subjects: Sequence[Subject]
) -> dict[str, str]:
    """Return the facts of which a change ends an environment; later values replace earlier ones."""
    left_out = {each.fact for each in subjects} | (driver.passing if driver else frozenset())
    return {
        f"{each.place}: {each.name}": each.value_after or each.value
        for each in observed
        if each.side != EnvironmentFact.Side.TARGET or each.name not in left_out
    }


def _is_torn(
    driver: Driver,
    observed: Sequence[_Observed],
    first: Mapping[str, str],
    last: Mapping[str, str],
) -> bool:
    names = {each.fact for each in driver.subjects(last)}
    values: dict[str, set[str]] = {}
    for each in observed:
        if each.name in names and each.side == EnvironmentFact.Side.TARGET:
            values.setdefault(each.name, set()).update(filter(None, (each.value, each.value_after)))
    changed = any(len(each) > 1 for each in values.values())
    return changed or driver.is_torn(first) or driver.is_torn(last)


def _instant(campaign: Campaign, session: Session) -> datetime:
    """Return when a session was: by the database's clock; of an import as its file says, unless that is in the future."""
    if session.kind != Session.Kind.IMPORT:
        return session.started_at
    latest = database_now() + SOON
    runs = campaign.runs.filter(block__session=session, started_at__isnull=False)
    said: datetime | None = runs.order_by("started_at").values_list("started_at", flat=True).first()
    said = said or session.started_at
    return said if said <= latest else campaign.created_at
