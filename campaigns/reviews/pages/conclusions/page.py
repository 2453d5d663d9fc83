"""The list of conclusions, and the page of one: claim, evidence, checklist, decisions, history."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from campaigns.findings.answers import answers_of
from campaigns.findings.store import findings_of
from campaigns.findings.wording.checklist import CAUSES, title_of
from campaigns.kit.activity import Action
from campaigns.kit.charts.labels import contrast_label
from campaigns.kit.mappings import Json, TemplateContext
from campaigns.kit.marks import OUTCOMES
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import AuditEvent, Conclusion, Evidence
from campaigns.results.environment import simulators_of
from campaigns.results.pages_data import outline_of
from campaigns.reviews.check import Check
from campaigns.reviews.checklist import checklist, failed, without_word
from campaigns.reviews.deciding import approvals, may_confirm
from campaigns.reviews.filters import ConclusionPageFilters
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.queries import (
    conclusions_seen_by,
    events_of,
    former_decisions,
    review_requests,
)
from campaigns.reviews.reopening import MOST_CHANGES, moved_since
from campaigns.reviews.reports.charts import charts_of
from campaigns.reviews.reports.values import Chart
from campaigns.reviews.rows import may_review, possible_reviewers
from campaigns.reviews.sending import WITHDRAWABLE

MOST_LETTERS = 120
PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check with its tone and the author's justification; missing: it needs one."""

    check: Check
    tone: str
    icon: str
    campaign: str
    word: str
    missing: bool


@dataclass(frozen=True, slots=True)
class CheckGroup:
    """Checks that share one justification: warnings of one cause, or one check alone."""

    lines: tuple[CheckLine, ...]

    @property
    def title(self) -> str:
        """Return the common cause of several warnings; empty for one check."""
        return CAUSES.get(self.lines[0].check.cause, "") if len(self.lines) > 1 else ""

    @property
    def keys(self) -> str:
        """Return the names of the checks, separated by commas."""
        return ",".join(line.check.key for line in self.lines)

    @property
    def word(self) -> str:
        """Return the author's justification; empty where there is none."""
        return next((line.word for line in self.lines if line.word), "")

    @property
    def missing(self) -> bool:
        """Return whether one of the checks needs a justification."""
        return any(line.missing for line in self.lines)


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A piece of evidence; sessions: their number; noted: other versions with the same result."""

    row: Evidence
    contrast: str
    sentence: str
    sessions: int
    versions: str
    noted: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the history."""

    row: AuditEvent
    words: str
    details: str


@require_safe
@takes(Right.SEE)
def conclusion_list(request: HttpRequest) -> HttpResponse:
    """Show a page of the filtered conclusions, newest first unless the query sorts otherwise."""
    filters = ConclusionPageFilters(request.GET, user_of(request))
    rows = filters.rows.select_related("author", "team").prefetch_related("evidence__campaign")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "reviews/conclusions/list.html", {"filters": filters, "page": page})


