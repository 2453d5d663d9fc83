"""Campaigns of a kind whose target tells versions, as workers measured them; nothing waits for a clock."""

from datetime import timedelta

import pytest
from django.db.models import F

from campaigns.kinds.base import Subject
from campaigns.kit.versions import PYPI
from campaigns.models import Attempt, Campaign, EnvironmentFact, Session
from campaigns.planning import checking, drafts, lifecycle
from campaigns.tests.measured import finish, store
from campaigns.tests.toy import Toy, definition
from campaigns.trends import lines, readings


@pytest.fixture
def telling(toy, monkeypatch):
    """Let the toy tell the version in its fact `core`, and another in `plugin`."""

    def subjects(self, facts):
        return [
            Subject(name, facts[name], PYPI, name) for name in ("core", "plugin") if name in facts
        ]

    monkeypatch.setattr(Toy, "subjects", subjects)
    monkeypatch.setattr(Toy, "passing", frozenset({"hosts"}))


def ended(campaign, *, seconds=10.0, days=0, after=None, **facts):
    """Measure a launched campaign: each run so many seconds, a little more than the one before.

    days: how long ago its sessions were. facts: of the target, by name; after: those after the last run.
    """
    store(campaign, lambda run: seconds * (1 + run.position / 1000))
    for attempt in Attempt.objects.filter(run__campaign=campaign):
        for name, value in ({"core": "3.1.0", "kernel": "6.1"} | facts).items():
            EnvironmentFact.objects.create(
                attempt=attempt, side="target", name=name, value=value,
                value_after=(after or {}).get(name, ""),
            )  # fmt: skip
    Session.objects.filter(campaign=campaign).update(
        started_at=F("started_at") - timedelta(days=days)
    )
    return finish(campaign)


def measured(target, person, *, template=None, **told):
    """A finished campaign of two engines, three pairs."""
    made = drafts.create(checking.check(definition(target=target.pk, seed=5)), person)
    if template is not None:
        Campaign.objects.filter(pk=made.pk).update(template=template)
        made.refresh_from_db()
    return ended(lifecycle.launch(made, person), **told)


def line_from(campaign, person, **changes):
    """A line by the versions of core, every night."""
    data = {
        "name": "Engines, nightly", "subject": "core", "cron": "30 2 * * *", "zone": "UTC",
        "minutes_a_week": 600,
    }  # fmt: skip
    return lines.begin(campaign, data | changes, person)


def another(line, person, **told):
    """One more session of a line, by a campaign of its template."""
    campaign = measured(line.target, person, template=line.template, **told)
    return readings.extend(campaign)
