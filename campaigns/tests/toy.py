"""A kind for tests of everything that does not depend on one: each type of parameter, no I/O."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django import forms
from django.utils import timezone

from campaigns.kinds.base import (
    Context,
    Driver,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    Parameters,
    Proof,
    Target,
)
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)
from campaigns.kinds.registry import all_kinds
from campaigns.kit.network import Rules
from campaigns.models import Target as TargetRow
from campaigns.models import Worker
from campaigns.targets.saving import save_target


class ToyForm(forms.Form):
    """One parameter of each type; `slow` above 5 needs `careful`."""

    engine = ChoiceParameter(choices=[("new", "New"), ("old", "Old")], initial="new")
    workers = IntegerParameter(min_value=1, max_value=1000, initial=4, help_text="At once.")
    slow = NumberParameter(may_be_load=True, min_value=0, max_value=10, initial=0)
    careful = forms.BooleanField(required=False)
    note = forms.CharField(max_length=50, required=False)
    path = TextParameter(role="work", max_length=5000)

    def clean(self):
        super().clean()
        cleaned = self.cleaned_data
        if (cleaned.get("slow") or 0) > 5 and not cleaned.get("careful"):
            self.add_error("slow", "Above 5, be careful.")
        return cleaned


class Toy(Driver):
    label = "Toy"
    summary = "Measures nothing."
    question = "Is this a toy?"
    families = ("http",)
    parameters = ToyForm
    metrics = (
        Metric("duration", "Duration", "s", lower_is_better=True, primary=True),
        Metric("rate", "Rate", "files/s", lower_is_better=False),
    )

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        return []

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        return []

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        return []

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        return Measured(values={}, health=Health("healthy", (), {}))

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        return []

    def concurrency(self, parameters: Parameters) -> int:
        return int(parameters["workers"])

    def estimate_seconds(self, parameters: Parameters) -> float:
        return float(parameters["slow"])


@pytest.fixture
def toy() -> Iterator[Driver]:
    """The kind `toy`, known for the length of one test."""
    driver = Toy()
    kinds = all_kinds()
    kinds["toy"] = driver
    yield driver
    del kinds["toy"]


@pytest.fixture
def target(toy, db, settings) -> TargetRow:
    """A target that its owner has confirmed; nothing listens there."""
    settings.OWNER_CONFIRMS = True
    return save_target(
        {
            "name": "toy server",
            "family": "http",
            "base_url": "http://127.0.0.1:9",
            "username": "tester",
            "password": "correct horse battery",
            "confirm_address": True,
        }
    )


@pytest.fixture
def worker(db) -> Worker:
    """A worker that is present, however long the test takes; without one nothing is queued."""
    later = timezone.now() + timedelta(hours=1)
    return Worker.objects.create(name="measure@here", host="here", pools=["measure"], seen_at=later)


def definition(**changes: object) -> dict[str, object]:
    """What a person would send: two engines, 3 pairs, 6 runs."""
    return {
        "kind": "toy",
        "question": "Is the new engine faster?",
        "parameters": {"path": "/a"},
        "factors": {"engine": ["new", "old"]},
        "order": "paired",
        "repetitions": 3,
    } | changes