@require_safe
@takes(Right.SEE, Conclusion)
@one_moment()
def conclusion_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a conclusion, and the actions that the user may take."""
    rows = Conclusion.objects.select_related("author", "team", "supersedes")
    return render(request, "reviews/conclusions/conclusion.html", context(request, rows.get(pk=pk)))


def context(request: HttpRequest, conclusion: Conclusion) -> TemplateContext:
    """Return the context of the page."""
    user = user_of(request)
    checks = checklist(conclusion)
    requested = review_requests(conclusion)
    in_review = conclusion.state == Conclusion.State.IN_REVIEW
    is_editable = conclusion.state in Conclusion.EDITABLE
    decided = conclusion.decisions.filter(revision=conclusion.revision, user=user).exists()
    writes = conclusion.team_id in may(request).write
    wrote = conclusion.author_id == user.pk or conclusion.writers.filter(pk=user.pk).exists()
    seen = conclusions_seen_by(user)
    moved = moved_since(conclusion) if conclusion.state == Conclusion.State.REOPENED else []
    return {
        "conclusion": conclusion,
        "writers": conclusion.writers.exclude(pk=conclusion.author_id).order_by("username"),
        "evidence": [*_evidence(conclusion)],
        "checks": check_groups(check_lines(conclusion, checks)),
        "missing": without_word(conclusion, checks),
        "failed": failed(checks),
        "data_hash": data_hash_of(conclusion),
        "asked": requested,
        "approvals": len(approvals(conclusion)) if in_review else 0,
        "needed": conclusion.team.approvals_needed,
        "reviewers": len(possible_reviewers(conclusion)) if in_review or is_editable else 0,
        "is_editable": is_editable,
        "former": former_decisions(conclusion),
        "events": [_event(row) for row in events_of(conclusion)],
        "reopened": [_moved(each) for each in conclusion.reopened_by],
        "moved": [_moved(each) for each in moved[:MOST_CHANGES]],
        "more_moved": len(moved[MOST_CHANGES:]),
        "superseded_by": seen.filter(
            supersedes=conclusion, state__in=["accepted", "reopened", "superseded"]
        ).first(),
        "supersedes": seen.filter(pk=conclusion.supersedes_id or 0).first(),
        "may_decide": in_review and not decided and may_review(user, conclusion),
        "may_confirm": may_confirm(conclusion, user),
        "own_work": in_review and wrote and conclusion.team_id in may(request).review,
        "decided": in_review and decided,
        "may_edit": writes and is_editable,
        "may_withdraw": writes and conclusion.state in WITHDRAWABLE,
        "may_supersede": writes and conclusion.state in ("accepted", "reopened"),
        "may_delete": writes and conclusion.state == "draft" and not conclusion.revision,
    }


def check_lines(conclusion: Conclusion, checks: list[Check]) -> list[CheckLine]:
    """Return the checks with their justifications, failed ones first."""
    texts = {word.check_name: word for word in conclusion.words.all()}
    missing = {check.key for check in without_word(conclusion, checks)}
    names = dict(conclusion.evidence.values_list("campaign", "campaign__name"))
    order = ("fail", "warn", "pass")
    return [
        CheckLine(
            check,
            *OUTCOMES[check.state][1:],
            names.get(check.campaign, "") if len(names) > 1 else "",
            texts[check.key].text if check.key in texts and check.state != "pass" else "",
            check.key in missing,
        )
        for check in sorted(checks, key=lambda each: order.index(each.state))
    ]


def check_groups(lines: Iterable[CheckLine]) -> list[CheckGroup]:
    """Group warnings by their cause; those with different justifications stay separate."""
    result: dict[str, list[CheckLine]] = {}
    for line in lines:
        result.setdefault(line.check.cause or line.check.key, []).append(line)
    groups = []
    for of_cause in result.values():
        if len({line.word for line in of_cause if line.word}) > 1:
            groups += [CheckGroup((line,)) for line in of_cause]
        else:
            groups.append(CheckGroup(tuple(of_cause)))
    return groups


def _evidence(conclusion: Conclusion) -> Iterator[EvidenceLine]:
    rows = list(conclusion.evidence.defer(None).select_related("campaign"))
    answers = answers_of([row.campaign_id for row in rows if not row.campaign.withheld])
    drawn = set()
    for row in rows:
        is_new = (row.campaign_id, row.view) not in drawn
        drawn.add((row.campaign_id, row.view))
        yield EvidenceLine(
            row,
            contrast_label(row.contrast) if row.contrast else "",
            answers[row.campaign_id].sentence if row.campaign_id in answers else "",
            int(row.snapshot.get("sessions", 0)),
            _versions(row.snapshot.get("versions", {})),
            _versions(row.snapshot.get("recomputed_by", {})),
            _charts(row) if is_new and not row.campaign.withheld else (),
        )


def _charts(row: Evidence) -> tuple[Chart, ...]:
    """Draw the charts of the view that the author chose."""
    campaign = row.campaign
    query = dict(parse_qsl(urlsplit(row.view).query))
    outline, findings = outline_of(campaign), findings_of(campaign, "")
    return charts_of(campaign, outline, findings, query, simulators_of(campaign))


def _versions(versions: Json) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))


def _event(row: AuditEvent) -> Event:
    text = Action(row.action).label if row.action in Action.values else row.action
    named = ("word", "reviewer", "check", "text", "reason", "by")
    notes = [_note(name, str(row.details[name])) for name in named if row.details.get(name)]
    return Event(row, text, ": ".join(notes))


def _note(name: str, value: str) -> str:
    """Write one detail of an event; a check by its title, without the number of its campaign."""
    return title_of(value.rpartition("-")[0]) if name == "check" else value.replace("_", " ")


def _moved(change: Json) -> dict[str, str]:
    return {
        "name": str(change.get("name", "")),
        "words": str(change.get("words", "")),
        "before": _short(change.get("was", change.get("before"))),
        "after": _short(change.get("is", change.get("after"))),
    }


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
