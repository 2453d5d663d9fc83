"""Where signed messages are posted: no page, and nobody is signed in. It tells nothing but that a message was taken."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from campaigns.kit import rates
from campaigns.kit.database_clock import database_now
from campaigns.models import LineHook
from campaigns.trends import asking, hooks

MOST_BYTES = 65_536


@csrf_exempt
@login_not_required
@require_POST
def line_hook(request: HttpRequest, token: str) -> HttpResponse:
    """Take a signed message: 202; 404 for what is not signed, too large or too old; 429 beyond 10 in a minute."""
    hook = LineHook.objects.filter(uid=token).select_related("line__target").first()
    if hook is None:
        raise Http404
    usage = rates.take(f"line:{hook.line_id}", asking.HOOKS)
    if usage is not None and not usage.allowed:
        return HttpResponse(status=429, headers={"Retry-After": str(int(usage.wait_seconds) + 1)})
    body = request.read(MOST_BYTES + 1)
    now = database_now().timestamp()
    if len(body) > MOST_BYTES or not hooks.receive(hook, request.headers, body, now):
        raise Http404
    return HttpResponse(status=202)
