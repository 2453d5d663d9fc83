"""The form of a target, for pages and REST."""

import re
from copy import copy
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from campaigns.kinds.registry import all_kinds, families
from campaigns.kit import encryption, network
from campaigns.kit.forms import SecretArea, form_field
from campaigns.kit.http.credentials import BadCertificate, Tls, context_of
from campaigns.kit.mappings import CleanedData, FieldValues
from campaigns.kit.own_services import installation_rules
from campaigns.models import Target
from campaigns.targets import quiet_hours
from campaigns.targets.same_server import is_measuring, measuring
from campaigns.targets.watch_fields import GROUPS_HELP, LINKS_HELP, GroupsField, LinksField
from campaigns.targets.watches.groups import default_groups, format_groups

USUAL_FAMILY = "http"
HAS_CONTENT = "pulp"
"""The family of servers whose content may have an address of its own."""
HAS_POPULATIONS = (
    "Hosts of populations are registered at the present address, and would stay there. Delete the populations first, and change "
    "the address once they are gone."
)
LAST_YEAR = 9998
SERVER = (
    "name",
    "family",
    "base_url",
    "content_url",
    "username",
    "password",
    "forget_password",
    "is_dedicated",
)
OWNER = ("confirm_address",)
MARKED = ("is_production",)
DESCRIBED = ("hardware", "runs_on", "notes")
CERTIFICATES = ("ca_bundle", "skip_verification", "client_certificate", "client_key")
LIMITS = (
    "max_concurrency",
    "max_requests_per_second",
    "quiet_hours",
    "quiet_zone",
    "overload_until",
    "overload_hours",
)
WATCHED = ("process_groups", "links")
ORDER = (*SERVER, *OWNER, *MARKED, *DESCRIBED, *CERTIFICATES, *LIMITS, *WATCHED)
"""The fields, by the panels of the page."""
TYPED = tuple(each.name for each in Target._meta.fields if each.editable and each.name in ORDER)
"""The fields that fill a column unchanged; `saving.save` converts the others."""
SECRETS = ("password", "client_key")
"""The fields whose columns are encrypted."""
DATABASE = re.compile(r"/[^/]+/?\Z")
"""The path of a database's URL."""
UNITS = {"max_concurrency": "at once", "max_requests_per_second": "a second"}


def schemes_of(family: str) -> tuple[str, ...]:
    """Return the schemes of the base URLs of a family of servers."""
    drivers = (driver for driver in all_kinds().values() if driver.probes(family))
    return next((driver.schemes for driver in drivers), network.WEB_SCHEMES)


def rule_to_confirm(url: str, rules: network.Rules) -> str:
    """Return the rule that the owner of a server has to confirm; an empty text where `rules` suffice.

    Raise NetworkError for a URL that no owner may confirm.
    """
    try:
        network.check_url(url, rules, network.SCHEMES)
    except network.NetworkError:
        endpoint = network.parse_url(url, network.SCHEMES)
        address = endpoint.address
        is_own = endpoint.host == "localhost" or (address and network.is_local(address))
        if not (settings.OWNER_CONFIRMS and is_own):
            raise
        host = str(address or endpoint.host)
        rule = f"[{host}]:{endpoint.port}" if ":" in host else f"{host}:{endpoint.port}"
        network.check_url(url, installation_rules().allowing(rule), network.SCHEMES)
        return rule
    return ""


class AddressInput(forms.TextInput):
    """A URL. User name and password in it, which are refused, are not sent back to the browser."""

    def format_value(self, value: Any) -> str | None:
        """Return the URL without them."""
        return re.sub(r"(?<=//)[^/?#\s]*@", "", str(value or ""))


