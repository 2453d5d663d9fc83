import re

import pytest
from django.test import Client

from campaigns.kit.errors import Invalid
from campaigns.models import Announcement, AuditEvent, Comment, Conclusion, Mention, Team, Thread
from campaigns.reviews.comments import begin as begin_thread
from campaigns.reviews.comments import place_on
from campaigns.tests.attacks import ATTACKS, Elements
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(campaign):
    campaign.cells.create(position=1, levels_by_factor={})
    return campaign


@pytest.fixture
def ada():
    return somebody("ada", "viewer")


@pytest.fixture
def browser(ada):
    return signed_in(ada)


def signed_in(user):
    made = Client()
    made.force_login(user)
    return made


def begin(browser, campaign, text="What a curve", **more):
    return browser.post(f"/campaigns/{campaign.pk}/threads/", {"text": text, **more}, follow=True)


def test_a_viewer_begins_a_thread_and_others_answer_it(browser, campaign):
    page = begin(browser, campaign, "Is **this** right?")
    thread = Thread.objects.get()
    first = Comment.objects.get()
    answer = signed_in(somebody("bea")).post(
        f"/threads/{thread.pk}/", {"text": "It is."}, follow=True
    )

    assert page.redirect_chain[-1][0] == f"/threads/{thread.pk}/#comment-{first.pk}"
    assert "Is <strong>this</strong> right?" in answer.content.decode()
    assert "It is." in answer.content.decode()
    assert (
        "Is <strong>this</strong> right?"
        in browser.get(f"/campaigns/{campaign.pk}/").content.decode()
    )
    actions = AuditEvent.objects.filter(subject_kind="thread").values_list("action", flat=True)
    assert sorted(actions) == ["comment_made", "thread_opened"]


@pytest.mark.parametrize("on", ["cell", "run", "chart"])
def test_what_a_thread_is_on_is_checked_and_linked(browser, campaign, on):
    key = {"cell": "1", "run": "7", "chart": "curve?x=engine&metric=duration"}[on]

    begin(browser, campaign, on=on, key=key)

    if on == "run":
        assert not Thread.objects.exists()
        return
    thread = Thread.objects.get()
    page = browser.get(f"/threads/{thread.pk}/").content.decode()
    assert thread.key == {"cell": "1", "chart": "curve?metric=duration&x=engine"}[on]
    if on == "chart":
        assert f'/campaigns/{campaign.pk}/?metric=duration&amp;x=engine#h-curve"' in page


@pytest.mark.parametrize(
    "key", ["javascript:x", "../../x", "curve/../x", "<b>", "", "x" * 600, "a?" + "b=1&" * 400]
)
def test_a_chart_is_named_and_nothing_else(browser, campaign, key):
    begin(browser, campaign, on="chart", key=key)

    assert not Thread.objects.filter(on="chart").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "Write something"),
        (" \n ", "Write something"),
        ("x" * 5001, "5000"),
        ("a\x00b", "U+0000|ull"),
    ],
)
def test_what_cannot_be_stored_is_said_and_the_text_is_kept(browser, campaign, text, word):
    page = begin(browser, campaign, text)

    assert page.status_code == 422
    assert re.search(word, page.content.decode())
    assert text.strip()[:20] in page.content.decode()
    assert not Thread.objects.exists()


def test_a_preview_stores_nothing_with_and_without_htmx(browser, campaign):
    plain = begin(browser, campaign, "so *this*", act="preview")
    part = browser.post(
        f"/campaigns/{campaign.pk}/threads/",
        {"text": "so *this* @nobody", "act": "preview"},
        headers={"HX-Request": "true"},
    ).content.decode()

    assert "so <em>this</em>" in plain.content.decode()
    assert "so *this*</textarea>" in plain.content.decode()
    assert "so <em>this</em>" in part
    assert "@nobody" in part
    assert "no member of the team has that name" in part
    assert "<html" not in part
    assert not Thread.objects.exists()


def test_a_member_is_told_and_a_stranger_and_nobody_are_refused_in_the_same_words(
    browser, campaign, ada
):
    bea = somebody("bea", "reviewer")
    somebody("eve", team=Team.objects.create(name="Others"))

    page = begin(browser, campaign, "@bea and @eve and @zoe, and `@bea`.").content.decode()

    (told,) = Announcement.objects.all()
    assert (told.kind, told.to, told.by) == ("mentioned", [bea.pk], ada)
    assert told.data["path"] == f"/threads/{Thread.objects.get().pk}/"
    assert list(Mention.objects.values_list("user__username", flat=True)) == ["bea"]
    assert "@eve, @zoe: no member of the team has that name" in page
    assert page.count('<b class="mention">@bea</b>') == 1
    assert '<b class="mention">@eve' not in page


def test_who_is_mentioned_has_seen_it_by_looking_and_is_told_once(browser, campaign):
    bea = somebody("bea")
    begin(browser, campaign, "@bea")
    comment = Comment.objects.get()

    browser.post(f"/comments/{comment.pk}/edit/", {"text": "@bea, please"})
    assert Mention.objects.get().seen_at is None
    signed_in(bea).get(f"/threads/{comment.thread_id}/")

    assert Mention.objects.get().seen_at is not None
    assert Announcement.objects.count() == 1


def test_names_that_are_offered_are_of_the_team_alone(browser, campaign):
    somebody("bea")
    somebody("eve", team=Team.objects.create(name="Others"))

    page = browser.get(f"/campaigns/{campaign.pk}/threads/").content.decode()

    assert "@bea" in page
    assert "eve" not in page


