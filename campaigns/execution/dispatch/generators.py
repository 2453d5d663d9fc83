"""Messages for generators that a run waits for; the rows are made by the run itself."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from campaigns.kit.messages import send
from campaigns.models import Attempt, Generator

AGAIN_SECONDS = 10
"""How long after a message another one is sent, where nobody could take the row."""


def ask_generators(attempt_pk: int) -> None:
    """Send a message for every generator that an attempt waits for."""
    for generator, pool in due_generators(Q(attempt=attempt_pk)):
        send("campaigns.generate", generator, pool)


@transaction.atomic
def due_generators(which: Q | None = None) -> list[tuple[int, str]]:
    """Generators for which a message is to be sent now, with their pools."""
    due = _wanted().filter(
        Q(sent_at=None) | Q(sent_at__lt=Now() - timedelta(seconds=AGAIN_SECONDS)), which or Q()
    )
    rows = due.select_for_update(of=("self",), no_key=True, skip_locked=True)
    results = list(rows.values_list("pk", "pool"))
    Generator.objects.filter(pk__in=[key for key, _ in results]).update(sent_at=Now())
    return results


def forget_messages(pools: list[str]) -> None:
    """Have the messages for these pools sent again at once: nobody knows whether the broker has them."""
    _wanted().filter(pool__in=pools).update(sent_at=None)


def _wanted() -> QuerySet[Generator]:
    return Generator.objects.filter(
        state=Generator.State.WANTED, stop_at=None, attempt__state=Attempt.State.RUNNING
    )
