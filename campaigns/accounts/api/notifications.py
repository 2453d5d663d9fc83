"""One's own ways of being told of things, and what came of their messages."""

import json

from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.accounts.api.notification_shapes import (
    ChannelChange,
    ChannelInput,
    ChannelOutput,
    DeliveryOutput,
    NewChannelOutput,
)
from campaigns.accounts.notifications import channels, defaults
from campaigns.accounts.notifications.told import deliveries_of
from campaigns.kit.api.filters import Deliveries as DeliveryFilters
from campaigns.kit.api.openapi import CONFLICT, NOT_FOUND, operation
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right
from campaigns.models import Channel

TAG = "notifications"


class TellsSecret(Api):
    """A view whose answer holds a secret: nothing keeps that, and repeated it is null."""

    def to_keep(self, body: bytes) -> bytes:
        """Leave the secret out."""
        return json.dumps(json.loads(body) | {"secret": None}).encode()


class Channels(TellsSecret):
    """GET: one's own channels. POST: a new one."""

    takes = {"post": Right.SEE}

    @operation("list_channels", TAG, answer=ChannelOutput, whole=True)
    def get(self, request: Request) -> Response:
        """Your own channels: by which ways you are told of what."""
        defaults.give_default_channels([self.user])
        rows = self.user.channels.select_related("user")
        return self.whole([self.shown(row, ChannelOutput) for row in rows], ChannelOutput)

    @operation(
        "create_channel",
        TAG,
        body=ChannelInput,
        answer=NewChannelOutput,
        code=status.HTTP_201_CREATED,
    )
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

    @operation("get_channel", TAG, answer=ChannelOutput, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int) -> Response:
        """One of your own channels."""
        return self.one(_mine(self, pk), ChannelOutput, channels.revised)

    @operation(
        "edit_channel",
        TAG,
        body=ChannelChange,
        answer=ChannelOutput,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent. Switched on, a channel begins anew."""
        row, sent = _mine(self, pk), self.read(ChannelChange)
        with self.unchanged(row, channels.revised):
            row, _ = channels.save_channel(sent, self.user, row)
        return Response(self.shown(row, ChannelOutput))

    @operation(
        "delete_channel",
        TAG,
        answer=None,
        code=status.HTTP_204_NO_CONTENT,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a channel with its deliveries; that of the account can only be switched off."""
        row = _mine(self, pk)
        with self.unchanged(row, channels.revised):
            channels.delete_channel(row)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Trial(Api):
    """POST: have a trial delivered."""

    takes = {"post": Right.SEE}

    @operation(
        "try_channel",
        TAG,
        answer=DeliveryOutput,
        code=status.HTTP_202_ACCEPTED,
        refusals=[NOT_FOUND, CONFLICT],
    )
    def post(self, request: Request, pk: int) -> Response:
        """Have a trial delivered by a channel, also by one that is off; six in ten minutes."""
        made = deliveries_of(self.user).get(pk=channels.try_out(_mine(self, pk)).pk)
        return Response(self.shown(made, DeliveryOutput), status=status.HTTP_202_ACCEPTED)


class Secret(TellsSecret):
    """POST: another secret for a webhook."""

    takes = {"post": Right.SEE}

    @operation(
        "rotate_channel_secret", TAG, answer=NewChannelOutput, refusals=[NOT_FOUND, CONFLICT]
    )
    def post(self, request: Request, pk: int) -> Response:
        """Give a webhook another secret, told this once; for a day messages bear both signatures."""
        row = _mine(self, pk)
        secret = channels.rotate_secret(row)
        return Response(self.shown(row, NewChannelOutput, secret=secret))


class Deliveries(Api):
    """GET: what was told, and what came of it."""

    @operation("list_deliveries", TAG, answer=DeliveryOutput, paged=True, filters=DeliveryFilters)
    def get(self, request: Request) -> Response:
        """Messages by your own channels of the last 30 days, the newest first."""
        return self.page(deliveries_of(self.user), DeliveryOutput, "-pk", DeliveryFilters)


def _mine(view: Api, pk: int) -> Channel:
    return get_object_or_404(view.user.channels.select_related("user"), pk=pk)
