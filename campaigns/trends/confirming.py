"""Confirmations: what is suspected is measured again before anybody is called.

Where the line has a build to switch, old and new are measured side by side, each installed anew; else the new version is in two
more sessions. A confirmation, its campaign and its outcome are stored under the lock of its row: a process that is
killed leaves all or none, and `attend` goes on with what it left.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from campaigns.findings.store import findings_of
from campaigns.findings.values import Cell, Cells
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed, NotVisible, Right, may, require_right
from campaigns.models import (
    Alert,
    AlertTrend,
    Campaign,
    Confirmation,
    Line,
    Occasion,
    Reading,
    Trend,
)
from campaigns.planning import drafts, templates
from campaigns.planning.checking import check
from campaigns.planning.lifecycle import launch
from campaigns.planning.lifecycle.guards import name_to_confirm
from campaigns.planning.templates import NoTemplate
from campaigns.stats import confirmation
from campaigns.stats.confirmation import Test, Word
from campaigns.targets import quiet
from campaigns.trends import alerts, approvals, launching, readings
from campaigns.trends.lines import ROOM, expected_seconds
from campaigns.trends.side_by_side import MOST_CELLS, definition_of
from campaigns.trends.turned import plateau_before, sign_of, told_by, values
from campaigns.trends.values import TrendState

Evidence, Way = Alert.Evidence, Confirmation.Way
APART = timedelta(hours=12)
"""So far apart are sessions that repeat a change: another one of the same hour would see the same machine."""
AGAIN = timedelta(hours=1)
MOST_TRIES, GIVEN_UP_AFTER = 3, timedelta(hours=72)
SECOND_TIME = 10
"""A change that is suspected again within so many sessions, and again not reproduced, may be the machine's."""
UNVERIFIED = "unverified"
REFUSALS = (Invalid, NotPossible, NoTemplate, NotAllowed, NotVisible, launching.Refused)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a confirmation found of one trend. estimate, low, high: of the pairs, on logs, larger is worse."""

    word: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p_worse: float | None = None
    p_moved: float | None = None
    n: int = 0


def extend(line: Line) -> list[Alert]:
    """Look at the alerts of a line after a session was read, and plan what is measured again."""
    touched = alerts.look(line)
    for alert in _suspected(line):
        plan(alert, line)
    attend_line(line)
    return touched


def after_analysis(campaign: Campaign, reading: Reading | None) -> None:
    """Go on once a campaign was analysed: with the line that got a session of it, or the one that it measures again for."""
    if reading is not None:
        extend(reading.line)
    for row in Confirmation.objects.filter(campaign=campaign, outcome="").select_related("line"):
        attend_line(row.line)


def _suspected(line: Line) -> QuerySet[Alert]:
    rows = Alert.objects.filter(
        evidence=Evidence.SUSPECTED,
        closed_at=None,
        direction=Alert.Direction.WORSE,
        trends__trend__line=line,
        trends__evidence=Evidence.SUSPECTED,
    )
    return rows.distinct().order_by("pk")


def plan(alert: Alert, line: Line, user: User | None = None) -> Confirmation | None:
    """Plan the confirmation of an alert by a line, unless one is on; user: the operator who asks for it. Raise NotAllowed."""
    if user is not None:
        require_right(user, alert, Right.OPERATE)
    elif line.confirm != Line.Confirm.AUTOMATIC or line.state != Line.State.ON:
        return None
    rows = _rows(alert, line)
    if not rows or Confirmation.objects.filter(line=line, outcome="").exists():
        return None
    if user is None and Confirmation.objects.filter(alert=alert, line=line).exists():
        return None
    good, bad = alert.good, alert.bad
    switched = line.switch is not None and line.template is not None and good and bad
    newest = max(rows, key=lambda row: row.seen.at).seen
    try:
        with transaction.atomic():
            made = Confirmation.objects.create(
                alert=alert,
                line=line,
                way=Way.PAIRS if switched else Way.SESSIONS,
                good=good,
                bad=newest.version or bad,
                seen=newest,
                pairs=_pairs(line, rows) if switched else 0,
                due_at=database_now() if switched else newest.at + APART,
            )
    except IntegrityError:  # another process planned one meanwhile
        return None
    record(Action.CONFIRMATION_PLANNED, user=user, subject=made, alert=alert.pk, way=made.way)
    return made


def _rows(alert: Alert, line: Line) -> list[AlertTrend]:
    """Return the suspected trends of a line in an alert, the worst first: those that fail, then by size."""
    rows = alert.trends.filter(
        trend__line=line, evidence__in=[Evidence.SUSPECTED, Evidence.UNVERIFIED]
    )
    found = rows.select_related("trend", "reading__version", "seen__version", "alert__good")
    return sorted(found, key=lambda row: (row.kind != "failing", -(row.estimate or 0.0), row.pk))


def _pairs(line: Line, rows: Sequence[AlertTrend]) -> int:
    """Return how many pairs the noisiest of the trends needs."""
    noise = [TrendState.of(row.trend.state).within for row in rows[:MOST_CELLS]]
    sd = None if None in noise else max(each for each in noise if each is not None)
    return confirmation.pairs_needed(sd, alerts.smallest_effect_of(line))


# Going on


def attend(now: datetime | None = None) -> int:
    """Begin, judge or give up what is due of all open confirmations; return how many were looked at."""
    now = now or database_now()
    keys = list(
        Confirmation.objects.filter(outcome="")
        .order_by("due_at", "pk")
        .values_list("pk", flat=True)
    )
    for key in keys:
        _attend_one(key, now)
    return len(keys)


def attend_line(line: Line, now: datetime | None = None) -> None:
    """Do the same for the open confirmation of one line."""
    now = now or database_now()
    for key in Confirmation.objects.filter(line=line, outcome="").values_list("pk", flat=True):
        _attend_one(key, now)


@transaction.atomic
def _attend_one(key: int, now: datetime) -> None:
    rows = Confirmation.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    row = rows.filter(pk=key, outcome="").select_related("alert").first()
    if row is None:
        return
    line = Line.objects.select_related("template", "target", "team", "owner", "switch").get(
        pk=row.line_id
    )
    alerts.lock(line.team_id, line.subject)
    row.alert.refresh_from_db()
    if row.alert.closed_at is not None:
        _end(row, "dropped", "The alert was closed meanwhile.")
    elif row.way == Way.PAIRS:
        _attend_pairs(row, line, now)
    else:
        _attend_sessions(row, line, now)


def _attend_pairs(row: Confirmation, line: Line, now: datetime) -> None:
    campaign = row.campaign
    if campaign is None:
        if row.due_at <= now:
            _try(row, line, now)
        return
    if campaign.state in Campaign.CLOSED and campaign.analysis_requested_at is None:
        _judge_pairs(row, line, campaign, now)
    elif campaign.state == Campaign.State.PAUSED and row.began_at < now - GIVEN_UP_AFTER:
        _give_up(row, line, f"Its campaign is paused: {campaign.state_reason}")


def _try(row: Confirmation, line: Line, now: datetime) -> None:
    """Launch what measures again, or note why not; after three refusals or three days it is given up."""
    if _is_busy(line) or (line.target and _held_back(line, now)):
        if row.began_at < now - GIVEN_UP_AFTER:
            _give_up(row, line, "Its target had no time for three days.")
        return
    try:
        with transaction.atomic():
            row.campaign = _launched(row, line)
    except REFUSALS as error:
        _no_answer(row, line, str(error), now)
        return
    row.save(update_fields=["campaign"])


def _is_busy(line: Line) -> bool:
    """Return whether a campaign of the line is on: it would be measured between the builds."""
    return line.campaigns.filter(state__in=Campaign.ACTIVE).exists()


def _held_back(line: Line, now: datetime) -> str:
    if line.target is None or line.template is None:
        return ""
    try:
        seconds = expected_seconds(line.template)
    except Invalid:
        return ""  # the launch says why
    return quiet.holding_back(line.target, now, ROOM * seconds)


def _launched(row: Confirmation, line: Line) -> Campaign:
    """Make and launch the campaign of pairs, as the owner of the line. Raise what a launch raises."""
    if not may(line.owner, line.team, Right.OPERATE):
        raise launching.Refused(
            f"{line.owner.get_username()}, who owns this line, may not launch campaigns of the team “{line.team}” any more."
        )
    if why := approvals.why_unapproved(line, database_now()):
        raise launching.Refused(why)
    if line.template is None or line.switch is None or row.good is None or row.bad is None:
        raise launching.Refused("The build that switches its versions is not defined any more.")
    cells = [each.trend.levels for each in _rows(row.alert, line)]
    data = definition_of(
        line.template.definition,
        cells,
        line.switch.name,
        (str(row.good), str(row.bad)),
        row.pairs,
    ) | {"name": f"{row.bad} again beside {row.good}: {line}"[:120]}
    checked = check(data, templates.targets_of(line.template))
    made = drafts.create(checked, line.owner)
    approval = approvals.approval_of(line, database_now())
    return launch(made, line.owner, name_to_confirm(made), second=approval)


def _no_answer(row: Confirmation, line: Line, reason: str, now: datetime) -> None:
    """Note a try without an answer; the next one is in an hour."""
    row.tries, row.campaign, row.reason = row.tries + 1, None, reason[:1000]
    row.due_at = now + AGAIN
    row.save(update_fields=["tries", "campaign", "reason", "due_at"])
    if row.tries >= MOST_TRIES or row.began_at < now - GIVEN_UP_AFTER:
        _give_up(row, line, reason)


def _give_up(row: Confirmation, line: Line, reason: str) -> None:
    """End a confirmation without an answer: the alert says why, and stays open."""
    _end(row, UNVERIFIED, reason)
    row.alert.trends.filter(trend__line=line, evidence=Evidence.SUSPECTED).update(
        evidence=Evidence.UNVERIFIED
    )
    alerts.judge(row.alert, f"It could not be measured again: {reason}")


def _end(row: Confirmation, outcome: str, reason: str = "") -> None:
    row.outcome, row.reason, row.ended_at = outcome, reason[:1000], database_now()
    row.save(update_fields=["outcome", "reason", "figures", "ended_at"])
    record(Action.CONFIRMATION_ENDED, user=None, subject=row, alert=row.alert_id, outcome=outcome)


# Side by side


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The blocks of one cell that have both versions: logs, larger is worse. fails: the new one fails, and the old one not."""

    ratios: Sequence[float]
    old: Sequence[float]
    fails: bool

    @property
    def test(self) -> Test | None:
        """What the pairs show; a cell that fails with the new version alone is worse, whatever its time."""
        if self.fails:
            return Test(math.inf, math.inf, math.inf, 0.0, len(self.old))
        return confirmation.of_pairs(self.ratios)


