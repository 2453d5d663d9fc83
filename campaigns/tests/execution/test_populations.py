"""Populations at a simulated Katello that runs: registered, stored encrypted, gone on with, and deleted."""

import os
import signal
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models.functions import Now

from campaigns.execution import parcels
from campaigns.execution import populations as work
from campaigns.kinds.base import DriverError
from campaigns.kinds.base.servers import katello_of
from campaigns.kinds.hosts.answering import answering, answering_request
from campaigns.kinds.load import tls
from campaigns.kinds.registration.requests import attempts_prefix
from campaigns.kinds.servers import foreman_hosts
from campaigns.kit import encryption
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import Population, PopulationPart, Target
from campaigns.targets import saving
from campaigns.targets.populations import asking, identities
from campaigns.tests.kinds.conftest import keeper
from campaigns.tests.kinds.hosts.pull_mqtt import MOSQUITTO, mosquitto, smart_proxy
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.people import somebody
from sandbox.process import running

__all__ = ["keeper"]

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]
ASKED = {"hosts": 5, "organization": "ACME", "activation_keys": "bench-ak", "days": 30}


@pytest.fixture(scope="module")
def running_simulator():
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def simulator(running_simulator):
    running_simulator.renew()
    yield running_simulator
    running_simulator.renew()


@pytest.fixture
def target(simulator, team, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    return saving.save_target(
        {
            "name": "katello",
            "family": "katello",
            "base_url": simulator.tls_url,
            "username": "admin",
            "password": "password",
            "ca_bundle": simulator.ca(),
            "confirm_address": True,
        },
        team=team,
    )


@pytest.fixture
def operator(team):
    return somebody("operator", "operator", team=team)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(work, "PART", 2)
    monkeypatch.setattr(identities, "PART", 2)


def attended(row):
    """Let dispatch claim what is due, and a worker work on it; return the row as it is then."""
    Population.objects.update(due_at=None)
    assert work.claim_populations() == [row.pk]
    work.attend(row.pk)
    return Population.objects.filter(pk=row.pk).first()


def names_at(target, text):
    with katello_of(saving.as_driver_sees_it(target), saving.rules_for(target)) as katello:
        return sorted(host.name for host in foreman_hosts.hosts_named(katello, text))


def test_hosts_are_registered_once_and_stored_encrypted(target, operator, small_parts):
    row = asking.ask_for(target, ASKED, operator)
    assert row.state == "making"

    row = attended(row)

    assert (row.state, row.registered, row.problem, row.claim) == ("ready", 5, "", "")
    known = identities.identities_of(row)
    prefix = identities.prefix_of(row)
    assert [each.name for each in known] == [f"{prefix}{n:05d}.perfdash.example" for n in range(5)]
    assert names_at(target, prefix) == [each.name for each in known]
    assert len({each.uuid for each in known}) == 5
    for each in known:
        tls.identity_context(each.certificate, each.key, target.ca_bundle)
    assert identities.identities_of(row, 3) == known[:3]
    for stored in PopulationPart.objects.values_list("identities", flat=True):
        assert "BEGIN" not in stored
        assert known[0].uuid not in stored
    assert known[0].key not in repr(known)


def test_a_population_outlives_the_runs_of_registration(target, operator):
    row = attended(asking.ask_for(target, ASKED, operator))

    seen = saving.as_driver_sees_it(target)

    assert names_at(target, attempts_prefix(seen)) == []
    assert len(names_at(target, identities.prefix_of(row))) == 5


def test_a_run_gets_the_first_hosts_of_a_population(target, operator):
    row = attended(asking.ask_for(target, ASKED, operator))
    asking.ask_for(target, ASKED, operator)

    hosts = work.hosts_of(target, row.pk, 2)

    assert hosts == identities.identities_of(row)[:2]
    with pytest.raises(DriverError, match="has 5 hosts, and 6 are asked for"):
        work.hosts_of(target, row.pk, 6)
    with pytest.raises(
        DriverError, match=f"no population {row.pk + 1} that is ready; there are: {row.pk}"
    ):
        work.hosts_of(target, row.pk + 1, 1)


def test_a_worker_without_keys_opens_a_population_with_its_parcel(target, operator, settings):
    row = attended(asking.ask_for(target, ASKED, operator))
    hosts, key = identities.identities_of(row), encryption.new_key()
    parcel = encryption.pack(parcels._of_targets([target]), key)
    settings.ENCRYPTION_KEYS = []
    with pytest.raises(encryption.SecretUnreadable):
        identities.identities_of(row)

    with encryption.unpacked(parcel, key):
        assert identities.identities_of(row) == hosts


def test_keys_are_rotated(target, operator, settings):
    row = attended(asking.ask_for(target, ASKED, operator))
    hosts = identities.identities_of(row)
    newest = encryption.new_key()
    settings.ENCRYPTION_KEYS = [newest, *settings.ENCRYPTION_KEYS]
    call_command("rotate_keys")
    settings.ENCRYPTION_KEYS = [newest]

    row.refresh_from_db()

    assert identities.identities_of(row) == hosts


@pytest.mark.skipif(not MOSQUITTO, reason="mosquitto is not installed")
def test_registered_hosts_answer_a_job_with_their_certificates(
    target, operator, simulator, tmp_path, keeper
):
    row = attended(asking.ask_for(target, ASKED, operator))
    ours = Authority(tmp_path, "ours")
    ours.file.write_text(ours.file.read_text() + simulator.ca())
    hosts = work.hosts_of(target, row.pk, 5)
    with (
        mosquitto(tmp_path / "mosquitto", ours) as broker,
        smart_proxy(ours, broker.port) as proxy,
    ):
        request = answering_request(
            keeper.context(), hosts, ("127.0.0.1", broker.port), proxy.url, ca=ours.file.read_text()
        )
        with answering(keeper.context(), request) as held:
            jobs = proxy.start([each.uuid for each in hosts], "date")
            proxy.wait(jobs)
            answered = held.end()

    assert answered.failures == {}
    assert answered.scripts.total() == 5


def test_a_part_that_was_lost_in_the_middle_is_deleted_and_registered_again(
    target, operator, small_parts, monkeypatch
):
    def killed(claim, part, identities):
        if part == 1:
            raise work.ClaimLost
        stored(claim, part, identities)

    row, stored = asking.ask_for(target, ASKED, operator), work._store
    monkeypatch.setattr(work, "_store", killed)
    row = attended(row)
    assert (row.state, row.registered) == ("making", 2)
    assert len(names_at(target, identities.prefix_of(row))) == 4  # two of them belong to nobody
    monkeypatch.setattr(work, "_store", stored)

    row = attended(row)

    assert (row.state, row.registered) == ("ready", 5)
    known = {each.name for each in identities.identities_of(row)}
    assert known == set(names_at(target, identities.prefix_of(row)))


def test_a_worker_that_is_killed_leaves_nothing_behind(
    target, operator, small_parts, settings, tmp_path
):
    settings.WORK_DIRECTORY = tmp_path / "work"
    row = asking.ask_for(target, {**ASKED, "hosts": 20}, operator)
    assert work.claim_populations() == [row.pk]
    connections.close_all()
    worker = os.fork()
    if not worker:
        work.attend(row.pk)
        os._exit(0)
    assert until(lambda: Population.objects.get().registered >= 4)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    row.refresh_from_db()
    assert (row.state, row.claim != "") == ("making", True)
    Population.objects.update(claimed_until=Now() - timedelta(seconds=1))

    row = attended(row)

    assert (row.state, row.registered) == ("ready", 20)
    known = sorted(each.name for each in identities.identities_of(row))
    assert known == names_at(target, identities.prefix_of(row))
    assert list(settings.WORK_DIRECTORY.iterdir()) == []  # no key is left in a file


def test_only_one_worker_takes_a_claim_and_a_late_message_does_nothing(target, operator):
    row = asking.ask_for(target, ASKED, operator)
    work.attend(row.pk)
    assert Population.objects.get().registered == 0
    assert work.claim_populations() == [row.pk]
    assert work.claim_populations() == []
    first, second = work._Claim.of(row.pk), work._Claim.of(row.pk)
    assert first is not None
    assert second is None


def test_a_claim_that_was_not_renewed_goes_to_the_next_worker(target, operator):
    row = asking.ask_for(target, ASKED, operator)
    assert work.claim_populations() == [row.pk]
    dead = work._Claim.of(row.pk)
    assert dead is not None
    Population.objects.update(claimed_until=Now() - timedelta(seconds=1))

    row = attended(row)

    assert row.state == "ready"
    with pytest.raises(work.ClaimLost):
        dead.update(problem="too late")


def test_deletion_takes_the_hosts_off_the_server_and_no_others(target, operator):
    kept = attended(asking.ask_for(target, {**ASKED, "hosts": 2}, operator))
    row = attended(asking.ask_for(target, ASKED, operator))
    asking.ask_deletion(row, operator)

    assert attended(row) is None

    assert names_at(target, "perfdash-") == names_at(target, identities.prefix_of(kept))
    assert len(names_at(target, "perfdash-")) == 2
    assert PopulationPart.objects.filter(population=kept).exists()


def test_one_that_is_too_old_and_those_of_a_retired_target_are_deleted(target, operator):
    old = attended(asking.ask_for(target, {**ASKED, "days": 1}, operator))
    young = attended(asking.ask_for(target, ASKED, operator))
    Population.objects.filter(pk=old.pk).update(created_at=Now() - timedelta(days=1, seconds=1))

    assert asking.delete_too_old() == 1
    assert Population.objects.get(pk=old.pk).state == "deleting"
    saving.retire_target(target)
    assert asking.delete_too_old() == 1
    assert Population.objects.get(pk=young.pk).state == "deleting"


def test_an_activation_key_that_is_not_there_is_named_and_nobody_tries_again(target, operator):
    row = attended(asking.ask_for(target, {**ASKED, "activation_keys": "nope"}, operator))

    assert row.state == "failed"
    assert (
        row.problem
        == "The organization ACME has no activation key nope; it has bench-ak, few-ak, more-ak."
    )
    assert work.claim_populations() == []


def test_a_server_that_is_away_is_tried_again_and_then_told(target, operator):
    Target.objects.filter(pk=target.pk).update(base_url="https://127.0.0.1:1")
    row = asking.ask_for(target, ASKED, operator)
    for tries in range(1, work.MOST_TRIES + 1):
        assert row.state == "making"
        row = attended(row)
        assert row.tries == tries
        assert "127.0.0.1:1" in row.problem
        assert work.claim_populations() == []

    assert row.state == "failed"


def test_what_could_not_be_deleted_is_told_and_may_be_forgotten(target, operator):
    row = attended(asking.ask_for(target, ASKED, operator))
    Target.objects.filter(pk=target.pk).update(base_url="https://127.0.0.1:1")
    with pytest.raises(NotPossible):
        asking.forget(row, operator)
    asking.ask_deletion(row, operator)
    row = attended(row)
    assert (row.state, row.registered) == ("deleting", 5)
    assert "127.0.0.1:1" in row.problem

    asking.forget(row, operator)

    assert not Population.objects.exists()


def test_deletion_ends_what_is_being_registered(target, operator, small_parts, monkeypatch):
    def meanwhile(claim, part, identities):
        asking.ask_deletion(Population.objects.get(), operator)
        stored(claim, part, identities)

    row, stored = asking.ask_for(target, ASKED, operator), work._store
    monkeypatch.setattr(work, "_store", meanwhile)
    row = attended(row)
    assert (row.state, row.registered) == ("deleting", 0)

    assert attended(row) is None
    assert names_at(target, "perfdash-") == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hosts": 0}, "hosts"),
        ({"hosts": 30_000}, "hosts"),
        ({"hosts": "many"}, "hosts"),
        ({"organization": "A B"}, "organization"),
        ({"activation_keys": " , "}, "activation_keys"),
        ({"days": 0}, "days"),
        ({"days": 400}, "days"),
    ],
)
def test_bad_input_is_refused_at_its_field(target, operator, changes, field):
    with pytest.raises(Invalid) as refused:
        asking.ask_for(target, {**ASKED, **changes}, operator)

    assert list(refused.value.errors) == [field]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"family": "http"}, "Only a Katello has populations"),
        ({"base_url": "http://127.0.0.1:1"}, "begins with https:"),
        ({"username": ""}, "has none: give it one"),
    ],
)
def test_a_target_that_can_have_none_says_why(target, operator, changes, words):
    Target.objects.filter(pk=target.pk).update(**changes)

    with pytest.raises(Invalid, match=words):
        asking.ask_for(target, ASKED, operator)


def test_only_who_may_change_the_target_may_ask(target, team):
    with pytest.raises(NotAllowed):
        asking.ask_for(target, ASKED, somebody("viewer", "viewer", team=team))
