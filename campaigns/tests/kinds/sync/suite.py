"""What a sync has to be, whatever Pulp it is asked of: the simulated one, or a real one.

A module that imports these tests gives the fixtures `pulp` (a target, and a client to look with) and
`feed` (a sandbox).
"""

import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from campaigns.kinds.base import (
    Cancelled,
    Context,
    DriverError,
    NotClean,
    NotOurs,
    ParametersRefused,
    RemovedByOthers,
    Target,
)
from campaigns.kinds.base.naming import OWN
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.sync.driver import driver
from campaigns.kit.http.connection import Connection
from campaigns.kit.http.credentials import Login
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.recomputed import follows

RULES = parse_rules("127.0.0.1:*")
INSTALLATION, ANOTHER = "0a1b2c3d", "4e5f6071"


@dataclass
class Place:
    """A Pulp under test, and a keeper of one attempt on it."""

    target: Target
    directory: Path
    cancelled: threading.Event = field(default_factory=threading.Event)
    lines: list = field(default_factory=list)
    progress: list = field(default_factory=list)
    connections: list = field(default_factory=list)
    attempt: int = 1
    lease_seconds: float = 60.0
    deadline_seconds: float = 120.0

    def __post_init__(self):
        self.target = replace(self.target, installation=INSTALLATION)

    def of_another(self):
        """Another perfdash that measures the same Pulp."""
        place = Place(self.target, self.directory / "another")
        place.target = replace(self.target, installation=ANOTHER)
        return place

    def context(self):
        return Context(
            cancelled=self.cancelled,
            lease_seconds=lambda: self.lease_seconds,
            progress=self.progress.append,
            say=self.lines.append,
            clock=time.perf_counter_ns,
            directory=self.directory / str(self.attempt),
            rules=RULES,
            deadline_seconds=self.deadline_seconds,
            sender=f"perfdash attempt/{self.attempt}",
        )

    def client(self):
        connection = Connection(self.target.base_url, RULES)
        self.connections.append(connection)
        login = Login(self.target.username, self.target.password)
        pulp = Pulp(connection, self.target.base_url, login)
        pulp.log_in()
        return pulp

    def close(self):
        for connection in self.connections:
            connection.close()

    def reset(self, values):
        return driver.reset(self.target, values, self.context())

    def apply(self, values):
        return driver.apply(self.target, values, self.context())

    def measure(self, values):
        measured = driver.measure(self.target, values, self.context())
        follows(driver, measured)
        return measured

    def run(self, values):
        """All four steps; what was measured, and the proofs of the same work."""
        for _ in range(
            3
        ):  # a task that a real Pulp schedules itself makes it void, and it is made again
            proofs = self.reset(values)
            if all(proof.ok for proof in proofs):
                break
        assert all(proof.ok for proof in proofs), proofs
        settings = self.apply(values)
        assert all(setting.ok for setting in settings), settings
        measured = self.measure(values)
        if measured.failure:
            return measured, []
        return measured, driver.verify(self.target, values, self.context(), measured)


def parameters(feed, **changes):
    initial = {
        name: field.initial
        for name, field in driver.parameters.base_fields.items()
        if field.initial is not None
    }
    form = driver.parameters(initial | {"feed": feed} | changes)
    assert form.is_valid(), form.errors
    return form.cleaned_data


def found(proofs):
    return {proof.name: proof.measured for proof in proofs}


def good(proofs):
    return [proof for proof in proofs if not proof.ok] == []


def test_a_probe_tells_what_pulp_this_is(pulp):
    assert driver.quiet(pulp.target, RULES) == ""  # no task is at work
    proofs = found(driver.probe(pulp.target, RULES))

    assert "core 3." in proofs["Pulp"]
    assert proofs["workers online"] == 1
    assert proofs["login"] == "accepted"
    assert abs(proofs["clock"]) < 5


def test_a_run_downloads_everything_with_the_concurrency_that_was_asked_for(pulp, feed):
    url = feed.manifest(files=30, size=2000, latency=100, label="level")
    values = parameters(url, download_concurrency=4)

    measured, proofs = pulp.run(values)

    assert good(proofs), proofs
    assert found(proofs)["files downloaded by these syncs"] == 30
    assert feed.stats()["labels"]["level"]["in_flight_max"] == 4
    seconds = measured.values["task_duration"]
    assert 0.7 < seconds <= measured.values["wall_duration"]
    assert measured.values["file_rate"] == pytest.approx(30 / seconds)
    assert measured.values["throughput"] == pytest.approx(0.06 / seconds)
    assert measured.samples["state"] == ["completed"]


