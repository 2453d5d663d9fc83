import pytest

from campaigns.tests.browsing import browser, person
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.management.conftest import manage
from campaigns.tests.rest import api, owner, send, token
from campaigns.tests.targets.credentials.planted import with_certificate
from campaigns.tests.toy import target, toy

__all__ = ["api", "browser", "manage", "owner", "person", "send", "target", "token", "toy"]


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
def entered(authority):
    """The form of a credential."""
    return with_certificate(authority)
