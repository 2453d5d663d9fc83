"""Pages of reports, and the files they are also to be had as."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Conclusion
from campaigns.reviews.reports import files
from campaigns.reviews.reports.building import report_of, report_of_campaign
from campaigns.reviews.reports.markdown import markdown
from campaigns.reviews.rows import require_to_see


@require_safe
@takes(Right.SEE, Conclusion)
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of a conclusion, in the house style and for printing."""
    result = _conclusion(request, pk)
    context = {"report": report_of(result), "conclusion": result}
    return render(request, "reviews/reports/report.html", context)


@require_safe
@takes(Right.SEE, Conclusion)
def report_html(request: HttpRequest, pk: int) -> HttpResponse:
    """The report as one file that needs nothing else."""
    result = _conclusion(request, pk)
    return _file(result, files.standalone(report_of(result)), "html", "text/html; charset=utf-8")


@require_safe
@takes(Right.SEE, Conclusion)
def report_markdown(request: HttpRequest, pk: int) -> HttpResponse:
    """The report for a pull request."""
    result = _conclusion(request, pk)
    return _file(result, markdown(report_of(result)), "md", "text/markdown; charset=utf-8")


@require_safe
@takes(Right.SEE, Campaign)
def draft_report(request: HttpRequest, pk: int) -> HttpResponse:
    """What a report of a campaign would be that nobody has concluded anything for."""
    campaign = campaign_of(request, pk)
    context = {"report": report_of_campaign(campaign), "campaign": campaign}
    return render(request, "reviews/reports/report.html", context)


def _conclusion(request: HttpRequest, pk: int) -> Conclusion:
    """What somebody may see, with all that it rests on. Raise NotVisible."""
    conclusion = Conclusion.objects.select_related("author", "team").get(pk=pk)
    require_to_see(user_of(request), conclusion)
    return conclusion


def _file(conclusion: Conclusion, text: str, ending: str, media_type: str) -> HttpResponse:
    name = files.file_name(conclusion, ending)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": files.policy(),
    }
    return HttpResponse(text, content_type=media_type, headers=headers)