def test_the_parts_of_a_sync_overlap_within_the_time_that_was_measured(pulp, feed):
    url = feed.manifest(files=20, size=1000, latency=200)

    measured, _ = pulp.run(parameters(url, download_concurrency=2, publish="on"))

    parts = {phase.name: phase for phase in measured.phases}
    names = {"waits for a worker", "task", "downloads files", "associates content", "publishes"}
    assert names <= set(parts)
    wall = measured.values["wall_duration"]
    for name in names - {"publishes"}:
        assert parts[name].started_seconds >= 0, name
        assert parts[name].started_seconds + parts[name].seconds <= wall + 0.5, name
    assert parts["downloads files"].seconds > 1
    assert parts["task"].seconds == measured.values["task_duration"]
    assert parts["publishes"].started_seconds == wall
    assert measured.health.figures["longest_between_looks_seconds"] < 2


def test_what_is_left_empty_is_read_back_as_pulps_own(pulp, feed):
    values = parameters(feed.manifest(files=2, size=1000))
    pulp.reset(values)

    settings = {setting.name: setting for setting in pulp.apply(values)}

    assert settings["download_concurrency"].in_force == "Pulp's own (10)"
    assert settings["policy"].in_force == "immediate"
    assert all(setting.ok for setting in settings.values())


def test_further_fields_are_read_back_too(pulp, feed):
    values = parameters(
        feed.manifest(files=2, size=1000),
        remote_fields='{"tls_validation": false}',
        repository_fields='{"description": "for a test"}',
    )
    pulp.reset(values)

    settings = {setting.name: setting.in_force for setting in pulp.apply(values)}

    assert settings["remote_fields: tls_validation"] == "false"
    assert settings["repository_fields: description"] == "for a test"


def test_the_next_run_begins_clean_and_downloads_again(pulp, feed):
    values = parameters(feed.manifest(files=5, size=1000))

    for attempt in (1, 2):
        pulp.attempt = attempt
        _, proofs = pulp.run(values)
        assert found(proofs)["files downloaded by these syncs"] == 5


def test_on_demand_downloads_nothing(pulp, feed):
    measured, proofs = pulp.run(parameters(feed.manifest(files=5, size=1000), policy="on_demand"))

    assert good(proofs), proofs
    assert found(proofs)["artifacts"] == 0
    assert found(proofs)["units of content"] == 5
    assert "file_rate" not in measured.values


@pytest.mark.parametrize("sync_policy", ["mirror_content_only", "mirror_complete"])
def test_a_mirror_of_files_is_published_by_itself(pulp, feed, sync_policy):
    _, proofs = pulp.run(parameters(feed.manifest(files=5, size=1000), sync_policy=sync_policy))

    assert good(proofs), proofs
    assert found(proofs)["artifacts"] == 6


@pytest.mark.parametrize(("optimize", "skipped"), [("on", 1), ("off", 0)])
def test_an_unchanged_feed_is_synced_once_more(pulp, feed, optimize, skipped):
    url = feed.manifest(files=5, size=1000)

    measured, proofs = pulp.run(parameters(url, repeat="unchanged", optimize=optimize))

    assert good(proofs), proofs
    assert found(proofs)["syncs skipped"] == skipped
    assert measured.values["task_duration"] > 0


def test_a_first_sync_that_takes_too_long_says_what_to_raise(pulp, feed):
    values = parameters(feed.manifest(files=5, size=1000, latency=20000), repeat="unchanged")
    pulp.deadline_seconds = 1.0
    pulp.reset(values)

    with pytest.raises(NotClean, match="limit of a run, 1 s: raise that"):
        pulp.apply(values)

    driver.clean_up(pulp.target, values, pulp.context())
    assert pulp.client().count("tasks/", state__in="running,waiting") == 0


def test_several_repositories_are_synced_at_once_and_published(pulp, feed):
    url = feed.manifest(files=4, size=1000).replace("files=4", "files=4,seed={n}")

    measured, proofs = pulp.run(parameters(url, repositories=2, publish="on"))

    assert good(proofs), proofs
    assert found(proofs)["units of content"] == 8
    assert measured.samples["repository"] == [1, 2]
    assert measured.values["publish_duration"] > 0


@pytest.mark.parametrize(
    ("settings", "failure"),
    [
        ({"missing": 1}, "feed 4xx"),
        ({"corrupt": 1}, "checksum"),
    ],
)
def test_a_sync_that_fails_says_so_in_pulps_words(pulp, feed, settings, failure):
    url = feed.manifest(files=3, size=1000, **settings)

    measured, _ = pulp.run(parameters(url, max_retries=1))

    assert measured.failures == {failure: 1}
    assert "Pulp says: " in measured.failure
    assert "task_duration" not in measured.values


def test_a_feed_that_is_none_is_a_failure(pulp, feed):
    measured, _ = pulp.run(parameters(f"{feed.base_url}/nowhere/PULP_MANIFEST"))

    assert measured.failures == {"feed 4xx": 1}


