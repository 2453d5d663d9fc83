from django import forms
from django.template.loader import render_to_string

from campaigns.kit.filters import FilterForm


class Example(forms.Form):
    name = forms.CharField(max_length=10, help_text="As it is known.")
    width = forms.FloatField(min_value=0, initial=5.0, required=False)
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False)
    order = forms.ChoiceField(choices=[("a", "First"), ("b", "Second")])
    sure = forms.BooleanField(required=False, label="I am sure")
    roles = forms.MultipleChoiceField(
        choices=[("x", "One"), ("y", "Two")],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


Example.base_fields["width"].unit = "%"  # type: ignore[attr-defined]


def drawn(name: str, data: dict[str, object] | None = None) -> str:
    form = Example(data)
    page = " ".join(render_to_string("django/forms/field.html", {"field": form[name]}).split())
    return page.replace(" >", ">").replace("> <", "><")


def test_a_label_names_its_input_and_a_hint_describes_it() -> None:
    page = drawn("name")
    assert '<label for="f-name">Name</label>' in page
    assert 'class="input" aria-describedby="f-name-hint" id="f-name">' in page
    assert '<p class="hint" id="f-name-hint">As it is known.</p>' in page


def test_an_error_is_named_by_its_input() -> None:
    page = drawn("name", {})
    assert 'aria-invalid="true" aria-describedby="f-name-hint f-name-error"' in page
    assert '<div id="f-name-error"><p class="error">' in page
    assert "This field is required." in page


def test_a_browser_judges_nothing() -> None:
    page = drawn("name") + drawn("width") + drawn("notes")
    for attribute in ("required", "maxlength", "min=", "step", "cols", 'type="number"'):
        assert attribute not in page


def test_a_number_is_written_as_somebody_types_it_beside_its_unit() -> None:
    page = drawn("width")
    assert '<div class="with-unit"><input type="text" inputmode="decimal" name="width"' in page
    assert 'value="5"' in page
    assert "<span>%</span></div>" in page
    assert 'value="5,5"' in drawn("width", {"width": "5,5"})


def test_a_text_has_its_rows() -> None:
    assert '<textarea name="notes" rows="2" class="input" id="f-notes">' in drawn("notes")


def test_a_choice_is_a_list() -> None:
    page = drawn("order", {"order": "b"})
    assert '<select name="order" class="input" id="f-order">' in page
    assert '<option value="b" selected>Second</option>' in page


def test_a_box_stands_before_its_label() -> None:
    page = drawn("sure", {"sure": "on"})
    assert '<label class="check"><input type="checkbox" name="sure" id="f-sure" checked>' in page
    assert "<span>I am sure</span></label>" in page


def test_several_boxes_are_one_field_set() -> None:
    page = drawn("roles", {"roles": ["y", "z"]})
    assert page.startswith(
        '<fieldset class="stack tight" id="f-roles" aria-describedby="f-roles-error">'
    )
    assert '<label class="check"><input type="checkbox" name="roles" value="x"' in page
    assert page.count(" checked") == 1
    assert page.count('id="f-roles"') == 1


def test_filters_show_placeholders_and_other_forms_do_not():
    class Filters(FilterForm):
        q = forms.CharField(widget=forms.SearchInput({"placeholder": "Search name"}))

    class Plain(forms.Form):
        q = forms.CharField(widget=forms.TextInput({"placeholder": "Name"}))

    assert 'placeholder="Search name"' in str(Filters()["q"])
    assert "placeholder" not in str(Plain()["q"])
