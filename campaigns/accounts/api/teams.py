"""REST resource of teams, their members with roles, and their rules."""

from typing import Any, ClassVar

from django.db.models import Model
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts import teams
from campaigns.accounts.queries import members_of
from campaigns.accounts.teams import RULES
from campaigns.kit.api.inputs import Flag, Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput, OfModel, Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import Right, find, rights_in, teams_with
from campaigns.models import Membership, Role, Team

TAG = "teams"


class TeamInput(Input):
    """A new team."""

    name = serializers.CharField(max_length=100)


class RulesInput(Input, OfModel[Team]):
    """Changes of a team's rules."""

    second_for_production = Flag()

    class Meta:
        model = Team
        fields = RULES
        extra_kwargs = {"name": {"required": False, "validators": []}}


class RolesInput(Input):
    """All roles of a member."""

    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), min_length=1)


class TeamOutput(ModelOutput[Team]):
    """A team and its rules. `rights`: those of the user."""

    url = serializers.HyperlinkedIdentityField("api-team")
    rights = serializers.SerializerMethodField()

    class Meta:
        model = Team
        fields = ["id", "url", *RULES, "rights"]

    @extend_schema_field(
        serializers.ListField(
            child=serializers.ChoiceField(choices=[(r.value, r.value) for r in Right])
        )
    )
    def get_rights(self, team: Team) -> list[str]:
        """Return the rights of the user in the team."""
        rights = rights_in(self.context["request"].user, team)
        return [right for right in Right if right in rights]


class MemberOutput(Selectable):
    """A member of a team with roles."""

    user = serializers.CharField(source="user.username")
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    joined_at = serializers.DateTimeField()
    is_active = serializers.BooleanField(source="user.is_active")


class Teams(Api):
    """GET: the teams that the user may see. POST: a new one, by the owner of the installation."""

    takes = {"post": Right.SEE}

    @operation("list_teams", TAG, answer=TeamOutput)
    def get(self, request: Request) -> Response:
        """List your teams by name; the owner of the installation sees all."""
        return self.page(teams_with(self.user), TeamOutput, "name")

    @operation("create_team", TAG, body=TeamInput, answer=TeamOutput)
    def post(self, request: Request) -> Response:
        """Create a team. Only the owner of the installation can, and becomes its admin."""
        teams.require_owner(self.user)
        made = teams.create_team(self.read(TeamInput)["name"], self.user)
        data = self.shown(made, TeamOutput)
        return Response(data, status=status.HTTP_201_CREATED, headers={"Location": data["url"]})


class OfTeam(Api):
    """Base of the views of one team."""

    of: ClassVar[type[Model] | None] = Team

    def team(self, pk: int) -> Team:
        """Return the team. Raise NotVisible."""
        return find(Team.objects.all(), self.user, pk=pk)


class OneTeam(OfTeam):
    """GET: a team. PATCH: its rules."""

    takes = {"patch": Right.MANAGE}

    @operation("get_team", TAG, answer=TeamOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return a team with its rules."""
        return self.one(self.team(pk), TeamOutput, teams.rules_of)

    @operation("edit_team", TAG, body=RulesInput, answer=TeamOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent, as an admin."""
        team, sent = self.team(pk), self.read(RulesInput)
        with self.unchanged(team, teams.rules_of):
            changed = teams.change_rules(team, sent, self.user)
        return Response(self.shown(changed, TeamOutput))


class Members(OfTeam):
    """GET: the members of a team."""

    @operation("list_members", TAG, answer=MemberOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """List the members of a team by name."""
        rows = members_of(self.team(pk))
        return self.whole([self.shown(row, MemberOutput) for row in rows], MemberOutput)


class OneMember(OfTeam):
    """GET: a member. PUT: set the roles of a member, or add one. DELETE: remove a member."""

    takes = {"put": Right.MANAGE, "delete": Right.MANAGE}

    @operation("get_member", TAG, answer=MemberOutput)
    def get(self, request: Request, pk: int, user: str) -> Response:
        """Return one member of a team."""
        return self.one(
            self.member(pk, user), MemberOutput, lambda row: teams.roles_of(row.team, user)
        )

    @operation("replace_member", TAG, body=RolesInput, answer=MemberOutput)
    def put(self, request: Request, pk: int, user: str) -> Response:
        """Set the roles of an account in the team; adds the account if it is not a member."""
        sent, team, name = self.read(RolesInput), self.team(pk), user.replace("\x00", "")
        with self.unchanged(team, lambda locked: teams.roles_of(locked, name)):
            made = teams.set_roles(team, name, sent["roles"], self.user)
        return Response(self.shown(made, MemberOutput))

    @operation("delete_member", TAG)
    def delete(self, request: Request, pk: int, user: str) -> Response:
        """Remove a member from a team. The last admin cannot be removed."""
        member = self.member(pk, user)
        try:
            with self.unchanged(member.team, lambda team: teams.roles_of(team, user)):
                teams.remove_member(member, self.user)
        except Invalid as invalid:
            labels: list[Any] = [text for texts in invalid.errors.values() for text in texts]
            raise NotPossible(" ".join(labels)) from None
        return Response(status=status.HTTP_204_NO_CONTENT)

    def member(self, pk: int, user: str) -> Membership:
        """Return a member of a team by user name. Raise Http404."""
        rows = Membership.objects.select_related("user", "team").filter(team=self.team(pk))
        return get_object_or_404(rows, user__username=user.replace("\x00", ""))
