"""Alerts: what moved, how it was measured again, what people do with it; and mutes."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.outputs import ModelOutput, text
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.filters import LARGEST, Choice, FilterSet, Whole, Word
from campaigns.kit.rights import Right, find, visible
from campaigns.models import Alert, AlertTrend, Confirmation, Line, Mute, Target, Team, Trend
from campaigns.models.trends import MOST_MUTED_DAYS
from campaigns.stats.logs import pct_of
from campaigns.trends import handling, mutes
from campaigns.trends.alert_facts import sentences
from campaigns.trends.turned import interval_of, sign_of


class AlertFilters(FilterSet):
    """Alerts of one's teams."""

    evidence = Choice(choices=Alert.Evidence.choices)
    handling = Choice(choices=Alert.Handling.choices)
    direction = Choice(choices=Alert.Direction.choices)
    line = Whole(field_name="trends__trend__line")
    team = Word(field_name="team__name")


class AlertTrendOutput(ModelOutput[AlertTrend]):
    """A trend of an alert. `change_pct` and its 95 % interval: new over old; of the pairs once there are some."""

    trend = serializers.IntegerField(source="trend_id")
    line = serializers.IntegerField(source="trend.line_id")
    name = serializers.CharField(source="trend.label")
    reading = serializers.IntegerField(source="reading_id")
    change_pct = serializers.SerializerMethodField()
    ci_pct = serializers.SerializerMethodField()

    class Meta:
        model = AlertTrend
        fields = [
            "trend",
            "line",
            "name",
            "kind",
            "reading",
            "change_pct",
            "ci_pct",
            "p",
            "evidence",
        ]

    def get_change_pct(self, row: AlertTrend) -> float | None:
        """Null where nothing has a value."""
        return None if row.estimate is None else pct_of(sign_of(row.trend) * row.estimate)

    def get_ci_pct(self, row: AlertTrend) -> list[float] | None:
        """Low first."""
        low, high = interval_of(row.trend, row.low, row.high)
        return None if low is None or high is None else [pct_of(low), pct_of(high)]


class ConfirmationOutput(ModelOutput[Confirmation]):
    """How it was measured again. `way`: `pairs`, or `sessions`; `outcome`: empty while it goes on."""

    line = serializers.IntegerField(source="line_id")
    campaign = serializers.IntegerField(source="campaign_id", allow_null=True)
    good = serializers.CharField(source="good.text", allow_null=True, default=None)
    bad = serializers.CharField(source="bad.text", allow_null=True, default=None)
    outcome = text()
    reason = text()

    class Meta:
        model = Confirmation
        fields = [
            "id",
            "line",
            "way",
            "campaign",
            "good",
            "bad",
            "pairs",
            "outcome",
            "reason",
            "tries",
            "due_at",
            "ended_at",
        ]


class AlertOutput(ModelOutput[Alert]):
    """An alert. `good`, `bad`: it came after the one version, with the other at the latest. `text`: what it says, in three lines."""

    team = serializers.CharField(source="team.name")
    subject = text()
    good = serializers.CharField(source="good.text", allow_null=True, default=None)
    bad = serializers.CharField(source="bad.text", allow_null=True, default=None)
    fixed_in = serializers.CharField(source="fixed_in.text", allow_null=True, default=None)
    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    handling_reason = text()
    issue_url = text()
    closed = text()
    text = serializers.SerializerMethodField(method_name="text_of")
    trends = AlertTrendOutput(many=True)
    confirmations = ConfirmationOutput(many=True)

    class Meta:
        model = Alert
        fields = [
            "id",
            "team",
            "subject",
            "direction",
            "good",
            "bad",
            "evidence",
            "handling",
            "handling_reason",
            "owner",
            "issue_url",
            "fixed_in",
            "opened_at",
            "changed_at",
            "closed",
            "closed_at",
            "text",
            "trends",
            "confirmations",
        ]

    def text_of(self, alert: Alert) -> list[str]:
        """Verdict, certainty and caveat; an empty line is left out."""
        said = sentences(alert)
        return [each for each in (said.verdict, said.certainty, said.caveat) if each]


