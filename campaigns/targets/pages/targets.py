"""Pages of targets: list, page, form, probe, retire."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django.contrib import messages
from django.contrib.auth.models import User
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kit import encryption
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors, ask_again, is_key
from campaigns.kit.mappings import Json, TemplateContext
from campaigns.kit.pages.forms import problems_of
from campaigns.kit.pages.moved import of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import may, takes, team_form, user_of
from campaigns.kit.pages.sorting import Sort
from campaigns.kit.revisions import Changed
from campaigns.kit.rights import Right, team_for
from campaigns.models import Target, Watch
from campaigns.targets import feeds, quiet_hours, rights, saving, ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.targets.forms import (
    CERTIFICATES,
    DESCRIBED,
    LIMITS,
    SECRETS,
    SERVER,
    WATCHED,
    TargetForm,
)
from campaigns.targets.holders import TargetRow, target_rows
from campaigns.targets.pages.populations import populations_context
from campaigns.targets.probes import request_look, request_probe
from campaigns.targets.production import is_protected
from campaigns.targets.reaching import ssh_of
from campaigns.targets.settings import as_levels
from campaigns.targets.ssh_logins import is_admin
from campaigns.targets.watches.registry import all_sources
from campaigns.targets.watches.rows import groups_of

OPERATE = Right.OPERATE
COLUMNS: Mapping[str, Callable[[TargetRow], Any]] = {
    "name": lambda row: row.target.name.lower(),
    "health": lambda row: row.target.health,
    "family": lambda row: row.target.family,
    "address": lambda row: row.address,
    "probed": lambda row: row.target.probed_at,
    "lease": lambda row: row.held_by or None,
}
"""The columns of the list of targets, with their sort keys."""
MOST_LOOKS = 20
"""The number of times that the page asks for the result of a probe, once a second."""

CONTINENTS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


@require_GET
@takes(Right.SEE)
def target_list(request: HttpRequest) -> HttpResponse:
    """List all targets in use."""
    sort = Sort.parse(request.GET.get("sort", ""), COLUMNS)
    rows = sort.apply(target_rows(may(request).see), COLUMNS)
    return render(request, "targets/list.html", {"rows": rows, "sort": sort})


@require_GET
@takes(Right.SEE, Target)
def target_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a target, also a retired one, since campaigns refer to it."""
    target = get_object_or_404(Target, pk=pk)
    campaigns = target.campaign_set.order_by("-created_at")[:10]
    context = _health(target, may(request).see) | {
        "campaigns": campaigns,
        "quiet": quiet_of(target),
        "locked": _locked(target),
        **settings_context(target, user_of(request)),
        **watches_context(target),
        **populations_context(target),
    }
    return render(request, "targets/target.html", context)


