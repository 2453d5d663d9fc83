"""Create, change and delete notification channels. A channel and its secret are visible to its owner only."""

from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.contrib.auth.models import User
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from campaigns.accounts.notifications import defaults, mail, signing
from campaigns.accounts.notifications.network_rules import notification_rules
from campaigns.kit import chat_services, encryption, network, redaction
from campaigns.kit.activity import Action, record
from campaigns.kit.chat_services.services import BadAddress
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import Text, many_for_one, messages_of
from campaigns.kit.mappings import CleanedData, Columns, FieldValues
from campaigns.kit.rights import teams_with
from campaigns.models import Announcement, Channel, Delivery

MOST_CHANNELS = 20
MOST_TRIALS = 6
TRIAL_MINUTES = 10
FORMER_HOURS = 24
KINDS = tuple(kind for kind in Announcement.Kind if kind != Announcement.Kind.TRIAL)
CHOICES = [(str(kind), kind.label) for kind in KINDS]
UNCONFIRMED = (
    "The link that was mailed to this address has not been opened yet; until then nothing is sent."
)


class ChannelForm(forms.Form):
    """The input for a channel. Without an address, the stored one stays."""

    name = Text(max_length=100, label="Name", help_text="To recognise it.")
    kind = forms.ChoiceField(choices=Channel.Kind.choices, label="Kind")
    address = Text(
        max_length=2000,
        required=False,
        label="Address",
        help_text="An e-mail address; the URL that a webhook is posted to; or the address of a chat "
        "service. It may hold a secret: it is stored encrypted, and not shown again.",
    )
    is_on = forms.BooleanField(required=False, label="Enabled")
    kinds = forms.MultipleChoiceField(choices=CHOICES, required=False, label="Notify me when")
    teams = forms.MultipleChoiceField(required=False, label="Of these teams")

    def __init__(self, data: FieldValues | None, user: User, **named: Any) -> None:
        super().__init__(data, **named)
        field = self.fields["teams"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - it is declared above
        field.choices = [(str(team.pk), team.name) for team in teams_with(user)]


def offered_kinds() -> list[Channel.Kind]:
    """Return the kinds of channels that this installation can use."""
    return [each for each in Channel.Kind if each != Channel.Kind.EMAIL or mail.is_offered()]


def save_channel(
    data: FieldValues, user: User, channel: Channel | None = None
) -> tuple[Channel, str]:
    """Create or change a channel. The returned text is the only copy of a new webhook's secret.

    Raise Invalid and store nothing if something is wrong. Fields that `data` leaves out stay as they are; a new
    channel subscribes to all kinds by default. `teams` empty: all. A new e-mail address has to be confirmed by the
    link that is mailed to it.
    """
    form = ChannelForm(_as_form(data, channel), user)
    errors = messages_of(form) if not form.is_valid() else {}
    errors |= many_for_one(data, form.fields)
    if errors:
        raise Invalid(errors)
    clean = form.cleaned_data
    row = channel or Channel(user=user, kind=clean["kind"])
    _check_kind(row, clean, channel)
    row.name, row.kinds = clean["name"], clean["kinds"]
    row.teams = sorted(int(pk) for pk in clean["teams"])
    if clean["is_on"] and not row.is_on:
        row.failed = row.given_up = 0
        row.off_reason = ""
    row.is_on = clean["is_on"]
    moved = bool(clean["address"]) or channel is None
    if moved:
        _set_address(row, clean["address"])
    secret = ""
    if channel is None and row.kind == Channel.Kind.WEBHOOK:
        secret = signing.new_secret()
        row.secret = encryption.encrypt(secret)
    _store(row, Action.CHANNEL_CREATED if channel is None else Action.CHANNEL_EDITED)
    if moved and not row.is_confirmed:
        try_out(row)
    return row, secret


def revised(channel: Channel) -> Columns:
    """Return what the revision of a channel is made of, with its address as it is stored."""
    names = ("name", "address", "is_on", "kinds", "teams")
    return {name: getattr(channel, name) for name in names}


def delete_channel(channel: Channel) -> None:
    """Delete a channel with its deliveries. Raise NotPossible for the default channel."""
    if is_default(channel):
        raise NotPossible("The channel of the account's e-mail stays; switch it off instead.")
    with transaction.atomic():
        record(Action.CHANNEL_DELETED, user=channel.user, subject=channel)
        channel.delete()


def rotate_secret(channel: Channel) -> str:
    """Replace the secret of a webhook; the former one also signs for a day. Raise NotPossible."""
    if channel.kind != Channel.Kind.WEBHOOK:
        raise NotPossible("Only a webhook has a secret of its own.")
    secret = signing.new_secret()
    with transaction.atomic():
        Channel.objects.filter(pk=channel.pk).update(
            former_secret=channel.secret,
            former_until=Now() + timedelta(hours=FORMER_HOURS),
            secret=encryption.encrypt(secret),
        )
        record(Action.CHANNEL_EDITED, user=channel.user, subject=channel, changed=["secret"])
    return secret


@transaction.atomic
def try_out(channel: Channel) -> Delivery:
    """Queue a test message like any other. Raise NotPossible for too many."""
    Channel.objects.select_for_update(no_key=True).get(pk=channel.pk)
    recent = Delivery.objects.filter(
        channel__user=channel.user_id,
        announcement__kind=Announcement.Kind.TRIAL,
        created_at__gt=Now() - timedelta(minutes=TRIAL_MINUTES),
    )
    if recent.count() >= MOST_TRIALS:
        raise NotPossible(
            f"{MOST_TRIALS} trials in {TRIAL_MINUTES} minutes are enough; wait a little."
        )
    row = Announcement.objects.create(
        kind=Announcement.Kind.TRIAL, to=[channel.user_id], read_at=Now()
    )
    made = Delivery.objects.create(announcement=row, channel=channel)
    made.refresh_from_db()
    return made


def confirm(channel: Channel) -> None:
    """Mark the e-mail address of a channel as confirmed by its owner."""
    with transaction.atomic():
        Channel.objects.filter(pk=channel.pk).update(is_confirmed=True)
        if is_default(channel) and not channel.address and channel.user.email:
            address, _ = EmailAddress.objects.get_or_create(
                user=channel.user, email=channel.user.email.lower()
            )
            address.set_verified()  # not where another account has shown that it is its own
        record(Action.CHANNEL_EDITED, user=channel.user, subject=channel, confirmed=True)


@transaction.atomic
def follow_account(user: User) -> str:
    """Request confirmation of the new e-mail address of an account; return what the user has to do, if anything."""
    defaults.give_default_channels([user])
    row = user.channels.select_for_update(no_key=True).filter(name=defaults.NAME).first()
    if row is None or not user.email:
        return ""
    Channel.objects.filter(pk=row.pk).update(is_confirmed=False)
    row.refresh_from_db()
    try:
        try_out(row)
    except NotPossible as refusal:
        return f"{UNCONFIRMED} {refusal}"
    return f"A link is mailed to {user.email}; open it, so that notifications go there."


def is_default(channel: Channel) -> bool:
    """Return whether it is the default channel, which uses the address of the account."""
    return channel.name == defaults.NAME and channel.kind == Channel.Kind.EMAIL


def _as_form(data: FieldValues, channel: Channel | None) -> CleanedData:
    stored: CleanedData = {"is_on": True, "kinds": [str(kind) for kind in KINDS], "teams": []}
    if channel is not None:
        fields = ("name", "kind", "is_on", "kinds", "teams")
        stored = {field: getattr(channel, field) for field in fields}
        mine = {team.pk for team in teams_with(channel.user)}
        stored["teams"] = [pk for pk in channel.teams if pk in mine]
    return stored | {name: value for name, value in data.items() if value is not None}


def _check_kind(row: Channel, clean: FieldValues, stored: Channel | None) -> None:
    if clean["kind"] != row.kind:
        raise Invalid({"kind": ["A channel keeps its kind; make another one."]})
    if stored is not None and is_default(stored):
        if clean["address"]:
            raise Invalid({"address": ["This channel follows the address of the account."]})
        if clean["name"] != stored.name:
            raise Invalid({"name": ["This channel keeps its name."]})
    elif clean["name"] == defaults.NAME:
        raise Invalid({"name": ["The channel of the account's e-mail is called so."]})
    if stored is None:
        if row.kind not in offered_kinds():
            raise Invalid(
                {
                    "kind": [
                        "This installation has no mail server; an administrator sets PERFDASH_EMAIL_URL."
                    ]
                }
            )
        if row.user.channels.count() >= MOST_CHANNELS:
            raise Invalid({"name": [f"There are {MOST_CHANNELS} channels; delete one first."]})


def _set_address(row: Channel, address: str) -> None:
    try:
        row.place = _place(row, address)
    except (network.NetworkError, BadAddress, forms.ValidationError) as error:
        text = error.messages if isinstance(error, forms.ValidationError) else [str(error)]
        raise Invalid({"address": text}) from None
    row.address = encryption.encrypt(address)
    if row.kind == Channel.Kind.EMAIL:
        row.is_confirmed = False
    else:
        redaction.remember(address)


def _place(row: Channel, address: str) -> str:
    """Return the visible part of an address. Raise an error for one that messages cannot or may not go to."""
    match row.kind:
        case Channel.Kind.EMAIL:
            validate_email(address)
            name, _, domain = address.rpartition("@")
            return f"{name[0]}…@{domain}"
        case Channel.Kind.CHAT:
            return chat_services.place_of(address, notification_rules()).shown
    endpoint = network.check_url(address, notification_rules())
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.scheme}://{host}:{endpoint.port}/…"


def _store(row: Channel, action: Action) -> None:
    try:
        with transaction.atomic():
            row.save()
            row.refresh_from_db()
            record(action, user=row.user, subject=row, kind=row.kind, place=row.place)
    except IntegrityError:
        raise Invalid({"name": [f"You have a channel “{row.name}” already."]}) from None
