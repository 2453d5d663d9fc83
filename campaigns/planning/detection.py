"""Estimate which effects a design can detect, from the noise of earlier campaigns."""

from dataclasses import dataclass
from datetime import datetime

from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kit.database_clock import database_now
from campaigns.models import Campaign
from campaigns.planning.checking import Definition
from campaigns.planning.noise import known_noise

GOOD_FOR_DAYS = 31
"""An older calibration is told to be repeated: machines change."""


@dataclass(frozen=True, slots=True)
class Detection:
    """noise_pct: of a run. campaigns: that it was taken from. calibrated_at: as in KnownNoise.

    detectable_pct: the smallest change that the design finds in 80 % of campaigns. repetitions: that
    the smallest effect of interest would take, None where no number of them would do.
    """

    noise_pct: float
    campaigns: int
    detectable_pct: float
    smallest_pct: float
    repetitions: int | None
    enough: bool
    calibrated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """What a design can see, in words with a tone. calibrate: an A/A campaign would tell more."""

    tone: str
    text: str
    calibrate: bool


def detection_of(definition: Definition, cells: int) -> Detection | None:
    """Plan by earlier campaigns of the kind on the target; None without any, or nothing to compare."""
    noise = known_noise(
        definition.campaign.kind, definition.campaign.primary_metric, definition.campaign.target
    )
    if noise is None or cells < 2 or definition.campaign.repetitions < 2:
        return None
    # scipy takes longer to load than all the rest of a page, and few pages need it.
    from campaigns.stats.logs import pct_of
    from campaigns.stats.power import (
        PAIRS,
        design_of_blocks,
        design_of_cells,
        detectable_pct,
        required_n,
    )

    sd = noise.sd_log
    match definition.campaign.order:
        case Campaign.Order.PAIRED:
            design, sd = PAIRS, noise.sd_log * 2**0.5
        case Campaign.Order.INTERLEAVED:
            design = design_of_blocks(cells)
        case _:
            design = design_of_cells(cells)
    needed = required_n(sd, design=design, delta=definition.campaign.smallest_effect)
    return Detection(
        noise_pct=pct_of(noise.sd_log),
        campaigns=noise.campaigns,
        detectable_pct=detectable_pct(definition.campaign.repetitions, sd, design=design),
        smallest_pct=100 * definition.campaign.smallest_effect,
        repetitions=needed,
        enough=needed is not None and needed <= definition.campaign.repetitions,
        calibrated_at=noise.calibrated_at,
    )


def sight_of(definition: Definition, cells: int) -> Sight | None:
    """Return what the design can see; None where there is nothing to compare, and for A/A itself."""
    if (
        definition.campaign.paired_factor == BLIND_LABEL
        or cells < 2
        or definition.campaign.repetitions < 2
    ):
        return None
    result = detection_of(definition, cells)
    if result is None:
        return Sight(
            "info",
            "The run-to-run variation is unknown before the first campaign of this kind on this "
            "server, and so is what this design can detect. Run an A/A calibration to find out.",
            calibrate=True,
        )
    age = (database_now() - result.calibrated_at).days if result.calibrated_at else 0
    seen = (
        f"{_source(result)} ({result.noise_pct:.1f} %) this detects changes of "
        f"{result.detectable_pct:.1f} % and more, with 80 % power"
    )
    smallest = f"{result.smallest_pct:g} %"
    if result.enough:
        text = f"{seen}."
    elif result.repetitions is None:
        text = f"{seen}; no sensible number of repetitions would find {smallest}."
    else:
        text = f"{seen}; {smallest} would take about {result.repetitions} repetitions."
    if age > GOOD_FOR_DAYS:
        text += f" That calibration is {age} days old; repeat it."
    known = result.calibrated_at is not None and age <= GOOD_FOR_DAYS
    return Sight("pass" if result.enough else "warn", text, calibrate=not known)


def _source(detection: Detection) -> str:
    if detection.calibrated_at is not None:
        return f"Based on the A/A calibration of {detection.calibrated_at:%Y-%m-%d} here"
    noun = "campaign" if detection.campaigns == 1 else f"{detection.campaigns} campaigns"
    return f"Based on the noise of the last {noun} here"