@require_GET
@takes(Right.SEE, Target)
def target_health(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the panel of health and lease. `since` and `look` are sent while a probe is awaited."""
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
    """Request a probe of the target."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    why_not = request_probe(target)
    if request.headers.get("HX-Request"):
        awaited = not why_not or target.probe_began_at is not None
        context = _health(target, may(request).see, awaited=awaited, look=1) | {"why_not": why_not}
        return render(request, "targets/_health.html", context)
    started = f"{target.name} is being probed; reload in a few seconds."
    messages.info(request, why_not or started)
    return redirect("target", pk)


@require_POST
@takes(Right.MANAGE, Target)
def target_rights(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm the rights of the login that were shown, or withdraw that. `campaign`: the draft whose page is shown again."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    try:
        if request.POST.get("act") == "withdraw":
            rights.withdraw_rights(target, user_of(request))
            messages.success(
                request, f"The rights of the login of {target.name} are confirmed no more."
            )
        else:
            rights.confirm_rights(target, request.POST.getlist("rights"), user_of(request))
            messages.success(request, f"The rights of the login of {target.name} are confirmed.")
    except Invalid as invalid:
        for message in invalid.errors["rights"]:
            messages.warning(request, message)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    campaign = request.POST.get("campaign", "")
    return redirect("campaign", int(campaign)) if is_key(campaign) else redirect("target", pk)


@require_POST
@takes(Right.OPERATE, Target)
def target_feed(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw the confirmed address of a feed."""
    target, rule = get_object_or_404(Target, pk=pk, retired_at=None), request.POST.get("rule", "")
    try:
        feeds.withdraw_feed(target, rule, user_of(request))
        messages.success(request, f"Workers read {rule} no more for {target.name}.")
    except Invalid as invalid:
        for message in invalid.errors["rule"]:
            messages.warning(request, message)
    return redirect("target", pk)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE)
def target_new(request: HttpRequest) -> HttpResponse:
    """Create a target."""
    return _form_page(request, None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def target_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a target."""
    return _form_page(request, get_object_or_404(Target, pk=pk, retired_at=None))


@require_GET
@takes(Right.OPERATE)
def target_owner(request: HttpRequest) -> HttpResponse:
    """Render the question whether the server at an address is the user's own; empty if the address does not ask for it."""
    key = request.GET.get("target", "")
    known = Target.objects.filter(team__in=may(request).operate, pk=int(key)) if is_key(key) else ()
    data = {name: request.GET.get(name, "") for name in ("base_url", "confirm_address")}
    form = TargetForm(data, target=next(iter(known), None))
    return render(
        request, "targets/_owner.html", {"owner": owner_of(form) if form.asks_owner() else None}
    )


@require_POST
@takes(Right.OPERATE, Target)
def target_retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a target out of the lists."""
    target = get_object_or_404(Target, pk=pk, retired_at=None)
    try:
        saving.retire_target(target)
    except Invalid as invalid:
        for message in invalid.errors[""]:
            messages.warning(request, message)
        return redirect("target", pk)
    messages.success(request, f"{target.name}. Its campaigns stay as they are.")
    return redirect("target-list")


def _form_page(request: HttpRequest, target: Target | None) -> HttpResponse:
    """Show the form, or save its input. A form with errors keeps its input."""
    form, invalid, changed = None, None, None
    if request.method == "POST":
        try:
            team = None if target else team_for(user_of(request), request.POST.get("team"), OPERATE)
            form = TargetForm(posted(request), target=target or Target(team=team))
            return _saved(request, form, saving.save(form, seen_in(request)))
        except Changed as error:
            changed = error
        except Invalid as error:
            invalid = error
    form = form or TargetForm(posted(request), target=target)
    if invalid:
        add_errors(form, invalid)
    if invalid or changed:
        ask_again(form, SECRETS)
    stored = form.stored
    folds = {
        "described": DESCRIBED,
        "certificates": CERTIFICATES,
        "limits": LIMITS,
        "watched": WATCHED,
    }
    context = {
        "form": form,
        "target": target and stored,
        "team": team_form(request, OPERATE, invalid) if target is None else None,
        "server": [form[name] for name in SERVER if name in form.fields],
        "described": [form[name] for name in DESCRIBED],
        "certificates": [form[name] for name in CERTIFICATES],
        "watched": [form[name] for name in WATCHED],
        "is_open": {
            fold: any(_is_touched(form, name) for name in names) for fold, names in folds.items()
        },
        "owner": owner_of(form),
        "zones": zones(),
        "errors": problems_of(form) if invalid else [],
        "moved": changed and of_form(changed, form, SECRETS),
        "seen": opened_on(request, saving.revised(stored) if target else None, changed),
        "locked": _locked(target and stored),
        "mark_is_protected": target is not None
        and is_protected(stored)
        and stored.team_id not in may(request).manage,
    }
    status = 409 if changed else 422 if invalid else 200
    return render(request, "targets/form.html", context, status=status)


def _is_touched(form: TargetForm, name: str) -> bool:
    """Return whether a field that is folded has an error, or another value than an empty form."""
    known = ("", None, False, Target._meta.get_field("quiet_zone").get_default())
    return bool(form[name].errors) or form[name].value() not in known


def owner_of(form: TargetForm) -> BoundField | None:
    """Return the question whether the server is the user's own, if its address asks for that; None if it does not."""
    box = form["confirm_address"]
    return box if box.errors or box.value() or form.asks_owner() else None


LOGIN = frozenset({"base_url", "username", "password"})


def _saved(request: HttpRequest, form: TargetForm, target: Target) -> HttpResponse:
    # Not after any save: somebody may have deleted what commands use.
    has_login = not LOGIN.isdisjoint(form.changed_data)
    if (
        has_login
        and is_admin(user_of(request))
        and ssh_logins.take_own_login(target, user_of(request))
    ):
        request_look(target)
    why_not = request_probe(target)
    is_saved = f"{target.name} is saved"
    messages.success(
        request, f"{is_saved}. {why_not}" if why_not else f"{is_saved}, and is being probed."
    )
    for sentence in saving.remarks_on(target, form.cleaned_data):
        messages.warning(request, sentence)
    return redirect("target", target.pk)


def _locked(target: Target | None) -> str:
    """Return what to do about a stored password that no key decrypts; empty where one does."""
    if target is None:
        return ""
    try:
        for name in SECRETS:
            encryption.decrypt(getattr(target, name))
    except encryption.SecretUnreadable as error:
        return str(error)
    return ""


def _health(
    target: Target, teams: Set[int], *, awaited: bool = False, look: int = 0
) -> TemplateContext:
    return {
        "target": target,
        "row": target_rows(teams, [target])[0],
        "proved": all(proof["ok"] for proof in target.proofs),
        "awaited": awaited,
        "since": _stamp(target.probed_at),
        "look": look,
    }


def _stamp(moment: datetime | None) -> str:
    return f"{moment.timestamp():.6f}" if moment else ""


def settings_context(target: Target, user: User | None) -> TemplateContext:
    """Return the context of `targets/_settings.html`."""
    login = ssh_of(target)
    return {
        "settings": [
            (row, as_levels(row), (action_text(row.apply), action_text(row.read_back)))
            for row in target.setting_rows.all()
        ],
        "steps": [(step, action_text(step.action)) for step in target.steps.all()],
        "ssh": login,
        "accepted": fingerprint_of(login.host_key) if login else "",
        "offered": fingerprint_of(login.offered_key) if login else "",
        "may_command": user is not None and is_admin(user),
    }


@dataclass(frozen=True, slots=True)
class WatchRow:
    """A watch on the page of its target. accepted, offered: fingerprints of host keys."""

    watch: Watch
    label: str
    accepted: str
    offered: str


def watches_context(target: Target) -> TemplateContext:
    """Return the context of `targets/_watches.html`."""
    sources = all_sources()
    return {
        "watches": [
            WatchRow(
                row,
                sources[row.source].label if row.source in sources else row.source,
                fingerprint_of(row.host_key),
                fingerprint_of(row.offered_key),
            )
            for row in target.watches.all()
        ],
        "sources": list(sources.values()),
        "groups": groups_of(target),
        "has_own_groups": target.process_groups is not None,
    }


def action_text(action: Json) -> str:
    """Return a short text on an action."""
    match action.get("way"):
        case "http":
            return f"by {action.get('method', 'GET')} {action.get('url', '')}"
        case "command":
            return f"by the command {' '.join(action.get('arguments', ()))[:60]}"
        case "sql":
            return f"by SQL: {action.get('parameter', '')}"
    return "by hand"


@dataclass(frozen=True, slots=True)
class Quiet:
    """The current state of the quiet hours of a target.

    ends_at: the end of the current ones. begins_at: the start of the next ones, if there are none now.
    problem: why the stored hours are invalid.
    """

    lines: tuple[str, ...]
    zone: str
    ends_at: datetime | None = None
    begins_at: datetime | None = None
    problem: str = ""


def quiet_of(target: Target) -> Quiet | None:
    """Return the quiet hours of a target; None where it has none."""
    lines = tuple(line for line in target.quiet_hours.splitlines() if line.strip())
    if not lines:
        return None
    now = timezone.now()
    try:
        hours = quiet_hours.parse(target.quiet_hours)
        ends_at = hours.ends_at(now, target.quiet_zone)
        begins_at = None if ends_at else hours.begins_at(now, target.quiet_zone)
    except quiet_hours.BadQuietHours as error:
        return Quiet(lines, target.quiet_zone, problem=str(error))
    return Quiet(lines, target.quiet_zone, ends_at, begins_at)


@cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones to choose from; others are valid as well."""
    named = (name for name in available_timezones() if name.partition("/")[0] in CONTINENTS)
    return ("UTC", *sorted(named))
