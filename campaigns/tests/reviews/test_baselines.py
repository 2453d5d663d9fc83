import pytest

from campaigns.models import Campaign, Conclusion, Team, Template
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.reviews.baselines import baseline_of, compare_with
from campaigns.reviews.drafting import create, edit
from campaigns.reviews.sending import send, withdraw
from campaigns.tests.findings.compute.conftest import noisy, store
from campaigns.tests.people import somebody
from campaigns.tests.remembered import remembered
from campaigns.tests.reviews.conftest import LEVELS, content, finished, say, words_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def accepted(sent, reviewer):
    return remembered(say, sent, reviewer)


@pytest.fixture
def later(interleaved):
    """A campaign that was measured after the one that somebody has concluded from."""

    def make():
        made = interleaved(list(LEVELS))
        store(made, noisy({5: 12.0, 10: 8.0, 20: 7.0}, seed=2))
        return finished(made)

    return remembered(make)


def clone(later, of):
    Campaign.objects.filter(pk=later.pk).update(clone_of=of)
    later.refresh_from_db()
    return later


def found(campaign, user):
    baseline = baseline_of(campaign, user)
    assert baseline is not None
    return baseline


def test_a_clone_is_compared_with_what_was_accepted(accepted, campaign, later, author):
    baseline = found(clone(later, campaign), author)

    assert baseline.conclusion == accepted
    assert (baseline.campaign, baseline.stands) == (campaign, True)
    compared = compare_with(baseline, later)
    assert not isinstance(compared, str)
    words = {row.name: row.comparison.verdict.word for row in compared.rows}
    assert words["concurrency 5"] == "worse"


def test_a_campaign_of_the_same_template_is_compared(accepted, campaign, later, author, team):
    template = Template.objects.create(team=team, name="sync", definition={})
    Campaign.objects.update(template=template)
    later.refresh_from_db()

    assert found(later, author).kinship == "the same template"


def test_strangers_are_not_compared(accepted, later, author):
    assert baseline_of(later, author) is None


def test_the_earlier_one_is_not_compared_with_the_later(sent, reviewer, campaign, later, author):
    clone(later, campaign)
    say(sent, reviewer)

    assert baseline_of(campaign, author) is None


def test_a_re_opened_baseline_is_said_and_not_compared_with(accepted, campaign, later, author):
    lifecycle.exclude(campaign.runs.get(position=3), author, "x")
    request_analysis(campaign)

    baseline = found(clone(later, campaign), author)

    assert (baseline.stands, baseline.conclusion.state) == (False, "reopened")


def test_what_was_re_opened_in_review_never_was_a_baseline(sent, campaign, later, author):
    lifecycle.exclude(campaign.runs.get(position=3), author, "x")
    request_analysis(campaign)
    sent.refresh_from_db()

    assert sent.state == "reopened"
    assert baseline_of(clone(later, campaign), author) is None


def test_one_re_opened_in_review_does_not_hide_one_that_was_accepted(
    accepted, campaign, later, author, reviewer
):
    second = create(author, content(campaign, claim="Or 10."))
    send(second.pk, author, [reviewer])
    lifecycle.exclude(campaign.runs.get(position=3), author, "x")
    request_analysis(campaign)

    baseline = found(clone(later, campaign), author)

    assert {each.state for each in Conclusion.objects.all()} == {"reopened"}
    assert baseline.conclusion == accepted


def test_one_accepted_before_it_was_revised_is_said_after_those_decided_since(
    accepted, campaign, later, author, reviewer
):
    second = create(author, content(campaign, claim="Or 10."))
    second = edit(second.pk, author, content(campaign, claim="Or 10.", words=words_on(second)))
    say(send(second.pk, author, [reviewer]), reviewer)
    withdraw(accepted.pk, author, "To say it better.")
    send(accepted.pk, author, [reviewer])
    lifecycle.exclude(campaign.runs.get(position=3), author, "x")
    request_analysis(campaign)

    assert found(clone(later, campaign), author).conclusion == second


def test_whoever_may_not_see_it_is_told_nothing(accepted, campaign, later, team):
    stranger = somebody("sam", "admin", team=Team.objects.create(name="others"))

    assert baseline_of(clone(later, campaign), stranger) is None


def test_clones_that_are_each_others_end(accepted, campaign, later, author):
    clone(later, campaign)
    Campaign.objects.filter(pk=campaign.pk).update(clone_of=later)

    assert found(later, author).conclusion == accepted


def test_the_page_shows_it_with_a_link_to_the_comparison(accepted, campaign, later, author, client):
    clone(later, campaign)
    client.force_login(author)

    page = client.get(f"/campaigns/{later.pk}/").content.decode()

    assert "Against the accepted baseline" in page
    assert f"/compare/?c={campaign.pk}&amp;c={later.pk}" in page
    assert f"/conclusions/{accepted.pk}/" in page
