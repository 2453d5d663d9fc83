"""The views of trends: points in their unit, and changes as Grafana shows annotations."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.urls import reverse

from campaigns.models import SubjectVersion, TrendChange
from campaigns.overview.pages import metrics
from campaigns.tests.trends.measuring import another, line_from, measured, telling

__all__ = ["telling"]
GUIDE = Path(settings.BASE_DIR, "docs/how-to/grafana.md").read_text()
PANELS = [
    query for query in re.findall(r"```sql\n(.*?)```", GUIDE, re.DOTALL) if "views.trend_" in query
]
pytestmark = pytest.mark.django_db


@pytest.fixture
def line(telling, target, person):
    return line_from(measured(target, person, days=9), person)


def read(query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def test_points_and_changes_are_read(line, person):
    reading = another(line, person, days=3, core="3.2.0")
    TrendChange.objects.filter(trend__line=line).delete()
    good, bad = SubjectVersion.objects.order_by("position")
    TrendChange.objects.create(
        trend=line.trends.first(), kind="screen", direction="worse", reading=reading, good=good,
        bad=bad, estimate=0.06, low=0.02, high=0.1, p=0.01, suspected=True,
    )  # fmt: skip

    for query in PANELS:
        shown = re.sub(r"\$__timeFilter\(time\)", "time IS NOT NULL", query)
        assert read(shown.replace("line_id = 3", f"line_id = {line.pk}"))
    points = read(
        "SELECT version, round(value::numeric, 1), runs FROM perfdash_views.trend_points ORDER BY time"
    )
    ((at, end, text, tags, change),) = read(
        "SELECT time, timeend, text, tags, round(change_pct::numeric, 1) FROM perfdash_views.trend_changes"
    )

    assert {version for version, _, _ in points} == {"3.1.0", "3.2.0"}
    assert {runs for _, _, runs in points} == {3}
    assert (at, end, float(change)) == (reading.at, None, 6.2)
    assert text == f"core 3.2.0 is suspected to be worse: {line.trends.first()}"
    assert tags == [line.name, "screen", "worse", "suspected"]


def test_metrics_tell_lines_and_how_long_one_is_overdue(line, client, settings):
    settings.METRICS_TOKEN = "t"  # noqa: S105 - only for tests
    metrics._cache._until = 0.0

    text = client.get(reverse("metrics"), headers={"Authorization": "Bearer t"}).content.decode()

    assert 'perfdash_lines{state="on"} 1.0' in text
    assert "perfdash_line_overdue_seconds 0.0" in text
    assert metrics.figures().line_overdue_seconds == 0.0
    line.due_at = line.created_at
    line.save()
    assert metrics.figures().line_overdue_seconds >= 0.0
