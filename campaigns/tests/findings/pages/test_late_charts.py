import json

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.charts import sampling
from campaigns.findings.pages import panels, tables
from campaigns.models import Attempt, Measurement, Run
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(target, person, monkeypatch):
    """A campaign that counts as one of many runs."""
    monkeypatch.setattr(panels, "MOST_RUNS", 11)
    campaign = launched(
        target, person, factors={"workers": [1, 2, 4]}, order="interleaved", repetitions=4
    )
    store(campaign, lambda run: 10.0 + run.position)
    return finish(campaign)


def page(browser, campaign, **query):
    return browser.get(reverse("campaign", args=[campaign.pk]), query)


def chart(browser, campaign, name, **query):
    return browser.get(reverse("campaign-chart", args=[campaign.pk, name]), query)


def figure_in(response, name):
    text = response.content.decode()
    content = text.split(f'<script id="{name}-figure" type="application/json">')[1]
    return json.loads(content.split("</script>")[0])


def test_a_page_of_many_runs_names_its_charts_and_holds_none_of_their_points(browser, many):
    response = page(browser, many)

    text = response.content.decode()
    assert f'data-late="{reverse("campaign-chart", args=[many.pk, "curve"])}"' in text
    assert f'data-late="{reverse("campaign-chart", args=[many.pk, "drift"])}"' in text
    assert "Duration by workers" in text
    assert 'id="curve-figure"' not in text
    assert 'id="drift-figure"' not in text


def test_a_page_of_few_runs_has_its_charts_with_it(browser, many, monkeypatch):
    monkeypatch.setattr(panels, "MOST_RUNS", 12)

    text = page(browser, many).content.decode()

    assert "data-late" not in text
    assert 'id="curve-figure"' in text
    assert 'id="drift-figure"' in text


def test_the_chart_of_every_run_comes_by_itself_with_its_legend(browser, many):
    response = chart(browser, many, "curve")

    runs = [
        position
        for trace in figure_in(response, "curve")["data"]
        for position in trace.get("customdata", ())
    ]
    assert sorted(runs) == list(range(1, 13))
    assert "one run, offset left for legibility" in response.content.decode()


def test_the_chart_is_that_of_the_address(browser, many):
    text = page(browser, many, metric="duration", x="workers").content.decode()

    assert "charts/curve/?metric=duration&amp;x=workers" in text


def test_a_panel_comes_with_its_help_and_its_numbers(browser, many):
    text = chart(browser, many, "drift", metric="duration").content.decode()

    assert "How to read this" in text
    assert "charts/drift.csv?metric=duration" in text
    assert 'id="drift-figure"' in text


def test_a_panel_that_the_address_opens_comes_with_the_page(browser, many):
    text = page(browser, many, open="drift").content.decode()

    assert 'id="drift-figure"' in text


def test_a_chart_that_did_not_change_is_not_made_again(browser, many):
    first = chart(browser, many, "curve")

    again = browser.get(
        reverse("campaign-chart", args=[many.pk, "curve"]), headers={"If-None-Match": first["ETag"]}
    )

    assert first["Cache-Control"] == "private, no-cache"
    assert again.status_code == 304


def test_a_chart_that_there_is_not_is_not_found(browser, many):
    assert chart(browser, many, "nonsense").status_code == 404


def test_what_a_person_wrote_stays_text_in_a_figure(browser, target, person):
    campaign = launched(
        target, person, factors={"path": ["</script><script>alert(1)", "b & c"]}, repetitions=2,
        order="interleaved", parameters={},
    )  # fmt: skip
    store(campaign, lambda run: 10.0)

    response = page(browser, finish(campaign))

    assert "<script>alert" not in response.content.decode()
    ticks = figure_in(response, "curve")["layout"]["xaxis"]["ticktext"]
    assert ticks[0].startswith("&lt;/script&gt;")


def test_a_page_of_many_cells_has_none_of_their_charts_either(browser, many, monkeypatch):
    monkeypatch.setattr(panels, "MOST_RUNS", 12)
    monkeypatch.setattr(panels, "MOST_CELLS", 2)

    text = page(browser, many).content.decode()

    assert "data-late" in text
    assert 'id="curve-figure"' not in text


