"""A factor that a file does not declare: asked about, told, and ranked by nobody before a person has said what it is."""

import re

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kit.errors import Invalid
from campaigns.results.importing.files import About, submitted_of
from campaigns.results.importing.receiving import create
from campaigns.results.pages.importing import ImportForm
from campaigns.results.readers.base import Builder, ReadMetric
from campaigns.tests.findings.spoken import all_said, details_of
from campaigns.tests.results.readers.files import read_file

pytestmark = pytest.mark.django_db

WHY = "It is a number in the name of the log."
RANKED = re.compile(r"\bfastest\b|\bbest\b|\bslower\b|\bfaster\b|recommend", re.IGNORECASE)


def received(**roles: str):
    """Store three runs at each of three levels of a factor that is a guess."""
    builder = Builder("satperf_log", "satperf log")
    builder.declare(ReadMetric("duration", "Duration", "s", True))
    builder.guess("batch_size", WHY)
    for level, took in ((5, 12.0), (15, 18.0), (40, 31.0)):
        for factor in (1, 1.01, 0.99):
            builder.run({"batch_size": level}, {"duration": took * factor})
    read = builder.build(name="x", question="How long does it take?", primary=["duration"])
    received = create(submitted_of(read, About(definition={"roles": roles})), None)
    compute.analyse(received.campaign)
    return received


def test_a_guess_is_asked_about_and_not_ranked():
    of = received()

    (question,) = of.questions
    assert question.startswith("Is “batch_size” a setting? The file does not say so. " + WHY)
    answer = answers_of([of.campaign.pk])[of.campaign.pk]
    assert answer.sentence == (
        "Is “batch size” a setting? The file does not say so, so its levels are not ranked."
    )
    assert f"“batch size” is a guess. {WHY}" in details_of(answer)
    assert not any(RANKED.search(text.text) for text in answer.statements[2:])
    assert not of.campaign.findings.filter(name="levels").exists()


@pytest.mark.parametrize(("role", "is_ranked"), [("setting", True), ("load", False)])
def test_what_a_person_says_counts_and_the_guess_is_told(role, is_ranked):
    of = received(batch_size=role)

    assert not of.questions
    answer = answers_of([of.campaign.pk])[of.campaign.pk]
    assert ("is the fastest" in answer.sentence) == is_ranked
    assert f"That “batch size” differs is a guess of the import. {WHY}" in all_said(answer)


def test_a_guess_that_does_not_vary_is_none():
    builder = Builder("satperf_log", "satperf log")
    builder.declare(ReadMetric("duration", "Duration", "s", True))
    builder.guess("batch_size", WHY)
    builder.run({"batch_size": 5}, {"duration": 1.0})

    assert not builder.build(name="x", question="Q?", primary=["duration"]).guesses


def test_a_file_without_any_direction_asks_for_one():
    with pytest.raises(Invalid) as asked:
        submitted_of(read_file("name-unit-value.json"), About())

    (text,) = asked.value.errors["directions"]
    assert text.startswith(
        "Which way is better, lower or higher? The file does not say it of duration"
    )
    assert "--lower or --higher" in text


def test_a_direction_that_a_person_states_is_that_of_the_metric():
    about = About(definition={"directions": {"duration": "lower"}})

    campaign = create(submitted_of(read_file("name-unit-value.json"), about), None).campaign

    assert campaign.primary_metric == "duration"
    assert campaign.metrics.get(name="duration").lower_is_better is True
    assert campaign.metrics.get(name="Value in Lines").lower_is_better is None


@pytest.mark.parametrize(
    "stated", [{"speed": "lower"}, {"duration": "smaller"}, {"duration": ["lower"]}]
)
def test_a_direction_of_no_metric_or_of_another_word_is_refused(stated):
    with pytest.raises(Invalid) as refused:
        submitted_of(read_file("name-unit-value.json"), About(definition={"directions": stated}))

    assert "give lower, higher to one of duration and Value in Lines" in str(refused.value)


def test_the_direction_of_a_file_is_not_overridden():
    with pytest.raises(Invalid) as refused:
        submitted_of(read_file("bmf.json"), About(definition={"directions": {"latency": "higher"}}))

    assert "to one of file-size" in str(refused.value)


@pytest.mark.parametrize("fields", [("load", "setting"), ("lower", "higher")])
def test_a_name_in_both_of_two_fields_is_refused(fields):
    form = ImportForm(dict.fromkeys(fields, "one, two"))

    assert not form.is_valid()
    assert "“one” stands under" in form.errors[fields[1]][0]
