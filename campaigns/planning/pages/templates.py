"""Templates of a team: list, save a campaign as one, begin a campaign with one, rename, retire."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid
from campaigns.kit.pages.fields import Choice, Field, from_form, is_key
from campaigns.kit.pages.moved import of_fields, opened_on, seen_in
from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right, visible
from campaigns.models import Campaign, Template
from campaigns.planning import templates

MOST_FACTORS = 6


@require_GET
@takes(Right.SEE)
def template_list(request: HttpRequest) -> HttpResponse:
    """The templates in use of one's teams; `?retired=1`: those that were retired, too."""
    rows = Template.objects.select_related("team", "made_by").order_by("team__name", "name")
    retired = request.GET.get("retired") == "1"
    rows = visible(rows if retired else rows.filter(retired_at=None), user_of(request))
    context = {"rows": [_row(row) for row in rows], "retired": retired}
    return render(request, "planning/templates/list.html", context)


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Campaign)
def template_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Save a campaign's definition as a template."""
    campaign = campaign_of(request, pk, Right.WRITE)
    sent = request.POST.dict() if request.method == "POST" else {"name": campaign.name}
    if request.method != "POST":
        return _form(request, sent, {}, campaign=campaign)
    try:
        made = templates.make_template(campaign, _entered(sent), user_of(request))
    except Invalid as invalid:
        return _form(request, sent, invalid.errors, campaign=campaign)
    except templates.NoTemplate as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    messages.success(request, f"“{made.name}” is a template of the team {made.team}.")
    return redirect("template-list")


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Template)
def template_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change name and notes."""
    template = get_object_or_404(Template, pk=pk, retired_at=None)
    stored = templates.said_of(template)
    seen = opened_on(request, stored)
    if request.method != "POST":
        return _form(request, stored, {}, template=template, seen=seen)
    sent = request.POST.dict()
    try:
        with held(template, templates.said_of, seen_in(request)):
            templates.change_template(template, _entered(sent), user_of(request))
    except Invalid as invalid:
        template.refresh_from_db()
        return _form(request, sent, invalid.errors, template=template, seen=seen)
    except Changed as changed:
        seen = opened_on(request, stored, changed)
        return _form(request, sent, {}, changed, template=template, seen=seen)
    return redirect("template-list")


@require_POST
@takes(Right.WRITE, Template)
def template_retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Let no further campaign begin with it."""
    template = templates.retire_template(get_object_or_404(Template, pk=pk), user_of(request))
    messages.success(request, f"The template “{template.name}” is retired; its campaigns stay.")
    return redirect("template-list")


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Template)
def template_begin(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin a campaign: choose the target and the question; the draft's own form has the rest."""
    template = get_object_or_404(Template, pk=pk, retired_at=None)
    if request.method != "POST":
        return _beginning(request, template, template.definition, {})
    sent = request.POST.dict()
    key = sent.get("target", "")
    question = sent.get("question", "")
    changes = {"question": question, "target": int(key) if is_key(key) else None}
    try:
        draft = templates.begin(template, changes, user_of(request))
    except Invalid as invalid:
        return _beginning(request, template, changes, invalid.errors)
    messages.success(request, "The draft is made; change what is to be another this time.")
    return redirect("campaign-edit", draft.pk)


def _entered(sent: dict[str, str]) -> dict[str, str]:
    fields = templates.TemplateForm.base_fields
    return {name: sent.get(name, "").replace("\r\n", "\n") for name in fields}


def _row(template: Template) -> dict[str, Any]:
    definition = template.definition
    kinds = all_kinds()
    kind = definition["kind"]
    factors = [
        f"{name.replace('_', ' ')}: {', '.join(map(str, levels))}"
        for name, levels in definition["factors"].items()
    ]
    return {
        "template": template,
        "kind": kinds[kind].label if kind in kinds else kind,
        "factors": factors[:MOST_FACTORS],
        "question": definition["question"],
        "campaigns": template.campaigns.count(),
    }


def _form(
    request: HttpRequest,
    values: Mapping[str, Any],
    errors: dict[str, list[str]],
    changed: Changed | None = None,
    **context: Any,
) -> HttpResponse:
    fields = [
        from_form(name, field, values.get(name, ""), errors.get(name, ()))
        for name, field in templates.TemplateForm.base_fields.items()
    ]
    status = 409 if changed else 422 if errors else 200
    context |= {"fields": fields, "moved": changed and of_fields(changed, fields)}
    return render(request, "planning/templates/form.html", context, status=status)


def _beginning(
    request: HttpRequest, template: Template, values: Any, errors: dict[str, list[str]]
) -> HttpResponse:
    targets = list(templates.targets_of(template))
    chosen = values.get("target")
    options = [Choice(str(each.pk), each.name, chosen=each.pk == chosen) for each in targets]
    fields = [
        Field(
            "question",
            "Question",
            values.get("question", ""),
            errors=errors.get("question", ()),
            required=True,
        ),
        Field(
            "target",
            "Target",
            str(chosen or ""),
            "select",
            errors=errors.get("target", ()),
            choices=options,
            hint="Of the template's team, of a family that its kind measures.",
        ),
    ]
    others = [
        f"{name}: {' '.join(told)}"
        for name, told in errors.items()
        if name not in ("question", "target")
    ]
    context = {"template": template, "fields": fields, "others": others, "targets": targets}
    return render(request, "planning/templates/begin.html", context, status=422 if errors else 200)
