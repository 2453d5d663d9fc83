"""What errors tell of repeated problems."""

import pytest

from campaigns.kit.errors import BadFile, Invalid

NUMBER = "Send a number."


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"question": [NUMBER]}, {"question": [NUMBER]}),
        (
            {"runs.0.values.a": [NUMBER], "runs.2.values.a": [NUMBER], "runs.2.block": ["Odd"]},
            {"runs.0.values.a": [f"{NUMBER} The same in 1 more run: 2"], "runs.2.block": ["Odd"]},
        ),
        (
            {f"runs.{number}.values.a": [NUMBER, "Odd"] for number in range(3, 1403)},
            {
                "runs.3.values.a": [
                    f"{NUMBER} The same in 1,399 more runs: 4, 5, 6 …",
                    "Odd. The same in 1,399 more runs: 4, 5, 6 …",
                ]
            },
        ),
        (
            {"runs.0.values.a": [NUMBER], "runs.1.values.b": [NUMBER], "runs.2": [NUMBER]},
            {"runs.0.values.a": [NUMBER], "runs.1.values.b": [NUMBER], "runs.2": [NUMBER]},
        ),
        # Fields of a form keep their messages, each at its place.
        (
            {"conditions.0.metric": ["Odd"], "conditions.1.metric": ["Odd"]},
            {"conditions.0.metric": ["Odd"], "conditions.1.metric": ["Odd"]},
        ),
    ],
)
def test_a_wrong_field_is_told_once_with_the_number_of_runs(sent, told):
    error = Invalid(sent)

    assert error.errors == told
    assert Invalid(error.errors).errors == told


def test_a_wrong_column_is_told_once_with_the_number_of_lines():
    error = BadFile([("line 2", NUMBER), ("", "Odd"), ("line 7", NUMBER), ("line 12", NUMBER)])

    assert error.problems == (("line 2", f"{NUMBER} The same in 2 more lines: 7, 12"), ("", "Odd"))
    assert str(error).splitlines()[0] == f"line 2: {error.problems[0][1]}"
