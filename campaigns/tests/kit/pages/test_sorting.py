import pytest
from django.urls import reverse

from campaigns.kit.pages.sorting import Sort
from campaigns.models import Run, Target
from campaigns.tests.measured import finish, launched, store

KEYS = {"name": str.lower}


def test_rows_are_sorted_both_ways_and_those_without_a_value_stand_last():
    lengths = {"a": 2, "b": None, "c": 1, "d": 3}
    keys = {"length": lengths.get}

    assert Sort.parse("length", keys).apply("abcd", keys) == ["c", "a", "d", "b"]
    assert Sort.parse("-length", keys).apply("abcd", keys) == ["d", "a", "c", "b"]


@pytest.mark.parametrize("asked", ["", "-", "nothing", "--name", "-nothing", "\x00"])
def test_a_column_that_there_is_not_leaves_the_order_as_it_is(asked):
    assert Sort.parse(asked, KEYS).apply(["b", "A"], KEYS) == ["b", "A"]


def test_a_second_click_turns_the_order():
    assert Sort.parse("", KEYS).turned("name") == "name"
    assert Sort.parse("name", KEYS).turned("name") == "-name"
    assert Sort.parse("-name", KEYS).turned("name") == "name"


@pytest.mark.django_db
def test_the_headings_of_targets_sort_and_say_so(browser, target):
    team = target.team
    for name in ("zeta", "Alpha"):
        Target.objects.create(
            name=name, family="http", base_url=f"http://{name.lower()}.example", team=team
        )

    page = browser.get(reverse("target-list"), {"sort": "-name"})

    names = [row.target.name for row in page.context["rows"]]
    assert names == sorted(names, key=str.lower, reverse=True)
    text = page.content.decode()
    assert 'aria-sort="descending"><a class="sort" href="?sort=name">target' in text
    assert text.count("aria-sort") == 1


@pytest.fixture
def campaign(target, person):
    """Nine runs in three cells; one of them failed."""
    made = launched(
        target, person, factors={"workers": [1, 2, 4]}, order="interleaved", repetitions=3
    )
    store(made, lambda run: 10.0 + (run.position * 4) % 9)
    Run.objects.filter(campaign=made, position=5).update(state=Run.State.FAILED)
    return finish(made)


def lines(browser, campaign, **query):
    address = reverse("campaign-runs", args=[campaign.pk])
    return browser.get(address, query).context["table"]["lines"]


@pytest.mark.django_db
@pytest.mark.parametrize("column", ["position", "started", "value", "state", "level-1", "change"])
def test_runs_are_sorted_by_every_column_over_all_pages(browser, campaign, column):
    up, down = (lines(browser, campaign, sort=f"{sign}{column}") for sign in ("", "-"))

    key = {
        "position": lambda line: line.row.position,
        "started": lambda line: line.row.started_at,
        "value": lambda line: line.row.measured.value,
        "state": lambda line: line.row.state,
        "level-1": lambda line: line.row.levels["workers"],
        "change": lambda line: float(line.from_mean[:-2].replace("−", "-")),
    }[column]
    known = [line for line in up if column != "change" or line.from_mean != "—"]
    assert [key(line) for line in known] == sorted(key(line) for line in known)
    turned = [line for line in down if column != "change" or line.from_mean != "—"]
    assert [key(line) for line in turned] == sorted((key(each) for each in turned), reverse=True)
    assert len(up) == len(down) == 9


@pytest.mark.django_db
def test_the_order_of_runs_stays_while_they_are_filtered(browser, campaign):
    text = browser.get(
        reverse("campaign-runs", args=[campaign.pk]), {"sort": "-value"}
    ).content.decode()

    assert '<input type="hidden" name="sort" value="-value">' in text
    assert 'aria-sort="descending"><a class="sort" href="?sort=value#runs-panel">' in text
