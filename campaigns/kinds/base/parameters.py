"""The fields of a form that declare the parameters of a kind.

A field holds what a page and REST say of a value, cleans it, and says what the parameter is in a campaign. `Driver` lists
the names by what the fields say. A plain field of Django is a parameter that does not vary.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from django import forms

from campaigns.kit.forms import JsonText, Listed, OneOf
from campaigns.kit.mappings import Parameters

LONGEST_NAME = 60
"""Letters of the name of a credential."""
Role = Literal["setting", "load", "work", "instrument"]


class ParameterField(forms.Field):
    """What a parameter says that a field of a form does not.

    varies: campaigns may vary it. essential: the form shows it at once, the others are folded; at most six are, without any
    the first six.

    role: what its levels are. Load is how much is asked of the target at once, a number above 0 that is never ranked. Work
    is what is done: cells that differ in it are not comparable. An instrument is how it is measured: its levels should
    measure the same. may_be_load: a campaign may declare a setting as load, where it asks about the target and not about the
    client. is_work: it is work; a load may be work besides. address: it is work and says where that is found: cells that
    differ in it alone are compared if the same work was proved.

    time_limit: the seconds after which the client gives up an answer. unlimited: the number that means no limit; as a level
    it comes after all others. only_for: the only family of servers that has it; on others it keeps its initial value.
    """

    def __init__(
        self,
        *,
        varies: bool = True,
        essential: bool = False,
        role: Role = "setting",
        may_be_load: bool = False,
        is_work: bool = False,
        address: bool = False,
        time_limit: bool = False,
        unlimited: float | None = None,
        only_for: str = "",
        **named: Any,
    ) -> None:
        super().__init__(**named)
        self.varies, self.essential, self.role, self.may_be_load = (
            varies,
            essential,
            role,
            may_be_load,
        )
        self.is_work, self.address = is_work or address or role == "work", address
        self.time_limit, self.unlimited, self.only_for = time_limit, unlimited, only_for


class IntegerParameter(ParameterField, forms.IntegerField):
    """A whole number."""


class NumberParameter(ParameterField, forms.FloatField):
    """A number."""


class ChoiceParameter(ParameterField, OneOf):
    """One of a few texts. gone: those that went, see OneOf."""


class YesNoParameter(ParameterField, forms.BooleanField):
    """Yes or no."""


class TextParameter(ParameterField, forms.CharField):
    """A text."""


class CredentialParameter(TextParameter):
    """The name of a credential of the team. It is no level: facts tell which version a run used."""

    def __init__(self, *, help_text: str, **named: Any) -> None:
        super().__init__(
            label="Credential",
            varies=False,
            required=False,
            initial="",
            max_length=LONGEST_NAME,
            help_text=help_text,
            **named,
        )


class ListParameter(ParameterField, Listed):
    """Texts or whole numbers, written with commas between."""


class ObjectParameter(ParameterField, JsonText):
    """An object, written as JSON."""


def parameters_of(form: type[forms.Form]) -> dict[str, ParameterField]:
    """Return the fields of a form that are parameters, by name."""
    return {
        name: field for name, field in form.base_fields.items() if isinstance(field, ParameterField)
    }


def of_other_families(
    form: type[forms.Form],
    family: str,
    parameters: Parameters,
    factors: Mapping[str, Sequence[Any]],
) -> Iterator[tuple[str, str]]:
    """Yield a message for each parameter that only servers of another family have, unless it has its initial value or none."""
    for name, field in parameters_of(form).items():
        if field.only_for in ("", family):
            continue
        left = f"leave it at {field.initial}" if field.initial is not None else "leave it empty"
        if name in factors:
            yield name, f"Only a {field.only_for} target has it: do not vary it, and {left}."
        elif not _is_untouched(field, parameters.get(name)):
            yield name, f"Only a {field.only_for} target has it: {left}, or choose another target."


def _is_untouched(field: forms.Field, value: Any) -> bool:
    if value in (None, "", field.initial):
        return True
    return field.initial is not None and value == field.clean(field.initial)
