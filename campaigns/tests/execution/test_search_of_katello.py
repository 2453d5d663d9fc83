"""A search on the simulated Katello with its model of Puma and real hosts: a server that hangs after an overload is left alone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.kinds.servers import katello as client_of
from campaigns.kit import encryption
from campaigns.models import Attempt, Campaign, Target
from campaigns.planning import checking, drafts, lifecycle
from sandbox.process import running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

FIRST = 4
SEARCH = {
    "question": "How many hosts can register at once?",
    "kind": "registration",
    "parameters": {
        "organization": "ACME",
        "activation_keys": "bench-ak",
        "timeout_seconds": 2,
        "packages": 0,
    },
    "search": {"load": "hosts", "first": FIRST, "largest": 200},
    "criterion": {"conditions": [{"metric": "registration_time", "at_most": 0.9}]},
    "order": "interleaved",
    "repetitions": 3,
    "seed": 3,
}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    with running(katello={}) as sandbox:
        for name, value in (("puma_workers", 1), ("puma_threads", 5), ("time_scale", 0.03)):
            sandbox.katello.set(name, value)
        yield sandbox.katello


@pytest.fixture
def target(server, settings, tmp_path, worker):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    settings.WORK_DIRECTORY = tmp_path
    return Target.objects.create(
        name="katello",
        family="katello",
        base_url=server.tls_url,
        address=server.tls_url.partition("//")[2],
        username="admin",
        password=encryption.encrypt("password"),
        ca_bundle=server.ca(),
        overload_until=timezone.now() + timedelta(days=1),
    )


def test_a_server_that_hangs_after_an_overload_pauses_it_and_gets_no_other_load(target, server):
    campaign = drafts.create(checking.check(SEARCH | {"target": target.pk}), None)
    lifecycle.launch(campaign, None)

    while campaign.state != Campaign.State.PAUSED:
        Campaign.objects.update(not_before=None)
        dispatch.dispatch()
        campaign.refresh_from_db()
        for attempt in Attempt.objects.filter(state=Attempt.State.QUEUED):
            if attempt.run.block.phase == "check":
                server.behave(fault="hang", fault_on="^POST /rhsm/consumers")
            execute(attempt.pk, "measure@here", "here")

    runs = list(campaign.runs.order_by("position"))
    *explored, overload = [run for run in runs if run.block.phase == "explore"]
    checks = runs[len(explored) + 1 :]
    assert [run.block.phase for run in checks] == ["check"] * 3
    hosts = overload.cell.levels_by_factor["hosts"]
    assert {run.cell.levels_by_factor["hosts"] for run in checks} == {FIRST}
    assert hosts > FIRST
    assert {run.state for run in checks} <= {"failed", "void"}
    assert f"the target has not recovered from {hosts} hosts" in campaign.state_reason
