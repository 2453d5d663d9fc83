"""The shape of what comes in about conclusions: types only. What it means, `campaigns.reviews` decides."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api.inputs import Flag, Input
from campaigns.models import Decision
from campaigns.reviews.checking import LONGEST_TEXT, LONGEST_VIEW, LONGEST_WORD, MOST_EVIDENCE
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.sending import MOST_REVIEWERS

LARGEST = 2**31 - 1


class EvidenceInput(Input):
    """What it rests on: a campaign, and which contrast, finding and chart of it."""

    campaign = serializers.IntegerField(min_value=1, max_value=LARGEST)
    contrast = serializers.DictField(child=serializers.JSONField(), required=False, allow_null=True)
    finding = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    view = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_VIEW
    )


class ConclusionInput(Input):
    """A new conclusion. `words`: on checks, by their names; `supersedes`: an older one."""

    claim = serializers.CharField(max_length=500)
    recommendation = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_TEXT
    )
    limits = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_TEXT)
    evidence = serializers.ListField(child=EvidenceInput(), max_length=MOST_EVIDENCE)
    supersedes = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=LARGEST
    )
    words = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=LONGEST_WORD), required=False
    )


class ConclusionChange(ConclusionInput):
    """What is to be another; `changed_at`: of what was read, so that nobody's change is lost."""

    claim = serializers.CharField(required=False, max_length=500)
    evidence = serializers.ListField(
        child=EvidenceInput(), required=False, max_length=MOST_EVIDENCE
    )
    changed_at = serializers.DateTimeField(required=False)


class SendInput(Input):
    """Who is asked, by user name."""

    reviewers = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=MOST_REVIEWERS
    )


class DecideInput(Input):
    """A decision on what was read: its `revision` and `data_hash`. `with_failed`: failed checks were seen."""

    decision = serializers.ChoiceField(choices=Decision.Word.choices)
    revision = serializers.IntegerField(min_value=0, max_value=LARGEST)
    data_hash = serializers.CharField(max_length=80)
    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)
    with_failed = Flag(default=False)


class WithdrawInput(Input):
    """Why it is taken back; an accepted one takes a reason."""

    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    revision = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST
    )


def content_in(sent: dict[str, Any], before: Content | None = None) -> Content:
    """What was sent; what was not stays as it was before."""
    return Content(
        claim=sent.get("claim", before.claim if before else ""),
        recommendation=sent.get("recommendation", before.recommendation if before else ""),
        limits=sent.get("limits", before.limits if before else ""),
        evidence=[Cited(**each) for each in sent["evidence"]]
        if "evidence" in sent
        else list(before.evidence if before else []),
        supersedes=sent.get("supersedes", before.supersedes if before else None),
        words=sent.get("words", {}),
    )
