"""What hosts show by the whole kind, at a real nginx that wants a certificate: that of a credential of the team, or one of each host."""

from dataclasses import replace

import pytest

from campaigns.kinds.base import Credential, HostIdentity, ParametersRefused, Target
from campaigns.kinds.content_delivery.driver import driver
from campaigns.kit.network import origin_of
from campaigns.tests.kinds.content_delivery.conftest import asked, offered
from campaigns.tests.kinds.content_delivery.nginx import nginx
from campaigns.tests.kinds.content_delivery.parameters import parameters_of
from campaigns.tests.kinds.programs.certificates import Authority

pytestmark = pytest.mark.e2e
HOSTS, PACKAGES = 4, 5


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
def server(tmp_path, sandbox, authority):
    """A repository of the sandbox as files of an nginx."""
    url = f"{sandbox.base_url}/rpm/packages={PACKAGES},size=4kB/"
    documents, packages = offered(url)
    www = tmp_path / "www"
    for path in [*(each.path for each in documents), *(each.path for each in packages)]:
        file = www / "repo" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(asked(url + path))
    with nginx(tmp_path / "nginx", www, authority) as running:
        yield running


def subjects(server):
    return {subject for subject, *_ in server.asked()}


def measure(target, keeper, hosts_of=None, **values):
    parameters = parameters_of(repository="repo/", hosts=HOSTS, packages=PACKAGES, **values)
    context = replace(keeper.context(), hosts_of=hosts_of)
    proofs = driver.reset(target, parameters, context)
    measured = driver.measure(target, parameters, context)
    proofs = [*proofs, *driver.verify(target, parameters, context, measured)]
    assert [each for each in proofs if not each.ok] == []
    return measured


def test_all_hosts_show_the_certificate_of_a_credential_of_the_team(server, authority, keeper):
    certificate, key = authority.identity("entitled")
    login = Credential(
        name="cdn",
        certificate=certificate,
        key=key,
        ca=authority.file.read_text(),
        places=(origin_of(server.tls_url),),
    )
    target = Target("web", "http", server.tls_url, credential_of=lambda name, urls: login)

    measured = measure(target, keeper, identity="one", credential="cdn")

    assert (measured.units_done, measured.units_failed) == (HOSTS * PACKAGES, 0)
    assert subjects(server) == {"CN=entitled"}


def test_each_host_shows_its_own_certificate(server, authority, keeper):
    made = [HostIdentity(str(each), *authority.identity(f"host-{each}")) for each in range(HOSTS)]
    target = Target("web", "http", server.tls_url)
    target = replace(target, tls=replace(target.tls, ca_bundle=authority.file.read_text()))

    measured = measure(
        target, keeper, lambda population, hosts: made[:hosts], identity="own", population=1
    )

    assert (measured.units_done, measured.units_failed) == (HOSTS * PACKAGES, 0)
    assert subjects(server) == {f"CN=host-{each}" for each in range(HOSTS)}


def test_hosts_without_a_certificate_are_refused_with_the_words_of_the_server(
    server, authority, keeper
):
    target = Target("web", "http", server.tls_url)
    target = replace(target, tls=replace(target.tls, ca_bundle=authority.file.read_text()))

    with pytest.raises(ParametersRefused) as refused:
        measure(target, keeper)

    assert "answered 400 (“400 No required SSL certificate was sent " in str(refused.value)
    assert "the server does not let such a host in. Check the certificate" in str(refused.value)
    assert "<" not in str(refused.value)
    assert list(refused.value.refused) == ["identity"]
