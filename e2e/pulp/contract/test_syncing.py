import hashlib
from datetime import datetime

import pytest

from sandbox.tests.pulp.client import Pulp, progress

SYNCED = "pulp_file.app.tasks.synchronizing.synchronize"
ARTIFACTS, ASSOCIATED = "sync.downloading.artifacts", "associating.content"
METADATA, PARSED = "sync.downloading.metadata", "sync.parsing.metadata"
SKIPPED = {"sync.was_skipped": ("completed", 1, 1)}


def counted(files: int, downloaded: int, associated: int) -> dict[str, object]:
    return {
        METADATA: ("completed", 1, None),
        PARSED: ("completed", files, files),
        ARTIFACTS: ("completed", downloaded, None),
        ASSOCIATED: ("completed", associated, None),
    }


def digests(pulp: Pulp, manifest: str) -> list[str]:
    lines = pulp.fed(manifest).decode().splitlines()
    return [line.rsplit(",", 2)[1] for line in lines]


def test_a_first_sync_downloads_every_file_and_makes_a_version(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=6)
    repository, remote = pulp.repository(), pulp.remote(manifest)

    task = pulp.sync(repository, remote)

    version = f"{repository}versions/1/"
    assert (task["state"], task["name"], task["error"]) == ("completed", SYNCED, None)
    assert progress(task) == counted(6, 6, 6)
    assert task["created_resources"] == [version]
    assert task["result"]["content_summary"]["present"]["file.file"]["count"] == 6
    assert pulp.get(repository)["latest_version_href"] == version
    assert pulp.get("content/file/files/", repository_version=version, limit=1)["count"] == 6
    assert [pulp.artifact(digest) for digest in digests(pulp, manifest)] == [1] * 6


def test_a_task_tells_when_it_began_and_ended_to_the_microsecond(pulp: Pulp) -> None:
    task = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=1)))

    names = ("pulp_created", "unblocked_at", "started_at", "finished_at")
    instants = [datetime.strptime(task[name], "%Y-%m-%dT%H:%M:%S.%f%z") for name in names]
    assert instants == sorted(instants)


@pytest.mark.parametrize(("asked", "seen"), [(1, 1), (3, 3), (7, 7), (None, 10)])
def test_the_feed_sees_as_many_requests_at_once_as_the_remote_says(
    pulp: Pulp, asked: int | None, seen: int
) -> None:
    label = pulp.name()
    manifest = pulp.manifest(files=20, latency=50, label=label)

    task = pulp.sync(pulp.repository(), pulp.remote(manifest, download_concurrency=asked))

    counts = pulp.feed.stats()["labels"][label]
    assert progress(task)[ARTIFACTS] == ("completed", 20, None)
    assert counts["in_flight_max"] == seen
    assert (counts["requests"], counts["manifests"]) == (21, 1)


def test_the_manifest_is_fetched_alone(pulp: Pulp) -> None:
    label = pulp.name()

    pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=1, latency=20, label=label)))

    assert pulp.feed.stats()["labels"][label]["in_flight_max"] == 1


def test_a_rate_limit_binds(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=25)

    task = pulp.sync(pulp.repository(), pulp.remote(manifest, rate_limit=20))

    begun, ended = (datetime.fromisoformat(task[n]) for n in ("started_at", "finished_at"))
    assert (ended - begun).total_seconds() >= 1


def test_an_unchanged_sync_is_skipped_and_makes_nothing(pulp: Pulp) -> None:
    repository, remote = pulp.repository(), pulp.remote(pulp.manifest(files=3))
    pulp.sync(repository, remote)

    task = pulp.sync(repository, remote)

    assert task["state"] == "completed"
    assert progress(task) == SKIPPED
    assert (task["created_resources"], task["result"]) == ([], None)


def test_without_optimize_an_unchanged_sync_looks_and_downloads_nothing(pulp: Pulp) -> None:
    repository, remote = pulp.repository(), pulp.remote(pulp.manifest(files=3))
    pulp.sync(repository, remote)

    task = pulp.sync(repository, remote, optimize=False)

    assert progress(task) == counted(3, 0, 0)
    assert (task["created_resources"], task["result"]) == ([], None)


