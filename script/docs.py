"""Builds docs/ and the changelog as a static site, by Zensical; any warning fails.

Usage: docs.py [DIR]    Without DIR it is built, and thrown away.
"""

import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG, CONTENTS = "CHANGELOG.md", "all-pages.md"
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]+)?\)")
GROUP = re.compile(r"^## (.+)\n((?:\n|[*] .*\n)+)", re.MULTILINE)
CONFIG = """\
[project]
site_name = "perfdash"
docs_dir = "docs"
site_dir = "site"
extra.generator = false
theme.font = false
theme.features = ["navigation.top", "search.highlight"]
theme.palette = [
  {{media = "(prefers-color-scheme: light)", scheme = "default", toggle = {{icon = "lucide/sun", name = "Dark"}}}},
  {{media = "(prefers-color-scheme: dark)", scheme = "slate", toggle = {{icon = "lucide/moon", name = "Light"}}}},
]
nav = {nav}

[project.markdown_extensions]
tables = {{}}
toc.slugify = {{object = "pymdownx.slugs.slugify", kwds = {{case = "lower"}}}}
pymdownx.superfences = {{}}
pymdownx.highlight = {{}}
"""


def main() -> int:
    """Build the site. Return the exit code of Zensical."""
    with tempfile.TemporaryDirectory() as scratch:
        stage = Path(scratch)
        lay_out(stage)
        zensical = Path(sys.executable).with_name("zensical")
        done = subprocess.run(
            [zensical, "build", "--strict"], cwd=stage, capture_output=True, text=True
        )
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            return done.returncode
        if len(sys.argv) > 1:
            shutil.rmtree(sys.argv[1], ignore_errors=True)
            shutil.copytree(stage / "site", sys.argv[1])
            print(f"{sys.argv[1]}/index.html")
    return 0


def lay_out(stage: Path) -> None:
    """Write the pages as Zensical takes them: all below one folder, with its settings beside it."""
    docs = stage / "docs"
    shutil.copytree(ROOT / "docs", docs)
    for source in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / CHANGELOG]:
        home = source.relative_to(ROOT).as_posix()
        text = LINK.sub(partial(moved, home), source.read_text("utf-8"))
        (docs / home.removeprefix("docs/")).write_text(text, "utf-8")
    (stage / "zensical.toml").write_text(CONFIG.format(nav=navigation(docs)), "utf-8")


def moved(home: str, link: re.Match[str]) -> str:
    """Return a link of a page for its place on the site; its words if it leads to the code."""
    words, file, anchor = link[1], link[2], link[3] or ""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(home), file))
    if target != CHANGELOG and not target.startswith("docs/"):
        return words
    here = posixpath.dirname(home.removeprefix("docs/"))
    return f"[{words}]({posixpath.relpath(target.removeprefix('docs/'), here or '.')}{anchor})"


def navigation(docs: Path) -> str:
    """Return the menu of the site as TOML: the groups of the page that lists all pages."""
    groups = GROUP.findall((docs / CONTENTS).read_text("utf-8"))
    menu = [{title: [path for _, path, _ in LINK.findall(items)]} for title, items in groups]
    pages = ["README.md", CONTENTS, *menu, "reference/glossary.md", CHANGELOG]
    return json.dumps(pages, ensure_ascii=False).replace('": [', '" = [')


if __name__ == "__main__":
    sys.exit(main())
