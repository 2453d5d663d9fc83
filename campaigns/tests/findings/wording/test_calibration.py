"""What is said of the identical runs of an A/A campaign."""

import pytest
from msgspec.structs import replace

from campaigns.findings.values import CalibrationFinding
from campaigns.findings.wording.calibration import calibration_panel
from campaigns.stats.calibration import Detectable
from campaigns.stats.interval import Interval

FINDING = CalibrationFinding(
    n=10,
    sd_log=0.01,
    sd_log_ci=Interval(0.007, 0.018),
    run_sd_log=0.007,
    seen_pct=1.9,
    floor_pct=2.34,
    mean_pct=-0.25,
    mean_p=0.4,
    detectable=(Detectable(3, 7.26), Detectable(10, 1.04)),
    metric="duration",
    label="Duration",
    sd_pct=1.01,
    sd_ci_pct=Interval(0.7, 1.84),
    run_sd_pct=0.71,
    alpha=0.05,
    verdicts=3,
    alarms=0,
)


def finding(verdicts: int, alarms: int) -> CalibrationFinding:
    return replace(FINDING, verdicts=verdicts, alarms=alarms)


def test_the_noise_is_written_without_a_sign():
    panel = calibration_panel(FINDING)

    assert (panel.floor, panel.noise, panel.noise_interval) == ("2.3 %", "1.0 %", "0.7 % to 1.8 %")
    assert (panel.run_noise, panel.labels) == ("0.7 %", "−0.2 %, p 0.400")
    assert panel.detectable == ((3, "7.3 %"), (10, "1.0 %"))


@pytest.mark.parametrize(
    ("verdicts", "alarms", "text"),
    [
        (3, 0, "None of 3 comparisons was called better or worse."),
        (1, 0, "The one comparison was not called better or worse."),
        (1, 1, "1 of 1 comparison called better or worse: a false alarm, which 5 % of such "
         "comparisons are."),
        (3, 2, "2 of 3 comparisons called better or worse: false alarms, which 5 % of such "
         "comparisons are."),
    ],
)  # fmt: skip
def test_a_difference_of_one_setting_from_itself_is_a_false_alarm(verdicts, alarms, text):
    assert calibration_panel(finding(verdicts, alarms)).false_alarms == text


@pytest.mark.parametrize(
    ("comparisons", "alarms", "text"),
    [
        (0, 0, ""),
        (3, 0, ""),
        (4, 0, "Of 4 A/A comparisons of this kind and metric on this server, 0 were false alarms; at "
         "most about 5 % should be."),
        (1200, 1, "Of 1,200 A/A comparisons of this kind and metric on this server, 1 was a false "
         "alarm; at most about 5 % should be."),
    ],
)  # fmt: skip
def test_all_comparisons_here_are_counted_where_there_are_others(comparisons, alarms, text):
    assert calibration_panel(FINDING, comparisons, alarms).so_far == text
