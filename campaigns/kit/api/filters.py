"""How lists are narrowed: one FilterSet a list; a name or a value that it does not know is refused."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from campaigns.models import (
    Attempt,
    Campaign,
    Conclusion,
    Delivery,
    Distribution,
    Exclusion,
    LaunchRequest,
    LogLine,
    Measurement,
    Proof,
    Run,
    Series,
    Submission,
    Template,
)

LARGEST = 2**31 - 1
Filter, FilterSet = django_filters.Filter, django_filters.FilterSet


class Whole(django_filters.Filter):
    """A whole number from 1."""

    field_class = forms.IntegerField

    def __init__(self, **named: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST, **named)


class Word(django_filters.CharFilter):
    """Text that is compared as it was sent."""

    def __init__(self, *, most: int = 200, **named: Any) -> None:
        super().__init__(max_length=most, strip=False, **named)


class Choice(django_filters.ChoiceFilter):
    """One of a few words; who sends another one is told them."""

    def __init__(self, *, choices: Sequence[tuple[str, Any]], **named: Any) -> None:
        words = ", ".join(value for value, _ in choices)
        refused = f"“%(value)s” is not one of {words}."
        super().__init__(choices=choices, error_messages={"invalid_choice": refused}, **named)


class Truth(Choice):
    """`true` or `false`."""

    def __init__(self, **named: Any) -> None:
        super().__init__(choices=[("true", "yes"), ("false", "no")], **named)

    def filter(self, qs: QuerySet[Any], value: Any) -> QuerySet[Any]:
        """Compare with what the word means."""
        return qs.filter(**{str(self.field_name): value == "true"}) if value else qs


class Instant(django_filters.fields.IsoDateTimeField):
    """An instant as PostgreSQL takes it: some offsets are further from UTC than it can read."""

    def to_python(self, value: Any) -> datetime | None:
        """Read it, and bring it to UTC. Raise ValidationError where it is none."""
        found: datetime | None = super().to_python(value)
        try:
            return found.astimezone(UTC) if found else None
        except OverflowError:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from None


class Moment(django_filters.IsoDateTimeFilter):
    """An instant; UTC unless it says where."""

    field_class = Instant


class Campaigns(django_filters.FilterSet):
    """Campaigns; `q` is looked for in name and question."""

    state = Choice(choices=Campaign.State.choices)
    kind = Word(most=50)
    tag = Word(most=40, method="with_tag")
    target = Whole(field_name="target_id")
    author = Word(field_name="author__username")
    created_after = Moment(field_name="created_at", lookup_expr="gte")
    created_before = Moment(field_name="created_at", lookup_expr="lt")
    closed_after = Moment(field_name="closed_at", lookup_expr="gte")
    closed_before = Moment(field_name="closed_at", lookup_expr="lt")
    archived = Choice(
        choices=[("false", "no"), ("true", "yes"), ("all", "both")], method="with_archived"
    )
    q = Word(method="with_text")

    class Meta:
        model = Campaign
        fields: list[str] = []

    def with_archived(self, rows: QuerySet[Campaign], name: str, word: str) -> QuerySet[Campaign]:
        """Those in the archive, those that are not, or all of them."""
        return rows if word == "all" else rows.filter(archived_at__isnull=word == "false")

    def filter_queryset(self, queryset: QuerySet[Campaign]) -> QuerySet[Campaign]:
        """Leave the archive out unless it is asked for."""
        found: QuerySet[Campaign] = super().filter_queryset(queryset)
        return found if self.data.get("archived") else found.filter(archived_at=None)

    def with_tag(self, rows: QuerySet[Campaign], name: str, tag: str) -> QuerySet[Campaign]:
        """Those that have the tag among theirs."""
        return rows.filter(tags__contains=[tag])

    def with_text(self, rows: QuerySet[Campaign], name: str, text: str) -> QuerySet[Campaign]:
        """Those that hold the text."""
        return rows.filter(Q(name__icontains=text) | Q(question__icontains=text))


class Conclusions(django_filters.FilterSet):
    """Conclusions; `q` is looked for in claim and recommendation."""

    state = Choice(choices=Conclusion.State.choices)
    author = Word(field_name="author__username")
    team = Word(field_name="team__name")
    campaign = Whole(field_name="evidence__campaign", distinct=True)
    q = Word(method="with_text")

    class Meta:
        model = Conclusion
        fields: list[str] = []

    def with_text(self, rows: QuerySet[Conclusion], name: str, text: str) -> QuerySet[Conclusion]:
        """Those that hold the text."""
        return rows.filter(Q(claim__icontains=text) | Q(recommendation__icontains=text))


class Targets(django_filters.FilterSet):
    """Targets in use."""

    family = Word()
    address = Word()


class Templates(django_filters.FilterSet):
    """Templates of teams; `retired=false`: those that campaigns may begin with."""

    retired = Truth(method="with_retired")
    team = Word(field_name="team__name")

    class Meta:
        model = Template
        fields: list[str] = []

    def with_retired(self, rows: QuerySet[Template], name: str, word: str) -> QuerySet[Template]:
        """Those that were retired, or those that were not."""
        return rows.filter(retired_at__isnull=word == "false")


class Runs(django_filters.FilterSet):
    """Runs of a campaign."""

    state = Choice(choices=Run.State.choices)
    purpose = Choice(choices=Run.Purpose.choices)
    cell = Whole(field_name="cell__position")
    block = Whole(field_name="block__number")

    class Meta:
        model = Run
        fields: list[str] = []


class Submissions(django_filters.FilterSet):
    """What came from outside."""

    state = Choice(choices=Submission.State.choices)
    campaign = Whole(field_name="campaign_id")
    format = Word(most=50)

    class Meta:
        model = Submission
        fields: list[str] = []


class LaunchRequests(django_filters.FilterSet):
    """What waited, and waits, for a second person's yes."""

    state = Choice(choices=LaunchRequest.State.choices)
    campaign = Whole(field_name="campaign_id")

    class Meta:
        model = LaunchRequest
        fields: list[str] = []


