"""Filters of runs, of what their attempts observed, and of submissions."""

from typing import Any

from django.db.models import QuerySet
from django.forms import SearchInput

from campaigns.kit.filters import Choice, FilterSet, Moment, Truth, Whole, Word
from campaigns.kit.marks import RUNS
from campaigns.models import Attempt, Measurement, Proof, Run, Submission
from campaigns.models.evidence import MeasurementQuerySet
from campaigns.results.run_list import WITHOUT_VALUE, RunList

TABLE_STATES = ("done", "bound", "failed", "censored", "void", "cancelled", "excluded", "planned")


class RunFilters(FilterSet):
    """Runs of a campaign."""

    state = Choice(choices=Run.State.choices)
    purpose = Choice(choices=Run.Purpose.choices)
    cell = Whole(field_name="cell__position")
    block = Whole(field_name="block__number")


class RunTableFilters(FilterSet):
    """Runs in the table of a result page. Its states are those that pages show, not the stored ones."""

    q = Word(
        method="containing",
        label="Filter runs",
        widget=SearchInput({"placeholder": "Filter: level, date, reason"}),
    )
    state = Word(method="in_state", label="State")

    def __init__(self, data: Any, runs: RunList) -> None:
        self.runs = runs
        super().__init__(data, runs.all)
        states = [(state, RUNS[state][0]) for state in TABLE_STATES if runs.counts[state]]
        if runs.count(WITHOUT_VALUE):
            states.append((WITHOUT_VALUE, "without a plain value"))
        self.offer("state", "All states", states)

    def containing(self, rows: QuerySet[Run], name: str, text: str) -> QuerySet[Run]:
        """Return the rows that contain a text."""
        return rows.filter(self.runs.containing(text))

    def in_state(self, rows: QuerySet[Run], name: str, state: str) -> QuerySet[Run]:
        """Return the rows of a state."""
        return rows.filter(self.runs.in_state(state))

    @property
    def count(self) -> int:
        """The number of matching rows, which takes a query only where a text is searched."""
        if not self.is_valid() or self.form.cleaned_data["q"]:
            return self.rows.count()
        return self.runs.count(self.form.cleaned_data["state"])


class ObservedFilters(FilterSet):
    """What attempts at runs of a campaign observed."""

    run = Whole(field_name="attempt__run__position")
    cell = Whole(field_name="attempt__run__cell__position")
    purpose = Choice(field_name="attempt__run__purpose", choices=Run.Purpose.choices)
    attempt_state = Choice(field_name="attempt__state", choices=Attempt.State.choices)


class AttemptFilters(FilterSet):
    """Attempts at runs of a campaign."""

    run = Whole(field_name="run__position")
    cell = Whole(field_name="run__cell__position")
    purpose = Choice(field_name="run__purpose", choices=Run.Purpose.choices)
    state = Choice(choices=Attempt.State.choices)
    worker = Word()


class MeasurementFilters(ObservedFilters):
    """Values; `metric` by its name."""

    metric = Word(method="of_metric")

    def of_metric(self, rows: MeasurementQuerySet, name: str, metric: str) -> QuerySet[Measurement]:
        """Return the values of a metric, without a look at others of the same attempts."""
        return rows.of(metric)


class ProofFilters(ObservedFilters):
    """Proofs; `step` is `reset` or `verify`."""

    step = Choice(choices=Proof.Step.choices)
    ok = Truth()


class NamedFilters(ObservedFilters):
    """Distributions or series by name."""

    name = Word()


class ExclusionFilters(FilterSet):
    """Exclusions of a campaign; `standing`: whether they are in force."""

    run = Whole(field_name="run__position")
    standing = Truth(field_name="withdrawn_at", lookup_expr="isnull")


class LogLineFilters(FilterSet):
    """Lines of a campaign's log."""

    run = Whole(field_name="run__position")
    after = Moment(field_name="at", lookup_expr="gte")


class SubmissionFilters(FilterSet):
    """Submissions."""

    state = Choice(choices=Submission.State.choices)
    campaign = Whole(field_name="campaign_id")
    format = Word(most=50)
