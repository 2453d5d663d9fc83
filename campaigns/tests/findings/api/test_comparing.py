"""A comparison by REST is that of the page."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def measured(target, owner):
    """Make a finished campaign over numbers of workers; `factor` times as slow as others."""

    def make(name, factor=1.0, levels=(2, 4), **changes):
        shape = {"factors": {"workers": list(levels)}, "order": "interleaved", "repetitions": 4}
        campaign = launched(target, owner, name=name, **(shape | changes))
        store(campaign, lambda run: _seconds(run, factor))
        return finish(campaign)

    return make


def _seconds(run, factor):
    wave = 1 + 0.01 * (run.position % 3)
    return factor * wave * 100 / run.cell.levels_by_factor.get("workers", 1)


def of(*campaigns):
    return {"campaign": [campaign.pk for campaign in campaigns]}


def test_two_campaigns_are_compared_cell_by_cell_and_as_one_number(api, measured):
    before, after = measured("before"), measured("after", 0.8)

    status, body = api.get("compare", **of(before, after))

    assert status == 200
    assert body["sentence"] == "“after” is 20.0 % faster than “before” in both cells."
    assert body["certainty"].startswith("−20.0 % (95 % ")
    assert [each["name"] for each in body["campaigns"]] == ["before", "after"]
    assert (body["metric"], body["unit"]) == ("duration", "s")
    overall = body["candidates"][0]["overall"]
    assert overall["change_percent"] == pytest.approx(-20)
    assert overall["cells"] == 2
    first = body["comparisons"][0]
    assert first["baseline"]["campaign"] == before.pk
    assert first["candidate"]["campaign"] == after.pk
    assert first["candidate"]["position"] == 1
    assert first["candidate"]["levels"] == {"workers": 2}
    assert first["candidate"]["mean"] == pytest.approx(0.8 * first["baseline"]["mean"])
    assert first["verdict"] == "better"
    assert first["standing"] == "one session each"


def test_the_first_is_the_baseline(api, measured):
    slow, fast = measured("slow"), measured("fast", 0.5)

    forth, back = (api.get("compare", **of(*pair))[1] for pair in ((slow, fast), (fast, slow)))

    assert forth["candidates"][0]["overall"]["change_percent"] == pytest.approx(-50)
    assert back["candidates"][0]["overall"]["change_percent"] == pytest.approx(100)
    assert back["comparisons"][0]["verdict"] == "worse"


def test_cells_are_compared_by_campaign_and_position(api, measured):
    one = measured("one")

    status, body = api.get("compare", cell=[f"{one.pk}:1", f"{one.pk}:2"])

    assert status == 200
    assert body["candidates"] == []
    (row,) = body["comparisons"]
    assert [row[side]["levels"] for side in ("baseline", "candidate")] == [
        {"workers": 2},
        {"workers": 4},
    ]


def test_the_csv_is_that_of_the_page(api, owner, measured):
    one, two = measured("one"), measured("two", 0.8)
    browser = Client()
    browser.force_login(owner)

    answer = api.client.get("/api/v1/compare", of(one, two) | {"format": "csv"})
    page = browser.get(reverse("compare-csv"), {"c": [one.pk, two.pk]})

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.content == page.getvalue()
    assert len(list(csv.reader(io.StringIO(answer.content.decode())))) == 3


def test_other_work_is_told_with_both_values(api, measured):
    one, two = measured("one"), measured("two", parameters={"path": "/b"})

    body = api.get("compare", **of(one, two))[1]

    refused = body["candidates"][0]["refused"]
    assert refused == [{"label": "path", "baseline": "/a", "candidate": "/b"}]
    assert body["comparisons"] == []


def test_it_comes_once_more_only_where_it_has_changed(api, measured):
    query = of(measured("one"), measured("two"))

    first = api.client.get("/api/v1/compare", query)
    second = api.client.get("/api/v1/compare", query, headers={"If-None-Match": first["ETag"]})

    assert (first.status_code, second.status_code) == (200, 304)


def test_only_the_fields_that_are_asked_for_are_sent(api, measured):
    query = of(measured("one"), measured("two")) | {"fields": "sentence,data_hash"}

    assert set(api.get("compare", **query)[1]) == {"sentence", "data_hash"}


def test_a_metric_is_chosen_and_one_without_findings_is_refused(api, measured):
    query = of(measured("one"), measured("two"))

    status, problem = api.get("compare", **query, metric="nothing")

    assert status == 400
    assert problem["errors"][0]["field"] == "metric"
    assert "duration" in problem["errors"][0]["message"]
    assert api.get("compare", **query, metric="duration")[0] == 200


def test_what_is_not_finished_is_refused(api, measured, target, owner):
    one, running = measured("one"), launched(target, owner, name="on")

    status, problem = api.get("compare", **of(one, running))

    assert status == 409
    assert "still measured" in problem["detail"]
    Campaign.objects.filter(pk=running.pk).update(state="draft")
    assert "is a draft" in api.get("compare", **of(one, running))[1]["detail"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "campaign"),
        ({"campaign": [1]}, "campaign"),
        ({"campaign": [1, 999]}, "campaign"),
        ({"campaign": [1, 1]}, "campaign"),
        ({"campaign": [1, "x"]}, "campaign.1"),
        ({"campaign": [1, 2], "cell": ["1:1", "1:2"]}, "cell"),
        ({"campaign": range(1, 9)}, "campaign"),
        ({"cell": ["1:1", "1:9"]}, "cell"),
        ({"cell": ["1:1", "2"]}, "cell.1"),
        ({"cell": ["1:1", "1:1"]}, "cell"),
        ({"campaign": [1, 2], "q": "x"}, "q"),
        ({"campaign": [1, 2], "format": "xml"}, "format"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_field(api, measured, query, field):
    """The campaign that is there stands for 1, and those after it for other numbers."""
    before = measured("one").pk - 1

    def there(value):
        key, *cell = str(value).split(":")
        return ":".join([str(int(key) + before), *cell]) if key.isdigit() else value

    status, problem = api.get(
        "compare",
        **{
            name: value if isinstance(value, str) else [there(each) for each in value]
            for name, value in query.items()
        },
    )

    assert status == 400
    assert problem["errors"][0]["field"] == field


def test_what_settings_carry_is_compared_under_the_same_criterion(api, target, owner):
    def carrying(carried, limit=10.0):
        campaign = launched(
            target, owner, factors={"workers": [2, 4, 8, 16]}, order="interleaved", repetitions=3
        )
        campaign.factors.update(role="load")
        criterion = {"conditions": [{"metric": "duration", "at_most": limit}]}
        Campaign.objects.filter(pk=campaign.pk).update(criterion=criterion)
        store(campaign, lambda run: 10 * run.cell.levels_by_factor["workers"] / carried)
        campaign.refresh_from_db()
        return finish(campaign)

    first = carrying(6.0)
    _, same = api.get("compare", **of(first, carrying(9.0)))
    _, stricter = api.get("compare", **of(first, carrying(9.0, 20.0)))
    (row,), (other,) = same["capacities"], stricter["capacities"]
    assert (row["verdict"], row["load"], row["bounds_only"]) == ("better", "workers", True)
    assert (row["ratio"], row["low"], row["about"]) == (None, 1.0, pytest.approx(1.5))
    candidate = row["candidate"]
    assert (candidate["low"], candidate["high"], candidate["estimate"]) == (8, 16, None)
    assert row["standing"] == "one session each"
    assert (other["verdict"], other["ratio"]) == ("not_comparable", None)
    assert [(each["baseline"], each["candidate"]) for each in other["refused"]] == [
        ("10 s", "20 s")
    ]
