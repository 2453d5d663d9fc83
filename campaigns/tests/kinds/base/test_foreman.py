"""How requests and tasks of perfdash at a Foreman are known."""

import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.base.foreman import mark_of
from campaigns.tests.kinds.conftest import Keeper


@pytest.mark.parametrize(
    ("sender", "mark"),
    [
        ("perfdash attempt/7", "perfdash-0a1b2c3d-attempt-7-"),
        ("perfdash population/7", "perfdash-0a1b2c3d-population-7-"),
    ],
)
def test_a_population_has_other_request_ids_than_the_attempt_of_its_number(tmp_path, sender, mark):
    target = Target("katello", "katello", "https://katello.example", installation="0a1b2c3d")

    assert mark_of(target, Keeper(tmp_path, sender=sender).context()) == mark
