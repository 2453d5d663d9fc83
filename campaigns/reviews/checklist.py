"""The checklist before sign-off: each check passes, warns or fails, with its number.

A check that could not be made warns, so that it is not mistaken for one that passed. A warning or a failure
requires a justification by the author before approval; a failure also requires the explicit consent of the
reviewer, and stays red.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from django.db.models import Count, Q

from campaigns.findings.compared import sides_of
from campaigns.findings.compute.differences import differences_of
from campaigns.findings.store import findings_of
from campaigns.findings.values import Difference
from campaigns.findings.wording import checklist as wording
from campaigns.findings.wording.checklist import FAIL, PASS, Design, ExcludedRun, Line
from campaigns.kit.mappings import JsonObject
from campaigns.models import Attempt, Campaign, Conclusion, Proof, Run
from campaigns.planning.amendments import amendments_of
from campaigns.results.data_stamp import exclusions_of
from campaigns.results.environment import simulators_of
from campaigns.reviews.check import Check

__all__ = ["Check", "check_as_json", "checklist", "checks_of", "failed", "without_word"]
CONFIDENTIAL = "address"
"""The label whose values are left out, since a report may be public."""


def checklist(conclusion: Conclusion) -> list[Check]:
    """Return the checks of all campaigns of a conclusion.

    They are as frozen when it was sent to review; while it can be edited, as they are now.
    """
    if conclusion.state not in Conclusion.EDITABLE:
        stored = dict(conclusion.evidence.values_list("campaign", "snapshot__checks"))
        if None not in stored.values():
            return [Check(**value) for checks in stored.values() for value in checks]
    evidence = conclusion.evidence.select_related("campaign__target")
    result = checks_of(list(dict.fromkeys(each.campaign for each in evidence)))
    return [check for checks in result.values() for check in checks]


def checks_of(campaigns: Sequence[Campaign]) -> dict[int, list[Check]]:
    """Return all checks of campaigns by primary key, from their present findings and rows.

    Campaigns after the first are also compared with the first.
    """
    compared = between(campaigns)
    result = {}
    for campaign in campaigns:
        lines = [*_lines(campaign)]
        if campaign.pk in compared:
            lines.append(compared[campaign.pk])
        result[campaign.pk] = [Check.of(campaign.pk, line) for line in lines]
    return result


def check_as_json(check: Check) -> JsonObject:
    """Return a check as it is stored."""
    return asdict(check)


def without_word(conclusion: Conclusion, checks: Iterable[Check]) -> list[Check]:
    """Return the warnings and failures without a justification of their present result."""
    texts = {word.check_name: word.about for word in conclusion.words.all()}
    return [
        check for check in checks if check.state != PASS and texts.get(check.key) != check.about
    ]


def failed(checks: Iterable[Check]) -> list[Check]:
    """Return the failed checks."""
    return [check for check in checks if check.state == FAIL]


def _lines(campaign: Campaign) -> Iterator[Line]:
    design = _design(campaign)
    found = findings_of(campaign, "", brief=True)
    terms = found.pairs or found.levels
    yield wording.runs_line(design, found.brief)
    yield wording.order_line(design)
    yield from wording.lines_of_checks(design, found.checks, found.brief)
    if found.sensitivity and terms:
        yield wording.sensitivity_line(terms, found.sensitivity)
    if found.failed_parts:
        yield wording.failed_parts_line(found.failed_parts)
    yield wording.clean_state_line(design, *_proofs(campaign, Proof.Step.RESET))
    yield wording.same_work_line(design, *_proofs(campaign, Proof.Step.VERIFY))
    yield wording.censored_line(design, found.brief)
    yield wording.amendments_line([line.remark for line in amendments_of(campaign)])
    yield wording.exclusions_line(_exclusions(campaign))
    yield wording.sessions_line(terms, campaign.sessions.exclude(kind="trial").count())
    if found.capacity:
        yield wording.capacity_line(found.capacity)
    elif found.thresholds and (line := wording.criterion_line(found.thresholds)):
        yield line
    if simulators := simulators_of(campaign):
        yield wording.simulator_line(simulators)


def _design(campaign: Campaign) -> Design:
    return Design(
        order=campaign.order,
        block=campaign.block_word,
        blocks=campaign.blocks.count(),
        cells=campaign.cells.count(),
        failed_limit=campaign.failed_limit,
        imported=bool(campaign.source),
    )


def _proofs(campaign: Campaign, step: str) -> tuple[int, int, int]:
    """Count the accepted measured runs, those whose proofs of a step all succeeded, and those with a failed one."""
    accepted = Attempt.objects.filter(
        run__campaign=campaign,
        run__purpose=Run.Purpose.MEASURED,
        state=Attempt.State.ACCEPTED,
    )
    counts = accepted.annotate(
        made=Count("proofs", filter=Q(proofs__step=step)),
        bad=Count("proofs", filter=Q(proofs__step=step, proofs__ok=False)),
    ).aggregate(
        runs=Count("pk"),
        proved=Count("pk", filter=Q(made__gt=0, bad=0)),
        bad_runs=Count("pk", filter=Q(bad__gt=0)),
    )
    return counts["runs"], counts["proved"], counts["bad_runs"]


def _exclusions(campaign: Campaign) -> list[ExcludedRun]:
    rows = exclusions_of(campaign).select_related("run", "user").order_by("run__position")
    return [
        ExcludedRun(
            position=row.run.position,
            by=row.user.get_username() if row.user else "perfdash",
            reason=row.reason,
        )
        for row in rows
    ]


def between(campaigns: Sequence[Campaign]) -> dict[int, Line]:
    """Compare settings, target and environment of each campaign with those of the first.

    The result is by primary key; empty for one campaign.
    """
    if len(campaigns) < 2:
        return {}
    teams = {each.team_id for each in campaigns if each.team_id}
    sides = sides_of([each.pk for each in campaigns], teams)
    rows = [row for row in differences_of(sides) if row.weight == "cause"]
    return {
        side.campaign.pk: wording.between_line(
            campaigns[0].name,
            [_sides(row, place) for row in rows if row.differs[place]],
            sum(row.only((0, place)).unknown for row in rows),
        )
        for place, side in enumerate(sides)
        if place
    }


def _sides(row: Difference, place: int) -> tuple[str, str, str]:
    if row.label == CONFIDENTIAL:
        return row.label, "", ""
    return row.label, row.values[0], row.values[place]
