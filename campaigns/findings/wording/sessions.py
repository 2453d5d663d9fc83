"""Sentences about sessions: why each began, and whether they confirm the answer. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from campaigns.findings.values import (
    BegunSession,
    Confirmation,
    FactChange,
    LevelRow,
    LevelsFinding,
    Pairs,
    SessionsFinding,
    Stratum,
    Terms,
)
from campaigns.findings.wording.verdicts import change_in_words, label_of, with_interval
from campaigns.kit.numbers import counted
from campaigns.stats.verdict import Verdict

MOST_NAMED, MOST_CHANGES, MOST_LETTERS = 3, 3, 40


def session_notes(sessions: SessionsFinding | None) -> list[str]:
    """Return why sessions began, and how many blocks they split; empty with one session."""
    return [*_begun(sessions.begun), *_parted(sessions)] if sessions else []


def notes_of_changes(sessions: SessionsFinding | None) -> list[str]:
    """Return the notes on the sessions that a change of the environment began; empty without one."""
    begun = [each for each in sessions.begun if each.changes] if sessions else []
    return [*_begun(begun), *_parted(sessions)] if sessions and begun else []


def sessions_text(judged: Pairs | LevelsFinding | None) -> str:
    """Return the change in each of two sessions, or between how many sessions it is judged; else empty.

    Of several comparisons it is their mean.
    """
    if judged is None:
        return ""
    rows = rows_of(judged)
    one = judged.primary or (rows[0] if len(rows) == 1 else None)
    if one is not None:
        return _of_one(judged, one.confirmation, one.comparison.verdict)
    if rows and all(row.confirmation.between for row in rows):
        return f"All intervals are those between {rows[0].confirmation.sessions} sessions."
    if isinstance(judged, Pairs):
        each = judged.overall.confirmation.each_pct if judged.overall else ()
        if len(each) != 2:
            return ""
        return f"{_each_of_two(judged, each)} as geometric mean over all."
    return ""


def is_confirmed(judged: Pairs | LevelsFinding) -> bool:
    """Return whether sessions confirm every verdict, without differing by more than their noise."""
    each = [row.confirmation for row in rows_of(judged)]
    return bool(each) and all(one.standing == "confirmed" and not one.differ for one in each)


def confirmed_by_sessions(judged: Pairs | LevelsFinding) -> str:
    """Return how many verdicts the sessions confirm, over all comparisons."""
    rows, sessions = rows_of(judged), judged.sessions
    confirmed = [row for row in rows if row.confirmation.standing == "confirmed"]
    words = Counter(label_of(judged, row.comparison.verdict.word).word for row in confirmed)
    if len(rows) == 1:
        text = f"{sessions} sessions do not confirm a verdict"
        if words:
            text = f"{sessions} sessions confirm “{next(iter(words))}”"
    else:
        text = f"{len(confirmed)} of {len(rows)} comparisons are confirmed by {sessions} sessions"
        if words:
            text += f" ({', '.join(f'{word}: {count}' for word, count in words.items())})"
    differ = sum(bool(row.confirmation.differ) for row in rows)
    if not differ:
        return f"{text}."
    where = "" if len(rows) == 1 else f"in {differ} "
    return f"{text}; {where}the sessions differ by more than their noise."


def rows_of(judged: Pairs | LevelsFinding) -> Sequence[Stratum] | Sequence[LevelRow]:
    """Return all comparisons, each with its confirmation by sessions."""
    if isinstance(judged, Pairs):
        return judged.strata
    return [row for group in judged.groups for row in group.comparisons]


def _of_one(terms: Terms, confirmation: Confirmation, verdict: Verdict) -> str:
    if confirmation.between and verdict.ci_pct:
        change = with_interval(terms, verdict.pct_change, verdict.ci_pct)
        return f"Between {confirmation.sessions} sessions: {change}."
    if confirmation.sessions == 2:
        return f"{_each_of_two(terms, confirmation.each_pct)}."
    return ""


def _each_of_two(terms: Terms, each: Sequence[float]) -> str:
    first, second = (change_in_words(terms, change) for change in each)
    return f"First session {first}, second {second}"


def _begun(begun: Sequence[BegunSession]) -> Iterator[str]:
    for each in begun[:MOST_NAMED]:
        yield f"A new session begins at run {each.position}: {_why(each)}."
    if len(begun) > MOST_NAMED:
        yield f"{len(begun) - MOST_NAMED} more begin later."


def _why(begun: BegunSession) -> str:
    why = [f"{begun.hours:.0f} h after the run before it"] if begun.hours else []
    why += [_change(change) for change in begun.changes[:MOST_CHANGES]]
    if len(begun.changes) > MOST_CHANGES:
        why.append(f"and {counted(len(begun.changes) - MOST_CHANGES, 'more fact')}")
    return ", ".join(why)


def _change(change: FactChange) -> str:
    name = f"{change.name} ({change.place})"
    if max(len(change.before), len(change.after)) > MOST_LETTERS:
        return f"{name} is another one"
    return f"{name} {change.before} → {change.after}"


def _parted(sessions: SessionsFinding) -> Iterator[str]:
    parted = sessions.parted
    if parted and sessions.paired:
        is_left = "is" if parted == 1 else "are"
        yield f"{counted(parted, 'pair')} with runs on both sides of a border {is_left} left out."
    elif parted:
        lies = "lies" if parted == 1 else "lie"
        yield (
            f"{counted(parted, 'block')} {lies} on both sides of a border: runs are compared "
            "within each part only."
        )
