"""Factors by the names that people use, in findings that are to be put into words."""

import pytest

from campaigns.findings.vocabulary import renamed
from campaigns.kit.charts.labels import as_asked
from campaigns.tests.findings.wording.builders import answer, cell


@pytest.mark.parametrize(
    ("question", "label", "said"),
    [
        ("How many users does my API carry?", "Hosts", "Users"),
        ("How many Clients register at once?", "Hosts", "Clients"),
        ("How many hosts?", "Clients", "Hosts"),
        ("How many hosts do 20 users bring?", "Clients", "Clients"),
        ("What does it carry?", "Hosts", "Hosts"),
        ("How many users?", "Rate", "Rate"),
        ("Which superusers?", "Hosts", "Hosts"),
    ],
)
def test_a_load_is_called_as_the_question_calls_it(question, label, said):
    assert as_asked(label, question) == said


def test_a_factor_has_its_other_name_wherever_it_stands():
    told = answer(
        cell(1, 10.0, hosts=5, engine="hosts"),
        loads=["hosts"],
        work=["hosts"],
        asked=["engine"],
        guesses={"hosts": "A guess."},
    )

    result = renamed(told, {"hosts": "users"})

    assert [each.levels for each in result.cells] == [{"users": 5, "engine": "hosts"}]
    assert (result.loads, result.work, result.asked) == (["users"], ["users"], ["engine"])
    assert result.guesses == {"users": "A guess."}
    assert result.label == told.label
    assert renamed(told, {}) is told