def _judge_pairs(row: Confirmation, line: Line, campaign: Campaign, now: datetime) -> None:
    rows = _rows(row.alert, line)[:MOST_CELLS]
    found = {each.pk: _pairs_of(row, line, campaign, each.trend) for each in rows}
    judged = [each for each in rows if found[each.pk] is not None]
    tests = {each.pk: pairs.test for each in judged if (pairs := found[each.pk]) is not None}
    judged = [each for each in judged if tests[each.pk] is not None]
    if not judged:
        if campaign.state == Campaign.State.CANCELLED:
            _give_up(row, line, f"Its campaign {campaign.pk} was cancelled.")
            return
        why = campaign.state_reason or "too few of its blocks have both versions"
        _no_answer(row, line, f"Campaign {campaign.pk} gives no answer: {why.rstrip('.')}.", now)
        return
    moved = {each.pk: _moved(each, found[each.pk]) for each in judged}
    outcomes = confirmation.words(
        [_p(tests[each.pk]) for each in judged], [moved[each.pk] for each in judged]
    )
    figures: dict[int, Figures] = {}
    for each, word in zip(judged, outcomes, strict=True):
        test = tests[each.pk]
        if test is not None:
            figures[each.trend_id] = _figures(str(word), test, moved[each.pk])
    by_key: dict[int, Word | str] = {
        each.pk: word for each, word in zip(judged, outcomes, strict=True)
    }
    _conclude(row, line, judged, by_key, figures)


