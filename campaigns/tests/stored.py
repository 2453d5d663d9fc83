"""A value for a run that a test has planned, as if it had been measured."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models.functions import Now

from campaigns.kinds.base import SIMULATOR
from campaigns.kit.redaction import storable
from campaigns.models import Attempt, EnvironmentFact, Run
from campaigns.results.storing import MOST_LETTERS, Value, store_environment, store_values


@transaction.atomic
def import_run(
    run: Run,
    values: Sequence[Value],
    *,
    started_at: datetime | None,
    finished_at: datetime | None,
    environment: Mapping[str, str] | None = None,
) -> Attempt:
    """Store it as one accepted attempt."""
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        state=Attempt.State.ACCEPTED,
        pool="",
        worker="import",
        token=0,
        queued_at=started_at or Now(),
        claimed_at=started_at or Now(),
        measure_started_at=started_at,
        measure_finished_at=finished_at,
        finished_at=finished_at or Now(),
        units_done=1,
        simulator=storable((environment or {}).get(SIMULATOR, ""))[:MOST_LETTERS],
    )
    store_values(attempt, values)
    store_environment(attempt, {EnvironmentFact.Side.TARGET: environment or {}})
    run.state, run.started_at, run.finished_at = Run.State.DONE, started_at, finished_at
    run.save(update_fields=["state", "started_at", "finished_at"])
    return attempt