def _lines(rows: int, **attributes: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


class TargetForm(forms.ModelForm):
    """A server under test. Labels, help and limits are those of the model; fields declared here have no column.

    An empty secret leaves the stored one. `clean` compares with `stored`, the target before the change, and
    sets `moved`, whether it has a new address, and `rule`, the rule that its owner confirmed: empty where
    the installation's rules suffice.
    """

    family = forms.ChoiceField()
    password = forms.CharField(
        max_length=500,
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Encrypted at rest, and never shown again. Empty: as it was.",
    )
    forget_password = forms.BooleanField(required=False, label="Forget the stored password")
    skip_verification = forms.BooleanField(
        required=False,
        label="Do not verify the server's certificate",
        help_text="Any server that answers is trusted, and gets the password: only for a network of your own.",
    )
    client_key = forms.CharField(
        max_length=50_000,
        required=False,
        label="Key of the client certificate",
        widget=SecretArea(attrs={"rows": 3, "spellcheck": "false", "autocomplete": "off"}),
        help_text="PEM, without a passphrase. Encrypted at rest, and never shown again. Empty: as it was.",
    )
    process_groups = GroupsField(required=False, label="Groups of processes", help_text=GROUPS_HELP)
    links = LinksField(required=False, label="Links of its runs", help_text=LINKS_HELP)
    confirm_address = forms.BooleanField(
        required=False,
        label="This server is mine; perfdash may put load on it",
        help_text="Needed for a loopback or private address that no rule allows yet.",
    )

    class Meta:
        model = Target
        formfield_callback = form_field
        fields = TYPED
        help_texts = {
            "base_url": "http:// or https://, host and port; of a database postgresql://host:port/database, of a machine ssh://host:port. No user name in it.",
            "hardware": "What it runs on, in your words; stored with every run measured from now on. A sizing table divides by "
            "numbers such as CPU=8, GiB=24, price=120.",
        }
        widgets = {
            "base_url": AddressInput,
            "content_url": AddressInput,
            "quiet_hours": _lines(3),
            "overload_hours": _lines(2),
            "overload_until": forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            ),
            "quiet_zone": forms.TextInput(attrs={"list": "zones"}),
            "hardware": _lines(2),
            "ca_bundle": _lines(3, spellcheck="false"),
            "client_certificate": _lines(3, spellcheck="false"),
            "notes": _lines(2),
        }

    field_order = ORDER
    instance: Target
    moved = content_moved = False
    rule = ""

    def __init__(self, data: FieldValues | None = None, *, target: Target | None) -> None:
        target = target or Target()
        self.stored = copy(target)
        super().__init__(data, instance=target, initial=_initial(target))
        self.fields["family"] = forms.ChoiceField(choices=[(each, each) for each in families()])
        for name, unit in UNITS.items():
            self.fields[name].unit = unit  # type: ignore[attr-defined]
        usual = format_groups(default_groups(target.family or self.initial.get("family", "")))
        self.fields["process_groups"].widget.attrs["placeholder"] = usual.strip()
        if not target.password:
            del self.fields["forget_password"]
            self.fields["password"].help_text = "Encrypted at rest, and never shown again."

    def asks_owner(self) -> bool:
        """Return whether the address in the form is one that its owner has to confirm."""
        try:
            rule = rule_to_confirm(str(self["base_url"].value() or ""), installation_rules())
        except network.NetworkError:
            return False
        return bool(rule) and rule != self.stored.confirmed_rule

    def clean_quiet_hours(self) -> str:
        """Refuse lines that cannot be read. Raise ValidationError."""
        text: str = self.cleaned_data["quiet_hours"]
        try:
            quiet_hours.parse(text)
        except quiet_hours.BadQuietHours as error:
            raise ValidationError(str(error)) from None
        return text

    def clean_overload_until(self) -> datetime | None:
        """Refuse times that the database cannot give back. Raise ValidationError."""
        until: datetime | None = self.cleaned_data["overload_until"]
        try:
            known = until is None or 2000 <= until.astimezone(UTC).year <= LAST_YEAR
        except OverflowError:
            known = False
        if not known:
            raise ValidationError(f"Give a time from the year 2000 to {LAST_YEAR}.")
        return until

    def clean_overload_hours(self) -> str:
        """Refuse lines that cannot be read. Raise ValidationError."""
        text: str = self.cleaned_data["overload_hours"]
        try:
            quiet_hours.parse(text)
        except quiet_hours.BadQuietHours as error:
            raise ValidationError(str(error)) from None
        return text

    def clean_quiet_zone(self) -> str:
        """Return UTC where the field is empty. Raise ValidationError for an unknown zone."""
        name = self.cleaned_data["quiet_zone"] or "UTC"
        try:
            quiet_hours.zone_of(name)
        except quiet_hours.BadQuietHours as error:
            raise ValidationError(str(error)) from None
        return name

    def clean(self) -> CleanedData:
        """Check the address, and that no secret goes to a new one. Raise ValidationError."""
        clean: CleanedData = super().clean() or self.cleaned_data
        if self.errors:
            return clean
        try:
            network.parse_url(clean["base_url"], schemes_of(clean["family"]))
            own = network.normalised_address(clean["base_url"])
        except network.NetworkError as error:
            raise _wrong("base_url", str(error)) from None
        _refuse_what_is_never_allowed(clean["base_url"], own)
        self.moved = self.stored._state.adding or own != network.normalised_address(
            self.stored.base_url
        )
        if clean["content_url"]:
            _check_content_url(clean)
        self.content_moved = clean["content_url"] != self.stored.content_url
        if self.moved:
            self._check_move(clean)
        elif (
            self.content_moved and self.stored.pk and (campaigns := measuring(self.stored.address))
        ):
            raise _wrong(
                "content_url",
                f"{is_measuring(self.stored, campaigns)} Change its address afterwards.",
            )
        self._check_certificates(clean)
        self.rule = self._confirmed_rule(clean)
        return clean

    def _check_move(self, clean: FieldValues) -> None:
        if self.stored.pk and (campaigns := measuring(self.stored.address)):
            raise _wrong(
                "base_url",
                f"{is_measuring(self.stored, campaigns)} Change its address afterwards.",
            )
        if self.stored.pk and self.stored.populations.exists():
            raise _wrong("base_url", HAS_POPULATIONS)
        if self.stored.password and not (clean["password"] or clean.get("forget_password")):
            raise _wrong(
                "password",
                "The address is another one; enter the password again, or have it forgotten. "
                "A stored password does not go to a new server by itself.",
            )
        if self.stored.client_key and not clean["client_key"] and clean["client_certificate"]:
            raise _wrong(
                "client_key",
                "The address is another one; give the key again. A stored key does not go to a "
                "new server by itself.",
            )

    def _check_certificates(self, clean: FieldValues) -> None:
        """Raise ValidationError where certificate, key or bundle cannot be used."""
        certificate, key = clean["client_certificate"], clean["client_key"]
        if key and not certificate:
            raise _wrong("client_certificate", "Give the certificate that the key belongs to.")
        if certificate and not (key or self.stored.client_key):
            raise _wrong("client_key", "Give the key of the client certificate.")
        held = key or (encryption.decrypt(self.stored.client_key) if certificate else "")
        for name, tls in (
            ("ca_bundle", Tls(ca_bundle=clean["ca_bundle"])),
            ("client_certificate", Tls(certificate=certificate, key=held)),
        ):
            if not clean[name]:
                continue  # nothing to check, and a context takes long to create
            try:
                context_of(tls)
            except BadCertificate as error:
                raise _wrong(name, str(error)) from None

    def _confirmed_rule(self, clean: FieldValues) -> str:
        """Return the rule that the owner confirmed; an empty text where the installation's rules suffice."""
        url = clean["base_url"]
        try:
            rule = rule_to_confirm(url, installation_rules())
        except network.Refused as refusal:
            raise _wrong("base_url", str(refusal)) from None
        if rule and not clean["confirm_address"] and rule != self.stored.confirmed_rule:
            endpoint = network.parse_url(url, network.SCHEMES)
            raise _wrong(
                "confirm_address",
                f"{endpoint.address or endpoint.host} port {endpoint.port} is a loopback or private "
                "address. Confirm that the server is yours and may be loaded.",
            )
        return rule


