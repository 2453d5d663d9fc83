"""Build the report of a conclusion, or a draft of one of a campaign alone."""

import shlex
from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from campaigns.findings.recommended import Favoured, favoured_of
from campaigns.kinds.base import Snippet
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.mappings import Json, Levels
from campaigns.kit.numbers import MISSING
from campaigns.models import Campaign, Conclusion, Decision, Setting
from campaigns.planning.configurations import expanded
from campaigns.planning.metrics import driver_if_known
from campaigns.results.pages_data import outline_of
from campaigns.reviews.checklist import checklist
from campaigns.reviews.reopening import overdue
from campaigns.reviews.reports.parts import at, part_of
from campaigns.reviews.reports.sizing import for_report, sizing_of, sizing_of_campaign
from campaigns.reviews.reports.values import Advice, CheckRow, Part, Report, Signature
from campaigns.targets.actions import COMMAND, MANUAL, SQL
from campaigns.targets.actions.values import PLACE
from perfdash import __version__

State = Conclusion.State
LOUD = {
    State.DRAFT: "Draft: not reviewed",
    State.IN_REVIEW: "In review: not accepted yet",
    State.CHANGES_REQUESTED: "Changes requested: not accepted",
    State.REJECTED: "Rejected",
    State.SUPERSEDED: "Superseded by a later conclusion",
    State.REOPENED: "Re-opened: its evidence has changed",
}
TONES = {
    State.ACCEPTED: "pass",
    State.REJECTED: "fail",
    State.REOPENED: "worse",
    State.CHANGES_REQUESTED: "warn",
    State.SUPERSEDED: "warn",
}
MOVED = "Its data have changed: it is under review again"
SIDES = (("was", "before"), ("is", "after"))
"""Keys of the two values of a change: as text, and as stored where there is no text."""
WITHOUT = "No conclusion: the findings only, not signed"
OWN = "the command by which perfdash sets it on the target"
BY_HAND = "what perfdash asks a person to do on the target"
NO_SNIPPET = "Set {} as you do on your target."

ORDER = ("fail", "warn", "pass")


def report_of(conclusion: Conclusion, *, public: bool = False) -> Report:
    """Build the report from the present data; public: without the team and what `part_of` leaves out."""
    state = State(conclusion.state)
    evidence = list(conclusion.evidence.select_related("campaign__target").order_by("position"))
    return Report(
        claim=conclusion.claim,
        state=state.label,
        tone=TONES.get(state, "thin"),
        loud=LOUD.get(state) or ("" if stands(conclusion) else MOVED),
        reason="" if public else conclusion.reason,
        reopened_by=tuple(_reopened(conclusion)),
        author=conclusion.author.get_username(),
        team="" if public else conclusion.team.name,
        revision=conclusion.revision,
        sent_at=at(conclusion.sent_at),
        decided_at=at(conclusion.decided_at),
        signatures=tuple(_signatures(conclusion)),
        recommendation=conclusion.recommendation,
        advice=tuple(
            advice
            for each in evidence
            for advice in advice_of(each.campaign, each.contrast, own=not public)
        ),
        limits=conclusion.limits,
        checks=check_rows(conclusion),
        parts=tuple(part_of(each.campaign, each, public=public) for each in evidence),
        sizing=for_report(sizing_of(conclusion), public=public),
        made_at=at(timezone.now()),
        made_by=f"perfdash {__version__}",
    )


def stands(conclusion: Conclusion) -> bool:
    """Return whether the conclusion is accepted and its data are unchanged; re-opening takes a moment."""
    if conclusion.state != State.ACCEPTED:
        return False
    return not {row.campaign_id for row in conclusion.evidence.all()} & set(overdue())


def report_of_campaign(campaign: Campaign) -> Report:
    """Build the report of a campaign without a conclusion."""
    part: Part = part_of(campaign)
    return Report(
        claim=campaign.question,
        state="no conclusion",
        tone="thin",
        loud=WITHOUT,
        reason="",
        reopened_by=(),
        author=campaign.author.get_username() if campaign.author else "",
        team=campaign.team.name,
        revision=0,
        sent_at="",
        decided_at="",
        signatures=(),
        recommendation="",
        advice=tuple(advice_of(campaign, None)),
        limits="",
        checks=(),
        parts=(part,),
        sizing=for_report(list(filter(None, [sizing_of_campaign(campaign)])), public=False),
        made_at=at(timezone.now()),
        made_by=f"perfdash {__version__}",
    )


