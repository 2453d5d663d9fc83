"""The page at `/`: what can be asked. Written from the grammar itself. Pure."""

from sandbox.grammar import ROOT, SETTINGS, manifest_path

_PAGE = """\
A stand-in server of PULP_MANIFEST repositories. It makes every file up, always the same.

  {base_url}{simple}
  {base_url}{slow}

A path is {root}/SETTINGS/NAME. Settings are key=value, joined by commas, in any number of
segments and any order. NAME is PULP_MANIFEST, or the name of a file that stands in it.

{settings}

/stats counts requests, those in flight too, for each path and each label.
POST /stats/reset lets it begin anew. /health says ok.
"""


def welcome(base_url: str) -> str:
    """Write the page."""
    settings = "\n".join(
        f"  {setting.key + '=':<13}{setting.effect}\n"
        f"  {'':<13}{setting.allowed}" + (f"; default {setting.default}" * bool(setting.default))
        for setting in SETTINGS
    )
    return _PAGE.format(
        base_url=base_url,
        root=ROOT,
        simple=manifest_path(files=100, size=20480),
        slow=manifest_path(files=500, total="50MB", latency=20, jitter=5, errors=0.01, label="a"),
        settings=settings,
    )
