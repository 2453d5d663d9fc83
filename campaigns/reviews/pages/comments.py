"""Pages of comments: threads of a campaign or conclusion; write, edit, delete, resolve."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.pages.moved import opened_on, seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, held, revision_of
from campaigns.kit.rights import Right
from campaigns.kit.rights import may as may_in
from campaigns.models import Campaign, Comment, Conclusion, Team, Thread
from campaigns.reviews import comments
from campaigns.reviews.comments.mentions import mentioned, sentence_of
from campaigns.reviews.pages.threads import Writing, html_of, thread_view, writing_on
from campaigns.reviews.threads import names_to_mention, threads, threads_on

Within = tuple[Team, Conclusion | None]
"""Whose members may be mentioned, and what they have to see for that."""
MOST = 200
"""Threads on one page."""


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Campaign, change=Right.COMMENT)
def campaign_threads(request: HttpRequest, pk: int) -> HttpResponse:
    """Threads of a campaign; `?on=` and `?key=` narrow, and say what a new one is on."""
    return _threads(request, get_object_or_404(Campaign.objects.select_related("team"), pk=pk))


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Conclusion, change=Right.COMMENT)
def conclusion_threads(request: HttpRequest, pk: int) -> HttpResponse:
    """Threads of a conclusion."""
    return _threads(request, get_object_or_404(Conclusion.objects.select_related("team"), pk=pk))


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Thread, change=Right.COMMENT)
def thread(request: HttpRequest, pk: int) -> HttpResponse:
    """One thread, with the form to answer; whoever looks has seen where it mentions him."""
    result = get_object_or_404(threads(), pk=pk)
    user = user_of(request)
    writing = _answering(result) if may_in(user, result.team_id, Right.COMMENT) else None
    context = {"view": thread_view(result, user), "what": result.campaign or result.conclusion}
    if request.method == "POST" and writing is not None:
        return _written(
            request,
            writing,
            (result.team, result.conclusion),
            lambda text: comments.reply(result, text, user),
            lambda tried: _draw(
                request, "reviews/comments/thread.html", context | {"writing": tried}
            ),
        )
    comments.see_mentions(result, user)
    return _draw(request, "reviews/comments/thread.html", context | {"writing": writing})


@require_POST
@takes(Right.COMMENT, Thread)
def resolve(request: HttpRequest, pk: int) -> HttpResponse:
    """Settle a thread."""
    return _settle(request, pk, comments.resolve)


@require_POST
@takes(Right.COMMENT, Thread)
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open a thread again."""
    return _settle(request, pk, comments.reopen)


@require_http_methods(["GET", "POST"])
@takes(Right.COMMENT, Comment)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change one's own comment."""
    comment = get_object_or_404(
        Comment.objects.select_related("thread__team", "thread__conclusion"), pk=pk
    )
    user = user_of(request)
    if comment.author_id != user.pk:
        raise PermissionDenied("Only its author can change a comment.")
    if comment.deleted_at is not None:
        messages.warning(request, "This comment was deleted.")
        return redirect("thread", comment.thread_id)
    team = comment.thread.team
    writing = Writing(
        "change",
        reverse("comment-edit", args=[pk]),
        "Save",
        names_to_mention(team, comment.thread.conclusion),
        label="Your comment",
        text=comment.text,
        seen=opened_on(request, comments.revised(comment)),
    )
    context = {"thread": comment.thread}
    if request.method == "POST":
        return _written(
            request,
            writing,
            (team, comment.thread.conclusion),
            lambda text: _edited(request, comment, text),
            lambda tried: _draw(
                request, "reviews/comments/edit.html", context | {"writing": tried}
            ),
        )
    return _draw(request, "reviews/comments/edit.html", context | {"writing": writing})


@require_POST
@takes(Right.COMMENT, Comment)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the text of one's own comment away."""
    comment = get_object_or_404(Comment, pk=pk)
    try:
        comments.delete(comment, user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, "Your comment is deleted.")
    return redirect("thread", comment.thread_id)


