"""Between the browser's fields and what `check` takes; no database but for targets."""

import pytest
from django.http import QueryDict

from campaigns.kit.charts.labels import as_text
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.planning.pages import forms
from campaigns.planning.pages.plans import plan_view
from campaigns.tests.people import everywhere
from campaigns.tests.toy import definition


def post(**fields):
    """A form of the kind `toy` as a browser sends it; lists make several fields of one name."""
    sent = QueryDict(mutable=True)
    for name, value in ({"kind": "toy", "p-path": "/a"} | fields).items():
        sent.setlist(name, value if isinstance(value, list) else [value])
    return forms.read(sent, frozenset())


def test_single_values_and_levels_find_their_places(toy):
    sent = {
        "p-workers": "8",
        "vary-engine": "on",
        "levels-engine": ["new", "old"],
        "vary-path": "on",
        "levels-path": "/a,b\r\n\r\n/c \r\n",
        "levels-workers": "1\r\n2",
    }

    data, errors = forms.as_definition(post(**sent))

    assert not errors
    assert data["factors"] == {"engine": ["new", "old"], "path": ["/a,b", "/c"]}
    assert data["parameters"]["workers"] == "8"
    assert "path" not in data["parameters"]


@pytest.mark.parametrize("text", ["5 10 20", "5, 10,20", "5\r\n10\r\n20", " 5;10 ; 20 \n"])
def test_numbers_may_stand_on_one_line(toy, text):
    entered = post(**{"vary-workers": "on", "levels-workers": text})

    assert forms.as_definition(entered)[0]["factors"] == {"workers": ["5", "10", "20"]}


def test_a_box_without_its_tick_is_false(toy):
    without, _ = forms.as_definition(post())
    ticked, _ = forms.as_definition(post(**{"p-careful": "on"}))

    assert without["parameters"]["careful"] is False
    assert ticked["parameters"]["careful"] is True


def test_excluded_combinations_are_read_line_by_line(toy):
    entered = post(excluded="engine=old, workers=100\n\n path = /a,b ")

    data, errors = forms.as_definition(entered)

    assert not errors
    assert data["excluded"] == [{"engine": "old", "workers": 100}, {"path": "/a,b"}]


@pytest.mark.parametrize("line", ["engine", "=old", "engine=old, workers", "{}", "\x00"])
def test_a_line_that_is_no_combination_is_named_by_its_number(toy, line):
    data, errors = forms.as_definition(post(excluded=f"engine=new\n{line}"))

    if line == "engine=old, workers":
        assert data["excluded"] == [{"engine": "new"}, {"engine": "old, workers"}]
    else:
        assert errors["excluded"][0].startswith("Line 2 is no combination; ")


def test_a_number_is_the_same_however_it_is_written(toy):
    entered = post(
        **{
            "vary-slow": "on",
            "levels-slow": "1 2.0",
            "excluded": "slow=2",
            "order": "paired",
            "paired_factor": "slow",
            "baseline": "1.00",
        }
    )

    data, _ = forms.as_definition(entered)

    assert data["excluded"] == [{"slow": 2.0}]
    assert data["baseline"] == "1.0"


def test_what_the_kind_does_not_know_is_left_aside(toy):
    data, _ = forms.as_definition(post(**{"p-nonsense": "1", "vary-nonsense": "on", "a[b]": "c"}))

    assert set(data["parameters"]) == {"engine", "workers", "slow", "careful", "note", "path"}
    assert "a[b]" not in data


@pytest.mark.django_db
def test_a_stored_definition_comes_back_as_it_was(target):
    sent = definition(
        target=target.pk,
        order="interleaved",
        factors={"engine": ["new", "old"], "slow": [0.5, 2.0], "path": ["/a,b", "c d"]},
        parameters={"careful": True},
        excluded=[{"engine": "old", "slow": 2.0}],
        tags=["x", "y"],
        seed=7,
    )
    stored = storage.definition_of(drafts.create(check(sent), None))

    data, errors = forms.as_definition(forms.from_definition(stored, everywhere().see))

    assert not errors
    assert storage.definition_of(drafts.create(check(data), None)) == stored


