"""Pages of a target's settings, steps and SSH login: forms, try it, accept a host key."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import Invalid
from campaigns.kit.pages.fields import Field, from_form
from campaigns.kit.pages.moved import Moved, of_fields, opened_on, seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, Data, held
from campaigns.kit.rights import Right
from campaigns.models import Setting, SshLogin, Target, TargetStep
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.pages.action_fields import action_fields, entered_action, stored_action
from campaigns.targets.probes import request_look
from campaigns.targets.setting_forms import SettingForm, SshForm, StepForm

Errors = Mapping[str, list[str]]
NOTHING: Errors = {}
SECRETS = ("key", "password")
APPLY = ("apply", "How it is set", True)
READ = ("read_back", "How it is read back", False)
STEP = ("action", "What is done", False)
ACTIONS = ("apply", "read_back", "action")
NEW_SETTING = {"apply": {"way": "http", "method": "PUT"}, "read_back": {"way": "http"}}
NEW_STEP = {"action": {"way": "http", "method": "POST"}}
AnyRow = TypeVar("AnyRow", bound=Model)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def setting_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Define a setting."""
    return _setting(request, _target(pk), None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def setting_edit(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Change a setting."""
    target = _target(pk)
    return _setting(request, target, get_object_or_404(Setting, target=target, name=name))


@require_POST
@takes(Right.OPERATE, Target)
def setting_delete(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Forget a setting."""
    row = get_object_or_404(Setting, target=_target(pk), name=name)
    return _removed(
        request, pk, row.name, lambda: target_settings.delete_setting(row, user_of(request))
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def step_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Define a step."""
    return _step(request, _target(pk), None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def step_edit(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Change a step."""
    target = _target(pk)
    return _step(request, target, get_object_or_404(TargetStep, target=target, pk=number))


@require_POST
@takes(Right.OPERATE, Target)
def step_delete(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Forget a step."""
    row = get_object_or_404(TargetStep, target=_target(pk), pk=number)
    return _removed(
        request, pk, row.name, lambda: target_settings.delete_step(row, user_of(request))
    )


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def ssh(request: HttpRequest, pk: int) -> HttpResponse:
    """Say how commands reach the target."""
    target = _target(pk)
    row = SshLogin.objects.filter(target=target).first()
    fields = SshForm.base_fields
    stored = {name: getattr(row, name, fields[name].initial) for name in fields}
    data = _posted(request, fields) if request.method == "POST" else stored
    errors: Errors = {}
    changed: Changed | None = None
    if request.method == "POST":
        errors, changed = _held(
            request,
            row,
            ssh_logins.revised,
            lambda: ssh_logins.save_ssh(data, target, user_of(request)),
        )
        if not errors and not changed:
            return _saved(request, target, "The SSH login")
    shown = {**data, **dict.fromkeys(SECRETS, "")}
    asked = "confirm_address" in errors or bool(data.get("confirm_address"))
    drawn = [
        from_form(name, field, shown.get(name, ""), errors.get(name, ()))
        for name, field in fields.items()
        if name != "confirm_address" or asked
    ]
    remove = reverse("ssh-delete", args=[target.pk]) if row else ""
    now = ssh_logins.revised(row) if row else None
    title, seen = f"How commands reach {target.name}", opened_on(request, now, changed)
    return _draw(request, target, title, drawn, [], errors, remove, seen, changed)


@require_POST
@takes(Right.OPERATE, Target)
def ssh_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget the login."""
    row = get_object_or_404(SshLogin, target=_target(pk))
    return _removed(
        request, pk, "The SSH login", lambda: ssh_logins.delete_ssh(row, user_of(request))
    )


@require_POST
@takes(Right.OPERATE, Target)
def ssh_accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept the host key whose fingerprint was shown."""
    row = get_object_or_404(SshLogin, target=_target(pk))
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
    why_not = request_look(_target(pk))
    messages.info(request, why_not or "The settings are being read back; reload in a moment.")
    return redirect("target", pk)


def _setting(request: HttpRequest, target: Target, row: Setting | None) -> HttpResponse:
    fields = SettingForm.base_fields
    now = target_settings.revised_setting(row) if row else None
    data, errors, changed = _as_typed(now or NEW_SETTING | _initial(fields)), NOTHING, None
    if request.method == "POST":
        data = _posted(request, fields) | _of_actions(request, ("apply", "read_back"))
        sent, errors = _with_actions(data, fields, ("apply", "read_back"))
        if not errors:
            errors, changed = _held(
                request,
                row,
                target_settings.revised_setting,
                lambda: target_settings.save_setting(sent, target, user_of(request), row),
            )
        if not errors and not changed:
            return _saved(request, target, f"The setting {data['name']}")
    title = f"Setting {row.name}" if row else "New setting"
    remove = reverse("setting-delete", args=[target.pk, row.name]) if row else ""
    return _draw(
        request,
        target,
        title,
        _fields(fields, data, errors),
        _actions((APPLY, READ), data, errors),
        errors,
        remove,
        opened_on(request, now, changed),
        changed,
    )


def _step(request: HttpRequest, target: Target, row: TargetStep | None) -> HttpResponse:
    fields = StepForm.base_fields
    now = target_settings.revised_step(row) if row else None
    data, errors, changed = _as_typed(now or NEW_STEP | _initial(fields)), NOTHING, None
    if request.method == "POST":
        data = _posted(request, fields) | _of_actions(request, ("action",))
        sent, errors = _with_actions(data, fields, ("action",))
        if not errors:
            errors, changed = _held(
                request,
                row,
                target_settings.revised_step,
                lambda: target_settings.save_step(sent, target, user_of(request), row),
            )
        if not errors and not changed:
            return _saved(request, target, f"The step “{data['name']}”")
    title = f"Step “{row.name}”" if row else "New reset command or readiness"
    remove = reverse("step-delete", args=[target.pk, row.pk]) if row else ""
    return _draw(
        request,
        target,
        title,
        _fields(fields, data, errors),
        _actions((STEP,), data, errors),
        errors,
        remove,
        opened_on(request, now, changed),
        changed,
    )


def _target(pk: int) -> Target:
    return get_object_or_404(Target, pk=pk, retired_at=None)


def _posted(request: HttpRequest, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: request.POST.get(name, "").replace("\r\n", "\n") for name in fields}


def _of_actions(request: HttpRequest, paths: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: request.POST.get(name, "").replace("\r\n", "\n")
        for path in paths
        for name in stored_action(path, {})
    }


def _with_actions(
    data: Mapping[str, Any], fields: Mapping[str, Any], paths: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What is sent on: the plain fields, and each action as one."""
    sent = {name: data[name] for name in fields}
    errors: dict[str, list[str]] = {}
    for path in paths:
        try:
            sent[path] = entered_action(path, data)
        except json.JSONDecodeError as error:
            errors[f"{path}.body"] = [f"This is no JSON: {error}."]
    return sent, errors


def _tried(save: Callable[[], object]) -> dict[str, list[str]]:
    """Save, or give what is wrong."""
    try:
        save()
    except Invalid as invalid:
        return dict(invalid.errors)
    except PermissionDenied as denied:
        return {"": [str(denied)]}
    return {}


def _held(
    request: HttpRequest,
    row: AnyRow | None,
    revised: Callable[[AnyRow], Data],
    save: Callable[[], object],
) -> tuple[Errors, Changed | None]:
    """Save where a row is as the form was opened on; else give what is wrong, or who was faster."""
    if row is None:
        return _tried(save), None
    try:
        with held(row, revised, seen_in(request)):
            return _tried(save), None
    except Changed as changed:
        return NOTHING, changed


def _initial(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: field.initial for name, field in fields.items()}


def _as_typed(data: Data) -> dict[str, Any]:
    """Give a setting or a step as its form holds it: texts, and each action in its parts."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if name in ACTIONS:
            found |= stored_action(name, value)
        else:
            found[name] = "\n".join(map(str, value or ())) if name == "choices" else value
    return found


def _moved(changed: Changed, fields: list[Field], actions: list[tuple[str, list[Field]]]) -> Moved:
    stored = _as_typed({name: changed.stored[name] for name in changed.fields})
    parts = [
        replace(field, label=f"{title}: {field.label}")
        for title, group in actions
        for field in group
    ]
    return of_fields(changed, [*fields, *parts], SECRETS, stored)


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


def _texts(errors: Errors) -> list[str]:
    return [text for texts in errors.values() for text in texts]


def _fields(fields: Mapping[str, Any], data: Mapping[str, Any], errors: Errors) -> list[Field]:
    return [
        from_form(name, field, data.get(name, ""), errors.get(name, ()))
        for name, field in fields.items()
    ]


def _actions(
    kinds: tuple[tuple[str, str, bool], ...], data: Mapping[str, Any], errors: Errors
) -> list[tuple[str, list[Field]]]:
    return [
        (title, action_fields(path, data, errors, has_value=has_value, is_step=path == "action"))
        for path, title, has_value in kinds
    ]


def _draw(
    request: HttpRequest,
    target: Target,
    title: str,
    fields: list[Field],
    actions: list[tuple[str, list[Field]]],
    errors: Errors,
    remove: str,
    seen: str,
    changed: Changed | None,
) -> HttpResponse:
    known = {field.name for field in fields} | {
        field.name for _, group in actions for field in group
    }
    others = [
        text
        for path, texts in errors.items()
        if path.replace(".", "_") not in known
        for text in texts
    ]
    context = {
        "target": target,
        "title": title,
        "fields": fields,
        "actions": actions,
        "errors": bool(errors),
        "others": others,
        "remove": remove,
        "seen": seen,
        "moved": changed and _moved(changed, fields, actions),
    }
    status = 409 if changed else 422 if errors else 200
    return render(request, "targets/setting.html", context, status=status)
