"""Pages of programs: the list, a version, its definition, its trial, its publication."""

from collections.abc import Callable
from contextlib import nullcontext

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.execution import programs
from campaigns.execution.program_forms import EXAMPLE, MetricsForm, ProgramForm, TrialForm
from campaigns.execution.program_rights import why_not_defined
from campaigns.kinds.program.definition import stored_definition
from campaigns.kinds.program.driver import metrics_of
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.moved import opened_on, posted, seen_in
from campaigns.kit.pages.people import may, takes, team_form, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right, team_for, visible
from campaigns.models import Campaign, Program
from campaigns.targets.ssh_logins import is_admin


@require_GET
@takes(Right.SEE)
def program_list(request: HttpRequest) -> HttpResponse:
    """Show the programs of the user's teams."""
    rows = programs.versions(visible(Program.objects.all(), user_of(request)))
    kinds = Campaign.objects.filter(kind__in=[row.kind for row in rows if row.kind])
    used = dict(kinds.order_by().values_list("kind").annotate(Count("pk")))
    context = {
        "rows": [(row, stored_definition(row.definition), used.get(row.kind, 0)) for row in rows],
        "why_not": why_not_defined(user_of(request)),
    }
    return render(request, "execution/programs/list.html", context)


@require_GET
@takes(Right.SEE, Program)
def program_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a version: what it runs, its trial, its versions."""
    row = _row(pk)
    return render(request, "execution/programs/program.html", _context(request, row))


@require_GET
@takes(Right.SEE, Program)
def program_trial(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the part with the trial, which is updated."""
    return render(request, "execution/programs/_trial.html", _context(request, _row(pk)))


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE)
def program_new(request: HttpRequest) -> HttpResponse:
    """Define a program."""
    return _edit(request, None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Program)
def program_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a draft; what was published gets a draft of its next version."""
    return _edit(request, _row(pk))


@require_POST
@takes(Right.OPERATE, Program)
def program_try(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker run a draft once."""
    row = _row(pk)
    form = TrialForm(row, posted(request))
    status = 200
    try:
        if form.is_valid():
            programs.request_trial(
                row, form.parameters, form.cleaned_data["target"], user_of(request)
            )
            messages.success(
                request, "The trial has started; a worker of the queue “measure” runs it."
            )
            return redirect("program", pk)
        status = 422
    except Invalid as invalid:
        status = 422
        named = {path.replace("parameters.", "p-"): texts for path, texts in invalid.errors.items()}
        add_errors(form, Invalid(named))
    except (NotPossible, PermissionDenied) as error:
        messages.warning(request, str(error))
        return redirect("program", pk)
    context = {**_context(request, row), "trial_form": form}
    return render(request, "execution/programs/program.html", context, status=status)


@require_POST
@takes(Right.OPERATE, Program)
def program_publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish a draft, with the metrics that were chosen among those that its trial found."""
    row = _row(pk)
    form = MetricsForm(row, posted(request))
    chosen = None
    if form.found:
        if not form.is_valid():
            messages.warning(request, "Choose the primary metric.")
            return redirect("program", pk)
        chosen = form.metrics()
    text = "“{}” is in use: authors find it among the kinds of a new campaign."
    return _done(request, row, lambda: programs.publish(row, user_of(request), chosen), text)


@require_POST
@takes(Right.OPERATE, Program)
def program_retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a program out of use."""
    row = _row(pk)
    return _done(
        request,
        row,
        lambda: programs.retire(row, user_of(request)),
        "“{}” is retired.",
    )


