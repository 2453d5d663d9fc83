"""Reports as files that stand alone: HTML that needs no network and no script, and Markdown."""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from django.template.loader import render_to_string
from django.utils.text import slugify

from campaigns.models import Conclusion
from campaigns.reviews.reports.values import Report

STYLES = ("style.css", "report.css")


@cache
def style() -> str:
    """The style sheets of a report, as they stand in its file."""
    sheets = files("campaigns") / "static" / "campaigns"
    return "\n".join((sheets / name).read_text(encoding="utf-8") for name in STYLES)


@cache
def policy() -> str:
    """A policy under which a file of a report shows, and nothing else in it would do anything."""
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
    """Write the report as one file of HTML."""
    return render_to_string("reviews/reports/standalone.html", {"report": report, "style": style()})


def file_name(conclusion: Conclusion, ending: str) -> str:
    """What the file is called; letters of one alphabet, since headers take no others."""
    name = slugify(conclusion.claim)[:60].strip("-") or "report"
    return f"conclusion-{conclusion.pk}-{name}.{ending}"


def page_of_message(title: str, said: str) -> str:
    """Write a page that says one thing, in the same way."""
    return render_to_string(
        "reviews/reports/page_of_message.html", {"title": title, "said": said, "style": style()}
    )
