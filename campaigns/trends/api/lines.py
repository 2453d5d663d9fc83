"""Lines: begin, change, pause, resume, end, measure; and what they hold."""

from collections.abc import Callable
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit import rates
from campaigns.kit.api.authentication import require_scope
from campaigns.kit.api.inputs import FormInput, Input
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.throttling import TooMany
from campaigns.kit.api.views import Api
from campaigns.kit.events import work_waits
from campaigns.kit.filters import LARGEST
from campaigns.kit.rights import Right, find, visible
from campaigns.models import Campaign, Line, LineHook, Point, Reading, Scope, Trend
from campaigns.trends import asking, hooks, launching, lines
from campaigns.trends.api.outputs import (
    HookOutput,
    LineOutput,
    OccasionOutput,
    PointOutput,
    ReadingOutput,
    StandingOutput,
    TrendOutput,
)
from campaigns.trends.filters import LineFilters
from campaigns.trends.standing import standing_of

KEY = r"^(?!schedule )[!-~]([ -~]*[!-~])?$"
"""Keys of schedules begin with that word, so nobody else has one of them."""


def require_few(line: Line) -> None:
    """Count a hook of a line. Raise TooMany."""
    usage = rates.take(f"line:{line.pk}", asking.HOOKS)
    if usage is not None and not usage.allowed:
        seconds = max(1, ceil(usage.wait_seconds))
        raise TooMany(
            f"At most {asking.HOOKS.count} hooks in {asking.HOOKS.seconds} s may ask a line to look. Ask again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )


class LineInput(FormInput):
    """The name, the schedule and the budget of a line, and how a change is measured again."""

    form = lines.LineForm
    without = ("subject",)


class NewLineInput(FormInput):
    """A line that begins with a campaign which has ended."""

    form = lines.LineForm
    campaign = serializers.IntegerField(min_value=1, max_value=LARGEST)


class OccasionInput(Input):
    """`key`: a line is measured once for each, however often it is sent.

    `trigger`: `hand` measures it now, as you; `hook` asks it to look, and what the target tells is measured as its owner.
    `version`: of a hook: the version that comes, for which it waits at most 6 hours.
    """

    key = serializers.RegexField(KEY, max_length=80)
    trigger = serializers.ChoiceField(choices=["hand", "hook"], required=False)
    version = serializers.RegexField(r"^[!-~]{1,100}$", max_length=100, required=False)

    def validate(self, data: Any) -> Any:
        """Refuse a version of what is measured at once, whatever is installed."""
        if "version" in data and data.get("trigger") != "hook":
            raise serializers.ValidationError(
                {"version": "Only a hook waits for a version: send the trigger hook, too."}
            )
        return data


class Lines(Api):
    """GET: lines of one's teams. POST: a new one."""

    takes = {"post": Right.OPERATE}

    @operation("list_lines", "lines", answer=LineOutput, filters=LineFilters)
    def get(self, request: Request) -> Response:
        """Lines of your teams, the newest first."""
        rows = visible(Line.objects.select_related("team", "owner", "switch"), self.user)
        return self.page(rows, LineOutput, "-pk", LineFilters)

    @operation("create_line", "lines", body=NewLineInput, answer=LineOutput, refusals=[NOT_FOUND])
    def post(self, request: Request) -> Response:
        """Begin a line with a campaign that has ended, which becomes its first session."""
        data = self.read(NewLineInput)
        campaign = find(Campaign.objects.all(), self.user, Right.OPERATE, pk=data.pop("campaign"))
        defaults = {"zone": "UTC", "minutes_a_week": Line._meta.get_field("minutes_a_week").default}
        made = lines.begin(campaign, defaults | data, self.user)
        return Response(self.shown(made, LineOutput), status=status.HTTP_201_CREATED)


class OneLine(Api):
    """GET: one line. PATCH: another name, schedule or budget."""

    of = Line
    takes = {"patch": Right.OPERATE}

    @operation("get_line", "lines", answer=LineOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One line, also one that has ended."""
        row = get_object_or_404(Line.objects.select_related("team", "owner", "switch"), pk=pk)
        return self.one(row, LineOutput, lines.description_of)

    @operation("edit_line", "lines", body=LineInput, answer=LineOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Change its name, schedule or budget; what is not sent stays."""
        line = get_object_or_404(Line, pk=pk)
        data = lines.description_of(line) | self.read(LineInput)
        with self.unchanged(line, lines.description_of):
            line = lines.change(line, data, self.user)
        return Response(self.shown(line, LineOutput))


class _Step(Api):
    """POST: one step in the life of a line."""

    of = Line
    takes = {"post": Right.OPERATE}

    def step(self, pk: int, change: Callable[[Line, User], Line]) -> Response:
        """Do it, and answer with the line."""
        line = change(get_object_or_404(Line, pk=pk), self.user)
        return Response(self.shown(line, LineOutput))


class PauseLine(_Step):
    """POST: measure it no more until it is resumed."""

    @operation("pause_line", "lines", answer=LineOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Launch nothing for it until it is resumed; a campaign that runs goes on."""
        return self.step(pk, lines.pause)


class ResumeLine(_Step):
    """POST: measure it again, as the one who resumes it."""

    @operation("resume_line", "lines", answer=LineOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Launch it again from its next occasion on; you own it from now on."""
        return self.step(pk, lines.resume)


class ApproveLine(_Step):
    """POST: let it load its production server, as a second operator."""

    @operation("approve_line", "lines", answer=LineOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Approve template, servers, schedule, triggers and budget for 90 days; any change of them makes it void."""
        return self.step(pk, lines.approve)


class EndLine(_Step):
    """POST: end it for good."""

    @operation("end_line", "lines", answer=LineOutput)
    def post(self, request: Request, pk: int) -> Response:
        """End it for good; its readings stay."""
        return self.step(pk, lines.end)


class Occasions(Api):
    """GET: when a line was due, and what became of it. POST: measure it now."""

    of = Line
    needs = Scope.TRIGGER
    takes = {"post": Right.OPERATE}

    @operation("list_occasions", "lines", answer=OccasionOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The occasions of a line, the newest first."""
        rows = get_object_or_404(Line, pk=pk).occasions.select_related("asked_by").order_by()
        return self.page(rows, OccasionOutput, "-pk")

    @operation(
        "make_occasion", "lines", body=OccasionInput, answer=OccasionOutput, code=202, also=[200]
    )
    def post(self, request: Request, pk: int) -> Response:
        """Measure the line now, or ask it to look: 202; a key that was sent before answers 200 with what became of it.

        A hook takes a token with the scope `trigger`, and at most 10 in a minute; to measure takes `operate`.
        """
        data = self.read(OccasionInput)
        line = get_object_or_404(Line.objects.select_related("target"), pk=pk)
        if data.get("trigger") == "hook":
            require_few(line)
            occasion, is_new = asking.ask(
                line, data["key"], data.get("version", ""), user=self.user
            )
        else:
            require_scope(request, Scope.OPERATE)
            occasion, is_new = launching.measure(line, self.user, data["key"])
        if is_new:
            work_waits.send(sender=None)
        code = status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK
        return Response(self.shown(occasion, OccasionOutput), status=code)


class HookInput(Input):
    """`style`: how its messages are signed: Standard Webhooks, or as GitHub or GitLab does."""

    style = serializers.ChoiceField(choices=LineHook.Style.choices)  # type: ignore[assignment]


class Hook(Api):
    """POST: the address for signed messages, a new one. DELETE: none any more."""

    of = Line
    takes = {"post": Right.OPERATE, "delete": Right.OPERATE}

    @operation("make_hook", "lines", body=HookInput, answer=HookOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Make an address to which signed messages are posted. The answer is the only copy of its secret; a former one ends."""
        line = get_object_or_404(Line, pk=pk)
        hook, secret = hooks.make_hook(line, self.read(HookInput)["style"], self.user)
        url = request.build_absolute_uri(reverse("line-hook", args=[hook.uid]))
        shown = {"style": hook.style, "url": url, "secret": secret}
        return Response(self.shown(shown, HookOutput), status=status.HTTP_201_CREATED)

    @operation("delete_hook", "lines")
    def delete(self, request: Request, pk: int) -> Response:
        """Let its address take nothing any more."""
        hooks.delete_hook(get_object_or_404(Line, pk=pk), self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Readings(Api):
    """GET: the sessions of a line."""

    of = Line

    @operation("list_readings", "lines", answer=ReadingOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The sessions of a line with versions and facts, in the order in which they were read."""
        rows = Reading.objects.filter(line=pk).select_related("session", "version", "facts")
        return self.page(rows, ReadingOutput, "pk")


class StandingQuery(Input):
    """`version`: as the target tells it, in any spelling. `key`: of the occasion that asked for it."""

    version = serializers.RegexField(r"^[!-~]{1,100}$", max_length=100)
    key = serializers.RegexField(KEY, max_length=80, required=False)


class OneStanding(Api):
    """GET: what a line says of a version."""

    of = Line

    @operation("get_standing", "lines", query=StandingQuery, answer=StandingOutput)
    def get(self, request: Request, pk: int) -> Response:
        """What the line says of a version: whether it was measured, and what is suspected."""
        query = self.read_query(StandingQuery)
        line = get_object_or_404(Line, pk=pk)
        found = standing_of(line, query["version"], query.get("key", ""))
        return Response(self.shown(found, StandingOutput))


class Trends(Api):
    """GET: the trends of a line."""

    of = Line

    @operation("list_trends", "lines", answer=TrendOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The trends of a line: one for each cell and metric."""
        return self.page(Trend.objects.filter(line=pk), TrendOutput, "pk")


class Points(Api):
    """GET: the points of a trend."""

    of = Trend

    @operation("list_points", "lines", answer=PointOutput)
    def get(self, request: Request, pk: int) -> Response:
        """The points of a trend, in the order in which its sessions were read."""
        rows = Point.objects.filter(trend=pk).select_related("reading__session", "reading__version")
        return self.page(rows, PointOutput, "reading_id")
