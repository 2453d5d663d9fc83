"""What goes in and out of channels and deliveries. Never an address; a secret once, where it is made."""

from typing import Any

from rest_framework import serializers

from campaigns.accounts.notifications import channels
from campaigns.accounts.notifications.told import told
from campaigns.kit.api.inputs import Flag, Input, Text
from campaigns.kit.api.selection import Selectable
from campaigns.models import Announcement, Channel, Delivery

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
