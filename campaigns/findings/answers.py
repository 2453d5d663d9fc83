"""The answers of campaigns as text, from their stored findings."""

from collections.abc import Collection

import msgspec

from campaigns.findings.store import Findings
from campaigns.findings.wording.answer import AnswerText
from campaigns.models import Finding
from campaigns.stats.methods import METHODS


def answers_of(campaigns: Collection[int]) -> dict[int, AnswerText]:
    """Return the answers of campaigns by their keys; those without current findings are absent.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    rows = Finding.objects.filter(campaign__in=campaigns, name="answer", versions__methods=METHODS)
    return {
        key: msgspec.convert(result, AnswerText)
        for key, result in rows.values_list("campaign", "result")
    }


def answer_of(findings: Findings) -> AnswerText | None:
    """Return the answer of a campaign; None where nothing is stored yet."""
    return msgspec.convert(findings.answer, AnswerText) if findings.answer is not None else None
