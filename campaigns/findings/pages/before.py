"""The campaign before a campaign: the same template or definition on the same target, and how the two compare."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet

from campaigns.findings.compared import sides_of, why_unusable
from campaigns.findings.compute.compared import compare_campaigns
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.compare import answer_of
from campaigns.models import Campaign

MOST_LOOKED_AT = 5
"""So many of the latest campaigns with the same question are looked at for one with the same levels."""


@dataclass(frozen=True, slots=True)
class Before:
    """The campaign before. same: what both have in common; query: of the compare page.

    answer: None where nothing is compared here; refused: why the two cannot be compared.
    """

    campaign: Campaign
    same: str
    query: str
    answer: AnswerText | None = None
    refused: str = ""


def before_of(campaign: Campaign, teams: Set[int], *, compared: bool = True) -> Before | None:
    """Return the latest campaign before this one; None while it goes on, and where there is none.

    teams: that the reader belongs to. compared: whether the comparison is made, which reads all runs of both.
    """
    if campaign.state in Campaign.ACTIVE or campaign.launched_at is None:
        return None
    found, same = _latest(campaign)
    if found is None or found.team_id not in teams:
        return None
    query = urlencode([("c", found.pk), ("c", campaign.pk)])
    if not compared:
        return Before(found, same, query)
    sides = sides_of([found.pk, campaign.pk], teams)
    if refused := " ".join(filter(None, map(why_unusable, sides))):
        return Before(found, same, query, refused=refused)
    return Before(found, same, query, answer_of(compare_campaigns(sides)))


def _latest(campaign: Campaign) -> tuple[Campaign | None, str]:
    earlier = Campaign.objects.filter(
        team=campaign.team_id,
        kind=campaign.kind,
        target=campaign.target_id,
        primary_metric=campaign.primary_metric,
        state__in=Campaign.CLOSED,
        launched_at__lt=campaign.launched_at,
    ).order_by("-launched_at", "-pk")
    if campaign.template_id is not None:
        of_template = earlier.filter(template=campaign.template_id).first()
        if of_template is not None:
            return of_template, "the same template"
    return _same_definition(campaign, earlier), "the same definition"


def _same_definition(campaign: Campaign, earlier: QuerySet[Campaign]) -> Campaign | None:
    alike = earlier.filter(question=campaign.question, parameters=campaign.parameters)
    found = list(alike.prefetch_related("factors__levels")[:MOST_LOOKED_AT])
    if not found:
        return None
    levels = _levels(campaign)
    return next((each for each in found if _levels(each) == levels), None)


def _levels(campaign: Campaign) -> dict[str, list[Any]]:
    return {
        factor.name: [level.value for level in factor.levels.all()]
        for factor in campaign.factors.all()
    }
