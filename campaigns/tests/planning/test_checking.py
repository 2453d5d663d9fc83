import math
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

import pytest
from django import forms
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit import processor_time
from campaigns.kit.errors import Invalid
from campaigns.models import Target
from campaigns.planning import checking, drafts
from campaigns.planning.checking import check
from campaigns.planning.definition import Definition
from campaigns.planning.kind_fields import MOST_MESSAGES
from campaigns.planning.preview import preview
from campaigns.tests.toy import ToyForm, definition

pytestmark = pytest.mark.django_db


@pytest.fixture
def errors_of(target):
    def errors_of(**changes):
        with pytest.raises(Invalid) as caught:
            check(definition(target=target.pk) | changes)
        return caught.value.errors

    return errors_of


def test_a_definition_is_read_with_defaults_filled_in(target):
    found = check(definition(target=target.pk))

    assert found.campaign.name == "Is the new engine faster?"
    assert found.factors == {"engine": ("new", "old")}
    assert found.campaign.parameters == {
        "workers": 4,
        "slow": 0.0,
        "careful": False,
        "note": "",
        "path": "/a",
    }
    assert (found.campaign.paired_factor, found.campaign.baseline) == ("engine", "new")
    assert (found.campaign.smallest_effect, found.campaign.margin) == (0.05, 0.02)
    assert found.campaign.run_limit_seconds == 3600
    assert found.campaign.time_budget_seconds is None
    assert (found.campaign.max_failed_share, found.campaign.max_consecutive_failures) == (0.5, 5)
    assert found.campaign.primary_metric == "duration"


@pytest.mark.parametrize("given", ["toy server", "{pk}"])
def test_a_target_is_found_by_its_name_and_by_its_key_as_text(target, given):
    assert check(definition(target=given.format(pk=target.pk))).campaign.target == target


def test_a_target_that_was_retired_or_never_was_is_not_found_by_name(target, errors_of):
    unknown = errors_of(target="toy")
    Target.objects.update(retired_at=Now())

    assert unknown == {"target": ["There is no target 'toy'."]}
    assert errors_of(target="toy server") == {"target": ["There is no target 'toy server'."]}


def test_levels_are_read_by_the_parameters_own_field(target):
    found = check(
        definition(target=target.pk, factors={"workers": ["5", 10, " 20 "]}, order="interleaved")
    )

    assert found.factors == {"workers": (5, 10, 20)}


def test_a_seed_is_drawn_where_none_is_given(target):
    drawn = {check(definition(target=target.pk)).campaign.seed for _ in range(5)}

    assert len(drawn) > 1
    assert check(definition(target=target.pk, seed=0)).campaign.seed == 0


def test_the_only_factor_of_two_levels_is_the_paired_one(target):
    found = check(
        definition(target=target.pk, factors={"engine": ["new", "old"], "workers": [1, 2, 3]})
    )

    assert found.campaign.paired_factor == "engine"


def test_a_baseline_is_compared_as_text_and_kept_as_a_level(target):
    found = check(
        definition(
            target=target.pk,
            factors={"workers": [1, 2]},
            paired_factor="workers",
            baseline="2",
        )
    )

    assert found.campaign.baseline == 2


@pytest.mark.parametrize("field", [forms.FloatField, forms.DecimalField])
@pytest.mark.parametrize(
    ("levels", "baseline"), [([2.5, 5.0], "5"), (["5.00", "1e0"], 5), (["0.50", "1"], ".5")]
)
def test_levels_are_the_same_where_the_parameter_says_so(
    target, monkeypatch, field, levels, baseline
):
    monkeypatch.setitem(ToyForm.base_fields, "slow", field())

    found = check(definition(target=target.pk, factors={"slow": levels}, baseline=baseline))

    assert found.campaign.baseline == float(baseline)
    assert found.campaign.baseline in found.factors["slow"]


