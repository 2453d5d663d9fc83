"""REST resource of conclusions: list, write, send, decide, withdraw; of one campaign, and its baseline."""

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import Model
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from campaigns.findings.api.comparing import comparison_as_json
from campaigns.kit.api.inputs import Flag, Input, NoQuery
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.outputs import picked, selected
from campaigns.kit.api.views import Api
from campaigns.kit.mappings import JsonObject
from campaigns.kit.moment import one_moment
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
    """A piece of evidence: a campaign, and a contrast, finding and chart of it."""

    campaign = serializers.IntegerField(min_value=1, max_value=LARGEST)
    contrast = serializers.DictField(child=serializers.JSONField(), required=False, allow_null=True)
    finding = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    view = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_VIEW
    )


class ConclusionInput(Input):
    """A new conclusion. `words`: justifications of checks, by their names; `supersedes`: an older conclusion."""

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
    """The fields to change. `changed_at`: of the conclusion as you read it, so that no other change is lost."""

    claim = serializers.CharField(required=False, max_length=500)
    evidence = serializers.ListField(
        child=EvidenceInput(), required=False, max_length=MOST_EVIDENCE
    )
    changed_at = serializers.DateTimeField(required=False)


class SendInput(Input):
    """The user names of the reviewers."""

    reviewers = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=MOST_REVIEWERS
    )


class DecideInput(Input):
    """A decision on the `revision` and `data_hash` that you read. `with_failed`: approve although checks failed."""

    decision = serializers.ChoiceField(choices=Decision.Word.choices)
    revision = serializers.IntegerField(min_value=0, max_value=LARGEST)
    data_hash = serializers.CharField(max_length=80)
    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)
    with_failed = Flag(default=False)


class WithdrawInput(Input):
    """The reason for withdrawing; required for an accepted conclusion."""

    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    revision = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST
    )


def content_in(sent: JsonObject, before: Content | None = None) -> Content:
    """Return the content of a request; what it leaves out stays as it was before."""
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
    """Base of the views of one conclusion."""

    of: ClassVar[type[Model] | None] = Conclusion

    def answer(self, conclusion: Conclusion, code: int = status.HTTP_200_OK) -> Response:
        """Return a conclusion as it is stored now."""
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
        """List the conclusions that you may see, the newest first."""
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
        """Create a draft; it belongs to the team of the first campaign of its evidence."""
        made = create(self.user, content_in(self.read(ConclusionInput)))
        return self.answer(made, status.HTTP_201_CREATED)


class OneConclusion(ConclusionApi):
    """GET: a conclusion. PATCH: edit it. DELETE: delete a draft that was never sent."""

    takes = {"patch": Right.WRITE, "delete": Right.WRITE}

    @operation("get_conclusion", TAG, answer=ConclusionDetail)
    @one_moment()
    def get(self, request: Request, pk: int) -> Response:
        """Return a conclusion with its evidence, checklist, decisions and the changes that re-opened it."""
        return self.one(prefetched(Conclusion.objects).get(pk=pk), ConclusionDetail, revised)

    @operation("edit_conclusion", TAG, body=ConclusionChange, answer=ConclusionDetail)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent, of a draft or of a conclusion that came back to its author."""
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
        """Freeze findings, checklist and data hash, increase the revision, and ask reviewers to decide."""
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
        """Approve, request changes of, or reject what you read. You cannot decide on what you wrote yourself."""
        sent = self.read(DecideInput)
        word = sent.pop("decision")
        return self.answer(decide(pk, self.user, word, **sent))


class Withdraw(ConclusionApi):
    """POST {reason}: withdraw to draft."""

    takes = {"post": Right.WRITE}

    @operation("withdraw_conclusion", TAG, body=WithdrawInput, answer=ConclusionDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw a conclusion to draft; its decisions stay on record and no longer count."""
        sent = self.read(WithdrawInput)
        return self.answer(withdraw(pk, self.user, sent["reason"], sent["revision"]))


class CampaignConclusions(CampaignApi):
    """GET: conclusions that rest on a campaign."""

    of = Campaign

    @operation("list_campaign_conclusions", TAG, answer=ConclusionOutput, filters=ConclusionFilters)
    def get(self, request: Request, pk: int) -> Response:
        """List the conclusions that rest on this campaign, the newest first."""
        rows = prefetched(conclusions_on(self.campaign(pk), self.user))
        return self.page(rows, ConclusionOutput, "-pk", ConclusionFilters)


class CampaignBaseline(CampaignApi):
    """GET: the accepted conclusion that a campaign is compared with."""

    of = Campaign

    @operation("get_baseline", TAG, answer=BaselineOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return the accepted conclusion on an earlier campaign of the same template or line of clones."""
        self.read_query(NoQuery)
        value = _baseline(self, self.campaign(pk))
        return Response(picked(value, selected(request, BaselineOutput)))


def _baseline(view: APIView, campaign: Campaign) -> JsonObject:
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
    keys = [result.campaign.pk, campaign.pk]
    cells = Cell.objects.filter(campaign__in=keys).values_list("pk", "position")
    return {**facts, "reason": "", "comparison": comparison_as_json(compared, dict(cells), request)}
