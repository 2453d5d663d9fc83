"""What the identical runs of an A/A campaign show: the answer, and the panel below it. Pure."""

from dataclasses import dataclass, replace

from campaigns.findings.values import CalibrationFinding
from campaigns.findings.wording.answer_text import AnswerText, Fact
from campaigns.findings.wording.verdicts import FALSE_ALARM, Display
from campaigns.kit.numbers import change, counted, p_value, share, without_sign

IDENTICAL = Display("A/A: identical runs", "info", "info", "outline")


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


def calibration_panel(
    finding: CalibrationFinding, comparisons: int = 0, alarms: int = 0
) -> CalibrationPanel:
    """Return the panel. comparisons, alarms: those of all A/A campaigns of this kind and metric on the server."""
    low, high = finding.sd_ci_pct
    return CalibrationPanel(
        floor=without_sign(finding.floor_pct),
        noise=without_sign(finding.sd_pct),
        noise_interval=f"{without_sign(low)} to {without_sign(high)}",
        run_noise=without_sign(finding.run_sd_pct),
        labels=f"{change(finding.mean_pct)}, p {p_value(finding.mean_p)}",
        pairs=finding.n,
        detectable=tuple((each.pairs, without_sign(each.pct)) for each in finding.detectable),
        false_alarms=false_alarms_text(finding),
        so_far=so_far_text(comparisons, alarms, finding.alpha)
        if comparisons > finding.verdicts
        else "",
    )


def false_alarms_text(finding: CalibrationFinding) -> str:
    """Return how many comparisons of one setting with itself were called better or worse."""
    of = counted(finding.verdicts, "comparison")
    if not finding.alarms and finding.verdicts == 1:
        return "The one comparison was not called better or worse."
    if not finding.alarms:
        return f"None of {of} was called better or worse."
    alarms = "a false alarm" if finding.alarms == 1 else "false alarms"
    return (
        f"{finding.alarms} of {of} called better or worse: {alarms}, which "
        f"{share(finding.alpha)} of such comparisons are."
    )


def so_far_text(comparisons: int, alarms: int, alpha: float) -> str:
    """Return how many comparisons of all A/A campaigns were false alarms."""
    were = "was a false alarm" if alarms == 1 else "were false alarms"
    return (
        f"Of {counted(comparisons, 'A/A comparison')} of this kind and metric on this server, "
        f"{alarms} {were}; at most about {share(alpha)} should be."
    )


def answer_of_calibration(calibration: CalibrationFinding) -> AnswerText:
    """Return how far apart identical runs are, and which changes a campaign can then detect."""
    floor = without_sign(calibration.floor_pct)
    badges, further = [IDENTICAL], []
    if calibration.alarms:
        of = counted(calibration.verdicts, "comparison")
        badges.append(replace(FALSE_ALARM, word=f"false alarm: {calibration.alarms} of {of}"))
        further.append(
            "Between the two labels a difference was shown although there is none: a false alarm, "
            f"as in {share(calibration.alpha)} of such campaigns."
        )
    return AnswerText(
        sentence=f"Identical runs differ by up to about {floor}: a smaller difference of two single runs may be noise.",
        certainty=f"19 of 20 pairs differ by less, estimated from {counted(calibration.n, 'pair')}.",
        further=further,
        tone="warn" if calibration.alarms else "info",
        badges=badges,
        facts=[
            Fact("noise floor", floor, f"{calibration.n} pairs"),
            *(
                Fact(f"{each.pairs} pairs find", without_sign(each.pct), "or more, with 80 % power")
                for each in calibration.detectable
            ),
        ],
    )
