"""What people say of their own account: name, password, e-mail address."""

import re
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError, connection, transaction

from campaigns.kit import activity
from campaigns.kit.activity import Action
from campaigns.kit.errors import Invalid
from campaigns.kit.form_errors import messages_of
from campaigns.kit.forms import Text

LONGEST_NAME = 150
NAME = re.compile(r"\A(?!\.+\Z)[\w.+-][\w.@+-]*\Z", re.ASCII)
"""ASCII, so that no two names look alike that are two; and one that a mention and an address can hold."""
ONE_NAMER = 7_363_003  # key of the advisory lock
LONGEST_PASSWORD = 200
"""Letters; a password is hashed, and what is much longer only takes time."""


class PasswordField(forms.CharField):
    """A password as it was typed, blanks at its ends too."""

    def __init__(self, **options: Any) -> None:
        autocomplete = options.pop("autocomplete", "new-password")
        super().__init__(
            max_length=LONGEST_PASSWORD,
            strip=False,
            widget=forms.PasswordInput(attrs={"autocomplete": autocomplete}),
            **options,
        )


class NewPassword(forms.Form):
    """A password that somebody chooses, typed twice. `user`: to whom it may not be too like."""

    password = PasswordField(
        label="New password", help_text="At least 8 characters; none of the usual ones."
    )
    again = PasswordField(label="Repeat password")

    def __init__(self, *arguments: Any, user: User, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.user = user

    def clean(self) -> dict[str, Any]:
        """Refuse one that is weak, or was typed in two ways."""
        cleaned = super().clean() or self.cleaned_data
        password = cleaned.get("password")
        if password:
            try:
                validate_password(password, self.user)
            except ValidationError as weak:
                self.add_error("password", weak)
        if password and "again" in cleaned and cleaned["again"] != password:
            self.add_error("again", "The passwords differ; type the same one twice.")
        return cleaned


class NewAccount(NewPassword):
    """A name and a password for somebody who has none."""

    name = Text(
        max_length=LONGEST_NAME,
        validators=[
            RegexValidator(
                NAME,
                "A name takes the letters a to z and A to Z, digits and @ . + - _ alone, does not begin "
                "with @, and is not made of dots alone.",
            )
        ],
        help_text="What others see, and mention you by: letters a to z, digits and @ . + - _",
        widget=forms.TextInput(attrs={"autocomplete": "username"}),
    )
    email = forms.EmailField(
        max_length=254,
        required=False,
        label="E-mail address",
        help_text="For notifications that you choose. May stay empty.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ("name", "email", "password", "again")

    def clean_name(self) -> str:
        """Refuse a name that somebody has, in whatever case."""
        name = str(self.cleaned_data["name"])
        if is_taken(name):
            raise ValidationError(f"Somebody is called “{name}” already; choose another name.")
        return name


class EmailForm(forms.Form):
    """Where notifications of a person go."""

    email = forms.EmailField(
        max_length=254,
        required=False,
        label="E-mail address",
        help_text="Empty: none.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


def make_account(sent: dict[str, str]) -> User:
    """Make an account with a password. Raise Invalid at what is wrong."""
    form = NewAccount(sent, user=User(username=sent.get("name", "")[:LONGEST_NAME]))
    if not form.is_valid():
        raise Invalid(messages_of(form))
    data = form.cleaned_data
    return new_user(data["name"], data["email"], data["password"])


def is_taken(name: str) -> bool:
    """Whether somebody has this name, in whatever case."""
    return User.objects.filter(username__iexact=name).exists()


def new_user(name: str, email: str, password: str | None) -> User:
    """Make an account; without a password, nobody signs in by one. Raise Invalid where the name was taken now."""
    taken = f"Somebody is called “{name}” already."
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_NAMER])
            if is_taken(name):  # the table itself tells letters of two cases apart
                raise Invalid({"name": [taken]})
            user = User.objects.create_user(name, email, password)
            activity.record(Action.ACCOUNT_MADE, user=user, subject=user)
    except IntegrityError:
        raise Invalid({"name": [taken]}) from None
    return user


@transaction.atomic
def set_password(user: User, sent: dict[str, str]) -> None:
    """Give an account another password, or its first one. Raise Invalid at what is wrong.

    It ends every session of the account: whoever goes on has to make his anew.
    """
    form = NewPassword(sent, user=user)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    user.set_password(form.cleaned_data["password"])
    user.save(update_fields=["password"])
    activity.record(Action.PASSWORD_CHANGED, user=user, subject=user)


@transaction.atomic
def set_email(user: User, email: str) -> None:
    """Change where notifications go. Raise Invalid at what is wrong."""
    form = EmailForm({"email": email})
    if not form.is_valid():
        raise Invalid(messages_of(form))
    user.email = form.cleaned_data["email"]
    user.save(update_fields=["email"])
    activity.record(Action.ACCOUNT_EDITED, user=user, subject=user, changed="e-mail address")
