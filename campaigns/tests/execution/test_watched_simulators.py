"""Campaigns on simulated servers whose modelled machines are watched: what binds there is known, and is said."""

import re

import numpy as np
import pytest
from django.contrib.auth.models import User

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.findings.answers import answer_of
from campaigns.findings.compute import analyse
from campaigns.findings.store import findings_of
from campaigns.findings.wording.binding import binding_sentence
from campaigns.kinds.servers import katello as client_of
from campaigns.kit import encryption
from campaigns.models import Attempt, Campaign, Target, Watch
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.importing.simulated_katello import KATELLO, katello_target
from campaigns.results.watched import watched_of
from campaigns.stats.binding import Resource
from campaigns.targets.watches.base import Key
from campaigns.targets.watches.sources.node_exporter import NodeExporter
from campaigns.targets.watches.sources.process_exporter import ProcessExporter
from campaigns.targets.watches.sources.puma import Puma
from sandbox.process import running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

STEP = 0.2
HOSTS = 6
PARAMETERS = {
    "organization": "ACME",
    "activation_keys": "bench-ak",
    "hosts": HOSTS,
    "packages": 0,
}
REGISTRATION = {
    "question": "How many Puma workers may it have?",
    "kind": "registration",
    "parameters": PARAMETERS,
    "factors": {"puma_workers": [1, 4, 6]},
    "order": "interleaved",
    "repetitions": 2,
    "seed": 3,
    "requires_watch": True,
}
SYNC = {
    "question": "Which download_concurrency should we ship?",
    "kind": "sync",
    "factors": {"download_concurrency": [2, 12]},
    "order": "interleaved",
    "repetitions": 2,
    "seed": 3,
    "requires_watch": True,
}


@pytest.fixture(autouse=True)
def _often(monkeypatch, settings, tmp_path, worker):
    """Watch more often than real servers are: these runs take a second or two."""
    for source in (NodeExporter, ProcessExporter, Puma):
        monkeypatch.setattr(source, "steps", (STEP, STEP))
    monkeypatch.setattr(client_of, "SHORTEST_WAIT", 0.02)
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    settings.WORK_DIRECTORY = tmp_path


def finished(design):
    """Return a campaign whose runs were all executed here, and its findings."""
    campaign = drafts.create(checking.check(design), None)
    lifecycle.launch(campaign, None)
    runs = campaign.runs.count()
    for _ in range(3 * runs):
        Campaign.objects.update(not_before=None)
        dispatch.dispatch()
        for attempt in Attempt.objects.filter(state=Attempt.State.QUEUED):
            execute(attempt.pk, "measure@here", "here")
        campaign.refresh_from_db()
        if campaign.state == Campaign.State.FINISHED:
            break
    assert campaign.state == Campaign.State.FINISHED, campaign.state_reason
    ended = campaign.runs.values_list("state", "attempts__reason")
    assert {state for state, _ in ended} == {"done"}, list(ended)
    analyse(campaign)
    return campaign, findings_of(campaign, campaign.primary_metric).binding


def words(finding):
    """Return the word of each level, with the resources that bind."""
    (group,) = finding.groups
    return {
        cell.value: [each.resource for each in cell.binding.bound] or cell.binding.word
        for cell in group.cells
    }


def test_memory_binds_from_the_workers_on_with_which_the_modelled_machine_swaps():
    """8 GiB, of which the system needs 4.5 and a worker of 5 threads .65: five fit, and six do not."""
    owner = User.objects.create(username="owner")
    with running(katello={"memory_gib": 8, "time_scale": 0.2}) as sandbox:
        katello_target(sandbox.katello.tls_url, sandbox.katello.ca(), owner)
        target = Target.objects.get(name=KATELLO)
        campaign, finding = finished(REGISTRATION | {"target": target.pk})

    assert words(finding)[6] == [Resource.MEMORY]
    assert not any(Resource.MEMORY in word for level, word in words(finding).items() if level < 6)
    assert (
        "From 6 puma workers on, memory of the target binds in both runs. "
        "This begins between 4 and 6 puma workers." in binding_sentence(finding)
    )

    # The registration monitor of the practice, from what is stored: Puma's threads and backlog over time.
    for workers, backlog in ((1, HOSTS - 5), (6, 0)):
        attempt = Attempt.objects.filter(
            run__campaign=campaign,
            run__cell__levels_by_factor__puma_workers=workers,
            state__in=Attempt.WITH_VALUES,
        ).latest("pk")
        largest = {each.key: np.nanmax(each.values) for each in watched_of(attempt).series()}
        assert largest[Key("queue.waiting", "threads puma")] == backlog
        assert largest[Key("queue.busy", "threads puma")] == HOSTS - backlog
        assert largest[Key("queue.limit", "threads puma")] == pytest.approx(5 * workers)


def test_threads_that_exist_from_the_start_take_less_memory_of_puma():
    """The tuning guide's 12 %, once all threads exist: the largest value of a run."""
    owner = User.objects.create(username="owner")
    parameters = PARAMETERS | {"hosts": 40, "puma_workers": 2, "puma_threads": 16}
    with running(katello={"memory_gib": 40, "time_scale": 0.05}) as sandbox:
        katello_target(sandbox.katello.tls_url, sandbox.katello.ca(), owner)
        target = Target.objects.get(name=KATELLO)
        campaign, _ = finished(
            REGISTRATION
            | {
                "target": target.pk,
                "parameters": parameters,
                "factors": {"puma_threads_min": [0, 16]},
                "primary_metric": "watched.memory_peak:puma",
                "repetitions": 3,
            }
        )

    answer = answer_of(findings_of(campaign, campaign.primary_metric))
    assert answer is not None
    assert re.fullmatch(
        r"Least Puma threads 16 takes 1[012](\.\d)? % less memory than 0\.", answer.sentence
    )


def test_cpu_binds_from_the_concurrency_on_at_which_the_modelled_cpus_are_full():
    """A file takes 50 ms on its way and 20 of one of 2 CPUs: 7 downloads at a time fill them, 2 a quarter."""
    pulp = {"cpus": 2, "file_cpu_seconds": 0.02, "retry_seconds": 0.02}
    with running(pulp=pulp) as sandbox:
        base_url = sandbox.pulp.base_url
        target = Target.objects.create(
            name="pulp",
            family="pulp",
            base_url=base_url,
            address=base_url.partition("//")[2],
            username="admin",
            password=encryption.encrypt("password"),
            is_dedicated=True,
        )
        Watch.objects.create(
            target=target, source="node_exporter", address=f"{base_url}/metrics", step_seconds=STEP
        )
        feed = sandbox.manifest(files=150, size=100, latency=50)
        _, finding = finished(SYNC | {"target": target.pk, "parameters": {"feed": feed}})

    assert words(finding) == {2: "none", 12: [Resource.CPU]}
    sentence = binding_sentence(finding)
    assert sentence.startswith(
        "From download concurrency 12 on, CPU of the target binds in both runs."
    )
    assert "None seen at download concurrency 2" in sentence
