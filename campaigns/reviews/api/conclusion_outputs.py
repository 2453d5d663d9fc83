"""Shapes of conclusions in the REST API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.findings.api.comparing import ComparisonOutput
from campaigns.kit.api import outputs
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.mappings import JsonObject
from campaigns.models import Conclusion, Decision, Evidence
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.deciding import approvals
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.queries import review_requests
from campaigns.reviews.rows import possible_reviewers


class EvidencePart(outputs.Part):
    """A piece of evidence. `data_hash`, `versions`, `sessions`: as frozen when the conclusion was sent to review."""

    campaign = serializers.IntegerField()
    url = serializers.URLField()
    contrast = serializers.JSONField(allow_null=True)
    finding = outputs.text()
    view = outputs.text()
    data_hash = outputs.text()
    versions = serializers.DictField(child=serializers.CharField())
    sessions = serializers.IntegerField()


class CheckPart(outputs.Part):
    """A check of one campaign. `word`: the author's justification; `missing`: it requires one, for its present result."""

    name = serializers.CharField(help_text="The key under which a justification is sent.")
    title = serializers.CharField()
    campaign = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["pass", "warn", "fail"])
    number = serializers.CharField()
    words = serializers.CharField()
    word = outputs.text()
    missing = serializers.BooleanField()


class DecisionPart(outputs.Part):
    """A decision on a revision. Only decisions on the current revision count."""

    by = serializers.CharField()
    decision = serializers.ChoiceField(choices=Decision.Word.choices)
    reason = outputs.text()
    revision = serializers.IntegerField()
    data_hash = serializers.CharField()
    at = serializers.DateTimeField()


class ReviewRequestPart(outputs.Part):
    """A reviewer who was asked to decide."""

    reviewer = serializers.CharField()
    asked_by = outputs.text()
    asked_at = serializers.DateTimeField()
    decided = serializers.BooleanField()


class ChangePart(outputs.Part):
    """A change that re-opened the conclusion. `before`, `after`: the values, if it has any. `kind`: data or finding."""

    campaign = serializers.IntegerField()
    kind = serializers.CharField()
    words = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class ConclusionOutput(Selectable, serializers.ModelSerializer[Conclusion]):
    """A conclusion in a list."""

    team = serializers.CharField(source="team.name")
    author = serializers.CharField(source="author.username")
    state = serializers.ChoiceField(choices=Conclusion.State.choices)
    supersedes = serializers.IntegerField(source="supersedes_id", allow_null=True)
    campaigns: Any = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()

    class Meta:
        model = Conclusion
        fields = [
            *("id", "team", "author", "claim", "recommendation", "limits", "state", "reason"),
            *("revision", "supersedes", "campaigns", "created_at", "changed_at", "sent_at"),
            *("decided_at", "url", "page"),
        ]

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_campaigns(self, row: Conclusion) -> list[int]:
        """Return the ids of the campaigns that the conclusion rests on."""
        return list(dict.fromkeys(each.campaign_id for each in row.evidence.all()))

    def get_url(self, row: Conclusion) -> str:
        """Return its URL in the API."""
        return str(reverse("api-conclusion", [row.pk], request=self.context["request"]))

    def get_page(self, row: Conclusion) -> str:
        """Return the URL of its page."""
        return str(reverse("conclusion", [row.pk], request=self.context["request"]))


