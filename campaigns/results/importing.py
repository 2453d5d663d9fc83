"""Store runs that were measured elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models.functions import Now

from campaigns.models import Attempt, Campaign, EnvironmentFact, Measurement, Run
from campaigns.results.storing import store_environment

BATCH = 1000


@dataclass(frozen=True, slots=True)
class ImportedValue:
    """One value from outside, with its unit and direction."""

    metric: str
    value: float
    unit: str
    lower_is_better: bool
    fidelity: str = Campaign.Fidelity.RAW
    censored: bool = False


@transaction.atomic
def import_run(
    run: Run,
    values: Sequence[ImportedValue],
    *,
    started_at: datetime | None,
    finished_at: datetime | None,
    environment: Mapping[str, str] | None = None,
) -> Attempt:
    """Store a run that was measured elsewhere, as one accepted attempt."""
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
    )
    Measurement.objects.bulk_create(
        (
            Measurement(
                attempt=attempt,
                metric=value.metric,
                value=value.value,
                unit=value.unit,
                lower_is_better=value.lower_is_better,
                fidelity=value.fidelity,
                censored=value.censored,
            )
            for value in values
        ),
        batch_size=BATCH,
    )
    store_environment(attempt, {EnvironmentFact.Side.TARGET: environment or {}})
    run.state, run.started_at, run.finished_at = Run.State.DONE, started_at, finished_at
    run.save(update_fields=["state", "started_at", "finished_at"])
    return attempt
