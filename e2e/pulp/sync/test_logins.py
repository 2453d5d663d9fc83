"""Syncs of a real Pulp from a real nginx that wants a certificate, a password or a token."""

import pytest

from campaigns.tests.kinds.guarded_server import guarded
from campaigns.tests.kinds.sync.suite_logins import *  # noqa: F403 - the tests of every Pulp
from e2e.pulp.sync.test_suite import pulp

__all__ = ["guarded", "pulp"]

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(300)]
