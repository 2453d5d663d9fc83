"""The form of a credential, for pages and REST."""

from collections.abc import Sequence
from copy import copy
from datetime import datetime

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit import certificates, encryption, network
from campaigns.kit.database_clock import database_now
from campaigns.kit.forms import SecretArea, Text, form_field
from campaigns.kit.mappings import CleanedData, FieldValues
from campaigns.models import Credential
from campaigns.models.credentials import MOST_PEM, MOST_PLACES

SECRETS = ("password", "token", "certificate", "key")
"""The fields whose columns are encrypted."""
FORGETS = {"password": "forget_password", "token": "forget_token", "key": "forget_certificate"}
"""What is typed again for a new address, and the box that has it forgotten instead."""
NEVER_SHOWN = "Encrypted at rest, and never shown again."
AS_IT_WAS = f"{NEVER_SHOWN} Empty: as it was."
PEM = "PEM: a text with a line -----BEGIN …-----."
ENDED = "It ended on {:%Y-%m-%d %H:%M} UTC. Ask its authority for a new one, and give that."


def _pem(label: str, help_text: str) -> forms.CharField:
    widget = SecretArea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"})
    return forms.CharField(
        max_length=MOST_PEM, required=False, widget=widget, label=label, help_text=help_text
    )


def _hidden(label: str, help_text: str) -> forms.CharField:
    widget = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"})
    return forms.CharField(
        max_length=4000,
        required=False,
        strip=False,
        label=label,
        widget=widget,
        help_text=f"{help_text}{AS_IT_WAS}",
    )


def _forget(what: str) -> forms.BooleanField:
    return forms.BooleanField(required=False, label=f"Forget the stored {what}")


class CredentialForm(forms.ModelForm):
    """A credential. An empty secret leaves the stored one; see `kept`.

    `stored`: the row before the change. `clean` sets `chain`, the certificate with its key if one is given or kept.
    """

    places = Text(
        max_length=5000,
        label="May be sent to",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Addresses of the servers that may get it, one a line, such as https://cdn.example:443. For a sync both: the "
        "feed, and the Pulp that syncs from it. It is sent nowhere else, whatever a campaign says.",
    )
    password = _hidden("Password", "")
    forget_password = _forget("password")
    token = _hidden("Token", "In place of user name and password: sent as Authorization: Bearer. ")
    forget_token = _forget("token")
    certificate = _pem(
        label="Client certificate",
        help_text=f"{PEM} A text that holds the key, too, such as an entitlement, may be given whole. {AS_IT_WAS}",
    )
    key = _pem(
        label="Key of the client certificate", help_text=f"PEM, without a passphrase. {AS_IT_WAS}"
    )
    forget_certificate = _forget("certificate and key")

    class Meta:
        model = Credential
        formfield_callback = form_field
        fields = ["name", "username", "ca"]
        help_texts = {
            "username": "Of basic authentication; it is shown.",
            "ca": "PEM of the authority that signed the server's certificate. Empty: those of the system.",
        }
        widgets = {"ca": forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})}

    field_order = (
        *("name", "places", "certificate", "key", "forget_certificate", "ca"),
        *("username", "password", "forget_password", "token", "forget_token"),
    )
    instance: Credential
    chain: certificates.Chain | None = None

    def __init__(self, data: FieldValues | None = None, *, credential: Credential | None) -> None:
        row = credential or Credential()
        self.stored = copy(row)
        super().__init__(data, instance=row, initial={"places": "\n".join(row.places)})
        for secret, forget in FORGETS.items():
            if not getattr(row, secret):
                del self.fields[forget]
        if row._state.adding:
            for name in SECRETS:
                self.fields[name].help_text = str(self.fields[name].help_text).replace(
                    AS_IT_WAS, NEVER_SHOWN
                )
        else:
            self.fields["name"].disabled = True

    def clean_places(self) -> list[str]:
        """Return scheme, host and port of each address, each once. Raise ValidationError."""
        lines = [line.strip() for line in self.cleaned_data["places"].splitlines()]
        places = list(dict.fromkeys(_place(line) for line in lines if line))
        if len(places) > MOST_PLACES:
            raise ValidationError(f"Give at most {MOST_PLACES} addresses.")
        return places

    def clean_ca(self) -> str:
        """Refuse what is no certificate. Raise ValidationError."""
        text: str = self.cleaned_data["ca"].strip()
        if not text:
            return ""
        try:
            certificates.certificates_in(text, "CA")
        except certificates.BadPem as error:
            raise ValidationError(str(error)) from None
        return certificates.split(text)[0] + "\n"

    def clean_username(self) -> str:
        """Refuse a colon, which ends the name in the header. Raise ValidationError."""
        name: str = self.cleaned_data["username"]
        if ":" in name:
            raise ValidationError("A user name of basic authentication holds no colon.")
        return name

    def clean_password(self) -> str:
        """Refuse control characters. Raise ValidationError."""
        return _of_a_header(self.cleaned_data["password"], "password")

    def clean_token(self) -> str:
        """Refuse what a header cannot hold. Raise ValidationError."""
        token = _of_a_header(self.cleaned_data["token"].strip(), "token")
        if " " in token or not token.isascii():
            raise ValidationError(
                "A token has no blanks: give it alone, without the word Bearer before it."
            )
        return token

    def kept(self, name: str) -> str:
        """Return a secret as it is after the change: the given one, or the stored one unless it is forgotten."""
        given: str = self.cleaned_data[name]
        if given:
            return given
        forget = FORGETS["key" if name == "certificate" else name]
        if self.cleaned_data.get(forget):
            return ""
        return encryption.decrypt(getattr(self.stored, name))

    def clean(self) -> CleanedData:
        """Check the values together, and that no secret goes to a new address. Raise ValidationError."""
        clean: CleanedData = super().clean() or self.cleaned_data
        if self.errors:
            return clean
        try:
            self._check_certificate(clean)
            self._check_login(clean)
        except encryption.SecretUnreadable as error:
            raise ValidationError(str(error)) from None
        self._check_move(clean)
        return clean

    def _check_certificate(self, clean: CleanedData) -> None:
        """Look at certificate and key. Raise ValidationError."""
        self._take_key_of_certificate(clean)
        certificate, key = self.kept("certificate"), self.kept("key")
        if not certificate and not key:
            return
        if not certificate:
            raise _wrong("certificate", "Give the certificate that the key belongs to.")
        if not key:
            raise _wrong("key", "Give the key of the certificate.")
        try:
            certificates.certificates_in(certificate, "certificate")
        except certificates.BadPem as error:
            raise _wrong("certificate", str(error)) from None
        try:
            plain = certificates.require_key(key)
            self.chain = certificates.read_chain(certificate, plain)
        except certificates.BadPem as error:
            raise _wrong(
                "key" if clean["key"] or not clean["certificate"] else "certificate", str(error)
            ) from None
        if self.chain.ends <= database_now() and (clean["certificate"] or clean["key"]):
            raise _wrong("certificate", ENDED.format(self.chain.ends))
        if clean["key"]:
            clean["key"] = plain
        if clean["certificate"]:
            clean["certificate"] = self.chain.text

    def _take_key_of_certificate(self, clean: CleanedData) -> None:
        """Move the key of a text that holds both, such as an entitlement. Raise ValidationError where there are two."""
        _, held = certificates.split(clean["certificate"])
        if not held:
            return
        if clean["key"]:
            raise _wrong(
                "certificate",
                "It holds a private key, and another text is given as the key. Leave one of them out.",
            )
        if certificates.split(clean["certificate"])[0]:
            clean["key"] = held

    def _check_login(self, clean: CleanedData) -> None:
        password, token = self.kept("password"), self.kept("token")
        if token and (clean["username"] or password):
            raise _wrong(
                "token",
                "Give either a token, or a user name and a password: both would be the header Authorization.",
            )
        if password and not clean["username"]:
            raise _wrong("username", "Give the user name that the password belongs to.")
        if clean["username"] and not password:
            raise _wrong("password", "Give the password of the user.")
        if not (password or token or self.chain or clean["ca"]):
            raise ValidationError(
                "Give a certificate with its key, a user name and a password, a token, or a CA."
            )

    def _check_move(self, clean: CleanedData) -> None:
        """Raise ValidationError where a stored secret would go to an address that it was not given for."""
        if new := [each for each in clean["places"] if each not in self.stored.places]:
            errors = {name: _again(name, new) for name in self._unsaid(clean)}
            if self.stored.pk and errors:
                raise ValidationError(errors)

    def _unsaid(self, clean: CleanedData) -> Sequence[str]:
        """Return the stored secrets that are neither typed again nor forgotten."""
        return [
            name
            for name, forget in FORGETS.items()
            if getattr(self.stored, name) and not (clean[name] or clean.get(forget))
        ]


