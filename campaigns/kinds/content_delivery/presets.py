"""Initial values for questions on the delivery of content. Pure."""

from collections.abc import Sequence

from campaigns.kinds.base import Preset

SANDBOX_REPOSITORY = "rpm/packages=200,size=20kB/"
"""A repository of the sandbox: fewer packages than the published one, so that a run takes seconds."""
HOSTS = ("100", "200", "400", "700", "1000")
CARRIED = {
    "conditions": [{"metric": "package_time_p95", "at_most": 10}],
    "failed_percent": 5,
}
CAPACITY = {"order": "interleaved", "repetitions": 3, "tags": ["capacity"], "criterion": CARRIED}


def presets(sandbox_url: str) -> Sequence[Preset]:
    """Return the published question, and smaller ones. sandbox_url: empty where there is none."""
    where = {"repository": SANDBOX_REPOSITORY, "packages": "200"} if sandbox_url else {}
    return (
        Preset(
            "carries",
            "Hosts that a server carries: 100 to 1000",
            where,
            {"hosts": HOSTS},
            {
                **CAPACITY,
                "question": "How many hosts can this server serve with packages at once?",
            },
        ),
        Preset(
            "proxies",
            "Proxies side by side: add each as a target; 100 to 1000 hosts",
            where,
            {"hosts": HOSTS},
            {**CAPACITY, "question": "How many hosts does each proxy serve with packages at once?"},
        ),
        Preset(
            "cold-and-warm",
            "Cold against warm content of a Pulp, 50 hosts",
            {**where, "hosts": "50"},
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
            {**where, "hosts": "100", "population": "1"},
            {"identity": ("none", "own")},
            {
                "question": "What do certificates of the hosts cost the server?",
                "order": "interleaved",
                "repetitions": 5,
            },
        ),
        Preset(
            "try-it",
            "Try it: 5 hosts, 20 packages each",
            {**where, "hosts": "5", "packages": "20"},
        ),
    )
