"""Two smart proxies as targets of one campaign: what the answer says of both, and a row of the sizing table for each."""

import math
from datetime import timedelta

import numpy as np
import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kinds.content_delivery.driver import driver
from campaigns.models import Attempt, Campaign, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.storing import Value
from campaigns.reviews.reports.sizing import sizing_of_campaign
from campaigns.tests.findings.compute.conftest import START
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db
CARRIED = {"proxy-8": 350.0, "proxy-16": 640.0}
"""Hosts at which the 95th percentile of a package is 10 s."""
REPOSITORY = "pulp/content/ACME/Library/custom/Bench/files20k/"


@pytest.fixture
def proxies(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:8-9"
    sizes = {"proxy-8": "CPU=8, GiB=24", "proxy-16": "CPU=16, GiB=46"}
    return [
        Target.objects.create(
            name=name, family="http", base_url=f"http://127.0.0.1:{port}", address=f"127.0.0.1:{port}",
            hardware=hardware,
        )
        for port, (name, hardware) in enumerate(sizes.items(), 8)
    ]  # fmt: skip


@pytest.fixture
def measured(proxies):
    """The preset for proxies, with runs whose packages take longer the more hosts there are."""
    preset = next(each for each in driver.presets("") if each.name == "proxies")
    definition = {
        "kind": "content_delivery",
        "targets": [each.pk for each in proxies],
        "parameters": {"repository": REPOSITORY, **preset.parameters},
        "factors": {name: list(levels) for name, levels in preset.factors.items()},
        "seed": 1,
        **preset.values,
    }
    campaign = lifecycle.launch(drafts.create(checking.check(definition), None), None)
    rng = np.random.default_rng(1)
    for run in campaign.runs.select_related("cell").order_by("position"):
        levels = run.cell.levels_by_factor
        hosts = int(levels["hosts"])
        seconds = 10 * hosts / CARRIED[str(levels["target"])] * math.exp(rng.normal(0, 0.02))
        attempt = import_run(
            run,
            [
                Value("package_time", seconds / 2, "s", lower_is_better=True),
                Value("package_time_p95", seconds, "s", lower_is_better=True),
            ],
            started_at=START + timedelta(minutes=run.position),
            finished_at=START + timedelta(minutes=run.position, seconds=30),
        )
        Attempt.objects.filter(pk=attempt.pk).update(units_done=hosts * 10)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    campaign.refresh_from_db()
    compute.analyse(campaign)
    return campaign


def test_the_answer_says_what_each_proxy_carries_and_the_table_has_a_row_for_each(measured):
    answer = answers_of([measured.pk])[measured.pk]
    table = sizing_of_campaign(measured)

    assert answer.sentence == (
        "Target proxy-16 carries at least 400 hosts, target proxy-8 at least 200: about 1.8 times as many."
    )
    assert answer.certainty == "Fails at 700 and at 400. Measure 530 and 280 to narrow it."
    assert table is not None
    assert table.conditions == "p95 of the time of a package stays within 10 s and at most 5 % fail"
    assert [(row.target, row.capacity, row.sizes) for row in table.rows] == [
        ("proxy-8", "at least 200 hosts, fewer than 400", {"CPU": 8.0, "GiB": 24.0}),
        ("proxy-16", "at least 400 hosts, fewer than 700", {"CPU": 16.0, "GiB": 46.0}),
    ]
