"""Search over the documentation: pages, headings, and the terms of the glossary.

The index is made from docs/ at the first search of a process, some 2 s, and kept. PostgreSQL's English dictionary
gives the stems. Sections are ranked by BM25 (k1 1.2, b 0.75), in which a word of a heading or title counts several times.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from math import log
from typing import TypeVar

from django.db import connection
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from campaigns.kit.markup import Heading
from campaigns.overview.documentation import CHANGELOG, CONTENTS, address_of, pages, read

Key = TypeVar("Key")
WORD = re.compile(r"[^\W_]+")
PAGES, MORE = 10, 3
"""The pages that a search shows, and the further sections of each."""
EXCERPT = 220
"""Characters of an excerpt, about."""
K1, B = 1.2, 0.75
OF_TITLE, OF_HEADING = 4, 8
"""How often a word of the page's title and of the heading counts."""
NAMED = 2
"""What a section counts whose heading is one of the words that are searched for, or some of them."""
OF_PAGE = 0.5
"""What the score of a page adds to that of its section."""
LIKE, BEGUN = 0.8, 0.7
"""What a synonym, and a word that only begins like one of the search, count."""
WEIGHT = {"docs/contributing/": 0.6, CHANGELOG: 0.3}
"""Pages of which readers want less; all others count 1."""
IGNORED = frozenset(("perfdash", "mean", "many", "much", "want", "need", "use"))
"""Words of a search that say nothing, besides those of PostgreSQL's dictionary."""
SYNONYMS = (
    "notify notification told tell alert message mail",
    "worse slower regression",
    "nightly night daily schedule cron",
    "launch start run",
    "delete remove discard",
    "change edit amend amendment modify",
    "certificate ca tls ssl https",
    "slack chat webhook discord mattermost",
    "agent daemon",
    "upgrade update version",
    "install deploy set-up",
    "own mine real",
    "graph chart plot",
    "login sign sso oidc password",
    "latency response duration",
    "percentile p95 p99",
    "throughput rate rps tps",
    "users clients hosts vus",
    "stop cancel abort end",
    "docker podman container compose",
    "noise variation flaky scatter",
    "setting parameter option configuration",
    "ci pipeline jenkins github gitlab",
    "simulated simulator sandbox mock",
    "recording recorded har",
    "why reason",
    "postgres postgresql database",
)
"""Words that stand for one another, by line."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that a search found; excerpt: some of its text, with the words of the search marked."""

    title: str
    heading: str
    address: str
    excerpt: SafeString
    more: tuple[tuple[str, str], ...] = ()
    """Heading and address of the page's further sections."""


@dataclass(frozen=True, slots=True)
class _Section:
    page: str
    title: str
    heading: Heading
    counts: Mapping[str, int]
    names: frozenset[frozenset[str]]
    """The stems of its heading; of a term of the glossary those of each of its names."""

    @property
    def address(self) -> str:
        anchor = "" if self.heading.level == 1 else f"#{self.heading.anchor}"
        return f"{address_of(self.page)}{anchor}"


@dataclass(frozen=True, slots=True)
class _Index:
    sections: tuple[_Section, ...]
    stems: Mapping[str, str]
    """By word, of every word of the documentation; "" of stop words."""
    pages: Mapping[str, Mapping[str, int]]
    like: Mapping[str, frozenset[str]]
    """Stems that stand for one another, by stem."""
    vocabulary: tuple[str, ...]


def find(query: str) -> list[Hit]:
    """Return the best section of each page that a search finds, best page first."""
    index = _index()
    searched = [word for word in words(query) if word not in IGNORED]
    asked = list(dict.fromkeys(stem for stem in _stems_of(searched).values() if stem))
    weights = [_weights(index, stem) for stem in asked]
    if not any(weights):
        return []
    of_pages = _scores(index.pages, weights)
    of_sections = _scores(dict(enumerate(each.counts for each in index.sections)), weights)
    ranked: dict[str, list[tuple[float, _Section]]] = {}
    for number, score in of_sections.items():
        section = index.sections[number]
        total = (score + OF_PAGE * of_pages[section.page]) * _weight(section.page)
        if any(name and name <= set(asked) for name in section.names):
            total *= NAMED
        ranked.setdefault(section.page, []).append((total, section))
    best = sorted(ranked.values(), key=lambda each: -max(score for score, _ in each))
    marked = frozenset(stem for each in weights for stem in each)
    return [_hit(index, page, marked) for page in best[:PAGES]]


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return WORD.findall(text.lower())


@cache
def _index() -> _Index:
    found = [
        (page, document.title, heading)
        for page in pages().values()
        if page not in CONTENTS
        for document in [read(page)]
        for heading in document.headings
    ]
    texts = [_fields(*each) for each in found]
    likes = [words(line) for line in SYNONYMS]
    stems = _stems_of(word for text in (*texts, *likes) for word in text)
    sections = []
    of_pages: dict[str, Counter[str]] = {}
    for (page, title, heading), text in zip(found, texts, strict=True):
        counts = Counter(stems[word] for word in text if stems[word])
        names = frozenset(
            frozenset(stems[word] for word in words(name) if stems[word])
            for name in heading.text.split(",")
        )
        sections.append(_Section(page, title, heading, counts, names))
        of_pages.setdefault(page, Counter()).update(counts)
    like: dict[str, frozenset[str]] = {}
    for line in likes:
        group = frozenset(stems[word] for word in line if stems[word])
        like |= {stem: like.get(stem, frozenset()) | group for stem in group}
    vocabulary = sorted({stem for each in of_pages.values() for stem in each})
    return _Index(tuple(sections), stems, of_pages, like, tuple(vocabulary))


