"""What the fields of a kind's form say of its parameters, and the names that its driver has by that."""

from types import new_class

import pytest
from django import forms

from campaigns.kinds.base import Driver
from campaigns.kinds.base.load_fields import check_rate, rate
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)


class SailForm(forms.Form):
    course = TextParameter(initial="north", address=True, essential=True)
    boats = IntegerParameter(initial=1, role="load", is_work=True)
    crew = IntegerParameter(initial=2, may_be_load=True)
    log = ChoiceParameter(choices=[("on", "on"), ("off", "off")], initial="on", role="instrument")
    patience = NumberParameter(initial=5, varies=False, time_limit=True, role="work")
    depth = IntegerParameter(initial=7, required=False, only_for="lake")
    flag = forms.CharField()


def driver_with(**members):
    return new_class("Sail", (Driver,), exec_body=lambda body: body.update(members))


def test_a_driver_lists_its_parameters_by_what_their_fields_say():
    sail = driver_with(parameters=SailForm)

    assert sail.factors == ("course", "boats", "crew", "log", "depth")
    assert sail.essential == ("course",)
    assert sail.load == ("boats",)
    assert sail.work == ("course", "boats", "patience")
    assert sail.addresses == ("course",)
    assert sail.may_be_load == ("crew",)
    assert sail.instruments == ("log",)
    assert sail.time_limit == "patience"
    assert sail.of_one_family == {"depth": "lake"}


def test_some_factors_come_first():
    sail = driver_with(parameters=SailForm, first_factors=("crew", "boats"))

    assert sail.factors == ("crew", "boats", "course", "log", "depth")


def test_the_parameters_of_generators_are_among_them():
    sail = driver_with(parameters=SailForm, generators=True)

    assert sail.factors[-1] == "generators"
    assert sail.instruments == ("log", "generators")


@pytest.mark.parametrize("name", ["factors", "work", "time_limit", "unlimited"])
def test_a_driver_that_lists_names_itself_is_refused(name):
    with pytest.raises(TypeError, match=rf"Sail lists {name}; let its fields say that"):
        driver_with(parameters=SailForm, **{name: ("boats",)})


@pytest.mark.parametrize(
    ("family", "depth", "factors", "message"),
    [
        ("lake", 3, {}, ""),
        ("sea", 7, {}, ""),
        ("sea", None, {}, ""),
        ("sea", 3, {}, "Only a lake target has it: leave it at 7, or choose another target."),
        (
            "sea",
            None,
            {"depth": (3, 4)},
            "Only a lake target has it: do not vary it, and leave it at 7.",
        ),
    ],
)
def test_a_parameter_of_one_family_keeps_its_initial_value_on_others(
    family, depth, factors, message
):
    sail = driver_with(parameters=SailForm)

    found = sail.misfits(sail, family, {"depth": depth}, factors)

    assert found == ({"depth": message} if message else {})


class RateForm(forms.Form):
    rate = rate("A second.")

    def __init__(self, data, **words):
        super().__init__(data)
        self.words = words

    def clean(self):
        check_rate(self, needless="It has none.", **self.words)


@pytest.mark.parametrize(
    ("given", "needed", "told"),
    [
        ("2", True, []),
        ("", False, []),
        ("", True, ["Give one."]),
        ("2", False, ["It has none."]),
        ("0", True, ["Ensure this value is greater than or equal to 0.01."]),
    ],
)
def test_a_rate_is_given_where_the_load_begins_at_one(given, needed, told):
    form = RateForm({"rate": given}, needed=needed, missing="Give one.")

    assert form.errors.get("rate", []) == told


def test_a_missing_rate_may_be_told_by_others():
    assert RateForm({}, needed=True).is_valid()
