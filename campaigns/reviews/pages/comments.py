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
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import TemplateContext
from campaigns.kit.pages.moved import opened_on, seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, held, revision_of
from campaigns.kit.rights import Right
from campaigns.kit.rights import may as may_in
from campaigns.models import Campaign, Comment, Conclusion, Team, Thread
from campaigns.reviews import comments
from campaigns.reviews.comments.mentions import mentioned, sentence_of
from campaigns.reviews.comments.queries import names_to_mention, threads, threads_on
from campaigns.reviews.filters import ThreadFilters
from campaigns.reviews.pages.threads import Writing, html_of, thread_view, writing_on

Within = tuple[Team, Conclusion | None]
"""The team whose members may be mentioned, and the conclusion that they must be able to see."""
MOST = 200
"""Threads on one page."""


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Campaign, change=Right.COMMENT)
def campaign_threads(request: HttpRequest, pk: int) -> HttpResponse:
    """List the threads of a campaign, filtered by `?on=`, `?key=` and `?resolved=`; POST begins one."""
    return _threads(request, get_object_or_404(Campaign.objects.select_related("team"), pk=pk))


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Conclusion, change=Right.COMMENT)
def conclusion_threads(request: HttpRequest, pk: int) -> HttpResponse:
    """List the threads of a conclusion; POST begins one."""
    return _threads(request, get_object_or_404(Conclusion.objects.select_related("team"), pk=pk))


@require_http_methods(["GET", "POST"])
@takes(Right.SEE, Thread, change=Right.COMMENT)
def thread(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one thread with a form to answer, and mark its mentions of the user as seen."""
    result = get_object_or_404(threads(), pk=pk)
    user = user_of(request)
    writing = _answering(result) if may_in(user, result.team_id, Right.COMMENT) else None
    context = {"view": thread_view(result, user), "what": result.campaign or result.conclusion}
    if request.method != "POST" or writing is None:
        comments.see_mentions(result, user)
    return _page(
        request,
        "reviews/comments/thread.html",
        context,
        writing,
        (result.team, result.conclusion),
        lambda text: comments.reply(result, text, user),
    )


@require_POST
@takes(Right.COMMENT, Thread)
def resolve(request: HttpRequest, pk: int) -> HttpResponse:
    """Resolve a thread."""
    return _settle(request, pk, comments.resolve)


@require_POST
@takes(Right.COMMENT, Thread)
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open a thread again."""
    return _settle(request, pk, comments.reopen)


@require_http_methods(["GET", "POST"])
@takes(Right.COMMENT, Comment)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a comment, as its author."""
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
    return _page(
        request,
        "reviews/comments/edit.html",
        {"thread": comment.thread},
        writing,
        (team, comment.thread.conclusion),
        lambda text: _edited(request, comment, text),
    )


@require_POST
@takes(Right.COMMENT, Comment)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the text of a comment, as its author."""
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
    try:
        place, filters = _read(request, what)
    except Invalid as invalid:
        text = " ".join(text for texts in invalid.errors.values() for text in texts)
        messages.warning(request, text)
        return redirect(request.path)
    context = {
        "what": what,
        "is_campaign": isinstance(what, Campaign),
        "place": comments.place_text(place),
        "page": comments.page_of(place),
        "views": [thread_view(row, user) for row in filters.rows[:MOST]],
    }
    writing = writing_on(what, user, place.on if place.key else "", place.key)
    return _page(
        request,
        "reviews/comments/list.html",
        context,
        writing,
        (place.team, place.conclusion),
        lambda text: comments.begin(place, text, user),
    )


def _read(
    request: HttpRequest, what: Campaign | Conclusion
) -> tuple[comments.Place, ThreadFilters]:
    """Return the subject of a new thread, and the filters of the list. Raise Invalid."""
    posted = request.method == "POST"
    sent = request.POST if posted else request.GET
    on, key = sent.get("on", ""), sent.get("key", "")
    # `?on=` without a key lists the threads on all subjects of a kind; a new thread is then on the campaign.
    place = comments.place_on(what, on if key or posted else "", key)
    stored_key = {"on": place.on, "key": place.key} if key else {}
    filters = ThreadFilters(request.GET.dict() | stored_key, threads_on(what))
    if not filters.is_valid():
        raise Invalid(messages_of(filters.form))
    return place, filters


def _edited(request: HttpRequest, comment: Comment, text: str) -> comments.Written:
    """Edit a comment that has not changed since the form was opened. Raise Changed and what `edit` raises."""
    with held(comment, comments.revised, seen_in(request)):
        return comments.edit(comment, text, user_of(request))


def _page(
    request: HttpRequest,
    template: str,
    context: TemplateContext,
    writing: Writing | None,
    within: Within,
    store: Callable[[str], comments.Written],
) -> HttpResponse:
    """Show a page with a form for a comment. POST: preview the comment, or store it and go to its thread."""

    def draw(writing: Writing | None, status: int = 200) -> HttpResponse:
        return render(request, template, context | {"writing": writing}, status=status)

    if request.method != "POST" or writing is None:
        return draw(writing)
    text = request.POST.get("text", "")
    tried = replace(writing, text=text)
    if request.POST.get("act") == "preview":
        return _preview(request, tried, within, draw)
    try:
        written = store(text)
    except Invalid as invalid:
        return draw(replace(tried, errors=invalid.errors.get("text", [str(invalid)])), 422)
    except Changed as changed:
        now = f"You changed this comment in another tab. Its text is now: “{changed.stored['text']}”. "
        again = "Save again to replace that by what stands here."
        return draw(replace(tried, errors=[now + again], seen=revision_of(changed.stored)), 409)
    except NotPossible as refusal:
        return draw(replace(tried, errors=[str(refusal)]), 409)
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
