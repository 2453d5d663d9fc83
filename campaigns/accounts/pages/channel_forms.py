"""Forms of the notifications page: one per channel, and one for a new channel."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from campaigns.accounts.notifications import channels
from campaigns.kit.chat_services import LABELS
from campaigns.kit.forms import SecretInput
from campaigns.kit.mappings import CleanedData, FieldValues, JsonObject
from campaigns.kit.pages.moved import HIDDEN, Moved, of_texts
from campaigns.kit.revisions import Changed, revision_of
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
ALL, SOME = "all", "some"
WITHOUT_ID: JsonObject = {"id": False}
"""The page has several of these fields."""


class ChannelForm(channels.ChannelForm):
    """The form of one channel. `key` is the prefix of most fields, since the page has many forms.

    changed: what was saved elsewhere after this form was opened.
    """

    kinds = forms.MultipleChoiceField(
        choices=channels.CHOICES,
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs=WITHOUT_ID),
    )
    which = forms.ChoiceField(
        choices=[(ALL, "all my teams, now and later"), (SOME, "only of these:")],
        required=False,
        widget=forms.RadioSelect(attrs=WITHOUT_ID),
    )
    teams = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple(attrs=WITHOUT_ID)
    )

    def __init__(
        self,
        user: User,
        channel: Channel | None = None,
        data: QueryDict | None = None,
        changed: Changed | None = None,
    ) -> None:
        self.key = str(channel.pk) if channel else "new"
        self.channel, self.user = channel, user
        stored = channels.revised(channel) if channel else {"kinds": channels.KINDS, "teams": []}
        which = SOME if stored["teams"] else ALL
        initial = stored | {"which": which, "kind": Channel.Kind.WEBHOOK}
        super().__init__(data, user, prefix=self.key, initial=initial)
        self.seen = revision_of(channels.revised(channel)) if channel else ""
        self.moved = self._moved(changed) if changed else None
        self._describe()

    def _describe(self) -> None:
        """Remove the fields that this form does not need, and label the others."""
        name, address = self.fields["name"], self.fields["address"]
        address.widget = SecretInput()
        if self.channel is None:
            offered = channels.offered_kinds()
            ways = "; ".join(WAYS[each] for each in offered)
            name.help_text = "To find it again."
            address.help_text = (
                f"{ways[0].upper()}{ways[1:]}. It is stored encrypted, and not shown again."
            )
            self.fields["kind"].widget.choices = [(str(each), each.label) for each in offered]
            del self.fields["is_on"]
            return
        name.help_text = ""
        address.label = "Another address"
        address.help_text = "Empty: it stays. It is stored encrypted, and not shown again."
        for each in ("kind", "name", "address") if self.is_default else ("kind",):
            del self.fields[each]

    def add_prefix(self, field_name: str) -> str:
        """Return the name of an input; the choices of events and teams have the same names in all forms."""
        if field_name in ("kinds", "which", "teams"):
            return field_name
        return super().add_prefix(field_name)

    def sent(self) -> CleanedData:
        """Return the input for `save_channel`; boxes that are not ticked send nothing."""
        post: Any = self.data
        names = {name: f"{self.key}-{name}" for name in ("name", "kind", "address")}
        sent = {name: post[key] for name, key in names.items() if key in post}
        sent["kinds"] = post.getlist("kinds")
        sent["teams"] = post.getlist("teams") if post.get("which") == SOME else []
        sent["is_on"] = self.channel is None or f"{self.key}-is_on" in post
        return sent

    @property
    def is_default(self) -> bool:
        """Return whether it is the default channel."""
        return self.channel is not None and channels.is_default(self.channel)

    @property
    def is_wrong(self) -> bool:
        """Return whether the form shows errors or changes of others."""
        return bool(self.moved or (self.is_bound and self.errors))

    @property
    def place(self) -> str:
        """Return the visible part of the address."""
        if self.channel is None:
            return ""
        return self.user.email if self.is_default else self.channel.place

    @property
    def note(self) -> str:
        """Return what to do before the channel works; empty if nothing."""
        return "" if self.channel is None or self.channel.is_confirmed else channels.UNCONFIRMED

    def _moved(self, changed: Changed) -> Moved:
        """Return the differences between the stored channel and the input."""
        stored = {name: changed.stored[name] for name in changed.fields}
        sent = self.sent()
        if "address" in stored:
            stored["address"] = HIDDEN
        typed = {**sent, "address": sent.get("address") or HIDDEN}
        labels = {name: LABELS_OF[name] for name in stored}
        return of_texts(changed, self._described(typed), self._described(stored), labels)

    def _described(self, values: FieldValues) -> CleanedData:
        """Return values of a channel as texts of the page."""
        result = dict(values)
        if "is_on" in result:
            result["is_on"] = "yes" if result["is_on"] else "no"
        if "kinds" in result:
            result["kinds"] = "; ".join(
                label for kind, label in channels.CHOICES if kind in result["kinds"]
            )
        if "teams" in result:
            teams: Any = self.fields["teams"]
            names, chosen = dict(teams.choices), {str(key) for key in result["teams"]}
            result["teams"] = ", ".join(names.get(key, key) for key in sorted(chosen)) or "all"
        return result
