"""What a header Date tells of a server's clock."""

from datetime import UTC, datetime

import pytest

from campaigns.kinds.base.servers import clock_proof

NOW = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("shown", "skew", "near"),
    [
        ("Sat, 21 Nov 2026 09:00:05 GMT", 5.0, True),
        ("Sat, 21 Nov 2026 09:00:05 -0000", 5.0, True),
        ("Sat, 21 Nov 2026 08:45:00 GMT", -900.0, False),
    ],
)
def test_a_clock_is_compared_with_ours(shown, skew, near):
    proof = clock_proof(shown, NOW)

    assert (proof.measured, proof.ok) == (skew, near)


@pytest.mark.parametrize("shown", [None, "", "yesterday", "Sat, 99 Nov 2026 09:00:05 GMT"])
def test_what_is_no_date_tells_nothing(shown):
    proof = clock_proof(shown, NOW)

    assert (proof.measured, proof.ok) == ("not told", True)
