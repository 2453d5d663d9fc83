"""REST resources of findings, exclusions, the log and workers."""

from typing import Any

from django.db import transaction
from django.db.models import Case, Value, When
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.findings.api.shapes import ResultField, TextField
from campaigns.findings.texts import texts_of
from campaigns.kit.api.inputs import Input, NoQuery
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.rights import Right
from campaigns.models import Exclusion, Finding, LogLine, Worker
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.planning.api.base import CampaignApi
from campaigns.planning.workers import present
from campaigns.results.api.base import RunApi
from campaigns.results.filters import ExclusionFilters, LogLineFilters
from campaigns.results.pages_data import shown_findings


class ExclusionOutput(Selectable, serializers.ModelSerializer[Exclusion]):
    """A run excluded from the analysis. `withdrawn_at` is null while the exclusion is in force."""

    run = serializers.IntegerField(source="run.position")
    by = serializers.StringRelatedField[Any](source="user", allow_null=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Exclusion
        fields = ["id", "run", "by", "reason", "at", "withdrawn_at", "url"]

    def get_url(self, exclusion: Exclusion) -> str:
        """Return the address of the exclusion."""
        key = [exclusion.run.campaign_id, exclusion.pk]
        return reverse("api-exclusion", key, request=self.context["request"])


class FindingRow(Selectable, serializers.ModelSerializer[Finding]):
    """A finding. `data_hash`: of the data it was computed from; `versions`: of what computed it."""

    versions = serializers.DictField(child=serializers.JSONField())
    url = serializers.SerializerMethodField()

    class Meta:
        model = Finding
        fields = ["name", "data_hash", "versions", "computed_at", "url"]

    def get_url(self, finding: Finding) -> str:
        """Return the address of the finding with its result."""
        key = [finding.campaign_id, finding.name]
        return reverse("api-finding", key, request=self.context["request"])


class FindingOutput(FindingRow):
    """A finding with its result. `text`: what its page says of it; null where it says nothing."""

    result = ResultField()
    text = serializers.SerializerMethodField()

    class Meta(FindingRow.Meta):
        fields = [*FindingRow.Meta.fields, "result", "text"]

    @extend_schema_field(TextField)
    def get_text(self, finding: Finding) -> Any:
        """Return what the page says of the finding; null where it says nothing."""
        return texts_of(finding.campaign, [finding.name]).get(finding.name)


class LogLineOutput(Selectable, serializers.ModelSerializer[LogLine]):
    """One line of a campaign's log. `run`: position of its run; null without one."""

    run = serializers.IntegerField(source="run.position", allow_null=True, default=None)

    class Meta:
        model = LogLine
        fields = ["at", "tone", "text", "run"]


class WorkerOutput(Selectable, serializers.ModelSerializer[Worker]):
    """A worker process. `present`: it has reported recently, and has the version of the web server."""

    pools = serializers.ListField(child=serializers.CharField())
    present = serializers.BooleanField()

    class Meta:
        model = Worker
        fields = ["name", "host", "pools", "seen_at", "version", "present"]


class ExcludeInput(Input):
    """Which run is taken out of the analysis, and why."""

    run = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    reason = serializers.CharField(max_length=1000)


class Findings(CampaignApi):
    """GET: what the statistics say, by name."""

    @operation("list_findings", "findings", answer=FindingRow)
    def get(self, request: Request, pk: int) -> Response:
        """Which findings there are, and of what they were computed; results are at their `url`.

        While the campaign is active none that judges is among them.
        """
        rows = shown_findings(self.campaign(pk)).defer("result")
        return self.page(rows, FindingRow, "name")


class OneFinding(CampaignApi):
    """GET: one finding."""

    @operation("get_finding", "findings", answer=FindingOutput)
    def get(self, request: Request, pk: int, name: str) -> Response:
        """One finding with its result."""
        self.read_query(NoQuery)
        campaign = self.campaign(pk)
        row = shown_findings(campaign).filter(name=name).first()
        if row is None and campaign.withheld and name in Finding.JUDGING:
            raise Http404(campaign.withheld)
        if row is None:
            raise Http404(f"This campaign has no finding “{name}”.")
        return Response(self.shown(row, FindingOutput))


class Exclusions(RunApi):
    """GET: who took which run out of the analysis. POST: take one out."""

    takes = {"post": Right.WRITE}

    @operation("list_exclusions", "exclusions", answer=ExclusionOutput, filters=ExclusionFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Exclusions, those that were withdrawn among them."""
        rows = Exclusion.objects.filter(run__campaign=self.campaign(pk))
        rows = rows.select_related("run", "user")
        return self.page(rows, ExclusionOutput, "pk", ExclusionFilters)

    @operation(
        "exclude_run",
        "exclusions",
        body=ExcludeInput,
        answer=ExclusionOutput,
        code=status.HTTP_201_CREATED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Take a run out of the analysis, by name and with a reason; it stays visible."""
        campaign = self.campaign(pk)
        sent = self.read(ExcludeInput)
        run = self.run(pk, sent["run"])
        with transaction.atomic():
            made = lifecycle.exclude(run, self.user, sent["reason"])
            request_analysis(campaign)
        work_waits.send(sender=None)
        fresh = Exclusion.objects.select_related("run", "user").get(pk=made.pk)
        data = self.shown(fresh, ExclusionOutput)
        return Response(data, status=status.HTTP_201_CREATED, headers={"Location": data["url"]})


class OneExclusion(CampaignApi):
    """GET: one exclusion."""

    @operation("get_exclusion", "exclusions", answer=ExclusionOutput)
    def get(self, request: Request, pk: int, exclusion: int) -> Response:
        """One exclusion."""
        return self.one(exclusion_of(pk, exclusion), ExclusionOutput)


class Withdraw(CampaignApi):
    """POST: let an excluded run count again."""

    takes = {"post": Right.WRITE}

    @operation("withdraw_exclusion", "exclusions", answer=ExclusionOutput)
    def post(self, request: Request, pk: int, exclusion: int) -> Response:
        """Let the run count again; the record of the exclusion stays."""
        campaign, result = self.campaign(pk), exclusion_of(pk, exclusion)
        if result.withdrawn_at is not None:
            raise NotPossible("This exclusion is withdrawn already.")
        with transaction.atomic():
            lifecycle.include(result.run, self.user)
            request_analysis(campaign)
        work_waits.send(sender=None)
        return Response(self.shown(exclusion_of(pk, exclusion), ExclusionOutput))


def exclusion_of(campaign: int, exclusion: int) -> Exclusion:
    """Find an exclusion of a campaign, or raise Http404."""
    rows = Exclusion.objects.select_related("run", "user")
    return get_object_or_404(rows, pk=exclusion, run__campaign=campaign)


class Log(CampaignApi):
    """GET: the log of a campaign."""

    @operation("list_log_lines", "campaigns", answer=LogLineOutput, filters=LogLineFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Lines of the log, the oldest first."""
        rows = LogLine.objects.filter(campaign=self.campaign(pk)).select_related("run")
        return self.page(rows, LogLineOutput, "pk", LogLineFilters)


class Workers(Api):
    """GET: worker processes."""

    @operation("list_workers", "workers", answer=WorkerOutput)
    def get(self, request: Request) -> Response:
        """Worker processes that have ever answered, and which of them are present."""
        here = Case(When(pk__in=present().values("pk"), then=Value(True)), default=Value(False))
        return self.page(Worker.objects.annotate(present=here), WorkerOutput, "name")


class Alerts(CampaignApi):
    """Kept for alerts on what became worse."""

    @operation("list_alerts", "reserved")
    def get(self, request: Request, pk: int) -> Response:
        """Answer 404: the address is kept for alerts of a later version."""
        raise Http404("There are no alerts yet; a later version will use this address.")
