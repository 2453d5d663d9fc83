"""REST resource of one's own notification channels and their deliveries."""

import json
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts.filters import DeliveryFilters
from campaigns.accounts.notifications import channels, defaults
from campaigns.accounts.notifications.sent_messages import deliveries_of, told
from campaigns.kit.api.inputs import Flag, Input, Text
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right
from campaigns.models import Announcement, Channel, Delivery

TAG = "notifications"
KINDS = channels.CHOICES


class ChannelChange(Input):
    """What is changed of a channel. An `address` is replaced, never told; `teams`: empty for all."""

    name = Text()
    address = Text()
    is_on = Flag()
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=KINDS), required=False, max_length=len(KINDS)
    )
    teams = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1),
        required=False,
        max_length=100,
    )


class ChannelInput(ChannelChange):
    """A channel. `address`: an e-mail address, a URL, or the address of a chat service."""

    kind = serializers.ChoiceField(choices=Channel.Kind.choices)


class ChannelOutput(Selectable, serializers.ModelSerializer[Channel]):
    """A channel of one's own. `place`: as much of its address as is shown."""

    kinds = serializers.ListField(child=serializers.ChoiceField(choices=KINDS))
    teams = serializers.ListField(child=serializers.IntegerField())
    place = serializers.SerializerMethodField()

    class Meta:
        model = Channel
        fields = [
            "id",
            "name",
            "kind",
            "place",
            "kinds",
            "teams",
            "is_on",
            "off_reason",
            "is_confirmed",
            "created_at",
        ]

    def get_place(self, channel: Channel) -> str:
        """That of the account follows its address."""
        return channel.user.email if channels.is_default(channel) else channel.place


class NewChannelOutput(ChannelOutput):
    """A channel with the `secret` of a webhook, told this once; null for other kinds."""

    secret = serializers.SerializerMethodField()

    class Meta(ChannelOutput.Meta):
        fields = [*ChannelOutput.Meta.fields, "secret"]

    def get_secret(self, channel: Channel) -> str | None:
        """As it was just made."""
        return self.context.get("secret") or None


class DeliveryOutput(Selectable):
    """One message by one channel. `subject` tells nothing that its person may not see any more."""

    id = serializers.IntegerField()
    uid = serializers.UUIDField()
    channel = serializers.IntegerField()
    channel_name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Announcement.Kind.choices)
    subject = serializers.CharField()
    state = serializers.ChoiceField(choices=Delivery.State.choices)
    tries = serializers.IntegerField()
    message = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    next_try_at = serializers.DateTimeField(allow_null=True)
    delivered_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Tell of a row."""
        from_row = told(instance) if isinstance(instance, Delivery) else instance
        return dict(super().to_representation(from_row))


class ShowsSecret(Api):
    """A view whose answer holds a secret: nothing keeps that, and repeated it is null."""

    def to_store(self, body: bytes) -> bytes:
        """Leave the secret out."""
        return json.dumps(json.loads(body) | {"secret": None}).encode()


class Channels(ShowsSecret):
    """GET: one's own channels. POST: a new one."""

    takes = {"post": Right.SEE}

    @operation("list_channels", TAG, answer=ChannelOutput, whole=True)
    def get(self, request: Request) -> Response:
        """Your own channels: by which ways you are told of what."""
        defaults.give_default_channels([self.user])
        rows = self.user.channels.select_related("user")
        return self.whole([self.shown(row, ChannelOutput) for row in rows], ChannelOutput)

    @operation("create_channel", TAG, body=ChannelInput, answer=NewChannelOutput)
    def post(self, request: Request) -> Response:
        """Add a channel; `secret` is that of a webhook, told this once.

        Another e-mail address than the account's is told of nothing until its link was opened.
        """
        row, secret = channels.save_channel(self.read(ChannelInput), self.user)
        return Response(
            self.shown(row, NewChannelOutput, secret=secret), status=status.HTTP_201_CREATED
        )


class OneChannel(Api):
    """GET: one of them. PATCH: change it. DELETE: delete it."""

    takes = {"patch": Right.SEE, "delete": Right.SEE}

    @operation("get_channel", TAG, answer=ChannelOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One of your own channels."""
        return self.one(_mine(self, pk), ChannelOutput, channels.revised)

    @operation("edit_channel", TAG, body=ChannelChange, answer=ChannelOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent. Switched on, a channel begins anew."""
        row, sent = _mine(self, pk), self.read(ChannelChange)
        with self.unchanged(row, channels.revised):
            row, _ = channels.save_channel(sent, self.user, row)
        return Response(self.shown(row, ChannelOutput))

    @operation("delete_channel", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a channel with its deliveries; that of the account can only be switched off."""
        row = _mine(self, pk)
        with self.unchanged(row, channels.revised):
            channels.delete_channel(row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Trial(Api):
    """POST: have a trial delivered."""

    takes = {"post": Right.SEE}

    @operation("try_channel", TAG, answer=DeliveryOutput, code=status.HTTP_202_ACCEPTED)
    def post(self, request: Request, pk: int) -> Response:
        """Have a trial delivered by a channel, also by one that is off; six in ten minutes."""
        made = deliveries_of(self.user).get(pk=channels.try_out(_mine(self, pk)).pk)
        return Response(self.shown(made, DeliveryOutput), status=status.HTTP_202_ACCEPTED)


class Secret(ShowsSecret):
    """POST: another secret for a webhook."""

    takes = {"post": Right.SEE}

    @operation("rotate_channel_secret", TAG, answer=NewChannelOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Replace the secret of a webhook, which is shown this once; for a day messages bear both signatures."""
        row = _mine(self, pk)
        secret = channels.rotate_secret(row)
        return Response(self.shown(row, NewChannelOutput, secret=secret))


class Deliveries(Api):
    """GET: what was told, and what came of it."""

    @operation("list_deliveries", TAG, answer=DeliveryOutput, filters=DeliveryFilters)
    def get(self, request: Request) -> Response:
        """Messages by your own channels of the last 30 days, the newest first."""
        return self.page(deliveries_of(self.user), DeliveryOutput, "-pk", DeliveryFilters)


def _mine(view: Api, pk: int) -> Channel:
    return get_object_or_404(view.user.channels.select_related("user"), pk=pk)
