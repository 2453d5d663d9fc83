"""Answers of campaigns, read from their stored findings."""

import pytest

from campaigns.findings import answers as room
from campaigns.findings import compute
from campaigns.findings.answers import UNWRITTEN, answer_of, answers_of
from campaigns.findings.store import findings_of
from campaigns.models import Finding, PublishedAnswer
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


def test_findings_are_stored_though_their_answer_cannot_be_put_into_words(analysed, monkeypatch):
    def fail(*args, **parts):
        raise ZeroDivisionError

    monkeypatch.setattr(room, "answer_text", fail)
    Finding.objects.filter(campaign=analysed).delete()

    compute.analyse(analysed)

    assert Finding.objects.filter(campaign=analysed, name="levels").exists()
    assert PublishedAnswer.objects.get(campaign=analysed).sentence == UNWRITTEN.sentence
    assert answers_of([analysed.pk]) == {analysed.pk: UNWRITTEN}
    assert answer_of(findings_of(analysed, "")) == UNWRITTEN
