"""The storage page: archive, disk usage, retention of samples, deleting a target."""

from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.moved import of_form, opened_on, seen_in
from campaigns.kit.pages.people import campaign_of, may, takes, target_of, user_of
from campaigns.kit.revisions import Changed, held, revision_of
from campaigns.kit.rights import Right, teams_with
from campaigns.models import Campaign, Target, Team
from campaigns.results import archive
from campaigns.results.storage import KINDS, database_bytes, used_by_campaigns
from campaigns.targets import ending
from campaigns.targets.dependants import dependants_of

MOST_ROWS = 100


class Refused(NamedTuple):
    """A rule of a team that was not stored, and why: it is not valid, or somebody else changed it first."""

    team: int
    form: archive.RetentionForm
    changed: Changed | None = None


@require_POST
@takes(Right.WRITE, Campaign)
def campaign_archive(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a campaign out of the lists."""
    try:
        campaign = archive.archive(campaign_of(request, pk, Right.WRITE), user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, f"“{campaign.name}” is in the archive.")
    return redirect("campaign", pk)


@require_POST
@takes(Right.WRITE, Campaign)
def campaign_unarchive(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a campaign in the lists again."""
    campaign = archive.unarchive(campaign_of(request, pk, Right.WRITE), user_of(request))
    messages.success(request, f"“{campaign.name}” is in the lists again.")
    return redirect("campaign", pk)


@require_GET
@takes(Right.SEE)
def storage(request: HttpRequest) -> HttpResponse:
    """Show the disk use of campaigns, and for how long each team keeps samples."""
    return _storage(request)


@require_POST
@takes(Right.MANAGE, Team)
def storage_rule(request: HttpRequest, pk: int) -> HttpResponse:
    """Set how long a team keeps raw samples."""
    team = get_object_or_404(Team, pk=pk)
    days = request.POST.get("keep_samples_days", "")
    try:
        with held(team, archive.rule_of, seen_in(request)):
            kept_days = archive.keep_samples(team, days, user_of(request))
    except (Invalid, Changed) as error:
        changed = error if isinstance(error, Changed) else None
        return _storage(request, Refused(pk, archive.RetentionForm(request.POST), changed))
    period = f"for {kept_days} days" if kept_days else "for ever"
    messages.success(request, f"{team} keeps raw samples {period}.")
    return redirect("storage")


@require_GET
@takes(Right.OPERATE, Target)
def target_end(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what depends on a target, before it is retired or deleted."""
    target = target_of(request, pk, Right.OPERATE)
    dependants = dependants_of(target)
    return render(request, "targets/end.html", {"target": target, "dependants": dependants})


@require_POST
@takes(Right.OPERATE, Target)
def target_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a target that nothing depends on."""
    target = target_of(request, pk, Right.OPERATE)
    try:
        ending.delete_target(target, user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("target-end", pk)
    messages.success(request, f"The target “{target.name}” is deleted.")
    return redirect("target-list")


def _storage(request: HttpRequest, wrong: Refused | None = None) -> HttpResponse:
    used = used_by_campaigns(user_of(request))
    sums = [sum(one.bytes.get(kind, 0) for one in used) for kind in KINDS]
    teams = [_rule(request, team, wrong) for team in teams_with(user_of(request))]
    context = {
        "used": used[:MOST_ROWS],
        "more": max(0, len(used) - MOST_ROWS),
        "kinds": KINDS,
        "sums": sums,
        "total": sum(sums),
        "database": database_bytes() if user_of(request).is_superuser else None,
        "teams": teams,
    }
    status = 409 if wrong and wrong.changed else 422 if wrong else 200
    return render(request, "results/storage.html", context, status=status)


def _rule(request: HttpRequest, team: Team, wrong: Refused | None) -> TemplateContext:
    kept_days = archive.kept_days(team)
    here = wrong if wrong and wrong.team == team.pk else None
    stored = archive.rule_of(team)
    changed = here.changed if here else None
    form = here.form if here else archive.RetentionForm(initial=stored)
    return {
        "team": team,
        "form": form if _manages(request, team) else None,
        "days": kept_days,
        "seen": opened_on(request, stored, changed) if here else revision_of(stored),
        "moved": of_form(changed, form) if changed else None,
    }


def _manages(request: HttpRequest, team: Team) -> bool:
    return team.pk in may(request).manage
