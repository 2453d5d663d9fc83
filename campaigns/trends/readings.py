"""Readings of lines: each session of a campaign, with its version, its environment, and a point in each trend.

A reading is stored whole, in one transaction; to store it again changes nothing, unless its data changed.
"""

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from statistics import fmean, stdev
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from campaigns.findings.store import findings_of
from campaigns.findings.values import Cell, CellRun, Cells
from campaigns.kinds.base import Subject
from campaigns.kit.network import normalised_address
from campaigns.kit.units import UNITS
from campaigns.kit.versions import positions
from campaigns.models import (
    Campaign,
    FactSet,
    Finding,
    Line,
    Point,
    Reading,
    Run,
    Session,
    SubjectVersion,
    Trend,
    TrendWord,
)
from campaigns.models.trends import VERSION_LETTERS
from campaigns.planning.metrics import driver_if_known
from campaigns.trends.belonging import line_of
from campaigns.trends.borders import Border, borders_in
from campaigns.trends.fingerprints import fingerprint
from campaigns.trends.screening import look, readings_of
from campaigns.trends.summaries import Counts
from campaigns.trends.told import told_in

MADE_UP_FOR = timedelta(days=1)
FEWEST_RUNS = 3
MOST_LOST = 0.2


def extend(campaign: Campaign) -> Reading | None:
    """Add a campaign that has ended and was analysed to the line that it belongs to; return its last reading."""
    campaign = Campaign.objects.select_related("target", "line").get(pk=campaign.pk)
    if campaign.state not in Campaign.CLOSED:
        return None
    line = line_of(campaign)
    return read(line, campaign) if line else None


def make_up(now: datetime) -> int:
    """Read what a worker that was killed after its analysis has left unread; return how many campaigns that were."""
    told = Reading.objects.filter(session__campaign=OuterRef("pk"))
    analysed = Finding.objects.filter(campaign=OuterRef("pk"), name="cells")
    unread = Campaign.objects.filter(
        Exists(analysed),
        ~Exists(told),
        line__state__in=Line.OPEN,
        state__in=Campaign.CLOSED,
        closed_at__gt=now - MADE_UP_FOR,
        analysis_requested_at=None,
    )
    return sum(extend(campaign) is not None for campaign in unread)


@transaction.atomic
def read(line: Line, campaign: Campaign) -> Reading | None:
    """Store the readings of a campaign's sessions, and put the line in order again."""
    line = Line.objects.select_for_update(of=("self",), no_key=True).get(pk=line.pk)
    Campaign.objects.filter(pk=campaign.pk, line=None).update(line=line)
    planned = dict(
        campaign.runs.exclude(purpose=Run.Purpose.TRIAL).values_list("pk", "block__session")
    )
    sessions = list(campaign.sessions.filter(pk__in=set(planned.values())).order_by("number"))
    found = [_cells_of(campaign, metric) for metric in line.metrics]
    cells = [each for each in found if each is not None]
    gone = Reading.objects.filter(line=line, session__campaign=campaign).exclude(
        session__in=sessions
    )
    whole = bool(gone.delete()[0])
    if not cells:
        return None
    gained = Counts()
    stored = []
    for session in sessions:
        runs = {run for run, of in planned.items() if of == session.pk}
        stored.append(_store(line, campaign, session, cells, runs, gained))
    order(line, {each.pk for each in stored}, None if whole else gained)
    return stored[-1] if stored else None


@transaction.atomic
def rebuild(line: Line) -> None:
    """Find all borders and changes of a line anew, from its readings and points."""
    order(Line.objects.select_for_update(of=("self",), no_key=True).get(pk=line.pk))


def order(line: Line, stored: Set[int] = frozenset(), gained: Counts | None = None) -> None:
    """Rank the versions of a line's subject, find the borders between its readings, and look at its trends.

    stored: readings that were stored; gained: the points that came with them. Without them all is found anew.
    """
    _rank(line)
    readings = readings_of(line)
    moved = _border(line, readings)
    late = {each.pk for each in readings[: -len(stored)]} & stored
    if late or moved - stored:
        gained = None
    look(line, readings, gained)


