"""What script/links.py finds in Markdown."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """Say what is broken in a page that stands beside others."""
    monkeypatch.syspath_prepend(ROOT / "script")
    links = importlib.import_module("links")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# Other\n\n## A *b*, `c`\n")
    (tmp_path / "picture.png").write_text("")

    def found(text):
        page = tmp_path / "page.md"
        page.write_text(f"# Page\n\n{text}\n")
        return list(links.broken(page))

    return found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a](other.md#a-b-c) [b](#page) [c](https://x.example/none) ![p](picture.png)", []),
        ("`[a](none.md)` and\n\n```\n[a](none.md)\n```\n", []),
        ("[a](none.md)", ["page.md:3: there is no file none.md"]),
        ("a\n\n[a](other.md#b)", ["page.md:5: there is no heading other.md#b"]),
        ("[a](#b)", ["page.md:3: there is no heading #b"]),
        ("![p](none.png)", ["page.md:3: there is no file none.png"]),
    ],
)
def test_a_link_that_leads_nowhere_is_told_with_its_line(broken, text, told):
    assert broken(text) == told
