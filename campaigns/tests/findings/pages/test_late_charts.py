import json

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.findings.charts import sampling
from campaigns.findings.pages import result, tables, view
from campaigns.findings.pages.view import TOGETHER
from campaigns.kit.charts import svg
from campaigns.models import Attempt, Measurement, Run, Thread
from campaigns.reviews.comments.places import place_on
from campaigns.reviews.comments.threads import begin
from campaigns.tests.measured import finish, launched, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(target, person, monkeypatch):
    """A campaign that counts as one of many runs."""
    monkeypatch.setattr(view, "MOST_RUNS", 11)
    campaign = launched(
        target, person, factors={"workers": [1, 2, 4]}, order="interleaved", repetitions=4
    )
    store(campaign, lambda run: 10.0 + run.position)
    return finish(campaign)


def page(browser, campaign, **query):
    return browser.get(reverse("campaign-print", args=[campaign.pk]), query)


def chart(browser, campaign, name, **query):
    return browser.get(reverse("campaign-chart", args=[campaign.pk, name]), query)


def figure_in(response, name):
    text = response.content.decode()
    content = text.split(f'<script id="{name}-figure" type="application/json">')[1]
    return json.loads(content.split("</script>")[0])


def drawing_in(response):
    text = response.content.decode()
    return text.partition('<div class="drawing">')[2].partition("<script")[0]


def figures(browser, campaign, **query):
    return browser.get(reverse("campaign-figures", args=[campaign.pk]), query)


@pytest.fixture
def unaccepted(many):
    """Runs of every state that is drawn, and one that is not."""
    runs = {run.position: run for run in many.runs.all()}
    Run.objects.filter(pk=runs[4].pk).update(state=Run.State.VOID)
    Run.objects.filter(pk=runs[2].pk).update(state=Run.State.FAILED)
    measured = Measurement.objects.filter(attempt__run__campaign=many)
    measured.filter(attempt__run=runs[6]).update(bound=True)
    measured.filter(attempt__run=runs[7]).update(censored=True)
    many.runs.get(position=9).exclusions.create(reason="A backup ran.")
    compute.analyse(many)
    return many


def test_a_page_of_many_runs_has_the_drawing_of_its_chart_and_none_of_their_points(
    browser, unaccepted
):
    response = page(browser, unaccepted)
    alone = chart(browser, unaccepted, "curve")

    text = response.content.decode()
    assert response.context["findings"].cells is None
    assert drawing_in(response) == drawing_in(alone) != ""
    assert response.context["plot"].key == alone.context["plot"].key
    address = reverse("campaign-figures", args=[unaccepted.pk])
    assert f'id="curve-figure" type="application/json" data-source="{address}"></script>' in text
    assert f'data-late="{reverse("campaign-chart", args=[unaccepted.pk, "drift"])}"' in text
    assert 'id="drift-figure"' not in text


def test_the_figure_of_a_drawing_comes_beside_its_page(browser, unaccepted):
    response = figures(browser, unaccepted)

    assert response.json() == {
        "curve-figure": figure_in(chart(browser, unaccepted, "curve"), "curve")
    }
    again = browser.get(
        reverse("campaign-figures", args=[unaccepted.pk]),
        headers={"If-None-Match": response["ETag"]},
    )
    assert again.status_code == 304