def _threads(request: HttpRequest, what: Campaign | Conclusion) -> HttpResponse:
    user = user_of(request)
    sent = request.POST if request.method == "POST" else request.GET
    on, key = sent.get("on", ""), sent.get("key", "")
    context: dict[str, Any] = {"what": what, "is_campaign": isinstance(what, Campaign)}
    try:
        place = comments.place_on(what, on, key)
    except Invalid as invalid:
        text = " ".join(text for texts in invalid.errors.values() for text in texts)
        messages.warning(request, text)
        return redirect(request.path)
    rows = threads_on(what)
    if key:
        rows = rows.filter(on=place.on, key=place.key)
    context |= {
        "place": comments.place_text(place),
        "page": comments.page_of(place),
        "views": [thread_view(row, user) for row in rows[:MOST]],
    }
    writing = writing_on(what, user, place.on if place.key else "", place.key)
    if request.method == "POST" and writing is not None:
        return _written(
            request,
            writing,
            (place.team, place.conclusion),
            lambda text: comments.begin(place, text, user),
            lambda tried: _draw(
                request, "reviews/comments/list.html", context | {"writing": tried}
            ),
        )
    return _draw(request, "reviews/comments/list.html", context | {"writing": writing})


def _edited(request: HttpRequest, comment: Comment, text: str) -> comments.Written:
    """Change a comment where it says what the form was opened on. Raise Changed and what `edit` raises."""
    with held(comment, comments.revised, seen_in(request)):
        return comments.edit(comment, text, user_of(request))


def _written(
    request: HttpRequest,
    writing: Writing,
    within: Within,
    store: Callable[[str], comments.Written],
    draw: Callable[[Writing], HttpResponse],
) -> HttpResponse:
    """Show how it will look, or store it and go to its thread; or show what is wrong."""
    text = request.POST.get("text", "")
    tried = replace(writing, text=text)
    if request.POST.get("act") == "preview":
        return _preview(request, tried, within, draw)
    try:
        written = store(text)
    except Invalid as invalid:
        page = draw(replace(tried, errors=invalid.errors.get("text", [str(invalid)])))
        page.status_code = 422
        return page
    except Changed as changed:
        now = f"You changed this comment in another tab. It says now: “{changed.stored['text']}”. "
        again = "Save again to replace that by what stands here."
        page = draw(replace(tried, errors=[now + again], seen=revision_of(changed.stored)))
        page.status_code = 409
        return page
    except NotPossible as refusal:
        page = draw(replace(tried, errors=[str(refusal)]))
        page.status_code = 409
        return page
    if written.left:
        messages.warning(request, sentence_of(written.left))
    address = reverse("thread", args=[written.comment.thread_id])
    return redirect(f"{address}#comment-{written.comment.pk}")


def _preview(
    request: HttpRequest, tried: Writing, within: Within, draw: Callable[[Writing], HttpResponse]
) -> HttpResponse:
    text = tried.text[: tried.longest]
    result = mentioned(text, *within)
    html = html_of(text, [user.get_username() for user in result.people])
    shown = replace(tried, preview=html, errors=[sentence_of(result.left)] if result.left else [])
    if request.headers.get("HX-Request"):
        return render(request, "reviews/comments/_preview.html", {"writing": shown})
    return draw(shown)


def _answering(result: Thread) -> Writing:
    return Writing(
        "answer",
        reverse("thread", args=[result.pk]),
        "Answer",
        names_to_mention(result.team, result.conclusion),
        label="Your answer",
    )


def _settle(request: HttpRequest, pk: int, act: Callable[[Thread, Any], None]) -> HttpResponse:
    row = get_object_or_404(Thread.objects.select_related("campaign", "conclusion"), pk=pk)
    try:
        act(row, user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    return redirect("thread", pk)


def _draw(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    return render(request, template, context)
