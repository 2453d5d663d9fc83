"""The bundle of a conclusion with its report, and the response that sends a bundle."""

from django.http import FileResponse

from campaigns.kit import activity
from campaigns.kit.activity import Action
from campaigns.models import Campaign, Conclusion
from campaigns.reviews.bundles.sending import HEADER, Ready, bundle_of_conclusion
from campaigns.reviews.reports.building import report_of
from campaigns.reviews.reports.files import file_name, standalone
from campaigns.reviews.reports.markdown import markdown

ZIP = "application/zip"


def concluded(conclusion: Conclusion) -> Ready:
    """Write the bundle of a conclusion with its report as HTML and Markdown. Raise NotReady."""
    report = report_of(conclusion)
    reports = {"report.html": standalone(report), "report.md": markdown(report)}
    return bundle_of_conclusion(conclusion, reports)


def attachment(conclusion: Conclusion) -> str:
    """Return the header with the file name of a conclusion's bundle."""
    return f'attachment; filename="{file_name(conclusion, "zip")}"'


def answered(subject: Campaign | Conclusion, name: str, ready: Ready) -> FileResponse:
    """Return the response with a bundle, and record who downloaded it."""
    campaign = subject if isinstance(subject, Campaign) else None
    activity.record(Action.BUNDLE_DOWNLOADED, subject=subject, campaign=campaign, seal=ready.seal)
    headers = {"Content-Disposition": name, HEADER: ready.seal}
    return FileResponse(ready.file, content_type=ZIP, headers=headers)
