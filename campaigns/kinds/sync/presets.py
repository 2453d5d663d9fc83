"""Presets of the kind `sync`: the published studies of a Pulp and of smart proxies, and feeds of the sandbox. Pure."""

from collections.abc import Iterator, Sequence

from campaigns.kinds.base import Preset

SHAPES = {
    "many-small": "Many small {what}: 4000 of 50 kB",
    "few-large": "Few large {what}: 10 of 20 MB",
}
"""Feeds of the sandbox, 200 MB each, so that they differ only in the cost of a file."""
PUBLISHED_LEVELS = ("20", "15", "10", "7", "5", "3")
FEED = "packages=200,size=50kB,latency={latency}"
"""A small repository of the sandbox. Without latency Pulp is the limit, and its download concurrency has no effect."""
LATENCIES = ("5", "50", "200")
PROXIES = {
    f"{cpus}/{memory}": {"proxy_cpus": cpus, "proxy_memory_gib": memory}
    for cpus, memory in (("4", "12"), ("8", "24"), ("16", "46"))
}
"""CPUs and GiB of the smart proxies of the study."""
CONCURRENCY, SOURCE, PROXY, SHAPE = (
    "Download concurrency of a Pulp",
    "Where the content comes from",
    "Smart proxies",
    "One feed of the sandbox",
)


def presets(sandbox_url: str) -> Sequence[Preset]:
    """Return the presets for a sandbox, if there is one, and for servers of one's own, whose feed is to be entered."""
    return [
        *_of_concurrency(sandbox_url),
        *(_of_sources(sandbox_url) if sandbox_url else ()),
        _of_proxies({"repository_ids": ("3", "5")} if sandbox_url else {}, sandbox_url),
        *(_of_shapes(sandbox_url) if sandbox_url else ()),
    ]


def _of_concurrency(sandbox_url: str) -> Iterator[Preset]:
    feed = {"feed": _feed(sandbox_url, "50")} if sandbox_url else {}
    common = {**feed, "content": "rpm", "repeat": "first"}
    yield Preset(
        "download-concurrency",
        "The published study: 20 to 3 downloads at a time, into a clean Pulp",
        {**common, "policy": "immediate"},
        {"download_concurrency": PUBLISHED_LEVELS},
        {
            "question": "Which download_concurrency should Pulp have?",
            "order": "interleaved",
            "repetitions": 3,
        },
        group=CONCURRENCY,
    )
    yield Preset(
        "policies",
        "The same, immediate and on demand",
        common,
        {"policy": ("immediate", "on_demand"), "download_concurrency": PUBLISHED_LEVELS},
        {
            "question": "Does the download_concurrency matter if Pulp downloads on demand?",
            "order": "interleaved",
            "repetitions": 3,
        },
        group=CONCURRENCY,
    )


def _of_sources(sandbox_url: str) -> Iterator[Preset]:
    yield Preset(
        "latencies",
        "A source 5, 50 and 200 ms away, with 3 and 20 downloads at a time",
        {"content": "rpm", "repeat": "first", "policy": "immediate"},
        {
            "feed": tuple(_feed(sandbox_url, latency) for latency in LATENCIES),
            "download_concurrency": ("3", "20"),
        },
        {
            "question": "How many downloads at a time does a distant source need?",
            "order": "interleaved",
            "repetitions": 3,
        },
        group=SOURCE,
    )


def _of_proxies(repositories: dict[str, Sequence[str]], sandbox_url: str) -> Preset:
    """Return the question whether a larger proxy syncs sooner. repositories: the levels of `repository_ids`, if they are known."""
    return Preset(
        "proxies",
        "Sync a smart proxy of 4, 8 and 16 CPUs: no difference?",
        {"repeat": "unchanged", "proxy": "2" if sandbox_url else ""},
        repositories,
        {
            "question": "Is content synced as fast to a small smart proxy as to a large one?",
            "order": "interleaved",
            "repetitions": 6,
            "margin_percent": 5,
        },
        configurations=PROXIES,
        group=PROXY,
    )


def _of_shapes(sandbox_url: str) -> Iterator[Preset]:
    feeds = {
        "files": ("file", f"{sandbox_url}/repo/preset=%s/PULP_MANIFEST"),
        "packages": ("rpm", f"{sandbox_url}/rpm/preset=%s/"),
    }
    for what, (content, feed) in feeds.items():
        for name, label in SHAPES.items():
            parameters = {"content": content, "feed": feed % name}
            yield Preset(f"{name}-{what}", label.format(what=what), parameters, group=SHAPE)


def _feed(sandbox_url: str, latency: str) -> str:
    return f"{sandbox_url}/rpm/{FEED.format(latency=latency)}/"
