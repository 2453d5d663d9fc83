"""How much work a document can make: what is refused is refused without a look at each part of it."""

from typing import Annotated

import pytest
from msgspec import Meta, Struct

from campaigns.kit import structs
from campaigns.kit.structs import MOST_MEANT, Problems, converted


class Part(Struct, forbid_unknown_fields=True):
    size: int = 0


class Whole(Struct, forbid_unknown_fields=True):
    few: Annotated[list[Part], Meta(max_length=3)] = []
    parts: list[Part] = []
    named: Annotated[dict[str, int], Meta(max_length=3)] | None = None


def read(data):
    problems = Problems()
    converted(data, Whole, problems)
    return problems


@pytest.mark.parametrize(
    ("name", "many"),
    [("few", [7] * 4000), ("named", {f"n{number}": "x" for number in range(4000)})],
)
def test_what_is_longer_than_it_may_be_is_not_looked_into(name, many):
    assert read({name: many}) == {name: ["4,000 are too many; send at most 3."]}


def test_a_slip_is_named_for_some_names_of_a_document_alone(monkeypatch):
    compared: list[str] = []

    def nearest(name: str, *_: object) -> str:
        compared.append(name)
        return "size"

    monkeypatch.setattr(structs, "nearest", nearest)

    problems = read({"parts": [{f"sizes{number}": 1} for number in range(4000)]})

    assert len(problems) == 4000
    assert len(compared) == MOST_MEANT


def test_the_same_slip_is_told_in_the_same_words_in_each_part():
    told = read({"parts": [{"sizes": 1}] * 4000}).values()

    assert {text for (text,) in told} == {"There is no field “sizes” here. Did you mean “size”?"}
