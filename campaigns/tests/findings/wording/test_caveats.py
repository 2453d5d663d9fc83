"""Who is said to have been served in a closed loop."""

from campaigns.findings.values import Unserved
from campaigns.findings.wording.caveats import served_text
from campaigns.tests.findings.wording.builders import answer, answered, cell

FREE, THROTTLED = cell(1, 19_000.0, clients=8, maxconn=0), cell(2, 19_200.0, clients=8, maxconn=3)
FEWER = cell(3, 20_600.0, clients=4, maxconn=3)


def unserved(of=THROTTLED, number=8, fewest=3, most=3, response=0.152, end_to_end=0.4166):
    return Unserved(
        cell=of.cell,
        parameter="clients",
        number=number,
        fewest=fewest,
        most=most,
        response=response,
        end_to_end=end_to_end,
        unit="ms",
    )


def test_a_flat_response_time_is_said_to_be_that_of_those_who_were_served():
    few = unserved(FEWER, number=4, response=0.14, end_to_end=0.19)

    assert served_text(answer(FREE, THROTTLED, FEWER, unserved=[few, unserved()])) == (
        "Not all clients were served in 2 of 3 cells. At 8 clients, maxconn 3, 3 of 8 clients were served; their "
        "response time is 0.152 ms on average. If all take turns, each waits 0.417 ms for an answer "
        "(clients ÷ throughput)."
    )


def test_it_is_in_the_answer_whatever_else_is():
    text = answered(answer(FREE, THROTTLED, unserved=[unserved()]))

    assert "3 of 8 clients were served" in text.caveat


def test_nothing_is_said_where_all_were_served():
    assert served_text(answer(FREE, THROTTLED)) == ""


def test_runs_that_served_different_numbers_are_told_as_a_range():
    assert "2 to 3 of 8 clients were served" in served_text(
        answer(FREE, THROTTLED, unserved=[unserved(fewest=2)])
    )


def test_where_nobody_was_served_no_time_is_told():
    nobody = unserved(cell(1, None), fewest=0, most=0, response=None, end_to_end=None)

    assert served_text(answer(cell(1, None), unserved=[nobody])) == "0 of 8 clients were served."
