"""Store submitted runs, as a new campaign or at the end of one: all of them, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, event
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Differs, Invalid, NotPossible
from campaigns.kit.rights import Right, require_rights, rights_by
from campaigns.kit.statements import Message
from campaigns.models import (
    Campaign,
    DeclaredMetric,
    LogLine,
    MetricOfValues,
    Session,
    StoredMetric,
    Submission,
    Team,
)
from campaigns.models.teams import default_team
from campaigns.planning import drafts
from campaigns.results.bulk import ReceivedRun, store_received
from campaigns.results.importing.defining import KIND, definition_of, load_questions, source_of
from campaigns.results.importing.known import new_among, wait_for_turn
from campaigns.results.importing.places import Places
from campaigns.results.importing.stored import Stored, read_stored
from campaigns.results.importing.submitted import MOST_METRICS, MOST_RUNS, Submitted, SubmittedRun
from campaigns.results.readers.base import ReadMetric


@dataclass(frozen=True, slots=True)
class Received:
    """The result of a submission. known: the number of runs that were already stored, exactly so.

    first, last: positions of the first and the last new run; None where there is none. questions: on what the
    sender may have left unsaid.
    """

    campaign: Campaign
    submission: Submission
    runs: int
    values: int
    known: int
    made: bool
    first: int | None = None
    last: int | None = None
    questions: Sequence[str] = ()


@transaction.atomic
def create(
    submitted: Submitted,
    author: User | None,
    waiting: Submission | None = None,
    team: Team | None = None,
) -> Received:
    """Store runs as a finished campaign of the kind `external`, of a team: the default one unless named.

    A submission that is stored under its external_id is returned unchanged. waiting: the submission that
    was recorded when its file arrived. Raise Differs where the stored one differs, Invalid with the path of
    every error.
    """
    team = team or Team.objects.get(pk=default_team())
    if submitted.external_id:
        wait_for_turn(f"submission {team.pk} {submitted.external_id}")
        row = Campaign.objects.filter(team=team, external_id=submitted.external_id).first()
        if row is not None:
            return _submitted_before(row, submitted)
    _require_metrics(submitted.metrics)
    definition = definition_of(submitted)
    campaign = drafts.create(definition, author, with_cells=False, team=team)
    campaign.state, campaign.external_id = Campaign.State.FINISHED, submitted.external_id
    campaign.source = source_of(submitted)
    campaign.launched_at, campaign.closed_loop = Now(), definition.campaign.closed_loop
    campaign.save(update_fields=["state", "external_id", "source", "launched_at", "closed_loop"])
    Session.objects.create(campaign=campaign, number=1, kind=Session.Kind.IMPORT, user=author)
    received = _add(
        campaign, submitted, author, read_stored(campaign.pk, submitted, author), waiting
    )
    _note_beginning(campaign, submitted)
    return replace(received, made=True, questions=load_questions(submitted))


def append(key: int, submitted: Submitted, author: User | None) -> Received:
    """Append runs to an imported campaign, in the transaction of the caller.

    Runs that are stored under their external_id and are equal stay unchanged. Raise Campaign.DoesNotExist,
    Differs, NotExternal or Invalid: the caller then rolls back.
    """
    stored = read_stored(key, submitted, author)
    campaign = stored.campaign
    if author is not None:
        require_rights(rights_by(author, stored.roles), cast(int, campaign.team_id), Right.WRITE)
    if campaign.kind != KIND:
        raise NotExternal(
            f"“{campaign.name}” is measured by perfdash; runs from outside belong to a campaign of "
            "the kind External. Send them as a submission of their own, and compare the two."
        )
    if campaign.state != Campaign.State.FINISHED:
        raise NotExternal(
            f"“{campaign.name}” is a {campaign.state}: nothing came in with it yet. Send a submission, "
            "and append to the campaign that it makes."
        )
    return _add(campaign, submitted, author, stored)


class NotExternal(NotPossible):
    """The campaign accepts no runs from outside."""


def _add(
    campaign: Campaign,
    submitted: Submitted,
    author: User | None,
    stored: Stored,
    waiting: Submission | None = None,
) -> Received:
    places, message = Places(stored, submitted), Message()
    metrics = _declare(campaign, submitted, stored.metrics)
    runs, known = new_among(campaign, submitted.runs, any_known=stored.has_external_ids)
    _require_room(places.last_position + len(runs))
    errors: dict[str, list[str]] = {}
    placed = [places.place(number, run, errors) for number, run in runs]
    for number, run in runs:
        if unknown := [name for name in run.values if name not in metrics]:
            errors[f"runs.{number}.values.{unknown[0]}"] = [
                f"There is no metric “{unknown[0]}” in this campaign. Declare it under `metrics`, "
                "with its unit and which way is better."
            ]
    if errors:
        raise Invalid(errors)
    places.store(message)
    moment, metric_keys = stored.now, _metric_keys(metrics, stored)
    values = store_received(
        campaign,
        [
            _received(run, cell.pk, block.pk, position, metric_keys)
            for (_, run), (cell, block, position) in zip(runs, placed, strict=True)
        ],
        stored.keys,
        moment,
        message,
    )
    submission = waiting or Submission(
        pk=stored.submission,
        team_id=campaign.team_id,
        user=author,
        filename=submitted.filename,
        received_at=moment,
    )
    submission.campaign, submission.state = campaign, Submission.State.STORED
    submission.team_id = campaign.team_id
    submission.format, submission.digest = submitted.format, submitted.digest
    submission.runs, submission.values = len(runs), values
    submission.dropped, submission.info = list(submitted.dropped), dict(submitted.info)
    submission.done_at = moment
    if waiting:
        submission.save()
    else:
        message.insert(submission)
    message.insert(
        event(
            Action.RESULTS_RECEIVED,
            user=author,
            campaign=campaign,
            runs=len(runs),
            values=values,
            format=submission.format,
            filename=submission.filename,
        )
    )
    finished = [run.finished_at or run.started_at for _, run in runs]
    latest = max((each for each in finished if each), default=moment)
    if campaign.closed_at is None or latest > campaign.closed_at:
        campaign.closed_at = latest
        message.add(
            "UPDATE campaigns_campaign SET closed_at = %s WHERE id = %s", latest, campaign.pk
        )
    message.send()
    first, last = (placed[0][2], placed[-1][2]) if placed else (None, None)
    return Received(
        campaign, submission, len(runs), values, known, made=False, first=first, last=last
    )


def _metric_keys(metrics: Mapping[str, DeclaredMetric], stored: Stored) -> Mapping[str, int]:
    """Return the keys by which values of the metrics are stored, by name."""
    new = {
        name: MetricOfValues(name, metric.unit, metric.lower_is_better, metric.fidelity)
        for name, metric in metrics.items()
        if name not in stored.metric_keys
    }
    if not new:
        return stored.metric_keys
    keys = StoredMetric.objects.keys_of(new.values())
    return {**stored.metric_keys, **{name: keys[metric] for name, metric in new.items()}}


def _received(
    run: SubmittedRun, cell: int, block: int, position: int, metric_keys: Mapping[str, int]
) -> ReceivedRun:
    return ReceivedRun(
        cell=cell,
        block=block,
        position=position,
        values=[
            (metric_keys[name], value, name in run.censored) for name, value in run.values.items()
        ],
        failed=run.state in ("failed", "timed_out"),
        lost=run.state == "lost",
        reason=run.reason,
        external_id=run.external_id,
        info=run.info or None,
        context=run.context,
        started_at=run.started_at,
        finished_at=run.finished_at,
        units_done=run.units_done,
        units_failed=run.units_failed,
    )


def _submitted_before(campaign: Campaign, submitted: Submitted) -> Received:
    first = campaign.submissions.order_by("pk").first()
    if first is None or first.digest != submitted.digest:
        raise Differs(
            f"“{submitted.external_id}” was submitted before, with other content: it is campaign "
            f"{campaign.pk}. What is stored is not overwritten; append runs to that campaign, or "
            "send this one under an id of its own.",
            campaign.pk,
        )
    return Received(campaign, first, 0, 0, len(submitted.runs), made=False)


def _declare(
    campaign: Campaign, submitted: Submitted, known: dict[str, DeclaredMetric]
) -> dict[str, DeclaredMetric]:
    """Return the known metrics by name, with the submitted ones, which are declared. Raise Differs."""
    new = []
    for metric in submitted.metrics:
        former = known.get(metric.name)
        if former is None:
            new.append(
                DeclaredMetric(
                    campaign=campaign,
                    position=len(known) + 1,
                    name=metric.name,
                    label=metric.label,
                    unit=metric.unit,
                    lower_is_better=metric.lower_is_better,
                    fidelity=metric.fidelity,
                )
            )
            known[metric.name] = new[-1]
        elif (former.unit, former.lower_is_better, former.fidelity) != (
            *(metric.unit, metric.lower_is_better, metric.fidelity),
        ):
            raise Differs(
                f"The metric {metric.name} of this campaign is in {former.unit}, "
                f"{_direction(former.lower_is_better)}, {former.fidelity}; it was sent as "
                f"{metric.unit}, {_direction(metric.lower_is_better)}, {metric.fidelity}. Send it in "
                "the same way, or under another name.",
                campaign.pk,
            )
    if new and len(known) > MOST_METRICS:
        raise Invalid(
            {"metrics": [f"That makes {len(known):,} metrics; a campaign has {MOST_METRICS:,}."]}
        )
    if new:
        DeclaredMetric.objects.bulk_create(new)
    return known


def _direction(lower_is_better: bool | None) -> str:
    if lower_is_better is None:
        return "without a direction"
    return "lower is better" if lower_is_better else "higher is better"


def _require_metrics(metrics: Sequence[ReadMetric]) -> None:
    if not metrics:
        raise Invalid(
            {"metrics": ["Declare at least one metric, with its unit and which way is better."]}
        )


def _require_room(runs: int) -> None:
    if runs > MOST_RUNS:
        raise Invalid(
            {
                "runs": [
                    f"That makes {runs:,} runs; a campaign has {MOST_RUNS:,} at most. Send them as "
                    "several campaigns, or several tests of one build as metrics of one run."
                ]
            }
        )


def _note_beginning(campaign: Campaign, submitted: Submitted) -> None:
    """Set instants, repetitions and fidelity of the campaign from its runs, and write a line into its log."""
    starts = [run.started_at or run.finished_at for run in submitted.runs]
    known = [start for start in starts if start]
    campaign.launched_at = min(known) if known else database_now()
    campaign.repetitions = max(campaign.cells.values_list("received", flat=True), default=1)
    of = {metric.name: metric.fidelity for metric in submitted.metrics}
    campaign.fidelity = of[campaign.primary_metric]
    campaign.save(update_fields=["launched_at", "repetitions", "fidelity"])
    campaign.sessions.update(started_at=campaign.launched_at)
    LogLine.objects.create(
        campaign=campaign,
        text=f"imported: {len(submitted.runs)} runs, source: {campaign.source}",
    )
