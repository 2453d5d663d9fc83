"""Make an A/A draft from a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from campaigns.kinds.base import Driver
from campaigns.kinds.registry import offered_kinds
from campaigns.kit.errors import Invalid
from campaigns.kit.numbers import without_sign
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Target
from campaigns.planning import calibrating
from campaigns.planning.noise import Calibrations, calibrations_on


@dataclass(frozen=True, slots=True)
class KindNoise:
    """The known noise of a kind on a target, and where a calibration starts.

    like: the latest campaign of the kind there; address: the form, where there is none.
    """

    label: str
    known: Calibrations | None
    floor: str
    like: Campaign | None
    address: str


@require_POST
@takes(Right.WRITE, Campaign)
def calibrate(request: HttpRequest, pk: int) -> HttpResponse:
    """Create the draft of an A/A campaign like this one."""
    campaign = get_object_or_404(Campaign.objects.select_related("target"), pk=pk)
    try:
        made = calibrating.calibrate(campaign, user_of(request))
    except Invalid as invalid:
        for texts in invalid.errors.values():
            for text in texts:
                messages.warning(request, text)
        return redirect("campaign", pk)
    messages.success(
        request,
        "This draft measures one setting under two blind labels. Nothing runs before you launch it.",
    )
    return redirect("campaign", made.pk)


def noise_of_kinds(target: Target) -> Sequence[KindNoise]:
    """Return the known noise of each kind that can measure a target."""
    return [
        _of_kind(name, driver, target)
        for name, driver in offered_kinds([cast(int, target.team_id)]).items()
        if driver.executable and driver.probes(target.family)
    ]


def _of_kind(kind: str, driver: Driver, target: Target) -> KindNoise:
    known = calibrations_on(kind, driver.primary_metric.name, target)
    requested = urlencode({"kind": kind, "target": str(target.pk), "calibrate": "1"})
    return KindNoise(
        label=driver.label,
        known=known,
        floor=without_sign(known.floor_pct) if known else "",
        like=Campaign.objects.filter(kind=kind, target=target).order_by("-created_at").first(),
        address=f"{reverse('campaign-new')}?{requested}",
    )
