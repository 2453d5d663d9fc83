import pytest

from sandbox.process import Sandbox
from sandbox.tests.pulp.client import Document, Pulp, progress

pytestmark = pytest.mark.usefixtures("with_rpm")
CONTENT = "content/rpm/packages/"


@pytest.fixture
def with_rpm(pulp: Pulp) -> None:
    if pulp.ask("GET", "repositories/rpm/rpm/").status_code == 404:
        pytest.skip("this Pulp has no pulp_rpm")


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

    url = feed.rpm(packages=1) + "elsewhere"
    assert task["error"]["description"] == f"404, message='Not Found', url='{url}'"


def test_a_mirror_is_published_also_where_nothing_is_new(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=2))
    repository, [version] = task["result"]["repository"], task["created_resources"]
    remote = pulp.get("remotes/rpm/rpm/", name__startswith=pulp.prefix)["results"][0]["pulp_href"]

    mirrored = pulp.sync(repository, remote, sync_policy="mirror_complete")

    [publication] = mirrored["created_resources"]
    assert mirrored["result"]["pulp_href"] == version
    assert pulp.get(publication)["repository_version"] == version
    assert pulp.get("artifacts/", limit=1)["count"] == 2 + 4


def test_mirror_and_sync_policy_exclude_one_another(pulp: Pulp, feed: Sandbox) -> None:
    repository = synced(pulp, feed.rpm(packages=1))["result"]["repository"]

    remote = pulp.get("remotes/rpm/rpm/", name__startswith=pulp.prefix)["results"][0]["pulp_href"]

    body = {"remote": remote, "mirror": True, "sync_policy": "additive"}
    answer = pulp.ask("POST", f"{repository}sync/", body)

    assert answer.status_code == 400
    assert "simultaneously" in answer.json()["non_field_errors"][0]


def test_an_rpm_remote_wants_a_url(pulp: Pulp) -> None:
    answer = pulp.ask("POST", "remotes/rpm/rpm/", {"name": "n", "url": "u"})

    assert answer.json() == {
        "url": ["The url 'u' is not valid. It must start with: ('http', 'https', 'file')."]
    }


def test_a_corrupt_package_fails_the_sync(pulp: Pulp, feed: Sandbox) -> None:
    task = synced(pulp, feed.rpm(packages=2, corrupt=0.5))

    assert task["error"]["error_code"] == "PLP0003"
