"""What a line says of one version: nothing yet, nothing suspected, what is suspected, or why it cannot tell. Reads only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from django.db.models import Q, QuerySet

from campaigns.kit.database_clock import database_now
from campaigns.kit.numbers import change, change_span, counted
from campaigns.kit.versions import key_of
from campaigns.models import (
    Alert,
    AlertTrend,
    Line,
    Occasion,
    Point,
    Reading,
    SubjectVersion,
    TrendChange,
)
from campaigns.trends.looking import going_on
from campaigns.trends.turned import interval_of, sign_of

Evidence = Literal[
    "waits",
    "not_measured",
    "never_came",
    "refused",
    "no_value",
    "cannot_tell",
    "quiet",
    "suspected",
    "confirmed",
    "repeated",
    "machine",
    "not_reproduced",
    "unverified",
]
EVIDENCE: Sequence[str] = get_args(Evidence)
WORST: Sequence[Evidence] = (
    "confirmed",
    "repeated",
    "suspected",
    "unverified",
    "machine",
    "not_reproduced",
)
"""Of several trends the line says the first of these."""
Outcome = Occasion.Outcome
OF_OUTCOMES: dict[str, Evidence] = {
    Outcome.WAITS: "waits",
    Outcome.SKIPPED: "not_measured",
    Outcome.REFUSED: "refused",
    Outcome.NEVER_CAME: "never_came",
}


@dataclass(frozen=True, slots=True)
class Suspect:
    """A trend that is worse in a version. good: the last version before it. change, low, high: new over old, in %."""

    trend: int
    label: str
    evidence: Evidence
    good: str
    change: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a line says of a version. text: one sentence. campaign: the newest that measured it. trends: of the line."""

    version: str
    evidence: Evidence
    text: str
    trends: int = 0
    sessions: int = 0
    campaign: int | None = None
    suspects: Sequence[Suspect] = field(default_factory=tuple)


def standing_of(line: Line, version: str, key: str = "") -> Standing:
    """Return what a line says of a version. key: of the occasion that asked for it."""
    spelt = _spelt(line, version)
    rows = Reading.objects.filter(line=line, version__in=[row.pk for row in spelt], torn=False)
    readings = list(rows.select_related("session").order_by("-at", "-pk")[:500])
    name = f"{line.subject} {version}".strip()
    if not readings:
        return _not_measured(line, version, name, key, database_now())
    trends = list(line.trends.all())
    suspects = _suspects(line, [row.pk for row in spelt], readings)
    evidence, text = _judged(line, name, readings, [each.state for each in trends], suspects)
    return Standing(
        version,
        evidence,
        text,
        trends=len(trends),
        sessions=len(readings),
        campaign=readings[0].session.campaign_id,
        suspects=suspects,
    )


def _spelt(line: Line, version: str) -> list[SubjectVersion]:
    rows = SubjectVersion.objects.filter(team=line.team_id, subject=line.subject)
    return [row for row in rows if row.text == version or _is_same(row, version)]


def _is_same(row: SubjectVersion, version: str) -> bool:
    key = key_of(version, row.scheme)
    return key is not None and key == key_of(row.text, row.scheme)


def _not_measured(line: Line, version: str, name: str, key: str, now: datetime) -> Standing:
    occasion = line.occasions.filter(key=key).first() if key else None
    active = going_on(line, now)
    if occasion is None:
        if active is not None:
            return Standing(
                version,
                "waits",
                f"Campaign {active.pk} of this line is not over yet.",
                campaign=active.pk,
            )
        return Standing(version, "not_measured", f"{name} was not measured by this line.")
    evidence = OF_OUTCOMES.get(occasion.outcome)
    if evidence is not None:
        return Standing(version, evidence, occasion.reason, campaign=occasion.campaign_id)
    if active is not None and active.pk == occasion.campaign_id:
        text = f"Campaign {active.pk} measures it."
        return Standing(version, "waits", text, campaign=active.pk)
    text = f"Campaign {occasion.campaign_id} ended without a session of {name}."
    return Standing(version, "no_value", text, campaign=occasion.campaign_id)


