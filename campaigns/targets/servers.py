"""Save targets, and say where workers may connect for them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from campaigns.kinds.base import Target as TargetView
from campaigns.kinds.registry import all_kinds
from campaigns.kit import encryption, network, redaction
from campaigns.kit.activity import Action, record
from campaigns.kit.allowing import require_of_asker
from campaigns.kit.errors import Invalid
from campaigns.kit.form_errors import messages_of
from campaigns.kit.http.tls import BadCertificate, Tls, context_of
from campaigns.kit.network import normalised_address
from campaigns.kit.own_services import installation_rules
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right
from campaigns.kit.team_names import TARGET
from campaigns.models import Campaign, Target, Team
from campaigns.planning.forms import TargetForm
from campaigns.targets.allowed import names_beside
from campaigns.targets.changes import record_saved, stored
from campaigns.targets.one_server import Hosts, measuring, share_address
from campaigns.targets.production import require_to_unmark

SECRETS = ("password", "client_key")
SSH_SECRETS = ("ssh__password", "ssh__key")
CERTIFICATES = ("ca_bundle", "skip_verification", "client_certificate", "client_key")
PLAIN = ("username", "notes", "is_dedicated", "hardware", "ca_bundle", "client_certificate")
OWNERS_LIMITS = (
    "max_concurrency",
    "max_requests_per_second",
    "quiet_hours",
    "quiet_zone",
    "is_production",
)


def families() -> list[str]:
    """Families that some kind can measure."""
    return sorted(
        {
            family
            for driver in all_kinds().values()
            if driver.executable
            for family in driver.families
        }
    )


def rules_for(target: Target) -> network.Rules:
    """Where workers may connect for this target."""
    rules = installation_rules()
    if settings.OWNER_CONFIRMS and target.confirmed_rule:
        rules = rules.allowing(target.confirmed_rule)
    return rules


def as_driver_sees_it(target: Target, wanted: Mapping[str, Any] | None = None) -> TargetView:
    """The target with its password opened: for drivers only. Raise SecretUnreadable.

    wanted: values of its settings that a run puts in force.
    """
    return TargetView(
        name=target.name,
        family=target.family,
        base_url=target.base_url,
        username=target.username,
        password=encryption.decrypt(target.password),
        settings=dict(target.settings),
        tls=Tls(
            verify=target.verify_tls,
            ca_bundle=target.ca_bundle,
            certificate=target.client_certificate,
            key=encryption.decrypt(target.client_key),
        ),
        dedicated=target.is_dedicated,
        hardware=target.hardware,
        wanted=dict(wanted or {}),
    )


def without_user_info(url: str) -> str:
    """Take name and password out of a URL that somebody typed; they are refused there."""
    return re.sub(r"(?<=//)[^/?#\s]*@", "", url)


def unreadable_targets(database: str = "default") -> list[str]:
    """Names of the targets that hold a secret which no key opens."""
    targets = Target.objects.using(database).order_by("name")
    stored = targets.values_list("name", *SECRETS, *SSH_SECRETS)
    return [
        name for name, *held in stored if not all(map(encryption.is_readable, filter(None, held)))
    ]


def as_data(target: Target) -> dict[str, Any]:
    """Give a target as `save_target` takes it, without its secrets: what a change begins with."""
    names = ("name", "family", "base_url", *PLAIN, *OWNERS_LIMITS)
    stored = {name: getattr(target, name) for name in names}
    return stored | {"skip_verification": not target.verify_tls}


def revised(target: Target) -> dict[str, Any]:
    """Give what the revision of a target is made of, with its secrets as they are stored."""
    return as_data(target) | {name: getattr(target, name) for name in SECRETS}


def save_target(
    data: Mapping[str, Any],
    target: Target | None = None,
    team: Team | None = None,
    seen: Seen = None,
) -> Target:
    """Create a target of a team (the default one unless given), or change one.

    seen: the revision that was changed, of `revised`. Raise Invalid with messages by field, Changed,
    NotAllowed where production would lose its mark.
    The address of a target that a campaign is measuring does not change. One that is found to be
    the same server as another shares its address.
    """
    form = TargetForm(data, families=families())
    if not form.is_valid():
        raise Invalid(messages_of(form))
    clean = form.cleaned_data
    target = target or (Target(team=team) if team else Target())
    try:
        own = network.normalised_address(clean["base_url"])
    except network.NetworkError as error:
        raise Invalid({"base_url": [str(error)]}) from None
    _refuse_what_is_never_allowed(clean["base_url"], own)
    moved = target._state.adding or own != normalised_address(target.base_url)
    if moved and target.pk and (campaigns := measuring(target.address)):
        raise Invalid(
            {"base_url": [f"{_is_measuring(target, campaigns)} Change its address afterwards."]}
        )
    if target.password and moved and not _says_about_password(clean):
        raise Invalid(
            {
                "password": [
                    "The address is another one; enter the password again, or have it forgotten. "
                    "A stored password does not go to a new server by itself."
                ]
            }
        )
    if target.client_key and moved and not clean["client_key"] and clean["client_certificate"]:
        raise Invalid(
            {
                "client_key": [
                    "The address is another one; give the key again. A stored key does not go to a "
                    "new server by itself."
                ]
            }
        )
    _check_certificates(clean, target)
    rule = _confirmed_rule(clean, target)
    hosts = Hosts()
    hosts.ask_beside(clean["base_url"], target.pk)  # before anything is locked: it takes its time
    return _store(clean, target, rule, hosts, seen, moved=moved)


@transaction.atomic
def _store(
    clean: Mapping[str, Any], target: Target, rule: str, hosts: Hosts, seen: Seen, *, moved: bool
) -> Target:
    require_of_asker(target, Right.OPERATE)
    address = share_address(target, clean["base_url"], hosts)
    if seen is not None and not target._state.adding:
        now = Target.objects.select_for_update(of=("self",), no_key=True).get(pk=target.pk)
        require_seen(now, revised(now), seen)
    before = stored(target)
    if moved or not clean["is_production"]:
        require_to_unmark(target)
    target.address = address
    target.confirmed_rule = rule
    if moved:
        target.health = Target.Health.UNKNOWN
        target.health_message = ""
        target.proofs = []
        target.probed_at = target.probe_began_at = None
    target.name, target.family = clean["name"], clean["family"]
    target.base_url = clean["base_url"]
    for name in (*OWNERS_LIMITS, *PLAIN):
        setattr(target, name, clean[name])
    target.verify_tls = not clean["skip_verification"]
    if not clean["client_certificate"]:
        target.client_key = ""
    elif clean["client_key"]:
        target.client_key = encryption.encrypt(clean["client_key"])
    if clean["password"]:
        target.password = encryption.encrypt(clean["password"])
    elif clean["forget_password"]:
        target.password = ""
    try:
        with transaction.atomic():
            target.save(update_fields=None if target._state.adding else _written(moved))
    except IntegrityError:
        raise Invalid({"name": [f"There is a target “{clean['name']}” already."]}) from None
    record_saved(target, before)
    return target


def _written(moved: bool) -> list[str]:
    """What a change writes; what a probe writes meanwhile stays, unless it was at another address."""
    found = ("health", "health_message", "proofs", "probed_at", "probe_began_at") if moved else ()
    typed = ("name", "family", "base_url", "verify_tls", *SECRETS, *PLAIN, *OWNERS_LIMITS)
    return [*typed, "address", "confirmed_rule", *found]


def _check_certificates(clean: Mapping[str, Any], target: Target) -> None:
    """Raise Invalid where certificate, key or bundle cannot be used."""
    certificate, key = clean["client_certificate"], clean["client_key"]
    if key and not certificate:
        raise Invalid({"client_certificate": ["Give the certificate that the key belongs to."]})
    if certificate and not (key or target.client_key):
        raise Invalid({"client_key": ["Give the key of the client certificate."]})
    held = key or (encryption.decrypt(target.client_key) if certificate else "")
    for name, tls in (
        ("ca_bundle", Tls(ca_bundle=clean["ca_bundle"])),
        ("client_certificate", Tls(certificate=certificate, key=held)),
    ):
        if not clean[name]:
            continue  # nothing to be checked, and a context takes long to make
        try:
            context_of(tls)
        except BadCertificate as error:
            raise Invalid({name: [str(error)]}) from None


def _refuse_what_is_never_allowed(base_url: str, address: str) -> None:
    """Raise Invalid for perfdash's own services, by whatever name, and for half a URL."""
    if "?" in base_url or "#" in base_url:
        raise Invalid({"base_url": ["Give the URL without ? and #: paths are added to it."]})
    try:
        network.check_url(f"http://{address}/", installation_rules().allowing(address))
    except network.Refused as refusal:
        raise Invalid({"base_url": [str(refusal)]}) from None


