"""django-allauth's forms, with the texts and limits of this installation."""

from typing import Any

from allauth.account.forms import (
    ChangePasswordForm,
    ConfirmPasswordResetCodeForm,
    LoginForm,
    ReauthenticateForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SetPasswordForm,
)
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.base import forms as mfa
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator

from campaigns.accounts import second_factor
from campaigns.accounts.own_account import DIFFERENT, LONGEST_PASSWORD, NEW_HELP
from campaigns.accounts.sign_in.methods import by_fresh_link
from campaigns.accounts.sign_in.start_session import NOT_YOURS, Adapter
from campaigns.kit.mappings import CleanedData

LONGEST_CODE = 40


class SignInForm(LoginForm):
    """Name and password."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["login"].label = "Name"
        self.fields["password"].help_text = ""


class ConfirmPasswordForm(ReauthenticateForm):
    """The password, required again before a change of the account."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _name(self.fields["password"], "Your password")


class NewPassword(forms.Form):
    """Mixin: a password that somebody chooses, typed twice."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _name(self.fields["password1"], "New password", NEW_HELP)
        _name(self.fields["password2"], "Repeat password")

    def clean(self) -> CleanedData:
        """Add an error where the two passwords differ."""
        cleaned: CleanedData = forms.Form.clean(self) or self.cleaned_data
        first, second = cleaned.get("password1"), cleaned.get("password2")
        if first and second and first != second:
            self.add_error("password2", DIFFERENT)
        return cleaned


class ChangeForm(NewPassword, ChangePasswordForm):
    """A new password. After a sign-in by link the old one is not required: it may be forgotten."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _name(self.fields["oldpassword"], "Your password")
        if by_fresh_link(context.request):
            del self.fields["oldpassword"]

    def clean_oldpassword(self) -> str:
        """Raise ValidationError for a wrong password, which counts as a failed sign-in."""
        password = str(self.cleaned_data["oldpassword"])
        if not Adapter().reauthenticate(self.user, password):
            raise ValidationError(NOT_YOURS)
        return password


class FirstForm(NewPassword, SetPasswordForm):
    """The first password of an account that has none."""


class ResetForm(ResetPasswordForm):
    """The e-mail address that a code for a new password is sent to; it must be confirmed for an account."""

    def clean_email(self) -> str:
        """Look up the account. The answer does not reveal whether it exists."""
        email = str(super().clean_email())
        rows = EmailAddress.objects.filter(
            email=email, verified=True, user__email__iexact=email, user__is_active=True
        )
        self.users = [address.user for address in rows.select_related("user")]
        return email


class ResetCodeForm(ConfirmPasswordResetCodeForm):
    """The code from the e-mail."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _code(self.fields["code"], "Code")


class OtherPasswordForm(NewPassword, ResetPasswordKeyForm):
    """The new password."""


class CodeForm(mfa.BaseAuthenticateForm):
    """A code of the authenticator app or a recovery code. Each works once; the number of failures is limited."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _code(self.fields["code"], "Code")

    def clean_code(self) -> str:
        """Check the code and mark it as used. Raise ValidationError."""
        code = str(self.cleaned_data["code"])
        second_factor.use(self.user, code, self._checked)
        return code

    def _checked(self) -> Authenticator:
        super().clean_code()
        return self.authenticator


class SignInCodeForm(CodeForm, mfa.AuthenticateForm):
    """The second factor at a sign-in."""


class ConfirmCodeForm(CodeForm, mfa.ReauthenticateForm):
    """The second factor, required again before a change of the account."""


class AppForm(ActivateTOTPForm):
    """The first code of an app."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        _code(self.fields["code"], "The code that the app shows now")

    @property
    def groups(self) -> str:
        """Return the secret in groups of four letters, for typing."""
        return " ".join(self.secret[at : at + 4] for at in range(0, len(self.secret), 4))

    def clean_code(self) -> str:
        """Raise ValidationError for a code that the app does not show now."""
        try:
            return str(super().clean_code())
        except ValidationError:
            raise ValidationError(
                "This is not the code of the moment. Check the clock of your device, and type the next one."
            ) from None


class PasskeyForm(AddWebAuthnForm):
    """A new passkey."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["passwordless"].label = "Sign in with it alone"
        self.fields["passwordless"].help_text = "The device then asks for a fingerprint or a PIN."

    def clean(self) -> CleanedData:
        """Raise ValidationError for data that no device sends."""
        try:
            cleaned: CleanedData = super().clean()
        except ValueError:
            raise ValidationError(
                "This is not what a device sends. Add the passkey once more."
            ) from None
        return cleaned


def _name(field: forms.Field, label: str, help_text: str = "") -> None:
    field.label, field.help_text = label, help_text
    field.validators.append(MaxLengthValidator(LONGEST_PASSWORD))


def _code(field: forms.Field, label: str) -> None:
    field.label = label
    field.validators.append(MaxLengthValidator(LONGEST_CODE))
    field.error_messages |= dict.fromkeys(
        ("required", "max_length", "null_characters_not_allowed"), second_factor.WRONG
    )
    field.widget.attrs |= {"inputmode": "text", "autofocus": ""}
