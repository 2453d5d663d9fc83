"""Nothing says of a load that it is better than another one: not the page, its tables and charts, REST, reports, comparison, command line."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.urls import reverse

from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Attempt, Campaign, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.importing import simulated_katello
from campaigns.results.storing import Value
from campaigns.tests.browsing import Page
from campaigns.tests.findings.spoken import all_said
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

START = datetime(2026, 5, 4, 8, tzinfo=UTC)
TAKES = {5: 12.0, 15: 18.0, 40: 31.0}
RANKED = re.compile(
    r"\bfastest\b|\bbest\b|\bslower than\b|\bfaster than\b|[+−-][1-9]\d[\d.,]* ?%", re.IGNORECASE
)
"""Words of rank, and a change with its sign of 10 % or more; runs lie 1 % from the mean of their own cell."""


@pytest.fixture
def katello(person, settings):
    """A target that registers hosts."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    assert simulated_katello.katello_target("http://127.0.0.1:8399", "", person)
    return Target.objects.get(family="katello")


@pytest.fixture
def registered(katello, person):
    """Return a function that makes a finished campaign of registrations at 5, 15 and 40 hosts, three blocks of it."""

    def make(shift=1.0, **fields):
        data = {
            "question": "How many hosts can register at once?",
            "kind": "registration",
            "target": katello.pk,
            "factors": {"hosts": list(TAKES)},
            "repetitions": 3,
            "order": "interleaved",
            "seed": 1,
            **fields,
        }
        campaign = lifecycle.launch(drafts.create(checking.check(data), person), person)
        metric = campaign.primary_metric
        for run in campaign.runs.select_related("cell", "block").order_by("position"):
            hosts = run.cell.levels_by_factor["hosts"]
            took = TAKES[hosts] * shift * (1 + 0.01 * (run.block.repetition - 2))
            started = START + timedelta(minutes=run.position)
            attempt = import_run(
                run,
                [Value(metric, took, "s", lower_is_better=True)],
                started_at=started,
                finished_at=started + timedelta(seconds=30),
            )
            Attempt.objects.filter(pk=attempt.pk).update(units_done=hosts)
        Campaign.objects.filter(pk=campaign.pk).update(state="finished")
        compute.analyse(campaign)
        return campaign

    return make


def ranks_in(text):
    """Return what ranks a load in a text, with its surroundings."""
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in RANKED.finditer(text)]


def written_of(response):
    """Return the text of a page with its titles, what screen readers get, and the labels of its charts."""
    page = Page(response)
    attributes = [
        value
        for _, each in page.elements
        for name, value in each.items()
        if value and (name in ("title", "alt", "content") or name.startswith(("aria-", "data-")))
    ]
    charts = re.findall(
        r'<script id="[^"]*" type="application/json">(.*?)</script>',
        response.content.decode(),
        re.DOTALL,
    )
    hovers = " ".join(str(text) for chart in charts for text in _texts(json.loads(chart)))
    return f"{page.text} {' '.join(attributes)} {hovers}"


def _texts(value):
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in ("marker", "line", "error_y", "layout") or isinstance(each, dict):
                yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


OLD = "a campaign that was stored before factors had roles"


@pytest.fixture(params=["with roles", OLD])
def measured(request, registered):
    """Such a campaign, also as it was stored before there were roles."""
    campaign = registered()
    if request.param == OLD:
        campaign.factors.update(role="")
        Campaign.objects.filter(pk=campaign.pk).update(criterion={})
        compute.analyse(campaign)
    return campaign


def test_the_answer_says_what_is_carried_or_the_curve(measured):
    text = answers_of([measured.pk])[measured.pk]

    assert text.sentence == "No criterion was set, so how many hosts are carried is not stated."
    assert any("at 40 hosts" in each.text for each in text.statements)
    assert "at 40 hosts" in text.certainty
    assert [badge.word for badge in text.badges if badge.word.startswith("capacity")] == []
    said = [text.sentence, text.caveat, *(badge.word for badge in text.badges)]
    said += [f"{fact.label} {fact.value} {fact.note}" for fact in text.facts]
    said += [each.text for each in text.statements]
    assert not ranks_in(" | ".join(said))
    assert not {badge.tone for badge in text.badges} & {"better", "worse"}


def test_the_page_ranks_no_load(measured, browser):
    address = reverse("campaign-print", args=[measured.pk])
    everything = ",".join(("capacity", "usl", "drift", "spread", "slopes", "interaction"))

    for query in ({}, {"open": everything}):
        assert not ranks_in(written_of(browser.get(address, query)))


def test_the_list_and_the_overview_rank_no_load(measured, browser):
    for name in ("campaign-list", "home"):
        assert not ranks_in(Page(browser.get(reverse(name))).text)


def test_rest_ranks_no_load(measured, browser):
    answer = browser.get(f"/api/v1/campaigns/{measured.pk}").json()
    texts = {name: entry.get("text") for name, entry in answer["findings"].items()}

    assert not ranks_in(json.dumps(texts, ensure_ascii=False))
    assert "levels" not in answer["findings"]
    assert {"matrix", "pairs"}.isdisjoint(answer["findings"])


def test_the_report_ranks_no_load(measured, browser):
    response = browser.get(reverse("campaign-report", args=[measured.pk]))

    assert "hosts" in Page(response).text
    assert not ranks_in(written_of(response))


def test_files_and_tables_of_sql_rank_no_load(measured, browser):
    """A row of the file of comparisons is one of two levels; a load has none."""
    rows = browser.get(reverse("campaign-comparisons-csv", args=[measured.pk])).getvalue().decode()
    drawn = browser.get(reverse("campaign-chart-csv", args=[measured.pk, "capacity"]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT answer, answer_caveat FROM perfdash_views.campaigns")
        answers = cursor.fetchall()

    assert rows.count("\n") == 1, rows
    assert drawn.status_code == 200
    assert not ranks_in(_all_of(drawn))
    assert "hosts" in str(answers)
    assert not ranks_in(str(answers))


def _all_of(response):
    return (response.getvalue() if response.streaming else response.content).decode()


def test_campaigns_are_compared_at_each_load_and_loads_are_not(registered, browser):
    one, two = registered(), registered(shift=0.9)
    small, large = one.cells.order_by("position")[:2]

    chosen = [f"{one.pk}:{small.pk}", f"{two.pk}:{two.cells.get(position=large.position).pk}"]
    text = Page(browser.get(reverse("compare"), {"cell": chosen})).text

    assert not ranks_in(text)
    assert "not comparable" in text


def test_no_message_ranks_a_load(measured):
    kind = Announcement.Kind.CAMPAIGN_FINISHED
    announce(kind, measured.team, campaign=measured, what="The campaign has finished.")
    read_outbox()

    said = [str(each.data) for each in Announcement.objects.all()]

    assert "hosts" in said[-1]
    assert not ranks_in(" ".join(said))


def test_what_is_counted_is_called_as_the_question_calls_it(browser, registered, katello):
    campaign = registered(
        question="How many clients can register at once?",
        criterion={"conditions": [{"metric": "registration_time", "at_most": 20.0}]},
    )

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence.startswith(f"{katello.name} carries ")
    assert re.search(r"\d clients", answer.sentence)
    assert not re.search(r"\bhosts?\b", all_said(answer))
    page = Page(browser.get(reverse("campaign", args=[campaign.pk])))
    assert answer.sentence in page.text.replace("\N{NO-BREAK SPACE}", " ")
    assert not re.search(r"\d\s+hosts\b", page.text)