def test_a_plug_in_that_is_not_there_is_told(pulp, feed):
    values = parameters(feed.manifest(files=1), content="nonsense")
    pulp.reset(values)

    with pytest.raises(DriverError, match="knows no nonsense/nonsense"):
        pulp.apply(values)


def test_a_field_that_pulp_refuses_is_told_by_its_name(pulp, feed):
    values = parameters(
        feed.manifest(files=1), remote_fields='{"ca_cert": 5, "tls_validation": "x"}'
    )
    pulp.reset(values)

    with pytest.raises(ParametersRefused, match=r"refuses a parameter: .*tls_validation") as raised:
        pulp.apply(values)

    assert list(raised.value.refused) == ["remote_fields"]
    assert "tls_validation: " in raised.value.refused["remote_fields"]


def test_a_field_of_the_sync_that_pulp_refuses_is_told_by_its_name(pulp, feed):
    values = parameters(feed.rpm(packages=1), content="rpm", sync_fields='{"skip_types": 5}')
    pulp.reset(values)
    pulp.apply(values)

    with pytest.raises(ParametersRefused, match="skip_types") as raised:
        pulp.measure(values)

    assert list(raised.value.refused) == ["sync_fields"]


def test_a_feed_that_pulp_refuses_is_told_by_our_name_for_it(pulp):
    values = parameters("http://127.0.0.1/", content="rpm") | {"feed": "nowhere"}
    pulp.reset(values)

    with pytest.raises(ParametersRefused, match=r"feed = nowhere \(The url 'nowhere' is not valid"):
        pulp.apply(values)


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"username": "nobody"}])
def test_a_login_that_is_refused_is_told(pulp, changes):
    with pytest.raises(DriverError, match=r"refuses the login .*user name and password"):
        driver.probe(replace(pulp.target, **changes), RULES)


def test_cancelling_ends_the_task_in_pulp(pulp, feed):
    values = parameters(feed.manifest(files=20, size=1000, latency=1000), download_concurrency=1)
    pulp.reset(values)
    pulp.apply(values)
    timer = threading.Timer(1.0, pulp.cancelled.set)
    timer.start()

    with pytest.raises(Cancelled):
        pulp.measure(values)
    driver.clean_up(pulp.target, values, pulp.context())

    assert pulp.client().count("tasks/", state__in="running,waiting,canceling") == 0


def test_the_time_limit_ends_the_tasks_and_is_a_lower_limit(pulp, feed):
    pulp.deadline_seconds = 1.0
    url = feed.manifest(files=20, size=1000, latency=1000)

    measured, _ = pulp.run(parameters(url, download_concurrency=1))

    assert "time limit of 1 s" in measured.failure
    assert "task_duration" in measured.censored
    assert measured.values["task_duration"] >= 1.0
    assert pulp.client().count("tasks/", state__in="running,waiting,canceling") == 0


def test_a_run_that_nobody_ended_is_cleaned_up_by_the_next(pulp, feed):
    values = parameters(feed.manifest(files=20, size=1000, latency=500), download_concurrency=1)
    pulp.reset(values)
    pulp.apply(values)
    client = pulp.client()
    (repository,) = client.list("repositories/", name__startswith=OWN)
    (remote,) = client.list("remotes/", name__startswith=OWN)
    client.start("POST", f"{repository['pulp_href']}sync/", {"remote": remote["pulp_href"]})
    pulp.attempt = 2

    measured, proofs = pulp.run(parameters(feed.manifest(files=3, size=1000)))

    assert not measured.failure
    assert good(proofs), proofs


def test_content_of_others_is_never_touched(pulp, feed):
    client = pulp.client()
    pulp.reset(parameters(feed.manifest(files=1)))
    remote = client.create(
        "remotes/file/file/", {"name": "theirs", "url": feed.manifest(files=3, size=500)}
    )
    repository = client.create("repositories/file/file/", {"name": "theirs"})
    body = {"remote": remote["pulp_href"]}
    client.wait(client.start("POST", f"{repository['pulp_href']}sync/", body), 60, "theirs")
    try:
        with pytest.raises(NotOurs, match="content that perfdash did not make: “theirs”"):
            pulp.reset(parameters(feed.manifest(files=1)))
        assert client.count("content/") == 3
    finally:
        for thing in (repository, remote):
            client.wait(client.start("DELETE", thing["pulp_href"]), 60, "the end of theirs")


