import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from campaigns.kit.forms import DurationField
from campaigns.kit.units import written


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("90", 90.0),
        ("1.5", 1.5),
        (91, 91.0),
        ("90 s", 90.0),
        ("90 min", 5400.0),
        ("8h", 28_800.0),
        ("1.5 h", 5400.0),
        ("1 h 30 min", 5400.0),
        ("1 H, 30 MIN", 5400.0),
        ("2 d 4 h", 187_200.0),
    ],
)
def test_a_span_is_read_with_units_or_as_seconds(typed, seconds):
    assert DurationField().clean(typed) == seconds


@pytest.mark.parametrize("typed", ["soon", "8 hours", "1 h 30", "-1 h", "h", "1:30", "nan", "inf"])
def test_what_is_no_span_is_refused(typed):
    with pytest.raises(ValidationError):
        DurationField(min_value=1).clean(typed)


def test_a_number_that_no_clock_holds_is_refused():
    with pytest.raises(ValidationError):
        DurationField(max_value=86_400).clean(f"{'9' * 400} d")


@given(
    st.one_of(
        st.integers(1, 10**9).map(float), st.floats(0.001, 10**6).map(lambda span: round(span, 3))
    )
)
def test_what_is_written_is_read_again(seconds):
    assert DurationField().clean(written(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5400.0, "1 h 30 min"), (28_800.0, "8 h"), (90.0, "1 min 30 s"), (86_400.0, "1 d")],
)
def test_a_span_is_written_as_one_would_say_it(seconds, text):
    assert written(seconds) == text
