"""Ask for a population of hosts, and for its end. Others register and delete them (`campaigns.execution.populations`)."""

from contextlib import suppress
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Now
from django.http import Http404
from django.shortcuts import get_object_or_404

from campaigns.kit import encryption
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import FieldValues
from campaigns.kit.messages import CONTROL, send
from campaigns.kit.rights import Right, require_right
from campaigns.models import Population, Target
from campaigns.targets.populations.forms import PopulationForm
from campaigns.targets.populations.identities import prefix_of
from campaigns.targets.populations.notes import kept_for

FAMILY = "katello"
MOST_POPULATIONS = 20
"""Of one target."""


def why_none(target: Target) -> str:
    """Return why a target can have no population; empty where it can."""
    if target.family != FAMILY:
        return f"Only a Katello has populations, and “{target}” is of the family {target.family}."
    if not target.base_url.startswith("https:"):
        return f"Hosts are known by their certificates: give “{target}” a base URL that begins with https:, with its CA bundle."
    if not target.username:
        return f"Hosts are deleted by the target's user, and “{target}” has none: give it one, with its password."
    return ""


@transaction.atomic
def ask_for(target: Target, data: FieldValues, user: User) -> Population:
    """Have a population registered, and return it. Raise Invalid, NotAllowed."""
    locked = Target.objects.select_for_update(of=("self",), no_key=True).get(pk=target.pk)
    require_right(user, locked, Right.OPERATE)
    if why := why_none(locked):
        raise Invalid({"": [why]})
    row = Population(target=locked, made_by=user, key=encryption.encrypt(encryption.new_key()))
    form = PopulationForm(data, instance=row)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    if locked.populations.count() >= MOST_POPULATIONS:
        raise Invalid(
            {
                "": [
                    f"A target has at most {MOST_POPULATIONS} populations: delete one that nobody uses."
                ]
            }
        )
    row.save()
    record(
        Action.POPULATION_CREATED,
        user=user,
        subject=row,
        target=locked.name,
        hosts=row.hosts,
        organization=row.organization,
    )
    transaction.on_commit(_look)
    row.refresh_from_db()
    return row


@transaction.atomic
def ask_deletion(population: Population, user: User | None) -> Population:
    """Have the hosts of a population deleted at the server, and then the population; return it as it is now.

    user: None for one that is too old. Raise NotAllowed, and Http404 where it is gone meanwhile.
    """
    row = _locked(population)
    if user is not None:
        require_right(user, row.target, Right.OPERATE)
    if row.state == Population.State.DELETING and row.due_at is None:
        return row
    was = row.state
    row.state, row.due_at, row.tries = Population.State.DELETING, None, 0
    row.problem = ""
    row.save(update_fields=["state", "due_at", "tries", "problem"])
    if was != Population.State.DELETING:
        record(
            Action.POPULATION_DELETED,
            user=user,
            subject=row,
            target=row.target.name,
            hosts=row.registered,
        )
    transaction.on_commit(_look)
    return row


@transaction.atomic
def go_on(population: Population, user: User) -> Population:
    """Have the hosts registered that a population lacks; return it as it is now. Raise NotPossible, NotAllowed, Http404."""
    row = _locked(population)
    require_right(user, row.target, Right.OPERATE)
    if row.state != Population.State.FAILED or row.target.retired_at:
        raise NotPossible(
            f"Only a population that is not complete, of a target in use, is gone on with; {row} is "
            f"{row.get_state_display()}."
        )
    row.state, row.due_at, row.tries, row.problem = Population.State.MAKING, None, 0, ""
    row.save(update_fields=["state", "due_at", "tries", "problem"])
    record(
        Action.POPULATION_RESUMED,
        user=user,
        subject=row,
        target=row.target.name,
        hosts=row.hosts - row.registered,
    )
    transaction.on_commit(_look)
    return row


@transaction.atomic
def forget(population: Population, user: User) -> None:
    """Delete a population here whose hosts could not be deleted at the server. Raise NotPossible, NotAllowed, Http404."""
    row = _locked(population)
    require_right(user, row.target, Right.OPERATE)
    if row.state != Population.State.DELETING or not row.problem:
        raise NotPossible(
            "Delete the population first: only one whose hosts could not be deleted at the server is forgotten."
        )
    record(
        Action.POPULATION_FORGOTTEN,
        user=user,
        subject=row,
        target=row.target.name,
        left=f"{prefix_of(row)}…",
        problem=row.problem,
    )
    row.delete()


def delete_too_old() -> int:
    """Have populations deleted that are older than their days, or whose target is retired; return how many.

    One that a campaign needs is not deleted for its age.
    """
    age = ExpressionWrapper(F("days") * Value(timedelta(days=1)), output_field=DurationField())
    rows = Population.objects.exclude(state=Population.State.DELETING).filter(
        Q(created_at__lt=Now() - age) | Q(target__retired_at__isnull=False)
    )
    return sum(_delete_unless_kept(row) for row in rows.select_related("target"))


def _delete_unless_kept(row: Population) -> bool:
    if not row.target.retired_at and kept_for(row):
        return False
    with suppress(Http404):
        ask_deletion(row, None)
        return True
    return False


def _locked(population: Population) -> Population:
    """Lock a population and return it as it is now. Raise Http404 where a worker has deleted it."""
    rows = Population.objects.select_for_update(of=("self",), no_key=True)
    return get_object_or_404(rows, pk=population.pk)


def _look() -> None:
    send("campaigns.dispatch", None, CONTROL)
