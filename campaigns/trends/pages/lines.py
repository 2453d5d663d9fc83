"""Pages of lines: the list, one line with the history of a trend, its form, and what can be done with it."""

from collections.abc import Callable
from secrets import token_hex
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kinds.registry import label_of
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import inside
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.forms import add_errors
from campaigns.kit.moment import one_moment
from campaigns.kit.pages.moved import of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import campaign_of, may, takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Line
from campaigns.results.run_plots import Plot, labelled
from campaigns.trends import approvals, launching, lines, queries
from campaigns.trends.charts import history
from campaigns.trends.queries import TrendRow
from campaigns.trends.values import SessionPoint
from campaigns.trends.wording import sentences

PAGE_SIZE = 25
SESSIONS = 50
AXES = (("versions", "By version"), ("days", "By day"))
Change = Callable[[Line, Any], object]


@require_GET
@takes(Right.SEE)
def line_list(request: HttpRequest) -> HttpResponse:
    """Show a page of lines with a small curve for each trend; `?ended=1`: also those that have ended."""
    teams = may(request).see
    ended = request.GET.get("ended") == "1"
    rows = queries.lines_of(teams)
    page = Paginator(rows if ended else rows.filter(state__in=Line.OPEN), PAGE_SIZE)
    shown = page.get_page(request.GET.get("page"))
    context = {
        "page": shown,
        "rows": queries.line_rows(list(shown.object_list)),
        "ended": ended,
        "teams": len(teams) > 1,
    }
    return render(request, "trends/list.html", context)


@require_GET
@takes(Right.SEE, Line)
@one_moment()
def line_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one line: a sentence, the chart of one trend, its sessions, and the newest occasions."""
    line = get_object_or_404(queries.lines_of(may(request).see), pk=pk)
    rows = queries.trends_of(line)
    wanted = request.GET.get("trend", "")
    row = next((each for each in rows if str(each.trend.pk) == wanted), rows[0] if rows else None)
    by_version = bool(line.subject) and request.GET.get("axis") != "days"
    sessions = queries.sessions_of(line, by_version=by_version)
    points = queries.points_of(row.trend, sessions) if row else []
    page = Paginator(list(reversed(points)), SESSIONS).get_page(request.GET.get("page"))
    context = {
        "line": line,
        "kind": label_of(line.kind),
        "rows": rows,
        "row": row,
        "answer": sentences(
            row.trend.label, row.trend.unit, line.subject, row.state, list(sessions.values())
        )
        if row
        else None,
        "plot": _plot(row, points, by_version=by_version) if row else None,
        "page": page,
        "wants_approval": line.state == Line.State.PAUSED
        and bool(approvals.why_unapproved(line, database_now()))
        and line.owner_id != user_of(request).pk,
        "occasions": queries.latest_occasions(line),
        "axes": AXES if line.subject else (),
        "axis": "versions" if by_version else "days",
        "key": token_hex(8),
    }
    return render(request, "trends/line.html", context)


def _plot(row: TrendRow, points: list[SessionPoint], *, by_version: bool) -> Plot | None:
    trend = row.trend
    chart = history.HistoryChart(
        label=trend.label,
        quantity=Quantity(inside(trend.label), trend.unit, trend.lower_is_better),
        points=points,
        pages=[reverse("campaign", args=[each.session.campaign]) for each in points],
        by_version=by_version,
    )
    plot = history.plot(chart)
    simulators = dict.fromkeys(each.session.simulator for each in points if each.session.simulator)
    return labelled(plot, list(simulators)) if plot else None


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Campaign)
def line_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Begin a line with a campaign that has ended."""
    campaign = campaign_of(request, pk, Right.OPERATE)
    beginning = lines.beginning_of(campaign)
    if beginning.refused:
        messages.warning(request, beginning.refused)
        return redirect("campaign", pk)
    initial = {
        "name": campaign.name,
        "subject": beginning.subjects[0].name if beginning.subjects else "",
        "by_version": bool(campaign.target and beginning.subjects),
        "sessions_per_version": 1,
        "cron": lines.NIGHTLY if campaign.target else "",
        "zone": campaign.target.quiet_zone if campaign.target else "UTC",
        "minutes_a_week": Line._meta.get_field("minutes_a_week").default,
    }
    form = lines.LineForm(posted(request), initial=initial)
    form.offer(beginning.subjects)
    form.offer_builds(campaign.target)
    if request.method != "POST":
        return _form(request, form, campaign=campaign)
    try:
        made = lines.begin(campaign, form.data, user_of(request))
    except Invalid as invalid:
        add_errors(form, invalid)
        return _form(request, form, campaign=campaign, status=422)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    messages.success(request, f"“{made.name}” is a line of the team {made.team}.")
    return redirect("line", made.pk)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Line)
def line_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the name, the schedule and the budget of a line."""
    line = get_object_or_404(Line, pk=pk, state__in=Line.OPEN)
    stored = lines.description_of(line)
    form = lines.LineForm(posted(request), initial=stored)
    del form.fields["subject"]
    form.offer_builds(line.target)
    changed, status = None, 200
    if request.method == "POST":
        try:
            with held(line, lines.description_of, seen_in(request)):
                lines.change(line, form.data, user_of(request))
            return redirect("line", pk)
        except Invalid as invalid:
            add_errors(form, invalid)
            line.refresh_from_db()
            status = 422
        except Changed as error:
            changed, status = error, 409
        except NotPossible as refusal:
            messages.warning(request, str(refusal))
            return redirect("line", pk)
    seen, differs = opened_on(request, stored, changed), changed and of_form(changed, form)
    return _form(request, form, line=line, seen=seen, moved=differs, status=status)


@require_POST
@takes(Right.OPERATE, Line)
def line_measure(request: HttpRequest, pk: int) -> HttpResponse:
    """Launch a campaign of a line now; the form has a key, so that a second click launches nothing."""
    line = get_object_or_404(Line, pk=pk)
    key = f"hand {request.POST.get('key', '')[:40] or token_hex(8)}"
    try:
        occasion, _ = launching.measure(line, user_of(request), key)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("line", pk)
    work_waits.send(sender=None)
    return (
        redirect("campaign", occasion.campaign_id) if occasion.campaign_id else redirect("line", pk)
    )


@require_POST
@takes(Right.OPERATE, Line)
def line_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Measure a line no more until it is resumed."""
    return _changed(request, pk, lines.pause, "The line is paused: nothing is launched for it.")


@require_POST
@takes(Right.OPERATE, Line)
def line_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Measure a line again; who resumes it owns it."""
    return _changed(
        request, pk, lines.resume, "The line is on again, and yours: it launches as you."
    )


@require_POST
@takes(Right.OPERATE, Line)
def line_approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a line load its production server, as a second operator."""
    done = f"The line is approved for {approvals.DAYS} days, as long as nothing of it changes."
    return _changed(request, pk, lines.approve, done)


@require_POST
@takes(Right.OPERATE, Line)
def line_end(request: HttpRequest, pk: int) -> HttpResponse:
    """End a line for good; its sessions stay."""
    return _changed(request, pk, lines.end, "The line has ended. Its sessions stay.")


def _changed(request: HttpRequest, pk: int, change: Change, done: str) -> HttpResponse:
    try:
        change(get_object_or_404(Line, pk=pk), user_of(request))
        messages.success(request, done)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    except Invalid as invalid:
        messages.warning(
            request, " ".join(text for texts in invalid.errors.values() for text in texts)
        )
    return redirect("line", pk)


def _form(
    request: HttpRequest, form: lines.LineForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    return render(request, "trends/form.html", {"form": form, **context}, status=status)
