"""The page of notification channels and recent deliveries of the user."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.accounts.notifications import channels, confirming, defaults
from campaigns.accounts.notifications.sent_messages import deliveries_of, described
from campaigns.accounts.pages.channel_forms import ChannelForm
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors
from campaigns.kit.marks import DELIVERIES
from campaigns.kit.pages.moved import seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right
from campaigns.models import Channel

SHOWN = 20


@takes(Right.SEE)
@require_GET
def notifications(request: HttpRequest) -> HttpResponse:
    """Show the channels of the user, and the last deliveries."""
    return _page(request)


@takes(Right.SEE)
@never_cache
@require_POST
def channel_new(request: HttpRequest) -> HttpResponse:
    """Create a channel, and show the secret of a webhook once."""
    form = ChannelForm(user_of(request), None, request.POST)
    try:
        row, secret = channels.save_channel(form.sent(), user_of(request))
    except Invalid as invalid:
        add_errors(form, invalid)
        return _page(request, form, status=422)
    if secret:
        return _page(request, made=row, secret=secret)
    messages.success(request, f"“{row.name}” was added.")
    return redirect("notifications")


@takes(Right.SEE)
@require_POST
def channel_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a channel of the user."""
    row = _mine(request, pk)
    user = user_of(request)
    try:
        with held(row, channels.revised, seen_in(request)):
            saved, _ = channels.save_channel(ChannelForm(user, row, request.POST).sent(), user, row)
    except (Invalid, Changed) as error:
        changed = error if isinstance(error, Changed) else None
        form = ChannelForm(user, _mine(request, pk), request.POST, changed)
        if isinstance(error, Invalid):
            add_errors(form, error)
        return _page(request, form, status=409 if changed else 422)
    messages.success(request, f"“{saved.name}” was saved.")
    return redirect("notifications")


@takes(Right.SEE)
@require_POST
def channel_trial(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test message through a channel."""
    done = "A test is being sent through “{}”; the result appears below."
    return _do(request, pk, channels.try_out, done)


@takes(Right.SEE)
@never_cache
@require_POST
def channel_secret(request: HttpRequest, pk: int) -> HttpResponse:
    """Replace the secret of a webhook, and show it once."""
    row = _mine(request, pk)
    try:
        secret = channels.rotate_secret(row)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("notifications")
    row.refresh_from_db()
    return _page(request, made=row, secret=secret)


@takes(Right.SEE)
@require_POST
def channel_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a channel."""
    return _do(request, pk, channels.delete_channel, "“{}” was deleted.")


@takes(Right.SEE)
@require_http_methods(["GET", "POST"])
def channel_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Ask the user to confirm an e-mail address; POST confirms it."""
    try:
        row = confirming.channel_of(token, user_of(request))
    except confirming.NotConfirmable as refusal:
        messages.warning(request, str(refusal))
        return redirect("notifications")
    if request.method == "POST":
        channels.confirm(row)
        messages.success(
            request, f"“{row.name}” is confirmed; you will be notified of what you chose."
        )
        return redirect("notifications")
    return render(request, "accounts/notifications/confirm.html", {"channel": row})


def _mine(request: HttpRequest, pk: int) -> Channel:
    return get_object_or_404(Channel, pk=pk, user=user_of(request))


def _do(request: HttpRequest, pk: int, act: Callable[[Channel], object], done: str) -> HttpResponse:
    """Call `act` with a channel of the user; show `done`, with {} for the name of the channel."""
    row = _mine(request, pk)
    try:
        act(row)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, done.format(row.name))
    return redirect("notifications")


def _page(
    request: HttpRequest,
    form: ChannelForm | None = None,
    *,
    made: Channel | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page; `form`: the one with errors."""
    user = user_of(request)
    defaults.give_default_channels([user])
    forms = [ChannelForm(user, each) for each in (*user.channels.all(), None)]
    forms = [form if form and form.key == each.key else each for each in forms]
    context = {
        "channels": forms[:-1],
        "new": forms[-1],
        "deliveries": [
            (described(each), DELIVERIES[each.state]) for each in deliveries_of(user)[:SHOWN]
        ],
        "made": made,
        "secret": secret,
        "former_hours": channels.FORMER_HOURS if made and made.former_secret else 0,
    }
    return render(request, "accounts/notifications/notifications.html", context, status=status)
