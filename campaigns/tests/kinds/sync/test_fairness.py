"""What makes a sync an unfair one: others at work, a clock that is set, a cancel, a rate that binds."""

import threading

import pytest

from campaigns.kinds.base import NotClean, Target, TargetUnavailable
from campaigns.kinds.sync import cleaning
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.sync.suite import Place, found, parameters
from sandbox.process import running


@pytest.fixture(scope="module")
def process():
    with running(pulp={"workers": 2}) as sandbox:
        yield sandbox


@pytest.fixture
def feed(process):
    process.reset()
    return process


@pytest.fixture
def pulp(feed, tmp_path):
    feed.pulp.renew()
    target = Target("simulator", "pulp", feed.pulp.base_url, "admin", "password", dedicated=True)
    place = Place(target, tmp_path)
    yield place
    place.close()
    feed.pulp.renew()


def theirs(client, url, **fields):
    """Begin a sync of somebody else; its task, and the repository."""
    remote = client.create("remotes/file/file/", {"name": "theirs", "url": url} | fields)
    repository = client.create("repositories/file/file/", {"name": "theirs"})
    body = {"remote": remote["pulp_href"]}
    return client.start("POST", f"{repository['pulp_href']}sync/", body), repository


def while_it_loads(feed, label, action):
    def wait():
        assert until(lambda: feed.stats()["labels"].get(label, {}).get("in_flight"))
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_orphans_are_not_cleaned_up_under_a_sync_of_somebody_else(pulp, feed, monkeypatch):
    monkeypatch.setattr(cleaning, "OTHERS_SECONDS", 0.2)
    client = pulp.client()
    url = feed.manifest(files=8, size=1000, latency=200, label="theirs")
    task, repository = theirs(client, url, download_concurrency=1)
    assert until(lambda: feed.stats()["labels"].get("theirs", {}).get("in_flight"))

    with pytest.raises(NotClean, match=r"at work for somebody else: \S+synchronize \(running\)"):
        pulp.reset(parameters(feed.manifest(files=1)))

    assert client.count("tasks/", name__contains="orphan") == 0
    assert client.wait(task, 30, "theirs").state == "completed"
    latest = client.get(client.get(repository["pulp_href"])["latest_version_href"])
    assert latest["content_summary"]["present"]["file.file"]["count"] == 8
    assert client.count("artifacts/") == 8


def test_a_clean_up_that_an_earlier_run_has_left_is_waited_for_however_long(
    pulp, feed, monkeypatch
):
    monkeypatch.setattr(cleaning, "OTHERS_SECONDS", 0.0)
    feed.pulp.behave(workers=2, task_seconds=0.4)
    pulp.client().start("POST", "orphans/cleanup/", {"orphan_protection_time": 0})

    proofs = pulp.reset(parameters(feed.manifest(files=1)))

    assert all(proof.ok for proof in proofs), proofs


def test_what_only_begins_as_our_names_do_belongs_to_somebody_else(pulp, feed):
    feed.pulp.add_content("perfdash-frontend", files=4)

    with pytest.raises(NotClean, match="did not make: “perfdash-frontend”"):
        pulp.reset(parameters(feed.manifest(files=1)))

    assert pulp.client().count("content/") == 4


def test_a_task_of_somebody_else_that_ends_soon_is_waited_for(pulp, feed):
    client = pulp.client()
    theirs(client, f"{feed.base_url}/nowhere/PULP_MANIFEST")

    proofs = pulp.reset(parameters(feed.manifest(files=1)))

    assert all(proof.ok for proof in proofs), proofs


@pytest.mark.parametrize("ends", [True, False])
def test_a_task_of_somebody_else_in_the_middle_makes_the_run_void(pulp, feed, ends):
    slow = feed.manifest(files=6, size=1000, latency=100, label="ours")
    values = parameters(slow, download_concurrency=1)
    client = pulp.client()
    endless = feed.manifest(files=6, size=1000, latency=2000)
    url = f"{feed.base_url}/nowhere/PULP_MANIFEST" if ends else endless
    thread = while_it_loads(feed, "ours", lambda: theirs(client, url, policy="immediate"))

    measured, proofs = pulp.run(values)

    thread.join()
    assert not measured.failure
    wrong = {proof.name: proof.measured for proof in proofs if not proof.ok}
    assert list(wrong) == ["tasks of others meanwhile"]
    assert "synchronize" in wrong["tasks of others meanwhile"]


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_a_clock_that_is_set_in_the_middle_makes_the_run_void(pulp, feed, seconds):
    values = parameters(
        feed.manifest(files=6, size=1000, latency=100, label="set"), download_concurrency=1
    )
    thread = while_it_loads(
        feed, "set", lambda: feed.pulp.behave(workers=2, clock_offset_seconds=seconds)
    )

    _, proofs = pulp.run(values)

    thread.join()
    assert "duration, beside our clock" in {proof.name for proof in proofs if not proof.ok}


def test_a_clock_that_is_wrong_all_the_time_does_no_harm(pulp, feed):
    feed.pulp.behave(clock_offset_seconds=-3600.0)

    _, proofs = pulp.run(parameters(feed.manifest(files=3, size=1000)))

    assert all(proof.ok for proof in proofs), proofs


def test_a_task_that_somebody_cancels_makes_the_run_void(pulp, feed):
    url = feed.manifest(files=20, size=1000, latency=200, label="cancelled")
    values = parameters(url, download_concurrency=1)
    pulp.reset(values)
    pulp.apply(values)
    client = pulp.client()

    def cancel():
        (task,) = client.list("tasks/", state__in="running", name__contains="synchronize")
        client.cancel(task["pulp_href"])

    thread = while_it_loads(feed, "cancelled", cancel)

    with pytest.raises(TargetUnavailable, match="Somebody cancelled the task: it is"):
        pulp.measure(values)

    thread.join()


def test_a_rate_that_binds_in_a_short_sync_is_told(pulp, feed):
    measured, proofs = pulp.run(parameters(feed.manifest(files=12, size=1000), rate_limit=10))

    assert all(proof.ok for proof in proofs), proofs
    assert found(proofs)["files downloaded by these syncs"] == 12
    assert measured.values["task_duration"] > 0.9
    assert measured.health.verdict == "warned"


def test_a_rate_that_nothing_reaches_is_no_warning(pulp, feed):
    measured, _ = pulp.run(parameters(feed.manifest(files=12, size=1000), rate_limit=1000))

    assert measured.health.verdict == "healthy"
