"""What a recipe is, and what is refused; and that the shipped ones are whole."""

import re

import pytest

from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid
from campaigns.models import Setting
from campaigns.results.importing.simulated_katello import SETTINGS
from campaigns.targets.actions import Role, parse
from campaigns.targets.actions.values import MOST_LETTERS
from campaigns.targets.recipes.reading import (
    SCRIPTS,
    OfSetting,
    read_recipe,
    script,
    shipped,
    shipped_text,
)
from campaigns.targets.setting_forms import SettingForm

pytestmark = pytest.mark.unit

WHOLE = """
title: Workers
question: How many workers?
source: A guide
costs: A restart
setting:
  name: workers
  minimum: 1
  apply: {way: http, method: PUT, url: /workers, body: {value: "{value}"}}
  read_back: {way: http, url: /workers, at: value}
"""
EVERY = {
    *("puma-workers", "puma-threads-min", "puma-threads-max", "db-pool"),
    *("apache-serverlimit", "apache-maxrequestworkers", "apache-limitnofile"),
    *("dynflow-workers", "dynflow-threads"),
    *("mqtt-rate-limit", "mqtt-resend-interval", "mqtt-ttl", "mqtt-limitnofile"),
    *(
        f"postgresql-{name}-{way}"
        for name in ("max-connections", "shared-buffers", "work-mem", "autovacuum")
        for way in ("sql", "file")
    ),
    *("transparent-huge-pages", "tuned-profile", "power-mode", "proxy-timeout"),
    *("installer-profile", "haproxy-maxconn"),
}


def errors_of(text):
    with pytest.raises(Invalid) as invalid:
        read_recipe(text)
    return invalid.value.errors


def test_a_recipe_says_what_it_is_and_has_a_setting():
    recipe = read_recipe(WHOLE)
    assert (recipe.title, recipe.name, recipe.families) == ("Workers", "workers", [])
    assert recipe.fits("anything")