def _figures(word: str, test: Test, moved: float | None = None) -> Figures:
    if math.isinf(test.estimate):  # it fails, and has no size
        return Figures(word, p_worse=test.p, p_moved=moved, n=test.n)
    return Figures(word, test.estimate, test.low, test.high, test.p, moved, test.n)


def _p(test: Test | None) -> float:
    return 1.0 if test is None else test.p


def _moved(each: AlertTrend, pairs: _Pairs | None) -> float | None:
    history = values(plateau_before(each.trend, each.reading, each.alert.good))
    return confirmation.moved(history, pairs.old if pairs else ())


def _pairs_of(row: Confirmation, line: Line, campaign: Campaign, trend: Trend) -> _Pairs | None:
    """Return the pairs of a trend's cell; None where the campaign has not both."""
    cells = findings_of(campaign, trend.metric, only=("cells",)).cells
    if cells is None or cells.metric != trend.metric or line.switch is None:
        return None
    name = line.switch.name
    old = _cell(cells, {**trend.levels, name: str(row.good)})
    new = _cell(cells, {**trend.levels, name: str(row.bad)})
    if old is None or new is None:
        return None
    before, after, sign = _by_block(old), _by_block(new), sign_of(trend)
    both = sorted(before.keys() & after.keys())
    return _Pairs(
        ratios=[sign * (after[block] - before[block]) for block in both],
        old=[sign * each for each in before.values()],
        fails=new.counts.too_many_failures and not old.counts.too_many_failures,
    )


