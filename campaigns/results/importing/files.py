"""Import files of other tools: all runs of a file, or none."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from django.contrib.auth.models import User
from django.db import transaction
from msgspec import structs

from campaigns.kit.apart import Limits
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Json
from campaigns.kit.redaction import storable
from campaigns.models import Campaign, Submission, Team
from campaigns.models.campaigns import METRIC_LETTERS
from campaigns.models.teams import default_team
from campaigns.results import reading
from campaigns.results.importing.known import wait_for_turn
from campaigns.results.importing.receiving import Received, create
from campaigns.results.importing.submitted import MOST_UNITS, Submitted, SubmittedRun
from campaigns.results.readers.base import Read, ReadMetric, ReadRun
from campaigns.results.readers.base.building import some

PIECE = 1_000_000
WAYS = {"lower": True, "higher": False}
"""What a person says of a metric without a direction, as `lower_is_better`."""


@dataclass(frozen=True, slots=True)
class About:
    """What a person says about a file; the rest comes from the file.

    definition: fields of the campaign, such as its question, `roles` of factors, and `directions` of metrics. context: facts of the environment, by name.
    mapping: of columns, for a plain CSV. fidelity: of all values, where the file is not the one that the
    tool wrote.
    """

    filename: str = ""
    format: str = ""
    definition: Json = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)
    mapping: Json = field(default_factory=dict)
    fidelity: str = ""


def import_file(
    content: IO[bytes],
    about: About,
    author: User | None,
    team: Team | None = None,
    limits: Limits = reading.AT_ONCE,
) -> Received:
    """Read a file and store it as a finished campaign of a team: the default one unless named.

    A file that is already stored with the same description is not stored again. Raise readers.BadFile
    where it cannot be read within the limits, Invalid where its description cannot be that of a campaign.
    """
    digest = digest_of(content, about)
    known = stored_already(digest, team)
    if known is not None:
        return known
    read = reading.read(content, about.filename, about.format, about.mapping, limits)
    submitted = submitted_of(read, about, digest)
    with transaction.atomic():
        wait_for_turn(f"file {digest}")
        return stored_already(digest, team) or create(submitted, author, team=team)


def digest_of(content: IO[bytes], about: About) -> str:
    """Return the SHA-256 of a file and its description; the file is at its beginning afterwards."""
    notes = (about.format, about.definition, about.context, about.mapping, about.fidelity)
    hashed = hashlib.sha256(repr([_plain(each) for each in notes]).encode())
    while piece := content.read(PIECE):
        hashed.update(piece)
    content.seek(0)
    return hashed.hexdigest()


def stored_already(digest: str, team: Team | None) -> Received | None:
    """Return the submission of the same file with the same description for a team (default: None), or None."""
    stored = Submission.objects.filter(
        digest=digest, state=Submission.State.STORED, team=team.pk if team else default_team()
    )
    row = stored.exclude(format="").select_related("campaign").first()
    if row is None or row.campaign is None:
        return None
    return Received(row.campaign, row, 0, 0, row.runs, made=False)


def submitted_of(read: Read, about: About, digest: str = "") -> Submitted:
    """Return the content of a file in the form that is stored; its description overrides it. Raise Invalid for `directions`."""
    values = {
        name: value for name, value in about.definition.items() if value not in (None, "", [])
    }
    metrics = _with_directions(read.metrics, values.pop("directions", {}))
    directed = [metric.name for metric in metrics if metric.lower_is_better is not None]
    primary = read.primary_metric if read.primary_metric in directed else "".join(directed[:1])
    suggested = {
        "question": read.question,
        "name": read.name[:120],
        "tags": [tag[:40] for tag in read.tags],
        "primary_metric": primary,
        "source": f"{about.filename or 'a file'} ({read.label})"[:300],
    }
    blocks = blocks_of(read.runs)
    if any(blocks):
        suggested["order"] = Campaign.Order.INTERLEAVED
    roles = {**read.roles, **values.pop("roles", {})}
    context = {name[:100]: storable(value) for name, value in read.facts.items()}
    return Submitted(
        runs=[
            _run(run, {**context, **about.context}, block)
            for run, block in zip(read.runs, blocks, strict=True)
        ],
        metrics=[
            structs.replace(
                metric,
                name=metric.name[:METRIC_LETTERS],
                label=metric.label[:100],
                unit=metric.unit[:20],
                fidelity=about.fidelity or metric.fidelity,
            )
            for metric in metrics
        ],
        definition={**suggested, **values},
        factors=read.factors,
        work=[name for name in read.work if name not in roles],
        roles=roles,
        guesses=read.guesses,
        info={name: storable(value) for name, value in read.info.items()},
        digest=digest,
        format=read.format,
        filename=about.filename[:200],
        dropped=read.dropped,
    )


def _with_directions(metrics: Sequence[ReadMetric], stated: Json) -> list[ReadMetric]:
    """Return the metrics with the directions that a person states of those without one: `lower` or `higher` by name.

    Raise Invalid for another name or word, and where no metric has a direction.
    """
    without = [metric.name for metric in metrics if metric.lower_is_better is None]
    for name, way in stated.items():
        if name not in without or not isinstance(way, str) or way not in WAYS:
            raise Invalid(
                {
                    "directions": [
                        f"“{name[:60]}: {str(way)[:20]}” is none: give {', '.join(WAYS)} to one of {some(without) or 'no metric'}."
                    ]
                }
            )
    if len(without) == len(metrics) and not stated:
        raise Invalid(
            {
                "directions": [
                    f"Which way is better, lower or higher? The file does not say it of {some(without)}. Name one "
                    "under “Lower is better” or “Higher is better” (command line: --lower or --higher; REST: directions)."
                ]
            }
        )
    return [
        structs.replace(metric, lower_is_better=WAYS[stated[metric.name]])
        if metric.name in stated
        else metric
        for metric in metrics
    ]


def blocks_of(runs: Sequence[ReadRun]) -> list[int | None]:
    """Number the rounds of a file whose runs alternate, each setting once a round; None where they do not.

    Runs are in the order of the file; where it has their instants, these must be in that order.
    """
    none: list[int | None] = [None] * len(runs)
    settings = [repr(sorted(run.levels.items())) for run in runs]
    size = len(set(settings))
    if size < 2 or len(runs) < 2 * size or len(runs) % size:
        return none
    rounds = [settings[first : first + size] for first in range(0, len(runs), size)]
    instants = [instant for run in runs if (instant := run.started_at or run.finished_at)]
    if instants != sorted(instants) or any(len(set(each)) < size for each in rounds):
        return none
    return [place // size + 1 for place in range(len(runs))]


def _run(run: ReadRun, context: Mapping[str, str], block: int | None) -> SubmittedRun:
    changes = {
        "reason": storable(run.reason)
        or ("" if run.state == "ok" else run.state.replace("_", " ")),
        "units_done": min(run.units_done, MOST_UNITS),
        "units_failed": min(run.units_failed, MOST_UNITS),
    }
    return SubmittedRun(**{**structs.asdict(run), **changes}, context=context, block=block)


def _plain(each: Any) -> Any:
    return sorted(each.items()) if isinstance(each, Mapping) else each
