"""The page that amends locked fields, with a reason that everybody sees."""

from collections.abc import Mapping
from copy import deepcopy

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from campaigns.kit.charts.labels import as_text
from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import CleanedData
from campaigns.kit.pages.confirming import typed_name
from campaigns.kit.pages.forms import with_errors
from campaigns.kit.pages.moved import of_form
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, changed
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.planning import amending, lifecycle, storage
from campaigns.planning.amendments import amendments_of
from campaigns.planning.analyses import request_analysis
from campaigns.planning.criterion import as_lines, from_lines
from campaigns.planning.design import FIELDS, LOCKED, in_group
from campaigns.planning.metrics import choosable_metrics_of, driver_if_known
from campaigns.planning.outline import factors_of
from campaigns.planning.pages.actions import reason_in
from campaigns.planning.pages.contrast_fields import NAMES as CONTRAST
from campaigns.planning.pages.contrast_fields import PATH, ContrastForm, as_entered, read_entered
from campaigns.planning.roles import Role, asked_of, loads_of, never_ranked, work_of

OF_LOAD = ("criterion", "load", "setting")
STOP = ("stop_rule", *in_group("precision"))
ALWAYS = tuple(name for name in LOCKED if name not in STOP)
Errors = Mapping[str, list[str]]


class AmendForm(forms.Form):
    """The locked fields, as typed or as stored; `planning.amending` checks them."""

    def __init__(self, campaign: Campaign, entered: Mapping[str, str], errors: Errors) -> None:
        super().__init__(initial=dict(entered))
        levels = {f.name: [as_text(level) for level in f.levels] for f in factors_of(campaign)}
        contrast = ContrastForm(
            levels,
            entered,
            only=campaign.paired_factor,
            not_among=(*work_of(campaign), *never_ranked(campaign)),
        )
        metrics = [(metric.name, metric.label) for metric in choosable_metrics_of(campaign)]
        design = {name: deepcopy(FIELDS[name]) for name in (*ALWAYS, *STOP)}
        self.fields |= {
            "question": design.pop("question"),
            "primary_metric": forms.ChoiceField(choices=metrics),
            **contrast.fields,
        }
        if not _stop_is_open(campaign):
            design = {name: field for name, field in design.items() if name not in STOP}
        self.fields |= design
        self.fields["criterion"] = forms.CharField(
            widget=forms.Textarea({"rows": 3}),
            help_text="One condition a line: duration <= 3 min; failed <= 5 %; resolution 1.5. Empty: none.",
        )
        if may_be_amended_to_load(campaign):
            self.fields["load"] = forms.CharField(
                help_text="Factors that are how much was asked at once, separated by commas; their levels are "
                "not ranked.",
            )
        if asked := asked_of(campaign):
            self.fields["setting"] = forms.CharField(
                help_text="Factors that somebody chooses, although their names mean load, separated by commas; their "
                f"levels are ranked. The role of {', '.join(asked)} is not stated.",
            )
        if _stop_is_open(campaign) and lifecycle.production_server(campaign) is not None:
            self.fields["confirmed_name"] = forms.CharField(
                label="Name of the production server",
                help_text="Only where the stop rule changes: it may go on loading the server.",
            )
        self.fields["reason"] = forms.CharField(
            widget=forms.Textarea({"rows": 3}),
            help_text="Everybody who sees the campaign can read it, with your name.",
        )
        with_errors(self, errors)


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the locked fields; POST changes those that were edited."""
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    if campaign.state == Campaign.State.DRAFT:
        messages.info(request, "Nothing is locked before launch; edit the draft.")
        return redirect("campaign-edit", pk)
    if request.method == "GET":
        return _draw(request, campaign, _stored(campaign), {})
    names = ("primary_metric", *CONTRAST, *ALWAYS, *STOP, *OF_LOAD)
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
        return _draw(request, campaign, entered, _on_form(invalid.errors), was)
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
) -> tuple[CleanedData, Errors]:
    """Return the fields that the user changed; untouched fields are left out."""
    shown = ("primary_metric", *ALWAYS, *(STOP if _stop_is_open(campaign) else ()))
    changes: CleanedData = {name: entered[name] for name in shown if entered[name] != was[name]}
    if any(entered[name] != was[name] for name in CONTRAST):
        contrast, wrong = read_entered(entered)
        if wrong:
            return {}, {PATH: [wrong]}
        changes[PATH] = contrast
    if entered["criterion"] != was["criterion"]:
        changes["criterion"], problems = from_lines(entered["criterion"])
        if problems:
            return {}, {"criterion": problems}
    before, after = _names(was["load"]), _names(entered["load"])
    roles = {
        **dict.fromkeys(before - after, str(Role.SETTING)),
        **dict.fromkeys(_names(entered["setting"]), str(Role.SETTING)),
        **dict.fromkeys(after - before, str(Role.LOAD)),
    }
    if roles:
        changes["roles"] = roles
    return changes, {}


def _names(text: str) -> set[str]:
    return {name.strip() for name in text.split(",") if name.strip()}


def may_be_amended_to_load(campaign: Campaign) -> bool:
    """Return whether a factor may be declared load: any that was submitted, else those that the kind allows."""
    driver = driver_if_known(campaign.kind)
    if driver is None:
        return False
    possible = campaign.factors.all()
    if driver.executable:
        possible = possible.filter(name__in=driver.may_be_load)
    return possible.exists()


def _on_form(errors: Errors) -> Errors:
    """Return errors by the inputs of the form: parts of a criterion are lines of one."""
    result: dict[str, list[str]] = {}
    for path, texts in errors.items():
        group = path.partition(".")[0]
        name = {"roles": "load", "criterion": "criterion"}.get(group, path)
        result.setdefault(name, []).extend(texts)
    return result


def _require_not_overtaken(
    request: HttpRequest, campaign: Campaign, entered: Mapping[str, str], was: Mapping[str, str]
) -> None:
    """Raise Changed where an edited field was amended since the form was opened."""
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
    data = storage.revised(campaign)
    plain = {name: as_text(data[name]) for name in ("primary_metric", *LOCKED)}
    of_load = {
        "criterion": as_lines(campaign.criterion, choosable_metrics_of(campaign)),
        "load": ", ".join(loads_of(campaign)),
        "setting": "",
    }
    return plain | as_entered(campaign.primary_contrast) | of_load


def _text(request: HttpRequest) -> dict[str, str]:
    reason = reason_in(request) if request.method == "POST" else ""
    return {"reason": reason, "confirmed_name": typed_name(request)}


def _draw(
    request: HttpRequest,
    campaign: Campaign,
    entered: Mapping[str, str],
    errors: Errors,
    was: Mapping[str, str] | None = None,
    overtaken: Changed | None = None,
) -> HttpResponse:
    form = AmendForm(campaign, {**entered, **_text(request)}, errors)
    context = {
        "campaign": campaign,
        "form": form,
        "moved": overtaken and of_form(overtaken, form),
        "was": (was or entered).items(),
        "problems": [text for path in ("", PATH) for text in errors.get(path, ())],
        "amendments": amendments_of(campaign),
        "stop_is_open": _stop_is_open(campaign),
        "takes_two": _stop_is_open(campaign) and lifecycle.takes_two(campaign),
    }
    status = 409 if overtaken else 422 if errors else 200
    return render(request, "planning/amend.html", context, status=status)
