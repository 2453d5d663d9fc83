"""What the page of a line says of a trend, by the state that is stored of it."""

import math

import pytest

from campaigns.trends.values import TrendState
from campaigns.trends.wording import sentences


def test_sessions_without_a_value_are_not_counted_as_if_they_had_one():
    state = TrendState(sessions=3, told=1, newest=math.log(0.0108), more=6)

    said = sentences("Duration", "s", "", state, [])

    assert said.verdict == "Duration: 10.8 ms in the only session with a value."
    assert said.caveat == (
        "There is too little history to judge the newest session: 6 more sessions needed."
    )


@pytest.mark.parametrize(
    ("seen", "end"),
    [
        ({"p": 0.4}, "3 sessions: not suspected to be worse."),
        ({"p": 0.001, "suspected": "screen"}, "3 sessions: suspected to be worse."),
        (
            {"p": None, "suspected": "failing"},
            "3 sessions: suspected to be worse, since it fails.",
        ),
    ],
    ids=["quiet", "screen", "failing"],
)
def test_what_the_screen_says_is_in_the_headline(seen, end):
    state = TrendState(sessions=3, told=3, newest=0.0, **seen)

    said = sentences("Duration", "s", "", state, [])

    assert said.verdict == f"Duration: 1 s in the newest of {end}"
    assert said.caveat == ""
