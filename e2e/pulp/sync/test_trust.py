"""A real Pulp behind TLS: whom we trust, and how it knows us."""

import ssl
from dataclasses import replace

import pytest

from campaigns.kinds.base import DriverError, TargetUnavailable
from campaigns.kinds.sync.driver import driver
from campaigns.kit.http.credentials import Tls
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.sync.suite import RULES, Place, found, good, parameters
from e2e.pulp.front import tls_front
from e2e.pulp.sync.test_suite import pulp

__all__ = ["pulp"]

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
def secure(pulp, authority):
    """The Pulp behind a front that our authority has signed."""
    with tls_front(pulp.target.base_url, authority.context()) as url:
        yield Place(replace(pulp.target, base_url=url), pulp.directory)


def trusting(place, **tls):
    place.target = replace(place.target, tls=Tls(**tls))
    return place


def test_a_run_goes_through_where_the_bundle_is_right(secure, authority, feed):
    place = trusting(secure, ca_bundle=authority.file.read_text())

    measured, proofs = place.run(parameters(feed.manifest(files=5, size=1000)))

    assert not measured.failure
    assert good(proofs), proofs
    assert driver.environment(place.target, place.context())["certificate"] == "verified"


def test_a_run_goes_through_without_verification_and_says_so(secure, feed):
    place = trusting(secure, verify=False)

    measured, proofs = place.run(parameters(feed.manifest(files=5, size=1000)))

    assert not measured.failure
    assert good(proofs), proofs
    assert driver.environment(place.target, place.context())["certificate"] == "not verified"


@pytest.mark.parametrize("bundle", ["none", "another"])
def test_a_certificate_that_is_not_trusted_has_its_own_words(secure, tmp_path, feed, bundle):
    other = "" if bundle == "none" else Authority(tmp_path, "others").file.read_text()
    place = trusting(secure, ca_bundle=other)

    for step in (lambda: driver.probe(place.target, RULES), lambda: place.reset({})):
        with pytest.raises(TargetUnavailable, match=r"not trusted: give its CA bundle on the targ"):
            step()


def test_a_front_that_wants_a_client_certificate_gets_it(pulp, authority, feed):
    both = authority.server().read_text()
    begin = both.index("-----BEGIN CERTIFICATE")
    context = authority.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    ours = {"ca_bundle": authority.file.read_text()}
    with tls_front(pulp.target.base_url, context) as url:
        place = Place(replace(pulp.target, base_url=url), pulp.directory)
        with pytest.raises(DriverError, match="wants a client certificate"):
            driver.probe(trusting(place, **ours).target, RULES)

        place = trusting(place, **ours, certificate=both[begin:], key=both[:begin])
        measured, proofs = place.run(parameters(feed.manifest(files=3, size=1000)))

        assert found(driver.probe(place.target, RULES))["login"] == "accepted"
    assert not measured.failure
    assert good(proofs), proofs
