"""Save targets, encrypt their secrets, and note their addresses."""

from copy import copy
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Value
from django.utils import timezone

from campaigns.kinds.base import Target as TargetView
from campaigns.kit import encryption, network, redaction
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.http.credentials import Tls
from campaigns.kit.mappings import Columns, FieldValues, Settings
from campaigns.kit.own_services import installation_rules
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right, require_right_of_sender
from campaigns.models import Credential, Installation, Population, Target, Team, Watch
from campaigns.targets.allowed import other_names
from campaigns.targets.credentials.forms import SECRETS as OF_CREDENTIALS
from campaigns.targets.credentials.opening import opener
from campaigns.targets.forms import HAS_POPULATIONS, SECRETS, TYPED, TargetForm, as_data
from campaigns.targets.names import UNNAMED
from campaigns.targets.production import require_to_unmark
from campaigns.targets.same_server import Hosts, is_measuring, measuring, share_address, urls_of

SSH_SECRETS = ("ssh__password", "ssh__key")
NAMED = (*SECRETS, "client_certificate", "ca_bundle")
"""Columns whose values are left out of the record of a change."""
COLUMNS = (*TYPED, "verify_tls", *SECRETS)
"""Columns that users change."""


def rules_for(target: Target) -> network.Rules:
    """Return the network rules of workers for this target."""
    rules = installation_rules()
    if settings.OWNER_CONFIRMS:
        for rule in filter(None, (target.confirmed_rule, *target.confirmed_feeds)):
            rules = rules.allowing(rule)
        if target.confirmed_rule and target.content_url:  # the same host, which its owner confirmed
            host, port = (
                target.confirmed_rule.rpartition(":")[0],
                network.parse_url(target.content_url).port,
            )
            rules = rules.allowing(f"{host}:{port}")
    return rules


def as_driver_sees_it(target: Target, wanted: Settings | None = None) -> TargetView:
    """Return the target with its decrypted password, for drivers only. Raise SecretUnreadable.

    wanted: values of its settings that a run sets.
    """
    return TargetView(
        name=target.name,
        family=target.family,
        base_url=target.base_url,
        content_url=target.content_url,
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
        installation=installation_name(),
        credential_of=opener(target.team_id),
    )


def installation_name() -> str:
    """Return the identifier of this perfdash; the first call makes it."""
    return Installation.objects.get_or_create(pk=1)[0].name


def unreadable_targets(database: str = "default") -> list[str]:
    """Return the names of the targets with a secret that no key decrypts, also of their watches and populations, and of credentials."""
    targets = Target.objects.using(database).values_list("name", *SECRETS, *SSH_SECRETS)
    none = Value("")
    watches = Watch.objects.using(database).values_list(
        "target__name", "password", "key", none, none
    )
    populations = Population.objects.using(database).values_list(
        "target__name", "key", none, none, none
    )
    others = (watches.order_by(), populations.order_by())
    names = {
        name
        for name, *held in targets.order_by().union(*others, all=True)
        if not all(map(encryption.is_readable, filter(None, held)))
    }
    credentials = Credential.objects.using(database).values_list("name", *OF_CREDENTIALS)
    names |= {
        f"the credential {name}"
        for name, *held in credentials.order_by()
        if not all(map(encryption.is_readable, filter(None, held)))
    }
    return sorted(names)


def revised(target: Target) -> Columns:
    """Return the values that the revision of a target covers, with its secrets as stored."""
    return as_data(target) | {name: getattr(target, name) for name in SECRETS}


def save_target(
    data: FieldValues,
    target: Target | None = None,
    team: Team | None = None,
    seen: Seen = None,
) -> Target:
    """Create a target of a team (by default the default team), or change one. Raise the errors of `save`.

    After an error, `target` is unchanged.
    """
    if target is None:
        return save(TargetForm(data, target=Target(team=team) if team else Target()), seen)
    save(TargetForm(data, target=copy(target)), seen)
    target.refresh_from_db()
    return target


def save(form: TargetForm, seen: Seen = None) -> Target:
    """Store the values of a form in a target, and return it.

    seen: the revision that was changed, of `revised`. Raise Invalid with messages by field, Changed,
    NotAllowed where the server would lose its production mark.
    The address of a target that a campaign is measuring does not change. Targets that are the same server
    share one address.
    """
    if not form.is_valid():
        raise Invalid(messages_of(form))
    hosts = Hosts()
    url = form.instance.base_url
    hosts.resolve_in_threads(
        urls_of(form.instance), form.stored.pk
    )  # before rows are locked: it is slow
    with transaction.atomic():
        require_right_of_sender(form.stored, Right.OPERATE)
        address = share_address(form.stored, url, hosts, form.instance.content_url)
        before = None if form.stored._state.adding else _locked(form, seen)
        if form.moved or not form.instance.is_production:
            require_to_unmark(form.stored)
        target = _filled(form, address)
        try:
            with transaction.atomic():
                target.save(update_fields=None if before is None else _written(form))
        except IntegrityError:
            raise Invalid({"name": [f"There is a target “{target.name}” already."]}) from None
        _record_saved(target, before)
    return target