def test_a_parameter_that_is_no_plain_value_is_refused(errors_of, monkeypatch):
    monkeypatch.setitem(ToyForm.base_fields, "note", forms.DateField(required=False))

    errors = errors_of(parameters={"path": "/a", "note": "2026-01-01"})

    assert "This is a date" in errors["parameters.note"][0]


def test_an_excluded_level_is_read_by_the_parameters_own_field(target):
    found = check(
        definition(
            target=target.pk,
            order="random",
            factors={"slow": [2.5, 5.0], "engine": ["new", "old"]},
            excluded=[{"engine": "old", "slow": "5"}],
        )
    )

    assert found.campaign.excluded == [{"engine": "old", "slow": 5.0}]


def test_a_long_level_can_be_the_baseline(target):
    long = "/" + 900 * "x"

    found = check(
        definition(
            target=target.pk, factors={"path": ["/a", long]}, paired_factor="path", baseline=long
        )
    )

    assert found.campaign.baseline == long


def test_a_long_question_gives_a_short_name(target):
    found = check(definition(target=target.pk, question="word " * 90))

    assert len(found.campaign.name) <= 80
    assert found.campaign.name.endswith("word…")


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"kind": "sorcery"}, "kind", "There is no kind “sorcery”"),
        ({"kind": None}, "kind", "There is no kind"),
        ({"kind": ["toy"]}, "kind", ""),
        ({"target": ""}, "target", "Choose the server"),
        ({"target": None}, "target", "Choose the server"),
        ({"target": 10**30}, "target", "There is no target"),
        ({"target": "1; drop"}, "target", "There is no target"),
        ({"target": [1]}, "target", "name or the number"),
        ({"target": {"pk": 1}}, "target", "name or the number"),
        ({"target": True}, "target", "name or the number"),
        ({"target": math.nan}, "target", "name or the number"),
        ({"target": math.inf}, "target", "name or the number"),
        ({"question": ""}, "question", "required"),
        ({"question": "   "}, "question", "required"),
        ({"question": "q" * 501}, "question", "at most 500"),
        ({"question": "a\x00b"}, "question", "U+0000"),
        ({"question": "a\u202eb"}, "question", "U+202E"),
        ({"question": ["a"]}, "question", "one value"),
        ({"question": {"a": 1}}, "question", "one value"),
        ({"name": "n" * 10_000}, "name", "at most 120"),
        ({"name": "\x1b[31m"}, "name", "U+001B"),
        ({"tags": "t" * 41}, "tags", "40 characters"),
        ({"tags": [["a"]]}, "tags", ""),
        ({"tags": {"a": 1}}, "tags", ""),
        ({"tags": "x\x07"}, "tags", "U+0007"),
        ({"order": "sorted"}, "order", "sorted"),
        ({"order": ["paired"]}, "order", ""),
        ({"repetitions": 0}, "repetitions", "greater than or equal to 1"),
        ({"repetitions": -1}, "repetitions", "greater than or equal to 1"),
        ({"repetitions": 201}, "repetitions", "less than or equal to 200"),
        ({"repetitions": "three"}, "repetitions", "whole number"),
        ({"repetitions": 1.5}, "repetitions", "whole number"),
        ({"repetitions": True}, "repetitions", "not true or false"),
        ({"repetitions": math.nan}, "repetitions", "whole number"),
        ({"repetitions": 2**63}, "repetitions", "less"),
        ({"repetitions": [3]}, "repetitions", ""),
        ({"warm_ups": -1}, "warm_ups", "greater"),
        ({"warm_ups": 101}, "warm_ups", "less"),
        ({"pool": "control"}, "pool", "do not measure"),
        ({"pool": "analysis"}, "pool", "do not measure"),
        ({"pool": "near, far"}, "pool", "Name one pool"),
        ({"pool": "Near it"}, "pool", "no name of a pool"),
        ({"cool_down_seconds": -0.1}, "cool_down_seconds", "greater"),
        ({"cool_down_seconds": math.inf}, "cool_down_seconds", "number"),
        ({"cool_down_seconds": "NaN"}, "cool_down_seconds", "number"),
        ({"run_limit_seconds": 0}, "run_limit_seconds", "greater"),
        ({"run_limit_seconds": 86401}, "run_limit_seconds", "less"),
        ({"time_budget_seconds": 0}, "time_budget_seconds", "greater"),
        ({"time_budget_seconds": "soon"}, "time_budget_seconds", "no span of time"),
        ({"time_budget_seconds": "400 d"}, "time_budget_seconds", "less"),
        ({"max_failed_percent": 0}, "max_failed_percent", "greater"),
        ({"max_failed_percent": 101}, "max_failed_percent", "less"),
        ({"max_consecutive_failures": 0}, "max_consecutive_failures", "greater"),
        ({"seed": -1}, "seed", "greater"),
        ({"seed": 2**60}, "seed", "less"),
        ({"smallest_effect_percent": 0}, "smallest_effect_percent", "greater"),
        ({"margin_percent": 10}, "margin_percent", "at most as wide"),
        ({"stop_rule": "never"}, "stop_rule", "never"),
        ({"primary_metric": "beauty"}, "primary_metric", "there are duration, rate"),
        ({"primary_metric": {"a": 1}}, "primary_metric", "name of a metric"),
        ({"primary_metric": ["duration"]}, "primary_metric", "name of a metric"),
        ({"colour": "red"}, "colour", "There is no field “colour”"),
        ({"parameters": []}, "parameters.path", "required"),
        ({"parameters": [1]}, "parameters", "by name"),
        ({"parameters": "x"}, "parameters", "by name"),
        ({"parameters": {}}, "parameters.path", "required"),
        ({"parameters": {"path": "/a", "speed": 1}}, "parameters.speed", "no parameter “speed”"),
        ({"parameters": {"path": "/a", "workers": 0}}, "parameters.workers", "greater"),
        ({"parameters": {"path": ["/a"]}}, "parameters.path", "one value"),
        ({"parameters": {"path": {"a": 1}}}, "parameters.path", "one value"),
        ({"parameters": {"path": "a\x00"}}, "parameters.path", "Null characters"),
        ({"parameters": {"path": "/a", "workers": math.inf}}, "parameters.workers", "whole"),
        ({"parameters": {"path": "/a", "slow": math.nan}}, "parameters.slow", "number"),
        ({"parameters": {"path": "/a", "slow": 6}}, "parameters.slow", "be careful"),
        ({"factors": [1]}, "factors", "levels of each factor"),
        ({"factors": "engine"}, "factors", "levels of each factor"),
        ({"factors": {"careful": [True, False]}}, "factors.careful", "cannot vary"),
        ({"factors": {"x\x00": [1]}}, "factors.x\x00", "cannot vary"),
        ({"factors": {"engine": []}}, "factors.engine", "at least one level"),
        ({"factors": {"engine": "new"}}, "factors.engine", "list of levels"),
        ({"factors": {"engine": ["new", "new"]}}, "factors.engine", "there twice"),
        ({"factors": {"workers": ["5", 5]}}, "factors.workers", "there twice"),
        ({"factors": {"workers": ["five", "6"]}}, "factors.workers", "“five”"),
        ({"factors": {"workers": [[1], 2]}}, "factors.workers", "“[1]”: Give one value"),
        ({"factors": {"workers": [None, 2]}}, "factors.workers", ""),
        ({"factors": {"path": ["\x00", "/a"]}}, "factors.path", "Null"),
        ({"factors": {"workers": list(range(1, 502))}}, "factors.workers", "at most 500"),
        ({"factors": {"path": ["x" * 2001, "/a"]}}, "factors.path", "2,001 bytes"),
        ({"factors": {"path": ["\ud800", "/a"]}}, "factors.path", "U+D800"),
        ({"factors": {"path": ["\x1b[1m", "/a"]}}, "factors.path", "U+001B"),
        ({"parameters": {"path": "/\udfff"}}, "parameters.path", "U+DFFF"),
        ({"question": "a\ud800"}, "question", "U+D800"),
        ({"paired_factor": "workers"}, "paired_factor", "“workers” has 0 levels"),
        ({"baseline": "ancient"}, "baseline", "is not one of new and old"),
        ({"excluded": "x"}, "excluded", "combinations"),
        ({"excluded": [1]}, "excluded", "combinations"),
        ({"excluded": [{"engine": "bad"}]}, "excluded", "is not a level"),
        ({"excluded": [{"workers": 4}]}, "excluded", "does not vary"),
        ({"excluded": [{"engine": "new"}]}, "excluded", "leaves one alone"),
        ({"excluded": [{"engine": "new"}, {"engine": "old"}]}, "excluded", "leave at least one"),
        ({"excluded": [{}]}, "excluded", "names no level"),
        ({"excluded": [{"engine": "new"}] * 501}, "excluded", "at most 500"),
    ],
)
def test_nonsense_is_named_at_its_place(errors_of, changes, path, words):
    errors = errors_of(**changes)

    assert path in errors
    assert words in " ".join(errors[path])


