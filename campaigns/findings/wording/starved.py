"""What is said of runs whose generator other programs kept waiting for a CPU: they are no values of the server. Pure."""

from collections.abc import Sequence

from campaigns.findings.values import MADE, Answer, SummarisedCell
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.cells import FEWEST_RUNS
from campaigns.kinds.programs.starving import is_too_long
from campaigns.kit.numbers import counted
from campaigns.kit.numbers import share as percent_of
from campaigns.stats.criteria import Criteria

REMEDY = "Run it on a quiet machine, or from another one."


def kept_waiting(starved: int, runs: int) -> str:
    """Return in how many runs others kept the generator waiting, without an initial capital; of one or none, too."""
    if not starved:
        return f"none of {counted(runs, 'run')}"
    return f"other programs kept the load generator waiting in {starved} of {counted(runs, 'run')}"


def keep_waiting(share: float | None) -> str:
    """Return that other programs keep the generator of the current run waiting; empty where they do not, or it is unknown."""
    if not is_too_long(share):
        return ""
    return (
        f"Other programs keep the generator waiting for a CPU, {percent_of(share, 0)} of the time so far: what this run measures "
        "will count for nothing."
    )


def starved_in(cells: Sequence[SummarisedCell]) -> tuple[int, int]:
    """Return how many runs are starved, of how many that were made."""
    starved = sum(cell.counts.starved for cell in cells)
    return starved, sum(_made(cell) for cell in cells)


def not_judged(answer: Answer) -> AnswerText | None:
    """Return that nothing is judged, as starved runs leave too little; None where they leave enough, or there are none.

    Settings are compared if at least two have enough runs; of a load one is enough.
    """
    starved, made = starved_in(answer.cells)
    able = [cell for cell in answer.cells if not is_unknown(cell) and _has_enough(cell)]
    would = [
        cell for cell in answer.cells if cell.summary.n_ok + cell.counts.starved >= FEWEST_RUNS
    ]
    needed = 1 if answer.loads else min(2, len(would))
    if not starved or len(able) >= max(1, needed):
        return None
    return AnswerText(f"Not judged: {kept_waiting(starved, made)}.", "warn", REMEDY)


def is_unknown(cell: SummarisedCell) -> bool:
    """Return whether more of a cell's runs were starved than a verdict allows to be lost."""
    return cell.counts.starved > Criteria().lost_limit * _made(cell)


def starved_caveat(answer: Answer) -> str:
    """Return the caveat about starved runs; empty without any."""
    return starved_sentence(answer.cells)


def starved_sentence(cells: Sequence[SummarisedCell]) -> str:
    """Return in how many runs others kept the generator waiting, and that these do not count; empty without any."""
    starved, made = starved_in(cells)
    if not starved:
        return ""
    text = kept_waiting(starved, made)
    return (
        f"{text[0].upper()}{text[1:]}: {'it counts' if starved == 1 else 'they count'} for nothing."
    )


def _has_enough(cell: SummarisedCell) -> bool:
    return cell.summary.n_ok >= FEWEST_RUNS


def _made(cell: SummarisedCell) -> int:
    """Return the runs of a cell that ended, however they did; those that nobody began are none."""
    states = cell.counts.states
    return sum(states.get(each, 0) for each in MADE)