class ConclusionDetail(ConclusionOutput):
    """A conclusion with evidence, checklist, reviewers and decisions."""

    data_hash: Any = serializers.SerializerMethodField(
        help_text="The hash that decisions are bound to; of several campaigns, a hash of their hashes."
    )
    writers: Any = serializers.SerializerMethodField(help_text="They may not decide on it.")
    evidence: Any = serializers.SerializerMethodField()
    checklist: Any = serializers.SerializerMethodField()
    asked: Any = serializers.SerializerMethodField()
    possible_reviewers: Any = serializers.SerializerMethodField(
        help_text="Users who may be asked to review it."
    )
    decisions: Any = serializers.SerializerMethodField()
    approvals: Any = serializers.SerializerMethodField(help_text="Those that count today.")
    approvals_needed = serializers.IntegerField(source="team.approvals_needed")
    reopened_by = ChangePart(many=True)

    class Meta(ConclusionOutput.Meta):
        fields = [
            *ConclusionOutput.Meta.fields,
            *("data_hash", "writers", "evidence", "checklist", "asked", "possible_reviewers"),
            *("decisions", "approvals", "approvals_needed", "reopened_by"),
        ]

    @extend_schema_field(serializers.CharField())
    def get_data_hash(self, row: Conclusion) -> str:
        """Return the hash of the data; empty before the conclusion is sent to review."""
        return data_hash_of(row)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_writers(self, row: Conclusion) -> list[str]:
        """Return the names of the author and of everybody who edited or sent it."""
        rows = row.writers.order_by("username")
        return list(rows.values_list("username", flat=True))

    @extend_schema_field(EvidencePart(many=True))
    def get_evidence(self, row: Conclusion) -> list[JsonObject]:
        """Return the evidence, in its order."""
        return [self._evidence(each) for each in row.evidence.defer(None)]

    @extend_schema_field(CheckPart(many=True))
    def get_checklist(self, row: Conclusion) -> list[JsonObject]:
        """Return the checks: as frozen when it was sent to review, or as they are now while it can be edited."""
        checks = checklist(row)
        missing = {check.key for check in without_word(row, checks)}
        texts = {word.check_name: word.text for word in row.words.all()}
        return [
            {
                "name": check.key,
                "title": check.title,
                "campaign": check.campaign,
                "state": check.state,
                "number": check.number,
                "words": check.words,
                "word": texts.get(check.key, ""),
                "missing": check.key in missing,
            }
            for check in checks
        ]

    @extend_schema_field(ReviewRequestPart(many=True))
    def get_asked(self, row: Conclusion) -> list[JsonObject]:
        """Return the reviewers who were asked, and when."""
        return [
            {
                "reviewer": each.name,
                "asked_by": each.asked_by,
                "asked_at": each.asked_at,
                "decided": each.decision is not None,
            }
            for each in review_requests(row)
            if each.asked_at is not None
        ]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_possible_reviewers(self, row: Conclusion) -> list[str]:
        """Return the names of members who may review it and did not edit it."""
        return [user.get_username() for user in possible_reviewers(row)]

    @extend_schema_field(DecisionPart(many=True))
    def get_decisions(self, row: Conclusion) -> list[JsonObject]:
        """Return the decisions, the oldest first."""
        return [
            {
                "by": each.user.get_username(),
                "decision": each.word,
                "reason": each.reason,
                "revision": each.revision,
                "data_hash": each.data_hash,
                "at": each.at,
            }
            for each in row.decisions.select_related("user")
        ]

    @extend_schema_field(serializers.IntegerField())
    def get_approvals(self, row: Conclusion) -> int:
        """Return the number of approvals of this revision by users who may review it today."""
        return len(approvals(row))

    def _evidence(self, each: Evidence) -> JsonObject:
        request = self.context["request"]
        return {
            "campaign": each.campaign_id,
            "url": reverse("api-campaign", [each.campaign_id], request=request),
            "contrast": each.contrast,
            "finding": each.finding,
            "view": each.view,
            "data_hash": each.data_hash,
            "versions": each.snapshot.get("versions", {}),
            "sessions": each.snapshot.get("sessions", 0),
        }


class BaselineOutput(Selectable):
    """The baseline of a campaign. `comparison`: null if there is none; `reason` explains why."""

    conclusion = ConclusionOutput(allow_null=True)
    campaign = serializers.IntegerField(allow_null=True)
    kinship = outputs.text()
    stands = serializers.BooleanField()
    reason = outputs.text()
    comparison = ComparisonOutput(allow_null=True)


def prefetched(rows: Any) -> Any:
    """Prefetch what each answer reads."""
    return rows.select_related("team", "author", "supersedes").prefetch_related("evidence")