def _border(line: Line, readings: Sequence[Reading]) -> set[int]:
    """Number the environments of readings; return the keys of those that are in another one than before."""
    facts = FactSet.objects.in_bulk({each.facts_id for each in readings})
    borders, restless = borders_in(
        [facts[each.facts_id].facts for each in readings], [each.at for each in readings]
    )
    starts = {each.at: each for each in borders}
    unknown = machine_borders(line)
    environment, moved = 0, []
    for place, reading in enumerate(readings):
        border = starts.get(place)
        environment += border is not None or reading.pk in unknown
        shown = _shown(border)
        if reading.pk in unknown:
            shown = (shown or {}) | {"unknown": True}
        if (reading.environment, reading.border) != (environment, shown):
            reading.environment, reading.border = environment, shown
            moved.append(reading)
    Reading.objects.bulk_update(moved, ["environment", "border"], batch_size=500)
    if line.restless != restless:
        line.restless = restless
        line.save(update_fields=["restless"])
    return {each.pk for each in moved}


def _shown(border: Border | None) -> dict[str, Any] | None:
    if border is None:
        return None
    changed = {name: list(values) for name, values in border.changed.items()}
    return {"changed": changed, "days": border.gap.days if border.gap else None}


def machine_borders(line: Line) -> set[int]:
    """Return the readings with which the machine changed, as a confirmation has shown, though no fact tells how."""
    words = TrendWord.objects.filter(trend__line=line, word=TrendWord.Word.BORDER)
    return set(words.exclude(reading=None).values_list("reading", flat=True))


def _rank(line: Line) -> None:
    """Give the versions of a subject their positions; of two lines that do it at once, one waits."""
    rows = list(
        SubjectVersion.objects.filter(team=line.team_id, subject=line.subject)
        .order_by("pk")
        .select_for_update(no_key=True)
    )
    by_scheme = rows[-1].scheme if rows else ""
    placed = positions([row.text for row in rows], by_scheme)
    moved = [row for row in rows if row.position != placed[row.text]]
    for row in moved:
        row.position = placed[row.text]
    SubjectVersion.objects.bulk_update(moved, ["position"], batch_size=500)


def _cells_of(campaign: Campaign, metric: str) -> Cells | None:
    """Return the analysed cells of a metric; None where it has none."""
    cells = findings_of(campaign, metric, only=("cells",)).cells
    return cells if cells is not None and cells.metric == metric else None


def _store(
    line: Line,
    campaign: Campaign,
    session: Session,
    cells: Sequence[Cells],
    runs: set[int],
    gained: Counts,
) -> Reading:
    told = told_in(campaign, session)
    subject = told.subjects.get(line.subject)
    values: dict[str, Any] = {
        "version": _version(line, subject) if subject else None,
        "companions": told.companions_of(line.subject),
        "facts": _facts(told.facts),
        "data_hash": campaign.findings.filter(name="cells")
        .values_list("data_hash", flat=True)
        .first()
        or "",
        "simulator": told.simulator,
        "at": told.at,
        "torn": told.torn and bool(line.subject),
    }
    reading, _ = Reading.objects.update_or_create(line=line, session=session, defaults=values)
    trends = _trends(line, campaign, *cells)
    points = [
        _point(trends[each.metric, _frozen(cell.levels)], reading, campaign, cell, runs)
        for each in cells
        for cell in each.cells
    ]
    _replace(reading, points, gained)
    return reading


def _replace(reading: Reading, points: Sequence[Point], gained: Counts) -> None:
    """Store the points of a reading in the place of those before; what was said of one (`once`) stays."""
    for old in Point.objects.filter(reading=reading):
        gained.add(old.trend_id, old.y, -1)
    for point in points:
        gained.add(point.trend_id, point.y)
    Point.objects.filter(reading=reading).exclude(
        trend__in=[each.trend_id for each in points]
    ).delete()
    Point.objects.bulk_create(
        points,
        update_conflicts=True,
        unique_fields=["trend", "reading"],
        update_fields=["y", "sd", "n", "failed", "flags"],
    )


def _version(line: Line, subject: Subject) -> SubjectVersion:
    row, _ = SubjectVersion.objects.get_or_create(
        team_id=line.team_id,
        subject=line.subject,
        text=subject.version[:VERSION_LETTERS],
        defaults={"scheme": subject.scheme},
    )
    return row


