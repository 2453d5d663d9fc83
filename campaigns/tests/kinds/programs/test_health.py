import os

import pytest

from campaigns.kinds.programs.health import Monitor, Steps, is_here, judge, percentile
from campaigns.kinds.programs.processes import peak_memory_bytes

FINE = {
    "cpu_cores": 0.3,
    "cores": 2.0,
    "descriptors": 40.0,
    "descriptor_limit": 1024.0,
    "machine_cpu_share": 0.4,
    "others_cpu_share": 0.2,
    "cpu_waiting_cores": 0.05,
    "effective_concurrency": 19.0,
    "reachable_concurrency": 20.0,
    "file_time_p50_seconds": 0.02,
    "loop_lag_p99_seconds": 0.002,
    "exhausted": 0.0,
}


def test_a_healthy_run_is_not_marked():
    assert judge(FINE).word == "healthy"
    assert judge(FINE).reasons == ()


def test_an_engine_that_ran_out_of_descriptors_is_saturated():
    verdict = judge(FINE | {"exhausted": 3.0})

    assert verdict.word == "saturated"
    assert len(verdict.reasons) == 1


def test_loopback_and_own_interfaces_are_here():
    assert is_here("127.0.0.3")
    assert is_here("::1")
    assert not is_here("192.0.2.1")


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({"cpu_cores": 0.99}, "0.99 of 2 cores"),
        ({"effective_concurrency": 12.5}, "12.5 of 20"),
        ({"descriptors": 1000.0}, "1000 of 1024"),
        ({"loop_lag_p99_seconds": 0.015}, "15 ms late"),
    ],
)
def test_what_the_subject_does_to_itself_warns(figures, says):
    verdict = judge(FINE | figures)

    assert verdict.word == "warned"
    assert says in verdict.reasons[0]


def test_a_busy_loop_that_is_late_is_told_once():
    assert len(judge(FINE | {"cpu_cores": 0.99, "loop_lag_p99_seconds": 0.5}).reasons) == 1


def test_nothing_known_is_nothing_judged():
    assert judge({}).word == "healthy"


def test_bytes_are_spread_over_the_time_in_which_they_came():
    steps = Steps()

    steps.add(0.25, 100)
    steps.add(1.0, 300)
    steps.add(1.125, 10)

    assert steps.values == pytest.approx([100, 100, 100, 100, 10])
    assert steps.per_second() == pytest.approx([400, 400, 400, 400, 80])


def test_no_time_gives_no_rate():
    steps = Steps()

    steps.add(0.0, 0)

    assert steps.per_second() == []


def test_steps_become_longer_in_a_long_run_and_keep_the_sum():
    steps = Steps()

    for second in range(1, 301):
        steps.add(second, 100)

    assert steps.step_seconds == 1.0
    assert steps.per_second() == pytest.approx([100.0] * 300)


def test_a_monitor_counts_this_process_and_its_machine():
    monitor = Monitor(lambda: 7, lambda seconds: None)
    monitor.start()
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(50)]
    sum(range(3_000_000))

    monitor.stop()
    monitor.stop()
    for descriptor in opened:
        os.close(descriptor)

    figures = monitor.figures()
    assert monitor.cpu_seconds > 0
    assert monitor.seconds >= monitor.cpu_seconds * 0.5
    assert 50 < figures["descriptors"] < figures["descriptor_limit"]
    assert 0 <= figures["others_cpu_share"] <= figures["machine_cpu_share"] <= 1
    assert sum(monitor.steps.values) == pytest.approx(7)
    assert peak_memory_bytes() > 1_000_000


@pytest.mark.parametrize(
    ("values", "share", "value"),
    [([3, 1, 2], 0.5, 2), ([1], 0.99, 1), ([], 0.5, 0), (range(1, 101), 0.99, 99)],
)
def test_percentiles_are_values_that_were_observed(values, share, value):
    assert percentile(list(values), share) == value
