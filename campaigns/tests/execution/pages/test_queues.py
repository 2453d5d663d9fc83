"""Queues of servers, on their page and on those of targets and campaigns."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.models import Attempt, Campaign, Run, Worker
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.tests.browsing import Page
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def waiting(target, person):
    """Two launched campaigns, a before b."""
    made = []
    for name in ("a", "b"):
        sent = definition(target=target.pk, name=name, question=f"How fast is {name}?")
        made.append(lifecycle.launch(drafts.create(check(sent), person), person))
    return made


def names(page):
    """Names of campaigns in the order of the page."""
    keys = [
        str(attributes["id"]).removeprefix("queued-")
        for _, attributes in page.elements
        if str(attributes.get("id", "")).startswith("queued-")
    ]
    return [Campaign.objects.get(pk=key).name for key in keys]


def test_the_page_shows_who_waits_in_which_order(browser, waiting, worker):
    page = Page(browser.get(reverse("queue-list")))

    assert names(page) == ["a", "b"]
    assert "6 runs left" in page.text
    assert "Waits until “a” has made its runs" in page.text


def test_the_first_has_no_way_up_and_the_last_none_down(browser, waiting):
    first, last = waiting

    page = Page(browser.get(reverse("queue-list")))

    assert "disabled" in page.by_id(f"up-{first.pk}")
    assert "disabled" not in page.by_id(f"down-{first.pk}")
    assert "disabled" in page.by_id(f"down-{last.pk}")
    assert "disabled" not in page.by_id(f"up-{last.pk}")


def test_a_move_without_scripts_comes_back_to_the_page(browser, waiting, person):
    answer = browser.post(reverse("campaign-move-up", args=[waiting[1].pk]), {"back": "queue"})

    assert answer["Location"] == reverse("queue-list")
    assert names(Page(browser.get(reverse("queue-list")))) == ["b", "a"]
    assert f"moved before “a” in the queue by {person.username}" in [
        line.text for line in waiting[1].log.all()
    ]


def test_a_move_with_scripts_gives_the_part_as_it_is_now(browser, waiting):
    answer = browser.post(reverse("campaign-move-down", args=[waiting[0].pk]), headers=HTMX)

    assert names(Page(answer)) == ["b", "a"]
    assert Page(answer).by_id("queues")


def test_a_move_that_is_not_possible_is_said(browser, waiting):
    path = reverse("campaign-move-up", args=[waiting[0].pk])

    with_scripts = Page(browser.post(path, headers=HTMX)).text
    without = Page(browser.post(path, follow=True)).text

    assert "“a” is the first in its queue already" in with_scripts
    assert "“a” is the first in its queue already" in without


@pytest.mark.parametrize(
    ("back", "place"), [("campaign", "campaign"), ("target", "target"), ("//evil.test/", None)]
)
def test_a_move_goes_back_to_where_it_came_from(browser, waiting, target, back, place):
    answer = browser.post(reverse("campaign-move-up", args=[waiting[1].pk]), {"back": back})

    keys = {"campaign": [waiting[1].pk], "target": [target.pk]}
    wanted = reverse(place, args=keys[place]) if place else reverse("queue-list")
    assert answer["Location"].partition("#")[0] == wanted


def test_a_move_without_its_token_is_refused(waiting, person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)

    assert client.post(reverse("campaign-move-up", args=[waiting[1].pk])).status_code == 403


def test_a_move_lets_dispatch_look(browser, waiting, worker):
    browser.post(reverse("campaign-move-up", args=[waiting[1].pk]))

    assert Attempt.objects.get().run.campaign == waiting[1]


def test_a_pool_without_workers_is_shown_with_what_to_do(browser, waiting, worker):
    with_worker = Page(browser.get(reverse("queue-list"))).text
    Worker.objects.all().delete()
    without = Page(browser.get(reverse("queue-list"))).text

    assert "No worker of the pool" not in with_worker
    assert "No worker of the pool “measure” answers" in without
    assert "celery -A perfdash worker -Q measure" in without
    assert not Attempt.objects.exists()


def test_the_holder_and_the_run_that_is_on_are_shown(browser, waiting, worker):
    dispatch.dispatch()
    Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=timezone.now())
    Run.objects.filter(attempts__isnull=False).update(state=Run.State.RUNNING)

    page = Page(browser.get(reverse("queue-list"))).text

    assert "held by run 1 of a" in page
    assert "run 1 is on" in page


def test_a_paused_campaign_is_in_the_queue_and_holds_nobody_back(browser, waiting, worker):
    lifecycle.pause(waiting[0])

    page = Page(browser.get(reverse("queue-list"))).text

    assert "Paused" in page
    assert "Waits until “a”" not in page


def test_a_try_out_goes_before_all_campaigns(browser, waiting, draft, person):
    lifecycle.try_one(draft, person)

    page = Page(browser.get(reverse("queue-list"))).text

    assert "try-out of a draft" in page
    assert "goes before all campaigns" in page


def test_a_server_that_nobody_waits_for_is_free(browser, target):
    page = Page(browser.get(reverse("queue-list"))).text

    assert "Nobody waits" in page
    assert "toy server" in page


def test_a_campaign_says_its_place_and_can_be_moved(browser, waiting, worker):
    page = Page(browser.get(reverse("campaign", args=[waiting[1].pk])))

    assert "2nd in the queue of toy server, behind “a”" in page.text
    assert page.by_id("move-up")["formaction"] == reverse("campaign-move-up", args=[waiting[1].pk])
    assert "disabled" in page.by_id("move-down")


def test_the_page_of_a_target_has_its_queue(browser, waiting, target):
    page = Page(browser.get(reverse("target", args=[target.pk])))

    assert names(page) == ["a", "b"]
    assert page.by_id("queue")


def test_a_page_of_many_queues_asks_few_questions(browser, waiting, django_assert_max_num_queries):
    with django_assert_max_num_queries(40):
        browser.get(reverse("queue-part"))


def test_the_poll_of_a_campaign_asks_no_more_behind_a_longer_queue(
    browser, waiting, target, person
):
    def asked():
        with CaptureQueriesContext(connection) as queries:
            part = Page(browser.get(reverse("campaign-progress", args=[waiting[1].pk])))
        assert "2nd in the queue" in part.text
        return len(queries)

    asked()  # the first one notes the session
    before = asked()
    for name in "cdefgh":
        sent = definition(target=target.pk, name=name, question=f"How fast is {name}?")
        lifecycle.launch(drafts.create(check(sent), person), person)

    assert asked() == before
