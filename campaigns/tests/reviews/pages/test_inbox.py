"""What waits for somebody: each reason, each way out of it, and what it costs to count."""

import pytest

from campaigns.models import Conclusion, LaunchRequest, ManualStep, Setting, Target, Team
from campaigns.reviews import comments
from campaigns.reviews.comments.inbox import inbox_line
from campaigns.reviews.inbox import count, waiting
from campaigns.tests.people import join, somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return somebody("ada", "author", "operator", "reviewer")


@pytest.fixture
def bea():
    return somebody("bea")


@pytest.fixture
def target(team):
    return Target.objects.create(
        name="pulp", family="http", base_url="http://t", address="t:80", team=team
    )


def conclusion(team, author, state, **fields):
    return Conclusion.objects.create(
        team=team, author=author, claim="Four is best", state=state, revision=1, **fields
    )


def whys(user):
    lines = [inbox_line(each) for each in waiting(user)]
    assert len(lines) == count(user)
    assert all(line.path.startswith("/") and line.what and line.words for line in lines)
    return [line.why for line in lines]


def test_nothing_waits_at_first_which_one_query_tells(ada, django_assert_num_queries):
    assert whys(ada) == []
    with django_assert_num_queries(1):
        assert count(ada) == 0


def test_a_review_waits_until_it_is_decided_on_this_revision(team, ada, bea):
    asked = conclusion(team, bea, "in_review")
    asked.reviewers.create(user=ada, asked_by=bea)
    assert whys(ada) == ["review"]

    asked.decisions.create(revision=1, user=ada, word="approve", data_hash="x")
    assert whys(ada) == []

    Conclusion.objects.filter(pk=asked.pk).update(revision=2)
    assert whys(ada) == ["review"]


def test_a_review_waits_no_more_for_who_is_no_reviewer_any_more(team, ada, bea):
    conclusion(team, bea, "in_review").reviewers.create(user=ada, asked_by=bea)
    ada.memberships.update(roles=["author"])

    assert whys(ada) == []


@pytest.mark.parametrize(
    ("state", "waits"),
    [("changes_requested", True), ("reopened", True), ("draft", False), ("accepted", False)],
)
def test_ones_own_conclusion_waits_where_something_is_asked_of_it(team, ada, bea, state, waits):
    conclusion(team, ada, state, reason="n is small")

    assert whys(ada) == (["changes"] if waits else [])
    assert whys(bea) == []


def test_a_warning_without_a_word_waits_for_the_author(team, ada, campaign):
    asked = conclusion(team, ada, "in_review")
    check = {
        "name": "drift",
        "campaign": campaign.pk,
        "state": "warn",
        "number": "5 %",
        "words": "It drifts.",
    }
    asked.evidence.create(position=1, campaign=campaign, snapshot={"checks": [check]})
    assert whys(ada) == ["word"]

    asked.words.create(
        check_name=f"drift-{campaign.pk}", about="4 %: It drifts.", text="Before.", user=ada
    )
    assert whys(ada) == ["word"]

    asked.words.update(about="5 %: It drifts.")
    assert whys(ada) == []


def test_a_launch_waits_for_a_second_operator_and_not_for_who_asked(campaign, ada, bea):
    LaunchRequest.objects.create(campaign=campaign, step="launch", asked_by=bea)

    assert (whys(ada), whys(bea)) == (["launch"], [])
    assert whys(somebody("cem", "author")) == []


def test_a_mention_waits_until_it_is_seen(campaign, ada, bea):
    said = comments.begin(comments.place_on(campaign), "@ada look", bea)
    assert (whys(ada), whys(bea)) == (["mention"], [])

    comments.see_mentions(said.comment.thread, ada)

    assert whys(ada) == []


def test_a_mention_of_who_has_left_the_team_waits_no_more(campaign, ada, bea):
    comments.begin(comments.place_on(campaign), "@ada look", bea)
    ada.memberships.all().delete()

    assert whys(ada) == []


def test_a_manual_step_waits_for_operators_of_the_team(target, ada):
    setting = Setting.objects.create(target=target, name="threads", apply={}, read_back={})
    ManualStep.objects.create(target=target, setting=setting, value=4, words="Set it to 4.")
    stranger = somebody("eve", team=Team.objects.create(name="Others"))

    assert (whys(ada), whys(stranger)) == (["manual_step"], [])


def test_the_longest_waiting_comes_first_and_the_count_is_two_queries(
    team, target, campaign, ada, bea, django_assert_num_queries
):
    setting = Setting.objects.create(target=target, name="threads", apply={}, read_back={})
    ManualStep.objects.create(target=target, setting=setting, value=4, words="Set it to 4.")
    conclusion(team, ada, "reopened")
    for number in range(5):
        comments.begin(comments.place_on(campaign), f"@ada {number}", bea)
    join(ada, "reviewer", team=Team.objects.create(name="Others"))

    found = waiting(ada)

    assert [each.since for each in found] == sorted(each.since for each in found)
    with django_assert_num_queries(2):
        assert count(ada) == len(found) == 7
