"""REST resource of invitations to a team: create, list, revoke. An invitation is accepted in a browser."""

import json
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts import invitations
from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import Right
from campaigns.models import Invitation, Role, Team

TAG = "teams"


class InvitationInput(Input):
    """A new invitation. `note`: a text to recognise it by; `days`: how long it is valid."""

    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), min_length=1)
    note = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    days = serializers.IntegerField(
        min_value=1, max_value=invitations.MOST_DAYS, default=invitations.USUAL_DAYS
    )


class InvitationOutput(Selectable, serializers.ModelSerializer[Invitation]):
    """An invitation without its link, of which only the hash is stored."""

    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    state = serializers.ChoiceField(choices=invitations.STATES)
    made_by = serializers.CharField(source="made_by.username")
    used_by = serializers.CharField(source="used_by.username", default=None, allow_null=True)

    class Meta:
        model = Invitation
        fields = [
            "id",
            "roles",
            "note",
            "state",
            "made_by",
            "created_at",
            "expires_at",
            "used_by",
            "used_at",
            "revoked_at",
        ]


class NewInvitationOutput(InvitationOutput):
    """A new invitation. `address`: the only copy of its link; null if it was returned before."""

    address = serializers.SerializerMethodField()

    class Meta(InvitationOutput.Meta):
        fields = [*InvitationOutput.Meta.fields, "address"]

    def get_address(self, invitation: Invitation) -> str | None:
        """Return the URL for the invited person."""
        text: str | None = self.context.get("address")
        return text


class Invitations(Api):
    """GET: invitations to a team. POST: a new one."""

    of = Team
    takes = {"get": Right.MANAGE, "post": Right.MANAGE}

    def to_store(self, body: bytes) -> bytes:
        """Remove the link from the stored answer: only its hash may be stored."""
        return json.dumps(json.loads(body) | {"address": None}).encode()

    @operation("list_invitations", TAG, answer=InvitationOutput)
    def get(self, request: Request, pk: int) -> Response:
        """List the invitations to a team, the newest first, including those no longer valid."""
        return self.page(invitations.of(get_object_or_404(Team, pk=pk)), InvitationOutput, "-pk")

    @operation("make_invitation", TAG, body=InvitationInput, answer=NewInvitationOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Create a link that makes one account a member of the team. `address` is returned only here."""
        team = get_object_or_404(Team, pk=pk)
        made = invitations.make(self.user, team, **self.read(InvitationInput))
        address = request.build_absolute_uri(reverse("invitation", args=[made.text]))
        row = invitations.of(team).get(pk=made.invitation.pk)
        data: Any = self.shown(row, NewInvitationOutput, address=address)
        return Response(data, status=status.HTTP_201_CREATED)


class RevokeInvitation(Api):
    """POST: revoke an invitation."""

    of = Invitation
    takes = {"post": Right.MANAGE}

    @operation("revoke_invitation", TAG, answer=InvitationOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Revoke an unused invitation for good; its record stays."""
        invitation = get_object_or_404(Invitation.objects.select_related("team"), pk=pk)
        invitations.revoke(self.user, invitation)
        row = invitations.of(invitation.team).get(pk=pk)
        if row.state == invitations.USED:
            raise NotPossible(f"{row.used_by} has used it; take the member out of the team.")
        return Response(self.shown(row, InvitationOutput))
