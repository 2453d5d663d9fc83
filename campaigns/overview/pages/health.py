"""Health and readiness, for whoever watches over the processes. Open to all; tells nothing of the inside."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from campaigns.overview.readiness import OK, checks


@login_not_required
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Say that this process answers. It asks no database: a restart would not bring one back."""
    return JsonResponse({"status": OK})


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return whether all is there that a page needs; 503 where something is missing."""
    result = checks()
    is_ready = all(word == OK for word in result.values())
    status = OK if is_ready else "not ready"
    return JsonResponse({"status": status, **result}, status=200 if is_ready else 503)
