"""Answers of campaigns, read from their stored findings."""

import pytest

from campaigns.findings import answers as room
from campaigns.findings import compute
from campaigns.findings.answers import (
    UNWRITTEN,
    answer_of,
    answers_of,
    listed,
    publish_answer,
    published,
    renamed,
)
from campaigns.findings.store import findings_of
from campaigns.models import Finding, PublishedAnswer
from campaigns.planning.analyses import request_outdated
from campaigns.results.importing import demonstration
from campaigns.tests.findings.wording import builders

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
    assert answers[analysed.pk].sentence.startswith("Concurrency 20 is the fastest, if")


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


def test_lists_show_the_verdict_its_word_alone_and_the_means_along_the_factor(analysed):
    answer, row = answers_of([analysed.pk])[analysed.pk], listed(published().get())

    assert row.word is not None
    assert (row.sentence, row.word.word) == (answer.sentence, "best shown")
    brief = Finding.objects.get(campaign=analysed, name=f"brief:{analysed.primary_metric}").result
    means = {
        cell["levels"]["concurrency"]: cell["summary"]["gmean"] for cell in reversed(brief["cells"])
    }
    assert row.means == [means[level] for level in (3, 5, 7, 10, 15, 20)]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"levels": ["a", "b", "c", "d", "e", "f"]}, "no order"),
        ({"second": True}, "two factors"),
        ({"work": ["concurrency"]}, "different work"),
        ({"most": 2}, "two points"),
    ],
)
def test_no_curve_joins_what_has_no_order(analysed, changes, why):
    row = Finding.objects.get(campaign=analysed, name="answer")
    cells = row.result["cells"] = row.result["cells"][: changes.get("most")]
    row.result["work"] = changes.get("work", [])
    for cell, level in zip(cells, changes.get("levels", []), strict=False):
        cell["levels"]["concurrency"] = level
    for cell in cells:
        cell["levels"] |= {"engine": "old"} if "second" in changes else {}
    row.save()
    publish_answer(analysed)

    assert listed(published().get()).means == [], why


@pytest.mark.parametrize("lost", [{"versions": {"methods": "1"}}, {"name": "another"}])
def test_an_answer_without_its_finding_is_not_listed(analysed, lost):
    Finding.objects.filter(campaign=analysed, name="answer").update(**lost)

    assert not published().exists()


def test_the_words_of_another_version_are_written_anew(analysed):
    assert request_outdated() == 0
    PublishedAnswer.objects.update(version="0.0")

    assert request_outdated() == 1


def test_a_factor_has_its_other_name_wherever_it_stands():
    told = builders.answer(
        builders.cell(1, 10.0, hosts=5, engine="hosts"),
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
