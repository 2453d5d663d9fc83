"""Make, change and delete credentials."""

from copy import copy

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.kit import certificates, encryption, redaction
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right, require_right_of_sender
from campaigns.models import Credential, Team
from campaigns.targets.credentials.forms import SECRETS, CredentialForm, remarks_on
from campaigns.targets.credentials.uses import in_use

COLUMNS = ("name", "places", "username", "ca", *SECRETS)
"""Columns that users change."""
VALUES = ("username", "ca", *SECRETS)
"""A change of one of them makes a new version."""
OF_CHAIN = ("subject", "fingerprint", "begins_at", "ends_at")
MOST_CREDENTIALS = 200
"""Of one team."""


def revised(row: Credential) -> Columns:
    """Return the values that the revision of a credential covers, with its secrets as stored."""
    return {name: getattr(row, name) for name in COLUMNS}


def as_data(row: Credential) -> FieldValues:
    """Return a credential as input of its form, without its secrets: a change begins with it."""
    return {
        "name": row.name,
        "places": "\n".join(row.places),
        "username": row.username,
        "ca": row.ca,
    }


def save_credential(
    data: FieldValues, row: Credential | None = None, team: Team | None = None, seen: Seen = None
) -> Credential:
    """Make a credential of a team, or change one. Raise the errors of `save`."""
    return save(CredentialForm(data, credential=copy(row) if row else Credential(team=team)), seen)


def save(form: CredentialForm, seen: Seen = None) -> Credential:
    """Store the values of a form in a credential, and return it. Raise Invalid, Changed, NotAllowed."""
    if not form.is_valid():
        raise Invalid(messages_of(form))
    with transaction.atomic():
        require_right_of_sender(form.stored, Right.OPERATE)
        before = _locked(form.stored, seen) if form.stored.pk else None
        row = _filled(form, before)
        if before is None and Credential.objects.filter(team=row.team).count() >= MOST_CREDENTIALS:
            raise Invalid(
                {
                    "": [
                        f"A team has at most {MOST_CREDENTIALS} credentials: delete one that nothing uses."
                    ]
                }
            )
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError:
            raise Invalid({"name": [f"There is a credential “{row.name}” already."]}) from None
        _record_saved(row, before)
    row.refresh_from_db()
    return row


def _locked(row: Credential, seen: Seen) -> Credential:
    """Lock a credential and return it as stored. Raise Changed where it differs from the seen revision."""
    now = Credential.objects.select_for_update(of=("self",), no_key=True).get(pk=row.pk)
    require_seen(now, revised(now), seen)
    return now


def _filled(form: CredentialForm, before: Credential | None) -> Credential:
    """Return the row with the values of the form; unchanged secrets keep what is stored."""
    row, clean = form.instance, form.cleaned_data
    row.places = clean["places"]
    for name in SECRETS:
        given, kept = clean[name], form.kept(name)
        setattr(
            row, name, encryption.encrypt(given) if given else getattr(row, name) if kept else ""
        )
    _fill_chain(row, form.chain)
    if before is not None and any(getattr(before, name) != getattr(row, name) for name in VALUES):
        row.version, row.changed_at = before.version + 1, database_now()
        row.told = None
    return row


def _fill_chain(row: Credential, chain: certificates.Chain | None) -> None:
    row.subject, row.fingerprint = (chain.subject, chain.fingerprint) if chain else ("", "")
    row.begins_at, row.ends_at = (chain.begins, chain.ends) if chain else (None, None)


def _record_saved(row: Credential, before: Credential | None) -> None:
    """Record what was changed; of secrets only that they were."""
    if before is None:
        record(Action.CREDENTIAL_CREATED, subject=row, places=row.places, secrets=_held(row))
        return
    moved = [name for name in COLUMNS if getattr(before, name) != getattr(row, name)]
    record(
        Action.CREDENTIAL_EDITED,
        subject=row,
        version=row.version,
        changed=[name for name in moved if name not in SECRETS],
        places={"before": before.places, "after": row.places} if "places" in moved else {},
        credentials_changed=[name for name in moved if name in SECRETS],
    )


def _held(row: Credential) -> list[str]:
    return [name for name in SECRETS if getattr(row, name)]


def remarks_after(row: Credential, form_data: FieldValues) -> list[str]:
    """Return warnings for the user who saved a credential; form_data: what was sent."""
    notes = remarks_on(row, database_now())
    for name in ("password", "token"):
        if 0 < len(str(form_data.get(name) or "")) < redaction.SHORTEST:
            notes.append(
                f"The {name} is shorter than {redaction.SHORTEST} letters: it is encrypted and never shown, but not taken out "
                "of error messages and logs that quote it, since something so short is found in ordinary words."
            )
    return [*notes, *_of_chain(row)]


def _of_chain(row: Credential) -> list[str]:
    """Return what is odd about certificate and CA beside each other."""
    if not (row.certificate and row.ca):
        return []
    chain = encryption.decrypt(row.certificate)
    if certificates.signed_by(chain, row.ca):
        return []
    return [
        "The CA did not sign the client certificate. That is right if the server trusts another authority than the one that "
        "signed its own certificate; else give the right CA."
    ]


@transaction.atomic
def delete_credential(row: Credential, user: User) -> None:
    """Delete a credential. Raise NotPossible while a campaign or template that may still run names it, NotAllowed."""
    row = Credential.objects.select_for_update(of=("self",)).get(pk=row.pk)
    require_right_of_sender(row, Right.OPERATE)
    if uses := in_use(row):
        named = ", ".join(f"“{each}”" for each in uses)
        raise NotPossible(
            f"“{row}” is not deleted: {named} may still need it. Let them end, or name another credential there."
        )
    record(Action.CREDENTIAL_DELETED, user=user, subject=row)
    row.delete()