def _cell(cells: Cells, levels: Mapping[str, object]) -> Cell | None:
    return next((each for each in cells.cells if dict(each.levels) == dict(levels)), None)


def _by_block(cell: Cell) -> dict[int, float]:
    """Return the logs of a cell's runs by their blocks."""
    return {
        run.block: math.log(run.value)
        for run in cell.runs
        if run.state == "ok" and run.value is not None and run.value > 0
    }


# Two more sessions


def _attend_sessions(row: Confirmation, line: Line, now: datetime) -> None:
    rows = _rows(row.alert, line)
    if not rows:
        _end(row, "dropped", "Its trends were judged meanwhile.")
        return
    sessions = _further(line, row.seen.at)
    other = [each for each in sessions if row.bad_id and each.version_id != row.bad_id]
    if other:
        _give_up(row, line, f"The target has {other[0].version} by now, no longer {row.bad}.")
    elif len(sessions) >= 2:
        _judge_sessions(row, line, rows, sessions[:2])
    elif row.due_at <= now and line.template is not None:
        if row.began_at < now - GIVEN_UP_AFTER:
            _give_up(row, line, "Two more sessions did not come within three days.")
            return
        _measure_again(row, line, sessions, now)


def _further(line: Line, since: datetime) -> list[Reading]:
    """Return the sessions after an instant, of which each is 12 h behind the one before; torn ones are none."""
    chosen: list[Reading] = []
    rows = Reading.objects.filter(line=line, at__gt=since, torn=False).order_by("at", "pk")
    for reading in rows.select_related("version"):
        last = chosen[-1].at if chosen else since
        if reading.at >= last + APART:
            chosen.append(reading)
    return chosen


def _measure_again(
    row: Confirmation, line: Line, sessions: Sequence[Reading], now: datetime
) -> None:
    """Launch one more session of the line, unless one is on; it is an occasion of the line as others are."""
    if sessions and sessions[-1].at + APART > now:
        return
    key = f"again {row.pk} {len(sessions) + 1} {row.tries}"
    if _is_busy(line) or _held_back(line, now) or line.occasions.filter(key=key).exists():
        return
    line.occasions.create(
        key=key, trigger=Occasion.Trigger.AGAIN, due_at=now, outcome=Occasion.Outcome.SKIPPED
    )
    result = launching.launched(line, line.owner, now)
    line.occasions.filter(key=key).update(
        outcome=result.outcome, reason=result.reason[:2000], campaign=result.campaign
    )
    if result.campaign is None:
        _no_answer(row, line, result.reason, now)