def _locked(form: TargetForm, seen: Seen) -> Target:
    """Lock a target and return it as stored. Raise Changed where it differs from the seen revision, Invalid where it may not move.

    Populations are asked for below the same lock: one that came since the form was checked is seen here.
    """
    rows = Target.objects.all()
    if seen is not None or form.moved:
        rows = rows.select_for_update(of=("self",), no_key=True)
    now = rows.get(pk=form.stored.pk)
    require_seen(now, revised(now), seen)
    if form.moved and now.populations.exists():
        raise Invalid({"base_url": [HAS_POPULATIONS]})
    return now


def _filled(form: TargetForm, address: str) -> Target:
    """Fill the columns that the form does not fill."""
    target, clean = form.instance, form.cleaned_data
    target.address, target.confirmed_rule = address, form.rule
    target.verify_tls = not clean["skip_verification"]
    if form.moved:
        target.health, target.health_message, target.proofs = Target.Health.UNKNOWN, "", []
        target.probed_at = target.probe_began_at = None
    if _has_another_login(form):
        target.rights = None
    if not clean["client_certificate"]:
        target.client_key = ""
    elif clean["client_key"]:
        target.client_key = encryption.encrypt(clean["client_key"])
    if clean["password"]:
        target.password = encryption.encrypt(clean["password"])
    elif clean.get("forget_password"):
        target.password = ""
    return target


def _has_another_login(form: TargetForm) -> bool:
    """Return whether the rights of the login may be others than those that are known."""
    then, now = form.stored, form.instance
    return (then.username, then.base_url) != (now.username, now.base_url)


def _written(form: TargetForm) -> list[str]:
    """Return the columns that a change writes.

    The result of a concurrent probe stays, unless it was of another address.
    """
    probed = ["health", "health_message", "proofs", "probed_at", "probe_began_at"]
    columns = [*COLUMNS, "address", "confirmed_rule"]
    if _has_another_login(form):
        columns.append("rights")
    return [*columns, *probed] if form.moved else columns


def _record_saved(target: Target, before: Target | None) -> None:
    """Record the creation or change of a target with its changes; of secrets only that they changed."""
    if before is None:
        record(Action.TARGET_CREATED, subject=target)
        return
    now = {name: getattr(target, name) for name in COLUMNS}
    moved = {name: value for name, value in now.items() if getattr(before, name) != value}
    record(
        Action.TARGET_EDITED,
        subject=target,
        changes={
            name: {"before": _plain(getattr(before, name)), "after": _plain(value)}
            for name, value in moved.items()
            if name not in NAMED
        },
        credentials_changed=[name for name in NAMED if name in moved],
    )


def _plain(value: Any) -> Any:
    """Return a column as JSON holds it."""
    return value.isoformat() if isinstance(value, datetime) else value


def remarks_on(target: Target, data: FieldValues) -> list[str]:
    """Return warnings for the user who saved a target."""
    notes = []
    if names := other_names([target])[target.pk]:
        known = ", ".join(name if name == UNNAMED else f"“{name}”" for name in names)
        notes.append(
            f"This is the same server as {known}: they share one queue, one run at a time, and the "
            "limits, quiet hours and production mark of each."
        )
    if 0 < len(str(data.get("password") or "")) < redaction.SHORTEST:
        notes.append(
            f"The password is shorter than {redaction.SHORTEST} letters: it is encrypted and never "
            "shown, but not taken out of error messages and logs that quote it, since something so "
            "short is found in ordinary words."
        )
    if target.base_url.startswith("https:") and not target.verify_tls:
        notes.append("Its certificate is not verified: whoever answers there gets the password.")
    return notes


@transaction.atomic
def retire_target(target: Target) -> None:
    """Take a target out of the lists, with its limits. Raise Invalid while its server is measured, NotAllowed."""
    require_right_of_sender(target, Right.OPERATE)
    require_to_unmark(target)
    if campaigns := measuring(target.address):
        raise Invalid({"": [f"{is_measuring(target, campaigns)} Retire it afterwards."]})
    record(Action.TARGET_RETIRED, subject=target)
    target.retired_at = timezone.now()
    target.name = f"{target.name[:70]} (retired {target.pk})"
    target.save(update_fields=["retired_at", "name"])
