"""Metrics of which no run has a value are not offered: they belong to another task of the kind."""

import pytest

from campaigns.findings import compute
from campaigns.findings.store import findings_of
from campaigns.tests.findings.compute.conftest import noisy, store

pytestmark = pytest.mark.django_db

LEVELS = {5: 10.0, 10: 8.0}


def test_a_metric_that_no_run_has_is_not_offered(interleaved):
    campaign = interleaved(list(LEVELS))
    store(campaign, noisy(LEVELS))

    compute.analyse(campaign)

    assert findings_of(campaign, "duration").metrics == ("duration",)
    assert not campaign.findings.filter(name__in=["cells:throughput", "drift:throughput"]).exists()


def test_a_metric_of_the_criterion_is_there_without_a_value(interleaved):
    campaign = interleaved(list(LEVELS))
    campaign.criterion = {"conditions": [{"metric": "throughput", "at_least": 1}]}
    campaign.save()
    store(campaign, noisy(LEVELS))

    compute.analyse(campaign)

    assert findings_of(campaign, "duration").metrics == ("duration", "throughput")