def test_the_repositories_of_another_perfdash_are_told_before_the_launch_and_never_touched(
    pulp, feed
):
    values = parameters(feed.manifest(files=3, size=500))
    other = pulp.of_another()
    other.reset(values)
    other.apply(values)
    told = rf"Another perfdash uses this Pulp: “perfdash-{ANOTHER}-1-1”.*perfdash-{INSTALLATION}-"
    try:
        with pytest.raises(NotOurs, match=told):
            driver.look(pulp.target, values, RULES)
        with pytest.raises(NotOurs, match=told):
            pulp.reset(values)
        driver.clean_up(pulp.target, values, pulp.context())

        measured = other.measure(values)

        assert not measured.failure
        assert good(driver.verify(other.target, values, other.context(), measured))
    finally:
        other.reset(values)
    driver.look(pulp.target, values, RULES)


def test_what_an_earlier_version_left_is_removed_where_perfdash_is_alone_and_told_elsewhere(
    pulp, feed
):
    client, values = pulp.client(), parameters(feed.manifest(files=3, size=500))
    pulp.reset(values)
    remote = client.create("remotes/file/file/", {"name": "perfdash-7-1", "url": values["feed"]})
    repository = client.create("repositories/file/file/", {"name": "perfdash-7-1"})
    body = {"remote": remote["pulp_href"]}
    client.wait(client.start("POST", f"{repository['pulp_href']}sync/", body), 60, "the sync")
    shared = replace(pulp.target, dedicated=False)

    with pytest.raises(NotOurs, match=r"earlier version has left content: “perfdash-7-1”.*Mark"):
        driver.reset(shared, values, pulp.context())

    assert client.count("repositories/", name="perfdash-7-1") == 1
    assert good(pulp.reset(values))
    assert client.count("repositories/", name="perfdash-7-1") == 0
    assert client.count("remotes/", name="perfdash-7-1") == 0


def test_what_an_earlier_version_syncs_now_is_left_alone(pulp, feed):
    client, values = pulp.client(), parameters(feed.manifest(files=3, size=500))
    pulp.reset(values)
    slow = feed.manifest(files=20, size=500, latency=1000)
    remote = client.create("remotes/file/file/", {"name": "perfdash-7-1", "url": slow})
    repository = client.create("repositories/file/file/", {"name": "perfdash-7-1"})
    task = client.start("POST", f"{repository['pulp_href']}sync/", {"remote": remote["pulp_href"]})
    try:
        with pytest.raises(NotOurs, match="earlier version uses this Pulp now: “perfdash-7-1”"):
            pulp.reset(values)
        assert not client.task(task).ended
    finally:
        client.cancel(task)
        client.wait_for_end(task, 60, "the sync")


@pytest.mark.parametrize("kind", ["repositories", "remotes"])
def test_what_others_removed_in_the_middle_makes_the_run_void(pulp, feed, kind):
    values = parameters(feed.manifest(files=3, size=500))
    pulp.reset(values)
    pulp.apply(values)
    client = pulp.client()
    (thing,) = client.list(f"{kind}/", name__startswith=OWN)
    client.wait(client.start("DELETE", thing["pulp_href"]), 60, "the deletion")

    with pytest.raises(RemovedByOthers, match="somebody else removed it") as raised:
        pulp.measure(values)

    assert raised.value.void
    assert thing["pulp_href"] in str(raised.value)


def test_a_sync_that_waits_behind_the_deletion_of_others_makes_the_run_void(pulp, feed):
    values = parameters(feed.manifest(files=3, size=500, latency=200))
    pulp.reset(values)
    pulp.apply(values)
    client = pulp.client()
    (repository,) = client.list("repositories/", name__startswith=OWN)
    (remote,) = client.list("remotes/", name__startswith=OWN)
    client.start("POST", f"{repository['pulp_href']}sync/", {"remote": remote["pulp_href"]})
    client.start("DELETE", repository["pulp_href"])

    with pytest.raises(RemovedByOthers, match="somebody else removed it"):
        pulp.measure(values)


def test_what_others_removed_after_the_sync_makes_the_run_void(pulp, feed):
    values = parameters(feed.manifest(files=3, size=500))
    pulp.reset(values)
    pulp.apply(values)
    measured, client = pulp.measure(values), pulp.client()
    (thing,) = client.list("repositories/", name__startswith=OWN)
    client.wait(client.start("DELETE", thing["pulp_href"]), 60, "the deletion")

    with pytest.raises(RemovedByOthers, match="somebody else removed it"):
        driver.verify(pulp.target, values, pulp.context(), measured)


def test_orphans_stay_where_the_target_is_not_ours_alone(pulp, feed):
    pulp.run(parameters(feed.manifest(files=3, size=500)))
    pulp.target = replace(pulp.target, dedicated=False)

    with pytest.raises(NotOurs, match="Mark the target as dedicated"):
        pulp.reset(parameters(feed.manifest(files=1)))

    assert pulp.client().count("artifacts/") == 3


def test_a_lost_lease_sends_nothing_more(pulp):
    pulp.lease_seconds = 0.0

    with pytest.raises(Cancelled):
        driver.clean_up(pulp.target, {}, pulp.context())