@pytest.mark.parametrize("field", ["paired_factor", "baseline"])
def test_a_pairing_is_refused_where_the_order_pairs_nothing(errors_of, field):
    errors = errors_of(order="random", **{field: "engine"})

    assert list(errors) == [field]
    assert "Only the order “paired” knows it; this one is “random”" in errors[field][0]


def test_limits_are_read(target):
    limits = {
        "time_budget_seconds": "8 h",
        "max_failed_percent": "12.5",
        "max_consecutive_failures": "3",
    }

    found = check(definition(target=target.pk) | limits)

    assert found.campaign.time_budget_seconds == 28_800
    assert (found.campaign.max_failed_share, found.campaign.max_consecutive_failures) == (0.125, 3)


def test_two_candidates_for_the_paired_factor_are_both_named(errors_of):
    errors = errors_of(factors={"engine": ["new", "old"], "workers": [1, 2]})

    assert "engine or workers" in errors["paired_factor"][0]


def test_a_bad_level_brings_no_further_message_about_pairs(errors_of):
    errors = errors_of(factors={"engine": ["new", "bad"]})

    assert list(errors) == ["factors.engine"]


def test_ten_thousand_cells_are_refused_without_being_made(errors_of):
    paths = [f"/{number}" for number in range(100)]

    errors = errors_of(order="random", factors={"workers": list(range(1, 101)), "path": paths})

    assert "10,000 cells" in errors["factors"][0]


