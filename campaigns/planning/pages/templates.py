"""Templates of a team: list, save a campaign as one, begin a campaign with one, rename, retire."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kinds.registry import label_of
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import add_errors, is_key
from campaigns.kit.mappings import CleanedData, TemplateContext
from campaigns.kit.pages.moved import of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right, visible
from campaigns.models import Campaign, Template
from campaigns.planning import templates

MOST_FACTORS = 6


class BeginForm(forms.Form):
    """The values with which a campaign begins from a template; `templates.begin` checks them."""

    question = forms.CharField(required=False)
    target = forms.ChoiceField(
        required=False, help_text="Of the template's team, of a family that its kind measures."
    )


@require_GET
@takes(Right.SEE)
def template_list(request: HttpRequest) -> HttpResponse:
    """List the templates in use of the user's teams; `?retired=1`: also retired ones."""
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
    form = templates.TemplateForm(posted(request), initial={"name": campaign.name})
    if request.method != "POST":
        return _form(request, form, campaign=campaign)
    try:
        made = templates.make_template(campaign, form.data, user_of(request))
    except Invalid as invalid:
        add_errors(form, invalid)
        return _form(request, form, campaign=campaign, status=422)
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
    stored = templates.description_of(template)
    form = templates.TemplateForm(posted(request), initial=stored)
    changed, status = None, 200
    if request.method == "POST":
        try:
            with held(template, templates.description_of, seen_in(request)):
                templates.change_template(template, form.data, user_of(request))
            return redirect("template-list")
        except Invalid as invalid:
            add_errors(form, invalid)
            template.refresh_from_db()
            status = 422
        except Changed as error:
            changed, status = error, 409
    seen, differs = opened_on(request, stored, changed), changed and of_form(changed, form)
    return _form(request, form, template=template, seen=seen, moved=differs, status=status)


@require_POST
@takes(Right.WRITE, Template)
def template_retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Retire a template: no further campaign begins with it."""
    template = templates.retire_template(get_object_or_404(Template, pk=pk), user_of(request))
    messages.success(request, f"The template “{template.name}” is retired; its campaigns stay.")
    return redirect("template-list")


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Template)
def template_begin(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a campaign from a template: choose target and question; the form of the draft has the rest."""
    template = get_object_or_404(Template, pk=pk, retired_at=None)
    form = BeginForm(posted(request), initial=template.definition)
    targets: Any = form.fields["target"]
    targets.choices = [(each.pk, each.name) for each in templates.targets_of(template)]
    if request.method != "POST":
        return _beginning(request, template, form)
    key = request.POST.get("target", "")
    changes: CleanedData = {"question": request.POST.get("question", "")}
    if key != str(template.definition.get("target")):  # else all of several stay
        changes["target"] = int(key) if is_key(key) else None
    try:
        draft = templates.begin(template, changes, user_of(request))
    except Invalid as invalid:
        add_errors(form, invalid)
        others = [
            f"{name}: {' '.join(value)}"
            for name, value in invalid.errors.items()
            if name not in form.fields
        ]
        return _beginning(request, template, form, others, status=422)
    messages.success(request, "The draft is made; change what is to be another this time.")
    return redirect("campaign-edit", draft.pk)


def _row(template: Template) -> TemplateContext:
    definition = template.definition
    kind = definition["kind"]
    factors = [
        f"{name.replace('_', ' ')}: {', '.join(map(str, levels))}"
        for name, levels in definition["factors"].items()
    ]
    return {
        "template": template,
        "kind": label_of(kind),
        "factors": factors[:MOST_FACTORS],
        "question": definition["question"],
        "campaigns": template.campaigns.count(),
    }


def _form(
    request: HttpRequest, form: templates.TemplateForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    return render(request, "planning/templates/form.html", {"form": form, **context}, status=status)


def _beginning(
    request: HttpRequest,
    template: Template,
    form: BeginForm,
    others: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    context = {"template": template, "form": form, "others": others}
    return render(request, "planning/templates/begin.html", context, status=status)