def _facts(facts: Mapping[str, str]) -> FactSet:
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    row, _ = FactSet.objects.get_or_create(
        hash=sha256(text.encode()).hexdigest(), defaults={"facts": facts}
    )
    return row


def _frozen(levels: Mapping[str, Any]) -> str:
    return json.dumps(levels, sort_keys=True)


def _trends(line: Line, campaign: Campaign, *cells: Cells) -> dict[tuple[str, str], Trend]:
    """Return the trends of all cells by metric and levels; those that there are not yet are made."""
    known = {each.fingerprint: each for each in Trend.objects.filter(line=line)}
    result = {}
    for each in cells:
        for cell in each.cells:
            mark = fingerprint(_identity(line, campaign, each, cell))
            if mark not in known:
                known[mark] = Trend.objects.create(
                    line=line,
                    levels=cell.levels,
                    metric=each.metric,
                    unit=each.unit,
                    label=_label(campaign, each, cell)[:200],
                    lower_is_better=each.lower_is_better,
                    fingerprint=mark,
                )
            result[each.metric, _frozen(cell.levels)] = known[mark]
    return result


def _identity(line: Line, campaign: Campaign, cells: Cells, cell: Cell) -> dict[str, Any]:
    driver = driver_if_known(campaign.kind)
    work = set(driver.work) if driver else set()
    target = campaign.target
    unit = UNITS.get(cells.unit)
    return {
        "v": 1,
        "kind": campaign.kind,
        "family": target.family if target else "",
        "address": normalised_address(target.base_url) if target else "",
        "subject": line.subject,
        "metric": cells.metric,
        "dimension": unit.dimension if unit else cells.unit,
        "lower_is_better": cells.lower_is_better,
        "work": {name: each for name, each in campaign.parameters.items() if name in work},
        "settings": {name: each for name, each in campaign.parameters.items() if name not in work},
        "levels": cell.levels,
    }


def _label(campaign: Campaign, cells: Cells, cell: Cell) -> str:
    driver = driver_if_known(campaign.kind)
    levels = [
        f"{driver.label_of(name) if driver else name} {value}"
        for name, value in cell.levels.items()
    ]
    return f"{cells.label}: {', '.join(levels)}" if levels else cells.label


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of a cell that belong to a session."""

    values: Sequence[float]
    failed: int
    lost: int
    saturated: int
    total: int


def _point(trend: Trend, reading: Reading, campaign: Campaign, cell: Cell, runs: set[int]) -> Point:
    """Return the point of a cell: the mean of logs of the runs that count."""
    own = _runs([run for run in cell.runs if run.run in runs])
    flags = list(_flags(own, reading, cell))
    if campaign.fidelity != Campaign.Fidelity.RAW:
        flags.append(campaign.fidelity)
    silent = set(flags) & SILENT
    logs = [] if "not_positive" in silent else [math.log(value) for value in own.values]
    return Point(
        trend=trend,
        reading=reading,
        y=None if silent or not logs else fmean(logs),
        sd=stdev(logs) if len(logs) > 1 else None,
        n=len(own.values),
        failed=own.failed,
        flags=flags,
    )


SILENT = frozenset({"torn", "too_few", "lost", "saturated", "too_many_failures", "not_positive"})
"""Flags of points without a value."""


def _runs(runs: Sequence[CellRun]) -> _Runs:
    def count(*states: str) -> int:
        return sum(run.state in states for run in runs)

    counted = [run for run in runs if run.state != "excluded"]
    return _Runs(
        values=[run.value for run in runs if run.state == "ok" and run.value is not None],
        failed=count("failed", "censored"),
        lost=count("lost", "cancelled"),
        saturated=count("bound"),
        total=len(counted),
    )


def _flags(own: _Runs, reading: Reading, cell: Cell) -> list[str]:
    checks = {
        "torn": reading.torn,
        "too_few": len(own.values) < FEWEST_RUNS,
        "lost": own.lost > MOST_LOST * max(1, own.total),
        "saturated": own.saturated > 0,
        "too_many_failures": cell.counts.too_many_failures,
        "not_positive": any(not value > 0 for value in own.values),
    }
    return [flag for flag, applies in checks.items() if applies]
