"""CPU seconds for a unit of work, on the compare page."""

import pytest
from django.urls import reverse

from campaigns.models import Attempt, Phase
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.watched import watch

pytestmark = pytest.mark.django_db


def watched_campaign(target, person, busy, seed):
    """Return a campaign of which each run did 60 units in 45 s, on a machine that was busy by a share."""
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 100 + seed)
    for run in campaign.runs.all():
        attempt = watch(run, busy)
        Attempt.objects.filter(pk=attempt.pk).update(units_done=60)
        Phase.objects.create(attempt=attempt, of="attempt", name="measure", seconds=45.0)
    return finish(campaign)


def test_the_demand_of_each_group_stands_beside_the_verdict(browser, target, person):
    first = watched_campaign(target, person, 0.5, 0)
    second = watched_campaign(target, person, 1.0, 1)
    page = browser.get(f"{reverse('compare')}?c={first.pk}&c={second.pk}")
    table = page.context["demand"]
    lines = {line.group: line.values for line in table.lines}
    assert lines["web"] == (("525 ms", ""), ("1.05 s", "2 times"))
    assert lines["all of the machine"] == (("750 ms", ""), ("1.5 s", "2 times"))
    assert [line.group for line in table.lines][-3:] == ["others", "perfdash", "all of the machine"]
    assert "CPU of the target for a unit of work" in page.content.decode()


def test_no_table_unless_two_were_watched(browser, target, person):
    first = watched_campaign(target, person, 0.5, 0)
    other = launched(target, person)
    store(other, lambda run: 11.0 + run.position / 100)
    finish(other)
    page = browser.get(f"{reverse('compare')}?c={first.pk}&c={other.pk}")
    assert page.context["demand"] is None
