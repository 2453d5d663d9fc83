"""Syncs of the simulated Pulp from a real nginx that wants a certificate, a password or a token."""

import pytest

from campaigns.kinds.base import AddressRefused, Target
from campaigns.kinds.base.feed import offer_of
from campaigns.tests.kinds.guarded_server import PASSWORD, USER, guarded
from campaigns.tests.kinds.sync.suite import Place
from campaigns.tests.kinds.sync.suite_logins import *  # noqa: F403 - the tests of every Pulp
from campaigns.tests.kinds.sync.suite_logins import credential
from sandbox.process import running

__all__ = ["guarded"]

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def process():
    with running(pulp={}) as sandbox:
        yield sandbox


@pytest.fixture
def pulp(process, tmp_path):
    process.pulp.renew()
    process.pulp.behave(retry_seconds=0.02)
    target = Target("simulator", "pulp", process.pulp.base_url, "admin", "password", dedicated=True)
    place = Place(target, tmp_path)
    yield place
    place.close()
    process.pulp.renew()


def test_a_redirect_to_another_server_never_carries_it(pulp, guarded):
    login = credential(pulp, guarded, username=USER, password=PASSWORD)
    before = len(guarded.asked())

    with pytest.raises(AddressRefused, match="another server"):
        offer_of(f"{guarded.private}/elsewhere/", "file/file", pulp.context(), login)

    assert len(guarded.asked_since(before)) == 1


def test_a_document_at_an_address_that_its_owner_did_not_name_is_read_without_it(pulp, guarded):
    login = credential(pulp, guarded, username=USER, password=PASSWORD)
    before = len(guarded.asked())

    offer = offer_of(f"{guarded.other}/feed/PULP_MANIFEST", "file/file", pulp.context(), login)

    assert offer
    assert guarded.asked_since(before)[-1].endswith('"-" "-"')
