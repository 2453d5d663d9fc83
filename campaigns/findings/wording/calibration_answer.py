"""The answer of an A/A campaign: how far apart identical runs are. Pure."""

from dataclasses import replace

from campaigns.findings.values import CalibrationFinding
from campaigns.findings.wording.answer_text import AnswerText, Fact
from campaigns.findings.wording.verdicts import FALSE_ALARM, Display
from campaigns.kit.numbers import counted, share, without_sign

IDENTICAL = Display("A/A: identical runs", "info", "info", "outline")


def answer_of_calibration(calibration: CalibrationFinding) -> AnswerText:
    """Return how far apart identical runs are, and which changes a campaign can then detect."""
    floor = without_sign(calibration.floor_pct)
    sentence = (
        f"Identical runs differ by up to about {floor} (19 of 20 pairs, estimated from {calibration.n}): "
        "a smaller difference of two single runs may be nothing but noise."
    )
    badges = [IDENTICAL]
    if calibration.alarms:
        of = counted(calibration.verdicts, "comparison")
        badges.append(replace(FALSE_ALARM, word=f"false alarm: {calibration.alarms} of {of}"))
        sentence += (
            " Between the two labels a difference was shown although there is none: a false alarm, "
            f"as in {share(calibration.alpha)} of such campaigns."
        )
    return AnswerText(
        sentence=sentence,
        tone="warn" if calibration.alarms else "info",
        badges=badges,
        facts=[
            Fact("noise floor", floor, f"{calibration.n} pairs"),
            *(
                Fact(f"{each.pairs} pairs find", without_sign(each.pct), "or more, in 4 of 5")
                for each in calibration.detectable
            ),
        ],
    )
