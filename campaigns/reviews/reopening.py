"""Re-open conclusions whose data changed, with the reason.

`look_again` is called in the transaction of a change (dispatch.request_analysis), after each analysis, and by
dispatch for the campaigns of `overdue`. So a conclusion whose data changed does not stay accepted, even if a
process is killed in between.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from campaigns.findings.most_carried import DECIDED
from campaigns.findings.store import findings_of, read
from campaigns.findings.values import CapacityFinding, LevelGroup
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.findings.wording.changes import change_texts
from campaigns.findings.wording.loads import setting_name
from campaigns.findings.wording.verdicts import superlative
from campaigns.kit.activity import Action, record
from campaigns.kit.charts.labels import level_text, words_of
from campaigns.kit.numbers import counted
from campaigns.kit.outbox import announce
from campaigns.models import (
    Amendment,
    Announcement,
    Campaign,
    Conclusion,
    Evidence,
    Exclusion,
    Finding,
)
from campaigns.planning.amendments import amendments_of
from campaigns.planning.roles import never_ranked
from campaigns.results.data_stamp import Stamp, attempts_with_values, stamp_of
from campaigns.reviews.rows import people_of
from campaigns.stats import changes as stats
from campaigns.stats.capacity import Capacity
from campaigns.stats.methods import of_earlier_rules

MOST_CHANGES = 100
"""The most changed values that are stored."""
Change = dict[str, Any]
RANKING = ("levels", "pairs", "matrix", "within_blocks", "with_excluded", "calibration")
"""Findings that compare levels; where these are loads, one sentence stands for all that is gone from them."""
MOST_RUNS = 8


@transaction.atomic
def look_again(campaign: Campaign, *, wait: bool = True) -> list[Conclusion]:
    """Re-open the conclusions on a campaign whose data changed, and return them.

    This concerns accepted conclusions and those in review. Where only versions of code or libraries changed, and
    no value moved beyond its tolerance, the versions are noted. wait: for the lock of a conclusion that is being
    decided on; otherwise that conclusion is skipped this time.
    """
    keys = Evidence.objects.filter(
        campaign=campaign, conclusion__state__in=Conclusion.STANDING
    ).values("conclusion")
    rows = Conclusion.objects.select_for_update(no_key=True, of=("self",), skip_locked=not wait)
    accepted = rows.select_related("team", "author").filter(
        pk__in=set(keys.values_list("conclusion", flat=True)),
        state__in=Conclusion.STANDING,
    )
    return [each for each in accepted.order_by("pk") if reopen_where_moved(each)]


def look_at_overdue() -> list[Conclusion]:
    """Call `look_again` for campaigns that may have changed without it."""
    campaigns = Campaign.objects.filter(pk__in=overdue()).order_by("pk")
    return [each for campaign in campaigns for each in look_again(campaign, wait=False)]


def overdue() -> list[int]:
    """Return the campaigns that may have changed since a conclusion was sent. Runs every few seconds, so it is cheap."""
    finding = Finding.objects.filter(campaign=OuterRef("campaign"), name="answer")
    later = OuterRef("conclusion__sent_at")
    exclusions = Exclusion.objects.filter(run__campaign=OuterRef("campaign"))
    amendments = Amendment.objects.filter(campaign=OuterRef("campaign"), at__gte=later)
    newer = (
        Q(campaign__state__in=Campaign.ACTIVE)
        | Q(campaign__analysis_requested_at__isnull=False)
        | ~Exists(finding.filter(computed_at=OuterRef("findings_at")))
        | Exists(exclusions.filter(Q(at__gte=later) | Q(withdrawn_at__gte=later)))
        | Exists(amendments)
    )
    rows = Evidence.objects.filter(newer, conclusion__state__in=Conclusion.STANDING)
    return sorted(set(rows.values_list("campaign", flat=True)))


def moved_since(conclusion: Conclusion) -> list[Change]:
    """Return how the present findings differ from the frozen ones, without the data hash.

    Empty where it was never sent, and while an analysis is pending.
    """
    # Every process connects this module's signals; few analyse.
    from campaigns.findings.compute.snapshot import changes, snapshot

    result: list[Change] = []
    for evidence in _once_a_campaign(conclusion):
        campaign = evidence.campaign
        if not evidence.snapshot or campaign.analysis_requested_at is not None:
            continue
        moved = [
            change
            for change in changes(evidence.snapshot, snapshot(campaign))
            if change.path != "data_hash"
        ]
        result += _of_findings(evidence, campaign, _said(evidence, moved))
    return result


def reopen_where_moved(conclusion: Conclusion) -> bool:
    """Re-open a locked conclusion if its evidence changed; return whether it did."""
    results = [
        change
        for evidence in _once_a_campaign(conclusion)
        for change in _moved(evidence, evidence.campaign)
    ]
    if results:
        _reopen(conclusion, results)
    return bool(results)


def _once_a_campaign(conclusion: Conclusion) -> list[Evidence]:
    rows = conclusion.evidence.select_related("campaign__target")
    return list({each.campaign_id: each for each in rows}.values())


def _moved(evidence: Evidence, campaign: Campaign) -> Iterator[Change]:
    """Yield the changes since the freezing: of the data, or of findings that other versions compute from the same data."""
    value = reasons(campaign, evidence.stamp, stamp_of(campaign))
    if campaign.state in Campaign.ACTIVE:
        value.append(f"The campaign is {campaign.state} again, and its data are being added to")
    yield from (_change(campaign, "data", text) for text in value)
    finding = Finding.objects.filter(campaign=campaign, name="answer").first()
    if finding is None or value:
        if finding is None and not value:
            yield _change(campaign, "data", "Its findings are gone")
        return
    if finding.data_hash != evidence.data_hash:
        text = "Its data, definition or parameters hash to another value"
        yield _change(campaign, "data", text, evidence.data_hash, finding.data_hash)
    elif finding.computed_at != evidence.findings_at:
        yield from _recomputed(evidence, campaign, finding)


def _recomputed(evidence: Evidence, campaign: Campaign, finding: Finding) -> Iterator[Change]:
    """Yield findings that other versions compute differently from the same data; without any, note the versions."""
    from campaigns.findings.compute.snapshot import changes, snapshot

    result = changes(evidence.snapshot, snapshot(campaign))
    if loads := ranked_loads(evidence.snapshot["findings"], never_ranked(campaign)):
        yield _change(campaign, "data", _of_loads(loads))
        result = [each for each in result if each.path.partition(".")[0] not in RANKING]
        yield from _of_findings(evidence, campaign, result)[:MOST_CHANGES]
        return
    result = _said(evidence, result)
    texts = [*_no_longer_said(evidence, campaign), *_no_longer_carried(evidence, campaign)]
    unsaid = [_change(campaign, "data", text) for text in texts]
    yield from unsaid
    yield from _of_findings(evidence, campaign, result)[:MOST_CHANGES]
    if more := len(result[MOST_CHANGES:]):
        yield _change(campaign, "data", f"{counted(more, 'more value')} moved")
    if result or unsaid:
        return
    rows = Evidence.objects.filter(conclusion=evidence.conclusion_id, campaign=campaign)
    noted = evidence.snapshot.get("recomputed_by") or evidence.snapshot["versions"]
    if noted != finding.versions:
        record(
            Action.CONCLUSION_RECOMPUTED,
            user=None,
            team=evidence.conclusion.team,
            subject=evidence.conclusion,
            campaign=campaign,
            before=noted,
            after=finding.versions,
        )
    rows.update(
        findings_at=finding.computed_at,
        snapshot={**evidence.snapshot, "recomputed_by": finding.versions},
    )


def _said(evidence: Evidence, result: Sequence[stats.Change]) -> list[stats.Change]:
    """Return what changes a word, where verdicts followed earlier rules: numbers that these made have moved by themselves."""
    if not of_earlier_rules(evidence.snapshot["versions"].get("methods", "")):
        return list(result)
    return [
        each
        for each in result
        if isinstance(each.before, str) and stats.counts(each) and not _is_claim(each.path)
    ]


def _is_claim(path: str) -> bool:
    """Return whether a change is one of what settings carry, which `_no_longer_carried` tells; not the verdict of a ratio."""
    return path.startswith("capacity.") and not path.endswith("ratio.word")


def _no_longer_said(evidence: Evidence, campaign: Campaign) -> Iterator[str]:
    """Yield each setting that earlier rules called the best, and that is not shown to be."""
    if not of_earlier_rules(evidence.snapshot["versions"].get("methods", "")):
        return
    levels = findings_of(campaign, "", brief=True).levels
    before = evidence.snapshot["findings"].get("levels") or {}
    if levels is None:
        return
    now = {repr(sorted(group.levels.items())): group for group in levels.groups}
    for group in before.get("groups") or ():
        seen = (group.get("best") or {}).get("seen")
        today = now.get(repr(sorted((group.get("levels") or {}).items())))
        if seen is None or today is None or (today.best and today.best.winner == seen):
            continue
        level = dict(zip(group["cells"], group["values"], strict=True)).get(seen)
        name = words_of(levels.factor)
        yield f"It called {name} {level_text(level)} the {superlative(levels)}, which is not shown: {_why_not(today)}"


def _no_longer_carried(evidence: Evidence, campaign: Campaign) -> Iterator[str]:
    """Yield each setting of which earlier rules claimed more closely what it carries than is claimed today."""
    if not of_earlier_rules(evidence.snapshot["versions"].get("methods", "")):
        return
    stored, today = evidence.snapshot["findings"].get("capacity"), None
    if stored and stored.get("settings"):
        today = findings_of(campaign, "", brief=True).capacity
    if today is None:
        return
    before = read(stored, CapacityFinding)
    now = {repr(sorted(each.levels.items())): each for each in today.settings}
    for each in before.settings:
        other = now.get(repr(sorted(each.levels.items())))
        if other is None or _is_still_claimed(each.capacity, other.capacity):
            continue
        name = f"{setting_name(each.levels)}: " if each.levels else ""
        was, said = (
            CapacityWords(found).short(setting.capacity)
            for found, setting in ((before, each), (today, other))
        )
        yield f"It said of what is carried: {name}{was}; what is shown is {said}"


def _is_still_claimed(before: Capacity, now: Capacity) -> bool:
    """Return whether what was claimed follows from what is."""
    if before.word not in DECIDED:
        return before.word == now.word
    low = before.low is None or (now.low or 0.0) >= before.low * (1 - stats.RELATIVE)
    high = before.high is None or (now.high or math.inf) <= before.high * (1 + stats.RELATIVE)
    return low and high


def _why_not(group: LevelGroup) -> str:
    """Return which levels may be the best today."""
    if group.best is None or group.best.unknown:
        return "a setting cannot be judged"
    values = dict(zip(group.cells, group.values, strict=True))
    texts = [level_text(values[cell]) for cell in group.best.possibly]
    return f"{' or '.join(texts)} may be"


def ranked_loads(findings: Mapping[str, Any], loads: Sequence[str]) -> list[str]:
    """Return the loads whose levels frozen findings of any version compare, or of which they call one the best."""
    levels = findings.get("levels") or {}
    ranked = {
        levels.get("factor"),
        (findings.get("pairs") or {}).get("factor"),
        *((findings.get("matrix") or {}).get("factors") or {}),
        *(name for best in levels.get("overall") or () for name in best.get("setting") or ()),
    }
    return [name for name in loads if name in ranked]


def _of_loads(loads: Sequence[str]) -> str:
    names = " and ".join(words_of(load) for load in loads)
    one = len(loads) == 1
    return (
        f"It ranks a load: {names} {'says' if one else 'say'} how much was asked of the target at once, and "
        f"{'its' if one else 'their'} levels are not compared any more"
    )


def _of_findings(
    evidence: Evidence, campaign: Campaign, result: Sequence[stats.Change]
) -> list[Change]:
    """Return changes of findings, texts such as verdicts first. `was` and `is`: both values as texts."""
    made = []
    for change in sorted(result, key=lambda each: not isinstance(each.before, str)):
        labels, was, now = change_texts(change, evidence.snapshot["findings"])
        stored = _change(campaign, "finding", labels, change.before, change.after)
        made.append(stored | {"was": was, "is": now})
    return made


def _change(
    campaign: Campaign, kind: str, words: str, before: Any = None, after: Any = None
) -> Change:
    return {
        "campaign": campaign.pk,
        "name": campaign.name,
        "kind": kind,
        "words": words,
        "before": before if _is_plain(before) else str(before),
        "after": after if _is_plain(after) else str(after),
    }


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)


def _reopen(conclusion: Conclusion, items: list[Change]) -> None:
    """Re-open a conclusion, and notify everybody concerned of the reason."""
    was = conclusion.state
    conclusion.state = Conclusion.State.REOPENED
    conclusion.reason = reason_of(items)
    conclusion.reopened_by = items
    conclusion.changed_at = Now()
    conclusion.save(update_fields=["state", "reason", "reopened_by", "changed_at"])
    conclusion.refresh_from_db(fields=["changed_at"])
    campaign = Campaign.objects.get(pk=items[0]["campaign"])
    record(
        Action.CONCLUSION_REOPENED,
        user=None,
        team=conclusion.team,
        subject=conclusion,
        campaign=campaign,
        was=was,
        revision=conclusion.revision,
        reason=conclusion.reason,
    )
    announce(
        Announcement.Kind.REVIEW_REOPENED,
        conclusion.team,
        campaign=campaign,
        conclusion=conclusion,
        to=people_of(conclusion),
        what=f"The conclusion “{conclusion.claim}” was re-opened, because its evidence changed.",
        words=conclusion.reason,
        to_do="Read what changed, revise the conclusion, and send it to review again.",
    )


def reason_of(rows: list[Change]) -> str:
    """Describe all changes, campaign by campaign, in one text."""
    parts: dict[str, list[str]] = {}
    for change in rows:
        text = change["words"]
        if change["kind"] == "finding":
            text = f"{text} is {change['is']}; it was {change['was']}"
        parts.setdefault(change["name"], []).append(text.rstrip("."))
    notes = [
        f"{name}: {'; '.join(text[:5])}{f'; and {len(text) - 5} more' if len(text) > 5 else ''}."
        for name, text in parts.items()
    ]
    return " ".join(notes)


def reasons(campaign: Campaign, before: Stamp, after: Stamp) -> list[str]:
    """Describe the differences between two stamps in sentences; empty if they are the same."""
    if before == after:
        return []
    results = [
        *_excluded(before, after),
        *_included(before, after),
        *_amended(campaign, before, after),
        *_late(campaign, before),
        *_target(before, after),
    ]
    return results or [_counted(before, after)]


def _excluded(before: Stamp, after: Stamp) -> Iterator[str]:
    new = set(after["exclusions"]) - set(before["exclusions"])
    rows = Exclusion.objects.filter(pk__in=new).select_related("run", "user")
    for row in rows.order_by("run__position"):
        by = row.user.get_username() if row.user else "perfdash"
        yield f"Run {row.run.position} was excluded by {by}: {row.reason}"


def _included(before: Stamp, after: Stamp) -> Iterator[str]:
    gone = set(before["exclusions"]) - set(after["exclusions"])
    rows = Exclusion.objects.filter(pk__in=gone).select_related("run").order_by("run__position")
    for row in rows:
        yield f"Run {row.run.position}, which was excluded ({row.reason}), counts again"


def _amended(campaign: Campaign, before: Stamp, after: Stamp) -> Iterator[str]:
    new = set(after["amendments"]) - set(before["amendments"])
    keys = Amendment.objects.filter(campaign=campaign).order_by("at", "pk").values_list("pk")
    for (key,), line in zip(keys, amendments_of(campaign), strict=True):
        if key in new:
            yield line.remark


def _late(campaign: Campaign, before: Stamp) -> Iterator[str]:
    late = attempts_with_values(campaign).filter(pk__gt=before["attempts"]["last"])
    positions = sorted(set(late.values_list("run__position", flat=True)))
    if len(positions) == 1:
        yield f"Late run {positions[0]} came in"
    elif positions:
        text = ", ".join(str(position) for position in positions[:MOST_RUNS])
        more = len(positions) - MOST_RUNS
        yield f"Late runs {text}{f' and {more} more' if more > 0 else ''} came in"


def _target(before: Stamp, after: Stamp) -> Iterator[str]:
    if before["target"] != after["target"]:
        yield (
            f"The address of its target is {after['target'] or 'empty'} now; it was "
            f"{before['target'] or 'empty'}"
        )


def _counted(before: Stamp, after: Stamp) -> str:
    states = sorted({*before["runs"], *after["runs"]})
    text = ", ".join(
        f"{name} {before['runs'].get(name, 0)} → {after['runs'].get(name, 0)}"
        for name in states
        if before["runs"].get(name, 0) != after["runs"].get(name, 0)
    )
    if text:
        return f"Its runs are others: {text}"
    before_count, after_count = before["attempts"]["count"], after["attempts"]["count"]
    return f"Its values are others: {counted(before_count, 'attempt')} before, {after_count} now"
