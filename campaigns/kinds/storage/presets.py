"""Presets of the kind `storage`. Pure."""

from typing import Any

from campaigns.kinds.base import Preset


def _values(question: str, repetitions: int, primary_metric: str = "") -> dict[str, Any]:
    primary = {"primary_metric": primary_metric} if primary_metric else {}
    return {"question": question, "repetitions": repetitions, **primary}


PRESETS = (
    Preset(
        "published",
        "The published benchmark: a file of twice the memory, an hour or more",
        {"profile": "published", "size_gib": "0", "limit_seconds": "0"},
        values=_values("Is this storage fast enough for a server?", 3),
    ),
    Preset(
        "published-short",
        "The same for at most a minute a command, with a file of 4 GiB: no admission",
        {"profile": "published", "size_gib": "4", "limit_seconds": "60"},
        values=_values("How fast are reading, writing and random access here?", 3),
    ),
    Preset(
        "database",
        "As a database: 8 KiB at random, depth 1, 4 and 16, a minute each",
        {"profile": "database", "size_gib": "4", "limit_seconds": "60"},
        {"depth": ("1", "4", "16")},
        _values("How many requests in flight does this storage need?", 3, "random_read_iops"),
    ),
    Preset(
        "pulp",
        "As a Pulp: files of 20 kB to 4 MB",
        {"profile": "pulp", "size_gib": "2", "limit_seconds": "120"},
        values=_values("How fast are the files of a Pulp written and read?", 3),
    ),
    Preset(
        "try-it",
        "Try it: the maintenance tool's check with 256 MiB, seconds",
        {"profile": "maintenance", "size_gib": "0.25", "limit_seconds": "10"},
        values=_values("Does the storage benchmark run here?", 3),
    ),
)
"""Of the directory that the form has. Data of the published thresholds: campaigns/kinds/storage/profiles.py."""
