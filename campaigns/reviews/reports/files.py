"""Reports as self-contained files: HTML that needs no network and no script, and Markdown."""

import hashlib
from base64 import b64encode
from functools import cache

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from campaigns.kit.styles import style_of
from campaigns.models import Conclusion
from campaigns.reviews.reports.values import Report

STYLES = ("style.css", "report.css")


def style() -> str:
    """Return the style sheets of a report, for the file itself."""
    return style_of(*STYLES)


@cache
def policy() -> str:
    """Return the Content-Security-Policy of a report: it can be shown, and nothing in it can run or load."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{digest}'",
            "style-src-attr 'unsafe-inline'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "sandbox",
        )
    )


def standalone(report: Report) -> str:
    """Return the report as one self-contained HTML file."""
    return render_to_string("reviews/reports/standalone.html", {"report": report, "style": style()})


def file_name(conclusion: Conclusion, ending: str) -> str:
    """Return the name of the file, in ASCII as headers require."""
    name = slugify(conclusion.claim)[:60].strip("-") or "report"
    return f"conclusion-{conclusion.pk}-{name}.{ending}"


def response(conclusion: Conclusion, text: str, ending: str, media_type: str) -> HttpResponse:
    """Return a text about a conclusion as a file to save, in which nothing can run."""
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(conclusion, ending)}"',
        "Content-Security-Policy": policy(),
    }
    return HttpResponse(text, content_type=media_type, headers=headers)


def page_of_message(title: str, message: str) -> str:
    """Return a page with one message, in the style of the reports."""
    return render_to_string(
        "reviews/reports/page_of_message.html",
        {"title": title, "message": message, "style": style()},
    )
