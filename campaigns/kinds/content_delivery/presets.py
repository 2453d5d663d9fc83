"""Initial values for questions on the delivery of content. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from campaigns.kinds.base import Preset

SANDBOX_CONTENT = ("rpm/packages=2000,size=20kB/", "rpm/packages=200,size=20kB/latency=5/")
"""Repositories of the sandbox; the first is as large as the published one."""
SIMULATED = "pulp/content/ACME/Library/custom/Bench/files20k/"
"""The same at the simulated Katello."""
CLASSES = {
    "4 CPUs, 12 GiB": {"proxy_cpus": "4", "proxy_memory_gib": "12"},
    "8 CPUs, 24 GiB": {"proxy_cpus": "8", "proxy_memory_gib": "24"},
    "16 CPUs, 46 GiB": {"proxy_cpus": "16", "proxy_memory_gib": "46"},
}
"""The smart proxies of the study."""
HOSTS = ("100", "200", "400", "700", "1000")
CARRIED = {
    "conditions": [{"metric": "package_time_p95", "at_most": 10}],
    "failed_percent": 5,
}
GROUPS = {
    "Begin": ("try-it",),
    "How many hosts at once?": (
        "carries",
        "carries-soon",
        "proxies",
        "published",
        "server-or-proxy",
    ),
    "What costs time?": ("cold-and-warm", "identities"),
}
"""Headings of the form, each with the presets below it."""
CAPACITY = {"order": "interleaved", "repetitions": 3, "tags": ["capacity"], "criterion": CARRIED}


def presets(sandbox_url: str) -> Sequence[Preset]:
    """Return the published question, and smaller ones. sandbox_url: empty where there is none."""
    simulated = (_published(), _server_or_proxy()) if sandbox_url else ()
    found = (
        Preset(
            "carries",
            "Hosts that a server carries: 100 to 1000",
            {},
            {"hosts": HOSTS},
            {
                **CAPACITY,
                "question": "How many hosts can this server serve with packages at once?",
            },
        ),
        Preset(
            "carries-soon",
            "The same with 20 packages a host: minutes",
            {"packages": "20"},
            {"hosts": HOSTS},
            {
                **CAPACITY,
                "question": "How many hosts can this server serve with packages at once?",
            },
        ),
        Preset(
            "proxies",
            "Proxies side by side: add each as a target; 100 to 1000 hosts",
            {},
            {"hosts": HOSTS},
            {**CAPACITY, "question": "How many hosts does each proxy serve with packages at once?"},
        ),
        Preset(
            "cold-and-warm",
            "Cold against warm content of a Pulp, 50 hosts",
            {"hosts": "50"},
            {"content_state": ("cold", "warm")},
            {
                "question": "How much longer does a package take that the server has to fetch first?",
                "order": "interleaved",
                "repetitions": 5,
            },
        ),
        Preset(
            "identities",
            "No certificate against one of each host, 100 hosts of a Katello",
            {"hosts": "100", "population": "1"},
            {"identity": ("none", "own")},
            {
                "question": "What do certificates of the hosts cost the server?",
                "order": "interleaved",
                "repetitions": 5,
            },
        ),
        *simulated,
        Preset(
            "try-it",
            "Try it: 5 hosts, 20 packages each",
            {"hosts": "5", "packages": "20"},
            values={"question": "How long does a package take with five hosts?"},
        ),
    )
    by_name = {preset.name: preset for preset in found}
    return tuple(
        replace(by_name[name], group=group)
        for group, names in GROUPS.items()
        for name in names
        if name in by_name
    )


def _published() -> Preset:
    """Return the published table at the simulated Katello, with few packages, so that it takes an hour."""
    return Preset(
        "published",
        "The published table, simulated: 100 to 1000 hosts on three sizes of smart proxy",
        {"repository": SIMULATED, "packages": "20"},
        {"hosts": tuple(map(str, range(100, 1001, 100)))},
        {
            **CAPACITY,
            "repetitions": 2,
            "question": "How many hosts does each size of smart proxy serve with packages at once?",
        },
        configurations=CLASSES,
    )


def _server_or_proxy() -> Preset:
    """Return the other published question at the simulated Katello: a server of 8 CPUs, or a smart proxy of that size."""
    machine = {"cpus": "8", "memory_gib": "24", "proxy_memory_gib": "24"}
    return Preset(
        "server-or-proxy",
        "A server or a smart proxy of 8 CPUs and 24 GiB, simulated: 400 to 800 hosts",
        {"repository": SIMULATED, "packages": "20"},
        {"hosts": ("400", "500", "600", "800")},
        {
            **CAPACITY,
            "question": "How many hosts more does a smart proxy serve with packages than a server of its size?",
        },
        configurations={
            "server": {**machine, "proxy_cpus": "0"},
            "smart proxy": {**machine, "proxy_cpus": "8"},
        },
    )
