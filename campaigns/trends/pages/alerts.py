"""Pages of alerts: the lists, one alert with its evidence and handling, and mutes."""

from collections.abc import Set

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.numbers import change
from campaigns.kit.pages.moved import seen_in
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.revisions import Changed, revision_of
from campaigns.kit.rights import Right
from campaigns.models import Alert, AlertTrend, Line, Mute
from campaigns.stats.logs import pct_of
from campaigns.trends import alert_queries, handling, mutes
from campaigns.trends.turned import sign_of

A_PAGE = 25
MUTED_DAYS = 14


@require_GET
@takes(Right.SEE)
def alert_list(request: HttpRequest) -> HttpResponse:
    """Show the alerts of one's teams, those with something to do first."""
    which = request.GET.get("list", "todo")
    if which not in alert_queries.LISTS:
        raise Http404
    teams = may(request).see
    page = Paginator(alert_queries.alerts_of(teams, which), A_PAGE).get_page(
        request.GET.get("page")
    )
    counts = alert_queries.counts_of(teams)
    context = {
        "which": which,
        "lists": [(name, label, counts[name]) for name, (label, _) in alert_queries.LISTS.items()],
        "page": page,
        "rows": alert_queries.alert_rows(list(page.object_list)),
        "mutes": [(row, mutes.text_of(row)) for row in _mutes(teams)],
    }
    return render(request, "trends/alerts.html", context)


def _mutes(teams: Set[int]) -> QuerySet[Mute]:
    rows = mutes.in_force(timezone.now()).filter(team__in=teams)
    return rows.select_related("line", "trend__line", "target", "by", "team", "until_version")


@require_GET
@takes(Right.SEE, Alert)
def alert_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one alert: what moved, how it was measured again, what people did with it."""
    return _page(request, pk)


def _page(
    request: HttpRequest, pk: int, *, errors: dict[str, list[str]] | None = None, status: int = 200
) -> HttpResponse:
    alert = get_object_or_404(
        Alert.objects.select_related("team", "owner", "good", "bad", "fixed_in"), pk=pk
    )
    (row,) = alert_queries.alert_rows([alert])
    trends = AlertTrend.objects.filter(alert=alert).select_related(
        "trend__line", "reading__session__campaign"
    )
    context = {
        "alert": alert,
        "said": row.said,
        "trends": [(each, _size(each)) for each in trends],
        "lines": Line.objects.filter(trends__alert_trends__alert=alert).distinct().order_by("pk"),
        "confirmations": alert_queries.confirmations_of(alert),
        "seen": revision_of(handling.description_of(alert)),
        "errors": errors or {},
        "muted_days": MUTED_DAYS,
        "is_better": alert.direction == Alert.Direction.BETTER,
    }
    return render(request, "trends/alert.html", context, status=status)


def _size(row: AlertTrend) -> str:
    return "–" if row.estimate is None else change(pct_of(sign_of(row.trend) * row.estimate))


@require_POST
@takes(Right.WRITE, Alert)
def alert_word(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Do one thing with an alert."""
    if word not in handling.WORDS:
        raise Http404
    alert = get_object_or_404(Alert, pk=pk)
    post = request.POST
    said = handling.Said(
        reason=post.get("reason", ""),
        version=post.get("version", ""),
        person=post.get("person", ""),
        url=post.get("url", ""),
    )
    try:
        handling.handle(alert, word, said, user_of(request), seen_in(request))
    except Invalid as invalid:
        return _page(request, pk, errors=invalid.errors, status=422)
    except Changed:
        messages.warning(request, "Somebody changed this alert meanwhile: look at it again.")
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    return redirect("alert", pk)


@require_POST
@takes(Right.OPERATE, Line)
def line_mute(request: HttpRequest, pk: int) -> HttpResponse:
    """Mute a line for some days."""
    line = get_object_or_404(Line.objects.select_related("team"), pk=pk)
    days = request.POST.get("days", "")
    try:
        mutes.begin(
            line.team,
            mutes.Scope(line=line),
            user_of(request),
            days=int(days) if days.isdecimal() and len(days) < 5 else 0,
            reason=request.POST.get("reason", ""),
        )
        messages.success(request, f"Nobody is called about “{line}” for {days} days.")
    except Invalid as invalid:
        messages.warning(
            request, " ".join(text for each in invalid.errors.values() for text in each)
        )
    return redirect("line", pk)


@require_POST
@takes(Right.OPERATE, Mute)
def mute_end(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a mute back."""
    try:
        mutes.end(get_object_or_404(Mute, pk=pk), user_of(request))
        messages.success(request, "The mute has ended.")
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    return redirect("alert-list")