@pytest.mark.django_db
def test_another_kind_keeps_the_question_and_asks_for_its_own_parameters(target):
    entered = forms.with_kind(post(kind="downloader", question="Why?", primary_metric="rate"))

    assert entered.values["question"] == "Why?"
    assert entered.values["primary_metric"] == "duration"
    assert entered.parameters["concurrency"] == "10"


@pytest.mark.django_db
def test_a_new_form_has_a_seed_a_target_and_initial_values(target):
    entered = forms.blank("toy", everywhere().see)

    assert entered.values["target"] == str(target.pk)
    assert entered.values["repetitions"] == "3"
    assert entered.parameters["workers"] == "4"
    assert int(entered.values["seed"]) > 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (5.0, "5"), (0.5, "0.5"), (True, "True"), (["a", "b"], "a, b"), (1e300, "1e+300")],
)
def test_values_are_written_as_one_types_them(value, text):
    assert as_text(value) == text


def view(**changes):
    from campaigns.planning.preview import preview

    checked = check(definition(**changes))
    return plan_view(checked, preview(checked))


@pytest.mark.django_db
def test_pairs_are_drawn_with_their_stratum(target):
    plan = view(
        target=target.pk,
        paired_factor="engine",
        factors={"engine": ["new", "old"], "workers": [1, 2]},
    )

    assert (plan.cells, plan.repetitions, plan.runs, len(plan.rows)) == (4, 3, 12, 6)
    assert {row.title for row in plan.rows} == {"workers 1", "workers 2"}
    assert all({tile.text for tile in row.tiles} == {"new", "old"} for row in plan.rows)


@pytest.mark.django_db
def test_long_levels_are_shortened_in_the_plan(target):
    names = [f"a/very/long/common/beginning/of/{name}/rest" for name in ("one", "two")]
    plan = view(
        target=target.pk,
        paired_factor="engine",
        factors={"engine": ["new", "old"], "path": names},
    )

    assert {row.short for row in plan.rows} == {"one", "two"}
    assert {row.title for row in plan.rows} == {f"path {name}" for name in names}


@pytest.mark.django_db
def test_a_higher_level_has_a_stronger_shade(target):
    plan = view(
        target=target.pk, order="interleaved", factors={"workers": [20, 5, 10]}, repetitions=1
    )

    assert {tile.text: tile.shade for tile in plan.rows[0].tiles} == {
        "5": "l1",
        "10": "l3",
        "20": "l6",
    }


@pytest.mark.django_db
@pytest.mark.parametrize("order", ["interleaved", "random", "blocked"])
def test_a_large_plan_is_drawn_in_part_and_says_so(target, order):
    plan = view(
        target=target.pk,
        order=order,
        factors={"workers": list(range(1, 41)), "engine": ["new", "old"]},
        repetitions=10,
        warm_ups=2,
    )

    drawn = sum(len(row.tiles) for row in plan.rows)
    assert plan.runs == 800
    assert drawn <= 8 * 12
    assert plan.more_rows > 0
    assert plan.rows[0].label == "warm-up"
    assert plan.legend[0].title == "workers 1, engine new"


@pytest.mark.django_db
def test_one_cell_makes_a_plan_too(target):
    plan = view(target=target.pk, order="interleaved", factors={})

    assert (plan.cells, plan.runs) == (1, 3)
    assert plan.rows[0].tiles[0].title == "the only cell"


def test_a_pairing_that_another_order_hides_is_not_sent(toy):
    entered = post(order="random", paired_factor="engine", baseline="old")

    data, _ = forms.as_definition(entered)

    assert (data["paired_factor"], data["baseline"]) == ("", "")
