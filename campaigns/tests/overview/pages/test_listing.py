import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from campaigns.findings.answers import answers_of
from campaigns.models import Campaign
from campaigns.overview.pages import campaigns
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

LIST = "/campaigns/"


@pytest.fixture
def three(target, person):
    """Three drafts; the second one runs."""
    made = [
        drafts.create(check(definition(target=target.pk, question=question, tags=tags)), person)
        for question, tags in (
            ("Which manifest is slow?", ["knee"]),
            ("Does uvloop help 100 %?", ["loop", "a,b & <c>"]),
            ("How many_workers?", []),
        )
    ]
    lifecycle.launch(made[1], person)
    return made


def found(browser, **query):
    """Names of the campaigns on the page."""
    page = browser.get(LIST, query)
    assert page.status_code == 200
    return [row.campaign.name for row in page.context["rows"]]


def test_the_newest_campaign_stands_first(browser, three):
    assert found(browser) == [campaign.name for campaign in reversed(three)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "UVLOOP"}, [1]),
        ({"q": "knee"}, [0]),
        ({"q": "slow manifest"}, [0]),
        ({"q": "100 %"}, [1]),
        ({"q": "y_w"}, [2]),
        ({"q": "%%"}, []),
        ({"q": "nothing like it"}, []),
        ({"state": "running"}, [1]),
        ({"kind": "toy"}, [2, 1, 0]),
        ({"kind": "external"}, []),
        ({"tag": "a,b & <c>"}, []),
        ({"tag": "loop", "state": "draft"}, []),
        ({"q": "\x00"}, []),
        ({"state": "no such"}, []),
        ({"target": "abc"}, []),
        ({"target": "9" * 60}, []),
        ({"target": "٣"}, []),
        ({"page": "x"}, [2, 1, 0]),
        ({"page": "-5"}, [2, 1, 0]),
        ({"page": "9" * 60}, [2, 1, 0]),
        ({"q": "x" * 100_000}, []),
    ],
)
def test_search_and_filters_narrow_the_list(browser, three, query, expected):
    assert found(browser, **query) == [three[index].name for index in expected]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"q": "\x00"}, "Null characters are not allowed"),
        ({"q": "x" * 201}, "at most 200 characters"),
        ({"state": "no such"}, "State: “no such” is not one of draft, running, "),
        ({"target": "abc"}, "Target: Enter a whole number"),
        ({"archived": "<b>"}, "Archived: “<b>” is not one of only, all."),
        ({"sort": "no such"}, "Sort: “no such” is not one of oldest, closed, name, target."),
    ],
)
def test_a_filter_that_cannot_be_read_says_so(browser, three, query, message):
    page = browser.get(LIST, query)

    assert page.status_code == 200
    assert message in Page(page).text
    assert page.context["rows"] == []


def test_what_is_archived_is_listed_where_it_is_asked_for(browser, three):
    Campaign.objects.filter(pk=three[0].pk).update(archived_at=Now())

    assert found(browser) == found(browser, archived="") == [three[2].name, three[1].name]
    assert found(browser, archived="only") == [three[0].name]
    assert len(found(browser, archived="all")) == 3


def test_the_toolbar_shows_the_filters_of_the_address(browser, three, target):
    query = {"q": "toy <", "state": "draft", "kind": "toy", "target": target.pk, "tag": "kn&"}
    page = Page(browser.get(LIST, {**query, "archived": "all", "sort": "name"}))

    chosen = [a["value"] for tag, a in page.elements if tag == "option" and "selected" in a]
    assert chosen == ["draft", "toy", str(target.pk), "all", "name"]
    typed = {a["id"]: a.get("value") for tag, a in page.elements if str(a.get("id"))[:2] == "f-"}
    assert (typed["f-q"], typed["f-tag"]) == ("toy <", "kn&")


def test_bytes_that_are_no_text_are_searched_as_they_can_be(browser, three):
    assert browser.get(f"{LIST}?q=%ff%fe&tag=%80").status_code == 200


def test_the_filter_of_a_target_finds_its_campaigns(browser, three, target):
    assert len(found(browser, target=target.pk)) == 3


