import pytest

from campaigns.kinds.load.judging import judge

FINE = {
    "busiest_process_cores": 0.4,
    "cpu_cores": 0.4,
    "cores": 2.0,
    "loop_lag_p99_seconds": 0.0005,
    "service_p50_seconds": 0.02,
    "expected_interval_seconds": 0.1,
    "offered": 1000.0,
    "sent": 999.0,
    "exhausted": 0.0,
    "descriptors": 100.0,
    "descriptor_limit": 1024.0,
    "ports_in_use": 100.0,
    "ports": 28000.0,
    "machine_cpu_share": 0.5,
    "others_cpu_share": 0.2,
    "cpu_waiting_cores": 0.01,
}


def test_a_healthy_run_is_not_marked():
    verdict = judge(FINE)

    assert (verdict.word, verdict.reasons) == ("healthy", ())


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({"busiest_process_cores": 0.81}, "81% of a core"),
        ({"loop_lag_p99_seconds": 0.11, "service_p50_seconds": 2.0}, "110.0 ms late"),
        ({"sent": 949.0}, "Only 95%"),
        ({"network_share": 0.85}, "used to 85%"),
        ({"exhausted": 2.0}, "2 times"),
        ({"held_back_share": 0.5, "requests_allowed_per_second": 20.0}, "20 requests/s"),
    ],
)
def test_a_generator_that_bounds_the_values_is_saturated(figures, says):
    verdict = judge(FINE | figures)

    assert verdict.word == "saturated"
    assert len(verdict.reasons) == 1
    assert says in verdict.reasons[0]


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({"busiest_process_cores": 0.75}, "75% of a core"),
        ({"loop_lag_p99_seconds": 0.003}, "3.00 ms late"),
        ({"tls_wait_p99_seconds": 2.0, "host_response_p50_seconds": 5.0}, "waited up to 2.0 s"),
        ({"descriptors": 1000.0}, "1000 of 1024 file descriptors"),
        ({"ports_in_use": 27000.0}, "27000 of 28000 local ports"),
    ],
)
def test_what_may_have_disturbed_warns(figures, says):
    verdict = judge(FINE | figures)

    assert verdict.word == "warned"
    assert len(verdict.reasons) == 1
    assert says in verdict.reasons[0]


def test_nothing_known_is_nothing_judged():
    assert judge({}).word == "healthy"


def test_a_closed_loop_has_no_interval_to_be_late_for():
    figures = {name: FINE[name] for name in FINE if name != "expected_interval_seconds"}

    assert judge(figures | {"loop_lag_p99_seconds": 0.0019}).word == "healthy"


@pytest.mark.system
def test_a_program_that_is_busy_all_the_time_is_saturated(load):
    hosts, spins, seconds = 2, 2, 0.4

    result = load({"hosts": hosts, "iterations": spins}, paths=["ok"], spin_seconds=seconds).result

    # On a machine that others keep busy it may not get the core that it asks for all the time.
    used = result["figures"]["busiest_process_cores"] * result["seconds"]
    assert used > 0.9 * hosts * spins * seconds
    figures = {
        "busiest_process_cores": used / (hosts * spins * seconds),
        "service_p50_seconds": result["figures"]["service_p50_seconds"],
    }
    assert judge(figures).word == "saturated"


@pytest.mark.system
def test_a_program_that_waits_for_a_slow_target_is_healthy(load):
    result = load({"hosts": 4, "iterations": 2}, paths=["slow/0.3"]).result

    assert result["figures"]["busiest_process_cores"] < 0.7
    assert result["figures"]["service_p50_seconds"] > 0.29
    calm = result["figures"] | {"waited_share": 0.0, "loop_lag_p99_seconds": 0.0}
    assert judge(calm).word == "healthy"
