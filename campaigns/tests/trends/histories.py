"""Histories of lines that are stored at once, as if each session had been read on its day."""

import math
from datetime import timedelta

from campaigns.models import FactSet, Line, Point, Reading, Session, SubjectVersion

WOBBLE = (0.0, 0.011, -0.008, 0.006, -0.012, 0.009, -0.004, 0.013, -0.01, 0.002)


def remembered(line, levels, *, versions=None, flags=(), days_a_session=1, wobble=1.0):
    """Add a session a day behind those that a line has, in each of its trends.

    levels: percent above 10, one for each session; versions: texts, by default a new one each. flags: by place of a session.
    """
    last = line.readings.order_by("at").last()
    texts = versions or [f"3.{200 + at}.0" for at in range(len(levels))]
    sessions = _sessions(last.session.campaign, len(levels))
    rows = {
        text: SubjectVersion.objects.get_or_create(
            team=line.team, subject=line.subject, text=text, defaults={"scheme": "pypi"}
        )[0]
        for text in dict.fromkeys(texts)
    }
    readings = Reading.objects.bulk_create(
        Reading(
            line=line,
            session=session,
            version=rows[text] if line.subject else None,
            facts=last.facts,
            at=last.at + timedelta(days=days_a_session * (at + 1)),
        )
        for at, (session, text) in enumerate(zip(sessions, texts, strict=True))
    )
    marks = dict(flags)
    Point.objects.bulk_create(
        Point(
            trend=trend,
            reading=reading,
            y=None
            if at in marks
            else math.log(10 * (1 + level / 100)) + wobble * WOBBLE[(at + place) % 10],
            sd=0.01,
            n=3,
            flags=[marks[at]] if at in marks else [],
        )
        for place, trend in enumerate(line.trends.all())
        for at, (reading, level) in enumerate(zip(readings, levels, strict=True))
    )
    Line.objects.filter(pk=line.pk).update(created_at=last.at - timedelta(days=1))
    line.refresh_from_db()
    return readings


def of_environment(readings, **facts):
    """Let the target of readings have other facts."""
    own = readings[0].facts.facts | {f"target: {name}": value for name, value in facts.items()}
    row = FactSet.objects.create(hash=str(sorted(facts.items())), facts=own)
    Reading.objects.filter(pk__in=[each.pk for each in readings]).update(facts=row)


def _sessions(campaign, count):
    first = campaign.sessions.order_by("number").last()
    return Session.objects.bulk_create(
        Session(
            campaign=campaign,
            number=first.number + 1 + at,
            kind=Session.Kind.EXTENSION,
            started_at=first.started_at,
        )
        for at in range(count)
    )
