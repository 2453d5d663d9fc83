"""Initial values for the sandbox. Pure."""

from collections.abc import Sequence

from campaigns.kinds.base import Preset

SLOW_PAGE = """\
name: one file, 5 ms
steps:
  - name: file
    get: /repo/files=10,size=1kB/latency=5/file-000001.bin
"""
FILES = """\
name: manifest and file
data: {file: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
rows: round
steps:
  - name: manifest
    get: /repo/files=10,size=20kB/latency=5/PULP_MANIFEST
    expect: {status: 200, contains: file-000000.bin}
  - name: file
    get: /repo/files=10,size=20kB/latency=5/file-00000{file}.bin
    answer: discard
prove: {get: /stats, json: all.requests}
"""


def presets(sandbox_url: str) -> Sequence[Preset]:
    """Return the presets for a sandbox."""
    if not sandbox_url:
        return ()
    return (
        Preset(
            "few-hosts",
            "Try it: 10 hosts, one file, 5 s",
            {"scenario": SLOW_PAGE, "hosts": "10", "duration_seconds": "5", "warm_up_seconds": "1"},
        ),
        Preset(
            "hosts",
            "Closed loop: 5 to 80 hosts, manifest and file",
            {"scenario": FILES, "duration_seconds": "6", "warm_up_seconds": "1"},
            {"hosts": ("5", "10", "20", "40", "80")},
        ),
        Preset(
            "rates",
            "Open loop: 50 to 800 rounds per second, goodput",
            {
                "scenario": SLOW_PAGE, "loop": "open", "hosts": "200", "arrivals": "poisson",
                "duration_seconds": "6", "warm_up_seconds": "1", "success_limit_ms": "50",
            },
            {"rate": ("50", "200", "800")},
        ),
    )  # fmt: skip
