"""Output shapes of targets and campaigns. They never hold a password, not even an encrypted one."""

from dataclasses import asdict
from typing import Any

from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from campaigns.execution import live
from campaigns.findings.api.shapes import ResultField, TextField
from campaigns.findings.texts import texts_of
from campaigns.kit.api.outputs import Part, Selectable, all_of, text
from campaigns.kit.mappings import JsonObject
from campaigns.kit.structs import schema_of
from campaigns.models import Campaign, Factor, LaunchRequest
from campaigns.planning import storage
from campaigns.planning.amendments import amendments_of
from campaigns.planning.analyses import failure_of
from campaigns.planning.api.cell_name import CellName
from campaigns.planning.api.launch_outputs import LaunchRequestOutput
from campaigns.planning.closed_loops import loop_of
from campaigns.planning.definition import Definition
from campaigns.planning.roles import roles_told
from campaigns.results import environment, records, search_runs, versions
from campaigns.results.api.run_outputs import cell_output
from campaigns.results.json_document import finding_entries
from campaigns.targets.api.outputs import TargetName


class RunCounts(Part):
    """How many runs are in which state, without try-outs."""

    total = serializers.IntegerField()
    planned = serializers.IntegerField()
    running = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    void = serializers.IntegerField()
    cancelled = serializers.IntegerField()


class CampaignLinks(Part):
    """Links to related resources; `page` is for people."""

    self = serializers.URLField()
    runs = serializers.URLField()
    page = serializers.URLField()


class EnvironmentChange(Part):
    """A fact that was not the same in all runs. `target`: whose it is, where a campaign has several."""

    side = serializers.CharField()
    name = serializers.CharField()
    before = text()
    after = text()
    last_run_before = serializers.IntegerField()
    first_run_after = serializers.IntegerField()
    target = text()


class AmendmentOutput(Part):
    """Changes of locked fields after launch."""

    label = serializers.CharField()  # type: ignore[assignment]
    before = text()
    after = text()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    reason = text()


class FindingEntry(Part):
    """A finding. `text`: what its page says of it; `data_hash`: of its input; `versions`: of what computed it."""

    result = ResultField()
    text = TextField()
    data_hash = serializers.CharField()
    versions = serializers.DictField(child=serializers.JSONField())
    computed_at = serializers.DateTimeField()


class SearchLineOutput(Part):
    """What is known of a setting. held, failed: the bracket, by single runs, which decide nothing; null: no such load yet."""

    levels = serializers.DictField(child=serializers.JSONField())
    held = serializers.FloatField(allow_null=True)
    failed = serializers.FloatField(allow_null=True)


class SearchOutput(Part):
    """Where a search for capacity is. phase: of the next run; empty once it has ended. next_load: of that run.

    largest: the load that no run exceeds, by the definition and the limits of the target's owner. units_failed: in all runs
    together; with more than most_failed the search ends. person: who is to stop it.
    """

    phase = text()
    person = text()
    next_load = serializers.FloatField(allow_null=True)
    text = text()
    runs = serializers.IntegerField()
    most_runs = serializers.IntegerField()
    units_failed = serializers.IntegerField()
    most_failed = serializers.IntegerField(allow_null=True)
    largest = serializers.FloatField()
    settings = SearchLineOutput(many=True)


class ClosedLoopOutput(Part):
    """A fixed number of requests at a time. parameter: that number; throughput, response: what was measured of it, where anybody did."""

    parameter = serializers.CharField()
    throughput = serializers.CharField()
    response = text()


class CampaignOutput(Selectable, serializers.ModelSerializer[Campaign]):
    """A campaign in a list. `runs`: how many are in which state, without try-outs."""

    author = serializers.StringRelatedField[Any](allow_null=True)
    target = serializers.SerializerMethodField()
    targets = serializers.SerializerMethodField()
    runs = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [
            "id",
            "team",
            "name",
            "question",
            "kind",
            "target",
            "targets",
            "tags",
            "state",
            "state_reason",
            "author",
            "source",
            "clone_of",
            "created_at",
            "launched_at",
            "closed_at",
            "archived_at",
            "template",
            "runs",
            "links",
        ]

    @extend_schema_field(TargetName(allow_null=True))
    def get_target(self, campaign: Campaign) -> JsonObject | None:
        """Primary key and name."""
        target = campaign.target
        return {"id": target.pk, "name": target.name} if target else None

    @extend_schema_field(TargetName(many=True))
    def get_targets(self, campaign: Campaign) -> list[JsonObject]:
        """All of them in their order: several are compared side by side."""
        return [{"id": target.pk, "name": target.name} for target in campaign.targets]

    @extend_schema_field(RunCounts)
    def get_runs(self, campaign: Campaign) -> dict[str, int]:
        """Counts, read for all campaigns of a list at once."""
        counts = self._counts[campaign.pk]
        return {"total": sum(counts.values()), **counts}

    @extend_schema_field(CampaignLinks)
    def get_links(self, campaign: Campaign) -> dict[str, str]:
        """Return links to related resources."""
        request, key = self.context["request"], [campaign.pk]
        return {
            "self": reverse("api-campaign", key, request=request),
            "runs": reverse("api-runs", key, request=request),
            "page": reverse("campaign", key, request=request),
        }

    @cached_property
    def _counts(self) -> dict[int, dict[str, int]]:
        return records.runs_by_state([campaign.pk for campaign in all_of(self)])


