"""Feeds of the sandbox to begin with: 200 MB each, so that what differs is what a file costs."""

from campaigns.kinds.base import Preset

LABELS = {
    "many-small": "Many small {what}: 4000 of 50 kB",
    "few-large": "Few large {what}: 10 of 20 MB",
}


def presets_at(sandbox_url: str) -> tuple[Preset, ...]:
    """Return the presets, with feeds of the sandbox at this URL."""
    files = ("file", f"{sandbox_url}/repo/preset=%s/PULP_MANIFEST")
    packages = ("rpm", f"{sandbox_url}/rpm/preset=%s/")
    return tuple(
        Preset(
            f"{name}-{what}",
            label.format(what=what),
            {"content": content, "feed": feed % name},
        )
        for what, (content, feed) in (("files", files), ("packages", packages))
        for name, label in LABELS.items()
    )
