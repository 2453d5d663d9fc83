"""Which of the shifts of a line's trends are suspected: those that stand out among all of them, and are large enough. TRENDS 5.2."""

import math
from collections.abc import Iterable, Mapping, Sequence

from campaigns.models import Line, Reading, Trend, TrendChange
from campaigns.stats.multiplicity import benjamini_hochberg
from campaigns.trends.judging import Judged, Shift

Kind = TrendChange.Kind
LEVELS = (Kind.CHANGE, Kind.MACHINE)
OF_SCREENS, OF_CHANGES = 0.10, 0.05
"""So large a share of the unchanged versions may begin a suspicion (Benjamini and Hochberg, 1995)."""
MARGIN_PERCENT = 2.0
"""A smaller difference is none; a line of a template has the margin of it."""
CODE = 1


class Rows:
    """The rows of a line that are to be stored. readings: by key, with their versions."""

    def __init__(self, line: Line, readings: Mapping[int, Reading]) -> None:
        self.readings, self.created_at = readings, line.created_at
        stated = (
            line.template.definition.get("margin_percent") if line.template else None
        ) or MARGIN_PERCENT
        self.margin = math.log1p(stated / 100)
        self.rows: list[TrendChange] = []

    def of(self, trend: Trend) -> Sequence[TrendChange]:
        """Return the suspicions of a trend."""
        return [row for row in self.rows if row.trend_id == trend.pk and row.suspected]

    def add_levels(self, trend: Trend, judged: Judged) -> None:
        """Add the changes of level; which of them are suspected is seen beside those of the other trends."""
        self.rows += [self._row(trend, each) for each in judged.changes]

    def suspect(self, newest: Mapping[Trend, Judged]) -> None:
        """Add what is suspected of the newest sessions, and mark the changes that are."""
        for family in (
            {trend: each.worse for trend, each in newest.items() if each.worse},
            {trend: each.better for trend, each in newest.items() if each.better},
        ):
            for trend, shift, p in _adjusted(family):
                row = self._row(trend, shift, p)
                if p <= OF_SCREENS and self._is_large(row):
                    self._add_suspected(row)
        for trend, each in newest.items():
            if each.failing:
                self._add_suspected(self._row(trend, each.failing))
        self._suspect_levels(newest)

    def _suspect_levels(self, newest: Mapping[Trend, Judged]) -> None:
        """Mark the last changes that stand out; a trend without one counts as one with a p of 1."""
        last = {trend: each.changes[-1:] for trend, each in newest.items() if each.long}
        p_values = [changes[0].p or 0.0 if changes else 1.0 for changes in last.values()]
        rows = {(row.trend_id, row.reading_id): row for row in self.rows if row.kind in LEVELS}
        for (trend, changes), p in zip(last.items(), benjamini_hochberg(p_values), strict=True):
            if changes:
                row = rows[trend.pk, changes[0].at]
                row.adjusted = p
                row.suspected = p <= OF_CHANGES and self._is_large(row) and self._is_of_line(row)

    def _add_suspected(self, row: TrendChange) -> None:
        """Add a suspicion; what was measured before there was a line is history alone."""
        if self._is_of_line(row):
            row.suspected = True
            self.rows.append(row)

    def _is_of_line(self, row: TrendChange) -> bool:
        return self.readings[row.reading_id].at >= self.created_at

    def _is_large(self, row: TrendChange) -> bool:
        return bool(row.direction) and abs(row.estimate or 0.0) >= self.margin

    def _row(self, trend: Trend, shift: Shift, adjusted: float | None = None) -> TrendChange:
        good, bad = self.readings[shift.good].version, self.readings[shift.bad].version
        return TrendChange(
            trend=trend,
            kind=Kind(shift.kind),
            direction=shift.direction,
            reading_id=shift.at,
            good=good,
            bad=bad,
            estimate=shift.estimate,
            low=shift.low,
            high=shift.high,
            p=shift.p,
            adjusted=adjusted,
            code=CODE,
        )


def _adjusted(family: Mapping[Trend, Shift]) -> Iterable[tuple[Trend, Shift, float]]:
    """Return the shifts of trends with their p among one another."""
    p_values = benjamini_hochberg([each.p or 0.0 for each in family.values()])
    return zip(family.keys(), family.values(), p_values, strict=True)
