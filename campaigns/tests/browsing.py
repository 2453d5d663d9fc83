from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from campaigns.findings.pages.result import AnswerLevel, EvidenceLevel
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition, target, toy, worker

__all__ = ["target", "toy", "worker"]

PASSWORD = "only for tests 1"  # noqa: S105


@pytest.fixture
def person(db) -> User:
    return reviewer()


def reviewer() -> User:
    return somebody("reviewer", password=PASSWORD)


@pytest.fixture
def browser(person) -> Client:
    """Somebody who is signed in."""
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def draft(target, person):
    """Six runs: two engines, three pairs."""
    return drafts.create(check(definition(target=target.pk, seed=5)), person)


def answer_level_of(response: Any) -> Any:
    """The level of the answer on a page of a result."""
    return next(each for each in response.context["levels"] if isinstance(each, AnswerLevel))


def evidence_of(response: Any) -> Any:
    """The level of the evidence on a page of a result."""
    return next(each for each in response.context["levels"] if isinstance(each, EvidenceLevel))


class Page(HTMLParser):
    """What a page holds: elements with their attributes, in order, and its text."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(response.content.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem is None:  # neither script nor style
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def named(self, name: str) -> list[dict[str, str | None]]:
        """The inputs of a name."""
        return [attributes for _, attributes in self.elements if attributes.get("name") == name]

    def by_id(self, wanted: str) -> dict[str, str | None]:
        (found,) = [attributes for _, attributes in self.elements if attributes.get("id") == wanted]
        return found
