"""Lines of campaigns that come from outside: submissions of one question are the sessions of one line."""

import pytest

from campaigns.accounts.access import make_token
from campaigns.findings import compute
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import Campaign
from campaigns.tests.rest import ApiClient, own_rates
from campaigns.tests.results.api.documents import document
from campaigns.trends import launching, lines, readings

__all__ = ["own_rates"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def submitted(person):
    """A function that submits the runs of a version, analyses them, and returns their campaign."""
    api = ApiClient(make_token(person, "ci")[1])

    def submit(version, **changes):
        code, answer = api.post("submissions", document(context={"version": version}, **changes))
        assert code == 201
        campaign = Campaign.objects.get(pk=answer["submission"]["campaign"]["id"])
        compute.analyse(campaign)
        readings.extend(campaign)
        return campaign

    return submit


@pytest.fixture
def line(submitted, person):
    data = {"name": "From CI", "subject": "version", "zone": "", "minutes_a_week": 600}
    return lines.begin(submitted("1.9.0"), data, person)


def test_submissions_of_one_question_are_sessions_in_the_order_of_their_versions(line, submitted):
    for version in ("1.10.0", "1.9.1"):
        submitted(version)

    told = line.readings.order_by("version__position").values_list("version__text", flat=True)
    assert list(told) == ["1.9.0", "1.9.1", "1.10.0"]
    assert {trend.state["told"] for trend in line.trends.all()} == {3}


def test_another_question_is_no_part_of_it(line, submitted):
    other = {"question": "Which compiler?", "source": "our lab"}

    submitted("1.10.0", campaign=other)

    assert line.readings.count() == 1


def test_nothing_can_be_scheduled_or_launched_for_it(line, person):
    with pytest.raises(Invalid, match="come from outside"):
        lines.change(line, lines.description_of(line) | {"cron": "30 2 * * *"}, person)
    with pytest.raises(NotPossible, match="submit or import the next one"):
        launching.measure(line, person, "hand 1")


def test_an_instant_in_the_future_is_not_believed(line, submitted):
    runs = [
        {"tags": {}, "values": {"duration": 10.0}, "started_at": "2099-01-01T00:00:00Z", "finished_at": "2099-01-01T00:01:00Z"}
        for _ in range(3)
    ]  # fmt: skip

    campaign = submitted("1.11.0", runs=runs)

    assert line.readings.get(session__campaign=campaign).at.year < 2099
