"""What is said of parts of an analysis that failed."""

import pytest

from campaigns.findings.values import FailedPart, FailedParts
from campaigns.findings.wording.failed_parts import failed_parts


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cells:error_rate", "Values of error rate: KeyError: 3"),
        ("density:total_seconds", "Distribution of total seconds: KeyError: 3"),
        ("drift:duration", "Drift of duration: KeyError: 3"),
        ("matrix", "Interaction of two factors: KeyError: 3"),
        ("sensitivity", "Sensitivity: KeyError: 3"),
        ("usl", "Scalability: KeyError: 3"),
    ],
)
def test_a_part_is_named_with_its_error(name, text):
    assert failed_parts(FailedParts([FailedPart(name, "KeyError: 3")])) == [text]
