"""REST resource of one's own notification channels and their deliveries."""

import json
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts.filters import DeliveryFilters
from campaigns.accounts.notifications import channels, defaults
from campaigns.accounts.notifications.sent_messages import deliveries_of, described
from campaigns.kit.api.inputs import Flag, Input, Text
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Announcement, Channel, Delivery

TAG = "notifications"
KINDS = channels.CHOICES


class ChannelChange(Input):
    """Changes of a channel. An `address` is replaced, never returned; `teams`: empty for all."""

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
    """A channel of the user. `place`: the visible part of its address."""

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
        """Return the visible part of the address; the default channel has the address of the account."""
        return channel.user.email if channels.is_default(channel) else channel.place


class NewChannelOutput(ChannelOutput):
    """A channel with the `secret` of a webhook, returned only here; null for other kinds."""

    secret = serializers.SerializerMethodField()

    class Meta(ChannelOutput.Meta):
        fields = [*ChannelOutput.Meta.fields, "secret"]

    def get_secret(self, channel: Channel) -> str | None:
        """Return the new secret."""
        return self.context.get("secret") or None


class DeliveryOutput(Selectable):
    """A message sent through a channel. `subject` is hidden if its owner may no longer see the object."""

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

    def to_representation(self, instance: Any) -> JsonObject:
        """Convert a row, unless it is converted already."""
        from_row = described(instance) if isinstance(instance, Delivery) else instance
        return dict(super().to_representation(from_row))


class ShowsSecret(Api):
    """Base of views whose answer holds a secret: it is not stored, so a repeated answer has null there."""

    def to_store(self, body: bytes) -> bytes:
        """Remove the secret from the stored answer."""
        return json.dumps(json.loads(body) | {"secret": None}).encode()


class Channels(ShowsSecret):
    """GET: the channels of the user. POST: a new one."""

    takes = {"post": Right.SEE}

    @operation("list_channels", TAG, answer=ChannelOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List your channels, with the events that each one notifies you of."""
        defaults.give_default_channels([self.user])
        rows = self.user.channels.select_related("user")
        return self.whole([self.shown(row, ChannelOutput) for row in rows], ChannelOutput)

    @operation("create_channel", TAG, body=ChannelInput, answer=NewChannelOutput)
    def post(self, request: Request) -> Response:
        """Create a channel. `secret`, of a webhook, is returned only here.

        An e-mail address other than that of the account receives nothing until the link mailed to it is opened.
        """
        row, secret = channels.save_channel(self.read(ChannelInput), self.user)
        return Response(
            self.shown(row, NewChannelOutput, secret=secret), status=status.HTTP_201_CREATED
        )


class OneChannel(Api):
    """GET: a channel of the user. PATCH: change it. DELETE: delete it."""

    takes = {"patch": Right.SEE, "delete": Right.SEE}

    @operation("get_channel", TAG, answer=ChannelOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return one of your channels."""
        return self.one(_mine(self, pk), ChannelOutput, channels.revised)

    @operation("edit_channel", TAG, body=ChannelChange, answer=ChannelOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent. Switching a channel on resets its count of failures."""
        row, sent = _mine(self, pk), self.read(ChannelChange)
        with self.unchanged(row, channels.revised):
            row, _ = channels.save_channel(sent, self.user, row)
        return Response(self.shown(row, ChannelOutput))

    @operation("delete_channel", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a channel with its deliveries. The default channel can only be switched off."""
        row = _mine(self, pk)
        with self.unchanged(row, channels.revised):
            channels.delete_channel(row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Trial(Api):
    """POST: send a test message."""

    takes = {"post": Right.SEE}

    @operation("try_channel", TAG, answer=DeliveryOutput, code=status.HTTP_202_ACCEPTED)
    def post(self, request: Request, pk: int) -> Response:
        """Send a test message through a channel, even if it is off; at most six in ten minutes."""
        made = deliveries_of(self.user).get(pk=channels.try_out(_mine(self, pk)).pk)
        return Response(self.shown(made, DeliveryOutput), status=status.HTTP_202_ACCEPTED)


class Secret(ShowsSecret):
    """POST: a new secret for a webhook."""

    takes = {"post": Right.SEE}

    @operation("rotate_channel_secret", TAG, answer=NewChannelOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Replace the secret of a webhook, which is returned only here. For a day, messages have both signatures."""
        row = _mine(self, pk)
        secret = channels.rotate_secret(row)
        return Response(self.shown(row, NewChannelOutput, secret=secret))


class Deliveries(Api):
    """GET: messages, and how their delivery ended."""

    @operation("list_deliveries", TAG, answer=DeliveryOutput, filters=DeliveryFilters)
    def get(self, request: Request) -> Response:
        """List the messages sent through your channels in the last 30 days, the newest first."""
        return self.page(deliveries_of(self.user), DeliveryOutput, "-pk", DeliveryFilters)


def _mine(view: Api, pk: int) -> Channel:
    return get_object_or_404(view.user.channels.select_related("user"), pk=pk)
