"""A campaign on virtual hosts by SSH, end to end: a population, a simulated Katello that logs in to them, and a worker that is killed."""

import os
import signal
import socket
from contextlib import suppress

import pytest

from campaigns.execution import dispatch
from campaigns.execution import populations as work
from campaigns.execution.running import execute
from campaigns.findings.answers import answer_of
from campaigns.findings.compute import analyse
from campaigns.findings.store import findings_of
from campaigns.kinds.remote_execution import driver as kind
from campaigns.kinds.remote_execution import virtual_ssh, watching
from campaigns.kinds.remote_execution.presets import ALL_SUCCEED
from campaigns.kinds.servers import katello as client_of
from campaigns.models import Attempt, Campaign, EffectiveSetting, Population
from campaigns.planning import checking, drafts, lifecycle
from campaigns.targets.populations import asking
from campaigns.targets.saving import save_target
from campaigns.tests.execution import own_process
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.people import somebody
from campaigns.tests.ports import free_ports
from sandbox.process import running

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]
HOSTS = 20


@pytest.fixture(scope="module")
def simulator():
    with running(katello={"job_plan_seconds": 0.0, "iso": True, "cancel_seconds": 0}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def target(simulator, team, settings, tmp_path, worker, monkeypatch):
    for module, name, seconds in (
        (client_of, "SHORTEST_WAIT", 0.02), (watching, "FIRST_LOOK_SECONDS", 0.05),
        (watching, "LOOK_SECONDS", 0.1), (kind, "PAGE_REST_SECONDS", 0.0),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, seconds)
    simulator.renew()
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    settings.WORK_DIRECTORY = tmp_path
    yield save_target(
        {
            "name": "katello", "family": "katello", "base_url": simulator.tls_url, "username": "admin",
            "password": "password", "ca_bundle": simulator.ca(), "confirm_address": True,
        },
        team=team,
    )  # fmt: skip
    simulator.renew()


@pytest.fixture
def population(target, team):
    asked = {"hosts": HOSTS, "organization": "ACME", "activation_keys": "bench-ak", "days": 30}
    row = asking.ask_for(target, asked, somebody("operator", "operator", team=team))
    assert work.claim_populations() == [row.pk]
    work.attend(row.pk)
    row.refresh_from_db()
    assert row.state == Population.State.READY
    return row


@pytest.fixture
def campaign(simulator, target, population):
    """Return a campaign that is launched; keywords change its definition."""

    def make(factors, repetitions=1, **changes):
        parameters = {
            "hosts_are": "virtual_ssh", "population": population.pk, "proxy_url": simulator.tls_url,
            "address": "127.0.0.1", "first_port": free_ports(HOSTS), "search_query": "",
        }  # fmt: skip
        design = {
            "question": "Does each host succeed?",
            "kind": "remote_execution",
            "target": target.pk,
            "parameters": parameters | changes,
            "factors": factors,
            "order": "interleaved",
            "repetitions": repetitions,
            "seed": 3,
        } | ({"criterion": ALL_SUCCEED} if factors else {})
        made = drafts.create(checking.check(design), None)
        return lifecycle.launch(made, None)

    return make


def go():
    for _ in range(20):
        Campaign.objects.update(not_before=None)
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")
    raise AssertionError("it did not come to an end")


def is_open(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 2.0):
        return True
    return False


def test_a_campaign_on_virtual_hosts_by_ssh_is_answered(simulator, campaign):
    made = campaign({"hosts": [10, HOSTS]}, repetitions=3)
    go()
    made.refresh_from_db()

    assert made.state == Campaign.State.FINISHED, made.state_reason
    assert list(Attempt.objects.values_list("state", flat=True)) == ["accepted"] * 6
    analyse(made)
    answer = answer_of(findings_of(made, made.primary_metric))
    assert answer is not None
    assert "20 hosts" in answer.sentence, answer
    told = simulator.told()["ssh"]
    assert told == {"known_hosts": HOSTS, "logins": 90, "sessions": 1170}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_worker_was_killed_in_mid_job_the_next_one_goes_on(simulator, campaign):
    made = campaign({}, hosts=HOSTS, script_seconds=1)
    port = made.parameters["first_port"]
    simulator.set("rex_slots", 2)
    dispatch.dispatch()
    child = own_process.begin(Attempt.objects.get(state=Attempt.State.QUEUED).pk)
    assert until(lambda: simulator.told()["ssh"].get("logins", 0) >= 3)
    assert is_open(port)
    os.kill(child, signal.SIGKILL)
    assert own_process.ended_by(child) == signal.SIGKILL
    assert until(lambda: not is_open(port)), "the hosts end with their worker"
    own_process.forget_lease()
    simulator.set("rex_slots", 100)
    go()

    assert [each.state for each in Attempt.objects.order_by("pk")] == ["lost", "accepted"]
    assert made.runs.get().state == "done"
    [setting] = EffectiveSetting.objects.filter(name__startswith="hosts that Foreman reaches")
    assert (setting.in_force, setting.ok) == (HOSTS, True)
    assert simulator.told()["jobs"]["running"] == 0


def test_a_proxy_that_logs_in_nowhere_is_told_and_not_tried_again(simulator, campaign, monkeypatch):
    made = campaign({}, hosts=3)
    stranger = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqO0hS1mvNfNKDpHXLwhZ5AkSy3yRSEwyjc9p8jsLx9"
    monkeypatch.setattr(virtual_ssh, "keys_of", lambda *_: [stranger])
    go()

    attempt = Attempt.objects.get()
    assert (attempt.state, made.runs.get().state) == ("void", "void")
    assert attempt.reason.startswith(
        "The smart proxy logged in to none of the 3 virtual hosts: it showed another key than https://"
    )
    assert simulator.told()["jobs"]["running"] == 0
