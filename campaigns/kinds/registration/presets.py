"""Presets of the kind `registration`: curves, and the experiments of the tuning guide. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from campaigns.kinds.base import Preset
from campaigns.kinds.registration.advice import TUNINGS

LEVELS = ("10", "25", "50", "100", "200", "400", "700", "1000")
COMMON = {"organization": "ACME", "activation_keys": "bench-ak", "profile": "rhsm-1.30"}
BEHIND_PROXY = {
    "start": "barrier",
    "cpus": "8",
    "memory_gib": "32",
    "puma_workers": "8",
    "puma_threads": "16",
}
"""The server behind the smart proxies."""
TABLES = (
    (
        "table-threads",
        "threads 4, 8, 16, 32 of 4 workers, 16 CPUs",
        "Which number of threads of 4 Puma workers",
        {"hosts": "200", "puma_workers": "4", "cpus": "16", "memory_gib": "32"},
        "puma_threads",
        ("4", "8", "16", "32"),
    ),
    *(
        (
            f"table-workers-{cpus}",
            f"workers {', '.join(levels)} at 16 threads, {cpus} CPUs, {hosts} hosts",
            f"Which number of Puma workers on {cpus} CPUs",
            {"hosts": hosts, "puma_threads": "16", "cpus": cpus, "memory_gib": memory},
            "puma_workers",
            levels,
        )
        for cpus, memory, hosts, levels in (
            ("4", "20", "200", ("2", "4", "6", "8")),
            ("8", "32", "200", ("2", "4", "8", "12", "16")),
            ("32", "90", "800", ("4", "8", "16", "24", "32", "48")),
        )
    ),
)
"""Tables of the tuning guide: name, label, the beginning of the question, what is fixed, what varies, and its levels."""
_ALL = (
    Preset(
        "concurrency-curve",
        "Eight numbers of hosts: 10 to 1000",
        {**COMMON, "start": "barrier"},
        {"hosts": LEVELS},
    ),
    Preset(
        "puma-threads",
        "Puma threads 4, 8, 16, 32 at 4 workers, 100 hosts",
        {**COMMON, "hosts": "100", "start": "barrier", "puma_workers": "4"},
        {"puma_threads": ("4", "8", "16", "32")},
    ),
    Preset(
        "puma-workers",
        "Puma workers 2, 4, 6, 8 at 16 threads, 100 hosts",
        {**COMMON, "hosts": "100", "start": "barrier", "puma_threads": "16"},
        {"puma_workers": ("2", "4", "6", "8")},
    ),
    Preset(
        "carries",
        "What 2 and 4 Puma workers carry: 65 to 180 hosts, minutes",
        {**COMMON, "start": "barrier", "puma_threads": "5"},
        {"hosts": ("65", "85", "110", "140", "180"), "puma_workers": ("2", "4")},
        {
            "question": "How many hosts can register at once with 2 and with 4 Puma workers of 5 threads?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
            "criterion": {
                "conditions": [{"metric": "registration_time", "at_most": 9}],
                "failed_percent": 5,
            },
        },
    ),
    Preset(
        "arrivals",
        "Open loop: 1, 2 and 4 hosts arrive per second for 30 s",
        {
            **COMMON,
            "hosts": "100",
            "start": "arrivals",
            "arrivals": "poisson",
            "rate": "2",
            "ramp_seconds": "30",
        },
        {"rate": ("1", "2", "4")},
    ),
    Preset(
        "two-by-sixteen",
        "2 Puma workers x 16 threads against 4 x 8, 100 hosts: two settings at once",
        {**COMMON, "hosts": "100", "start": "barrier"},
        values={
            "question": "Are 4 Puma workers of 8 threads faster than 2 of 16?",
            "order": "interleaved",
            "repetitions": 6,
        },
        configurations={
            "2 x 16": {"puma_workers": "2", "puma_threads": "16"},
            "4 x 8": {"puma_workers": "4", "puma_threads": "8"},
        },
    ),
    Preset(
        "tuning-profiles",
        "Tuning profiles: default to extra-extra-large, 200 hosts",
        {**COMMON, "hosts": "200", "start": "barrier"},
        {"installer_profile": tuple(each.name for each in TUNINGS)},
        {
            "question": "Which tuning profile registers 200 hosts at once soonest?",
            "order": "interleaved",
            "repetitions": 4,
        },
    ),
    Preset(
        "cpus-and-workers",
        "8 and 16 CPUs with 2 to 16 Puma workers, 200 hosts: do they go together?",
        {**COMMON, "hosts": "200", "start": "barrier", "puma_threads": "16", "memory_gib": "40"},
        {"cpus": ("8", "16"), "puma_workers": ("2", "4", "8", "16")},
        {
            "question": "Which number of Puma workers registers 200 hosts soonest, with 8 and with 16 CPUs?",
            "order": "interleaved",
            "repetitions": 4,
        },
    ),
    Preset(
        "db-pool",
        "A pool of 4, 8 and 20 connections for 16 Puma threads, 200 hosts",
        {**COMMON, "hosts": "200", "start": "barrier", "puma_workers": "4", "puma_threads": "16"},
        {"db_pool": ("4", "8", "20")},
        {
            "question": "Does a database pool that is smaller than the Puma threads lose registrations?",
            "order": "interleaved",
            "repetitions": 3,
            "criterion": {"failed_percent": 5},
        },
    ),
    Preset(
        "httpd-limit",
        "64, 128 and 1024 requests in the HTTP server at once, 200 hosts",
        {**COMMON, "hosts": "200", "start": "barrier", "puma_workers": "4", "puma_threads": "16"},
        {"httpd_limit": ("64", "128", "1024")},
        {
            "question": "Which limit of the HTTP server lets 200 registrations at once through?",
            "order": "interleaved",
            "repetitions": 3,
            "criterion": {"failed_percent": 5},
        },
    ),
    Preset(
        "threads-min",
        "Least Puma threads 0 and 16 of 16, 2 workers, 8 CPUs: memory of Puma",
        {
            **COMMON,
            "hosts": "100",
            "start": "barrier",
            "puma_workers": "2",
            "puma_threads": "16",
            "cpus": "8",
            "memory_gib": "40",
        },
        {"puma_threads_min": ("0", "16")},
        {
            "question": "How much less memory does Puma take if its threads exist from the start?",
            "primary_metric": "watched.memory_peak:puma",
            "order": "interleaved",
            "repetitions": 5,
        },
    ),
    *(
        Preset(
            name,
            f"The guide's table: {label}",
            {**COMMON, "start": "barrier", **fixed},
            {factor: levels},
            {
                "question": f"{question} registers so many hosts at once soonest?",
                "order": "interleaved",
                "repetitions": 3,
                "criterion": {"failed_percent": 5},
            },
        )
        for name, label, question, fixed, factor, levels in TABLES
    ),
    Preset(
        "two-workers",
        "2 Puma workers: 150 to 480 hosts at once, answers within 18 s (a server: 180 s)",
        {
            **COMMON,
            "start": "barrier",
            "timeout_seconds": "18",
            "puma_workers": "2",
            "puma_threads": "16",
        },
        {"hosts": ("150", "200", "265", "355", "480")},
        {
            "question": "How many hosts can register at once with 2 Puma workers?",
            "order": "interleaved",
            "repetitions": 3,
            "tags": ["capacity"],
            "criterion": {"failed_percent": 5},
        },
    ),
    Preset(
        "proxies",
        "Through smart proxies of 4, 8 and 16 CPUs, 200 hosts",
        {**COMMON, **BEHIND_PROXY, "hosts": "200", "proxy_timeout": "600"},
        values={
            "question": "Does a larger smart proxy register hosts sooner?",
            "order": "interleaved",
            "repetitions": 6,
        },
        configurations={
            f"{cpus}/{memory}": {"proxy_cpus": cpus, "proxy_memory_gib": memory}
            for cpus, memory in (("4", "12"), ("8", "24"), ("16", "46"))
        },
    ),
    Preset(
        "proxy-timeout",
        "Timeout of the smart proxy 60 s and 600 s, 400 hosts",
        {
            **COMMON,
            **BEHIND_PROXY,
            "hosts": "400",
            "proxy_cpus": "8",
            "proxy_memory_gib": "24",
        },
        {"proxy_timeout": ("60", "600")},
        {
            "question": "Does a longer timeout of the smart proxy lose fewer of 400 registrations at once?",
            "order": "interleaved",
            "repetitions": 3,
            "criterion": {"failed_percent": 5},
        },
    ),
    Preset("few-hosts", "Try it: 10 hosts", {**COMMON, "hosts": "10", "start": "barrier"}),
)
GROUPS: Mapping[str, Sequence[str]] = {
    "Begin": ("few-hosts",),
    "How many hosts at once?": ("concurrency-curve", "carries", "two-workers", "arrivals"),
    "Which workers and threads of Puma?": (
        "puma-workers", "puma-threads", "two-by-sixteen", "threads-min", "cpus-and-workers",
    ),
    "The tables of the tuning guide": tuple(name for name, *_ in TABLES),
    "Which size and profile of the server?": ("tuning-profiles",),
    "Which limits around Puma?": ("db-pool", "httpd-limit"),
    "What does a smart proxy change?": ("proxies", "proxy-timeout"),
}  # fmt: skip
"""The names of the presets below the question that they answer."""


def _grouped() -> Iterator[Preset]:
    by_name = {preset.name: preset for preset in _ALL}
    for group, names in GROUPS.items():
        yield from (replace(by_name[name], group=group) for name in names)


PRESETS = tuple(_grouped())
"""For the simulator of the sandbox, or a real server with such an activation key."""
