"""By which ways somebody is told of what: his own channels, and what came of their deliveries."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.accounts.notifications import channels, confirming, defaults
from campaigns.accounts.notifications.told import deliveries_of, told
from campaigns.accounts.pages.channel_forms import Sent, channel_form, new_form
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.pages.moved import seen_in
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.revisions import Changed, held
from campaigns.kit.rights import Right
from campaigns.models import Channel
from campaigns.templatetags.marks import DELIVERIES

SHOWN = 20


@takes(Right.SEE)
@require_GET
def notifications(request: HttpRequest) -> HttpResponse:
    """The channels of the one who looks, and the last deliveries."""
    return _page(request)


@takes(Right.SEE)
@never_cache
@require_POST
def channel_new(request: HttpRequest) -> HttpResponse:
    """Make a channel; the secret of a webhook is shown this once."""
    sent = _sent(request.POST, "new") | {"is_on": True}
    try:
        row, secret = channels.save_channel(sent, user_of(request))
    except Invalid as invalid:
        return _page(request, sent=sent, errors=invalid.errors, status=422)
    if secret:
        return _page(request, made=row, secret=secret)
    messages.success(request, f"“{row.name}” was added.")
    return redirect("notifications")


@takes(Right.SEE)
@require_POST
def channel_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change one of one's own channels."""
    row = _mine(request, pk)
    sent = _sent(request.POST, str(pk)) | {"is_on": f"{pk}-is_on" in request.POST}
    try:
        with held(row, channels.revised, seen_in(request)):
            saved, _ = channels.save_channel(sent, user_of(request), row)
    except Invalid as invalid:
        return _page(request, sent=sent, errors=invalid.errors, at=pk, status=422)
    except Changed as changed:
        return _page(request, sent=sent, changed=changed, at=pk, status=409)
    messages.success(request, f"“{saved.name}” was saved.")
    return redirect("notifications")


@takes(Right.SEE)
@require_POST
def channel_trial(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a trial delivered by a channel."""
    done = "A test is being sent through “{}”; the result appears below."
    return _do(request, pk, channels.try_out, done)


@takes(Right.SEE)
@never_cache
@require_POST
def channel_secret(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a webhook another secret, and show it this once."""
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
    """Ask whether an e-mail address is one's own, and take it for that. A mere look changes nothing."""
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
    """Do something with one of one's own channels; `done` says so, with {} for its name."""
    row = _mine(request, pk)
    try:
        act(row)
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, done.format(row.name))
    return redirect("notifications")


def _sent(post: QueryDict, key: str) -> dict[str, Any]:
    """What the form of a key sent; its boxes that are not ticked send nothing."""
    names = [name for name in ("name", "kind", "address") if f"{key}-{name}" in post]
    sent: dict[str, Any] = {name: post[f"{key}-{name}"] for name in names}
    sent["kinds"] = post.getlist("kinds")
    sent["teams"] = post.getlist("teams") if post.get("which") == "some" else []
    return sent


def _page(
    request: HttpRequest,
    *,
    sent: Mapping[str, Any] | None = None,
    errors: Mapping[str, Sequence[str]] | None = None,
    changed: Changed | None = None,
    at: int | None = None,
    made: Channel | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    user = user_of(request)
    defaults.give_default_channels([user])
    wrong = Sent(sent or {}, errors or {}, changed)
    context = {
        "channels": [
            channel_form(each, user, wrong if each.pk == at else Sent())
            for each in user.channels.all()
        ],
        "new": new_form(user, wrong if at is None else Sent()),
        "told": [(told(each), DELIVERIES[each.state]) for each in deliveries_of(user)[:SHOWN]],
        "made": made,
        "secret": secret,
        "former_hours": channels.FORMER_HOURS if made and made.former_secret else 0,
    }
    return render(request, "accounts/notifications/notifications.html", context, status=status)