def advice_of(campaign: Campaign, contrast: object, *, own: bool = True) -> Iterator[Advice]:
    """Yield the setting that the findings favour, with commands that set it; nothing before all runs have ended.

    own: also with commands of the target's settings.
    """
    if campaign.state in Campaign.ACTIVE:
        return
    narrowed = contrast if isinstance(contrast, dict) else None
    labels = LevelLabels(outline_of(campaign).factors, campaign.block_word)
    for favoured in favoured_of(campaign, narrowed):
        snippets, unknown = snippets_of(campaign, favoured.levels, own=own)
        yield Advice(
            setting=_setting(labels, favoured),
            why=favoured.why,
            snippets=tuple(snippets),
            unknown=NO_SNIPPET.format(" and ".join(unknown)) if unknown else "",
        )


def _setting(labels: LevelLabels, favoured: Favoured) -> str:
    where = labels.sentence(favoured.at)
    setting = labels.sentence(favoured.levels)
    return f"{setting} (with {where})" if where else setting


def _signatures(conclusion: Conclusion) -> Iterator[Signature]:
    rows = Decision.objects.filter(conclusion=conclusion, revision=conclusion.revision)
    for row in rows.select_related("user"):
        yield Signature(
            name=row.user.get_username(),
            word=row.get_word_display(),
            at=at(row.at),
            reason=row.reason,
            data_hash=row.data_hash,
        )


def _reopened(conclusion: Conclusion) -> Iterator[tuple[str, str, str]]:
    if conclusion.state != State.REOPENED:
        return
    for change in conclusion.reopened_by:
        what = ": ".join(filter(None, (change.get("name", ""), change.get("words", ""))))
        before, after = (change.get(value, change.get(side)) for value, side in SIDES)
        yield what, _value(before), _value(after)


def _value(value: object) -> str:
    return MISSING if value is None else str(value)


def check_rows(conclusion: Conclusion) -> tuple[CheckRow, ...]:
    """Return every check of every campaign, failed ones first, with the author's justification."""
    return tuple(sorted(_rows(conclusion), key=lambda row: ORDER.index(row.state)))


def _rows(conclusion: Conclusion) -> Iterator[CheckRow]:
    texts = {(word.check_name, word.about): word.text for word in conclusion.words.all()}
    names = dict(conclusion.evidence.values_list("campaign", "campaign__name"))
    for check in checklist(conclusion):
        of = f" ({names[check.campaign]})" if len(names) > 1 else ""
        word = texts.get((check.key, check.about), "")
        yield CheckRow(f"{check.title}{of}", check.state, check.number, check.words, word)


def snippets_of(
    campaign: Campaign, levels: Levels, *, own: bool = True
) -> tuple[list[Snippet], list[str]]:
    """Return levels as commands of the target's own tools, and the names of those for which none is known.

    own: include how the target's own settings are set, which may name machines.
    """
    levels = expanded(campaign, levels)
    driver = driver_if_known(campaign.kind)
    family = campaign.target.family if campaign.target else ""
    results = list(driver.snippets(family, levels, campaign.parameters)) if driver else []
    known = {name for snippet in results for name in snippet.names}
    if own and campaign.target:
        rows = campaign.target.setting_rows.filter(name__in=levels.keys() - known)
        results += [snippet for row in rows if (snippet := _own(row, levels[row.name]))]
    known = {name for snippet in results for name in snippet.names}
    return results, [name for name in levels if name not in known]


def _own(setting: Setting, value: Any) -> Snippet | None:
    """Return the command of SSH, or the text of the manual step; an HTTP request is nothing to paste."""
    action: Json = setting.apply
    if action.get("way") == COMMAND:
        texts = [str(each).replace(PLACE, str(value)) for each in action["arguments"]]
        return Snippet("shell of the target", shlex.join(texts), (setting.name,), OWN)
    if action.get("way") == SQL:
        text = f"ALTER SYSTEM SET {action['parameter']} = '{value}{action.get('unit', '')}';"
        return Snippet("psql, as a superuser", text, (setting.name,), OWN)
    if action.get("way") == MANUAL and action.get("words"):
        text = f"{action['words']}: {value}"
        return Snippet("by hand", text, (setting.name,), BY_HAND)
    return None
