"""What sentences on alerts are made of: read for many alerts at once, in a fixed number of queries. Reads only."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from campaigns.models import Alert, AlertTrend, Confirmation
from campaigns.stats.logs import pct_of
from campaigns.trends.alert_wording import AlertFacts, sentences_of, verdict_of
from campaigns.trends.turned import interval_of, sign_of
from campaigns.trends.wording import Sentences


def facts_of(alerts: Sequence[Alert]) -> dict[int, AlertFacts]:
    """Return the facts of alerts by their keys; alerts have `good` and `bad` selected."""
    keys = [alert.pk for alert in alerts]
    trends = _by_alert(
        AlertTrend.objects.filter(alert__in=keys).select_related("trend__line", "reading")
    )
    again: dict[int, list[Confirmation]] = {}
    for row in Confirmation.objects.filter(alert__in=keys).order_by("pk"):
        again.setdefault(row.alert_id, []).append(row)
    return {
        alert.pk: _facts(alert, trends[alert.pk], again.get(alert.pk, ()))
        for alert in alerts
        if alert.pk in trends
    }


def _by_alert(rows: Iterable[AlertTrend]) -> dict[int, list[AlertTrend]]:
    found: dict[int, list[AlertTrend]] = {}
    for row in rows:
        found.setdefault(row.alert_id, []).append(row)
    return found


def _facts(
    alert: Alert, rows: Sequence[AlertTrend], confirmations: Sequence[Confirmation]
) -> AlertFacts:
    worst = min(rows, key=lambda row: _rank(alert, row))
    trend, sign = worst.trend, sign_of(worst.trend)
    low, high = interval_of(trend, worst.low, worst.high)
    figures = _figures(worst, confirmations)
    pairs = confirmations and confirmations[-1].way == Confirmation.Way.PAIRS
    n = int(figures.get("n") or 0)
    return AlertFacts(
        line=str(trend.line),
        subject=alert.subject,
        good=str(alert.good or ""),
        bad=str(alert.bad or ""),
        since=worst.reading.at,
        evidence=alert.evidence,
        direction=alert.direction,
        label=trend.label,
        unit=trend.unit,
        metric=trend.metric,
        lower_is_better=trend.lower_is_better is not False,
        change=None if worst.estimate is None else pct_of(sign * worst.estimate),
        low=None if low is None else pct_of(low),
        high=None if high is None else pct_of(high),
        fails=worst.kind == "failing" and alert.evidence in (*Alert.CALLING, "suspected"),
        pairs=n if pairs else 0,
        sessions=0 if pairs else n,
        more=len(rows) - 1,
        moved=figures.get("word") == "confirmed_and_machine",
        is_measured_again=any(not each.outcome for each in confirmations),
        reason=alert.evidence_reason,
    )


def _rank(alert: Alert, row: AlertTrend) -> tuple[bool, bool, float, int]:
    """Sort by evidence of the alert, failing ones, size, and arrival."""
    return (
        row.evidence != alert.evidence,
        row.kind != "failing",
        -abs(row.estimate or 0.0),
        row.pk,
    )


def _figures(row: AlertTrend, confirmations: Sequence[Confirmation]) -> Mapping[str, Any]:
    for each in reversed(confirmations):
        if found := each.figures.get(str(row.trend_id)):
            return dict(found)
    return {}


def sentences(alert: Alert) -> Sentences:
    """Return the three lines of one alert."""
    facts = facts_of([alert]).get(alert.pk)
    return (
        sentences_of(facts)
        if facts
        else Sentences(f"Alert {alert.pk} has no trends any more.", "", "")
    )


def verdict(alert: Alert) -> str:
    """Return the verdict of one alert."""
    facts = facts_of([alert]).get(alert.pk)
    return verdict_of(facts) if facts else f"Alert {alert.pk} has no trends any more."
