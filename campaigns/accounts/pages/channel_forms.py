"""The forms of the page Notifications: one a channel, and one for another channel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from campaigns.accounts.notifications import channels
from campaigns.accounts.notifications.chat_services import LABELS
from campaigns.kit.pages.fields import Choice, Field
from campaigns.kit.pages.moved import HIDDEN, Moved, of_texts
from campaigns.kit.revisions import Changed, revision_of
from campaigns.kit.rights import teams_with
from campaigns.models import Channel

LABELS_OF = {
    "name": "Name",
    "address": "Address",
    "is_on": "Enabled",
    "kinds": "Notify me when",
    "teams": "Which teams",
}
WAYS = {
    Channel.Kind.EMAIL: "an e-mail address",
    Channel.Kind.WEBHOOK: "the URL that a webhook is posted to",
    Channel.Kind.CHAT: f"the address of a chat service ({', '.join(LABELS)})",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form was sent with, and what is wrong with it; nothing where it was not sent.

    changed: what was saved in another way meanwhile.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changed: Changed | None = None


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
    seen: str = ""
    moved: Moved | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether there is something to be read in it."""
        return bool(self.errors or self.moved) or any(field.errors for field in self.fields)


def channel_form(channel: Channel, user: User, sent: Sent) -> ChannelForm:
    """The form of a channel that there is."""
    is_default = channels.is_default(channel)
    key = str(channel.pk)
    is_on = bool(sent.values.get("is_on", channel.is_on))
    on = Field(f"{key}-is_on", "Enabled", shape="checkbox", checked=is_on)
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
        seen=revision_of(channels.revised(channel)),
        moved=_moved(sent, user) if sent.changed else None,
    )


def _moved(sent: Sent, user: User) -> Moved | None:
    """What differs between the stored channel and what was sent."""
    if sent.changed is None:
        return None
    stored = {name: sent.changed.stored[name] for name in sent.changed.fields}
    labels = {name: LABELS_OF[name] for name in stored}
    typed = {**sent.values, "address": sent.values.get("address") or HIDDEN}
    names = {str(team.pk): team.name for team in teams_with(user)}
    kinds = {str(each): each.label for each in channels.KINDS}
    return of_texts(
        sent.changed,
        _in_words(typed, kinds, names),
        _in_words(stored | ({"address": HIDDEN} if "address" in stored else {}), kinds, names),
        labels,
    )


def _in_words(
    values: Mapping[str, Any], kinds: Mapping[str, str], teams: Mapping[str, str]
) -> dict[str, Any]:
    """Give values of a channel as the page calls them."""
    found = dict(values)
    if "is_on" in found:
        found["is_on"] = "yes" if found["is_on"] else "no"
    if "kinds" in found:
        found["kinds"] = "; ".join(label for kind, label in kinds.items() if kind in found["kinds"])
    if "teams" in found:
        chosen = {str(key) for key in found["teams"]}
        found["teams"] = ", ".join(teams.get(key, key) for key in sorted(chosen)) or "all"
    return found


def new_form(user: User, sent: Sent) -> ChannelForm:
    """The form of another channel."""
    offered = channels.offered_kinds()
    chosen = str(sent.values.get("kind", Channel.Kind.WEBHOOK))
    kind = Field(
        "new-kind",
        "Kind",
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
