"""What every kind has to keep, those of other packages and those that are dropped in included."""

import json
from itertools import groupby

import pytest
from django import forms
from django.template import engines

from campaigns.kinds.api import described
from campaigns.kinds.base import Driver
from campaigns.kinds.base.driver import MOST_ESSENTIAL
from campaigns.kinds.registry import UnknownKind, all_kinds, driver_of
from campaigns.kit.charts.labels import called
from campaigns.kit.units import UNITS

KINDS = sorted(all_kinds())
EXECUTABLE = [kind for kind in KINDS if all_kinds()[kind].executable]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_says_what_it_is_and_what_it_answers(kind):
    driver = driver_of(kind)

    assert isinstance(driver, Driver)
    assert kind.isidentifier()
    assert all([driver.label, driver.summary, driver.families])
    assert driver.question.endswith("?")


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_have_known_units_and_exactly_one_is_primary(kind):
    metrics = driver_of(kind).metrics

    assert sum(metric.primary for metric in metrics) == 1
    assert len({metric.name for metric in metrics}) == len(metrics)
    assert {metric.unit for metric in metrics} <= set(UNITS)
    assert all(metric.label and metric.name.isidentifier() for metric in metrics)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_says_what_a_sample_and_what_its_speed_is(kind):
    name, unit = driver_of(kind).rate

    assert driver_of(kind).sample.islower()
    assert name
    assert unit in UNITS


@pytest.mark.parametrize("kind", KINDS)
def test_factors_and_work_are_parameters(kind):
    driver = driver_of(kind)

    assert set(driver.factors) <= set(driver.parameters.base_fields)
    assert set(driver.work) <= set(driver.factors)


@pytest.mark.parametrize("kind", EXECUTABLE)
def test_a_few_parameters_are_essential_and_each_has_a_label_in_words(kind):
    driver = driver_of(kind)
    fields = driver.parameters.base_fields

    assert 0 < len(driver.essential) <= MOST_ESSENTIAL
    assert set(driver.essential) <= set(fields)
    labels = {name: str(field.label or "") for name, field in fields.items()}
    assert all(labels.values()), labels
    assert not [name for name, label in labels.items() if "_" in label or label == name]
    assert all(
        label[0].isupper() and driver.label_of(name) == label for name, label in labels.items()
    )
    assert len(set(labels.values())) == len(labels)
    compared = set(driver.factors) - set(driver.work)
    assert {name: labels[name] for name in compared} == {name: called(name) for name in compared}


@pytest.mark.parametrize("kind", EXECUTABLE)
def test_every_parameter_that_may_be_left_has_an_initial_value_that_is_valid(kind):
    driver = driver_of(kind)
    given = {
        name: field.initial
        for name, field in driver.parameters.base_fields.items()
        if field.initial is not None
    }

    form = driver.parameters(given)

    assert not set(form.errors) & set(given)


@pytest.mark.parametrize("kind", KINDS)
def test_cleaned_parameters_can_be_stored(kind):
    form: forms.Form = driver_of(kind).parameters(
        {name: f.initial for name, f in driver_of(kind).parameters.base_fields.items()}
    )
    form.is_valid()

    assert json.loads(json.dumps(form.cleaned_data)) == form.cleaned_data


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_renders_and_the_api_describes_it(kind):
    driver = driver_of(kind)

    html = engines["django"].from_string("{{ form }}").render({"form": driver.parameters()})

    assert all(f'name="{name}"' in html for name in driver.parameters.base_fields)
    assert json.dumps(described(kind, driver))


@pytest.mark.parametrize("kind", EXECUTABLE)
def test_a_run_is_guessed_to_take_some_time(kind):
    driver = driver_of(kind)
    given = {name: field.initial for name, field in driver.parameters.base_fields.items()}

    assert driver.estimate_seconds(given) > 0


@pytest.mark.parametrize("kind", EXECUTABLE)
def test_a_kind_says_how_many_requests_at_a_time_its_parameters_ask_for(kind):
    driver = driver_of(kind)
    given = {name: field.initial for name, field in driver.parameters.base_fields.items()}

    asked = driver.concurrency(given)

    assert asked is None or asked >= 1


@pytest.mark.django_db  # it could be a program
def test_a_kind_that_is_not_there_is_refused_by_name():
    with pytest.raises(UnknownKind, match=r"no kind “nonsense”; there are .*downloader"):
        driver_of("nonsense")


SANDBOX = "http://127.0.0.1:8099"
MOST_UNGROUPED = 6
"""Presets of a kind whose buttons are told apart without headings."""


@pytest.mark.parametrize("url", ["", SANDBOX], ids=["own", "sandbox"])
@pytest.mark.parametrize("kind", EXECUTABLE)
def test_many_presets_stand_below_headings_and_each_group_stands_together(kind, url):
    presets = driver_of(kind).presets(url)

    groups = [group for group, _ in groupby(preset.group for preset in presets)]
    assert len(groups) == len(set(groups))
    assert len({preset.name for preset in presets}) == len(presets)
    assert "" not in groups or (groups in ([""], []) and len(presets) <= MOST_UNGROUPED)


@pytest.mark.parametrize("kind", EXECUTABLE)
def test_what_a_preset_fills_in_is_what_its_fields_take(kind):
    driver = driver_of(kind)
    fields = driver.parameters.base_fields

    for preset in driver.presets(SANDBOX):
        for name, value in preset.parameters.items():
            if name in fields:
                fields[name].clean(value)
        for name, levels in preset.factors.items():
            for level in levels if name in fields else ():
                fields[name].clean(level)
