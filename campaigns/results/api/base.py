"""The base class of views of one run."""

from django.http import Http404

from campaigns.models import Run
from campaigns.planning.api.base import CampaignApi
from campaigns.results import records


class RunApi(CampaignApi):
    """A view of one run of a campaign."""

    def run(self, pk: int, position: int, *, trial: bool = False) -> Run:
        """Return a run, or a try-out, with what its attempts observed. Raise Http404."""
        try:
            return records.with_evidence(self.campaign(pk)).at(position, trial=trial)
        except Run.DoesNotExist:
            what = "try-out" if trial else "run"
            raise Http404(f"This campaign has no {what} {position}.") from None
