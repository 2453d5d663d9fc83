"""Bundles of what an earlier version measured: runs of every end, extensions, imports."""

import pytest

from campaigns.findings import compute
from campaigns.models import Campaign
from campaigns.reviews.bundles import verify, write_bundle


@pytest.mark.slow
def test_the_bundle_of_every_campaign_that_has_ended_holds(upgraded, tmp_path):
    ended = Campaign.objects.filter(state__in=Campaign.CLOSED, findings__isnull=False).distinct()
    assert ended.count() > 2

    for campaign in ended:
        compute.analyse(campaign)
        path = tmp_path / f"{campaign.pk}.zip"
        with path.open("wb") as file:
            write_bundle(file, [campaign])

        report = verify(path)

        assert report.holds, (campaign.name, report.damaged, list(map(str, report.differences[:9])))
