"""Initial values for questions on remote execution."""

from collections.abc import Sequence

from campaigns.kinds.base import Preset
from campaigns.kinds.remote_execution.form import (
    ANSIBLE_DEFAULT,
    SCRIPT_DEFAULT,
    VIRTUAL,
    VIRTUAL_SSH,
)

CLASSES = {
    "4 CPUs, 12 GiB": {"proxy_cpus": "4", "proxy_memory_gib": "12"},
    "8 CPUs, 24 GiB": {"proxy_cpus": "8", "proxy_memory_gib": "24"},
    "16 CPUs, 46 GiB": {"proxy_cpus": "16", "proxy_memory_gib": "46"},
}
"""The smart proxies of the study."""
ALL_SUCCEED = {"conditions": [{"metric": "success", "at_least": 100}], "failed_percent": 1}
"""A job that is given up has no value to judge: that it does not finish is told by the share of its hosts that did not end."""


def presets(sandbox: bool) -> Sequence[Preset]:
    """Return the published question on both backends, and smaller ones. sandbox: for the hosts of the simulated Katello."""
    hosts = {"search_query": "name ~ container"} if sandbox else {}
    virtual = {"hosts_are": VIRTUAL, "search_query": ""}
    give_up = {"give_up_seconds": "60"} if sandbox else {}
    return (
        Preset(
            "backends",
            "500, 2000 and 4000 hosts by Script and by Ansible, on three sizes of smart proxy",
            {**hosts, **give_up},
            {"hosts": ("500", "2000", "4000"), "template": (SCRIPT_DEFAULT, ANSIBLE_DEFAULT)},
            {
                "question": "How many hosts does each size of smart proxy carry without error, by Script and by Ansible?",
                "order": "interleaved",
                "repetitions": 3,
                "tags": ["capacity"],
                "criterion": ALL_SUCCEED,
                "failed_limit_percent": 50,
            },
            configurations=CLASSES,
        ),
        Preset(
            "carries",
            "How many hosts a smart proxy carries: 500 to 4000",
            {**hosts, **give_up},
            {"hosts": ("500", "1000", "2000", "4000")},
            {
                "question": "On how many hosts at once does a job of this smart proxy succeed?",
                "order": "interleaved",
                "repetitions": 3,
                "tags": ["capacity"],
                "criterion": ALL_SUCCEED,
                "failed_limit_percent": 50,
            },
        ),
        Preset(
            "concurrency",
            "At most 10, 50 and 200 hosts of a job at a time",
            {**hosts, "hosts": "500"},
            {"concurrency_level": ("10", "50", "200")},
            {
                "question": "How much sooner does a job on 500 hosts end if Foreman works on more of them at a time?",
                "order": "interleaved",
                "repetitions": 3,
            },
        ),
        Preset(
            "virtual-ssh",
            "Virtual hosts by SSH: how many of 250 to 2000 a smart proxy carries",
            {**virtual, **give_up, "hosts_are": VIRTUAL_SSH},
            {"hosts": ("250", "500", "1000", "2000")},
            {
                "question": "On how many virtual hosts at once does this smart proxy run a job by SSH without error?",
                "order": "interleaved",
                "repetitions": 3,
                "tags": ["capacity"],
                "criterion": ALL_SUCCEED,
                "failed_limit_percent": 50,
            },
        ),
        Preset(
            "mqtt-limits",
            "Virtual hosts by MQTT: any number with a job at a time, or at most 50",
            {**virtual, "hosts": "200", "script_seconds": "1"},
            {"mqtt_rate_limit": ("0", "50")},
            {
                "question": "How much longer does a job take if the smart proxy lets at most 50 hosts work on it at a time?",
                "order": "interleaved",
                "repetitions": 4,
            },
        ),
        Preset("try-it", "Try it: a job on 20 hosts", {**hosts, "hosts": "20"}),
    )
