"""Filters of runs, of what their attempts left behind, and of submissions."""

from campaigns.kit.filters import Choice, FilterSet, Moment, Truth, Whole, Word
from campaigns.models import Attempt, Proof, Run, Submission


class RunFilters(FilterSet):
    """Runs of a campaign."""

    state = Choice(choices=Run.State.choices)
    purpose = Choice(choices=Run.Purpose.choices)
    cell = Whole(field_name="cell__position")
    block = Whole(field_name="block__number")


class ObservedFilters(FilterSet):
    """What attempts at runs of a campaign left behind; try-outs only where `purpose` says so."""

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

    metric = Word()


class ProofFilters(ObservedFilters):
    """Proofs; `step` is `reset` or `verify`."""

    step = Choice(choices=Proof.Step.choices)
    ok = Truth()


class NamedFilters(ObservedFilters):
    """Distributions or series by name."""

    name = Word()


class ExclusionFilters(FilterSet):
    """Exclusions of a campaign; `standing`: whether it was withdrawn since."""

    run = Whole(field_name="run__position")
    standing = Truth(field_name="withdrawn_at", lookup_expr="isnull")


class LogLineFilters(FilterSet):
    """Lines of a campaign's log."""

    run = Whole(field_name="run__position")
    after = Moment(field_name="at", lookup_expr="gte")


class SubmissionFilters(FilterSet):
    """What came from outside."""

    state = Choice(choices=Submission.State.choices)
    campaign = Whole(field_name="campaign_id")
    format = Word(most=50)