def test_pages_keep_the_filters(browser, target, person):
    for number in range(27):
        question = f"Question {number:02}"
        drafts.create(check(definition(target=target.pk, question=question)), person)

    first = Page(browser.get(LIST, {"q": "Question", "state": "draft"}))
    second = found(browser, q="Question", state="draft", page=2)

    (older,) = [attributes for _, attributes in first.elements if attributes.get("rel") == "next"]
    assert older["href"] == "?q=Question&state=draft&page=2"
    assert second == ["Question 01", "Question 00"]


def test_an_answer_and_its_curve_stand_in_the_list(browser, target, person):
    levels = {"factors": {"workers": [8, 2, 4]}, "baseline": None, "paired_factor": ""}
    campaign = launched(target, person, order="interleaved", **levels)
    store(campaign, lambda run: 4.0 + run.cell.levels_by_factor["workers"])
    finish(campaign)

    page = browser.get(LIST)

    assert answers_of([campaign.pk])[campaign.pk].sentence in Page(page).text
    assert 'points="4.0,28.0 60.0,20.0 116.0,4.0"' in page.content.decode()


def test_markup_in_names_and_tags_is_text(browser, target, person):
    sent = definition(target=target.pk, question="<script>alert(1)</script>", tags=["<b>"])
    drafts.create(check(sent), person)

    content = browser.get(LIST).content.decode()

    assert "<script>alert" not in content
    assert "<b>" not in content
    assert "?tag=%3Cb%3E" in content


def test_a_draft_is_deleted_and_a_launched_campaign_is_not(browser, three):
    browser.post(reverse("campaign-delete", args=[three[0].pk]))
    refused = browser.post(reverse("campaign-delete", args=[three[1].pk]))

    assert not Campaign.objects.filter(pk=three[0].pk).exists()
    assert Campaign.objects.filter(pk=three[1].pk).exists()
    assert refused["Location"] == reverse("campaign", args=[three[1].pk])


def test_the_list_costs_few_queries(browser, three, django_assert_max_num_queries):
    browser.get("/account/")  # the first request of a session also notes the session
    with django_assert_max_num_queries(13):
        browser.get(LIST)


def test_the_list_is_sorted_as_the_address_says(browser, three):
    assert found(browser, sort="oldest") == [campaign.name for campaign in three]
    by_name = sorted((campaign.name for campaign in three), key=str.lower)
    assert found(browser, sort="name") == by_name
    newest = [campaign.name for campaign in reversed(three)]
    assert found(browser, sort="") == newest


def test_a_part_of_a_tag_finds_the_campaigns_of_all_tags_that_have_it(browser, three):
    assert found(browser, tag="OO") == [three[1].name]
    assert found(browser, tag="e") == [three[0].name]
    assert found(browser, tag="loop") == [three[1].name]
    assert found(browser, tag="no such") == []
    assert '<datalist id="tags"><option value="' in browser.get(LIST).content.decode()


def test_the_last_page_is_one_click_away_and_keeps_the_filters(browser, three, monkeypatch):
    monkeypatch.setattr(campaigns, "PAGE_SIZE", 1)

    first = browser.get(LIST, {"kind": "toy", "sort": "name"}).content.decode()
    last = browser.get(LIST, {"kind": "toy", "sort": "name", "page": "3"}).content.decode()

    assert 'rel="last" href="?kind=toy&amp;sort=name&amp;page=3">Last</a>' in first
    assert 'rel="first"' not in first
    assert 'rel="first" href="?kind=toy&amp;sort=name&amp;page=1">First</a>' in last
    assert 'rel="last"' not in last


def test_no_finding_is_read_for_a_list_and_its_queries_do_not_grow(browser, target, person):
    def queries_of(path):
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path).status_code == 200
        assert not any('"result"' in each["sql"] for each in captured)
        return len(captured)

    def answered():
        campaign = launched(target, person, order="interleaved")
        store(campaign, lambda run: 8.0 if run.cell.levels_by_factor["engine"] == "new" else 10.0)
        finish(campaign)

    answered()
    browser.get(LIST)  # reads once what the process keeps
    one = [queries_of(path) for path in (LIST, reverse("home"))]
    answered()
    assert [queries_of(path) for path in (LIST, reverse("home"))] == one
