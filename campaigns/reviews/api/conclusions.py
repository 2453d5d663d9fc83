"""Conclusions: list, write, send, decide, take back; those of a campaign, and its baseline."""

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import Model
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from campaigns.kit.api.inputs import Flag, Input, NoQuery
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.outputs import picked, selected
from campaigns.kit.api.views import Api
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Cell, Conclusion, Decision
from campaigns.planning.api.base import CampaignApi
from campaigns.reviews.api.conclusion_outputs import (
    BaselineOutput,
    ConclusionDetail,
    ConclusionOutput,
    prefetched,
)
from campaigns.reviews.baselines import baseline_of, compare_with
from campaigns.reviews.content import Cited, Content, content_of, revised
from campaigns.reviews.deciding import decide
from campaigns.reviews.drafting import create, delete, edit
from campaigns.reviews.filters import ConclusionFilters
from campaigns.reviews.queries import conclusions_on, conclusions_seen_by
from campaigns.reviews.sending import MOST_REVIEWERS, send, withdraw
from campaigns.reviews.validation import LONGEST_TEXT, LONGEST_VIEW, LONGEST_WORD, MOST_EVIDENCE

TAG = "conclusions"
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


class ConclusionApi(Api):
    """What views of one conclusion share."""

    of: ClassVar[type[Model] | None] = Conclusion

    def answer(self, conclusion: Conclusion, code: int = status.HTTP_200_OK) -> Response:
        """Read a conclusion as it is now, with everything about it."""
        fresh = prefetched(Conclusion.objects).get(pk=conclusion.pk)
        self.revision = revision_of(revised(fresh))
        data = self.shown(fresh, ConclusionDetail)
        headers = {"Location": data["url"]} if code == status.HTTP_201_CREATED else {}
        return Response(data, status=code, headers=headers)


class Conclusions(ConclusionApi):
    """GET: conclusions, filtered. POST: a new draft."""

    of = None
    takes = {"post": Right.WRITE}

    @operation("list_conclusions", TAG, answer=ConclusionOutput, filters=ConclusionFilters)
    def get(self, request: Request) -> Response:
        """Conclusions that you may see, the newest first."""
        rows = prefetched(conclusions_seen_by(self.user))
        return self.page(rows, ConclusionOutput, "-pk", ConclusionFilters)

    @operation(
        "create_conclusion",
        TAG,
        body=ConclusionInput,
        answer=ConclusionDetail,
        refusals=[NOT_FOUND],
    )
    def post(self, request: Request) -> Response:
        """Store a draft; it belongs to the team of the first campaign that it names."""
        made = create(self.user, content_in(self.read(ConclusionInput)))
        return self.answer(made, status.HTTP_201_CREATED)


class OneConclusion(ConclusionApi):
    """GET: one. PATCH: change what it says. DELETE: a draft that was never sent."""

    takes = {"patch": Right.WRITE, "delete": Right.WRITE}

    @operation("get_conclusion", TAG, answer=ConclusionDetail)
    def get(self, request: Request, pk: int) -> Response:
        """One conclusion with evidence, checklist, decisions and what re-opened it."""
        return self.one(prefetched(Conclusion.objects).get(pk=pk), ConclusionDetail, revised)

    @operation("edit_conclusion", TAG, body=ConclusionChange, answer=ConclusionDetail)
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is sent, of a draft, or of what came back to its author."""
        sent = self.read(ConclusionChange)
        seen = sent.pop("changed_at", None)
        content = content_in(sent, content_of(Conclusion.objects.get(pk=pk)))
        return self.answer(edit(pk, self.user, content, seen, self.seen))

    @operation("delete_conclusion", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a draft that was never sent to review."""
        delete(pk, self.user, self.seen)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Send(ConclusionApi):
    """POST {reviewers}: send to review."""

    takes = {"post": Right.WRITE}

    @operation("send_conclusion", TAG, body=SendInput, answer=ConclusionDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Freeze findings, checklist and data hash, and ask people to decide; the revision grows."""
        names = dict.fromkeys(self.read(SendInput)["reviewers"])
        people = {user.get_username(): user for user in User.objects.filter(username__in=names)}
        if unknown := [name for name in names if name not in people]:
            text = f"“{unknown[0][:150]}” cannot be asked; see possible_reviewers."
            raise ValidationError({"reviewers": [text]})
        return self.answer(send(pk, self.user, [people[name] for name in names]))


class Decide(ConclusionApi):
    """POST {decision, revision, data_hash, reason, with_failed}: decide on it."""

    takes = {"post": Right.REVIEW}

    @operation("decide_conclusion", TAG, body=DecideInput, answer=ConclusionDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Approve, ask for changes, or reject what you read; not what you wrote yourself."""
        sent = self.read(DecideInput)
        word = sent.pop("decision")
        return self.answer(decide(pk, self.user, word, **sent))


class Withdraw(ConclusionApi):
    """POST {reason}: take it back to draft."""

    takes = {"post": Right.WRITE}

    @operation("withdraw_conclusion", TAG, body=WithdrawInput, answer=ConclusionDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Take it back to draft; decisions stay on record and count no more."""
        sent = self.read(WithdrawInput)
        return self.answer(withdraw(pk, self.user, sent["reason"], sent["revision"]))


class CampaignConclusions(CampaignApi):
    """GET: conclusions that rest on a campaign."""

    of = Campaign

    @operation("list_campaign_conclusions", TAG, answer=ConclusionOutput, filters=ConclusionFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Conclusions that rest on this campaign, the newest first."""
        rows = prefetched(conclusions_on(self.campaign(pk), self.user))
        return self.page(rows, ConclusionOutput, "-pk", ConclusionFilters)


class CampaignBaseline(CampaignApi):
    """GET: the accepted conclusion that a campaign is compared with."""

    of = Campaign

    @operation("get_baseline", TAG, answer=BaselineOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The accepted conclusion on an earlier campaign of the same template, or line of clones."""
        self.read_query(NoQuery)
        value = _baseline(self, self.campaign(pk))
        return Response(picked(value, selected(request, BaselineOutput)))


def _baseline(view: APIView, campaign: Campaign) -> dict[str, Any]:
    request: Any = view.request
    result = baseline_of(campaign, request.user)
    nothing = {"conclusion": None, "campaign": None, "kinship": "", "stands": False}
    if result is None:
        why = "No accepted conclusion rests on an earlier campaign of its kin."
        return {**nothing, "reason": why, "comparison": None}
    shown = ConclusionOutput(result.conclusion, context={"request": request}).data
    facts = {
        "conclusion": shown,
        "campaign": result.campaign.pk,
        "kinship": result.kinship,
        "stands": result.stands,
    }
    if not result.stands:
        why = f"It is {result.conclusion.get_state_display()}: {result.conclusion.reason}"
        return {**facts, "reason": why, "comparison": None}
    compared = compare_with(result, campaign)
    if isinstance(compared, str):
        return {**facts, "reason": compared, "comparison": None}
    # Loads scipy, which few requests need.
    from campaigns.findings.api.compared import comparison_as_json

    keys = [result.campaign.pk, campaign.pk]
    cells = Cell.objects.filter(campaign__in=keys).values_list("pk", "position")
    return {**facts, "reason": "", "comparison": comparison_as_json(compared, dict(cells), request)}
