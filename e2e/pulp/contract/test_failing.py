import socket

import pytest

from sandbox.tests.pulp.client import Pulp, progress

ARTIFACTS, METADATA = "sync.downloading.artifacts", "sync.downloading.metadata"
PARSED, ASSOCIATED = "sync.parsing.metadata", "associating.content"
NOT_A_MANIFEST = "Error: Parsing of the manifest file failed on line:1."


def test_of_a_manifest_that_is_not_there_nothing_is_reported(pulp: Pulp) -> None:
    manifest = pulp.manifest(manifest="missing")

    task = pulp.sync(repository := pulp.repository(), pulp.remote(manifest))

    assert task["state"] == "failed"
    assert task["error"]["description"] == f"404, message='Not Found', url='{manifest}'"
    assert "error_code" not in task["error"]
    assert (task["progress_reports"], task["created_resources"]) == ([], [])
    assert pulp.get(repository)["latest_version_href"] == f"{repository}versions/0/"


@pytest.mark.parametrize(
    ("settings", "description", "code"),
    [
        ({"missing": 0.2}, "404, message='Not Found', url='{folder}file-", None),
        ({"errors": 0.2}, "500, message='Internal Server Error', url='{folder}file-", None),
        ({"corrupt": 0.2}, "[PLP0003] A file located at the url http", "PLP0003"),
        ({"pages": 0.2}, "[PLP0003] A file located at the url http", "PLP0003"),
        ({"manifest": "wrongdigest"}, "[PLP0003] A file located at the url http", "PLP0003"),
        ({"manifest": "wrongsize"}, "[PLP0004] A file located at the url http", "PLP0004"),
        ({"truncated": 0.2}, "Response payload is not completed: ", None),
    ],
)
def test_one_bad_file_fails_the_sync(
    pulp: Pulp, settings: dict[str, object], description: str, code: str | None
) -> None:
    manifest = pulp.manifest(files=5, **settings)
    folder = manifest.removesuffix("PULP_MANIFEST")
    repository = pulp.repository()

    task = pulp.sync(repository, pulp.remote(manifest, max_retries=1))

    reports = progress(task)
    assert task["state"] == "failed"
    assert task["error"]["description"].startswith(description.format(folder=folder))
    assert task["error"].get("error_code") == code
    assert reports[ARTIFACTS][0] == "failed"
    assert reports[ASSOCIATED] == ("canceled", 0, None)
    assert reports[PARSED] == ("completed", 5, 5)
    assert task["created_resources"] == []
    assert pulp.get(repository)["latest_version_href"] == f"{repository}versions/0/"


@pytest.mark.parametrize(
    ("manifest", "description"),
    [
        ("html", NOT_A_MANIFEST),
        ("badhex", NOT_A_MANIFEST),
        ("negative", NOT_A_MANIFEST),
        ("absolute", NOT_A_MANIFEST),
        ("notutf8", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
)
def test_what_is_not_a_manifest_cannot_be_parsed(
    pulp: Pulp, manifest: str, description: str
) -> None:
    task = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(manifest=manifest)))

    reports = progress(task)
    assert task["state"] == "failed"
    assert task["error"]["description"].startswith(description)
    assert reports[METADATA] == ("completed", 1, None)
    assert reports[PARSED][0] == "failed"
    assert reports[ARTIFACTS] == ("canceled", 0, None)


def test_an_empty_manifest_is_an_empty_repository(pulp: Pulp) -> None:
    task = pulp.sync(pulp.repository(), pulp.remote(pulp.manifest(manifest="empty")))

    assert (task["state"], progress(task)[PARSED]) == ("completed", ("completed", 0, 0))


def test_a_feed_that_refuses_cannot_be_connected_to(pulp: Pulp) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        remote = pulp.remote(f"http://127.0.0.1:{port}/PULP_MANIFEST", max_retries=1)

        task = pulp.sync(pulp.repository(), remote)

    assert task["error"]["description"] == (
        f"Cannot connect to host 127.0.0.1:{port} ssl:default"
        f" [Connect call failed ('127.0.0.1', {port})]"
    )


def test_a_name_that_is_not_known_cannot_be_connected_to(pulp: Pulp) -> None:
    remote = pulp.remote("http://no-such-host.invalid/PULP_MANIFEST", max_retries=1)

    task = pulp.sync(pulp.repository(), remote)

    assert task["error"]["description"].startswith(
        "Cannot connect to host no-such-host.invalid:80 ssl:default ["
    )


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1/PULP_MANIFEST"])
def test_a_url_of_another_scheme_is_not_supported(pulp: Pulp, url: str) -> None:
    task = pulp.sync(pulp.repository(), pulp.remote(url))

    assert task["error"]["description"] == f"URL: {url} not supported."


@pytest.mark.parametrize("timeout", ["sock_read_timeout", "total_timeout"])
def test_a_slow_feed_times_out(pulp: Pulp, timeout: str) -> None:
    manifest = pulp.manifest(latency=20_000)

    task = pulp.sync(pulp.repository(), pulp.remote(manifest, max_retries=1, **{timeout: 0.2}))

    assert task["error"]["error_code"] == "PLP0005"
    assert task["error"]["description"].startswith(f"[PLP0005] Request timed out for {manifest}.")


def test_a_file_that_comes_the_second_time_is_fine(pulp: Pulp) -> None:
    manifest = pulp.manifest(files=5, flaky=0.2)

    task = pulp.sync(pulp.repository(), pulp.remote(manifest))

    assert progress(task)[ARTIFACTS] == ("completed", 5, None)


def test_no_retries_means_the_default_of_three(pulp: Pulp) -> None:
    label = pulp.name()
    manifest = pulp.manifest(manifest="error", label=label)

    task = pulp.sync(pulp.repository(), pulp.remote(manifest, max_retries=0))

    assert task["state"] == "failed"
    assert pulp.feed.stats()["labels"][label]["requests"] == 4
