"""Change teams: members, roles, rules."""

from collections.abc import Iterable

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text, form_field, messages_of
from campaigns.kit.mappings import Columns, FieldValues, TemplateContext
from campaigns.kit.rights import NotAllowed, Right, require
from campaigns.models import Membership, Role, Team


class RulesForm(forms.ModelForm):
    """The name of a team, and its rules."""

    class Meta:
        model = Team
        formfield_callback = form_field
        fields = ("name", "approvals_needed", "second_for_production")

    def validate_unique(self) -> None:
        """Leave the check to the constraint of the database, which has one message for both cases."""


RULES = RulesForm.Meta.fields


class MemberForm(forms.Form):
    """An account that becomes a member, or gets new roles; `set_roles` checks it."""

    user = Text(
        max_length=150, required=False, label="Account", help_text="Its name, as it signs in."
    )
    roles = forms.MultipleChoiceField(
        choices=Role.choices,
        required=False,
        initial=[Role.VIEWER],
        widget=forms.CheckboxSelectMultiple,
    )


@transaction.atomic
def create_team(name: str, user: User) -> Team:
    """Create a team, with its creator as admin. Raise Invalid, NotAllowed."""
    require_owner(user)
    team = _stored(Team(), rules_of(Team()) | {"name": name})
    record(Action.TEAM_CREATED, user=user, subject=team)
    Membership.objects.create(team=team, user=user, roles=[Role.ADMIN])
    record(Action.MEMBER_ADDED, user=user, subject=team, member=user.username, roles=[Role.ADMIN])
    return team


def require_owner(user: User) -> None:
    """Raise NotAllowed unless the user is the owner of the installation."""
    if not user.is_superuser:
        raise NotAllowed("Only the owner of the installation makes teams.")


def rules_of(team: Team) -> Columns:
    """Return the values that the revision of a team covers: name and rules."""
    return {name: getattr(team, name) for name in RULES}


def roles_of(team: Team, name: str) -> TemplateContext:
    """Return the values that the revision of a member covers: the roles in a team."""
    row = Membership.objects.filter(team=team, user__username=name).first()
    return {"roles": row.roles if row else []}


@transaction.atomic
def change_rules(team: Team, data: FieldValues, user: User) -> Team:
    """Change name and rules. Raise Invalid, NotVisible, NotAllowed."""
    team = _locked(team, user)
    before = rules_of(team)
    changed = _stored(team, before | dict(data))
    after = rules_of(changed)
    moved = {name: [before[name], after[name]] for name in RULES if before[name] != after[name]}
    if moved:
        record(Action.TEAM_EDITED, user=user, subject=changed, changes=moved)
    return changed


@transaction.atomic
def set_roles(team: Team, name: str, roles: Iterable[str], user: User) -> Membership:
    """Add an account as a member with these roles, or change the roles of a member.

    Raise Invalid, also for removing the last admin; NotVisible, NotAllowed.
    """
    team = _locked(team, user)
    wanted = _roles(roles)
    person = User.objects.filter(username=name, is_active=True).first() if name else None
    if person is None:
        raise Invalid(
            {"user": [f"There is no account “{name[:150]}” that is in use. Invite them by a link."]}
        )
    known = Membership.objects.filter(team=team, user=person).first()
    if known is None:
        record(Action.MEMBER_ADDED, user=user, subject=team, member=person.username, roles=wanted)
        return Membership.objects.create(team=team, user=person, roles=wanted)
    if Role.ADMIN not in wanted:
        _require_another_admin(team, known)
    if known.roles != wanted:
        record(
            Action.MEMBER_CHANGED,
            user=user,
            subject=team,
            member=person.username,
            before=known.roles,
            roles=wanted,
        )
    known.roles = wanted
    known.save(update_fields=["roles"])
    return known


@transaction.atomic
def remove_member(member: Membership, user: User) -> None:
    """Remove a member from a team. Raise Invalid for the last admin; NotVisible, NotAllowed."""
    team = _locked(member.team, user)
    known = Membership.objects.select_related("user").filter(pk=member.pk).first()
    if known is None:
        return
    _require_another_admin(team, known)
    record(
        Action.MEMBER_REMOVED,
        user=user,
        subject=team,
        member=known.user.username,
        roles=known.roles,
    )
    known.delete()


def _locked(team: Team, user: User) -> Team:
    """Lock a team, then check the right, so that two admins do not remove each other at once."""
    row = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    require(user, row, Right.MANAGE)
    return row


def _require_another_admin(team: Team, member: Membership) -> None:
    admins = Membership.objects.filter(
        team=team, roles__contains=[Role.ADMIN], user__is_active=True
    )
    if Role.ADMIN in member.roles and not admins.exclude(pk=member.pk).exists():
        raise Invalid(
            {"roles": ["This is the last admin of the team. Make somebody else an admin first."]}
        )


def _roles(provided: Iterable[str]) -> list[str]:
    wanted = set(map(str, provided))
    if unknown := sorted(wanted - set(Role.values)):
        known = ", ".join(Role.values)
        raise Invalid({"roles": [f"There is no role “{unknown[0][:50]}”; there are {known}."]})
    if not wanted:
        raise Invalid({"roles": ["Give at least one role, or remove the member."]})
    return [role for role in Role.values if role in wanted]


def _stored(team: Team, data: FieldValues) -> Team:
    form = RulesForm(data, instance=team)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    try:
        with transaction.atomic():
            team.save()
    except IntegrityError:
        raise Invalid({"name": [f"There is a team “{team.name}” already."]}) from None
    return team
