"""Targets: list, page, form, probe now, retire."""

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.execution.queues import queue_of
from campaigns.kit import encryption
from campaigns.kit.allowing import team_for
from campaigns.kit.errors import Invalid
from campaigns.kit.pages.fields import Field, from_form, is_key
from campaigns.kit.pages.moved import of_fields, opened_on, seen_in
from campaigns.kit.pages.people import may, takes, team_field, user_of
from campaigns.kit.pages.sorting import Sort
from campaigns.kit.revisions import Changed
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.overview.home import TargetRow, target_rows
from campaigns.planning.forms import TargetForm
from campaigns.planning.pages.calibrating import noise_of_kinds
from campaigns.planning.pages.limits import quiet_of, zones
from campaigns.targets import servers
from campaigns.targets.pages.setting_rows import settings_context
from campaigns.targets.probes import request_probe
from campaigns.targets.production import is_kept

UNITS = {"max_concurrency": "at once", "max_requests_per_second": "a second"}
COLUMNS: Mapping[str, Callable[[TargetRow], Any]] = {
    "name": lambda row: row.target.name.lower(),
    "health": lambda row: row.target.health,
    "family": lambda row: row.target.family,
    "address": lambda row: row.address,
    "probed": lambda row: row.target.probed_at,
    "lease": lambda row: row.held_by or None,
}
"""Of the list of targets, by what each is sorted."""
MOST_LOOKS = 20
"""How often the page looks for the outcome of a probe, once a second."""


@require_GET
@takes(Right.SEE)
def target_list(request: HttpRequest) -> HttpResponse:
    """All targets in use."""
    sort = Sort.asked(request.GET.get("sort", ""), COLUMNS)
    rows = sort.apply(target_rows(may(request).see), COLUMNS)
    return render(request, "targets/list.html", {"rows": rows, "sort": sort})


@require_GET
@takes(Right.SEE, Target)
def target_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One target; also one that is retired, since campaigns point to it."""
    target = get_object_or_404(Target, pk=pk)
    campaigns = target.campaign_set.order_by("-created_at")[:10]
    context = _health(target, may(request).see) | {
        "campaigns": campaigns,
        "quiet": quiet_of(target),
        "queue": queue_of(target, may(request)),
        "locked": _locked(target),
        "noise": noise_of_kinds(target),
        **settings_context(target, user_of(request)),
    }
    return render(request, "targets/target.html", context)


@require_GET
@takes(Right.SEE, Target)
def target_health(request: HttpRequest, pk: int) -> HttpResponse:
    """The panel of health and lease. `since` and `look` are there while a probe is awaited."""
    target = get_object_or_404(Target, pk=pk)
    since, look = request.GET.get("since"), request.GET.get("look", "")
    awaited = since is not None and since == _stamp(target.probed_at)
    looks = int(look) if is_key(look) else 0
    context = _health(
        target, may(request).see, awaited=awaited and looks < MOST_LOOKS, look=looks + 1
    )
    return render(
        request, "targets/_health.html", context | {"silent": awaited and looks >= MOST_LOOKS}
    )


@require_POST
@takes(Right.OPERATE, Target)
def target_probe(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the workers to look at the target now."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    why_not = request_probe(target)
    if request.headers.get("HX-Request"):
        awaited = not why_not or target.probe_began_at is not None
        context = _health(target, may(request).see, awaited=awaited, look=1) | {"why_not": why_not}
        return render(request, "targets/_health.html", context)
    asked = f"{target.name} is being probed; reload in a few seconds."
    messages.info(request, why_not or asked)
    return redirect("target", pk)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE)
def target_new(request: HttpRequest) -> HttpResponse:
    """Add a target."""
    return _form_page(request, None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def target_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a target."""
    return _form_page(request, get_object_or_404(Target, pk=pk, retired_at=None))


@require_POST
@takes(Right.OPERATE, Target)
def target_retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a target out of the lists."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    try:
        servers.retire_target(target)
    except Invalid as invalid:
        for message in invalid.errors[""]:
            messages.warning(request, message)
        return redirect("target", pk)
    messages.success(request, f"{target.name}. Its campaigns stay as they are.")
    return redirect("target-list")


