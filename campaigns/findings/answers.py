"""The answers of campaigns as text, from their stored findings."""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db.models import OuterRef, QuerySet, Subquery

from campaigns.findings.store import AS_TEXT, SHAPES, Findings, decode
from campaigns.findings.values import Answer
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.json_path import values_at
from campaigns.models import Campaign, Finding, PublishedAnswer
from campaigns.stats.methods import METHODS
from perfdash import __version__

log = logging.getLogger(__name__)

UNWRITTEN = AnswerText(
    "The answer cannot be put into words, by an error in perfdash. The numbers are not affected.",
    "warn",
)
"""Instead of an answer whose wording fails: neither its findings nor lists with other campaigns may depend on it."""
PARTS = ("pairs", "levels", "calibration", "sessions", "outlook", "capacity", "thresholds")
"""The findings that an answer may rest on."""


def answers_of(campaigns: Collection[int]) -> dict[int, AnswerText]:
    """Return the answers of campaigns by their keys; those without current findings are absent.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    rows = Finding.objects.filter(
        campaign__in=campaigns, name__in=["answer", *PARTS], versions__methods=METHODS
    )
    answers: dict[int, Answer] = {}
    parts: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, name, text in rows.values_list("campaign", "name", AS_TEXT):
        if name == "answer":
            answers[key] = decode(text, Answer)
        else:
            parts[key][name] = decode(text, SHAPES[name])
    return {key: _written(answer, **parts[key]) for key, answer in answers.items()}


def answer_of(findings: Findings) -> AnswerText | None:
    """Return the answer of a campaign; None where nothing is stored yet."""
    if findings.answer is None:
        return None
    return _written(
        findings.answer,
        pairs=findings.pairs,
        levels=findings.levels,
        calibration=findings.calibration,
        sessions=findings.sessions,
        outlook=findings.outlook,
        capacity=findings.capacity,
        thresholds=findings.thresholds,
    )


def _written(answer: Answer, **parts: Any) -> AnswerText:
    try:
        return answer_text(answer, **parts)
    except Exception:
        log.exception("An answer about %s cannot be put into words.", answer.label)
        return UNWRITTEN


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer as lists of campaigns show it. means: of the cells in their order, for a spark line."""

    sentence: str
    badges: Sequence[Display]
    means: Sequence[float | None]


def publish_answer(campaign: Campaign) -> None:
    """Store the answer of a campaign as lists and readers of the database see it; see `PublishedAnswer`."""
    for key, answer in answers_of([campaign.pk]).items():
        row = PublishedAnswer(
            campaign_id=key,
            sentence=answer.sentence,
            caveat=answer.caveat,
            badges=msgspec.to_builtins(answer.badges),
            means=_means_of_cells(campaign),
            computed_at=Finding.objects.values_list("computed_at", flat=True).get(
                campaign=key, name="answer"
            ),
            version=__version__,
        )
        PublishedAnswer.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["campaign"],
            update_fields=["sentence", "caveat", "badges", "means", "computed_at", "version"],
        )


def published() -> QuerySet[PublishedAnswer]:
    """Return the answers that hold: of findings of these methods.

    The methods are a value, not EXISTS, which the database would join with the findings of all campaigns first.
    """
    answer = Finding.objects.filter(campaign=OuterRef("pk"), name="answer")
    rows = PublishedAnswer.objects.alias(methods=Subquery(answer.values("versions__methods")))
    return rows.filter(methods=METHODS)


def listed(row: PublishedAnswer) -> ListedAnswer:
    """Return a published answer in its types."""
    badges = msgspec.convert(row.badges, tuple[Display, ...])
    return ListedAnswer(row.sentence, badges, row.means)


def _means_of_cells(campaign: Campaign) -> list[float | None]:
    """Return the mean of each cell (geometric where there is one).

    Paired campaigns have none: their strata do different work, so no curve joins them.
    """
    rows = Finding.objects.filter(campaign=campaign, name=f"brief:{campaign.primary_metric}")
    means = rows.values_list(
        values_at("result", "$.cells[*].summary.gmean"),
        values_at("result", "$.cells[*].summary.mean"),
    ).first()
    if means is None or campaign.paired_factor:
        return []
    return [mean if gmean is None else gmean for gmean, mean in zip(*means, strict=True)]
