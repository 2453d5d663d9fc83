"""Runs: read, cancel, run again."""

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import CancelInput, ConfirmInput
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import selected
from campaigns.kit.events import work_waits
from campaigns.kit.rights import Right
from campaigns.models import LaunchRequest, Run
from campaigns.planning import lifecycle
from campaigns.planning.api.base import CampaignApi
from campaigns.planning.api.launch_outputs import LaunchRequestOutput
from campaigns.results import records
from campaigns.results.api.base import RunApi
from campaigns.results.api.run_outputs import OBSERVED, RunDetail, RunOutput, RunQuery
from campaigns.results.api.submissions import APPENDING, Receiving, append_runs
from campaigns.results.filters import RunFilters


class Runs(CampaignApi, Receiving):
    """GET: the runs of a campaign, filtered. POST: more runs that were made elsewhere."""

    takes = {"post": Right.WRITE}
    admits_later = frozenset({"post"})

    @operation("list_runs", "runs", answer=RunOutput, filters=RunFilters)
    def get(self, request: Request, pk: int) -> Response:
        """Runs by position, try-outs last, with all values of the attempt that stands for each."""
        only = selected(request, RunOutput)
        observed = only is None or bool(only & OBSERVED)
        campaign = self.campaign(pk)
        order = records.order_of_runs(campaign)
        rows = records.runs(campaign, observed=observed)
        if order == "position":
            rows = rows.exclude(purpose=Run.Purpose.TRIAL)
        return self.page(rows, RunOutput, order, RunFilters)

    @APPENDING
    def post(self, request: Request, pk: int) -> HttpResponseBase:
        """Add runs to a campaign that came from outside: all of them, or none.

        200: all were there already, exactly so.
        """
        return append_runs(self, request, pk)


class OneRun(RunApi):
    """GET: one run with everything that its attempts observed and proved."""

    @operation("get_run", "runs", answer=RunDetail, query=RunQuery)
    def get(self, request: Request, pk: int, position: int) -> Response:
        """One run with everything that its attempts observed and proved."""
        trial = self.read_query(RunQuery)["trial"]
        return Response(self.shown(self.run(pk, position, trial=trial), RunDetail))


class CancelRun(RunApi):
    """POST {reason}: end one run."""

    takes = {"post": Right.OPERATE}

    @operation("cancel_run", "runs", body=CancelInput, answer=RunDetail)
    def post(self, request: Request, pk: int, position: int) -> Response:
        """End one run; the campaign goes on without it."""
        lifecycle.cancel_run(self.run(pk, position), self.read(CancelInput)["reason"], self.user)
        work_waits.send(sender=None)
        return Response(self.shown(self.run(pk, position), RunDetail))


class RunAgain(RunApi):
    """POST {confirm_target}: plan a failed or void run once more."""

    takes = {"post": Right.OPERATE}

    @operation("repeat_run", "runs", later=LaunchRequestOutput, body=ConfirmInput, answer=RunDetail)
    def post(self, request: Request, pk: int, position: int) -> Response:
        """Plan a failed or void run once more; its former attempts stay on record."""
        name = self.read(ConfirmInput)["confirm_target"]
        made = lifecycle.run_again(self.run(pk, position), self.user, name)
        if isinstance(made, LaunchRequest):
            return self.approval_answer(made)
        work_waits.send(sender=None)
        return Response(self.shown(self.run(pk, position), RunDetail))
