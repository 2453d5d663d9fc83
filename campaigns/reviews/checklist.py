"""The checklist before sign-off: each check passes, warns or fails, with its number.

A check that could not be made warns, so that it is not mistaken for one that passed. A warning or a failure
requires a justification by the author before approval; a failure also requires the explicit consent of the
reviewer, and stays red.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from campaigns.findings.compared import sides_of
from campaigns.findings.compute.differences import CAUSE, Difference, differences_of
from campaigns.kit.numbers import counted, percent
from campaigns.models import Attempt, Campaign, Conclusion, Finding, Proof, Run
from campaigns.planning.amendments import amendments_of
from campaigns.results.data_stamp import exclusions_of
from campaigns.results.environment import stand_ins_of
from campaigns.reviews.check import (
    ELSEWHERE,
    FAIL,
    FEW,
    ORDER,
    PASS,
    SESSIONS,
    STAND_IN,
    WARN,
    Check,
    State,
)
from campaigns.reviews.stored_checks import of_findings

__all__ = ["Check", "State", "check_as_json", "checklist", "checks_of", "failed", "without_word"]
FEWEST_RUNS = 3
"""The fewest runs of a cell that allow a sound interval."""
MOST_LISTED = 5
BETWEEN = "between"
MOST_DIFFERENCES = 8
LONGEST_VALUE = 60
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
        made = [*_all(campaign, _results(campaign))]
        if campaign.pk in compared:
            made.append(compared[campaign.pk])
        address = reverse("campaign", args=[campaign.pk])
        result[campaign.pk] = [check.linked(address) for check in made]
    return result


def check_as_json(check: Check) -> dict[str, Any]:
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


def _all(campaign: Campaign, results: Mapping[str, Any]) -> Iterator[Check]:
    cells = results.get("brief", {}).get("cells", [])
    yield _runs(campaign, cells)
    yield _order(campaign)
    yield from of_findings(campaign, results)
    yield _proofs(campaign, "clean_state", Proof.Step.RESET, "a clean state before the run")
    yield _proofs(campaign, "same_work", Proof.Step.VERIFY, "the same work after the run")
    yield _censored(campaign, cells)
    yield _amendments(campaign)
    yield _exclusions(campaign)
    yield _sessions(campaign, results)
    if result := stand_ins_of(campaign):
        text = f"Measured on a {' and a '.join(result)}, not on a real server."
        yield Check("stand_in", campaign.pk, WARN, "simulated", text, cause=STAND_IN)


def _results(campaign: Campaign) -> dict[str, Any]:
    names = {f"brief:{campaign.primary_metric}": "brief"}
    wanted = ["answer", "checks", "pairs", "levels", "with_excluded", "sensitivity"]
    wanted += [Finding.FAILED_PARTS, *names]
    rows = Finding.objects.filter(campaign=campaign, name__in=wanted)
    return {names.get(name, name): result for name, result in rows.values_list("name", "result")}


def _runs(campaign: Campaign, cells: Iterable[Mapping[str, Any]]) -> Check:
    counts = [cell["summary"]["n_ok"] for cell in cells]
    blocks = campaign.blocks.count()
    if not counts:
        return Check("n", campaign.pk, FAIL, "0", "No run has a value.")
    few, many = min(counts), max(counts)
    span = str(few) if few == many else f"{few} to {many}"
    state = FAIL if few < 2 else WARN if few < FEWEST_RUNS else PASS
    text = (
        f"{span} runs that count in each of {counted(len(counts), 'cell')}, "
        f"in {counted(blocks, campaign.block_word)}."
    )
    if state != PASS:
        text += f" Fewer than {FEWEST_RUNS if state == WARN else 2} allow no sound interval."
    return Check("n", campaign.pk, state, span, text, cause=FEW if state == WARN else "")


def _order(campaign: Campaign) -> Check:
    order = campaign.get_order_display().lower()
    if campaign.order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED):
        return Check("order", campaign.pk, PASS, order, "Levels take turns within each block.")
    if campaign.order == Campaign.Order.RANDOM:
        return Check("order", campaign.pk, PASS, order, "Runs were made in random order.")
    return Check(
        "order",
        campaign.pk,
        WARN,
        order,
        "All runs of a level were made one after the other: level and time of day cannot be "
        "distinguished.",
        cause=ORDER,
    )


def _proofs(campaign: Campaign, name: str, step: str, what: str) -> Check:
    """Check the share of accepted measured runs whose proofs of a step all succeeded."""
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
    share = f"{counts['proved']} of {counts['runs']}"
    if counts["bad_runs"]:
        text = f"{counted(counts['bad_runs'], 'run')} without proof of {what}: {share} have it."
        return Check(name, campaign.pk, FAIL, share, text)
    if counts["proved"] < counts["runs"] or not counts["runs"]:
        text = f"{share} runs have a proof of {what}; no record for the rest."
        return Check(
            name, campaign.pk, WARN, share, text, cause=ELSEWHERE if campaign.source else ""
        )
    return Check(name, campaign.pk, PASS, share, f"Every run has a proof of {what}.")


def _censored(campaign: Campaign, cells: Iterable[Mapping[str, Any]]) -> Check:
    summaries = [cell["summary"] for cell in cells]
    total = sum(each["n_total"] for each in summaries)
    censored = sum(each["n_censored"] for each in summaries)
    failed_runs = sum(each["n_failed"] for each in summaries) - censored
    lost = sum(each["n_lost"] for each in summaries)
    share = (censored + failed_runs) / total if total else 0.0
    text = (
        f"{censored} of {counted(total, 'run')} timed out, {failed_runs} failed, {lost} are lost."
    )
    state = PASS if not (censored or failed_runs or lost) else WARN
    if share > campaign.failed_limit:
        state = FAIL
        text += f" The campaign allows {percent(100 * campaign.failed_limit).lstrip('+')}."
    return Check("censored", campaign.pk, state, percent(100 * share).lstrip("+"), text)


def _amendments(campaign: Campaign) -> Check:
    lines = amendments_of(campaign)
    if not lines:
        return Check("amendments", campaign.pk, PASS, "0", "Nothing was amended after launch.")
    text = " ".join(line.remark for line in lines[:MOST_LISTED])
    return Check("amendments", campaign.pk, WARN, str(len(lines)), text)


def _exclusions(campaign: Campaign) -> Check:
    rows = exclusions_of(campaign).select_related("run", "user").order_by("run__position")
    lines = [
        f"Run {row.run.position} by {row.user.get_username() if row.user else 'perfdash'}: "
        f"{row.reason.rstrip('.')}."
        for row in rows
    ]
    if not lines:
        return Check("exclusions", campaign.pk, PASS, "0", "No run was excluded from the analysis.")
    more = f" And {len(lines) - MOST_LISTED} more." if len(lines) > MOST_LISTED else ""
    text = " ".join(lines[:MOST_LISTED]) + more
    return Check("exclusions", campaign.pk, WARN, str(len(lines)), text)


def _sessions(campaign: Campaign, results: Mapping[str, Any]) -> Check:
    """Check how many sessions support each comparison of the verdict, and whether they confirm it."""
    compared = results.get("pairs") or results.get("levels") or {}
    number = int(compared.get("sessions") or campaign.sessions.exclude(kind="trial").count() or 1)
    if number == 1:
        text = (
            "One session: this does not count as confirmation, since the target may behave "
            "differently on another day."
        )
        return Check("sessions", campaign.pk, WARN, "1", text, cause=SESSIONS)
    standings = _standings(compared)
    fewest = min((int(each["sessions"]) for each in standings), default=number)
    below = sum(each["sessions"] < 2 for each in standings)
    open_ones = sum(each["standing"] != "confirmed" for each in standings)
    if below:
        rest = "rests on one, or lies" if below == 1 else "rest on one, or lie"
        text = (
            f"The campaign has {number} sessions, but {below} of {counted(len(standings), 'comparison')} "
            f"{rest} across them: this does not count as confirmation."
        )
    elif open_ones:
        text = (
            f"{fewest} sessions stand behind it; they leave {open_ones} of "
            f"{counted(len(standings), 'comparison')} not confirmed."
        )
    else:
        text = f"{fewest} sessions stand behind it."
    state = WARN if below or open_ones else PASS
    cause = SESSIONS if state == WARN else ""
    return Check("sessions", campaign.pk, state, str(fewest), text, cause=cause)


def _standings(compared: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return how sessions support the primary contrast or, without one, every comparison."""
    primary = compared.get("primary") or {}
    if "standing" in primary:
        return [primary["standing"]]
    rows = [row for group in compared.get("groups", ()) for row in group["comparisons"]]
    at = primary.get("at", {})
    rows += [
        row
        for row in compared.get("strata", ())
        if all(row["levels"].get(name) == level for name, level in at.items())
    ]
    return [row["standing"] for row in rows]


