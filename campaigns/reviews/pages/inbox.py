"""The inbox page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.reviews import comments
from campaigns.reviews.comments.inbox import inbox_line
from campaigns.reviews.inbox import MOST, count, waiting


@require_GET
@takes(Right.SEE)
def inbox(request: HttpRequest) -> HttpResponse:
    """Show all open items, the oldest first."""
    user = user_of(request)
    lines = [inbox_line(each) for each in waiting(user)]
    context = {
        "lines": lines,
        "more": count(user) - len(lines) if len(lines) >= MOST else 0,
        "mentions": any(line.why == "mention" for line in lines),
    }
    return render(request, "reviews/inbox.html", context)


@require_POST
@takes(Right.SEE)
def seen(request: HttpRequest) -> HttpResponse:
    """Mark all mentions of the user as seen."""
    number = comments.see_all_mentions(user_of(request))
    messages.success(request, f"{number} mention{'' if number == 1 else 's'} noted as seen.")
    return redirect("inbox")