def to_be_told(target: Target, data: Mapping[str, Any]) -> list[str]:
    """What whoever saved a target should know of it, in sentences."""
    told = []
    if names := names_beside([target])[target.pk]:
        known = ", ".join(name if name == TARGET else f"“{name}”" for name in names)
        told.append(
            f"This is the same server as {known}: they share one queue, one run at a time, and the "
            "limits, quiet hours and production mark of each."
        )
    if 0 < len(str(data.get("password") or "")) < redaction.SHORTEST:
        told.append(
            f"The password is shorter than {redaction.SHORTEST} letters: it is encrypted and never "
            "shown, but not taken out of error messages and logs that quote it, since something so "
            "short is found in ordinary words."
        )
    if target.base_url.startswith("https:") and not target.verify_tls:
        told.append("Its certificate is not verified: whoever answers there gets the password.")
    return told


@transaction.atomic
def retire_target(target: Target) -> None:
    """Take a target out of the lists, with its limits. Raise Invalid while its server is measured, NotAllowed."""
    require_of_asker(target, Right.OPERATE)
    require_to_unmark(target)
    if campaigns := measuring(target.address):
        raise Invalid({"": [f"{_is_measuring(target, campaigns)} Retire it afterwards."]})
    record(Action.TARGET_RETIRED, subject=target)
    target.retired_at = timezone.now()
    target.name = f"{target.name[:70]} (retired {target.pk})"
    target.save(update_fields=["retired_at", "name"])


