"""What is written of a knee."""

import pytest

from campaigns.findings.pages.level_tables import _knee

LEVELS = [3.0, 5.0, 7.0, 10.0, 15.0]
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
    names = [name for name, _ in _knee(KNEE | {"strength": strength}, LEVELS)]

    assert ("two of three agree on" in names) == told


def test_the_bounds_of_a_knee_are_those_computed():
    doubt = {"interval": [5.213, 6.784], "between": [{"low": 5.0, "high": 7.0, "share": 1.0}]}

    rows = dict(_knee(KNEE | {"strength": "strong", "uncertainty": doubt}, LEVELS))

    assert rows["interval of the break"] == "between 5 and 7 (5.21 to 6.79, 95 %)"
