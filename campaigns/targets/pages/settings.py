"""Pages of a target's settings, steps and SSH login: forms, reading back, accepting a host key."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import Invalid
from campaigns.kit.forms import add_errors, ask_again
from campaigns.kit.mappings import CleanedData, TemplateContext
from campaigns.kit.pages.forms import Problem, problems_of
from campaigns.kit.pages.moved import Moved, of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, Data, held
from campaigns.kit.rights import Right
from campaigns.models import Setting, SshLogin, Target, TargetStep
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.given_logins import given_at_machine
from campaigns.targets.machine_logins import SECRETS
from campaigns.targets.probes import request_look
from campaigns.targets.setting_forms import (
    ActionForm,
    SettingForm,
    SshForm,
    StepForm,
    stored_action,
)

ACTIONS = ("apply", "read_back", "action")
NEW_SETTING = Setting(apply={"way": "http", "method": "PUT"}, read_back={"way": "http"})
NEW_STEP = TargetStep(action={"way": "http", "method": "POST"})


@dataclass(frozen=True, slots=True)
class Edited:
    """The object that one of these pages edits. row: the stored one, if any.

    name: the subject of messages. stored: returns the data of its revision. remove: the URL that deletes it.
    """

    target: Target
    title: str
    name: str
    row: Any
    form: BaseForm
    save: Callable[[CleanedData], object]
    stored: Callable[[Any], Data]
    remove: str
    actions: Sequence[ActionForm] = ()


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def setting_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a setting."""
    return _setting(request, in_use(pk), None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def setting_edit(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Change a setting."""
    target = in_use(pk)
    return _setting(request, target, get_object_or_404(Setting, target=target, name=name))


@require_POST
@takes(Right.OPERATE, Target)
def setting_delete(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Delete a setting."""
    row = get_object_or_404(Setting, target=in_use(pk), name=name)
    return _removed(
        request, pk, row.name, lambda: target_settings.delete_setting(row, user_of(request))
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def step_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a step."""
    return _step(request, in_use(pk), None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def step_edit(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Change a step."""
    target = in_use(pk)
    return _step(request, target, get_object_or_404(TargetStep, target=target, pk=number))


@require_POST
@takes(Right.OPERATE, Target)
def step_delete(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Delete a step."""
    row = get_object_or_404(TargetStep, target=in_use(pk), pk=number)
    return _removed(
        request, pk, row.name, lambda: target_settings.delete_step(row, user_of(request))
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def ssh(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit the SSH login of the target."""
    target = in_use(pk)
    row = SshLogin.objects.filter(target=target).first()
    form = SshForm(posted(request), instance=row or SshLogin(target=target))
    for given in () if row else given_at_machine(target, of_commands=False)[:1]:
        form.initial.update(host=given.host, port=given.port, username=given.username)
        form.fields["key"].help_text = f"Empty: the key or password that was given for {given}."
    return edit(
        request,
        Edited(
            target=target,
            title=f"How commands reach {target.name}",
            name="The SSH login",
            row=row,
            form=form,
            save=lambda data: ssh_logins.save_ssh(data, target, user_of(request)),
            stored=ssh_logins.revised,
            remove=reverse("ssh-delete", args=[pk]) if row else "",
        ),
    )


@require_POST
@takes(Right.OPERATE, Target)
def ssh_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the SSH login of the target."""
    row = get_object_or_404(SshLogin, target=in_use(pk))
    return _removed(
        request, pk, "The SSH login", lambda: ssh_logins.delete_ssh(row, user_of(request))
    )


@require_POST
@takes(Right.OPERATE, Target)
def ssh_accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept the host key whose fingerprint was shown."""
    row = get_object_or_404(SshLogin, target=in_use(pk))
    shown = request.POST.get("fingerprint", "")
    errors = _tried(lambda: ssh_logins.accept_host_key(row, shown, user_of(request)))
    for text in _texts(errors):
        messages.warning(request, text)
    if not errors:
        messages.success(request, f"The host key {shown} is accepted.")
        request_look(row.target)
    return redirect("target", pk)


@require_POST
@takes(Right.OPERATE, Target)
def read_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Read all settings back, and log in by SSH."""
    why_not = request_look(in_use(pk))
    messages.info(request, why_not or "The settings are being read back; reload in a moment.")
    return redirect("target", pk)


def _setting(request: HttpRequest, target: Target, row: Setting | None) -> HttpResponse:
    data, shown = posted(request), row or NEW_SETTING
    return edit(
        request,
        Edited(
            target=target,
            title=f"Setting {row.name}" if row else "New setting",
            name=f"The setting {request.POST.get('name', '')}",
            row=row,
            form=SettingForm(data, instance=row or Setting(target=target)),
            actions=(
                ActionForm(data, "apply", shown.apply, "How it is set", has_value=True),
                ActionForm(data, "read_back", shown.read_back, "How it is read back"),
            ),
            save=lambda sent: target_settings.save_setting(sent, target, user_of(request), row),
            stored=target_settings.revised_setting,
            remove=reverse("setting-delete", args=[target.pk, row.name]) if row else "",
        ),
    )


def _step(request: HttpRequest, target: Target, row: TargetStep | None) -> HttpResponse:
    data, shown = posted(request), row or NEW_STEP
    return edit(
        request,
        Edited(
            target=target,
            title=f"Step “{row.name}”" if row else "New reset command or readiness",
            name=f"The step “{request.POST.get('name', '')}”",
            row=row,
            form=StepForm(data, instance=row or TargetStep(target=target)),
            actions=(ActionForm(data, "action", shown.action, "What is done"),),
            save=lambda sent: target_settings.save_step(sent, target, user_of(request), row),
            stored=target_settings.revised_step,
            remove=reverse("step-delete", args=[target.pk, row.pk]) if row else "",
        ),
    )


def edit(
    request: HttpRequest,
    edited: Edited,
    *,
    is_sent: bool | None = None,
    about: TemplateContext | None = None,
) -> HttpResponse:
    """Show a form, or save its input. A form with errors keeps its input.

    is_sent: whether the request sends this form; by default each POST does. about: what the page says besides.
    """
    sends = request.method == "POST" if is_sent is None else is_sent
    row, form = edited.row, edited.form
    now = edited.stored(row) if row else None
    others: list[str] = []
    changed = None
    if sends and all(action.is_valid() for action in edited.actions):
        sent = {name: form.data.get(name, "") for name in form.fields}
        sent |= {str(action.prefix): action.action() for action in edited.actions}
        try:
            with held(row, edited.stored, seen_in(request)) if row else nullcontext():
                edited.save(sent)
        except Changed as error:
            changed = error
        except PermissionDenied as denied:
            others = [str(denied)]
        except Invalid as invalid:
            others = _add_errors(edited, invalid)
        else:
            return _saved(request, edited.target, edited.name)
    wrong = sends and not changed
    if wrong or changed:
        ask_again(form, SECRETS)
    context = {
        "target": edited.target,
        "title": edited.title,
        "form": form,
        "actions": edited.actions,
        "errors": _problems(edited, others) if wrong else [],
        "remove": edited.remove,
        "seen": opened_on(request, now, changed),
        "moved": changed and _moved(changed, edited),
        **(about or {}),
    }
    status = 409 if changed else 422 if wrong else 200
    return render(request, "targets/setting.html", context, status=status)


def _problems(edited: Edited, others: Sequence[str]) -> list[Problem]:
    """Return all errors of the page, and those of no field."""
    every = [*problems_of(edited.form), *chain.from_iterable(map(problems_of, edited.actions))]
    return [*(Problem("", "", text) for text in others), *every]


def _add_errors(edited: Edited, invalid: Invalid) -> list[str]:
    """Add messages to the fields that they are about, and return the others."""
    forms: dict[str, BaseForm] = {"": edited.form} | {
        str(action.prefix): action for action in edited.actions
    }
    others = []
    for path, texts in invalid.errors.items():
        of, _, name = path.rpartition(".")
        of, name = (name, "way") if name in forms else (of, name)
        if of in forms and name in forms[of].fields:
            add_errors(forms[of], Invalid({name: texts}))
        else:
            others += texts
    return others


def in_use(pk: int) -> Target:
    """Return a target that is not retired. Raise Http404."""
    return get_object_or_404(Target, pk=pk, retired_at=None)


def _tried(save: Callable[[], object]) -> dict[str, list[str]]:
    """Save, and return the errors."""
    try:
        save()
    except Invalid as invalid:
        return dict(invalid.errors)
    except PermissionDenied as denied:
        return {"": [str(denied)]}
    return {}


def _moved(changed: Changed, edited: Edited) -> Moved:
    """Return the differences by field; an action is stored as one value, and typed in parts."""
    stored: CleanedData = {}
    for name in changed.fields:
        value = changed.stored[name]
        stored |= stored_action(name, value) if name in ACTIONS else {name: value}
    if "choices" in stored:
        stored["choices"] = "\n".join(map(str, stored["choices"] or ()))
    fields = [*edited.form]
    for action in edited.actions:
        for field in map(copy, action):
            field.label = f"{action.title}: {field.label}"
            fields.append(field)
    return of_form(changed, fields, SECRETS, stored)


def _saved(request: HttpRequest, target: Target, what: str) -> HttpResponse:
    why_not = request_look(target)
    messages.success(request, f"{what} is saved, and is being tried. {why_not}".rstrip())
    return redirect("target", target.pk)


def _removed(
    request: HttpRequest, pk: int, what: str, remove: Callable[[], object]
) -> HttpResponse:
    errors = _tried(remove)
    for text in _texts(errors):
        messages.warning(request, text)
    if not errors:
        messages.success(request, f"{what} is deleted.")
    return redirect("target", pk)


def _texts(errors: Mapping[str, list[str]]) -> list[str]:
    return [text for texts in errors.values() for text in texts]