@require_POST
@takes(Right.OPERATE, Program)
def program_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft."""
    row = _row(pk)
    return _done(
        request,
        row,
        lambda: programs.delete_draft(row, user_of(request)),
        "The draft is deleted.",
        "program-list",
    )


def _row(pk: int) -> Program:
    return get_object_or_404(Program.objects.select_related("team", "author"), pk=pk)


def _context(request: HttpRequest, row: Program) -> TemplateContext:
    definition = stored_definition(row.definition)
    user = user_of(request)
    may_change = row.team_id in may(request).operate and (
        definition.where == "worker" or is_admin(user)
    )
    why_not = why_not_defined(user, definition.where)
    may_define = may_change and not why_not
    draft = row.state == Program.State.DRAFT
    metrics = MetricsForm(row) if draft and row.trial else None
    return {
        "row": row,
        "definition": definition,
        "text": programs.as_yaml(definition),
        "metrics": metrics_of(definition),
        "versions": list(Program.objects.filter(name=row.name)),
        "campaigns": Campaign.objects.filter(kind=row.kind, team=row.team_id).order_by("-pk")[:10]
        if row.kind
        else [],
        "may_change": may_change,
        "may_define": may_define,
        "why_not": may_change and why_not,
        "is_draft": draft,
        "missing_secrets": programs.missing_secrets(row) if draft and may_define else [],
        "trial": row.trial if row.trial and row.trial_began_at is None else None,
        "trial_form": TrialForm(row) if draft and may_define else None,
        "metrics_form": metrics if metrics and metrics.found else None,
        "can_publish": not definition.reader
        or any(metric.primary for metric in definition.metrics)
        or bool(metrics and metrics.found),
    }


def _edit(request: HttpRequest, row: Program | None) -> HttpResponse:
    initial = programs.as_yaml(stored_definition(row.definition)) if row else EXAMPLE
    form = ProgramForm(posted(request), initial={"definition": initial})
    now = programs.revised(row) if row else None
    invalid: Invalid | None = None
    changed = None
    others: list[str] = []
    if request.method == "POST" and form.is_valid():
        user = user_of(request)
        try:
            team = row.team if row else team_for(user, request.POST.get("team"), Right.OPERATE)
            with held(row, programs.revised, seen_in(request)) if row else nullcontext():
                saved = programs.save_draft(
                    programs.read_yaml(form.cleaned_data["definition"]),
                    form.cleaned_data["secrets"],
                    team,
                    user,
                    row,
                )
        except Changed as error:
            changed = error
            others = ["Somebody has changed it meanwhile. Open it again; your text is still here."]
        except PermissionDenied as denied:
            others = [str(denied)]
        except Invalid as error:
            invalid = error
            others = [
                f"{path}: {text}" if path else text
                for path, texts in error.errors.items()
                for text in texts
                if path not in ("definition", "secrets", "team")
            ]
            add_errors(
                form,
                Invalid(
                    {
                        path: texts
                        for path, texts in error.errors.items()
                        if path in ("definition", "secrets")
                    }
                ),
            )
        else:
            messages.success(request, f"“{saved}” is saved as a draft; try it, then publish it.")
            for remark in programs.remarks_on(saved):
                messages.warning(request, remark)
            return redirect("program", saved.pk)
    wrong = request.method == "POST"
    context = {
        "row": row,
        "form": form,
        "team": None if row else team_form(request, Right.OPERATE, invalid),
        "others": others,
        "errors": wrong,
        "why_not": why_not_defined(user_of(request)),
        "seen": opened_on(request, now, changed),
    }
    status = 409 if changed else 422 if wrong else 200
    return render(request, "execution/programs/form.html", context, status=status)


def _done(
    request: HttpRequest,
    row: Program,
    act: Callable[[], Program | None],
    message: str,
    to: str = "",
) -> HttpResponse:
    """Do it, and redirect to the version that it returns, or to another page where that worked."""
    try:
        result = act()
    except Invalid as invalid:
        for texts in invalid.errors.values():
            for text in texts:
                messages.warning(request, text)
    except (NotPossible, PermissionDenied) as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, message.format(result))
        return redirect("program", result.pk) if result is not None else redirect(to)
    return redirect("program", row.pk)
