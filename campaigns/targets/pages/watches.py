"""Pages of a target's watches: forms, trying, accepting a host key."""

from contextlib import nullcontext

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors, ask_again
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.numbers import amount, signed
from campaigns.kit.pages.forms import problems_of
from campaigns.kit.pages.moved import Moved, of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right
from campaigns.kit.ssh.keys import fingerprint_of
from campaigns.models import Target, Watch
from campaigns.targets.given_logins import address_for, given_at_machine
from campaigns.targets.machine_logins import SECRETS
from campaigns.targets.ssh_logins import is_admin
from campaigns.targets.watches.base import SSH, Source
from campaigns.targets.watches.forms import PREFIX, WatchForm
from campaigns.targets.watches.registry import UnknownSource, source_of
from campaigns.targets.watches.saving import (
    accept_host_key,
    delete_watch,
    revised,
    save_watch,
)
from campaigns.targets.watches.trying import Tried, shown, try_watch


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def watch_new(request: HttpRequest, pk: int, source: str) -> HttpResponse:
    """Define a watch of a source."""
    try:
        found = source_of(source)
    except UnknownSource:
        raise Http404 from None
    return _edit(request, _target(pk), found, None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def watch_edit(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Change a watch."""
    row = _watch(pk, number)
    try:
        source = source_of(row.source)
    except UnknownSource as error:
        messages.warning(request, f"{error} Delete this watch.")
        return redirect("target", pk)
    return _edit(request, row.target, source, row)


@require_POST
@takes(Right.OPERATE, Target)
def watch_delete(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Delete a watch."""
    row = _watch(pk, number)
    name = str(row)
    delete_watch(row, user_of(request))
    messages.success(request, f"The watch {name} is deleted. What it saw stays with the runs.")
    return redirect("target", pk)


@require_POST
@takes(Right.OPERATE, Target)
def watch_try(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Read a few frames, and show what was seen."""
    row = _watch(pk, number)
    try:
        tried = try_watch(row, user_of(request))
    except NotPossible as error:
        messages.warning(request, str(error))
        return redirect("target", pk)
    context = {"target": row.target, "watch": row, "offered": fingerprint_of(tried.offered)}
    return render(request, "targets/watch_tried.html", context | tried_context(tried))


@require_POST
@takes(Right.OPERATE, Target)
def watch_accept(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Accept the host key whose fingerprint was shown."""
    row, fingerprint = _watch(pk, number), request.POST.get("fingerprint", "")
    try:
        accept_host_key(row, fingerprint, user_of(request))
    except Invalid as invalid:
        for text in [text for texts in invalid.errors.values() for text in texts]:
            messages.warning(request, text)
    else:
        messages.success(
            request, f"The host key {fingerprint} is accepted. Try the watch once more."
        )
    return redirect("target", pk)


def tried_context(tried: Tried) -> TemplateContext:
    """Return what `targets/watch_tried.html` shows of a try."""
    return {
        "tried": tried,
        "seconds": amount(tried.seconds, "s"),
        "groups": [
            (
                each.name,
                "—" if each.cores is None else shown("group.cpu", each.cores),
                "—" if each.memory_bytes is None else amount(each.memory_bytes, "B"),
                "—" if each.processes is None else amount(each.processes, ""),
            )
            for each in tried.groups
        ],
        "facts": [
            (name.replace("_", " "), amount(value, "") if isinstance(value, float) else value)
            for name, value in tried.facts.items()
        ],
        "clock": ""
        if tried.offset_seconds is None or tried.uncertainty_seconds is None
        else f"{signed(1000 * tried.offset_seconds, 1)} ± "
        f"{signed(1000 * tried.uncertainty_seconds, 1).lstrip('+')} ms",
        "cost": "" if tried.cost_cores is None else amount(tried.cost_cores, "share"),
    }


def _edit(request: HttpRequest, target: Target, source: Source, row: Watch | None) -> HttpResponse:
    """Show a form, or save its input. A form with errors keeps its input."""
    form = WatchForm(
        posted(request), watch=row or Watch(target=target, source=source.name), source=source
    )
    if row is None:
        _begin_with_given(form, target, source, user_of(request))
    now = revised(row) if row else None
    changed, wrong = None, False
    if request.method == "POST":
        sent = {name: form.data.get(name, "") for name in form.fields}
        try:
            with held(row, revised, seen_in(request)) if row else nullcontext():
                saved = save_watch(sent, target, source, user_of(request), row)
        except Changed as error:
            changed = error
            ask_again(form, SECRETS)
        except Invalid as invalid:
            add_errors(form, invalid)
            ask_again(form, SECRETS)
            wrong = True
        else:
            messages.success(request, f"The watch {saved} is saved. Try it to see what it reads.")
            return redirect("target", target.pk)
    context = {
        "target": target,
        "source": source,
        "title": f"Watch by {source.label}" if row else f"New watch by {source.label}",
        "form": form,
        "errors": problems_of(form) if wrong else [],
        "watch": row if row and row.pk else None,
        "seen": opened_on(request, now, changed),
        "moved": changed and _moved(changed, form),
    }
    status = 409 if changed else 422 if wrong else 200
    return render(request, "targets/watch.html", context, status=status)


def _begin_with_given(form: WatchForm, target: Target, source: Source, user: User) -> None:
    """Fill in the login at the machine or server that was given already, and say that its secret is taken over."""
    if source.uses_ssh or source.may_use_ssh:
        for given in given_at_machine(target, of_commands=is_admin(user))[:1]:
            known = f"the key or password that was given for {given}."
            if source.uses_ssh:
                form.initial.update(address=given.address, username=given.username)
                form.fields["key"].help_text = f"Empty: {known}"
            else:
                form.fields["key"].help_text = f"Empty with {SSH}{given.address}: {known}"
    elif address := address_for(target, source):
        form.initial.update(address=address, username=target.username)
        if target.password:
            form.fields["password"].help_text = f"Empty: the target's own for {target.username}."


def _moved(changed: Changed, form: WatchForm) -> Moved:
    stored = {name: changed.stored[name] for name in changed.fields if name != "options"}
    if "options" in changed.fields:
        stored |= {PREFIX + name: value for name, value in changed.stored["options"].items()}
    return of_form(changed, form, SECRETS, stored)


def _target(pk: int) -> Target:
    return get_object_or_404(Target, pk=pk, retired_at=None)


def _watch(pk: int, number: int) -> Watch:
    return get_object_or_404(Watch.objects.select_related("target"), target=_target(pk), pk=number)
