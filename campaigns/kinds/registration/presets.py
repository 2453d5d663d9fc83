"""What to begin with: a curve over the number of hosts, and the published tables of Puma's settings."""

from campaigns.kinds.base import Preset

LEVELS = ("10", "25", "50", "100", "200", "400", "700", "1000")


def presets() -> tuple[Preset, ...]:
    """Return the presets; they fit the stand-in of the sandbox, and a real server with such a key."""
    common = {"organization": "ACME", "activation_keys": "bench-ak", "profile": "rhsm-1.30"}
    return (
        Preset(
            "concurrency-curve",
            "Eight numbers of hosts: 10 to 1000",
            {**common, "start": "barrier"},
            {"hosts": LEVELS},
        ),
        Preset(
            "puma-threads",
            "Puma threads 4, 8, 16, 32 at 4 workers, 100 hosts",
            {**common, "hosts": "100", "start": "barrier", "puma_workers": "4"},
            {"puma_threads": ("4", "8", "16", "32")},
        ),
        Preset(
            "puma-workers",
            "Puma workers 2, 4, 6, 8 at 16 threads, 100 hosts",
            {**common, "hosts": "100", "start": "barrier", "puma_threads": "16"},
            {"puma_workers": ("2", "4", "6", "8")},
        ),
        Preset("few-hosts", "Try it: 10 hosts", {**common, "hosts": "10", "start": "barrier"}),
    )