def test_too_many_runs_are_refused_at_the_repetitions(errors_of):
    errors = errors_of(order="random", repetitions=200, factors={"workers": list(range(1, 101))})

    assert "20,000 runs" in errors["repetitions"][0]


def test_too_many_factors_are_refused(errors_of):
    errors = errors_of(factors={f"f{number}": [1] for number in range(7)})

    assert "7 factors" in errors["factors"][0]


def test_levels_that_do_not_go_together_are_named_with_their_cell(errors_of):
    errors = errors_of(order="random", factors={"slow": [1, 6]})

    assert errors == {"factors.slow": ["At slow 6.0: Above 5, be careful."]}


def test_everything_that_is_wrong_is_told_at_once(errors_of):
    errors = errors_of(question="", repetitions=0, parameters={}, target=0)

    assert set(errors) == {"question", "repetitions", "parameters.path", "target"}


def test_a_target_of_another_family_is_refused(errors_of, target):
    target.family = "pulp"
    target.save(update_fields=["family"])

    assert "needs one of the family http" in errors_of()["target"][0]


def test_a_retired_target_is_not_there(errors_of, target):
    target.retired_at = target.created_at
    target.save(update_fields=["retired_at"])

    assert "There is no target" in errors_of()["target"][0]


def test_an_external_campaign_needs_no_target():
    found = check({"kind": "external", "question": "What?", "order": "random", "repetitions": 1})

    assert found.campaign.target is None


JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 1.5, math.nan, math.inf, -math.inf, 10**18, 2**63, "", " ",
    "3", "x", "\x00", "\ud800", "\u202e", "<b>", "new", "engine", "x" * 10_000, [], [None], [[]],
    [1, 2], ["new", "old"], {}, {"engine": "new"}, {"engine": ["new", "old"]}, {"": ""},
    {"path": [[]]}, {"workers": {"a": []}}, [{"engine": {"a": []}}], [{"engine": ["new"]}],
    {"workers": [1, 2, {"x": 1}]}, {"\x00": 1}, b"bytes", {1: 2}, (1, 2),
)  # fmt: skip


def test_junk_in_any_field_is_invalid_or_can_be_stored(target):
    random = Random(7)

    for _ in range(500):
        data = definition(target=target.pk)
        for name in random.sample(Definition.__struct_fields__, random.randint(1, 3)):
            data[name] = random.choice(JUNK)
        with suppress(Invalid), transaction.atomic():
            drafts.create(check(data), None)


@pytest.mark.parametrize(
    "manifest",
    ["http://127.0.0.2:8080/PULP_MANIFEST", "http://169.254.169.254/PULP_MANIFEST"],
)
def test_a_manifest_on_another_server_than_the_target_is_refused_at_its_field(manifest):
    server = Target.objects.create(
        name="server", family="http", base_url="http://127.0.0.1:8080", address="127.0.0.1:8080"
    )
    data = {
        "question": "Is it fast?",
        "kind": "downloader",
        "target": server.pk,
        "parameters": {"manifest": manifest},
        "repetitions": 3,
    }

    with pytest.raises(Invalid) as caught:
        check(data)

    assert "is not on server (127.0.0.1:8080)" in caught.value.errors["parameters.manifest"][0]
    allowed = {"parameters": {"manifest": "http://127.0.0.1:8080/PULP_MANIFEST"}}
    assert check(data | allowed).campaign.target == server


# Nobody's definition holds up the pages of others


def test_of_many_unknown_names_the_first_are_told(errors_of):
    many = {f"a{number}": 1 for number in range(5000)}

    assert len(errors_of(**many)) == MOST_MESSAGES
    assert len(errors_of(parameters=many)) == MOST_MESSAGES + 1  # and the missing path
    excluded = errors_of(excluded=[{f"b{number}": 1 for number in range(5000)}] * 500)["excluded"]
    assert MOST_MESSAGES <= len(excluded) <= 3 * MOST_MESSAGES


def test_a_plan_of_too_many_runs_is_refused_before_it_is_made(errors_of, monkeypatch):
    monkeypatch.setattr(checking, "plan_runs", None)

    levels = {"slow": [number / 100 for number in range(500)]}
    assert errors_of(factors=levels, order="random", repetitions=100, warm_ups=3) == {
        "repetitions": [
            "This plan has 50,003 runs; at most 5,000 are allowed. Lower the repetitions, or take out levels."
        ]
    }


def test_checking_and_previewing_end_when_they_took_their_processor_time(
    target, errors_of, monkeypatch
):
    many = {"factors": {"slow": [number / 100 for number in range(30)]}, "order": "random"}
    found = check(definition(target=target.pk) | many)
    clock = count()
    monkeypatch.setattr(processor_time, "thread_time", lambda: next(clock))

    assert errors_of(**many) == {
        "parameters": [
            "Looking at the 30 cells of this plan took more than 20 s of processor time, and was ended. "
            "Shorten its longest text, or take out levels."
        ]
    }
    with pytest.raises(Invalid, match="took more than 20 s of processor time"):
        preview(found)
