"""A page that is read while an analysis replaces the findings shows those of one moment."""

import re
from http import HTTPStatus

import psycopg
import pytest
from django.db import connection
from django.urls import reverse

from campaigns.findings import compute
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = ("campaign", "campaign-report", "campaign-comparisons-csv", "campaign-figures")
VARYING = re.compile(
    r'(?<="X-CSRFToken": ")\w+|(?<=csrfmiddlewaretoken" value=")\w+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d'
)
"""Tokens, and the second at which a chart is saved."""
CHART_PAGES = ("campaign-chart", "campaign-chart-csv", "campaign-chart-page")


class Replaced:
    """Deletes all findings from another connection as soon as a statement has read of them, and commits."""

    def __init__(self):
        self.deleted = 0

    def __call__(self, execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if not self.deleted and '"campaigns_finding"' in sql:
            with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
                self.deleted = other.execute("DELETE FROM campaigns_finding").rowcount
        return result


@pytest.fixture
def campaign(target, person):
    made = launched(target, person, factors={"workers": [2, 4, 8]}, order="interleaved")
    store(made, lambda run: 10.0 + run.position, rate=20.0)
    return finish(made)


def seen(browser, address):
    """The status of an answer, and its body without the tokens of forms and the ids of requests."""
    answer = browser.get(address)
    return answer.status_code, VARYING.sub("", answer.getvalue().decode())


def test_an_analysis_that_replaces_the_findings_changes_no_answer_that_has_begun(campaign, browser):
    addresses = [
        *(reverse(name, args=[campaign.pk]) for name in PAGES),
        *(reverse(name, args=[campaign.pk, "drift"]) for name in CHART_PAGES),
        reverse("compare") + f"?a={campaign.pk}&b={campaign.pk}",
        f"/api/v1/campaigns/{campaign.pk}",
    ]
    for address in addresses:
        browser.get(address)  # what is cached, is
        whole = seen(browser, address)
        assert whole[0] == HTTPStatus.OK, address
        replaced = Replaced()
        with connection.execute_wrapper(replaced):
            disturbed = seen(browser, address)
        assert (address, disturbed) == (address, whole)
        assert replaced.deleted or address.startswith("/compare")
        compute.analyse(campaign)