class OfRuns(django_filters.FilterSet):
    """What attempts at runs of a campaign left behind; try-outs only where `purpose` says so."""

    run = Whole(field_name="attempt__run__position")
    cell = Whole(field_name="attempt__run__cell__position")
    purpose = Choice(field_name="attempt__run__purpose", choices=Run.Purpose.choices)
    attempt_state = Choice(field_name="attempt__state", choices=Attempt.State.choices)


class Attempts(django_filters.FilterSet):
    """Attempts at runs of a campaign."""

    run = Whole(field_name="run__position")
    cell = Whole(field_name="run__cell__position")
    purpose = Choice(field_name="run__purpose", choices=Run.Purpose.choices)
    state = Choice(choices=Attempt.State.choices)
    worker = Word()

    class Meta:
        model = Attempt
        fields: list[str] = []


class Measurements(OfRuns):
    """Values; `metric` by its name."""

    metric = Word()

    class Meta:
        model = Measurement
        fields: list[str] = []


class Proofs(OfRuns):
    """Proofs; `step` is `reset` or `verify`."""

    step = Choice(choices=Proof.Step.choices)
    ok = Truth()

    class Meta:
        model = Proof
        fields: list[str] = []


class Distributions(OfRuns):
    """Distributions by name."""

    name = Word()

    class Meta:
        model = Distribution
        fields: list[str] = []


class SeriesOfRuns(OfRuns):
    """Series by name."""

    name = Word()

    class Meta:
        model = Series
        fields: list[str] = []


class Exclusions(django_filters.FilterSet):
    """Exclusions of a campaign; `standing`: whether it was withdrawn since."""

    run = Whole(field_name="run__position")
    standing = Truth(method="which_stand")

    class Meta:
        model = Exclusion
        fields: list[str] = []

    def which_stand(self, rows: QuerySet[Exclusion], name: str, text: str) -> QuerySet[Exclusion]:
        """Those that hold, or those that do not any more."""
        return rows.filter(withdrawn_at__isnull=text == "true")


class LogLines(django_filters.FilterSet):
    """Lines of a campaign's log."""

    run = Whole(field_name="run__position")
    after = Moment(field_name="at", lookup_expr="gte")

    class Meta:
        model = LogLine
        fields: list[str] = []


class Deliveries(django_filters.FilterSet):
    """Messages to people."""

    channel = Whole(field_name="channel")
    state = Choice(choices=Delivery.State.choices)

    class Meta:
        model = Delivery
        fields: list[str] = []


def narrowed(
    rows: QuerySet[Any],
    request: Request,
    shape: type[django_filters.FilterSet] | None,
    beside: Collection[str] = (),
) -> QuerySet[Any]:
    """Filter by the query; `beside`: names that others read. Raise ValidationError."""
    names = list(shape.base_filters) if shape else []
    refuse_unknown(request, [*names, *sorted(beside)])
    if shape is None:
        return rows
    empty = {name: ["Give a value, or leave it out."] for name in names if _is_empty(request, name)}
    if empty:
        raise ValidationError(empty)
    filters = shape(request.query_params, queryset=rows)
    if not filters.is_valid():
        raise ValidationError(
            {name: [str(text) for text in texts] for name, texts in filters.errors.items()}
        )
    found: QuerySet[Any] = filters.qs
    return found


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    """Raise ValidationError where the query holds a name that nobody reads."""
    there = ", ".join(known)
    errors = {
        name[:100]: [f"There is no field of that name; there are {there}."]
        for name in request.query_params
        if name not in known
    }
    if errors:
        raise ValidationError(errors)


def _is_empty(request: Request, name: str) -> bool:
    return request.query_params.get(name) == ""
