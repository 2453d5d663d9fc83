"""What the last probe of a line's target told of the line's subject, and how often that was measured. Reads only."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from campaigns.kinds.base import Subject
from campaigns.kit.numbers import counted
from campaigns.kit.versions import key_of
from campaigns.models import Campaign, FoundSetting, Line, Reading, SubjectVersion, Target
from campaigns.planning.metrics import driver_if_known
from campaigns.trends.told import as_kept

TWICE = timedelta(seconds=60)
"""Another version counts if two probes see it, so long apart: an upgrade that goes on is no version."""
ENOUGH = 10
WEEKLY = timedelta(days=6, hours=12)
"""A little less than a week, since a schedule of nights is a few minutes early or late."""
ANALYSED_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Look:
    """What a probe told. version: of the line's subject; None for a line by time, and where the target tells none."""

    at: datetime
    version: Subject | None


def look_of(line: Line) -> Look | None:
    """Return what the last probe of a ready target told; None while it is not ready, or a campaign has its build switched."""
    target = line.target
    if target is None or target.probed_at is None or target.health != Target.Health.READY:
        return None
    if _switched(target):
        return None
    driver = driver_if_known(line.kind)
    facts = {each["name"]: str(each["measured"]) for each in target.proofs}
    told = driver.subjects(facts) if driver and line.subject else ()
    own = next((each for each in told if each.name == line.subject), None)
    return Look(target.probed_at, own and replace(own, version=as_kept(own.version)))


def _switched(target: Target) -> bool:
    rows = FoundSetting.objects.filter(restored_at=None, given_up="", restore=True)
    return rows.filter(setting__target=target, setting__is_build=True).exists()


def is_of(text: str, told: Subject) -> bool:
    """Return whether a text names the version that a target told, in this or another spelling."""
    if text == told.version:
        return True
    key = key_of(text, told.scheme)
    return key is not None and key == key_of(told.version, told.scheme)


def sessions_of(line: Line, told: Subject) -> int:
    """Return how often a version was measured, by all triggers; torn sessions do not count."""
    return Reading.objects.filter(line=line, version__in=_spelt(line, told), torn=False).count()


def was_torn(line: Line, told: Subject) -> bool:
    """Return whether the target was upgraded to a version while it was measured."""
    return Reading.objects.filter(line=line, version__in=_spelt(line, told), torn=True).exists()


def _spelt(line: Line, told: Subject) -> list[int]:
    rows = SubjectVersion.objects.filter(team=line.team_id, subject=line.subject)
    return [pk for pk, text in rows.values_list("pk", "text") if is_of(text, told)]


def measured_since(line: Line, told: Subject, since: datetime) -> Reading | None:
    """Return the newest session of a version that began after an instant."""
    rows = Reading.objects.filter(
        line=line, version__in=_spelt(line, told), torn=False, at__gte=since
    )
    return rows.select_related("session__campaign").order_by("-at").first()


def enough_of(line: Line, told: Subject, now: datetime) -> str:
    """Return why a schedule need not measure a version again; empty where it should."""
    rows = Reading.objects.filter(line=line, version__in=_spelt(line, told), torn=False)
    times = list(rows.order_by("-at").values_list("at", flat=True)[:500])
    if len(times) < ENOUGH or now - times[0] >= WEEKLY:
        return ""
    return (
        f"{line.subject} {told.version} was measured in {counted(len(times), 'session')}, the last one on "
        f"{times[0]:%Y-%m-%d}. From {ENOUGH} sessions on, a version that stays is measured once a week."
    )


def going_on(line: Line, now: datetime) -> Campaign | None:
    """Return the campaign of a line that is measured, or whose sessions are not read yet."""
    active = line.campaigns.filter(state__in=Campaign.ACTIVE).first()
    if active is not None:
        return active
    ended = line.campaigns.filter(
        state__in=Campaign.CLOSED, closed_at__gt=now - ANALYSED_WITHIN, launched_at__isnull=False
    )
    return ended.filter(sessions__readings=None, analysis_requested_at__isnull=False).first()
