"""The content of a report: formatted texts, and charts as SVG. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from campaigns.kinds.base import Snippet
from campaigns.kit.charts.figure import KeyItem

Rows = tuple[tuple[str, str], ...]
"""Name and value, such as a list of definitions has them."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, drawn for a wide place and for a phone."""

    title: str
    wide: str
    narrow: str
    label: str
    key: tuple[KeyItem, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: what, its change with the interval, the verdict and its tone. also: what else differs between two targets."""

    name: str
    change: str
    interval: str
    word: str
    tone: str
    standing: str
    n: str
    also: str = ""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A run that was excluded, by whom, and why."""

    run: str
    value: str
    by: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a report about one campaign."""

    name: str
    question: str
    contrast: str
    answer: str
    certainty: str
    caveats: list[str]
    facts: Rows
    carried: Rows
    criterion: Rows
    compared: tuple[Compared, ...]
    more_compared: int
    charts: tuple[Chart, ...]
    definition: Rows
    how: Rows
    sessions: tuple[tuple[str, str, str], ...]
    environment: Rows
    settings: tuple[tuple[str, str, str, str], ...]
    unread: str
    excluded: tuple[Excluded, ...]
    amended: tuple[str, ...]
    sensitivity: tuple[str, ...]
    data_hash: str
    signed_hash: str
    versions: Rows
    computed_at: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Who decided what on this revision, when, on which hash."""

    name: str
    word: str
    at: str
    reason: str
    data_hash: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check with its number, and the author's justification where it warns or fails."""

    title: str
    state: str
    number: str
    text: str
    word: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The setting that the findings favour, as a command of the target's tools."""

    setting: str
    why: str
    snippets: tuple[Snippet, ...]
    unknown: str


@dataclass(frozen=True, slots=True)
class Sizing:
    """A sizing table: what each target carries."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report. loud: the notice at its top, empty for an accepted conclusion."""

    claim: str
    state: str
    tone: str
    loud: str
    reason: str
    reopened_by: tuple[tuple[str, str, str], ...]
    author: str
    team: str
    revision: int
    sent_at: str
    decided_at: str
    signatures: tuple[Signature, ...]
    recommendation: str
    advice: tuple[Advice, ...]
    limits: str
    checks: tuple[CheckRow, ...]
    parts: tuple[Part, ...]
    sizing: tuple[Sizing, ...]
    made_at: str
    made_by: str


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a report with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(each, change) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: mapped(getattr(value, each.name), change) for each in fields(value)}
        return replace(value, **changed)
    return value