def _is_measuring(target: Target, campaigns: Sequence[Campaign]) -> str:
    """Which campaign keeps a target as it is: its own, else one on the same server."""
    found = min(campaigns, key=lambda campaign: campaign.target_id != target.pk)
    if found.target_id == target.pk:
        return f"The campaign “{found.name}” is measuring this target."
    return (
        f"{_campaign(found, target)} is measuring the same server; the limits of this target count "
        "for it too."
    )


def _campaign(found: Campaign, target: Target) -> str:
    if found.team_id != target.team_id:
        return "A campaign of another team"
    return f"The campaign “{found.name}”, as “{found.target}”,"


def _says_about_password(clean: Mapping[str, Any]) -> bool:
    return bool(clean["password"] or clean["forget_password"])


def _confirmed_rule(clean: Mapping[str, Any], target: Target) -> str:
    """The rule that the owner confirmed, or empty where the installation's rules suffice."""
    try:
        network.check_url(clean["base_url"], installation_rules())
    except network.Refused as refusal:
        endpoint = network.parse_url(clean["base_url"])
        host = endpoint.address or endpoint.host
        own = endpoint.host == "localhost" or (
            endpoint.address is not None and network.is_local(endpoint.address)
        )
        if not (settings.OWNER_CONFIRMS and own):
            raise Invalid({"base_url": [str(refusal)]}) from None
        rule = f"[{host}]:{endpoint.port}" if ":" in str(host) else f"{host}:{endpoint.port}"
        try:
            network.check_url(clean["base_url"], installation_rules().allowing(rule))
        except network.Refused as never:
            raise Invalid({"base_url": [str(never)]}) from None
        if not clean["confirm_address"] and rule != target.confirmed_rule:
            raise Invalid(
                {
                    "confirm_address": [
                        f"{host} port {endpoint.port} is a loopback or private address. Confirm "
                        "that the server is yours and may be loaded."
                    ]
                }
            ) from None
        return rule
    return ""
