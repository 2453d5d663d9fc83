"""No text of a user makes a regular expression take time that grows with its square. A new expression is tried by itself."""

import re
from importlib import import_module
from time import thread_time
from types import SimpleNamespace

import pytest

from campaigns.kinds.http.program.striking import strike
from campaigns.kinds.registration.program.answers import Known, _take_built
from campaigns.targets import links
from campaigns.tests.expressions import ROOT, Expression, attacks, expressions_of, sources

LETTERS = (22, 20_000)
MOST_SECONDS = 0.2
"""Of the processor, for 20,000 letters: linear ones take a tenth of it at most, others more, or seconds."""
LEAST_SECONDS = 0.04
"""What those that are not linear take at least, also of a fast processor."""
BOUNDED = {
    "campaigns/planning/criterion.py LINE": "a line of LONGEST_LINE letters at most",
    "campaigns/targets/quiet_hours.py LINE": "a line of LONGEST_LINE letters at most",
    "campaigns/results/readers/satperf_log.py FIRST": "4,000 bytes of a line at most",
    "campaigns/results/readers/satperf_log.py LEVEL": "300 letters of a name at most",
    "campaigns/targets/watches/sources/ssh/schedule.py LEGEND": "LONGEST_LINE letters of a line",
    "campaigns/kit/styles.py LIGHT": "a file of ours",
    "campaigns/kit/styles.py FONT": "a file of ours",
    "campaigns/results/chart_pages.py SCRIPT": "a page of ours",
    "campaigns/findings/wording/capacity.py PERCENTILE": "a sentence of ours",
}
"""Expressions that are not linear, and what they are given."""
IMPORTED_ELSEWHERE = ("__main__", "on_target", "programs.start")
"""Modules that are programs."""


def all_expressions() -> list[Expression]:
    found: list[Expression] = []
    for path in sources():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        names = {}
        if module.startswith("campaigns.") and not module.endswith(IMPORTED_ELSEWHERE):
            names = vars(import_module(module))
        written = set(re.findall(r"(?m)^(\w+)\b", path.read_text()))
        own = {name: value for name, value in names.items() if name in written}
        found += expressions_of(path, own)
    return found


def is_slow(expression: Expression, most_seconds: float = MOST_SECONDS) -> str:
    """Return the text on which an expression takes too long; empty where there is none."""
    for used in expression.used:
        for letters in LETTERS:
            for text in attacks(expression.pattern, letters):
                began = thread_time()
                if used == "search":
                    sum(1 for _ in expression.pattern.finditer(text))
                else:
                    getattr(expression.pattern, used)(text)
                if thread_time() - began > most_seconds:
                    return f"{used}: {text[:60]!r}"
    return ""


def test_every_expression_is_linear_or_given_little():
    found = all_expressions()

    assert BOUNDED.keys() <= {each.where for each in found}
    assert len(found) > 250
    others = [each for each in found if each.where not in BOUNDED]
    assert {each.where: text for each in others if (text := is_slow(each))} == {}


@pytest.mark.parametrize(
    "text", [r"\bCOPY\b[^;]*\bPROGRAM\b", r"(a+)+b", r"\beyJ[\w-]{8,}\.[\w-]{8,}", r"x\s*,?\s*y"]
)
def test_the_attacks_find_what_is_not_linear(text):
    expression = Expression("", re.compile(text), frozenset({"search"}))

    assert is_slow(expression, LEAST_SECONDS)


# What the linear ones take is what their forerunners took


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id eyJhbGciOi1.eyJzdWIiOiIx.c2ln; x", "id [secret]; x"),
        ("session-eyJhbGciOi1.eyJzdWIiOiIx.c2ln", "session-[secret]"),
        ("eyJa.eyJhbGciOi1.eyJzdWIiOiIx.c2ln", "eyJa.[secret]"),
        ("xeyJhbGciOi1.eyJzdWIiOiIx.c2ln", "xeyJhbGciOi1.eyJzdWIiOiIx.c2ln"),
        ("eyJhbGciOi1.eyJzdWIiOiIx.", "[secret]"),
        ("eyJhbGciOi1.eyJz.c2ln", "eyJhbGciOi1.eyJz.c2ln"),
    ],
)
def test_tokens_are_struck_out(text, expected):
    assert strike(text) == expected


@pytest.mark.parametrize(
    ("line", "title", "url"),
    [
        ("  CPU: load :  https://a.example/b?c=d ", "CPU: load", "https://a.example/b?c=d"),
        ("a:b://c://d", "a", "b://c://d"),
        ("Logs:https://a.example", "Logs", "https://a.example"),
    ],
)
def test_links_are_read(line, title, url, monkeypatch):
    monkeypatch.setattr(links, "checked_links", lambda read: read)

    assert links.parse_links(line) == [{"title": title, "url": url}]


@pytest.mark.parametrize(
    ("text", "built"),
    [
        (
            b"wget 'https://a.example/x/unattended/built?token=1-2' -q",
            "/x/unattended/built?token=1-2",
        ),
        (b"a /unattended/built?token=1", "/unattended/built?token=1"),
        (b'b="http://c.example/unattended/built?token=1"', "/unattended/built?token=1"),
    ],
)
def test_the_address_that_says_that_a_host_is_built_is_found(text, built):
    known = Known()

    _take_built(known, SimpleNamespace(body=text))  # type: ignore[arg-type]

    assert known.built == built
