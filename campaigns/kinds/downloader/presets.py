"""Presets of the kind `downloader`: the published comparison, and servers of one's own. Pure."""

from collections.abc import Sequence

from campaigns.kinds.base import Preset

PUBLISHED = (
    (100, "407.679"),
    (200, "819.088"),
    (300, "1206.11"),
    (400, "1565.02"),
    (500, "1945.95"),
)
"""Files and MB of the five repositories of the published comparison."""
ENGINES = {"engine": ("futures", "asyncio")}
IN_PAIRS = {
    "question": "Is the asyncio downloader faster than futures?",
    "order": "paired",
    "paired_factor": "engine",
    "baseline": "futures",
    "repetitions": 10,
}
DISTANT = "repo/files=100/total=40767900/latency=20/PULP_MANIFEST"
"""The smallest published repository with a tenth of its bytes. Without latency there is nothing that more files at a time could hide."""
AT_A_TIME = ("1", "5", "10", "20", "40")
COMPARISON, SERVERS = "The published comparison, on the sandbox", "Your servers"
OF_SERVERS = (
    Preset(
        "file-server",
        "Your file server: asyncio vs. futures, its PULP_MANIFEST",
        {"manifest": "PULP_MANIFEST", "concurrency": "10"},
        ENGINES,
        IN_PAIRS,
        group=SERVERS,
    ),
    Preset(
        "pulp",
        "Your Pulp: asyncio vs. futures, what it publishes at a base path",
        {"manifest": "pulp/content/BASE_PATH/PULP_MANIFEST", "concurrency": "10"},
        ENGINES,
        IN_PAIRS,
        group=SERVERS,
    ),
    Preset(
        "concurrency",
        "Your file server: 1 to 40 files at a time",
        {"manifest": "PULP_MANIFEST", "engine": "asyncio"},
        {"concurrency": AT_A_TIME},
        {
            "question": "How many files at a time are fastest?",
            "order": "interleaved",
            "repetitions": 5,
        },
        group=SERVERS,
    ),
)
"""Paths are below the target's base URL; BASE_PATH stands for the one of the distribution."""


def presets(sandbox_url: str) -> Sequence[Preset]:
    """Return the presets for a sandbox, if there is one, and for servers of one's own."""
    if not sandbox_url:
        return OF_SERVERS
    published = (
        _repositories(
            "published", "The five published repositories, 5.9 GB a run of each engine", 1
        ),
        _repositories("tenth", "The five published repositories, a tenth of the bytes", 10),
        Preset(
            "engines-and-concurrency",
            "Each engine with 1 to 40 files at a time, 100 files behind 20 ms",
            {"manifest": DISTANT},
            {**ENGINES, "concurrency": AT_A_TIME},
            {
                "question": "Is more concurrency faster with each engine?",
                "order": "interleaved",
                "repetitions": 5,
            },
            group=COMPARISON,
        ),
    )
    return (*published, *OF_SERVERS)


def _repositories(name: str, label: str, part: int) -> Preset:
    """Return the published comparison with so many times fewer bytes."""
    levels = {**ENGINES, "manifest": _manifests(part)}
    return Preset(name, label, {"concurrency": "10"}, levels, IN_PAIRS, group=COMPARISON)


def _manifests(part: int) -> tuple[str, ...]:
    """Return the paths of the published repositories with so many times fewer bytes."""
    return tuple(
        f"repo/files={files}/total={round(float(size) * 1e6 / part)}/PULP_MANIFEST"
        for files, size in PUBLISHED
    )