def _judge_sessions(
    row: Confirmation, line: Line, rows: Sequence[AlertTrend], sessions: Sequence[Reading]
) -> None:
    """Hold the two further sessions, alone, against the sessions before the change."""
    keys = {each.pk for each in sessions}
    outcomes: dict[int, Word | str] = {}
    figures: dict[int, Figures] = {}
    for each in rows:
        newest = [told.y for told in told_by(each.trend) if told.reading.pk in keys]
        plateau = values(plateau_before(each.trend, each.reading, each.alert.good))
        test = confirmation.above(newest, plateau) if len(newest) == len(keys) else None
        if test is None:
            continue
        repeated = confirmation.is_repeated(newest, plateau)
        outcomes[each.pk] = Evidence.REPEATED if repeated else Word.NOT_REPRODUCED
        figures[each.trend_id] = _figures(str(outcomes[each.pk]), test)
    judged = [each for each in rows if each.pk in outcomes]
    if not judged:
        _give_up(row, line, "The two further sessions have no value.")
        return
    _conclude(row, line, judged, outcomes, figures)


# What follows


def _conclude(
    row: Confirmation,
    line: Line,
    judged: Sequence[AlertTrend],
    outcomes: Mapping[int, Word | str],
    figures: Mapping[int, Figures],
) -> None:
    """Store what a confirmation found, and let the evidence of its alert follow."""
    final, borders = dict(outcomes), {}
    for each in judged:
        first = _second_time(each) if outcomes[each.pk] == Word.NOT_REPRODUCED else None
        if first is not None:
            final[each.pk], borders[each.pk] = Word.MACHINE, first
        elif outcomes[each.pk] in (Word.MACHINE, Word.BOTH):
            borders[each.pk] = each.reading
        _store(each, str(final[each.pk]), figures[each.trend_id])
    words = {str(word) for word in final.values()}
    if (overall := _overall(words)) not in Alert.CALLING:  # those that were not measured again
        row.alert.trends.filter(trend__line=line, evidence=Evidence.SUSPECTED).update(
            evidence=overall
        )
    row.figures = {
        str(each.trend_id): asdict(replace(figures[each.trend_id], word=str(final[each.pk])))
        for each in judged
    }
    _end(row, str(Word.BOTH) if Word.BOTH in words else overall)
    row.alert.refresh_from_db()
    alerts.judge(row.alert)
    alerts.mark_once(
        [each for each in judged if final[each.pk] == Word.NOT_REPRODUCED], until=row.seen
    )
    for each in judged:
        if each.pk in borders:
            alerts.mark_border(each, borders[each.pk])
    if overall not in Alert.CALLING or borders:
        readings.rebuild(line)


def _store(each: AlertTrend, word: str, figures: Figures) -> None:
    each.evidence = Evidence.CONFIRMED if word == Word.BOTH else word
    if each.evidence in Alert.CALLING:  # the size that is told is that of what was measured again
        each.estimate, each.low, each.high = figures.estimate, figures.low, figures.high
        each.p = figures.p_worse
    each.save(update_fields=["evidence", "estimate", "low", "high", "p"])


def _overall(words: set[str]) -> str:
    if words & {Word.CONFIRMED, Word.BOTH}:
        return Evidence.CONFIRMED
    if Evidence.REPEATED in words:
        return Evidence.REPEATED
    return Evidence.MACHINE if Word.MACHINE in words else Evidence.NOT_REPRODUCED


def _second_time(each: AlertTrend) -> Reading | None:
    """Return with which session the machine moved: the first that was not reproduced lately, if all since lie above the plateau."""
    told = told_by(each.trend)
    newest = max(
        (at for at, point in enumerate(told) if point.reading.at <= each.seen.at), default=0
    )
    marked = [
        at for at, point in enumerate(told) if point.once and newest - SECOND_TIME <= at < newest
    ]
    if not marked:
        return None
    reading = told[marked[0]].reading
    plateau = values(plateau_before(each.trend, reading, None))
    test = confirmation.above([point.y for point in told[marked[0] :]], plateau)
    return reading if test is not None and test.p < confirmation.MOVED_BELOW else None
