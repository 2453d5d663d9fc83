"""The bundle of a conclusion with its report, and how any bundle is sent."""

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
    """The bundle of a conclusion with its report in both forms. Raise NotReady."""
    report = report_of(conclusion)
    reports = {"report.html": standalone(report), "report.md": markdown(report)}
    return bundle_of_conclusion(conclusion, reports)


def attachment(conclusion: Conclusion) -> str:
    """Say in a header how the bundle of a conclusion is called."""
    return f'attachment; filename="{file_name(conclusion, "zip")}"'


def answered(subject: Campaign | Conclusion, name: str, ready: Ready) -> FileResponse:
    """Send a bundle, and write down who took it."""
    campaign = subject if isinstance(subject, Campaign) else None
    activity.record(Action.BUNDLE_DOWNLOADED, subject=subject, campaign=campaign, seal=ready.seal)
    headers = {"Content-Disposition": name, HEADER: ready.seal}
    return FileResponse(ready.file, content_type=ZIP, headers=headers)
