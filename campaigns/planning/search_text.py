"""The steps of a search as sentences, for the log of a campaign, its page and REST. Pure.

They tell what comes next and why, from one run a load, so they judge nothing: what is carried is worded in `findings.wording`.
"""

from campaigns.kit.numbers import grouped
from campaigns.stats.capacity_search import Bracket, Phase, Step, Why

WHYS = {
    Why.FIRST: "the first load",
    Why.DOUBLE: "doubles it",
    Why.QUADRUPLE: "four times as many: all values are far below their limits",
    Why.HALVE_DOWN: "halves it, since the first load failed",
    Why.HALVE: "halves the bracket",
    Why.CROSSING: "where the line through both crosses the limit",
    Why.CONFIRM: "confirms in fresh blocks",
    Why.CONFIRM_LARGEST: "confirms the largest load that it may reach",
    Why.CONFIRM_LOWEST: "confirms that the smallest load fails",
    Why.SHIFT: "confirms anew, since all loads ended alike",
    Why.RECOVERY: "checks that the target has recovered",
    Why.AGAIN: "repeats it",
}


def bracket_text(bracket: Bracket) -> str:
    """Return what is known so far: one run a load, so no verdict."""
    parts = []
    if bracket.held is not None:
        parts.append(f"held at {grouped(bracket.held)}")
    if bracket.failed is not None:
        parts.append(f"failed at {grouped(bracket.failed)}")
    return ", ".join(parts) or "nothing measured yet"


def step_text(step: Step, load: str) -> str:
    """Return the next step, or the end, as a sentence."""
    known = bracket_text(step.bracket)
    if step.phase is None:
        if step.why == Why.NOT_RECOVERED:
            return f"the target has not recovered from {grouped(step.load)} {load}"
        if step.why == Why.FEW_RUNS:
            return f"{known} in single runs; too few runs are left to confirm it"
        # What a single run did decides nothing now: all runs that confirmed do, and the answer has it.
        return "confirmed; the answer has what is carried"
    next_load = f"next {grouped(step.load)}: {WHYS[step.why]}"
    if step.phase == Phase.CONFIRM:
        next_load += f", block {step.block + 1} of {step.blocks}"
    if step.phase == Phase.CHECK and step.checks:
        next_load += f", once more after a longer pause ({step.checks} failed)"
    return f"{known}; {next_load}"
