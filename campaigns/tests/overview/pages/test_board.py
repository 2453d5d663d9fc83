"""The board: what a row is, which answer it shows, what is said of the one before, and who sees it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Finding, PublishedAnswer, Team
from campaigns.overview.answered import ENDED
from campaigns.overview.board import board_rows, last_answers
from campaigns.planning import drafts, templates
from campaigns.planning.checking import check
from campaigns.stats.methods import METHODS
from campaigns.targets.saving import save_target
from campaigns.tests.browsing import Page
from campaigns.tests.people import everywhere, somebody
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db
BOARD = "board"
FASTER = {"word": "faster", "tone": "better", "icon": "up", "form": "solid"}
NOTHING = {"word": "no difference shown", "tone": "thin", "icon": "ring", "form": "outline"}


@pytest.fixture
def answer(target, person):
    """A function that stores a campaign that ended so many hours ago, with its answer."""

    def store(hours=1, *, sentence="New is 20 % faster.", word=FASTER, by=person, **changes):
        fields = {name: changes.pop(name) for name in ("template", "team") if name in changes}
        campaign = drafts.create(check(definition(**{"target": target.pk, **changes})), by)
        ended = timezone.now() - timedelta(hours=hours)
        Campaign.objects.filter(pk=campaign.pk).update(
            state="finished", launched_at=ended, closed_at=ended, **fields
        )
        Finding.objects.create(
            campaign=campaign,
            name="answer",
            data_hash="x",
            versions={"methods": METHODS},
            result={},
        )
        PublishedAnswer.objects.create(
            campaign=campaign, sentence=sentence, caveat="", badges=[word] if word else []
        )
        return campaign.pk

    return store


def rows():
    teams = everywhere().see
    return board_rows(teams, last_answers(teams).order_by(ENDED.desc()))


def shown(client, **query):
    return [row.last.pk for row in client.get(reverse(BOARD), query).context["rows"]]


def test_a_row_is_a_target_and_a_question_with_its_last_answer(answer, target):
    other = save_target(
        {"name": "b", "family": "http", "base_url": "http://127.0.0.3:80", "confirm_address": True}
    )
    answer(hours=9)
    last, elsewhere, otherwise = (
        answer(hours=3),
        answer(hours=2, target=other.pk),
        answer(hours=1, question="And what of memory?"),
    )

    assert [row.last.pk for row in rows()] == [otherwise, elsewhere, last]
    assert [row.last.target for row in rows()] == [target.name, "b", target.name]


def test_campaigns_of_one_template_are_one_row_whatever_they_ask(answer, target, person):
    draft = drafts.create(check(definition(target=target.pk)), person)
    template = templates.make_template(draft, {"name": "Nightly"}, person)
    first = answer(hours=5, template=template, question="Monday?")
    last = answer(hours=4, template=template, question="Tuesday?")
    answer(hours=3, question="Monday?")

    (alone, nightly) = rows()

    assert (nightly.last.pk, nightly.earlier, nightly.template) == (last, first, "Nightly")
    assert (alone.earlier, alone.template) == (None, "")


@pytest.mark.parametrize(
    ("before", "now", "change", "tone"),
    [
        (None, {}, "first answer", ""),
        ({}, {}, "same sentence", ""),
        ({"word": NOTHING}, {}, "before: no difference shown", "warn"),
        ({}, {"sentence": "New is 18 % faster."}, "same word, other figures", ""),
        ({"word": NOTHING, "sentence": "-"}, {}, "before: no difference shown", "warn"),
        ({"word": None, "sentence": "-"}, {"word": None}, "other figures", ""),
    ],
)
def test_what_is_said_of_the_answer_before(answer, before, now, change, tone):
    if before is not None:
        answer(hours=9, sentence="New is even faster.", word=NOTHING)
        answer(hours=8, **before)
    answer(hours=1, **now)

    (row,) = rows()

    assert (row.change, row.tone) == (change, tone)


def test_filters_choose_rows_by_their_last_answer(browser, answer, target, person):
    guest = somebody("guest")
    answer(hours=9, by=guest)
    last = answer(hours=1)
    other = answer(hours=2, question="And what of memory?", by=guest)

    assert shown(browser) == [last, other]
    assert shown(browser, sort="oldest") == [other, last]
    assert shown(browser, q="memory") == [other]
    assert shown(browser, person=guest.pk) == [other]
    assert shown(browser, kind="toy", target=target.pk) == [last, other]
    assert shown(browser, kind="http") == []
    assert "No matching answers" in Page(browser.get(reverse(BOARD), {"q": "zzz"})).text


def test_a_row_leads_to_its_campaign_and_to_the_comparison(browser, answer):
    first, last = answer(hours=2, word=NOTHING, sentence="<b>No</b> difference."), answer(hours=1)

    page = browser.get(reverse(BOARD))

    html = page.content.decode()
    assert f'href="{reverse("campaign", args=[last])}"' in html
    assert f'href="{reverse("compare")}?c={first}&amp;c={last}"' in html
    for text in ("New is 20 % faster.", "faster", "before: no difference shown", "reviewer"):
        assert text in Page(page).text


def test_answers_of_other_teams_and_of_the_archive_are_not_seen(client, answer):
    stranger = Team.objects.create(name="strangers")
    answer(team=stranger)
    kept = answer(hours=2, question="Ours?")
    archived = answer(hours=1, question="Old?")
    Campaign.objects.filter(pk=archived).update(archived_at=timezone.now())
    client.force_login(somebody("viewer", "viewer"))

    assert shown(client) == [kept]


def test_nobody_s_board_is_empty_and_says_so(browser):
    assert "No answer yet" in Page(browser.get(reverse(BOARD))).text


def test_the_number_of_queries_does_not_grow_with_the_rows(
    browser, answer, django_assert_num_queries
):
    answer(hours=2)
    answer(hours=1)
    browser.get(reverse(BOARD))
    with CaptureQueriesContext(connection) as few:
        browser.get(reverse(BOARD))
    assert len(few.captured_queries) < 16
    for number in range(8):
        answer(hours=2, question=f"Question {number}?")
        answer(hours=1, question=f"Question {number}?")

    with django_assert_num_queries(len(few.captured_queries)):
        assert len(shown(browser)) == 9
