"""Lines with their trends, sessions and points, in a fixed number of queries. Reads only."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from campaigns.findings.charts.strips import Spark, spark
from campaigns.models import Campaign, Line, Occasion, Point, Reading, Trend
from campaigns.stats.student import quantile
from campaigns.trends.summaries import in_order
from campaigns.trends.values import Session, SessionPoint, TrendState
from campaigns.trends.wording import border_text, why_no_value

LATEST_OCCASIONS = 10
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A trend in a list: its state, and its small curve."""

    trend: Trend
    state: TrendState
    spark: Spark | None


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line in a list, with the trends that are drawn of it. more: the number of others."""

    line: Line
    trends: Sequence[TrendRow]
    more: int


MOST_SPARKS = 3
Question = tuple[int | None, int | None, int | None, str, str]
"""What the campaigns of a line have in common: team, template and target; from outside, kind and question."""


def lines_of(teams: Set[int]) -> QuerySet[Line]:
    """Return the lines of teams, with what lists name of them."""
    rows = Line.objects.filter(team__in=teams).select_related("team", "template", "target", "owner")
    return rows.order_by("name", "pk")


def line_rows(lines: Sequence[Line]) -> list[LineRow]:
    """Return lines with their trends, in one query more."""
    trends: dict[int, list[TrendRow]] = {}
    for trend in Trend.objects.filter(line__in=[line.pk for line in lines]):
        trends.setdefault(trend.line_id, []).append(trend_row(trend))
    return [
        LineRow(
            line,
            trends.get(line.pk, [])[:MOST_SPARKS],
            max(0, len(trends.get(line.pk, ())) - MOST_SPARKS),
        )
        for line in lines
    ]


def open_lines(campaigns: Sequence[Campaign]) -> dict[int, LineRow]:
    """Return the open line of each campaign's question by the key of the campaign, in two queries; those without one are absent."""
    rows = Line.objects.filter(
        Q(template__in={each.template_id for each in campaigns} - {None})
        | Q(template=None, question__in={each.question for each in campaigns}),
        team__in={each.team_id for each in campaigns},
        state__in=Line.OPEN,
    ).order_by("-pk")
    known: dict[Question, LineRow] = {_question_of(row.line): row for row in line_rows(list(rows))}
    asked = {
        each.pk: known.get(
            (each.team_id, each.template_id, each.target_id, "", "")
            if each.target_id
            else (each.team_id, None, None, each.kind, each.question)
        )
        for each in campaigns
    }
    return {key: row for key, row in asked.items() if row is not None}


def _question_of(line: Line) -> Question:
    if line.template_id:
        return line.team_id, line.template_id, line.target_id, "", ""
    return line.team_id, None, None, line.kind, line.question


def trend_row(trend: Trend) -> TrendRow:
    """Return a trend with its state, from its row alone."""
    state = TrendState.of(trend.state)
    return TrendRow(trend, state, spark(state.curve))


def trends_of(line: Line) -> list[TrendRow]:
    """Return the trends of a line in their order."""
    return [trend_row(trend) for trend in Trend.objects.filter(line=line).order_by("pk")]


def sessions_of(line: Line, *, by_version: bool) -> dict[int, Session]:
    """Return the sessions of a line by the key of their reading, in the order of versions, or else of time."""
    rows = Reading.objects.filter(line=line).select_related("version", "session__campaign")
    readings: Sequence[Reading] = list(rows.order_by("at", "pk"))
    if by_version:
        readings = in_order(readings)
    return {reading.pk: _session(reading) for reading in readings}


def points_of(trend: Trend, sessions: dict[int, Session]) -> list[SessionPoint]:
    """Return the points of a trend in the order of sessions."""
    points = {point.reading_id: point for point in Point.objects.filter(trend=trend)}
    return [
        session_point(points[key], session) for key, session in sessions.items() if key in points
    ]


def session_point(point: Point, session: Session) -> SessionPoint:
    """Return a point in the unit of its metric, with its interval within the session."""
    value = low = high = None
    if point.y is not None:
        value = math.exp(point.y)
        if point.sd is not None and point.n > 1:
            half = quantile(0.5 + CONFIDENCE / 2, point.n - 1) * point.sd / math.sqrt(point.n)
            low, high = math.exp(point.y - half), math.exp(point.y + half)
    return SessionPoint(
        session,
        value,
        low,
        high,
        point.n,
        point.failed,
        why_no_value(point.flags) if value is None else "",
        tuple(point.flags),
    )


def latest_occasions(line: Line) -> QuerySet[Occasion]:
    """Return what became of the newest occasions."""
    return line.occasions.select_related("campaign", "asked_by")[:LATEST_OCCASIONS]


def _session(reading: Reading) -> Session:
    campaign = reading.session.campaign
    return Session(
        campaign=campaign.pk,
        name=campaign.name,
        at=reading.at,
        version=str(reading.version or ""),
        companions=", ".join(f"{name} {each}" for name, each in reading.companions.items()),
        border=border_text(reading.border),
        environment=reading.environment,
        torn=reading.torn,
        simulator=reading.simulator,
    )
