"""The page of a campaign, by its state: draft, running, or result."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from campaigns.execution import live
from campaigns.execution.manual_steps import open_requests
from campaigns.findings.pages import levels, result
from campaigns.kit.charts.labels import LevelLabels, level_text
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.overview.pages import running
from campaigns.overview.pages.live import etag_of, progress_version
from campaigns.planning import lifecycle, storage
from campaigns.planning.amendments import amendments_of
from campaigns.planning.checking import check
from campaigns.planning.launch_checks import (
    LaunchCheck,
    Outcome,
    asked_checks,
    launch_checks,
    planned_by,
)
from campaigns.planning.pages.launches import ANYWAY
from campaigns.planning.pages.limits import limits_of, stopped_of
from campaigns.planning.pages.plans import plan_view
from campaigns.planning.preview import preview
from campaigns.results import versions
from campaigns.results.environment import simulators_of
from campaigns.results.pages_data import Outline, outline_of

CANCELLING = "The load is being stopped; the page changes when the target is clean."


def _rows() -> QuerySet[Campaign]:
    return Campaign.objects.select_related("target", "author", "team").prefetch_related(
        "places__target"
    )


@require_GET
@takes(Right.SEE, Campaign)
@one_moment()
def campaign(request: HttpRequest, pk: int, level: str = levels.ANSWER) -> HttpResponse:
    """Show the page for the campaign's state; `?view=results` shows the results so far of a running campaign.

    Addresses from before a result had levels lead to the level of what they name.
    """
    row = get_object_or_404(_rows(), pk=pk)
    is_first = level == levels.ANSWER
    if row.state == Campaign.State.DRAFT and not is_first:
        return redirect("campaign", pk)
    outline, waiting = outline_of(row), {"launch_request": lifecycle.waiting_of(row)}
    if row.state == Campaign.State.DRAFT:
        shown = {"anyway": ANYWAY in request.GET, **_draft(row, outline)}
        return render(request, "planning/draft.html", waiting | shown)
    if row.state in Campaign.ACTIVE and is_first and request.GET.get("view") != "results":
        return render(request, "overview/running.html", waiting | _running(row, outline))
    if is_first and (meant := levels.level_of_query(request.GET)) != levels.ANSWER:
        return redirect(f"{levels.address_of(pk, meant)}?{request.GET.urlencode()}")
    shown = waiting | result.context(request, row, outline, level)
    return render(request, "findings/result.html", shown)


@require_POST
@takes(Right.OPERATE, Campaign)
def campaign_checks(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the targets of a draft what its runs need there, and show it with the answers, which are not stored."""
    row = get_object_or_404(_rows(), pk=pk)
    if row.state != Campaign.State.DRAFT:
        return redirect("campaign", pk)
    asked = asked_checks(planned_by(row))
    shown = {"launch_request": lifecycle.waiting_of(row), **_draft(row, outline_of(row), asked)}
    return render(request, "planning/draft.html", shown)


def _draft(
    campaign: Campaign, outline: Outline, asked: Sequence[LaunchCheck] | None = None
) -> TemplateContext:
    """Show definition, plan, checks and results of try-outs of a draft. asked: checks for which its targets were asked."""
    labels = LevelLabels(outline.factors)
    problems: list[str] = []
    plan = None
    try:
        definition = check(storage.definition_of(campaign))
        plan = plan_view(definition, preview(definition))
    except Invalid as invalid:
        problems = [text for texts in invalid.errors.values() for text in texts]
    planned, checks = planned_by(campaign), launch_checks(campaign, asked)
    trials = running.trials_context(campaign, etag_of(versions.version(campaign)))
    cells = campaign.cells.all()[: result.MOST_CHOICES]
    return {
        "campaign": campaign,
        "part_trials": trials,
        "executed": [] if planned is None else list(filter(planned.executed_at, planned.targets)),
        "checks": checks,
        "passed": sum(each.outcome == Outcome.PASSED for each in checks),
        "outline": outline,
        "factors": [(f, [level_text(level) for level in f.levels]) for f in outline.factors],
        "parameters": [(label, level_text(value)) for label, value in outline.parameters],
        "plan": plan,
        "problems": problems,
        "manual_steps": list(open_requests(campaign)),
        "hard": [factor.name for factor in campaign.factors.all() if factor.hard_to_change],
        "limits": limits_of(campaign),
        "cells": [(cell.pk, labels.sentence(cell.levels_by_factor)) for cell in cells],
    }


def _running(campaign: Campaign, outline: Outline) -> TemplateContext:
    """Show progress, live chart, matrix, log and results so far."""
    current = live.current_of(campaign)
    plot = running.live_plot(campaign, current)
    lines = live.log_of(campaign)
    version = etag_of(versions.version(campaign))
    return {
        "campaign": campaign,
        "outline": outline,
        "plot": plot,
        "simulators": simulators_of(campaign),
        "live_address": reverse("campaign-live", args=[campaign.pk]),
        "limits": limits_of(campaign) if outline.executable else "",
        "stopped": stopped_of(campaign),
        "amendments": amendments_of(campaign),
        "cancelling": f"Cancelled: {campaign.state_reason}. {CANCELLING}",
        "lines": lines,
        "last": lines[-1].pk if lines else 0,
        "part_progress": running.progress_context(campaign, etag_of(progress_version(campaign))),
        "part_matrix": running.matrix_context(campaign, version),
        "part_so_far": running.so_far_context(
            campaign, etag_of(versions.findings_version(campaign))
        ),
    }