def _fields(page: str, title: str, heading: Heading) -> list[str]:
    """Return the words of a section, those of its heading and title as often as they count."""
    result = words(heading.text) * OF_HEADING
    if heading.level > 1:
        result += words(title) * OF_TITLE
    for text in heading.texts:
        result += words(text)
    return result


def _stems_of(found: Iterable[str]) -> dict[str, str]:
    """Return the stem of each word; "" of words such as "the", which PostgreSQL's dictionary leaves out."""
    asked = list(dict.fromkeys(found))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (ts_lexize('english_stem', word))[1]"
            " FROM unnest(%s::text[]) WITH ORDINALITY AS asked (word, place) ORDER BY place",
            [asked],
        )
        return {word: stem or "" for word, (stem,) in zip(asked, cursor.fetchall(), strict=True)}


def _weights(index: _Index, stem: str) -> dict[str, float]:
    """Return the stems of the documentation that stand for one of a search, and what each counts."""
    known = set(index.vocabulary)
    result = {like: LIKE for like in index.like.get(stem, ()) if like in known}
    if stem in known:
        return result | {stem: 1.0}
    begun = [each for each in index.vocabulary if len(stem) > 2 and each.startswith(stem)]
    return result | dict.fromkeys(begun or get_close_matches(stem, known, 2, 0.8), BEGUN)


def _scores(
    documents: Mapping[Key, Mapping[str, int]], weights: Collection[Mapping[str, float]]
) -> dict[Key, float]:
    """Return the scores of the documents that have a word of the search.

    A score is BM25's, times the square of the share of the words that the document has.
    """
    lengths = {key: sum(counts.values()) for key, counts in documents.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: Counter[Key] = Counter()
    covered: Counter[Key] = Counter()
    for stems in weights:
        of_word: dict[Key, float] = {}
        for stem, weight in stems.items():
            often = {key: counts[stem] for key, counts in documents.items() if counts.get(stem)}
            rare = log(1 + (len(documents) - len(often) + 0.5) / (len(often) + 0.5))
            for key, value in often.items():
                length = 1 - B + B * lengths[key] / mean
                score = weight * rare * value * (K1 + 1) / (value + K1 * length)
                of_word[key] = max(score, of_word.get(key, 0))
        scores.update(of_word)
        covered.update(of_word.keys())
    return {key: score * (covered[key] / len(weights)) ** 2 for key, score in scores.items()}


def _weight(page: str) -> float:
    return next((weight for begin, weight in WEIGHT.items() if page.startswith(begin)), 1.0)


def _hit(index: _Index, ranked: list[tuple[float, _Section]], marked: Collection[str]) -> Hit:
    """Return the best section of a page, and those of its others that are nearly as good."""
    ranked = sorted(ranked, key=lambda each: -each[0])
    best, section = ranked[0]
    more = [
        (other.heading.text, other.address)
        for score, other in ranked[1:]
        if score > best / 2 and other.heading.level > 1
    ]
    heading = section.heading.text if section.heading.level > 1 else ""
    excerpt = format_html_join(
        "",
        "{}",
        (
            (format_html("<mark>{}</mark>", text) if is_marked else text,)
            for text, is_marked in _excerpt(index, section.heading.texts, marked)
        ),
    )
    return Hit(section.title, heading, section.address, excerpt, tuple(more[:MORE]))


def _excerpt(
    index: _Index, texts: Collection[str], marked: Collection[str]
) -> Iterator[tuple[str, bool]]:
    """Yield the text of a section with most words of the search, cut, as pieces."""
    pieces = [_pieces(index, text, marked) for text in texts]
    if not pieces:
        return
    best = max(
        pieces, key=lambda each: len({text.lower() for text, is_marked in each if is_marked})
    )
    skipped = _begin(best)
    length = 0
    if skipped:
        yield "… ", False
    for text, is_marked in best[skipped:]:
        yield text, is_marked
        length += len(text)
        if length > EXCERPT:
            yield " …", False
            return


def _pieces(index: _Index, text: str, marked: Collection[str]) -> list[tuple[str, bool]]:
    """Return a text as its words, and what is between them."""
    parts = re.split(f"({WORD.pattern})", text)
    return [(part, index.stems.get(part.lower(), "") in marked) for part in parts if part]


def _begin(pieces: list[tuple[str, bool]]) -> int:
    """Return the place at which an excerpt begins: 0, unless the first word of the search comes late."""
    place = next((place for place, (_, is_marked) in enumerate(pieces) if is_marked), 0)
    if sum(len(text) for text, _ in pieces[:place]) < EXCERPT // 2:
        return 0
    before = [number for number in range(place) if pieces[number][0].endswith((". ", ": ", "; "))]
    return before[-1] + 1 if before and place - before[-1] < EXCERPT // 8 else max(0, place - 16)