class WordInput(Input):
    """What is said with a word: `reason` of `expect` and `dismiss`; `version` of `fix`; `person` of `assign`; `url` of `link`."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=1000, default="")
    version = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    person = serializers.CharField(required=False, allow_blank=True, max_length=150, default="")
    url = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class MuteInput(Input):
    """One of `line`, `trend` and `target`, by its id; for some `days`, with a `reason`."""

    line = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    trend = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    target = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    days = serializers.IntegerField(min_value=1, max_value=MOST_MUTED_DAYS)
    reason = serializers.CharField(max_length=1000)


class MuteOutput(ModelOutput[Mute]):
    """A mute. `what`: in words. `ended_at`: it was taken back, or its version came."""

    team = serializers.CharField(source="team.name")
    line = serializers.IntegerField(source="line_id", allow_null=True)
    trend = serializers.IntegerField(source="trend_id", allow_null=True)
    target = serializers.IntegerField(source="target_id", allow_null=True)
    what = serializers.SerializerMethodField()
    by = serializers.CharField(source="by.username")

    class Meta:
        model = Mute
        fields = [
            "id",
            "team",
            "line",
            "trend",
            "target",
            "what",
            "until",
            "reason",
            "by",
            "began_at",
            "ended_at",
        ]

    def get_what(self, mute: Mute) -> str:
        """As a sentence names it."""
        return mutes.text_of(mute)


ROWS = Alert.objects.select_related("team", "owner", "good", "bad", "fixed_in").prefetch_related(
    "trends__trend", "confirmations__good", "confirmations__bad"
)


class Alerts(Api):
    """GET: alerts of one's teams."""

    @operation("list_line_alerts", "alerts", answer=AlertOutput, filters=AlertFilters)
    def get(self, request: Request) -> Response:
        """Alerts of your teams, the newest first."""
        return self.page(visible(ROWS.distinct(), self.user), AlertOutput, "-pk", AlertFilters)


class OneAlert(Api):
    """GET: one alert."""

    of = Alert

    @operation("get_alert", "alerts", answer=AlertOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One alert with its trends, and how they were measured again."""
        return Response(self.shown(get_object_or_404(ROWS, pk=pk), AlertOutput))


class AlertWord(Api):
    """POST: one thing that a person does with an alert."""

    of = Alert
    takes = {"post": Right.WRITE}

    @operation("handle_alert", "alerts", body=WordInput, answer=AlertOutput)
    def post(self, request: Request, pk: int, word: str) -> Response:
        """Take, assign, acknowledge, expect, fix, dismiss, reopen, link it; or confirm: have it measured again."""
        if word not in handling.WORDS:
            raise Http404
        data = self.read(WordInput)
        handling.handle(get_object_or_404(Alert, pk=pk), word, handling.Said(**data), self.user)
        return Response(self.shown(get_object_or_404(ROWS, pk=pk), AlertOutput))


class Mutes(Api):
    """GET: mutes of one's teams. POST: a new one."""

    takes = {"post": Right.OPERATE}

    @operation("list_mutes", "alerts", answer=MuteOutput)
    def get(self, request: Request) -> Response:
        """Mutes of your teams, also those that have ended; the newest first."""
        rows = Mute.objects.select_related("team", "by", "line", "trend__line", "target")
        return self.page(visible(rows, self.user), MuteOutput, "-pk")

    @operation("create_mute", "alerts", body=MuteInput, answer=MuteOutput, refusals=[NOT_FOUND])
    def post(self, request: Request) -> Response:
        """Call nobody about something for 1 to 90 days; it is measured all the same."""
        data = self.read(MuteInput)
        days, reason = data.pop("days"), data.pop("reason")
        if len(data) != 1:
            raise Invalid({"line": ["Mute one thing: a line, a trend or a target."]})
        ((kind, key),) = data.items()
        scope, team = self._scope(kind, key)
        made = mutes.begin(team, scope, self.user, days=days, reason=reason)
        return Response(self.shown(made, MuteOutput), status=status.HTTP_201_CREATED)

    def _scope(self, kind: str, key: int) -> tuple[mutes.Scope, Team]:
        if kind == "line":
            line = find(Line.objects.all(), self.user, Right.OPERATE, pk=key)
            return mutes.Scope(line=line), line.team
        if kind == "trend":
            trend = find(
                Trend.objects.select_related("line__team"), self.user, Right.OPERATE, pk=key
            )
            return mutes.Scope(trend=trend), trend.line.team
        target = find(Target.objects.all(), self.user, Right.OPERATE, pk=key)
        return mutes.Scope(target=target), target.team


class EndMute(Api):
    """POST: take a mute back."""

    of = Mute
    takes = {"post": Right.OPERATE}

    @operation("end_mute", "alerts", answer=MuteOutput)
    def post(self, request: Request, pk: int) -> Response:
        """People are called again from now on."""
        row = mutes.end(get_object_or_404(Mute, pk=pk), self.user)
        return Response(self.shown(row, MuteOutput))
