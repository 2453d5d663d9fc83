"""All sentences on trends. What is not tested is called neither better nor worse. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaigns.kit.mappings import Json
from campaigns.kit.numbers import amount, counted, number
from campaigns.trends.values import Session, TrendState

TOO_LITTLE = "There is too little history to judge the newest session"
MOST_FACTS = 2
WHY: Mapping[str, str] = {
    "torn": "the version changed within the session, or parts of the target had different ones",
    "too_few": "fewer than 3 runs",
    "lost": "more than 20 % of the runs were lost",
    "saturated": "the load generator was saturated",
    "too_many_failures": "too much failed",
    "not_positive": "a value is not above zero",
}


@dataclass(frozen=True, slots=True)
class Sentences:
    """The three lines of an answer."""

    verdict: str
    certainty: str
    caveat: str


def sentences(
    label: str, unit: str, subject: str, state: TrendState, sessions: Sequence[Session]
) -> Sentences:
    """Return what a trend says. sessions: of the line, in the order of the page."""
    caveat = _caveat(state, sessions)
    return Sentences(_verdict(label, unit, subject, state), _certainty(state), caveat)


def _verdict(label: str, unit: str, subject: str, state: TrendState) -> str:
    if state.value is None:
        return f"{label}: no session has a value yet."
    version = f", {subject} {state.version}" if subject and state.version else ""
    which = "the only session" if state.told == 1 else f"the newest of {state.told} sessions"
    if state.told < state.sessions:
        which += " with a value"
    judged = f": {_judged(state)}" if _judged(state) else ""
    return f"{label}: {amount(state.value, unit)} in {which}{version}{judged}."


def _judged(state: TrendState) -> str:
    """Return what the screen says of the newest session; empty where it could not be tested."""
    if state.suspected:
        return SUSPECTED[state.suspected]
    return "" if state.p is None else "not suspected to be worse"


SUSPECTED: Mapping[str, str] = {
    "failing": "suspected to be worse, since it fails",
    "screen": "suspected to be worse",
    "change": "suspected to be worse since an earlier session",
    "creep": "suspected to have become worse little by little",
    "machine": "worse within one version, so it is the machine",
}


def _certainty(state: TrendState) -> str:
    runs = (
        "" if state.within is None else f" Runs within a session differ by {percent(state.within)}."
    )
    if state.between is None:
        return f"How far sessions differ is not known: nothing was measured twice unchanged.{runs}"
    return (
        f"Sessions in which nothing changed differ by {percent(state.between)} (sd, {counted(state.repeated, 'session')})."
        f"{runs}"
    )


def _caveat(state: TrendState, sessions: Sequence[Session]) -> str:
    bordered = [each for each in sessions if each.border]
    parts = []
    if bordered:
        last = max(bordered, key=lambda each: each.at)
        parts.append(f"{last.border}: older sessions are not comparable.")
    if state.told and not _judged(state):
        more = f": {counted(state.more, 'more session')} needed" if state.more else ""
        parts.append(f"{TOO_LITTLE}{more}.")
    return " ".join(parts)


def percent(on_logs: float) -> str:
    """Return a standard deviation on logs as a percentage."""
    return f"{number(100 * math.expm1(on_logs), 2)} %"


def border_text(border: Json | None) -> str:
    """Return why an environment ended; empty without a border."""
    if not border:
        return ""
    changed = [
        f"{name} changed from {before} to {after}"
        for name, (before, after) in border.get("changed", {}).items()
    ]
    more = len(changed) - MOST_FACTS
    parts = changed[:MOST_FACTS] + ([f"{counted(more, 'other fact')} changed"] if more > 0 else [])
    if border.get("unknown"):
        parts.append("the machine changed, and no fact tells how")
    if border.get("days") is not None:
        parts.append(f"nothing was measured for {counted(border['days'], 'day')}")
    text = ", and ".join(parts)
    return text[:1].upper() + text[1:]


def why_no_value(flags: Sequence[str]) -> str:
    """Return why a session has no value; empty where it has one."""
    return "; ".join(WHY[flag] for flag in flags if flag in WHY)