class CampaignDetail(CampaignOutput):
    """A campaign with its definition, its cells and its findings."""

    simulators = serializers.SerializerMethodField()
    environment_changes = serializers.SerializerMethodField()
    definition = serializers.SerializerMethodField()
    roles = serializers.SerializerMethodField()
    closed_loop = serializers.SerializerMethodField()
    amendments = serializers.SerializerMethodField()
    cells = serializers.SerializerMethodField()
    seconds_left = serializers.SerializerMethodField()
    analysis_pending = serializers.SerializerMethodField()
    analysis_failure = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()
    answer_withheld = serializers.CharField(source="withheld", read_only=True)
    version = serializers.SerializerMethodField()
    launch_request = serializers.SerializerMethodField()
    search = serializers.SerializerMethodField()
    caveat = serializers.CharField(read_only=True)

    class Meta(CampaignOutput.Meta):
        fields = [
            *CampaignOutput.Meta.fields,
            "fidelity",
            "simulators",
            "environment_changes",
            "definition",
            "roles",
            "closed_loop",
            "amendments",
            "cells",
            "seconds_left",
            "analysis_pending",
            "analysis_failure",
            "findings",
            "answer_withheld",
            "version",
            "launch_request",
            "search",
            "caveat",
        ]

    def get_simulators(self, campaign: Campaign) -> list[str]:
        """The simulated servers that were measured instead of real ones; empty for real ones."""
        return environment.simulators_of(campaign)

    @extend_schema_field(EnvironmentChange(many=True))
    def get_environment_changes(self, campaign: Campaign) -> list[JsonObject]:
        """Facts that were not the same in all runs, and between which runs they changed."""
        facts = environment.environment_of(campaign)
        return [asdict(change) for change in environment.changes_of(campaign, facts)]

    @extend_schema_field(schema_of(Definition))
    def get_definition(self, campaign: Campaign) -> JsonObject:
        """In the form in which it can be sent again."""
        return storage.definition_of(campaign)

    @extend_schema_field(
        serializers.DictField(
            child=serializers.ChoiceField(choices=Factor.Role.choices, allow_blank=True)
        )
    )
    def get_roles(self, campaign: Campaign) -> dict[str, str]:
        """The role of each factor, by the definition or by the kind: a load is never ranked. Empty where it is not stated, and asked for."""
        return roles_told(campaign)

    @extend_schema_field(ClosedLoopOutput(allow_null=True))
    def get_closed_loop(self, campaign: Campaign) -> JsonObject | None:
        """The closed loop, declared by the kind or with submitted runs; null where its number does not vary."""
        loop = loop_of(campaign)
        if loop is None:
            return None
        return {
            "parameter": loop.parameter,
            "throughput": loop.throughput,
            "response": loop.response,
        }

    @extend_schema_field(AmendmentOutput(many=True))
    def get_amendments(self, campaign: Campaign) -> list[JsonObject]:
        """Changes of locked fields after launch."""
        return [asdict(amendment) for amendment in amendments_of(campaign)]

    @extend_schema_field(CellName(many=True))
    def get_cells(self, campaign: Campaign) -> list[JsonObject]:
        """Positions and levels."""
        return [cell_output(cell) for cell in campaign.cells.all()]

    def get_seconds_left(self, campaign: Campaign) -> float | None:
        """Expected seconds until the last run has ended; null where unknown."""
        if campaign.state not in Campaign.ACTIVE:
            return None
        return live.progress_of(campaign).left_seconds

    def get_analysis_pending(self, campaign: Campaign) -> bool:
        """Return whether the findings are older than the latest runs or changes."""
        return campaign.analysis_requested_at is not None

    def get_analysis_failure(self, campaign: Campaign) -> str:
        """Return why the last analysis failed, so that the findings are older; empty where it did not."""
        return failure_of(campaign)

    @extend_schema_field(serializers.DictField(child=FindingEntry()))
    def get_findings(self, campaign: Campaign) -> JsonObject:
        """Findings by name; none with a verdict while the campaign is active, see `answer_withheld`."""
        entries = finding_entries(campaign, texts_of(campaign))
        return {entry.pop("name"): entry for entry in entries}

    @extend_schema_field(LaunchRequestOutput(allow_null=True))
    def get_launch_request(self, campaign: Campaign) -> JsonObject | None:
        """The request that waits for approval by a second person; null where there is none."""
        rows = campaign.launch_requests.filter(state=LaunchRequest.State.WAITING)
        row = rows.select_related("campaign", "asked_by").first()
        context = {"request": self.context["request"]}
        return dict(LaunchRequestOutput(row, context=context).data) if row else None

    @extend_schema_field(SearchOutput(allow_null=True))
    def get_search(self, campaign: Campaign) -> JsonObject | None:
        """Where the search for capacity is; null for other campaigns."""
        state = search_runs.state_of(campaign)
        if state is None:
            return None
        return {
            "phase": str(state.step.phase or ""),
            "next_load": state.step.load if state.step.phase else None,
            "text": state.text,
            "runs": state.runs,
            "most_runs": state.search.most_runs * len(state.settings),
            "units_failed": state.failed,
            "most_failed": state.search.most_failed,
            "person": state.search.person,
            "largest": state.bounds.largest,
            "settings": [
                {"levels": line.levels, "held": line.held, "failed": line.failed}
                for line in search_runs.lines_of(state)
            ],
        }

    def get_version(self, campaign: Campaign) -> str:
        """Text that changes with every run, phase, exclusion, state, analysis and approval; for `seen`."""
        return versions.whole_version(campaign)
