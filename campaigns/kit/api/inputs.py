"""Serializers of bodies and queries. They check types; forms check what values mean."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from drf_spectacular.utils import extend_schema_field
from msgspec import Struct
from rest_framework import serializers

PERCENTILE = r"^[0-9]{1,2}(\.[0-9]{1,3})?$"
NO_PERCENTILE = "Give numbers from 0 to less than 100, with at most three decimals."


@extend_schema_field({"type": ["string", "number"]})
class Text(serializers.CharField):
    """Text, or a number that is converted to text; length and content are checked later."""

    def __init__(self, **named: Any) -> None:
        super().__init__(
            required=False, allow_blank=True, allow_null=True, trim_whitespace=False, **named
        )


@extend_schema_field({"type": ["string", "number"], "maxLength": 200})
class Name(serializers.CharField):
    """A name, not stripped; empty by default."""

    def __init__(self) -> None:
        super().__init__(
            required=False, default="", allow_blank=True, trim_whitespace=False, max_length=200
        )


@extend_schema_field({"type": ["string", "number", "boolean"]})
class Scalar(serializers.Field[Any, Any, Any, Any]):
    """One value: text, a number, true or false."""

    default_error_messages = {"many": "Give one value, not a list or an object."}

    def __init__(self, **named: Any) -> None:
        super().__init__(required=False, allow_null=True, **named)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse lists and objects."""
        if isinstance(data, list | dict):
            self.fail("many")
        return data


@extend_schema_field({"type": ["string", "number"]})
class Number(Scalar):
    """A number, or a text that the form reads as one."""

    default_error_messages = {"boolean": "Give a number, not true or false."}

    def to_internal_value(self, data: Any) -> Any:
        """Refuse booleans, which are numbers in Python."""
        if isinstance(data, bool):
            self.fail("boolean")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    """A boolean: of JSON in a body, `true` or `false` in a query; not 0, 1, "yes" or "on"."""

    default_error_messages = {"invalid": "Give true or false."}

    def __init__(self, **named: Any) -> None:
        super().__init__(required=False, **named)

    def to_internal_value(self, data: Any) -> Any:
        """Return the boolean; a query may have it in any case, as Python writes it."""
        if self.context.get("query"):
            data = {"true": True, "false": False}.get(str(data).lower(), data)
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


@extend_schema_field({"type": "string", "minLength": 1, "pattern": r"^[^\u0000\s]+$"})
class Word(serializers.CharField):
    """A name in a query."""

    def __init__(self, *, max_length: int) -> None:
        super().__init__(required=False, max_length=max_length)


class Percentiles(serializers.ListField):
    """Numbers from 0 to less than 100, separated by commas."""

    def __init__(self) -> None:
        number = serializers.RegexField(PERCENTILE, error_messages={"invalid": NO_PERCENTILE})
        super().__init__(child=number, max_length=20, required=False)

    def to_internal_value(self, data: Any) -> list[str]:
        """Split the text at its commas."""
        numbers: list[str] = super().to_internal_value(str(data).split(","))
        return numbers


class Input(serializers.Serializer[Any]):
    """A serializer that refuses unknown names, so that misspelled ones are noticed."""

    def to_internal_value(self, data: Any) -> Any:
        """Check names and types, and report errors of both."""
        errors: dict[str, Any] = {}
        if isinstance(data, Mapping):
            known = ", ".join(self.fields)
            errors = {
                str(name)[:100]: [f"There is no field of that name; there are {known}."]
                for name in data
                if name not in self.fields
            }
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            detail = error.detail if isinstance(error.detail, dict) else {}
            raise serializers.ValidationError(errors | detail) from None
        if errors:
            raise serializers.ValidationError(errors)
        return value


class NoQuery(Input):
    """A query that may hold `fields` only."""


class CancelInput(Input):
    """Why a campaign is cancelled."""

    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=1000)


class ConfirmInput(Input):
    """`confirm_target`: the name of a production server, typed by the person who starts load on it."""

    confirm_target = Name()


class FormInput(Input):
    """The fields of a Django form, as JSON has them; the form checks their values.

    Declared fields replace those of the form that have the same name.
    """

    form: "ClassVar[type[forms.Form] | type[forms.ModelForm[Any]]]"
    without: ClassVar[Sequence[str]] = ()
    """Fields of the form that are left out."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields of the form, replaced by those that are declared."""
        fields = {
            name: Flag()
            if isinstance(field, forms.BooleanField)
            else Number()
            if isinstance(field, forms.IntegerField | forms.FloatField)
            else Text()
            for name, field in self.form.base_fields.items()
            if name not in self.without
        }
        return fields | super().get_fields()


class StructInput(Input):
    """An object that a struct declares, as JSON has it: the reader of the struct checks it whole.

    Fields that a subclass declares are no part of the struct; they are checked here.
    """

    struct: ClassVar[type[Struct]]
    only: ClassVar[Sequence[str] | None] = None
    """Fields of the struct that are taken; all of them unless given."""

    @classmethod
    def taken(cls) -> Sequence[str]:
        """Return the names of the fields of the struct that are taken."""
        return cls.struct.__struct_fields__ if cls.only is None else cls.only

    def to_internal_value(self, data: Any) -> Any:
        """Return what was sent, its own fields checked; names that nobody knows are refused by the reader."""
        if not isinstance(data, Mapping):
            return super().to_internal_value(data)
        own = {name: value for name, value in data.items() if name in self.fields}
        return {**data, **super().to_internal_value(own)}
