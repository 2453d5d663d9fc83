"""Filters of lists for pages and REST: the base of all FilterSets, and their fields."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable

LARGEST = 2**31 - 1
Filter = django_filters.Filter


class FilterForm(forms.Form):
    """The form of a FilterSet. Pages render it in a toolbar: `{{ filters.form }}`."""

    template_name = "components/_filters.html"

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **{"auto_id": "f-%s", **named})
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"


class FilterSet(django_filters.FilterSet):
    """Filters of a list, from the query string."""

    class Meta:
        form = FilterForm

    @property
    def rows(self) -> QuerySet[Any]:
        """The matching rows; none where a filter is not valid."""
        rows: QuerySet[Any] = self.qs if self.is_valid() else self.queryset.none()
        return rows

    def offer(self, name: str, every: str, options: Iterable[tuple[Any, str]]) -> None:
        """Render a filter as a select; `every`: the option that filters nothing."""
        select = forms.Select({"class": "input"}, [("", every), *options])
        self.form.fields[name].widget = select


class Whole(django_filters.Filter):
    """A whole number from 1."""

    field_class = forms.IntegerField

    def __init__(self, **named: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST, **named)


class Word(django_filters.CharFilter):
    """Text, compared without stripping."""

    def __init__(self, *, most: int = 200, **named: Any) -> None:
        super().__init__(max_length=most, strip=False, **named)


class Search(Word):
    """Search words: one of the columns must contain each of them."""

    def __init__(
        self, columns: Sequence[str], *, label: str, placeholder: str, distinct: bool = False
    ) -> None:
        self.columns = columns
        box = forms.SearchInput({"placeholder": placeholder})
        super().__init__(label=label, widget=box, distinct=distinct)

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        for word in value.split():
            columns = (Q((f"{column}__icontains", word)) for column in self.columns)
            qs = qs.filter(Q(*columns, _connector=Q.OR))
        return qs.distinct() if self.distinct and value else qs


class Choice(django_filters.ChoiceFilter):
    """One of several values. `every`: the option of a page that filters nothing."""

    def __init__(
        self, *, choices: Iterable[tuple[str, Any]], every: str = "", **named: Any
    ) -> None:
        choices = list(choices)
        values = ", ".join(value for value, _ in choices)
        refused = f"“%(value)s” is not one of {values}."
        messages = {"invalid_choice": refused}
        super().__init__(choices=choices, empty_label=every, error_messages=messages, **named)


class Truth(Choice):
    """`true` or `false`; with `exclude`, `true` means that the lookup is false."""

    def __init__(self, **named: Any) -> None:
        super().__init__(choices=[("true", "yes"), ("false", "no")], **named)

    def filter(self, qs: QuerySet[Any], value: Any) -> QuerySet[Any]:
        """Filter by the boolean, or with `exclude` by its opposite."""
        path = f"{self.field_name}__{self.lookup_expr}"
        return qs.filter((path, (value == "true") != self.exclude)) if value else qs


class Sort(Choice):
    """The order of a list. orders: label and columns by name."""

    def __init__(
        self, orders: Mapping[str, tuple[str, Sequence[str | Combinable]]], *, every: str
    ) -> None:
        self.orders = orders
        choices = ((name, label) for name, (label, _) in orders.items())
        super().__init__(choices=choices, every=every, label="Sort")

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Sort rows; without a value their order does not change."""
        return qs.order_by(*self.orders[value][1]) if value else qs


class Instant(django_filters.fields.IsoDateTimeField):
    """An instant that PostgreSQL accepts: it cannot parse all offsets from UTC."""

    def to_python(self, value: Any) -> datetime | None:
        """Return the instant in UTC. Raise ValidationError."""
        instant: datetime | None = super().to_python(value)
        try:
            return instant.astimezone(UTC) if instant else None
        except OverflowError:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from None


class Moment(django_filters.IsoDateTimeFilter):
    """An instant, in UTC unless it has an offset."""

    field_class = Instant


class Day(django_filters.DateFilter):
    """A whole day in UTC: from its beginning, or with `lt` until its end."""

    def __init__(self, column: str, lookup: str, label: str) -> None:
        box = forms.DateInput({"type": "date"})
        super().__init__(field_name=column, lookup_expr=lookup, label=label, widget=box)

    def filter(self, qs: QuerySet[Any], value: date | None) -> QuerySet[Any]:
        """Compare with the beginning of the day, or with `lt` of the next day."""
        if value is None or (self.lookup_expr == "lt" and value == date.max):
            return qs
        day = value + timedelta(days=self.lookup_expr == "lt")
        path = f"{self.field_name}__{self.lookup_expr}"
        return qs.filter((path, datetime.combine(day, time(), UTC)))
