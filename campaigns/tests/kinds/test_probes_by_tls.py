"""The probe of family `http`, at a real nginx that wants a client certificate."""

import pytest

from campaigns.kinds.base import DriverError, Target, TargetUnavailable
from campaigns.kinds.content_delivery.driver import driver as content_delivery
from campaigns.kinds.downloader.driver import driver
from campaigns.kit.http.credentials import Tls
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.guarded_server import guarded

__all__ = ["guarded"]

pytestmark = pytest.mark.e2e
RULES = parse_rules("127.0.0.1:*")


def status_with(guarded, tls, driver=driver):
    proofs = driver.probe(Target("web", "http", guarded.entitled, tls=tls), RULES)
    return next(proof.measured for proof in proofs if proof.name == "HTTP status")


@pytest.mark.parametrize("kind", [driver, content_delivery], ids=["downloader", "content"])
def test_a_probe_shows_the_certificate_of_the_target(guarded, kind):
    certificate, key = guarded.authority.identity("prober")
    before = len(guarded.asked())

    status_with(guarded, Tls(ca_bundle=guarded.ca, certificate=certificate, key=key), kind)

    assert '"CN=prober"' in guarded.asked_since(before)[0]


def test_a_server_that_answers_without_a_certificate_is_not_down(guarded):
    assert status_with(guarded, Tls(ca_bundle=guarded.ca)) == 400


def test_a_server_whose_authority_is_not_known_names_what_to_check(guarded):
    with pytest.raises(TargetUnavailable, match="Check the CA bundle of the target"):
        status_with(guarded, Tls())


def test_a_certificate_that_cannot_be_used_is_told(guarded):
    with pytest.raises(DriverError, match="Mend it on the target's page"):
        status_with(guarded, Tls(certificate="none", key="none"))
