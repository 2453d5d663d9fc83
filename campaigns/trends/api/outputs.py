"""Answers about lines, their occasions, readings, trends and points."""

import math

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from campaigns.kit.api.outputs import ModelOutput, Part, Selectable, text
from campaigns.models import Line, Occasion, Point, Reading, Trend
from campaigns.trends.standing import EVIDENCE
from campaigns.trends.values import TrendState
from campaigns.trends.wording import border_text


class LineOutput(ModelOutput[Line]):
    """A line. `switch`: the build of the target that installs a version; null without one. `template`, `target`: null where its campaigns come from outside. `subject`: empty where time is the axis."""

    team = serializers.CharField(source="team.name")
    template = serializers.IntegerField(source="template_id", allow_null=True)
    target = serializers.IntegerField(source="target_id", allow_null=True)
    owner = serializers.CharField(source="owner.username")
    state_reason = text()
    subject = text()
    cron = text()
    switch = serializers.CharField(source="switch.name", allow_null=True, default=None)
    metrics = serializers.ListField(child=serializers.CharField())
    restless = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Line
        fields = [
            "id",
            "team",
            "name",
            "template",
            "target",
            "kind",
            "question",
            "subject",
            "owner",
            "state",
            "state_reason",
            "by_version",
            "sessions_per_version",
            "cron",
            "zone",
            "due_at",
            "minutes_a_week",
            "switch",
            "confirm",
            "metrics",
            "restless",
            "created_at",
        ]


class SuspectOutput(Part):
    """A trend that is worse in a version. `good`: the last version before it. `change_pct`, `low_pct`, `high_pct`: new over old."""

    trend = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    evidence = serializers.ChoiceField(choices=EVIDENCE)
    good = text()
    change_pct = serializers.FloatField(source="change", allow_null=True)
    low_pct = serializers.FloatField(source="low", allow_null=True)
    high_pct = serializers.FloatField(source="high", allow_null=True)


class StandingOutput(Selectable):
    """What a line says of a version. `campaign`: the newest that measures or measured it. `trends`: of the line."""

    version = serializers.CharField()
    evidence = serializers.ChoiceField(choices=EVIDENCE)
    text = serializers.CharField()
    trends = serializers.IntegerField()
    sessions = serializers.IntegerField()
    campaign = serializers.IntegerField(allow_null=True)
    suspects = SuspectOutput(many=True)


class HookOutput(Selectable):
    """The address for signed messages, and the secret with which they are signed."""

    style = serializers.CharField()  # type: ignore[assignment]
    url = serializers.CharField()
    secret = serializers.CharField()


class OccasionOutput(ModelOutput[Occasion]):
    """A moment at which a line was due. `reason`: why no campaign was launched; `campaign`: the one that was, or that measured it.

    `hint`: the version that a hook told.
    """

    reason = text()
    hint = text()
    asked_by = serializers.CharField(source="asked_by.username", allow_null=True, default=None)
    campaign = serializers.IntegerField(source="campaign_id", allow_null=True)

    class Meta:
        model = Occasion
        fields = [
            "id",
            "key",
            "trigger",
            "hint",
            "due_at",
            "outcome",
            "reason",
            "asked_by",
            "campaign",
        ]


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class Texts(serializers.JSONField):
    """Texts by name."""


class ReadingOutput(ModelOutput[Reading]):
    """One session of a line. `border`: why older ones are not comparable; empty where they are. `environment`: its number."""

    campaign = serializers.IntegerField(source="session.campaign_id")
    session = serializers.IntegerField(source="session.number")
    version = serializers.SerializerMethodField()
    position = serializers.SerializerMethodField()
    companions = Texts()
    facts = Texts(source="facts.facts")
    border = serializers.SerializerMethodField()
    simulator = text()

    class Meta:
        model = Reading
        fields = [
            "id",
            "campaign",
            "session",
            "at",
            "version",
            "position",
            "companions",
            "facts",
            "environment",
            "border",
            "torn",
            "simulator",
        ]

    def get_version(self, reading: Reading) -> str | None:
        """Null where the target told none."""
        return str(reading.version) if reading.version else None

    def get_position(self, reading: Reading) -> int | None:
        """The place of the version in the order of its scheme, from 0."""
        return reading.version.position if reading.version else None

    def get_border(self, reading: Reading) -> str:
        """As text."""
        return border_text(reading.border)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class LevelsField(serializers.JSONField):
    """Levels by the names of their factors."""


class TrendOutput(ModelOutput[Trend]):
    """One cell and one metric of a line. `newest`: its newest value; sd: on logs, of sessions in which nothing changed, and of runs within one."""

    line = serializers.IntegerField(source="line_id")
    levels = LevelsField()
    unit = text()
    lower_is_better = serializers.BooleanField(allow_null=True)
    sessions = serializers.SerializerMethodField()
    newest = serializers.SerializerMethodField()
    sd_between_sessions = serializers.SerializerMethodField()
    sd_within_sessions = serializers.SerializerMethodField()

    class Meta:
        model = Trend
        fields = [
            "id",
            "line",
            "label",
            "metric",
            "unit",
            "lower_is_better",
            "levels",
            "fingerprint",
            "sessions",
            "newest",
            "sd_between_sessions",
            "sd_within_sessions",
        ]

    def get_sessions(self, trend: Trend) -> int:
        """Those with a value."""
        return TrendState.of(trend.state).told

    def get_newest(self, trend: Trend) -> float | None:
        """In the metric's unit."""
        return TrendState.of(trend.state).value

    def get_sd_between_sessions(self, trend: Trend) -> float | None:
        """Null where nothing was measured twice unchanged."""
        return TrendState.of(trend.state).between

    def get_sd_within_sessions(self, trend: Trend) -> float | None:
        """Null where no session has two runs."""
        return TrendState.of(trend.state).within


class PointOutput(ModelOutput[Point]):
    """One session of a trend. `value`: the geometric mean of its runs; null where `flags` say why. `sd`: of the runs, on logs."""

    reading = serializers.IntegerField(source="reading_id")
    at = serializers.DateTimeField(source="reading.at")
    version = serializers.SerializerMethodField()
    campaign = serializers.IntegerField(source="reading.session.campaign_id")
    environment = serializers.IntegerField(source="reading.environment")
    value = serializers.SerializerMethodField(method_name="value_of")
    runs = serializers.IntegerField(source="n")
    flags = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Point
        fields = [
            "reading",
            "campaign",
            "at",
            "version",
            "environment",
            "value",
            "sd",
            "runs",
            "failed",
            "flags",
        ]

    def get_version(self, point: Point) -> str | None:
        """Null where the target told none."""
        return str(point.reading.version) if point.reading.version else None

    def value_of(self, point: Point) -> float | None:
        """In the metric's unit."""
        return None if point.y is None else math.exp(point.y)
