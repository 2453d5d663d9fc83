"""Teams: list, page with members and rules, and the people of the installation."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.accounts import queries as queries
from campaigns.accounts import teams
from campaigns.kit.errors import Invalid
from campaigns.kit.owners import find
from campaigns.kit.pages.fields import Choice, from_form
from campaigns.kit.pages.moved import Difference, Moved, moved, of_fields, opened_on, seen_in
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.revisions import Changed, Data, held, revision_of
from campaigns.kit.rights import IN_WORDS, RIGHTS, Right
from campaigns.models import Membership, Role, Team

Errors = Mapping[str, list[str]]


class MemberRow(NamedTuple):
    """A member with the roles to tick. seen: the revision of the roles."""

    member: Membership
    choices: list[Choice]
    words: str
    seen: str


OWNER_ALONE = "Only the owner of the installation sees all accounts and makes teams."


@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def team_list(request: HttpRequest) -> HttpResponse:
    """The teams that one is in; the owner of the installation sees all, and makes new ones."""
    user = user_of(request)
    name, errors = request.POST.get("name", ""), {}
    if request.method == "POST":
        try:
            made = teams.create_team(name, user)
        except Invalid as invalid:
            errors = dict(invalid.errors)
        else:
            messages.success(request, f"The team “{made}” is made; add its members.")
            return redirect("team", made.pk)
    context = {
        "rows": queries.team_rows(user),
        "field": from_form(
            "name", teams.RulesForm.base_fields["name"], name, errors.get("name", ())
        )
        if user.is_superuser
        else None,
        "roles": [
            (role.label, "; ".join(IN_WORDS[right] for right in Right if right in RIGHTS[role]))
            for role in Role
        ],
    }
    return render(request, "accounts/teams/list.html", context, status=422 if errors else 200)


@require_GET
@takes(Right.SEE, Team)
def team(request: HttpRequest, pk: int) -> HttpResponse:
    """Members with their roles, and the rules; an admin changes them."""
    return _page(request, find(Team.objects.all(), user_of(request), pk=pk))


@require_POST
@takes(Right.MANAGE, Team)
def team_rules(request: HttpRequest, pk: int) -> HttpResponse:
    """Change name and rules."""
    data = {
        "name": request.POST.get("name", ""),
        "approvals_needed": request.POST.get("approvals_needed", ""),
        "second_for_production": request.POST.get("second_for_production") == "on",
    }
    return _changed(
        request,
        pk,
        lambda found: teams.change_rules(found, data, user_of(request)),
        "The rules are saved.",
        teams.rules_of,
        rules=data,
    )


@require_POST
@takes(Right.MANAGE, Team)
def team_member(request: HttpRequest, pk: int) -> HttpResponse:
    """Add an account by its name, or change the roles of a member."""
    name = request.POST.get("user", "").replace("\x00", "").strip()
    roles = request.POST.getlist("roles")
    return _changed(
        request,
        pk,
        lambda found: teams.set_roles(found, name, roles, user_of(request)),
        f"{name} is {queries.in_words([role for role in Role.values if role in roles])}.",
        lambda found: teams.roles_of(found, name),
        member={"user": name, "roles": roles},
    )


@require_POST
@takes(Right.MANAGE, Membership)
def member_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Take somebody out of a team."""
    user = user_of(request)
    found = find(Membership.objects.select_related("user", "team"), user, Right.MANAGE, pk=pk)
    try:
        teams.remove_member(found, user)
    except Invalid as invalid:
        for texts in invalid.errors.values():
            for text in texts:
                messages.warning(request, text)
    else:
        messages.success(request, f"{found.user} is not in “{found.team}” any more.")
    still = found.team_id in may(request).see and (found.user != user or user.is_superuser)
    return redirect("team", found.team_id) if still else redirect("team-list")


@require_GET
@takes(Right.SEE)
def people(request: HttpRequest) -> HttpResponse:
    """All accounts with their teams; those in none come first. For the owner alone."""
    if not user_of(request).is_superuser:
        raise PermissionDenied(OWNER_ALONE)
    rows = [
        (person, [(each.team, queries.in_words(each.roles)) for each in person.memberships.all()])
        for person in queries.people()
    ]
    return render(request, "accounts/teams/people.html", {"rows": rows})


def _changed(
    request: HttpRequest,
    pk: int,
    act: Callable[[Team], object],
    done: str,
    revised: Callable[[Team], Data],
    **sent: Any,
) -> HttpResponse:
    found = find(Team.objects.all(), user_of(request), Right.MANAGE, pk=pk)
    try:
        with held(found, revised, seen_in(request)):
            act(found)
    except Invalid as invalid:
        return _page(request, Team.objects.get(pk=pk), invalid.errors, **sent)
    except Changed as changed:
        return _page(request, Team.objects.get(pk=pk), changed=changed, **sent)
    messages.success(request, done)
    return redirect("team", pk)


def _page(
    request: HttpRequest,
    found: Team,
    errors: Errors | None = None,
    *,
    changed: Changed | None = None,
    rules: Mapping[str, Any] | None = None,
    member: Mapping[str, Any] | None = None,
) -> HttpResponse:
    stored = teams.rules_of(found)
    of_rules = (errors or {}) if rules is not None else {}
    of_member = (errors or {}) if member is not None else {}
    sent = member or {"user": "", "roles": [Role.VIEWER]}
    drawn = [
        from_form(name, field, (rules or stored)[name], of_rules.get(name, ()))
        for name, field in teams.RulesForm.base_fields.items()
    ]
    typed = sent if changed else {"user": ""}
    context = {
        "team": found,
        "rows": [
            MemberRow(
                row,
                _choices(sent["roles"] if row.user.username == typed["user"] else row.roles),
                queries.in_words(row.roles),
                revision_of({"roles": row.roles}),
            )
            for row in queries.members_of(found)
        ],
        "rules": drawn,
        "rules_seen": opened_on(request, stored, changed) if rules else revision_of(stored),
        "moved": changed and (of_fields(changed, drawn) if rules else _moved(changed, sent)),
        "new_member": from_form(
            "user", teams.MemberForm.base_fields["user"], sent["user"], of_member.get("user", ())
        ),
        "roles": _choices(sent["roles"]),
        "role_errors": of_member.get("roles", ()),
    }
    status = 409 if changed else 422 if errors else 200
    return render(request, "accounts/teams/team.html", context, status=status)


def _moved(changed: Changed, sent: Mapping[str, Any]) -> Moved:
    """The roles of a member, as they are now and as they were ticked."""
    label = f"Roles of {sent['user']}"
    now = queries.in_words(changed.stored["roles"])
    return moved(changed, [Difference(label, now, queries.in_words(sent["roles"]))])


def _choices(roles: Any) -> list[Choice]:
    return [Choice(role, role.label, role in roles) for role in Role]
