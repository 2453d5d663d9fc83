"""Which line a campaign belongs to. A line compares like with like: only campaigns of its own definition are a part of it."""

from django.db.models import QuerySet

from campaigns.kit.mappings import JsonObject
from campaigns.models import Campaign, Line, Template
from campaigns.planning import storage

NOT_COMPARED = frozenset({"name", "seed", "question", "tags"})
"""Fields of a definition that change nothing that is measured, or that each campaign has its own of."""


def line_of(campaign: Campaign) -> Line | None:
    """Return the line of a campaign: that which launched it, or an open one of its definition. Only a closed campaign has one."""
    if campaign.line_id is not None:
        return campaign.line
    for line in candidates(campaign):
        if belongs(campaign, line):
            return line
    return None


def candidates(campaign: Campaign) -> QuerySet[Line]:
    """Return the open lines whose template, or whose question, a campaign has; the oldest one first."""
    rows = Line.objects.filter(team=campaign.team_id, state__in=Line.OPEN).order_by("pk")
    if campaign.target_id is None:
        return rows.filter(template=None, kind=campaign.kind, question=campaign.question)
    return rows.filter(template=campaign.template_id, target=campaign.target_id).exclude(
        template=None
    )


def belongs(campaign: Campaign, line: Line) -> bool:
    """Return whether a campaign measured what a line measures."""
    if line.template is None:
        return campaign.primary_metric in line.metrics
    return is_of(campaign, line.template)


def is_of(campaign: Campaign, template: Template) -> bool:
    """Return whether a campaign has the definition of a template."""
    return compared(storage.definition_of(campaign)) == compared(template.definition)


def compared(definition: JsonObject) -> JsonObject:
    """Return what two definitions have to have in common."""
    return {name: value for name, value in definition.items() if name not in NOT_COMPARED}