def _suspects(line: Line, versions: Sequence[int], readings: Sequence[Reading]) -> list[Suspect]:
    """Return the trends that are worse since a version, one each, the largest change first."""
    rows = TrendChange.objects.filter(
        trend__line=line, suspected=True, direction=TrendChange.Direction.WORSE, bad__in=versions
    ) | TrendChange.objects.filter(
        trend__line=line,
        suspected=True,
        direction=TrendChange.Direction.WORSE,
        reading__in=readings,
    )
    found: dict[int, Suspect] = {}
    for row in rows.select_related("trend", "good").order_by("trend", "pk"):
        found.setdefault(row.trend_id, _suspect(row))
    for alert in _alerts(line, versions, readings):
        if alert.alert.handling in ACCEPTED:
            found.pop(alert.trend_id, None)
        else:
            found[alert.trend_id] = _judged_again(alert)
    return sorted(found.values(), key=lambda each: -abs(each.change or math.inf))


ACCEPTED = (Alert.Handling.EXPECTED, Alert.Handling.NOT_A_REGRESSION)
"""What people said is no regression holds nobody up."""


def _alerts(
    line: Line, versions: Sequence[int], readings: Sequence[Reading]
) -> QuerySet[AlertTrend]:
    """Return what alerts say of the trends of a version, the newest last."""
    rows = AlertTrend.objects.filter(trend__line=line, direction=Alert.Direction.WORSE)
    of_version = Q(alert__bad__in=versions) | Q(reading__in=readings)
    return rows.filter(of_version).select_related("alert__good", "trend").order_by("pk")


def _judged_again(row: AlertTrend) -> Suspect:
    sign = sign_of(row.trend)
    low, high = interval_of(row.trend, row.low, row.high)
    return Suspect(
        trend=row.trend_id,
        label=row.trend.label,
        evidence=next(each for each in WORST if each == row.evidence),
        good=str(row.alert.good or ""),
        change=_percent(None if row.estimate is None else sign * row.estimate),
        low=_percent(low),
        high=_percent(high),
    )


def _suspect(row: TrendChange) -> Suspect:
    return Suspect(
        trend=row.trend_id,
        label=row.trend.label,
        evidence="machine" if row.kind == TrendChange.Kind.MACHINE else "suspected",
        good=str(row.good or ""),
        change=_percent(row.estimate),
        low=_percent(row.low),
        high=_percent(row.high),
    )


def _percent(on_logs: float | None) -> float | None:
    return None if on_logs is None else 100 * math.expm1(on_logs)


def _judged(
    line: Line,
    name: str,
    readings: Sequence[Reading],
    states: Sequence[dict[str, object]],
    suspects: Sequence[Suspect],
) -> tuple[Evidence, str]:
    if suspects:
        known = {each.evidence for each in suspects}
        evidence = next(each for each in WORST if each in known)
        return evidence, _worse(
            name, next(e for e in suspects if e.evidence == evidence), len(suspects)
        )
    told = Point.objects.filter(reading__in=readings, y__isnull=False)
    if not told.exists():
        return "no_value", f"No session of {name} has a value: see the page of the line."
    if all(state.get("p") is None for state in states):
        needed = min((int(str(state.get("more") or 0)) for state in states), default=0)
        more = f" {counted(needed, 'more session')} are needed." if needed > 1 else ""
        return (
            "cannot_tell",
            f"Whether {name} is worse cannot be told: the line has too little history.{more}",
        )
    return "quiet", f"{name} is not suspected to be worse in {counted(len(states), 'trend')}."


def _worse(name: str, suspect: Suspect, count: int) -> str:
    verb = WORDS[suspect.evidence]
    than = f" than {suspect.good}" if suspect.good and not name.endswith(f" {suspect.good}") else ""
    size = ""
    if suspect.change is not None and suspect.low is not None and suspect.high is not None:
        span = change_span((suspect.low, suspect.high), suspect.change)
        size = f", {change(suspect.change)} ({span}, 95 %)"
    more = f", and {counted(count - 1, 'more trend')}" if count > 1 else ""
    return f"{name} {verb} worse{than}: {suspect.label}{size}{more}."


WORDS = {
    "confirmed": "is confirmed to be",
    "repeated": "was repeatedly",
    "suspected": "is suspected to be",
    "unverified": "may be (it could not be measured again)",
    "machine": "is, with the machine,",
    "not_reproduced": "was once, and not again,",
}
