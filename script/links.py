"""Says which links of the repository's Markdown lead nowhere: to no file, no picture, or no heading of a page."""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from campaigns.kit.markup import document  # noqa: E402

FOLDERS = ("bench", "campaigns", "client", "docs", "e2e", "sandbox")
PLACES = ("*.md", *(f"{folder}/**/*.md" for folder in FOLDERS))
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def main() -> int:
    """Print the broken links. Return whether there are any."""
    pages = [page for place in PLACES for page in sorted(ROOT.glob(place))]
    found = [problem for page in pages for problem in broken(page)]
    print("\n".join(found))
    return bool(found)


def broken(page: Path) -> Iterator[str]:
    """Yield a line for each link of a page that leads nowhere."""
    text = CODE.sub(lambda code: "\n" * code[0].count("\n"), page.read_text("utf-8"))
    for link in LINK.finditer(text):
        file, anchor = (page.parent / link[1]).resolve() if link[1] else page, link[2]
        place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, link.start()) + 1}"
        if not file.exists():
            yield f"{place}: there is no file {link[1]}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{place}: there is no heading {link[1]}#{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    return {heading.anchor for heading in document(page.read_text("utf-8"), str).headings}


if __name__ == "__main__":
    sys.exit(main())
