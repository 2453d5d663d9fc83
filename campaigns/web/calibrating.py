"""Calibrate (A/A): one click makes a draft of it; what an A/A campaign says, for its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from campaigns.charts.formats import counted
from campaigns.definition import calibrating
from campaigns.drivers import all_kinds
from campaigns.errors import Invalid
from campaigns.models import Campaign, Target
from campaigns.queries.noise import Calibrations, calibrations_on
from campaigns.queries.rights import Right
from campaigns.web.people import takes, user_of
from campaigns.web.phrases import p_text, percent


@dataclass(frozen=True, slots=True)
class CalibrationPanel:
    """What identical runs have shown. false_alarms: those of this campaign; so_far: of all here."""

    floor: str
    noise: str
    noise_interval: str
    run_noise: str
    labels: str
    pairs: int
    detectable: tuple[tuple[int, str], ...]
    false_alarms: str
    so_far: str


@dataclass(frozen=True, slots=True)
class KindNoise:
    """What is known of the noise of a kind on a target, and from where a calibration begins.

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
    """Make the draft of an A/A campaign like this one."""
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


def calibration_panel(campaign: Campaign, finding: Mapping[str, Any]) -> CalibrationPanel:
    """Write the finding of an A/A campaign."""
    low, high = finding["sd_ci_pct"]
    alarms, verdicts = finding["alarms"], finding["verdicts"]
    share = f"{100 * finding['alpha']:g} %"
    here = calibrations_on(campaign.kind, campaign.primary_metric, campaign.target)
    return CalibrationPanel(
        floor=_plain(finding["floor_pct"]),
        noise=_plain(finding["sd_pct"]),
        noise_interval=f"{_plain(low)} to {_plain(high)}",
        run_noise=_plain(finding["run_sd_pct"]),
        labels=f"{percent(finding['mean_pct'])}, p {p_text(finding['mean_p'])}",
        pairs=finding["n"],
        detectable=tuple((each["pairs"], _plain(each["pct"])) for each in finding["detectable"]),
        false_alarms=f"{alarms} of {counted(verdicts, 'comparison')} called better or worse: a false "
        f"alarm, which {share} of such comparisons are."
        if alarms
        else f"None of {counted(verdicts, 'comparison')} was called better or worse.",
        so_far=f"Of {counted(here.comparisons, 'A/A comparison')} of this kind and metric on this "
        f"server, {here.alarms} {'was a false alarm' if here.alarms == 1 else 'were false alarms'}; "
        f"at most about {share} should be."
        if here and here.comparisons > verdicts
        else "",
    )


def noise_of_kinds(target: Target) -> Sequence[KindNoise]:
    """What is known of each kind that can measure a target."""
    return [
        _of_kind(name, target)
        for name, driver in all_kinds().items()
        if driver.executable and target.family in driver.families
    ]


def _of_kind(kind: str, target: Target) -> KindNoise:
    driver = all_kinds()[kind]
    known = calibrations_on(kind, driver.primary_metric.name, target)
    asked = urlencode({"kind": kind, "target": str(target.pk), "calibrate": "1"})
    return KindNoise(
        label=driver.label,
        known=known,
        floor=_plain(known.result["floor_pct"]) if known else "",
        like=Campaign.objects.filter(kind=kind, target=target).order_by("-created_at").first(),
        address=f"{reverse('campaign-new')}?{asked}",
    )


def _plain(pct: float) -> str:
    return percent(pct).lstrip("+")