@pytest.mark.parametrize(
    ("before", "after", "path", "words"),
    [
        ("question: How many workers?", "", "question", "A recipe says its question."),
        ("costs: A restart", "costs: 3", "costs", "Give a text."),
        ("source: A guide", "sauce: A guide", "sauce", "There is no field “sauce” here"),
        ("  read_back: {way: http, url: /workers, at: value}", "", "setting.read_back", "Say how it is read back"),
        ("{way: http, url: /workers, at: value}", "{way: manual}", "setting.read_back", "is read back by HTTP, SQL or a command"),
        ("costs: A restart", "costs: [", "yaml", "Line "),
        ("costs: A restart", "costs: &a x\nneeds: *a", "yaml", "has no aliases"),
        ("costs: A restart", "costs: !!python/object:os.system x", "yaml", "could not determine a constructor"),
        ("costs: A restart", "costs: !script no_such", "yaml", "there is no script no_such; there are "),
        ("minimum: 1", "minimum: .nan", "yaml", "something that JSON does not have"),
        ("minimum: 1", "minimun: 1", "setting.minimun", "There is no field “minimun” here"),
        ("minimum: 1", "minimum: [1]", "setting.minimum", "Give a number."),
        ("minimum: 1", "minimum: true", "setting.minimum", "Give a number."),
        ("minimum: 1", "label: {a: b}", "setting.label", "Give a text."),
        ("minimum: 1", "type: [integer]", "setting.type", "Give a text."),
        ("minimum: 1", "hard_to_change: 'no'", "setting.hard_to_change", "Give true or false."),
        ("minimum: 1", "choices: [on, off]", "setting.choices", "Give texts: write on, no and 1 in quotes."),
        ("minimum: 1", "choices: 5", "setting.choices", "Give a list of texts."),
        ("body: {value", "body: {date: 2020-01-01, value", "yaml", "something that JSON does not have"),
        ("body: {value", "body: {some: !!set {b}, value", "yaml", "something that JSON does not have"),
        ("body: {value", "body: {some: !!binary aGk=, value", "yaml", "something that JSON does not have"),
        ("body: {value", "body: {1: a, value", "yaml", "something that JSON does not have"),
        ("costs: A restart", 'costs: "\\ud800"', "yaml", ""),
        ("title: Workers", "title: 0x" + "f" * 20_000, "yaml", "something that JSON does not have"),
        ("{way: http, method: PUT, url: /workers, body: {value: \"{value}\"}}", '{way: command, arguments: [1, "{value}"]}', "setting.apply.arguments", "as a list of texts"),
        ("{way: http, method: PUT, url: /workers, body: {value: \"{value}\"}}", "{way: command, arguments: null}", "setting.apply.arguments", "as a list of texts"),
        ("{way: http, method: PUT, url: /workers, body: {value: \"{value}\"}}", "{way: command, arguments: 5}", "setting.apply.arguments", "as a list of texts"),
        ("setting:", "readiness: [{name: up, action: {way: command, arguments: 5}}]\nsetting:", "readiness.0.action.arguments", "as a list of texts"),
        ("setting:", "readiness: [{name: up, action: {}}]\nsetting:", "readiness.0.action.way", "Choose one of"),
        ("setting:", "readiness: [{name: up, action: {way: http, url: /a, expect: 2020-01-01}}]\nsetting:", "yaml", "something that JSON does not have"),
        ("costs: A restart", "costs: " + "[" * 30 + "]" * 30, "yaml", "nested deeper than 20 levels"),
        ("title: Workers", "title: " + "x" * 41_000, "yaml", "at most 40,000 letters"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)  # fmt: skip
def test_what_is_wrong_with_a_recipe_is_told_by_field(before, after, path, words):
    text = WHOLE.replace(before, after)
    assert text != WHOLE
    errors = errors_of(text)
    assert words in " ".join(errors[path])


@pytest.mark.parametrize("text", ["", "words", "- a", "3", "\0"])
def test_what_is_no_recipe_is_refused(text):
    assert "yaml" in errors_of(text)


def test_by_sql_what_is_read_is_what_is_set():
    text = WHOLE.partition("  apply")[0] + (
        "  apply: {way: sql, parameter: work_mem, unit: MB}\n"
        "  read_back: {way: sql, parameter: work_mem, unit: kB}\n"
    )
    assert errors_of(text) == {
        "setting.read_back.unit": ["It reads kB, and sets MB: that cannot work."]
    }


@pytest.mark.parametrize("unit", ["MB", ""])
def test_by_sql_one_that_is_the_same_in_other_letters_is_the_same(unit):
    text = WHOLE.partition("  apply")[0] + (
        f"  apply: {{way: sql, parameter: Work_Mem, unit: '{unit}'}}\n"
        f"  read_back: {{way: sql, parameter: work_mem, unit: '{unit}'}}\n"
    )
    assert read_recipe(text).name == "workers"


def test_a_recipe_has_the_fields_of_the_form_of_a_setting():
    assert OfSetting.__struct_fields__ == (*SettingForm.Meta.fields, "apply", "read_back")


def test_the_recipes_of_the_tuning_guide_are_there():
    assert set(shipped()) == EVERY


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_shipped_recipe_is_whole(name):
    recipe = shipped()[name]
    assert all((recipe.published, recipe.costs, recipe.needs, recipe.tried)), "each is said"
    apply = parse(recipe.setting["apply"], Role.APPLY)
    read = parse(recipe.setting["read_back"], Role.READ)
    for ready in recipe.readiness:
        parse(ready.action, Role.READY)
    for argument in (*apply.arguments, *read.arguments):
        assert 0 < len(argument) <= MOST_LETTERS
        assert argument.strip(), "a line of the page that looks empty is easily lost"
        assert "\n" not in argument, "the page has one argument a line"
    setting = Setting(**recipe.setting)
    assert setting.type in Setting.Type.values
    assert (setting.type == "choice") == bool(setting.choices)
    assert not any(
        recipe.name in driver.parameters.base_fields
        for driver in all_kinds().values()
        if not recipe.families or set(recipe.families) & set(driver.families)
    ), "a parameter of a kind has this name"


OF_LOAD = "clients-curve"
"""Varies the load alone: the setting is added to it."""


@pytest.mark.parametrize("name", sorted(EVERY))
def test_the_preset_of_a_recipe_varies_its_setting_and_needs_none_that_no_recipe_has(name):
    used = shipped()[name].preset
    if used is None:
        return
    driver = all_kinds()[used.kind]
    preset = {each.name: each for each in driver.presets("")}[used.name]
    settings = preset.names - set(driver.parameters.base_fields)
    assert settings <= {each.name for each in shipped().values()}
    varied = {*preset.factors, *(each for of in preset.configurations.values() for each in of)}
    assert shipped()[name].name in varied or used.name == OF_LOAD
    assert set(driver.families) & set(shipped()[name].families or driver.families)


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.sh")), ids=lambda path: path.stem)
def test_a_script_is_one_argument_and_says_what_it_takes(path):
    assert path.read_text().startswith("# ")
    text = script(path.stem)
    assert "\n" not in text
    assert not re.search(r"(^|[;{(] )# ", text)
    used = [name for name in shipped() if f"!script {path.stem}" in shipped_text(name)]
    assert used


def test_the_simulated_katello_has_the_settings_of_these_recipes_by_the_same_names():
    simulated = {"puma-workers", "puma-threads-max", "puma-threads-min", "db-pool", "proxy-timeout"}
    simulated |= {"apache-maxrequestworkers", "dynflow-workers", "dynflow-threads"}
    assert {shipped()[name].name for name in simulated} <= set(SETTINGS)
