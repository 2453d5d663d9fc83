"""A conclusion on several campaigns says in what they differ beside their levels."""

import pytest

from campaigns.models import Attempt, EnvironmentFact, Target
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.content import Cited
from campaigns.reviews.drafting import create
from campaigns.reviews.sending import send
from campaigns.tests.findings.compute.conftest import noisy, store
from campaigns.tests.reviews.conftest import LEVELS, content, finished

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(campaign, interleaved):
    """Two campaigns alike in all that they were asked to do; what was seen of them a test says."""

    def two(first, second):
        record(campaign, first)
        later = interleaved(list(LEVELS))
        store(later, noisy(LEVELS, seed=2))
        record(later, second)
        return campaign, finished(later)

    return two


def record(campaign, facts):
    EnvironmentFact.objects.bulk_create(
        EnvironmentFact(attempt=attempt, side="target", name=name, value=value)
        for attempt in Attempt.objects.filter(run__campaign=campaign)
        for name, value in facts.items()
    )


def concluded(author, campaigns):
    evidence = [Cited(campaign.pk) for campaign in campaigns]
    return create(author, content(campaigns[0], evidence=evidence))


def between(conclusion):
    return [check for check in checklist(conclusion) if check.name == "between"]


def test_one_campaign_is_set_beside_nothing(draft):
    assert between(draft) == []


def test_the_same_facts_pass(two, author):
    first, second = two({"pulpcore": "3.50"}, {"pulpcore": "3.50"})

    (check,) = between(concluded(author, [first, second]))

    assert (check.campaign, check.state, check.number) == (second.pk, "pass", "0")


def test_another_fact_is_named_and_takes_a_word(two, author):
    made = concluded(author, two({"pulpcore": "3.49"}, {"pulpcore": "3.50"}))

    (check,) = between(made)

    assert check.state == "warn"
    assert check.number == "1"
    assert "pulpcore (3.49 → 3.50)" in check.words
    assert check.key in {each.key for each in without_word(made, checklist(made))}


def test_what_was_recorded_of_one_only_is_not_taken_for_the_same(two, author):
    (check,) = between(concluded(author, two({"pulpcore": "3.49"}, {})))

    assert (check.state, check.number) == ("warn", "0")
    assert "1 fact was recorded for one of the two campaigns only" in check.words


def test_an_address_is_not_told(two, author):
    campaigns = two({}, {})
    elsewhere = Target.objects.create(
        name="other", family="http", base_url="http://127.0.0.1:10", address="127.0.0.1:10"
    )
    type(campaigns[1]).objects.filter(pk=campaigns[1].pk).update(target=elsewhere)

    (check,) = between(concluded(author, campaigns))

    assert "address" in check.words
    assert "127.0.0.1" not in check.words


def test_it_is_frozen_with_the_review(two, author, reviewer):
    made = concluded(author, two({"pulpcore": "3.49"}, {"pulpcore": "3.50"}))
    (before,) = between(made)
    sent = send(made.pk, author, [reviewer])
    EnvironmentFact.objects.update(value="4.0")

    assert between(sent) == [before]


def test_campaigns_cited_twice_are_checked_once(campaign, author):
    made = concluded(author, [campaign, campaign])

    keys = [check.key for check in checklist(made)]

    assert len(keys) == len(set(keys))
    assert between(made) == []
