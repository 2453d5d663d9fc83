"""Columns become inputs of pages and of the REST API, with their labels, helps and limits."""

from django import forms
from django.template.loader import render_to_string

from campaigns.kit.errors import Invalid
from campaigns.kit.forms import SecretArea, SecretInput, add_errors, form_field
from campaigns.models import Target, Team
from campaigns.targets.api.outputs import TargetOutput
from campaigns.targets.api.settings import SettingInput, SshInput, StepInput
from campaigns.targets.api.targets import EditTargetInput, NewTargetInput
from campaigns.targets.forms import TargetForm


def field_of(model, name):
    return form_field(model._meta.get_field(name))


def test_a_number_has_the_limits_of_the_validators_of_its_column():
    field = field_of(Target, "max_concurrency")

    assert (field.min_value, field.max_value) == (1, 1_000_000)
    assert field_of(Team, "approvals_needed").max_value == 10
    assert str(field.label) == "Most requests at a time"
    assert str(field.help_text).startswith("A campaign that asks for more is refused.")


def test_text_has_no_control_characters():
    class NameForm(forms.Form):
        name = field_of(Target, "name")

    assert NameForm({"name": "sandbox"}).is_valid()
    assert "U+202E" in str(NameForm({"name": "\u202etest"}).errors)
    assert "at most 100" in str(NameForm({"name": "x" * 101}).errors)


def test_a_secret_is_never_sent_back():
    class LoginForm(forms.Form):
        key = forms.CharField(widget=SecretArea)
        word = forms.CharField(widget=SecretInput)

    form = LoginForm({"key": "hunter2", "word": "hunter3"}, initial={"key": "hunter4"})
    drawn = [render_to_string("django/forms/field.html", {"field": field}) for field in form]

    assert "hunter" not in "".join(drawn)
    assert form.is_valid()
    assert form.cleaned_data == {"key": "hunter2", "word": "hunter3"}


def test_the_form_of_a_target_names_the_inputs_and_outputs_of_the_rest_api():
    asked = set(TargetForm.base_fields)

    assert set(EditTargetInput().fields) == asked
    assert set(NewTargetInput().fields) == asked - {"forget_password"} | {"team"}
    assert set(TargetForm.Meta.fields) <= set(TargetOutput().fields)
    assert "password" not in TargetOutput().fields


def test_inputs_take_what_json_has_for_their_fields():
    types = {name: type(field).__name__ for name, field in EditTargetInput().fields.items()}

    assert types["is_production"] == "Flag"
    assert types["max_requests_per_second"] == "Number"
    assert types["quiet_hours"] == types["family"] == "Text"
    assert type(SettingInput().fields["choices"]).__name__ == "ListField"
    assert {"apply", "read_back"} <= set(SettingInput().fields)
    assert list(StepInput().fields) == ["name", "purpose", "position", "action"]
    assert set(SshInput().fields) == {
        *("host", "port", "username", "key", "password", "confirm_address"),
    }


def test_messages_are_added_once_and_beside_their_field():
    class NameForm(forms.Form):
        name = forms.CharField()

    form = NameForm({"name": ""})
    add_errors(form, Invalid({"name": ["This field is required.", "Taken."], "": ["Too many."]}))

    assert form.errors["name"] == ["This field is required.", "Taken."]
    assert form.non_field_errors() == ["Too many."]
