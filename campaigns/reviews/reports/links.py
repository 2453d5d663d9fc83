"""Views of reports and of public links to them: create, list, revoke, read without an account."""

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from campaigns.kit import rates
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Conclusion, PublicLink
from campaigns.reviews import public_links
from campaigns.reviews.reports import files
from campaigns.reviews.reports.building import report_of, report_of_campaign, stands
from campaigns.reviews.reports.markdown import markdown
from campaigns.reviews.reports.scrubbing import host_like, scrubbed
from campaigns.reviews.reports.sizing import WRITERS, sizing_of
from campaigns.reviews.reports.values import Report
from campaigns.reviews.rows import require_to_see
from perfdash.clients import client_address

READS = rates.Rate(120, 60)
"""Of one link; each is written anew, so that a link that is dead shows nothing more."""
PUBLIC_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Right.REVIEW, Conclusion)
def link_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List the links of a conclusion. POST creates one and shows it, only this once."""
    conclusion = Conclusion.objects.get(pk=pk)
    require_to_see(user_of(request), conclusion)
    if request.method != "POST":
        return _page(request, conclusion)
    try:
        _, text = public_links.make_link(conclusion, user_of(request))
    except public_links.NoLink as refusal:
        return _page(request, conclusion, status=409, refusal=str(refusal))
    return _page(request, conclusion, address=public_address(request, text))


@require_POST
@takes(Right.REVIEW, Conclusion)
def link_revoke(request: HttpRequest, pk: int, link: int) -> HttpResponse:
    """Revoke a link."""
    public_links.revoke_link(get_object_or_404(PublicLink, pk=link, conclusion=pk))
    return redirect("public-links", pk)


@login_not_required
@require_safe
def public_report(request: HttpRequest, token: str) -> HttpResponse:
    """Show the report of a link to anybody, and nothing else.

    404 for anything but an active link; 410, without the reason, while the conclusion is not accepted.
    """
    conclusion = public_links.conclusion_by(token)
    if conclusion is None:
        return _no_report(request, client_address(request))
    usage = rates.take(f"public:{conclusion.pk}", READS)
    if usage is not None and not usage.allowed:
        return _text("Too many at once", "Read it again in a minute.", 429)
    if not stands(conclusion):
        text = "The report of this link is not accepted any more. Ask the person who gave you the link."
        return _text("This report was withdrawn", text, 410)
    return _public(files.standalone(_for_anybody(conclusion)), 200)


def public_address(request: HttpRequest, text: str) -> str:
    """Return the whole address of a link."""
    return request.build_absolute_uri(reverse("public-report", args=[text]))


def _for_anybody(conclusion: Conclusion) -> Report:
    return scrubbed(report_of(conclusion, public=True), conclusion)


def _no_report(request: HttpRequest, address: str | None) -> HttpResponse:
    """Refuse a wrong link, and count it by the address of its sender."""
    limit = settings.API_RATES["failure"]
    usage = limit and rates.take(f"public-guess:{address}", rates.Rate(*limit))
    if usage and not usage.allowed:
        return _text("Too many wrong links", "Try again in a minute.", 429)
    return _text("No report here", "The link is wrong, or it was revoked.", 404)


def _text(title: str, text: str, status: int) -> HttpResponse:
    answer = _public(files.page_of_message(title, text), status)
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


def _public(text: str, status: int) -> HttpResponse:
    headers = {**PUBLIC_HEADERS, "Content-Security-Policy": files.policy()}
    return HttpResponse(text, status=status, headers=headers)


def _page(
    request: HttpRequest, conclusion: Conclusion, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "conclusion": conclusion,
        "links": public_links.links_of(conclusion),
        "can_make": conclusion.state == Conclusion.State.ACCEPTED,
        "host_like": host_like(_for_anybody(conclusion)) if stands(conclusion) else [],
        **more,
    }
    return render(request, "reviews/reports/links.html", context, status=status)


@require_safe
@takes(Right.SEE, Conclusion)
@one_moment()
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the report of a conclusion, also for printing."""
    result = _conclusion(request, pk)
    context = {"report": report_of(result), "conclusion": result}
    return render(request, "reviews/reports/report.html", context)


@require_safe
@takes(Right.SEE, Conclusion)
@one_moment()
def report_html(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the report as one self-contained HTML file."""
    result = _conclusion(request, pk)
    return files.response(
        result, files.standalone(report_of(result)), "html", "text/html; charset=utf-8"
    )


@require_safe
@takes(Right.SEE, Conclusion)
@one_moment()
def report_markdown(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the report as Markdown, for a pull request."""
    result = _conclusion(request, pk)
    return files.response(result, markdown(report_of(result)), "md", "text/markdown; charset=utf-8")


@require_safe
@takes(Right.SEE, Conclusion)
@one_moment()
def sizing_file(request: HttpRequest, pk: int, ending: str) -> HttpResponse:
    """Send the sizing tables as CSV or Markdown."""
    result = _conclusion(request, pk)
    media_type, write = WRITERS[ending]
    return files.response(result, write(sizing_of(result)), f"sizing.{ending}", media_type)


@require_safe
@takes(Right.SEE, Campaign)
@one_moment()
def draft_report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the report of a campaign without a conclusion."""
    campaign = campaign_of(request, pk)
    context = {"report": report_of_campaign(campaign), "campaign": campaign}
    return render(request, "reviews/reports/report.html", context)


def _conclusion(request: HttpRequest, pk: int) -> Conclusion:
    """Return a conclusion that the user may see, with all its evidence. Raise NotVisible."""
    conclusion = Conclusion.objects.select_related("author", "team").get(pk=pk)
    require_to_see(user_of(request), conclusion)
    return conclusion
