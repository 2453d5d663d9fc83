"""Stores imported runs as a finished campaign: all of them, or nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from campaigns import results
from campaigns.definition import checking, drafts
from campaigns.definition.forms import Text
from campaigns.drivers import driver_of
from campaigns.models import Block, Campaign, LogLine, Run, Session
from campaigns.readers.plain_csv.strict import Row

KIND = "external"
FACTOR = "concurrency"
SEED = 1
"""No order is drawn, and equal files have equal bootstraps."""


@dataclass(frozen=True, slots=True)
class About:
    """What a file of runs does not say of itself.

    facts: of the environment, by name, as text. fidelity: one of Campaign.Fidelity.
    """

    question: str
    source: str
    name: str = ""
    tags: tuple[str, ...] = ()
    fidelity: str = Campaign.Fidelity.RAW
    facts: Mapping[str, str] = field(default_factory=dict)


@transaction.atomic
def import_runs(rows: Sequence[Row], about: About, author: User | None) -> Campaign:
    """Store rows as a finished campaign of the kind `external`, in one session.

    Positions follow the instants; block n holds the n-th run of every level. Raise
    checking.Invalid where question, name, source or tags cannot be those of a campaign.
    """
    ordered = sorted(rows, key=lambda row: row.started_at)
    campaign = drafts.create(_definition(ordered, about), author)
    campaign.state = Campaign.State.FINISHED
    campaign.source, campaign.fidelity = about.source, about.fidelity
    campaign.launched_at = ordered[0].started_at
    campaign.closed_at = max(row.finished_at for row in ordered)
    campaign.save(update_fields=["state", "source", "fidelity", "launched_at", "closed_at"])
    session = Session.objects.create(
        campaign=campaign,
        number=1,
        kind=Session.Kind.IMPORT,
        user=author,
        started_at=campaign.launched_at,
    )
    for run, row in zip(_make_runs(campaign, session, ordered), ordered, strict=True):
        results.import_run(
            run,
            [_duration(row.seconds, about)],
            started_at=row.started_at,
            finished_at=row.finished_at,
            environment=about.facts,
        )
    LogLine.objects.create(
        campaign=campaign, text=f"imported: {len(ordered)} runs, source: {about.source}"
    )
    return campaign


def _definition(rows: Sequence[Row], about: About) -> checking.Definition:
    """Check what people wrote as the form does, then add what only an import can have."""
    try:
        Text(max_length=300).clean(about.source)
    except ValidationError as error:
        raise checking.Invalid({"source": error.messages}) from None
    checked = checking.check(
        {
            "kind": KIND,
            "question": about.question,
            "name": about.name,
            "tags": list(about.tags),
            "order": Campaign.Order.BLOCKED,
            "repetitions": 1,
            "seed": SEED,
        }
    )
    levels = Counter(row.concurrency for row in rows)
    return replace(
        checked, factors={FACTOR: tuple(sorted(levels))}, repetitions=max(levels.values())
    )


def _make_runs(campaign: Campaign, session: Session, ordered: Sequence[Row]) -> list[Run]:
    cells = {cell.levels_by_factor[FACTOR]: cell for cell in campaign.cells.all()}
    blocks = Block.objects.bulk_create(
        Block(campaign=campaign, session=session, number=number, repetition=number)
        for number in range(1, campaign.repetitions + 1)
    )
    seen: Counter[int] = Counter()
    runs = []
    for position, row in enumerate(ordered, start=1):
        runs.append(
            Run(
                campaign=campaign,
                cell=cells[row.concurrency],
                block=blocks[seen[row.concurrency]],
                position=position,
                attempts_allowed=1,
            )
        )
        seen[row.concurrency] += 1
    return Run.objects.bulk_create(runs, batch_size=1000)


def _duration(seconds: float, about: About) -> results.Value:
    metric = driver_of(KIND).primary_metric
    return results.Value(
        metric=metric.name,
        value=seconds,
        unit=metric.unit,
        lower_is_better=metric.lower_is_better,
        fidelity=about.fidelity,
    )
