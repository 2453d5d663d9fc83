from sandbox.process import Sandbox
from sandbox.tests.pulp.client import Document, Pulp, progress

CONTENT = "content/rpm/packages/"


def synced(pulp: Pulp, url: str, **options: object) -> Document:
    body = {"name": pulp.name(), "url": url}
    remote = pulp.ask("POST", "remotes/rpm/rpm/", body).json()["pulp_href"]
    repository = pulp.ask("POST", "repositories/rpm/rpm/", {"name": pulp.name()}).json()
    return pulp.sync(repository["pulp_href"], remote, **options)


def test_the_packages_of_an_rpm_feed_are_synced(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=5))

    reports = progress(task)
    assert task["name"] == "pulp_rpm.app.tasks.synchronizing.synchronize"
    assert reports["sync.downloading.metadata"] == ("completed", 4, None)
    assert reports["sync.parsing.packages"] == ("completed", 5, 5)
    assert reports["sync.downloading.artifacts"] == ("completed", 5, None)
    assert task["result"]["content_summary"]["present"]["rpm.package"]["count"] == 5
    assert pulp.get(CONTENT, limit=1)["count"] == 5


def test_a_sync_policy_is_one_of_three(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=1), sync_policy="mirror_complete")
    assert len(task["created_resources"]) == 2
    repository = task["result"]["repository"]

    answer = pulp.ask("POST", f"{repository}sync/", {"sync_policy": "x"})

    assert answer.json() == {"sync_policy": ['"x" is not a valid choice.']}


def test_a_feed_that_is_no_rpm_repository_fails(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=1) + "elsewhere/")

    assert task["error"]["description"].startswith("404, message='Not Found', url=")


def test_a_corrupt_package_fails_the_sync(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=2, corrupt=0.5))

    assert task["error"]["error_code"] == "PLP0003"
