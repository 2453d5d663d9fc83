"""Pages that define a campaign: new, edit, clone, and the live plan."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kinds.base import REFUSED, Driver
from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.forms import is_key
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages import moved
from campaigns.kit.pages.moved import Moved, opened_on, seen_in
from campaigns.kit.pages.people import campaign_of, may, takes, user_of
from campaigns.kit.revisions import Changed
from campaigns.kit.rights import NotAllowed, Right
from campaigns.models import Campaign, EffectiveSetting, Target
from campaigns.planning import drafts, lifecycle, storage
from campaigns.planning.calibrating import calibration_of
from campaigns.planning.checking import CheckedDefinition, check
from campaigns.planning.design import FIELDS
from campaigns.planning.launch_checks import ask_rights_at, failed_try_out, planned_by
from campaigns.planning.pages import forms, parameter_rows, scenario_editor
from campaigns.planning.pages.form_page import (
    baseline_of,
    form_page,
    labels_of,
    lacking_for,
    problems,
)
from campaigns.planning.pages.forms import Entered, Errors
from campaigns.planning.pages.launches import ANYWAY, held_back, waits_for_approval
from campaigns.planning.pages.limits import limits_entered
from campaigns.planning.pages.plans import PlanView, plan_view
from campaigns.planning.preview import preview
from campaigns.targets.feeds import MOST_FEEDS, confirm_feed

PRESET = "preset:"
Store = Callable[[CheckedDefinition], Campaign]


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE)
def campaign_new(request: HttpRequest) -> HttpResponse:
    """Create a campaign, from the initial values of a kind; `?kind=` and `?target=` choose."""
    user = user_of(request)
    if request.method == "POST":
        return _answer(request, None, lambda definition: drafts.create(definition, user))
    return _draw(request, None, _initial(request), {})


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def campaign_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a draft."""
    campaign = campaign_of(request, pk, Right.WRITE)
    try:
        drafts.require_draft(campaign)
    except drafts.NotADraft as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    if request.method == "POST":
        seen = seen_in(request)
        return _answer(
            request, campaign, lambda definition: drafts.change(campaign, definition, seen)
        )
    entered = _stored(request, campaign, _teams(request, campaign))
    return _draw(request, campaign, entered, {}, refused_in=campaign)


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def campaign_clone(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a campaign from the definition of another one, which stays unchanged; `?raise=` raises a setting in it."""
    original = campaign_of(request, pk, Right.WRITE)
    user = user_of(request)
    if request.method == "POST":
        return _answer(request, None, lambda definition: drafts.create(definition, user, original))
    entered = _stored(request, original, _teams(request))
    if entered.driver is None:
        messages.warning(
            request, f"Campaigns of the kind “{original.kind}” come from outside; none is cloned."
        )
        return redirect("campaign", pk)
    if name := request.GET.get("raise", ""):
        raised = forms.with_raised(entered, name[:100])
        if raised is None:
            messages.warning(
                request,
                f"{name[:100]} cannot be raised here: its value is unknown, or the highest that is possible. "
                "Give its levels below.",
            )
        entered = raised or entered
    return _draw(request, None, entered, {}, original=original, refused_in=original)


@require_POST
@takes(Right.WRITE, Campaign)
def campaign_repeat(request: HttpRequest, pk: int) -> HttpResponse:
    """Launch a new campaign with the definition of this one and a new seed."""
    original = campaign_of(request, pk, Right.WRITE)
    data = storage.definition_of(original) | {"seed": forms.new_seed()}
    try:
        definition = check(data, Target.objects.filter(team=original.team_id, retired_at=None))
    except Invalid as invalid:
        messages.warning(request, f"It cannot be launched again as it is. {invalid}")
        return redirect("campaign-clone", pk)
    return go_on(request, drafts.create(definition, user_of(request), original), "launch")


@require_POST
@takes(Right.WRITE)
def campaign_plan(request: HttpRequest) -> HttpResponse:
    """Return the panel with the plan of the values in the form."""
    entered = forms.with_pair(forms.read(request.POST, _teams(request)))
    context = _planned(entered) | {
        "editing": True,
        "live": True,
        "limits": limits_entered(entered.values),
        "choices": [baseline_of(entered), *forms.contrasts_of(entered)],
        "lines": scenario_editor.lines_of(entered)
        if entered.kind == scenario_editor.KIND
        else None,
    }
    return render(request, "planning/_plan.html", context)


def _answer(request: HttpRequest, campaign: Campaign | None, store: Store) -> HttpResponse:
    """Perform what the pressed button does, or show the form again with its errors."""
    entered = forms.read(request.POST, _teams(request, campaign))
    act = request.POST.get("act", "preview")
    if act == "kind":
        entered = forms.with_other_kind(entered, request.POST.get("drawn_for", entered.kind))
        return _draw(request, campaign, entered, {})
    if act.startswith(PRESET):
        return _draw(
            request, campaign, _with_preset(request, entered, act.removeprefix(PRESET)), {}
        )
    if act in scenario_editor.ACTS:
        entered, editor = scenario_editor.acted(request, entered, act)
        return _draw(request, campaign, entered, {}, editor=editor)
    if act == "calibrate":
        return _calibrate(request, campaign, entered)
    entered = forms.with_pair(entered)
    if act == "preview":
        entered = forms.with_present_values(entered)
    refused = {**_unasked(entered), **_confirm_feeds(request, entered)}
    checked = _checked(entered)
    definition, errors = checked
    if definition is None or refused or act not in ("save", "launch", "try"):
        return _draw(request, campaign, entered, {**errors, **refused}, checked=checked)
    try:
        stored = store(definition)
    except drafts.NotADraft as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", campaign.pk) if campaign else redirect("campaign-list")
    except Changed as changed:
        return _draw(request, campaign, entered, {}, changed=changed)
    return go_on(request, stored, act)


def _confirm_feeds(request: HttpRequest, entered: Entered) -> dict[str, list[str]]:
    """Let workers read the feeds that are ticked as one's own, for each chosen target; return errors by path."""
    targets = entered.compared or ([entered.target] if entered.target else [])
    errors: dict[str, list[str]] = {}
    for box in request.POST.getlist(parameter_rows.CONFIRMS)[:MOST_FEEDS]:
        name, _, url = box.partition(" ")
        try:
            for target in targets:
                confirm_feed(target, url, user_of(request))
        except Invalid as invalid:
            errors[f"parameters.{name}"] = invalid.errors["url"]
        except NotAllowed as refusal:
            errors[f"parameters.{name}"] = [str(refusal)]
    return errors


def _calibrate(request: HttpRequest, campaign: Campaign | None, entered: Entered) -> HttpResponse:
    """Store the A/A campaign of the values in the form; the form itself stays unsaved."""
    checked = _checked(entered)
    definition, errors = checked
    if definition is None:
        return _draw(request, campaign, entered, errors, checked=checked)
    made = drafts.create(calibration_of(definition), user_of(request))
    return redirect("campaign", made.pk)


def go_on(request: HttpRequest, stored: Campaign, act: str) -> HttpResponse:
    """Launch or try a stored draft. If that is refused, it stays a draft."""
    user = user_of(request)
    if act == "launch" and held_back(request, stored):
        return redirect(f"{reverse('campaign', args=[stored.pk])}?{ANYWAY}=on")
    if act != "save":
        ask_rights_at(planned_by(stored))
    try:
        if act == "launch":
            lifecycle.launch(stored, user)
        elif act == "try":
            lifecycle.try_or_request_approval(stored, user)
    except NotConfirmed:
        messages.info(request, f"“{stored.name}” is saved as a draft.")
        return redirect(f"campaign-{act}", stored.pk)
    except (NotPossible, drafts.NotADraft, NotAllowed) as refusal:
        messages.warning(request, f"Saved as a draft. {refusal}")
        return redirect("campaign-edit", stored.pk)
    if act == "save":
        messages.success(request, f"“{stored.name}” is saved as a draft.")
    else:
        waits_for_approval(request, stored)
        work_waits.send(sender=None)
    return redirect("campaign", stored.pk)


def _teams(request: HttpRequest, campaign: Campaign | None = None) -> frozenset[int]:
    """Return the teams whose targets may be chosen: an existing campaign stays in its team."""
    teams = may(request).write
    return teams if campaign is None else teams & {campaign.team_id}


def _stored(request: HttpRequest, campaign: Campaign, teams: frozenset[int]) -> Entered:
    """Return a stored definition as input; tell what the form cannot take over of it."""
    data = storage.definition_of(campaign)
    entered = forms.from_definition(data, teams)
    for text in forms.not_taken_over(data, entered) if entered.driver else ():
        messages.warning(request, text)
    return entered


Checked = tuple[CheckedDefinition | None, Errors]


def _checked(entered: Entered) -> Checked:
    """Return the definition, or all errors by path. An empty question is none of them: it does not prevent a plan."""
    asked = {**entered.values, "question": entered.values.get("question") or "?"}
    data, errors = forms.as_definition(replace(entered, values=asked))
    if entered.driver is None:
        errors["kind"] = ["Choose what is measured."]
        return None, errors
    try:
        definition = check(data, entered.targets)
    except Invalid as invalid:
        return None, invalid.errors | errors
    return (None, errors) if errors else (definition, {})


def _unasked(entered: Entered) -> dict[str, list[str]]:
    """Return the error of a form without a question."""
    missing = [str(FIELDS["question"].error_messages["required"])]
    return {} if entered.values.get("question") else {"question": missing}


def _planned(entered: Entered, checked: Checked | None = None) -> TemplateContext:
    """Return the plan, or why there is none yet."""
    definition, errors = checked or _checked(entered)
    plan: PlanView | None = None
    if definition is not None:
        try:
            plan = plan_view(definition, preview(definition), with_checks=True)
        except Invalid as invalid:
            errors = invalid.errors
    return {"plan": plan, "plan_problems": problems(errors, entered)}


def _initial(request: HttpRequest) -> Entered:
    key = request.GET.get("target", "")
    teams = _teams(request)
    kinds = forms.kinds_to_choose(teams)
    known = Target.objects.filter(team__in=teams, retired_at=None)
    target = known.filter(pk=int(key)).first() if is_key(key) else None
    kind = request.GET.get("kind", "")
    if kind not in kinds and target is not None:
        kind = _of_fewest_families(
            {name: each for name, each in kinds.items() if each.probes(target.family)}
        )
    if kind not in kinds:
        kind = _of_fewest_families(kinds)
    entered = _with_preset(request, forms.blank(kind, teams, target), request.GET.get("preset", ""))
    return forms.as_calibration(entered, target) if "calibrate" in request.GET else entered


def _of_fewest_families(kinds: Mapping[str, Driver]) -> str:
    """Return the kind that is most about its servers, which a form begins with; an empty text where there is none."""
    return min(kinds, key=lambda name: len(kinds[name].families), default="")


def _with_preset(request: HttpRequest, entered: Entered, name: str) -> Entered:
    """Return the input with a preset; as it is where the target lacks something for it, which is told."""
    if lacking := lacking_for(entered, name):
        preset, lacks = lacking
        messages.warning(
            request, f"The preset “{preset.label}” is not filled in: it needs {lacks}."
        )
        return entered
    return forms.with_preset(entered, name)


def _draw(
    request: HttpRequest,
    campaign: Campaign | None,
    entered: Entered,
    errors: Errors,
    *,
    original: Campaign | None = None,
    refused_in: Campaign | None = None,
    changed: Changed | None = None,
    editor: scenario_editor.Editor | None = None,
    checked: Checked | None = None,
) -> HttpResponse:
    """Render the form, with the levels that the target refused in runs of `refused_in`.

    changed: changes that another user saved meanwhile. editor: of a scenario, after one of its buttons. checked: what is
    known of the input already.
    """
    refused = forms.refusals(entered, refused_levels(refused_in)) if refused_in else {}
    context = _planned(entered, checked) | {
        "campaign": campaign,
        "original": original,
        "may_launch": bool(may(request).operate & entered.teams),
        "form": form_page(entered, errors, refused),
        "editor": editor or scenario_editor.editor_of(request, entered),
        "failed_try_out": failed_try_out(campaign) if campaign else "",
        "moved": changed and _moved(changed, entered),
        "seen": opened_on(request, storage.revised(campaign) if campaign else None, changed),
    }
    status = 409 if changed else 422 if errors else 200
    return render(request, "planning/form.html", context, status=status)


def _moved(changed: Changed, entered: Entered) -> Moved:
    """Return the fields that another user changed, as stored and as typed."""
    stored = forms.as_shown(forms.from_definition(changed.stored, entered.teams))
    typed = forms.as_shown(entered)
    paths = [path for path in stored.keys() | typed if forms.stored_in(path) & {*changed.fields}]
    return moved.of_texts(changed, typed, stored, labels_of(paths, entered))


def refused_levels(campaign: Campaign) -> list[tuple[str, Any, str]]:
    """Return parameter, level and the target's message of each refusal, without duplicates."""
    seen = (
        EffectiveSetting.objects.filter(attempt__run__campaign=campaign, ok=False)
        .order_by()
        .values_list("name", "asked", "in_force")
        .distinct()
    )
    return [
        (name, text, value.removeprefix(REFUSED))
        for name, text, value in seen
        if isinstance(value, str) and value.startswith(REFUSED)
    ]