def as_data(target: Target) -> CleanedData:
    """Return a target as input of its form, without its secrets: a change begins with it."""
    return forms.model_to_dict(target, TYPED) | {"skip_verification": not target.verify_tls}


def _initial(target: Target) -> CleanedData:
    initial: CleanedData = {"skip_verification": not target.verify_tls}
    if target._state.adding and USUAL_FAMILY in families():
        initial["family"] = USUAL_FAMILY
    return initial


def _wrong(name: str, message: str) -> ValidationError:
    return ValidationError({name: message})


def _check_content_url(clean: FieldValues) -> None:
    """Raise ValidationError for a content URL of a server that has none, or of another host: that one is a target of its own."""
    if clean["family"] != HAS_CONTENT:
        raise _wrong(
            "content_url", "Only a Pulp has one: leave it empty, or choose the family pulp."
        )
    try:
        content = network.parse_url(clean["content_url"], network.WEB_SCHEMES)
        base = network.parse_url(clean["base_url"], network.WEB_SCHEMES)
        network.check_url(
            clean["content_url"],
            installation_rules().allowing(network.normalised_address(clean["content_url"])),
        )
    except network.NetworkError as error:
        raise _wrong("content_url", str(error)) from None
    if "?" in clean["content_url"] or "#" in clean["content_url"]:
        raise _wrong("content_url", "Give the URL without ? and #: paths are added to it.")
    if content.host != base.host:
        raise _wrong(
            "content_url",
            f"It is another port of {base.host}. A server of content on another host is a target of its own.",
        )


def _refuse_what_is_never_allowed(base_url: str, address: str) -> None:
    """Raise ValidationError for perfdash's own services, under any name, and for an incomplete URL."""
    if "?" in base_url or "#" in base_url:
        raise _wrong("base_url", "Give the URL without ? and #: paths are added to it.")
    parts = urlsplit(base_url)
    if parts.scheme in network.SQL_SCHEMES and not DATABASE.match(parts.path):
        raise _wrong("base_url", "Name one database: postgresql://host:port/database.")
    try:
        network.check_url(f"http://{address}/", installation_rules().allowing(address))
    except network.Refused as refusal:
        raise _wrong("base_url", str(refusal)) from None