def test_the_table_of_cells_is_the_same_without_their_runs_at_hand(browser, many, monkeypatch):
    Run.objects.filter(campaign=many, position=4).update(state=Run.State.VOID)
    Attempt.objects.filter(run__campaign=many, run__position=5).update(units_failed=1, units_done=9)
    Measurement.objects.filter(attempt__run__campaign=many, attempt__run__position=6).update(
        bound=True
    )
    compute.analyse(many)

    brief = page(browser, many).context
    monkeypatch.setattr(panels, "MOST_RUNS", 12)
    whole = page(browser, many).context

    assert brief["findings"].cells is None
    assert brief["cells"] == whole["cells"]
    assert {note for line in brief["cells"].lines for note in line.notes} >= {"1 bound", "1 lost"}


@pytest.fixture
def groups(target, person, monkeypatch):
    """A campaign that counts as one of many runs, with three groups of levels."""
    monkeypatch.setattr(panels, "MOST_RUNS", 11)
    factors = {"workers": [1, 2, 4], "path": ["a", "b", "c"]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=3)
    store(campaign, lambda run: 10.0 + run.position % 5)
    return finish(campaign)


def test_folded_tables_of_levels_come_when_they_are_unfolded(browser, groups, monkeypatch):
    late = page(browser, groups).content.decode()
    part = chart(browser, groups, "levels-2").content.decode()
    monkeypatch.setattr(panels, "MOST_RUNS", 100)
    whole = page(browser, groups).content.decode()

    address = reverse("campaign-chart", args=[groups.pk, "levels-2"])
    assert f'data-late="{address}"' in late
    assert "Table of comparisons" not in late
    assert part.count("Table of comparisons") == 1
    assert "path b" in part
    assert whole.count("Table of comparisons") == 3


def test_without_javascript_a_link_unfolds_a_table_of_levels(browser, groups):
    folded = page(browser, groups).content.decode()
    opened = page(browser, groups, open="levels-2").content.decode()

    assert 'href="?open=levels-2#panel-levels-2"' in folded.partition("<noscript>")[2]
    assert opened.count("Table of comparisons") == 1
    assert 'data-panel="levels-2" open' in " ".join(opened.split())


@pytest.mark.parametrize("name", ["levels-0", "levels-4", "levels-x", "levels-"])
def test_a_table_of_levels_that_there_is_not_is_not_found(browser, groups, name):
    assert chart(browser, groups, name).status_code == 404


def test_cells_have_pages_that_keep_the_rest_of_the_address(browser, many, monkeypatch):
    monkeypatch.setattr(tables, "CELLS_A_PAGE", 2)

    first = page(browser, many, metric="duration").content.decode()
    last = page(browser, many, metric="duration", cells="2")

    assert 'rel="last" href="?metric=duration&amp;cells=2#h-cells">Last</a>' in first
    assert "1 to 2 of 3" in first
    assert [line.number for line in last.context["cells"].lines] == [3]
    assert "on=cell&amp;key=3" in last.content.decode()


@pytest.mark.parametrize("asked", ["0", "-1", "99", "x", "\x00"])
def test_a_page_of_cells_that_there_is_not_is_one_that_there_is(browser, many, monkeypatch, asked):
    monkeypatch.setattr(tables, "CELLS_A_PAGE", 2)

    response = page(browser, many, cells=asked)

    assert response.status_code == 200
    assert response.context["cells"].lines


def test_a_legend_names_its_chart_and_what_its_entries_hide(browser, many):
    text = chart(browser, many, "curve").content.decode()

    assert '<ul class="key" aria-label="Legend" data-key="curve">' in text
    assert 'data-group-of="runs"' in text
    assert 'data-chart="curve" data-unzoom hidden' in text


def test_a_chart_that_leaves_runs_out_says_so(browser, many, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_DRAWN", 11)
    monkeypatch.setattr(sampling, "FEWEST_OF_MANY", 4)
    monkeypatch.setattr(sampling, "MOST_OF_GROUP", 3)

    text = chart(browser, many, "curve").content.decode()

    assert "9 of 12 runs are drawn: up to 3 of each cell with 4 or more" in text
