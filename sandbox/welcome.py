"""The page at `/`: which paths there are, generated from the grammar. Pure."""

from sandbox.grammar import entry_path
from sandbox.settings import SETTINGS, Feed, Preset, Setting

_PAGE = """\
A simulated server of PULP_MANIFEST and RPM repositories. It generates every file, always with the same content.

{examples}

A path is {file}/SETTINGS/NAME or {rpm}/SETTINGS/NAME. Settings are key=value, joined by commas, in
any number of segments and any order. NAME is PULP_MANIFEST, a file of repodata/, or the name of a
file or package that stands there.

Presets, in both: {presets}

{settings}

/stats counts requests, those in flight too, for each path, each label and each sender.
POST /stats/reset lets it begin anew. /health says ok.
"""


def welcome(base_url: str) -> str:
    """Write the page."""
    slow: dict[str, object] = {"latency": 20, "jitter": 5, "errors": 0.01, "label": "a"}
    examples = (
        entry_path(Feed.FILE, files=100, size=20480),
        entry_path(Feed.FILE, files=500, total="50MB", **slow),
        entry_path(Feed.RPM, packages=200, size="50kB"),
        *(entry_path(feed, preset=preset) for feed in Feed for preset in Preset),
    )
    return _PAGE.format(
        examples="\n".join(f"  {base_url}{path}" for path in examples),
        file=Feed.FILE,
        rpm=Feed.RPM,
        presets=", ".join(Preset),
        settings="\n".join(map(_lines, SETTINGS)),
    )


def _lines(setting: Setting) -> str:
    where = "" if len(setting.feeds) == len(Feed) else f" ({setting.feeds[0]} only)"
    default = f"; default {setting.default}" * bool(setting.default)
    return f"  {setting.key + '=':<13}{setting.effect}{where}\n  {'':<13}{setting.allowed}{default}"
