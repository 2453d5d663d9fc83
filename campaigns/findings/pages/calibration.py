"""The result of an A/A campaign on its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.kit.numbers import counted, p_value, percent, without_sign
from campaigns.models import Campaign
from campaigns.planning.noise import calibrations_on


@dataclass(frozen=True, slots=True)
class CalibrationPanel:
    """The result of identical runs. false_alarms: those of this campaign; so_far: of all here."""

    floor: str
    noise: str
    noise_interval: str
    run_noise: str
    labels: str
    pairs: int
    detectable: tuple[tuple[int, str], ...]
    false_alarms: str
    so_far: str


def calibration_panel(campaign: Campaign, finding: Mapping[str, Any]) -> CalibrationPanel:
    """Return the finding of an A/A campaign as text."""
    low, high = finding["sd_ci_pct"]
    alarms, verdicts = finding["alarms"], finding["verdicts"]
    share = f"{100 * finding['alpha']:g} %"
    here = calibrations_on(campaign.kind, campaign.primary_metric, campaign.target)
    return CalibrationPanel(
        floor=without_sign(finding["floor_pct"]),
        noise=without_sign(finding["sd_pct"]),
        noise_interval=f"{without_sign(low)} to {without_sign(high)}",
        run_noise=without_sign(finding["run_sd_pct"]),
        labels=f"{percent(finding['mean_pct'])}, p {p_value(finding['mean_p'])}",
        pairs=finding["n"],
        detectable=tuple(
            (each["pairs"], without_sign(each["pct"])) for each in finding["detectable"]
        ),
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