def between(campaigns: Sequence[Campaign]) -> dict[int, Check]:
    """Compare settings, target and environment of each campaign with those of the first.

    The result is by primary key; empty for one campaign.
    """
    if len(campaigns) < 2:
        return {}

    teams = {each.team_id for each in campaigns if each.team_id}
    sides = sides_of([each.pk for each in campaigns], teams)
    rows = [row for row in differences_of(sides) if row.weight == CAUSE]
    first = campaigns[0].name
    return {
        side.campaign.pk: _check(side.campaign, first, rows, place)
        for place, side in enumerate(sides)
        if place
    }


def _check(campaign: Campaign, first: str, rows: Sequence["Difference"], place: int) -> Check:
    differing = [row for row in rows if row.differs[place]]
    one_sided = [row for row in rows if row.only((0, place)).unknown]
    if not differing and not one_sided:
        text = f"Settings, target and environment are those of “{first}” as far as recorded."
        return Check(BETWEEN, campaign.pk, PASS, "0", text)
    parts = []
    if differing:
        left = len(differing) - MOST_DIFFERENCES
        more = f" and {left} more" if left > 0 else ""
        note = ", ".join(_text(row, place) for row in differing[:MOST_DIFFERENCES])
        parts.append(f"Differs from “{first}” in {note}{more}: each may be why results differ.")
    if one_sided:
        facts = counted(len(one_sided), "fact")
        parts.append(f"Of {facts} nothing was recorded in one of the two.")
    return Check(BETWEEN, campaign.pk, WARN, str(len(differing)), " ".join(parts))


def _text(row: "Difference", place: int) -> str:
    if row.label == CONFIDENTIAL:
        return row.label
    return f"{row.label} ({_short(row.values[0])} → {_short(row.values[place])})"


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…"
