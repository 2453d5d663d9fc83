"""Bundles for download: what verify_bundle recomputes offline."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Conclusion
from campaigns.results import exports
from campaigns.reviews.bundles import NotReady
from campaigns.reviews.bundles.sending import Ready, bundle_of
from campaigns.reviews.reports.bundle import answered, attachment, concluded
from campaigns.reviews.rows import require_to_see


@require_GET
@takes(Right.SEE, Campaign)
def campaign_bundle(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the bundle of a campaign."""
    campaign = campaign_of(request, pk)
    name = exports.attachment(campaign, "zip")
    return _sent(request, campaign, name, lambda: bundle_of([campaign]))


@require_GET
@takes(Right.SEE, Conclusion)
def conclusion_bundle(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the bundle of a conclusion: every campaign of its evidence, its text, and its report."""
    conclusion = Conclusion.objects.select_related("author", "team").get(pk=pk)
    require_to_see(user_of(request), conclusion)
    return _sent(request, conclusion, attachment(conclusion), lambda: concluded(conclusion))


def _sent(
    request: HttpRequest, subject: Campaign | Conclusion, name: str, write: Callable[[], Ready]
) -> HttpResponseBase:
    try:
        ready = write()
    except NotReady as why:
        messages.warning(request, f"There is no bundle yet. {why}")
        return redirect("campaign" if isinstance(subject, Campaign) else "conclusion", subject.pk)
    return answered(subject, name, ready)