def _form_page(request: HttpRequest, target: Target | None) -> HttpResponse:
    """Show the form, or save it; what was typed stays where something is wrong with it."""
    if request.method == "GET":
        return _draw(request, target, _stored(target), {})
    data = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in _form_fields()}
    try:
        team = (
            None if target else team_for(user_of(request), request.POST.get("team"), Right.OPERATE)
        )
        saved = servers.save_target(data, target, team, seen_in(request))
    except Changed as changed:
        return _draw(request, target, data, {}, changed)
    except Invalid as invalid:
        data["base_url"] = servers.without_user_info(data["base_url"])
        return _draw(request, target, data, invalid.errors)
    why_not = request_probe(saved)
    is_saved = f"{saved.name} is saved"
    messages.success(
        request, f"{is_saved}. {why_not}" if why_not else f"{is_saved}, and is being probed."
    )
    for sentence in servers.to_be_told(saved, data):
        messages.warning(request, sentence)
    return redirect("target", saved.pk)


def _draw(
    request: HttpRequest,
    target: Target | None,
    data: Mapping[str, Any],
    errors: Mapping[str, list[str]],
    changed: Changed | None = None,
) -> HttpResponse:
    fields = _fields(target, data, errors)
    if target is None:
        fields = [*team_field(request, Right.OPERATE, errors.get("team", ())), *fields]
    apart = {*servers.OWNERS_LIMITS, *servers.CERTIFICATES}
    context = {
        "target": target,
        "fields": [field for field in fields if field.name not in apart],
        "certificates": [field for field in fields if field.name in servers.CERTIFICATES],
        "has_certificates": any(data.get(name) for name in servers.CERTIFICATES),
        "limits": {field.name: field for field in fields if field.name in servers.OWNERS_LIMITS},
        "zones": zones(),
        "errors": sum(map(len, errors.values())),
        "moved": changed and of_fields(changed, fields, servers.SECRETS),
        "seen": opened_on(request, servers.revised(target) if target else None, changed),
        "locked": _locked(target),
        "kept": target is not None
        and is_kept(target)
        and target.team_id not in may(request).manage,
    }
    status = 409 if changed else 422 if errors else 200
    return render(request, "targets/form.html", context, status=status)


def _form_fields() -> Mapping[str, Any]:
    return TargetForm(families=servers.families()).fields


def _stored(target: Target | None) -> dict[str, Any]:
    if target is None:
        return {name: field.initial for name, field in _form_fields().items()}
    return servers.as_data(target)


def _fields(
    target: Target | None, data: Mapping[str, Any], errors: Mapping[str, list[str]]
) -> list[Field]:
    """The inputs; no password is ever given back, and a question is asked only where it is one."""
    asked = {
        "forget_password": target is not None and bool(target.password),
        "confirm_address": "confirm_address" in errors or bool(data.get("confirm_address")),
    }
    return [
        from_form(
            name,
            field,
            "" if name in servers.SECRETS else data.get(name, ""),
            errors.get(name, ()),
            unit=UNITS.get(name, ""),
        )
        for name, field in _form_fields().items()
        if asked.get(name, True)
    ]


def _locked(target: Target | None) -> str:
    """What is to be done about a stored password that no key opens; empty where all is well."""
    if target is None:
        return ""
    try:
        for name in servers.SECRETS:
            encryption.decrypt(getattr(target, name))
    except encryption.SecretUnreadable as error:
        return str(error)
    return ""


def _health(
    target: Target, teams: Set[int], *, awaited: bool = False, look: int = 0
) -> dict[str, Any]:
    return {
        "target": target,
        "row": target_rows(teams, [target])[0],
        "awaited": awaited,
        "since": _stamp(target.probed_at),
        "look": look,
    }


def _stamp(moment: datetime | None) -> str:
    return f"{moment.timestamp():.6f}" if moment else ""
