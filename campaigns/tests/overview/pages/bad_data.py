"""Campaigns of the toy kind that hold what no campaign should."""

from collections import Counter
from datetime import timedelta

from django.urls import reverse

from campaigns.models import Run
from campaigns.results.storing import Value
from campaigns.tests.measured import START, finish, launched
from campaigns.tests.stored import import_run

GOOD = (10.0, 11.0, 12.0, 10.5, 11.5)


def measured(target, person, values, *, factor="workers", metric="duration", **changes):
    """A launched campaign; `values` by level: numbers, or the state of a run; what lacks stays planned."""
    campaign = launched(
        target,
        person,
        **{
            "factors": {factor: list(values)},
            "order": "interleaved",
            "repetitions": max(map(len, values.values())),
            "primary_metric": metric,
        }
        | changes,
    )
    unit, lower = ("s", True) if metric == "duration" else ("files/s", False)
    seen: Counter = Counter()
    for run in campaign.runs.select_related("cell").order_by("position"):
        level = run.cell.levels_by_factor[factor]
        wanted = values[level][seen[level]] if seen[level] < len(values[level]) else None
        seen[level] += 1
        if isinstance(wanted, str):
            Run.objects.filter(pk=run.pk).update(state=wanted, reason="It did not come through.")
        elif wanted is not None:
            started = START + timedelta(minutes=run.position)
            value = Value(metric, wanted, unit, lower_is_better=lower)
            import_run(
                run, [value], started_at=started, finished_at=started + timedelta(seconds=30)
            )
    return campaign


def analysed(target, person, values, **changes):
    """The same, closed and analysed."""
    return finish(measured(target, person, values, **changes))


def words(campaign):
    """The stored words of all comparisons, in their order."""
    result = campaign.findings.get(name="levels").result
    return [
        row["comparison"]["verdict"]["word"]
        for group in result["groups"]
        for row in group["comparisons"]
    ]


def flags(campaign):
    """What is said of each cell."""
    cells = campaign.findings.get(name="cells").result["cells"]
    return [set(cell["summary"]["flags"]) for cell in cells]


def read(browser, name, campaign, **query):
    """The text of a page or a file, which has to be there."""
    response = browser.get(reverse(name, args=[campaign.pk]), query)
    assert response.status_code == 200, (name, response.status_code)
    content = b"".join(response) if response.streaming else response.content
    return content.decode()
