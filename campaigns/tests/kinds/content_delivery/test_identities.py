"""Hosts that show a certificate each to a real nginx, which writes down whom it saw on which connection."""

from collections import defaultdict
from pathlib import Path

import pytest

from campaigns.kinds.base import HostIdentity
from campaigns.kinds.content_delivery.requests import Document, Package, delivering, parts
from campaigns.tests.kinds.content_delivery.conftest import context_in, run
from campaigns.tests.kinds.content_delivery.nginx import nginx
from campaigns.tests.kinds.programs.certificates import Authority

DOCUMENTS = [
    Document(f"repodata/{name}") for name in ("repomd.xml", "primary.xml", "filelists.xml")
]
PACKAGES = [Package(f"Packages/{number}.rpm", 2000) for number in range(6)]


def served(place: Path) -> Path:
    """Write a repository as nginx serves it."""
    www = place / "www"
    for path in [*(each.path for each in DOCUMENTS), *(each.path for each in PACKAGES)]:
        file = www / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * 2000)
    return www


@pytest.mark.parametrize(
    "hosts",
    [pytest.param(50, marks=pytest.mark.e2e), pytest.param(1000, marks=pytest.mark.nightly)],
)
def test_each_host_shows_its_own_certificate_on_six_connections(tmp_path, hosts):
    authority = Authority(tmp_path, "ours")
    identities = [
        HostIdentity(str(number), *authority.identity(f"host-{number}")) for number in range(hosts)
    ]
    with nginx(tmp_path / "nginx", served(tmp_path), authority) as server:
        outcome = run(
            delivering(
                context_in(tmp_path),
                server.tls_url,
                documents=DOCUMENTS,
                packages=PACKAGES,
                hosts=hosts,
                identities=identities,
                ca=authority.file.read_text(),
                start="ramp",
                ramp_seconds=hosts / 100,
                processes=2,
            )
        )
        asked = server.asked()

    assert outcome.samples["failure"] == [""] * hosts, outcome.result["examples"]
    connections = defaultdict(set)
    for subject, connection, reused, status, _ in asked:
        connections[subject].add(connection)
        assert (reused, status) == (".", "200")
    assert set(connections) == {f"CN=host-{number}" for number in range(hosts)}
    assert {len(each) for each in connections.values()} == {6}
    assert len(asked) == outcome.result["counts"]["requests"] == 9 * hosts
    assert outcome.result["counts"]["connections"] == 6 * hosts


@pytest.mark.e2e
def test_one_certificate_may_be_that_of_all_hosts(tmp_path):
    authority = Authority(tmp_path, "ours")
    certificate, key = authority.identity("everybody")
    with nginx(tmp_path / "nginx", served(tmp_path), authority) as server:
        request = delivering(
            context_in(tmp_path),
            server.tls_url,
            documents=DOCUMENTS,
            packages=PACKAGES,
            hosts=3,
            certificate=certificate,
            key=key,
            ca=authority.file.read_text(),
            profile="plain",
        )
        outcome = run(request)

        assert outcome.samples["failure"] == [""] * 3
        assert {subject for subject, *_ in server.asked()} == {"CN=everybody"}
        assert outcome.result["counts"]["connections"] == 9


@pytest.mark.e2e
def test_a_host_without_a_certificate_that_is_asked_for_fails_with_the_words_of_the_server(
    tmp_path,
):
    authority = Authority(tmp_path, "ours")
    with nginx(tmp_path / "nginx", served(tmp_path), authority) as server:
        outcome = run(
            delivering(
                context_in(tmp_path),
                server.tls_url,
                documents=DOCUMENTS,
                packages=PACKAGES,
                hosts=1,
                ca=authority.file.read_text(),
            )
        )

    assert outcome.samples["failure"] == ["4xx"]
    assert "No required SSL certificate was sent" in outcome.samples["words"][0]


@pytest.mark.system
def test_each_generator_gets_the_certificates_of_its_own_hosts(context):
    identities = [HostIdentity(str(number), f"c{number}", f"k{number}") for number in range(5)]
    request = delivering(
        context, "https://127.0.0.1/", packages=PACKAGES, hosts=5, identities=identities
    )

    first, second = parts(request, 2)

    assert [certificate for certificate, _ in first["identities"]] == ["c0", "c2", "c4"]
    assert [certificate for certificate, _ in second["identities"]] == ["c1", "c3"]
    assert (first["identity_parts"], second["shard"]) == (2, [1, 2])


@pytest.mark.system
def test_a_certificate_that_cannot_be_read_fails_its_host_alone(tmp_path, sandbox, deliver):
    outcome = deliver(
        sandbox.rpm(packages=2, size="3kB"),
        hosts=2,
        identities=[HostIdentity(str(number), "no PEM", "no key") for number in range(2)],
    )

    assert outcome.samples["failure"] == ["tls", "tls"]
    assert "the certificate of host 0" in outcome.samples["words"][0]
