"""The answers of campaigns as text, from their stored findings."""

import logging
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from campaigns.findings.store import AS_TEXT, SHAPES, Findings, decode
from campaigns.findings.values import Answer
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.models import Campaign, Finding, PublishedAnswer
from campaigns.stats.methods import METHODS

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


def publish_answer(campaign: Campaign) -> None:
    """Store the answer of a campaign as text for readers of the database; see `PublishedAnswer`."""
    for key, answer in answers_of([campaign.pk]).items():
        PublishedAnswer.objects.update_or_create(
            campaign_id=key, defaults={"sentence": answer.sentence, "caveat": answer.caveat}
        )
