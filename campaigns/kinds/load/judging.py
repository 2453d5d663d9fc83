"""Judge whether the generator, and not the target, set the values of a load run. Pure.

A busy generator makes the values bounds: its own queue would count as latency of the target (design of the
statistics, section 8, check 6). `health.judge` is for runs whose subject is a client.
"""

from collections.abc import Mapping

from campaigns.kinds.programs.health import (
    DESCRIPTORS_WARN,
    HELD_BACK_SATURATES,
    Verdict,
    verdict_of,
)

CPU_WARNS, CPU_SATURATES = 0.7, 0.8
"""Cores of a process; it has one thread that works."""
LAG_WARNS = 0.1
"""The most that the loop may be late (99th percentile), as a share of the median service time."""
SENT_SATURATES = 0.95
"""Share of the offered requests that has to be sent in time."""
NETWORK_SATURATES = 0.8
"""Share of the speed of a network card, one way."""
PORTS_WARN = 0.8


def judge(figures: Mapping[str, float]) -> Verdict:
    """Return the verdict on the figures of a load run. Missing figures are not judged."""
    return verdict_of(figures, _bounds(figures), _warnings(figures))


def _bounds(figures: Mapping[str, float]) -> list[str]:
    reasons = []
    cpu = figures.get("busiest_process_cores", 0.0)
    if cpu > CPU_SATURATES:
        reasons.append(
            f"A process of the generator used {cpu:.0%} of a core: its own speed bounds the values. "
            "Use more processes, or more generators."
        )
    lag, interval = (
        figures.get("loop_lag_p99_seconds", 0.0),
        figures.get("expected_interval_seconds"),
    )
    if interval and lag > interval:
        reasons.append(
            f"The generator was {lag * 1000:.1f} ms late (99th percentile), longer than the "
            f"{interval * 1000:.1f} ms between two requests of a host; use more processes."
        )
    offered, sent = figures.get("offered", 0.0), figures.get("sent", 0.0)
    if offered and sent < SENT_SATURATES * offered:
        reasons.append(
            f"Only {sent / offered:.0%} of the offered requests could be sent: all hosts were waiting "
            "for answers. Use more hosts, or a lower rate."
        )
    elif not_begun := figures.get("not_begun", 0.0):
        reasons.append(
            f"{not_begun:.0f} arrivals were not begun, since as many hosts as there may be were at work: the values are bounds. "
            "Use more hosts, or a lower rate."
        )
    if figures.get("network_share", 0.0) > NETWORK_SATURATES:
        reasons.append(
            f"A network card of the generator was used to {figures['network_share']:.0%} of its speed; "
            "use more generators."
        )
    if exhausted := figures.get("exhausted", 0):
        reasons.append(
            f"The generator ran out of file descriptors, ports or memory {exhausted:.0f} times; "
            "use fewer hosts, or raise its limits."
        )
    if figures.get("held_back_share", 0.0) > HELD_BACK_SATURATES:
        reasons.append(
            "The load was held back by the target's limit of "
            f"{figures['requests_allowed_per_second']:g} requests/s for "
            f"{figures['held_back_share']:.0%} of the time; ask the target's owner for more."
        )
    return reasons


def _warnings(figures: Mapping[str, float]) -> list[str]:
    reasons = []
    cpu = figures.get("busiest_process_cores", 0.0)
    if CPU_WARNS < cpu <= CPU_SATURATES:
        reasons.append(f"A process of the generator used {cpu:.0%} of a core; use more processes.")
    lag, median = figures.get("loop_lag_p99_seconds", 0.0), figures.get("service_p50_seconds")
    if median and lag > LAG_WARNS * median:
        reasons.append(
            f"The generator's loop was {lag * 1000:.2f} ms late (99th percentile), more than a tenth of "
            f"the median service time of {median * 1000:.2f} ms."
        )
    waited, host = (
        figures.get("tls_wait_p99_seconds", 0.0),
        figures.get("host_response_p50_seconds"),
    )
    if host and waited > LAG_WARNS * host:
        reasons.append(
            f"Hosts waited up to {waited:.1f} s (99th percentile) until the generator could begin with "
            "their TLS, which costs it processor time; use more processes, or more generators."
        )
    for name, what, limit in (
        ("descriptors", "file descriptors", "descriptor_limit"),
        ("ports_in_use", "local ports", "ports"),
    ):
        share = DESCRIPTORS_WARN if name == "descriptors" else PORTS_WARN
        used, most = figures.get(name, 0.0), figures.get(limit, 0.0)
        if most and used > share * most:
            reasons.append(f"{used:.0f} of {most:.0f} {what} were in use.")
    return reasons
