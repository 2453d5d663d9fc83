"""Pages of a target's populations: the panel, the form, deletion."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.forms import problems_of
from campaigns.kit.pages.moved import posted
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Population, Target
from campaigns.targets.populations.asking import (
    FAMILY,
    ask_deletion,
    ask_for,
    forget,
    go_on,
    why_none,
)
from campaigns.targets.populations.forms import PopulationForm
from campaigns.targets.populations.notes import deleted_at, note_on


@dataclass(frozen=True, slots=True)
class PopulationRow:
    """A population on the page of its target. may_be_forgotten: its hosts could not be deleted at the server.

    note: what it waits for, or what to do; empty where there is neither.
    """

    row: Population
    deleted_at: datetime
    may_be_forgotten: bool
    note: str


@require_GET
@takes(Right.SEE, Target)
def population_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the panel of populations, which the page asks for again while hosts are registered or deleted."""
    target = get_object_or_404(Target, pk=pk)
    context = {"target": target, **populations_context(target)}
    return render(request, "targets/_populations.html", context)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def population_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form, or have a population registered."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    form, wrong = PopulationForm(posted(request)), False
    if request.method == "POST":
        try:
            row = ask_for(target, form.data, user_of(request))
        except Invalid as invalid:
            add_errors(form, invalid)
            wrong = True
        else:
            messages.success(request, f"{row.hosts} hosts are being registered at {target.name}.")
            return redirect("target", pk)
    context = {
        "target": target,
        "form": form,
        "why_none": why_none(target),
        "errors": problems_of(form) if wrong else [],
    }
    return render(request, "targets/population.html", context, status=422 if wrong else 200)


@require_POST
@takes(Right.OPERATE, Target)
def population_delete(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Have a population deleted at the server and here; `forget`: here alone, if the server does not let it go."""
    row = get_object_or_404(Population.objects.select_related("target"), target=pk, pk=number)
    name = f"Population {row.pk}"
    try:
        if request.POST.get("forget"):
            forget(row, user_of(request))
            messages.success(request, f"{name} is forgotten; its hosts are left at the server.")
        else:
            ask_deletion(row, user_of(request))
            messages.success(request, f"The hosts of {name.lower()} will be deleted at the server.")
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    return redirect("target", pk)


@require_POST
@takes(Right.OPERATE, Target)
def population_again(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Have the hosts registered that a population lacks."""
    row = get_object_or_404(Population, target=pk, pk=number)
    try:
        go_on(row, user_of(request))
        messages.success(request, f"The registration of {row} goes on.")
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    return redirect("target", pk)


def populations_context(target: Target) -> TemplateContext:
    """Return the context of `targets/_populations.html`."""
    rows, now = list(target.populations.all()), database_now()
    return {
        "populations": [
            PopulationRow(
                row,
                deleted_at(row),
                row.state == Population.State.DELETING and bool(row.problem),
                note_on(row, now),
            )
            for row in rows
        ],
        "has_populations": target.family == FAMILY,
        "at_work": any(row.state in Population.AT_WORK for row in rows),
    }