def test_artifacts_that_are_there_are_not_downloaded(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=3)
    pulp.sync(pulp.repository(), pulp.remote(manifest))

    task = pulp.sync(pulp.repository(), pulp.remote(manifest))

    assert progress(task) == counted(3, 0, 3)
    assert len(task["created_resources"]) == 1


@pytest.mark.parametrize("policy", ["on_demand", "streamed"])
def test_a_deferred_policy_downloads_no_file(pulp: Pulp, policy: str) -> None:
    manifest = pulp.manifest(files=3)
    repository = pulp.repository()

    task = pulp.sync(repository, pulp.remote(manifest, policy=policy))

    assert progress(task) == counted(3, 0, 3)
    assert pulp.artifact(digests(pulp, manifest)[0]) == 0


def test_from_on_demand_to_immediate_the_files_come_without_a_new_version(pulp: Pulp) -> None:
    repository = pulp.repository()
    remote = pulp.remote(pulp.manifest(files=3), policy="on_demand")
    pulp.sync(repository, remote)
    pulp.done(pulp.task("PATCH", remote, {"policy": "immediate"}))

    task = pulp.sync(repository, remote)

    assert progress(task) == counted(3, 3, 0)
    assert task["created_resources"] == []


def test_a_mirror_takes_away_what_the_feed_lacks_and_publishes(pulp: Pulp) -> None:
    repository = pulp.repository()
    pulp.sync(repository, pulp.remote(pulp.manifest(files=5)))

    task = pulp.sync(repository, pulp.remote(pulp.manifest(files=3)), mirror=True)

    version, publication = task["created_resources"]
    assert progress(task) == counted(3, 3, 3) | {"unassociating.content": ("completed", 5, None)}
    assert pulp.get(version)["content_summary"]["present"]["file.file"]["count"] == 3
    assert publication.startswith("/pulp/api/v3/publications/file/file/")


def test_a_feed_without_files_makes_no_version(pulp: Pulp) -> None:
    task = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(files=0)))

    assert task["state"] == "completed"
    assert progress(task) == counted(0, 0, 0)
    assert task["created_resources"] == []


def test_a_sync_needs_a_remote(pulp: Pulp) -> None:
    answer = pulp.ask("POST", f"{pulp.repository()}sync/", {})

    problem = ["This field is required since a remote is not set on the repository."]
    assert (answer.status_code, answer.json()) == (400, {"remote": problem})


def test_a_sync_takes_the_remote_of_the_repository(pulp: Pulp) -> None:
    repository = pulp.repository(remote=pulp.remote(pulp.manifest(files=2)))

    task = pulp.done(pulp.task("POST", f"{repository}sync/", {}))

    assert progress(task) == counted(2, 2, 2)


def test_a_version_is_published_and_distributed(pulp: Pulp) -> None:
    repository, name = pulp.repository(), pulp.name()
    pulp.sync(repository, pulp.remote(pulp.manifest(files=2)))

    published = pulp.done(pulp.task("POST", "publications/file/file/", {"repository": repository}))
    [publication] = published["created_resources"]
    body = {"name": name, "base_path": name, "publication": publication}
    distributed = pulp.done(pulp.task("POST", "distributions/file/file/", body))

    [distribution] = distributed["created_resources"]
    assert pulp.get(publication)["repository_version"] == f"{repository}versions/1/"
    assert pulp.get(publication)["distributions"] == [distribution]
    assert pulp.get(distribution)["base_url"].endswith(f"/pulp/content/{name}/")
    assert pulp.ask("DELETE", publication).status_code == 204
    assert pulp.ask("GET", publication).status_code == 404


def test_a_sync_of_a_repository_that_is_not_there_breaks_pulp(pulp: Pulp) -> None:
    nowhere = "repositories/file/file/00000000-0000-7000-8000-000000000000/sync/"

    assert pulp.ask("POST", nowhere, {}).status_code == 500


def test_digests_are_those_of_the_files(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=1, names="plain")
    file = pulp.fed(manifest.replace("PULP_MANIFEST", "file-000000.bin"))
    digest = hashlib.sha256(file).hexdigest()

    pulp.sync(pulp.repository(), pulp.remote(manifest))

    assert pulp.artifact(digest) == 1