def test_one_edits_and_deletes_what_is_ones_own(browser, campaign):
    begin(browser, campaign, "first")
    comment = Comment.objects.get()
    other = signed_in(somebody("bea", "admin"))

    assert other.post(f"/comments/{comment.pk}/edit/", {"text": "mine"}).status_code == 403
    assert other.post(f"/comments/{comment.pk}/delete/").status_code == 403
    edited = browser.post(f"/comments/{comment.pk}/edit/", {"text": "second"}, follow=True)
    assert "second" in edited.content.decode()
    assert ">edited</span>" in edited.content.decode()
    deleted = browser.post(f"/comments/{comment.pk}/delete/", follow=True).content.decode()

    assert "This comment was deleted." in deleted
    assert "second" not in deleted
    comment.refresh_from_db()
    assert (comment.text, comment.deleted_at is None) == ("", False)
    again = browser.post(f"/comments/{comment.pk}/edit/", {"text": "third"}, follow=True)
    assert "third" not in again.content.decode()


def test_a_thread_is_resolved_and_opened_again_by_name(browser, campaign):
    begin(browser, campaign)
    thread = Thread.objects.get()
    bea = signed_in(somebody("bea"))

    settled = bea.post(f"/threads/{thread.pk}/resolve/", follow=True).content.decode()
    twice = browser.post(f"/threads/{thread.pk}/resolve/", follow=True).content.decode()
    opened = browser.post(f"/threads/{thread.pk}/reopen/", follow=True).content.decode()

    assert "resolved by bea" in settled
    assert "bea has resolved this thread already" in twice
    assert "resolved by" not in opened


def test_strangers_learn_nothing_and_change_nothing(browser, campaign):
    begin(browser, campaign)
    thread, comment = Thread.objects.get(), Comment.objects.get()
    eve = signed_in(somebody("eve", team=Team.objects.create(name="Others")))

    for path in (
        f"/campaigns/{campaign.pk}/threads/",
        f"/threads/{thread.pk}/",
        f"/threads/{thread.pk}/resolve/",
        f"/threads/{thread.pk}/reopen/",
        f"/comments/{comment.pk}/edit/",
        f"/comments/{comment.pk}/delete/",
    ):
        assert eve.post(path, {"text": "x"}).status_code == 404, path
        assert eve.get(path).status_code in (404, 405), path
    assert Comment.objects.get().text == "What a curve"


def test_who_has_left_the_team_writes_no_more_from_a_page_that_is_still_open(
    browser, campaign, ada
):
    begin(browser, campaign)
    ada.memberships.all().delete()

    assert browser.post(f"/threads/{Thread.objects.get().pk}/", {"text": "x"}).status_code == 404


def test_open_threads_are_counted_on_cells(browser, campaign):
    begin(browser, campaign, on="cell", key="1")

    page = browser.get(f"/campaigns/{campaign.pk}/threads/?on=cell&key=1").content.decode()

    assert "Threads on cell 1" in page
    assert "What a curve" in page


def test_the_page_has_the_filters_of_rest(browser, campaign):
    for number in ("1", "2"):
        campaign.cells.get_or_create(position=int(number), defaults={"levels_by_factor": {"n": 2}})
        begin(browser, campaign, f"cell {number}", on="cell", key=number)
    begin(browser, campaign, "as a whole")
    browser.post(f"/threads/{Thread.objects.get(key='2').pk}/resolve/")

    def texts(query):
        page = browser.get(f"/campaigns/{campaign.pk}/threads/?{query}").content.decode()
        return [text for text in ("cell 1", "cell 2", "as a whole") if f"<p>{text}</p>" in page]

    assert texts("") == ["cell 1", "cell 2", "as a whole"]
    assert texts("on=cell") == ["cell 1", "cell 2"]
    assert texts("on=cell&key=2") == ["cell 2"]
    assert texts("resolved=true") == ["cell 2"]
    assert texts("on=cell&resolved=false") == ["cell 1"]
    refused = browser.get(f"/campaigns/{campaign.pk}/threads/?resolved=perhaps")
    assert refused["Location"] == f"/campaigns/{campaign.pk}/threads/"


def test_no_comment_becomes_markup_of_its_own(browser, campaign, ada):
    address = f"/campaigns/{campaign.pk}/threads/"
    plain = Elements(browser.get(address).content.decode())
    stored = 0
    for attack in ATTACKS:
        try:
            begin_thread(place_on(campaign), attack, ada)
        except Invalid:
            continue
        stored += 1

    page = Elements(browser.get(address).content.decode())

    assert stored > 60
    for tag in ("script", "iframe", "object", "style", "meta", "base", "img", "form", "input"):
        assert page.number(tag) == plain.number(tag), tag
    names = {name for _, attributes in page.seen for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    assert {name for name in names if name.startswith("hx-")} <= {
        name for _, attributes in plain.seen for name in attributes
    }


def test_a_conclusion_is_talked_about_on_its_page(browser, ada, team):
    conclusion = Conclusion.objects.create(team=team, author=ada, claim="Four is best")
    address = f"/conclusions/{conclusion.pk}/"

    browser.post(f"{address}threads/", {"text": "Why not @ada?"})
    page = browser.get(address).content.decode()

    assert "Discussion" in page
    assert "Why not" in page
    thread = Thread.objects.get(conclusion=conclusion)
    assert f'href="{address}"' in browser.get(f"/threads/{thread.pk}/").content.decode()
    assert (
        browser.post(f"{address}threads/", {"text": "x", "on": "run", "key": "1"}).status_code
        == 302
    )
