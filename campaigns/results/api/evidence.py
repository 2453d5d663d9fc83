"""What runs observed and proved, one kind at a time, over all runs of a campaign."""

from decimal import Decimal
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api import filters
from campaigns.kit.api.filters import FilterSet
from campaigns.kit.api.inputs import NoQuery
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.selection import Selectable
from campaigns.kit.api.shapes import CellOutput
from campaigns.models import Attempt, Distribution, Measurement, Proof, Series
from campaigns.planning.api.base import CampaignApi
from campaigns.results.api import evidence_outputs as outputs
from campaigns.results.api.base import RunApi
from campaigns.results.api.run_outputs import AttemptOutput, PercentilesQuery, RunQuery

TAG = "evidence"


class Evidence(CampaignApi):
    """A list of everything of one kind that attempts at runs of a campaign left behind."""

    model: ClassVar[type[Model]]
    output: ClassVar[type[Selectable]]
    narrowing: ClassVar[type[FilterSet]]
    unread: ClassVar[tuple[str, ...]] = ()
    """Columns that a list does not show."""

    def rows(self, request: Request, pk: int) -> Response:
        """Give them in the order in which they were stored."""
        found: QuerySet[Any] = self.model._default_manager.filter(
            attempt__run__campaign=self.campaign(pk)
        )
        rows = found.select_related("attempt__run__cell").defer(*self.unread)
        return self.page(rows, self.output, "pk", self.narrowing)


class Measurements(Evidence):
    """GET: values of all metrics, with their units."""

    model, output, narrowing = Measurement, outputs.MeasurementRow, filters.Measurements

    @operation(
        "list_measurements",
        TAG,
        answer=outputs.MeasurementRow,
        paged=True,
        filters=filters.Measurements,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """Values of all runs, failed and void attempts among them: `attempt_state` tells."""
        return self.rows(request, pk)


class Proofs(Evidence):
    """GET: proofs of clean state and same work."""

    model, output, narrowing = Proof, outputs.ProofRow, filters.Proofs

    @operation(
        "list_proofs",
        TAG,
        answer=outputs.ProofRow,
        paged=True,
        filters=filters.Proofs,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """Probes of clean state before, and of same work after, with what they measured."""
        return self.rows(request, pk)


class Distributions(Evidence):
    """GET: which distributions there are."""

    model, output, narrowing = Distribution, outputs.DistributionRow, filters.Distributions
    unread = ("encoded",)

    @operation(
        "list_distributions",
        TAG,
        answer=outputs.DistributionRow,
        paged=True,
        filters=filters.Distributions,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """Distributions of samples, each of one attempt; percentiles are at their `url`."""
        return self.rows(request, pk)


class SeriesOfRuns(Evidence):
    """GET: which series there are."""

    model, output, narrowing = Series, outputs.SeriesRow, filters.SeriesOfRuns

    @operation(
        "list_series",
        TAG,
        answer=outputs.SeriesRow,
        paged=True,
        filters=filters.SeriesOfRuns,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """What runs carried over their time; values are at their `url`."""
        return self.rows(request, pk)


class Attempts(CampaignApi):
    """GET: attempts at runs."""

    @operation(
        "list_attempts",
        TAG,
        answer=outputs.AttemptRow,
        paged=True,
        filters=filters.Attempts,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int) -> Response:
        """Attempts at all runs, also those that were void or lost."""
        rows = Attempt.objects.filter(run__campaign=self.campaign(pk)).select_related("run__cell")
        return self.page(rows, outputs.AttemptRow, "pk", filters.Attempts)


class OfOneAttempt(RunApi):
    """What views of one attempt share."""

    def attempt(self, pk: int, position: int, number: int, *, trial: bool) -> Attempt:
        """Find it, or raise Http404."""
        run = self.run(pk, position, trial=trial)
        found = next((each for each in run.attempts.all() if each.number == number), None)
        if found is None:
            raise Http404(f"Run {position} has no attempt {number}.")
        found.run = run
        return found


class OneAttempt(OfOneAttempt):
    """GET: one attempt with its evidence."""

    @operation("get_attempt", TAG, answer=AttemptOutput, query=RunQuery, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int, position: int, number: int) -> Response:
        """One attempt with everything that it observed and proved."""
        trial = self.read_query(RunQuery)["trial"]
        return Response(self.shown(self.attempt(pk, position, number, trial=trial), AttemptOutput))


class OneDistribution(OfOneAttempt):
    """GET: one distribution with its percentiles."""

    @operation(
        "get_distribution",
        TAG,
        answer=outputs.DistributionDetail,
        query=PercentilesQuery,
        refusals=[NOT_FOUND],
    )
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """A distribution with its percentiles, and as HDR histogram."""
        asked = self.read_query(PercentilesQuery)
        attempt = self.attempt(pk, position, number, trial=asked["trial"])
        found = attempt.distributions.filter(name=name).first()
        if found is None:
            raise Http404(f"This attempt has no distribution “{name}”.")
        found.attempt = attempt
        shares = [float(Decimal(text) / 100) for text in asked.get("percentiles", ())]
        return Response(self.shown(found, outputs.DistributionDetail, shares=shares))


class OneSeries(OfOneAttempt):
    """GET: one series with its values."""

    @operation("get_series", TAG, answer=outputs.SeriesDetail, query=RunQuery, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int, position: int, number: int, name: str) -> Response:
        """A series with its values."""
        trial = self.read_query(RunQuery)["trial"]
        attempt = self.attempt(pk, position, number, trial=trial)
        found = attempt.series.filter(name=name).first()
        if found is None:
            raise Http404(f"This attempt has no series “{name}”.")
        found.attempt = attempt
        return Response(self.shown(found, outputs.SeriesDetail))


class Cells(CampaignApi):
    """GET: the cells of a campaign."""

    @operation("list_cells", "campaigns", answer=CellOutput, paged=True, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int) -> Response:
        """Combinations of levels, by position."""
        return self.page(self.campaign(pk).cells.all(), CellOutput, "position")


class OneCell(CampaignApi):
    """GET: one cell."""

    @operation("get_cell", "campaigns", answer=CellOutput, refusals=[NOT_FOUND])
    def get(self, request: Request, pk: int, position: int) -> Response:
        """One combination of levels."""
        self.read_query(NoQuery)
        found = self.campaign(pk).cells.filter(position=position).first()
        if found is None:
            raise Http404(f"This campaign has no cell {position}.")
        return Response(self.shown(found, CellOutput))