def test_small_charts_share_one_answer(browser, groups):
    query = {"colour": TOGETHER, "by": "path"}
    text = page(browser, groups, **query).content.decode()

    address = reverse("campaign-figures", args=[groups.pk])
    assert text.count(f'data-source="{address}?colour={TOGETHER}&amp;by=path"') == 3
    assert sorted(figures(browser, groups, **query).json()) == [
        f"curve-{number}-figure" for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("lacking", ["drawing", "others"])
def test_a_chart_without_a_drawing_comes_by_itself(browser, many, monkeypatch, lacking):
    if lacking == "drawing":
        monkeypatch.setattr(svg, "MOST_MARKS", 11)
    else:  # as an earlier version stored it
        for finding in many.findings.filter(name__startswith="brief:"):
            for cell in finding.result["cells"]:
                del cell["others"]
            finding.save()

    text = page(browser, many).content.decode()

    assert f'data-late="{reverse("campaign-chart", args=[many.pk, "curve"])}"' in text
    assert "Duration by workers" in text
    assert 'id="curve-figure"' not in text


def test_many_cells_and_statements_come_after_the_page(browser, groups, monkeypatch):
    monkeypatch.setattr(result, "MOST_CELLS_AT_ONCE", 8)
    monkeypatch.setattr(result, "MOST_STATEMENTS", 2)

    text = page(browser, groups, metric="duration").content.decode()
    cells = chart(browser, groups, "cells", metric="duration")
    statements = chart(browser, groups, "statements").content.decode()
    whole = page(browser, groups, metric="duration", cells="1", open="statements")

    address = reverse("campaign-chart", args=[groups.pk, "cells"])
    assert f'data-late="{address}?metric=duration" data-late-whole' in text
    assert "Table of cells" not in text
    assert 'href="?metric=duration&amp;cells=1#h-cells"' in text
    assert 'href="?metric=duration&amp;open=statements"' in text
    assert "Table of cells" in cells.content.decode()
    assert statements.count("<li>") > 2
    assert statements.partition("<ul>")[2] not in text
    assert statements.partition("<ul>")[2] in whole.content.decode()
    assert "Table of cells" in whole.content.decode()


def test_a_table_of_cells_is_sent_again_once_a_thread_is_begun(browser, groups, person):
    known = chart(browser, groups, "cells")["ETag"]
    begin(place_on(groups, Thread.On.CELL, "1"), "Why?", person)

    address = reverse("campaign-chart", args=[groups.pk, "cells"])
    again = browser.get(address, headers={"If-None-Match": known})

    assert again.status_code == 200
    assert "open thread" in again.content.decode()


def test_a_page_of_few_runs_has_its_charts_with_it(browser, many, monkeypatch):
    monkeypatch.setattr(view, "MOST_RUNS", 12)

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

    assert "charts/curve.json?metric=duration&amp;x=workers" in text


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
    monkeypatch.setattr(view, "MOST_RUNS", 12)
    monkeypatch.setattr(view, "MOST_CELLS", 2)

    text = page(browser, many).content.decode()

    assert "data-late" in text
    assert 'id="curve-figure" type="application/json" data-source' in text


def test_the_table_of_cells_is_the_same_without_their_runs_at_hand(browser, many, monkeypatch):
    Run.objects.filter(campaign=many, position=4).update(state=Run.State.VOID)
    Attempt.objects.filter(run__campaign=many, run__position=5).update(units_failed=1, units_done=9)
    Measurement.objects.filter(attempt__run__campaign=many, attempt__run__position=6).update(
        bound=True
    )
    compute.analyse(many)

    brief = page(browser, many).context
    monkeypatch.setattr(view, "MOST_RUNS", 12)
    whole = page(browser, many).context

    assert brief["findings"].cells is None
    assert brief["cells"] == whole["cells"]
    assert {note for line in brief["cells"].lines for note in line.notes} >= {"1 bound", "1 lost"}


@pytest.fixture
def groups(target, person, monkeypatch):
    """A campaign that counts as one of many runs, with three groups of levels."""
    monkeypatch.setattr(view, "MOST_RUNS", 11)
    factors = {"workers": [1, 2, 4], "path": ["a", "b", "c"]}
    campaign = launched(target, person, factors=factors, order="interleaved", repetitions=3)
    store(campaign, lambda run: 10.0 + run.position % 5)
    return finish(campaign)


def test_folded_tables_of_levels_come_when_they_are_unfolded(browser, groups, monkeypatch):
    late = page(browser, groups).content.decode()
    part = chart(browser, groups, "levels-2").content.decode()
    monkeypatch.setattr(view, "MOST_RUNS", 100)
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
