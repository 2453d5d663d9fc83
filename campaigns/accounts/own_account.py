"""Change one's own account: name, password, e-mail address."""

import re
from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError, connection, transaction

from campaigns.accounts import sessions
from campaigns.kit import activity
from campaigns.kit.activity import Action
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import Text
from campaigns.kit.mappings import CleanedData

LONGEST_NAME = 150
NAME = re.compile(r"\A(?!\.+\Z)[\w.+-][\w.@+-]*\Z", re.ASCII)
"""ASCII, so that different names look different; and safe in mentions and URLs."""
ONE_NAMER = 7_363_003  # key of the advisory lock
LONGEST_PASSWORD = 200
"""Limits the time that hashing takes."""
DIFFERENT = "The passwords differ; type the same one twice."
NEW_HELP = "At least 8 characters; none of the usual ones."


class PasswordField(forms.CharField):
    """A password as it was typed, including blanks at its ends."""

    def __init__(self, **options: Any) -> None:
        autocomplete = options.pop("autocomplete", "new-password")
        super().__init__(
            max_length=LONGEST_PASSWORD,
            strip=False,
            widget=forms.PasswordInput(attrs={"autocomplete": autocomplete}),
            **options,
        )


class NewAccount(forms.Form):
    """The input for a new account."""

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
    password = PasswordField(label="New password", help_text=NEW_HELP)
    again = PasswordField(label="Repeat password")

    def clean(self) -> CleanedData:
        """Add errors for a weak password, and for passwords that differ."""
        cleaned = super().clean() or self.cleaned_data
        password = cleaned.get("password")
        if password:
            try:
                validate_password(password, User(username=cleaned.get("name", "")))
            except ValidationError as weak:
                self.add_error("password", weak)
        if password and "again" in cleaned and cleaned["again"] != password:
            self.add_error("again", DIFFERENT)
        return cleaned

    def clean_name(self) -> str:
        """Raise ValidationError for the name of another account, in whatever case."""
        name = str(self.cleaned_data["name"])
        if name_exists(name):
            raise ValidationError(f"Somebody is called “{name}” already; choose another name.")
        return name


class EmailForm(forms.Form):
    """The e-mail address of an account."""

    email = forms.EmailField(
        max_length=254,
        required=False,
        label="E-mail address",
        help_text="Empty: none.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


def name_exists(name: str) -> bool:
    """Return whether an account has this name, in whatever case."""
    return User.objects.filter(username__iexact=name).exists()


def new_user(name: str, email: str, password: str | None) -> User:
    """Create an account; without a password, it cannot sign in by one. Raise Invalid where the name exists."""
    message = f"Somebody is called “{name}” already."
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_NAMER])
            if name_exists(name):  # the table's own constraint is case-sensitive
                raise Invalid({"name": [message]})
            user = User.objects.create_user(name, email, password)
            activity.record(Action.ACCOUNT_MADE, user=user, subject=user)
    except IntegrityError:
        raise Invalid({"name": [message]}) from None
    return user


@transaction.atomic
def set_password(user: User, password: str, key: str) -> None:
    """Set the password of an account, and end its sessions except that of this key.

    That session gets a new key next, under which it is recorded again.
    """
    user.set_password(password)
    user.save(update_fields=["password"])
    activity.record(Action.PASSWORD_CHANGED, user=user, subject=user)
    sessions.end_others(user, key)
    sessions.forget(user, key)


@transaction.atomic
def set_email(user: User, email: str) -> None:
    """Set the e-mail address of an account."""
    EmailAddress.objects.filter(user=user).delete()  # a new one has yet to be confirmed
    user.email = email
    user.save(update_fields=["email"])
    activity.record(Action.ACCOUNT_EDITED, user=user, subject=user, changed="e-mail address")
