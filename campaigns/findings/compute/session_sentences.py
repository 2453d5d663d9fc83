"""Sentences about sessions: why each began, and whether they confirm the answer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from campaigns.findings.compute.sessions import Begun
from campaigns.findings.values import BegunSession, FactChange, SessionsFinding
from campaigns.kit.numbers import counted, number, percent, span_pct
from campaigns.models import Campaign
from campaigns.results.environment import Change
from campaigns.results.values import ObservedRun

Found = Any
MOST_NAMED, MOST_FACTS, MOST_LETTERS = 3, 3, 40


def session_sentences(
    campaign: Campaign, runs: Sequence[ObservedRun], begun: Sequence[Begun]
) -> SessionsFinding | None:
    """Return why sessions began and how many blocks they split; None with one session.

    parted: blocks with values in several sessions; of pairs these are left out. changed: what is
    said of those that a change of the environment began; all: of every one.
    """
    if not begun:
        return None
    parted = _parted(campaign, runs)
    changed = [each for each in begun if each.changes]
    return SessionsFinding(
        begun=[
            BegunSession(
                each.session,
                each.position,
                each.hours,
                [FactChange(**asdict(change)) for change in each.changes],
            )
            for each in begun
        ],
        parted=parted,
        paired=campaign.order == Campaign.Order.PAIRED,
        changed=[*_begun(changed), *_lost(campaign, parted)] if changed else [],
        all=[*_begun(begun), *_lost(campaign, parted)],
    )


def sessions_text(pairs: Found, levels: Found) -> str:
    """Return the change in each of two sessions, or between how many sessions it is judged; else empty.

    Of several comparisons it is their mean, or the level that is best in each session.
    """
    finding = pairs or levels or {}
    rows = rows_of(pairs, levels)
    one = finding.get("primary") or (rows[0] if len(rows) == 1 else None)
    if one is not None:
        return _of_one(one["standing"], one["comparison"]["verdict"])
    if rows and all(row["standing"].get("between") for row in rows):
        return f"All intervals are those between {rows[0]['standing']['sessions']} sessions."
    overall = (pairs or {}).get("overall") or {}
    each: Sequence[float] = overall.get("standing", {}).get("each_pct", [])
    if each:
        return f"{_each_of_two(each)} as geometric mean over all." if len(each) == 2 else ""
    groups = (levels or {"groups": []})["groups"]
    if len(groups) == 1 and groups[0]["best_of_each"]:
        return _best_of_each(groups[0])
    return ""


def confirmed_by_sessions(pairs: Found, levels: Found) -> str:
    """Return how many verdicts the sessions confirm, over all comparisons."""
    rows = rows_of(pairs, levels)
    sessions = (pairs or levels or {})["sessions"]
    confirmed = [row for row in rows if row["standing"]["standing"] == "confirmed"]
    text = Counter(row["display"]["word"] for row in confirmed)
    if len(rows) == 1:
        message = f"{sessions} sessions confirm “{next(iter(text))}”" if text else ""
        message = message or f"{sessions} sessions do not confirm a verdict"
    else:
        message = (
            f"{len(confirmed)} of {len(rows)} comparisons are confirmed by {sessions} sessions"
        )
        if text:
            message += f" ({', '.join(f'{word}: {count}' for word, count in text.items())})"
    differ = sum(bool(row["standing"].get("differ")) for row in rows)
    if not differ:
        return f"{message}."
    where = "" if len(rows) == 1 else f"in {differ} "
    return f"{message}; {where}the sessions differ by more than their noise."


def rows_of(pairs: Found, levels: Found) -> list[Mapping[str, Any]]:
    """Return all comparisons, each with its confirmation by sessions."""
    if pairs is not None:
        return list(pairs["strata"])
    return [row for group in (levels or {"groups": ()})["groups"] for row in group["comparisons"]]


def _of_one(standing: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    if standing.get("between") and verdict["ci_pct"]:
        change, bounds = percent(verdict["pct_change"]), span_pct(verdict["ci_pct"])
        return f"Between {standing['sessions']} sessions it is {change} ({bounds} %)."
    if standing["sessions"] == 2:
        return f"{_each_of_two(standing['each_pct'])}."
    return ""


def _each_of_two(each: Sequence[float]) -> str:
    return f"The two sessions say {percent(each[0])} and {percent(each[1])}"


def _best_of_each(group: Mapping[str, Any]) -> str:
    levels = [group["values"][group["cells"].index(cell)] for cell in group["best_of_each"]]
    first, second = (number(each) if isinstance(each, float) else str(each) for each in levels)
    if first == second:
        return f"Each of the two sessions alone measured {first} as the best, too."
    return f"The first of the two sessions measured {first} as the best, the second {second}."


def _parted(campaign: Campaign, runs: Sequence[ObservedRun]) -> int:
    if campaign.order not in (Campaign.Order.PAIRED, Campaign.Order.INTERLEAVED):
        return 0
    sessions: dict[int, set[int]] = {}
    for run in runs:
        if run.state == "ok" and run.value is not None:
            sessions.setdefault(run.block, set()).add(run.session)
    return sum(len(each) > 1 for each in sessions.values())


def _begun(begun: Sequence[Begun]) -> Iterator[str]:
    for each in begun[:MOST_NAMED]:
        yield f"A new session begins at run {each.position}: {_why(each)}."
    if len(begun) > MOST_NAMED:
        yield f"{len(begun) - MOST_NAMED} more begin later."


def _why(begun: Begun) -> str:
    why = [f"{begun.hours:.0f} h after the run before it"] if begun.hours else []
    why += [_change(change) for change in begun.changes[:MOST_FACTS]]
    if len(begun.changes) > MOST_FACTS:
        why.append(f"and {counted(len(begun.changes) - MOST_FACTS, 'more fact')}")
    return ", ".join(why)


def _change(change: Change) -> str:
    name = f"{change.name} ({change.side})"
    if max(len(change.before), len(change.after)) > MOST_LETTERS:
        return f"{name} is another one"
    return f"{name} {change.before} → {change.after}"


def _lost(campaign: Campaign, parted: int) -> Iterator[str]:
    if not parted:
        return
    if campaign.order == Campaign.Order.PAIRED:
        is_left = "is" if parted == 1 else "are"
        yield f"{counted(parted, 'pair')} with runs on both sides of a border {is_left} left out."
    else:
        lies = "lies" if parted == 1 else "lie"
        yield (
            f"{counted(parted, 'block')} {lies} on both sides of a border: runs are compared "
            "within each part only."
        )
