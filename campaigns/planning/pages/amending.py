"""Amend what launch has locked: a form, with the reason that everybody will read."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.pages.confirming import typed_name
from campaigns.kit.pages.fields import Choice, Field, as_text, from_form
from campaigns.kit.pages.moved import of_fields
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, changed
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import amending, drafts, life
from campaigns.planning.amendments import amendments_of
from campaigns.planning.analyses import request_analysis
from campaigns.planning.forms import DesignForm
from campaigns.planning.metrics import metrics_of
from campaigns.planning.outline import factors_of
from campaigns.planning.pages.actions import reason_in
from campaigns.planning.pages.contrast_fields import NAMES as CONTRAST
from campaigns.planning.pages.contrast_fields import PATH, as_entered, contrast_fields, read_entered
from campaigns.planning.work import work_of

ALWAYS = ("question", "smallest_effect_percent", "margin_percent", "failed_limit_percent")
STOP = ("stop_rule", "stop_width_percent", "stop_most")
UNITS = {
    "smallest_effect_percent": "%",
    "margin_percent": "%",
    "failed_limit_percent": "% of the work",
    "stop_width_percent": "± %",
    "stop_most": "blocks",
}
Errors = Mapping[str, list[str]]


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is locked, or change what somebody has typed anew."""
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    if campaign.state == Campaign.State.DRAFT:
        messages.info(request, "Nothing is locked before launch; edit the draft.")
        return redirect("campaign-edit", pk)
    if request.method == "GET":
        return _draw(request, campaign, _stored(campaign), {})
    names = ("primary_metric", *CONTRAST, *ALWAYS, *STOP)
    entered = {name: _typed(request, name) for name in names}
    was = {name: _typed(request, f"was-{name}") for name in names}
    changes, errors = _changes(campaign, entered, was)
    if errors:
        return _draw(request, campaign, entered, errors, was)
    try:
        with transaction.atomic():
            _require_not_overtaken(request, campaign, entered, was)
            amending.amend(
                campaign, changes, reason_in(request), user_of(request), typed_name(request)
            )
            request_analysis(campaign)
    except Invalid as invalid:
        return _draw(request, campaign, entered, invalid.errors, was)
    except Changed as overtaken:
        now = _stored(Campaign.objects.get(pk=pk))
        return _draw(request, campaign, entered, {}, now, overtaken)
    except NotConfirmed as refusal:
        return _draw(request, campaign, entered, {"confirmed_name": [str(refusal)]}, was)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    work_waits.send(sender=None)
    messages.success(request, "The amendment is on record, and the answer is computed anew.")
    return redirect("campaign", pk)


def _typed(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\r\n", "\n").strip()


def _changes(
    campaign: Campaign, entered: Mapping[str, str], was: Mapping[str, str]
) -> tuple[dict[str, Any], Errors]:
    """What somebody typed anew: fields that they left as they found them are nobody's change."""
    shown = ("primary_metric", *ALWAYS, *(STOP if _stop_is_open(campaign) else ()))
    changes: dict[str, Any] = {name: entered[name] for name in shown if entered[name] != was[name]}
    if any(entered[name] != was[name] for name in CONTRAST):
        contrast, wrong = read_entered(entered)
        if wrong:
            return {}, {PATH: [wrong]}
        changes[PATH] = contrast
    return changes, {}


def _require_not_overtaken(
    request: HttpRequest, campaign: Campaign, entered: Mapping[str, str], was: Mapping[str, str]
) -> None:
    """Raise Changed where a field that was typed anew was amended since the form was opened."""
    row = Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)
    now = _stored(row)
    fields = [
        name
        for name, value in was.items()
        if f"was-{name}" in request.POST and entered[name] != value and now[name] != value
    ]
    if fields:
        raise changed(row, now, fields)


def _stop_is_open(campaign: Campaign) -> bool:
    return campaign.state in amending.OPEN


def _stored(campaign: Campaign) -> dict[str, str]:
    data = drafts.as_data(campaign) | {
        "stop_width_percent": round(campaign.stop_width * 100, 6),
        "stop_most": campaign.stop_most,
    }
    plain = {name: as_text(data[name]) for name in ("primary_metric", *ALWAYS, *STOP)}
    return plain | as_entered(campaign.primary_contrast)


def _draw(
    request: HttpRequest,
    campaign: Campaign,
    entered: Mapping[str, str],
    errors: Errors,
    was: Mapping[str, str] | None = None,
    overtaken: Changed | None = None,
) -> HttpResponse:
    production = _stop_is_open(campaign) and life.production_server(campaign) is not None
    fields = [
        _field("question", entered, errors),
        _metric(campaign, entered, errors),
        *_contrast(campaign, entered, errors),
        *(_field(name, entered, errors) for name in ALWAYS[1:]),
        *(_field(name, entered, errors) for name in (STOP if _stop_is_open(campaign) else ())),
    ]
    context = {
        "campaign": campaign,
        "fields": fields,
        "moved": overtaken and of_fields(overtaken, fields),
        "was": (was or entered).items(),
        "reason": Field(
            "reason",
            "Reason",
            reason_in(request) if request.method == "POST" else "",
            "textarea",
            hint="Everybody who sees the campaign can read it, beside your name.",
            errors=errors.get("reason", ()),
            required=True,
        ),
        "confirm": Field(
            "confirmed_name",
            "Name of the production server",
            typed_name(request),
            hint="Only where the stop rule changes: it may go on loading the server.",
            errors=errors.get("confirmed_name", ()),
        )
        if production
        else None,
        "problems": [text for path in ("", PATH) for text in errors.get(path, ())],
        "amendments": amendments_of(campaign),
        "stop_is_open": _stop_is_open(campaign),
        "takes_two": _stop_is_open(campaign) and life.takes_two(campaign),
    }
    status = 409 if overtaken else 422 if errors else 200
    return render(request, "planning/amend.html", context, status=status)


def _field(name: str, entered: Mapping[str, str], errors: Errors) -> Field:
    form_field = DesignForm.base_fields[name]
    return from_form(
        name, form_field, entered[name], errors.get(name, ()), unit=UNITS.get(name, "")
    )


def _metric(campaign: Campaign, entered: Mapping[str, str], errors: Errors) -> Field:
    chosen = entered["primary_metric"]
    choices = [
        Choice(metric.name, metric.label, metric.name == chosen) for metric in metrics_of(campaign)
    ]
    wrong = errors.get("primary_metric", ())
    return Field(
        "primary_metric", "Primary metric", chosen, "select", choices=choices, errors=wrong
    )


def _contrast(campaign: Campaign, entered: Mapping[str, str], errors: Errors) -> list[Field]:
    factors = {f.name: [as_text(level) for level in f.levels] for f in factors_of(campaign)}
    return contrast_fields(
        factors, entered, only=campaign.paired_factor, not_among=work_of(campaign)
    )
