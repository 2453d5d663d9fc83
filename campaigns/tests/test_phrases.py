"""No page has a phrase that first-time users did not understand."""

import re

import pytest
from django.conf import settings

TEXTS = sorted(
    [*(settings.BASE_DIR / "templates").rglob("*.html")]
    + [
        path
        for path in (settings.BASE_DIR / "campaigns").rglob("*.py")
        if not {"tests", "migrations"} & set(path.parts)
    ]
)
PHRASES = (
    "(no word)",
    "Begin a thread",
    "Compare the ticked",
    "in 4 of 5",
    "in no interval",
    "in the tone of",
    "Leased as",
    "make runs vary less",
    "Make it<",
    "may be as good",
    "May be loaded",
    "may register at once",
    "Nobody has accepted",
    "Nobody has said",
    "No tool's option",
    "of others nobody knows",
    "on its way",
    "Say of which metric",
    "stored campaign yet",
    "thing to put right",
    "units of work in a cell",
    "Work that may fail",
)


def shown(text):
    """The text of a file on one line, without comments and docstrings, and with Python's split strings joined."""
    text = re.sub(r'"""[\s\S]*?"""|\{% comment %\}[\s\S]*?\{% endcomment %\}|(?m:#.*$)', "", text)
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*f?"', "", text))


@pytest.fixture(scope="module")
def everything():
    return {str(path): shown(path.read_text(encoding="utf-8")) for path in TEXTS}


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_page_has_a_phrase_that_users_did_not_understand(phrase, everything):
    assert [path for path, text in everything.items() if phrase in text] == []
