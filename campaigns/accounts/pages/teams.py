"""Pages of teams: list, members and rules, and the people of the installation."""

from collections.abc import Callable
from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.accounts import queries, teams
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import add_errors
from campaigns.kit.pages.moved import Difference, Moved, moved, of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.revisions import Changed, Data, held, revision_of
from campaigns.kit.rights import ACTIVITIES, RIGHTS, Right, find
from campaigns.models import Membership, Role, Team


class MemberRow(NamedTuple):
    """A member with the form of roles. seen: the revision of the roles."""

    member: Membership
    form: teams.MemberForm
    rights: str
    seen: str


OWNER_ALONE = "Only the owner of the installation sees all accounts and makes teams."


@require_http_methods(["GET", "POST"])
@takes(Right.SEE)
def team_list(request: HttpRequest) -> HttpResponse:
    """List the teams of the user. The owner of the installation sees all teams, and can create one."""
    user = user_of(request)
    form, wrong = teams.RulesForm(posted(request)), False
    if request.method == "POST":
        try:
            made = teams.create_team(request.POST.get("name", ""), user)
        except Invalid as invalid:
            wrong = True
            add_errors(form, invalid)
        else:
            messages.success(request, f"The team “{made}” is made; add its members.")
            return redirect("team", made.pk)
    context = {
        "rows": queries.team_rows(user),
        "form": form if user.is_superuser else None,
        "roles": [
            (role.label, "; ".join(ACTIVITIES[right] for right in Right if right in RIGHTS[role]))
            for role in Role
        ],
    }
    return render(request, "accounts/teams/list.html", context, status=422 if wrong else 200)


@require_GET
@takes(Right.SEE, Team)
def team(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the members of a team with their roles, and its rules; an admin can change both."""
    return _page(request, find(Team.objects.all(), user_of(request), pk=pk))


@require_POST
@takes(Right.MANAGE, Team)
def team_rules(request: HttpRequest, pk: int) -> HttpResponse:
    """Change name and rules of a team."""
    form = teams.RulesForm(request.POST, instance=get_object_or_404(Team, pk=pk))
    data = {name: request.POST.get(name, "") for name in form.fields}
    return _changed(
        request,
        pk,
        lambda result: teams.change_rules(result, data, user_of(request)),
        "The rules are saved.",
        teams.rules_of,
        rules=form,
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
        lambda result: teams.set_roles(result, name, roles, user_of(request)),
        f"{name} is {queries.roles_text([role for role in Role.values if role in roles])}.",
        lambda result: teams.roles_of(result, name),
        member=teams.MemberForm(request.POST),
    )


@require_POST
@takes(Right.MANAGE, Membership)
def member_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a member from a team."""
    user = user_of(request)
    membership = find(Membership.objects.select_related("user", "team"), user, Right.MANAGE, pk=pk)
    try:
        teams.remove_member(membership, user)
    except Invalid as invalid:
        for texts in invalid.errors.values():
            for text in texts:
                messages.warning(request, text)
    else:
        messages.success(request, f"{membership.user} is not in “{membership.team}” any more.")
    still = membership.team_id in may(request).see and (
        membership.user != user or user.is_superuser
    )
    return redirect("team", membership.team_id) if still else redirect("team-list")


@require_GET
@takes(Right.SEE)
def people(request: HttpRequest) -> HttpResponse:
    """List all accounts with their teams, those without a team first. Only for the owner of the installation."""
    if not user_of(request).is_superuser:
        raise PermissionDenied(OWNER_ALONE)
    rows = [
        (person, [(each.team, queries.roles_text(each.roles)) for each in person.memberships.all()])
        for person in queries.people()
    ]
    return render(request, "accounts/teams/people.html", {"rows": rows})


def _changed(
    request: HttpRequest,
    pk: int,
    act: Callable[[Team], object],
    done: str,
    revised: Callable[[Team], Data],
    *,
    rules: teams.RulesForm | None = None,
    member: teams.MemberForm | None = None,
) -> HttpResponse:
    """Call `act` with a team. If it is refused, show the page with the form and its errors."""
    row = find(Team.objects.all(), user_of(request), Right.MANAGE, pk=pk)
    try:
        with held(row, revised, seen_in(request)):
            act(row)
    except Invalid as invalid:
        add_errors(rules or member or teams.MemberForm(), invalid)
        return _page(request, Team.objects.get(pk=pk), rules=rules, member=member, status=422)
    except Changed as changed:
        row = Team.objects.get(pk=pk)
        return _page(request, row, changed=changed, rules=rules, member=member, status=409)
    messages.success(request, done)
    return redirect("team", pk)


def _page(
    request: HttpRequest,
    result: Team,
    *,
    changed: Changed | None = None,
    rules: teams.RulesForm | None = None,
    member: teams.MemberForm | None = None,
    status: int = 200,
) -> HttpResponse:
    stored = teams.rules_of(result)
    new_member = member or teams.MemberForm()
    ticked = {member["user"].value(): member["roles"].value()} if member and changed else {}
    context = {
        "team": result,
        "rows": [
            MemberRow(
                row,
                teams.MemberForm(
                    initial={"roles": ticked.get(row.user.username, row.roles)}, auto_id=False
                ),
                queries.roles_text(row.roles),
                revision_of({"roles": row.roles}),
            )
            for row in queries.members_of(result)
        ],
        "rules": rules or teams.RulesForm(instance=result),
        "rules_seen": opened_on(request, stored, changed) if rules else revision_of(stored),
        "moved": changed and (of_form(changed, rules) if rules else _moved(changed, new_member)),
        "new_member": new_member,
    }
    return render(request, "accounts/teams/team.html", context, status=status)


def _moved(changed: Changed, member: teams.MemberForm) -> Moved:
    """Return the roles of a member as they are stored and as they were ticked."""
    label = f"Roles of {member['user'].value()}"
    now = queries.roles_text(changed.stored["roles"])
    return moved(changed, [Difference(label, now, queries.roles_text(member["roles"].value()))])
