"""Plotly would write a style element while it starts, which the policy forbids: it finds its rules here."""

import re
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders

PAIR = re.compile(
    r"""(?:"(?P<quoted>[^"]+)"|(?P<bare>\w+)):(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')"""
)
MADE_AT_ITS_START = re.compile(
    r"""document\.getElementById\("(?P<id>[^"]+)"\)\)\{var \w+=document\.createElement\("style"\)"""
)


def static(path):
    result = finders.find(path)
    assert result, path
    return Path(result).read_text(encoding="utf-8")


def script():
    return static("vendor/plotly/plotly-basic.min.js")


def rules(text):
    """Selectors with their declarations, as Plotly would insert them: each before all others."""
    table = re.search(r"""\{"X,X div":.*?\};for\(""", text, re.DOTALL)
    assert table, "plotly.min.js holds its style rules in another form now"
    results: list[str] = []
    for pair in PAIR.finditer(table[0]):
        selector = re.sub("^,", " ,", pair["quoted"] or pair["bare"])
        selector = selector.replace("X", ".js-plotly-plot .plotly").replace("Y", ".plotly-notifier")
        results.insert(0, f"{selector} {{{pair['double'] or pair['single']}}}")
    return results


def test_our_sheet_has_the_rules_of_the_installed_plotly():
    sheet = static("campaigns/plotly.css")
    wanted = rules(script())

    assert len(wanted) > 60
    assert sheet.partition("*/\n")[2] == "\n".join([*wanted, ""])


def test_pages_with_charts_hold_what_keeps_plotly_from_writing_styles():
    page = (settings.BASE_DIR / "templates/components/_chart_scripts.html").read_text()
    loading, text = static("campaigns/charts.js"), script()

    assert 'matches(".no-inline-styles")' in text
    assert 'id: "plotly.js-style-global", className: "no-inline-styles"' in loading
    made = [result["id"] for result in MADE_AT_ITS_START.finditer(text)]
    assert len(made) == text.count('createElement("style")') - 1
    assert all(f'id="{name}"' in page or f'id: "{name}"' in loading for name in made)
