"""Make a check of a target's fitness from its page."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from campaigns.kit.errors import Invalid, NotConfirmed, NotPossible
from campaigns.kit.events import work_waits
from campaigns.kit.forms import is_key
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.planning.fitness.making import make_check, make_more


@require_POST
@takes(Right.OPERATE, Target)
def make(request: HttpRequest, pk: int) -> HttpResponse:
    """Launch the campaign of a check, or add two runs to it."""
    target, user = get_object_or_404(Target, pk=pk, retired_at=None), user_of(request)
    name = request.POST.get("check", "")
    try:
        if request.POST.get("act") == "more":
            campaign = make_more(name, target, user)
        else:
            campaign = make_check(
                name,
                target,
                user,
                request.POST.get("directory", "").strip(),
                scale=_scale(request),
            )
    except NotConfirmed as error:
        messages.warning(
            request,
            f"{error} Make the check by REST with confirm_target, or launch its campaign from the form, which asks for it.",
        )
    except Invalid as invalid:
        for texts in invalid.errors.values():
            for text in texts:
                messages.warning(request, text)
    except (NotPossible, PermissionDenied) as error:
        messages.warning(request, str(error))
    else:
        work_waits.send(sender=None)
        messages.success(
            request, "The check has started; its outcome appears on the page of the target."
        )
        return redirect("campaign", campaign.pk)
    return redirect("target", pk)


def _scale(request: HttpRequest) -> int | None:
    """Return the scale that was typed; None where none was. Raise Invalid."""
    text = request.POST.get("scale", "").strip()
    if text and not is_key(text):
        raise Invalid({"scale": [f"“{text[:20]}” is no scale; give a whole number."]})
    return int(text) if text else None
