"""What a sync of packages has to be, on the simulated and on a real Pulp with pulp_rpm; see suite.py."""

import pytest

from campaigns.tests.kinds.sync.suite import found, good, parameters

PACKAGES = 12
METADATA = 4
"""repomd.xml, and the three lists that it names."""


def synced(pulp, feed, compression="gz", **changes):
    """Sync packages; what was measured, the proofs by name, and what the feed saw of it."""
    url = feed.rpm(packages=PACKAGES, size=4000, latency=30, compression=compression, label="rpm")
    measured, proofs = pulp.run(
        parameters(url, content="rpm", **({"download_concurrency": 3} | changes))
    )
    assert not measured.failure
    assert good(proofs), proofs
    return measured, found(proofs), feed.stats()["labels"]["rpm"]


@pytest.mark.parametrize("compression", ["gz", "xz", "zst"])
def test_packages_are_synced_with_the_concurrency_that_was_asked_for(pulp, feed, compression):
    feed.reset()

    measured, proofs, seen = synced(pulp, feed, compression)

    assert proofs["units of content"] == PACKAGES
    assert proofs["artifacts"] == PACKAGES
    assert proofs["files downloaded by these syncs"] == PACKAGES
    assert seen["in_flight_max"] == 3
    assert measured.values["throughput"] == pytest.approx(
        PACKAGES * 0.004 / measured.values["task_duration"]
    )


@pytest.mark.parametrize(
    ("policy", "sync_policy", "artifacts"),
    [
        ("immediate", "mirror_content_only", PACKAGES),
        ("immediate", "mirror_complete", PACKAGES + METADATA),
        ("on_demand", "additive", 0),
        ("streamed", "additive", 0),
        ("on_demand", "mirror_complete", METADATA),
    ],
)
def test_a_mirror_that_is_complete_keeps_the_metadata_of_the_feed(
    pulp, feed, policy, sync_policy, artifacts
):
    _, proofs, _ = synced(pulp, feed, policy=policy, sync_policy=sync_policy)

    assert proofs["units of content"] == PACKAGES
    assert proofs["artifacts"] == artifacts


def test_what_publishing_makes_is_no_download(pulp, feed):
    measured, proofs, _ = synced(pulp, feed, publish="on")

    assert proofs["artifacts"] == PACKAGES
    assert measured.values["publish_duration"] > 0


@pytest.mark.parametrize("sync_policy", ["additive", "mirror_complete"])
@pytest.mark.parametrize(("optimize", "skipped"), [("on", 1), ("off", 0)])
def test_unchanged_packages_are_synced_once_more(pulp, feed, optimize, skipped, sync_policy):
    changes = {"repeat": "unchanged", "optimize": optimize, "sync_policy": sync_policy}

    _, proofs, _ = synced(pulp, feed, **changes)

    assert proofs["syncs skipped"] == skipped
    assert proofs["files downloaded by these syncs"] == 0


OTHERS = {
    "modules": 3,
    "module defaults": 1,
    "package groups": 3,
    "package categories": 1,
    "package environments": 1,
    "advisories": 3,
}


@pytest.mark.parametrize("changes", [{}, {"repeat": "unchanged"}, {"policy": "on_demand"}])
def test_modules_comps_and_advisories_are_counted_beside_the_packages(pulp, feed, changes):
    url = feed.rpm(packages=4, size=4000, extras=3)

    measured, proofs = pulp.run(parameters(url, content="rpm", **changes))

    assert not measured.failure
    assert good(proofs), proofs
    assert {name: found(proofs).get(name) for name in OTHERS} == OTHERS
    assert found(proofs)["units of content"] == 4


def test_a_package_with_a_wrong_checksum_fails_the_sync(pulp, feed):
    url = feed.rpm(packages=3, size=4000, corrupt=1)

    measured, _ = pulp.run(parameters(url, content="rpm", max_retries=1))

    assert measured.failures == {"checksum": 1}
