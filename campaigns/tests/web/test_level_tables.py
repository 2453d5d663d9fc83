"""What is written of a knee."""

import pytest

from campaigns.web.level_tables import _knee

KNEE = {
    "at": 5.0,
    "below": -0.8,
    "above": -0.1,
    "delta_aicc": 4.0,
    "uncertainty": None,
    "methods": {
        "l_method": 5.0,
        "slope_ratio": 5.0,
        "kneed_linear": 4.0,
        "kneed_log": 5.0,
        "consensus": 5.0,
    },
}


@pytest.mark.parametrize(("strength", "told"), [("strong", True), ("smooth", False)])
def test_methods_agree_on_a_knee_only_where_there_is_one(strength, told):
    names = [name for name, _ in _knee(KNEE | {"strength": strength})]

    assert ("two of three agree on" in names) == told