def _again(name: str, new: Sequence[str]) -> str:
    what = {"key": "certificate and key"}.get(name, name)
    return (
        f"{', '.join(new)} may get it from now on: give the {what} again, or have it forgotten. A stored secret does not go to "
        "a new server by itself."
    )


def _place(line: str) -> str:
    """Return scheme, host and port of an address. Raise ValidationError."""
    url = line if "://" in line else f"https://{line}"
    try:
        place = network.origin_of(url)
    except network.NetworkError as error:
        raise ValidationError(str(error)) from None
    if url.partition("://")[2].partition("/")[2] or "?" in url or "#" in url:
        raise ValidationError(
            f"{line}: give scheme, host and port alone ({place}): whatever is at that address may get it."
        )
    return place


def _of_a_header(text: str, what: str) -> str:
    if any(not character.isprintable() for character in text):
        raise ValidationError(f"The {what} holds a control character or a line end; take it out.")
    return text


def _wrong(name: str, message: str) -> ValidationError:
    return ValidationError({name: message})


def remarks_on(row: Credential, now: datetime) -> list[str]:
    """Return warnings on a credential, from what its page shows of it."""
    notes = []
    if row.begins_at and row.begins_at > now:
        notes.append(f"Its certificate is not valid before {row.begins_at:%Y-%m-%d %H:%M} UTC.")
    if row.ca:
        notes += _remarks_on_authorities(row.ca, now)
    if plain := [place for place in row.places if place.startswith("http:")]:
        notes.append(
            f"{', '.join(plain)} is without TLS: whoever is between can read what is sent there. A certificate is not sent there at all."
        )
    return notes


def _remarks_on_authorities(ca: str, now: datetime) -> list[str]:
    ended, known = certificates.ended_in(ca, now)
    notes = []
    if ended == known:
        notes.append(
            "Its CA has ended: no server's certificate is trusted by it. Give the new one."
        )
    elif ended:
        notes.append(f"{ended} of the {known} certificates of its CA have ended.")
    if others := certificates.no_authorities(ca):
        notes.append(
            f"{others} of the {known} certificates of its CA say that they are no authority: give that of the authority that "
            "signed the server's certificate, not the server's own."
        )
    return notes
