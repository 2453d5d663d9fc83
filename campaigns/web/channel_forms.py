"""The forms of the page Notifications: one a channel, and one for another channel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from campaigns.clients.chat import LABELS
from campaigns.models import Channel
from campaigns.notifications import channels
from campaigns.queries.rights import teams_with
from campaigns.web.fields import Choice, Field

WAYS = {
    Channel.Kind.EMAIL: "an e-mail address",
    Channel.Kind.WEBHOOK: "the URL that a webhook is posted to",
    Channel.Kind.CHAT: f"the address of a chat service ({', '.join(LABELS)})",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form was sent with, and what is wrong with it; nothing where it was not sent."""

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChannelForm:
    """One form. `key` keeps the ids of the page's many forms apart."""

    key: str
    fields: Sequence[Field]
    kinds: Sequence[Choice]
    teams: Sequence[Choice]
    some_teams: bool
    errors: Sequence[str]
    channel: Channel | None = None
    place: str = ""
    note: str = ""
    is_default: bool = False
    is_webhook: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether there is something to be read in it."""
        return bool(self.errors) or any(field.errors for field in self.fields)


def channel_form(channel: Channel, user: User, sent: Sent) -> ChannelForm:
    """The form of a channel that there is."""
    is_default = channels.is_default(channel)
    key = str(channel.pk)
    is_on = bool(sent.values.get("is_on", channel.is_on))
    on = Field(f"{key}-is_on", "It is on", shape="checkbox", checked=is_on)
    own = (
        []
        if is_default
        else [
            _field(key, "name", "Name", sent, channel.name),
            _field(
                key,
                "address",
                "Another address",
                sent,
                hint="Empty: it stays. It is stored encrypted, and not shown again.",
            ),
        ]
    )
    return ChannelForm(
        key=key,
        fields=[*own, on],
        kinds=_kinds(sent.values.get("kinds", channel.kinds)),
        **_teams(user, sent.values.get("teams", channel.teams)),
        errors=_rest(sent.errors),
        channel=channel,
        place=user.email if is_default else channel.place,
        note="" if channel.is_confirmed else channels.UNCONFIRMED,
        is_default=is_default,
        is_webhook=channel.kind == Channel.Kind.WEBHOOK,
    )


def new_form(user: User, sent: Sent) -> ChannelForm:
    """The form of another channel."""
    offered = channels.offered_kinds()
    chosen = str(sent.values.get("kind", Channel.Kind.WEBHOOK))
    kind = Field(
        "new-kind",
        "By which way?",
        shape="select",
        choices=[Choice(str(each), each.label, chosen=each == chosen) for each in offered],
        errors=sent.errors.get("kind", ()),
    )
    ways = "; ".join(WAYS[each] for each in offered)
    address = _field(
        "new",
        "address",
        "Address",
        sent,
        hint=f"{ways[0].upper()}{ways[1:]}. It is stored encrypted, and not shown again.",
    )
    return ChannelForm(
        key="new",
        fields=[_field("new", "name", "Name", sent, hint="To find it again."), kind, address],
        kinds=_kinds(sent.values.get("kinds", channels.KINDS)),
        **_teams(user, sent.values.get("teams", ())),
        errors=_rest(sent.errors, "kind"),
    )


def _field(
    key: str, name: str, label: str, sent: Sent, value: str = "", *, hint: str = ""
) -> Field:
    """A line of text. What was typed as an address is not shown again: it may hold a secret."""
    typed = value if name == "address" else str(sent.values.get(name, value))
    return Field(
        f"{key}-{name}", label, typed, hint=hint, errors=sent.errors.get(name, ()), required=False
    )


def _kinds(chosen: Sequence[str]) -> list[Choice]:
    return [Choice(str(each), each.label, chosen=each in chosen) for each in channels.KINDS]


def _teams(user: User, chosen: Sequence[Any]) -> dict[str, Any]:
    keys = {str(pk) for pk in chosen}
    teams = [
        Choice(str(team.pk), team.name, chosen=str(team.pk) in keys) for team in teams_with(user)
    ]
    return {"teams": teams, "some_teams": bool(keys)}


def _rest(errors: Mapping[str, Sequence[str]], *shown: str) -> list[str]:
    """What stands beside no field."""
    beside = {"name", "address", *shown}
    return [text for name, texts in errors.items() if name not in beside for text in texts]
