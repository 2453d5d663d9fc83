"""Parts of the page of a running campaign, which htmx polls every two seconds.

Each has an ETag. Where nothing changed, htmx gets 204, since it would put the empty body of a 304
into the page; others get 304. Once the campaign is closed: 286, which ends the polling, and the
page loads again, now with the result.
"""

from collections.abc import Callable
from functools import wraps
from time import monotonic

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_GET

from campaigns.execution import live
from campaigns.execution.pages.run import STOP_POLLING
from campaigns.kit.forms import is_key
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign
from campaigns.overview.pages import running
from campaigns.results import versions

TICK_SECONDS = 5
"""Elapsed times go on where nothing else changes."""

View = Callable[[HttpRequest, Campaign, str], HttpResponse]
Version = Callable[[Campaign], str]
Wanted = Callable[[Campaign], bool]


def _is_open(campaign: Campaign) -> bool:
    return campaign.state in Campaign.ACTIVE


def polled(
    version: Version, wanted: Wanted = _is_open
) -> Callable[[View], Callable[..., HttpResponse]]:
    """Answer only where there is something new; end the polling when it is not needed any more."""

    def decorate(view: View) -> Callable[..., HttpResponse]:
        @require_GET
        @takes(Right.SEE, Campaign)
        @one_moment()
        @wraps(view)
        def answer(request: HttpRequest, pk: int) -> HttpResponse:
            campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
            if not wanted(campaign):
                return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
            etag = etag_of(version(campaign))
            if "HX-Request" in request.headers and request.headers.get("If-None-Match") == etag:
                return HttpResponse(status=204)
            unchanged = get_conditional_response(request, etag=etag)
            if unchanged is not None:
                return unchanged
            response = view(request, campaign, etag)
            response["ETag"] = etag
            response["Cache-Control"] = "private, no-cache"
            return response

        return answer

    return decorate


def etag_of(version: str) -> str:
    """Return the tag that a partial carries until its next request."""
    return quote_etag(version)


def progress_version(campaign: Campaign) -> str:
    """Return a tag that changes with every run, the progress of the attempt, and every few seconds."""
    current = live.current_of(campaign)
    reported = current.reported if current else {}
    tick = int(monotonic() / TICK_SECONDS)
    return versions.fingerprint(versions.version(campaign), reported, tick)


def figure_version(campaign: Campaign) -> str:
    """Return a tag that changes with the progress of the attempt, and with the run that ended last."""
    current, last = live.current_of(campaign), live.last_series(campaign)
    return versions.fingerprint(current and current.reported, last and last.pk)


@polled(progress_version)
def progress(request: HttpRequest, campaign: Campaign, etag: str) -> HttpResponse:
    """Return the progress and the current run. The page reloads if its buttons change."""
    if request.GET.get("state", campaign.state) != campaign.state:
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    part = running.progress_context(campaign, etag)
    return render(request, "overview/_progress.html", {"part": part})


@polled(versions.version)
def matrix(request: HttpRequest, campaign: Campaign, etag: str) -> HttpResponse:
    """Return the runs by cell and repetition."""
    part = running.matrix_context(campaign, etag)
    return render(request, "overview/_matrix.html", {"part": part})


@polled(versions.findings_version)
def so_far(request: HttpRequest, campaign: Campaign, etag: str) -> HttpResponse:
    """Return the results of the cells so far, without verdicts."""
    part = running.so_far_context(campaign, etag)
    return render(request, "overview/_so_far.html", {"part": part})


@require_GET
@takes(Right.SEE, Campaign)
def log(request: HttpRequest, pk: int) -> HttpResponse:
    """Return lines after `after`, and the element that requests the next ones."""
    campaign = get_object_or_404(Campaign, pk=pk)
    if not _is_open(campaign):
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    value = request.GET.get("after", "")
    after = int(value) if is_key(value) else None
    lines = live.log_of(campaign, after)
    if after is not None and not lines:
        return HttpResponse(status=204)
    context = {"campaign": campaign, "lines": lines, "last": lines[-1].pk if lines else 0}
    return render(request, "overview/_log_lines.html", context)


@polled(figure_version)
def figure(request: HttpRequest, campaign: Campaign, etag: str) -> HttpResponse:
    """Return the figure of the current run, or of the last one, as JSON."""
    plot = running.live_plot(campaign, live.current_of(campaign))
    return JsonResponse({"figure": plot.figure, "title": plot.title, "label": plot.label})


@polled(versions.version, live.trial_goes_on)
def trials(request: HttpRequest, campaign: Campaign, etag: str) -> HttpResponse:
    """Return the try-outs of a draft, while one is active."""
    part = running.trials_context(campaign, etag)
    return render(request, "planning/_trials.html", {"part": part})


@require_GET
@takes(Right.SEE, Campaign)
def analysis(request: HttpRequest, pk: int) -> HttpResponse:
    """Return 204 while the analysis is running; then the page reloads."""
    campaign = get_object_or_404(Campaign, pk=pk)
    if campaign.analysis_requested_at is not None:
        return HttpResponse(status=204)
    return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
