"""Answers of campaigns, read from their stored findings."""

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answer_of, answers_of
from campaigns.findings.store import findings_of
from campaigns.models import Finding
from campaigns.results.importing import demonstration

pytestmark = pytest.mark.django_db


@pytest.fixture
def analysed():
    campaign, _ = demonstration.published_campaign(None)
    compute.analyse(campaign)
    return campaign


def test_answers_are_read_in_one_query(analysed, django_assert_num_queries):
    with django_assert_num_queries(1):
        answers = answers_of([analysed.pk, analysed.pk + 1])

    assert answers == {analysed.pk: answer_of(findings_of(analysed, ""))}
    assert answers[analysed.pk].sentence.startswith("Concurrency 20 is the fastest setting")


def test_the_row_of_an_answer_holds_no_runs(analysed):
    row = Finding.objects.get(campaign=analysed, name="answer").result

    assert not any("runs" in cell for cell in row["cells"])


def test_findings_of_other_methods_give_no_answer(analysed):
    Finding.objects.filter(campaign=analysed).update(versions={"methods": "1"})

    assert answers_of([analysed.pk]) == {}
    assert answer_of(findings_of(analysed, "")) is None
