"""The caveats of an answer, the worst first: what of the runs, their order, their environment or the import must be known beside it. Pure."""

from collections.abc import Collection, Sequence

from campaigns.findings.values import (
    Answer,
    CapacityFinding,
    FactChange,
    Grounds,
    LevelsFinding,
    OtherContent,
    Pairs,
    SameContent,
    SummarisedCell,
)
from campaigns.findings.wording.answer_text import MOST_FACTS, capitalised
from campaigns.findings.wording.at_loads import differs_by_load
from campaigns.findings.wording.capacity import LONGER
from campaigns.findings.wording.cells import FEWEST_RUNS, NO_LOG, centre_of
from campaigns.findings.wording.drift import BY_THE_HOUR, drift_note
from campaigns.findings.wording.loads import setting_name
from campaigns.findings.wording.sessions import (
    confirmed_by_sessions,
    is_confirmed,
    notes_of_changes,
)
from campaigns.findings.wording.starved import starved_caveat, starved_in
from campaigns.findings.wording.targets import targets_texts
from campaigns.kit.charts.labels import as_text, inside, words_of
from campaigns.kit.numbers import amount, change, counted, grouped, number, share
from campaigns.kit.units import is_share
from campaigns.stats.capacity import Held
from campaigns.stats.criteria import MOST_CELLS

MOST_RUNS_NAMED = 5
MOST_CONTENTS_NAMED = 2
BLOCKED = "blocked"
TOO_FEW = f"fewer than {FEWEST_RUNS} runs"


def caveats_of(on: Grounds) -> list[str]:
    """Return all caveats on what was measured, the worst first."""
    answer = on.answer
    changed = (
        [_of_changes(answer.changes), *notes_of_changes(on.sessions)] if answer.changes else []
    )
    blocked = answer.order == BLOCKED and len(answer.cells) > 1 and has_values(answer)
    return [
        each
        for each in (
            *([BY_THE_HOUR, drift_note(on.levels)] if blocked else ()),
            *changed,
            *(targets_texts(answer.targets) if answer.targets else ()),
            starved_caveat(answer),
            other_content_text(answer.other_content),
            *_of_runs_and_order(on),
            served_text(answer),
            *_of_guesses(answer),
            _of_confirmation(answer, on.judged, on.capacity),
        )
        if each
    ]


def _of_guesses(answer: Answer) -> list[str]:
    """Return a caveat for each factor that the file does not declare, and whose role somebody has stated."""
    return [
        f"That “{words_of(name)}” differs is a guess of the import. {why}"
        for name, why in answer.guesses.items()
        if name not in answer.asked
    ]


def _of_changes(changes: Sequence[FactChange]) -> str:
    """Return the caveat about changes of the environment during the campaign."""
    names = list(dict.fromkeys(f"{change.name} ({change.place})" for change in changes))
    more = f" and {len(names) - MOST_FACTS} more" if len(names) > MOST_FACTS else ""
    return (
        f"The environment changed during the campaign: {', '.join(names[:MOST_FACTS])}{more}; "
        "runs before and after it are not comparable as they are."
    )


def _of_runs_and_order(on: Grounds) -> list[str]:
    """Return what is wrong with runs, cells of too few runs, and what the order of pairs or strata brings."""
    answer, levels = on.answer, on.levels
    too_much = _shown_to_fail(on.capacity)
    few, total = count_of_few_runs(answer, too_much), len(answer.cells)
    too_few = ""
    if few and has_values(answer):
        which = f"{few} of {total} cells" if total > 1 else "The cell"
        have, them = ("has", "it") if few == 1 else ("have", "them")
        too_few = f"{which} {have} {too_few_runs(answer)}: no verdict is given for {them}."
    by_load = ""
    primary = levels.primary if levels else None
    if (
        levels
        and primary
        and differs_by_load(levels, primary.factor, primary.candidate, primary.baseline)
    ):
        by_load = "How the settings compare differs by load, so read each load before the mean."
    return [by_load, too_few, *_of_runs(answer, too_much), _of_order(on.pairs)]


def _shown_to_fail(capacity: CapacityFinding | None) -> Collection[int]:
    """Return the cells whose load is shown to be too much: that their work fails is what was found, and no caveat."""
    if capacity is None:
        return frozenset()
    cells = (cell for setting in capacity.settings for cell in setting.cells)
    return frozenset(cell.cell for cell in cells if cell.held == Held.FAILED)


def _of_runs(answer: Answer, too_much: Collection[int] = frozenset()) -> list[str]:
    """Return the strongest caveats about values that are invalid, missing or bounds.

    too_much: cells of which it is no caveat that they fail.
    """
    summaries = [cell.summary for cell in answer.cells]
    cells = len(summaries)
    failing = [cell for cell in answer.failing if cell not in too_much]
    failed = sum(
        cell.summary.n_failed
        for cell in answer.cells
        if cell.cell not in too_much or not has_values(answer)
    )
    starved, _ = starved_in(answer.cells)
    lost = sum(summary.n_lost for summary in summaries) - answer.unobserved - starved
    total = sum(summary.n_total + summary.n_lost for summary in summaries)
    saturated = sum(summary.n_saturated for summary in summaries)
    timed_out = sum(summary.n_censored for summary in summaries)
    texts = []
    if invalid := sum(is_invalid(answer, cell) for cell in answer.cells):
        texts.append(_of_invalid_runs(answer, invalid))
    if not has_values(answer):
        return texts  # what became of the runs is the answer
    if timed_out:
        cells_have, are = ("its cell has", "is") if timed_out == 1 else ("their cells have", "are")
        texts.append(
            f"{timed_out} of {total} runs timed out: {cells_have} a lower bound in the place of a "
            f"mean, and {are} not compared."
        )
    if failed - timed_out > 0:
        texts.append(
            f"{failed - timed_out} of {total} runs failed; means are those of the runs that came through."
        )
    elif failing and not timed_out:
        texts.append(
            f"In {len(failing)} of {cells} cells too much of the work failed: nothing is "
            "made of what came through there."
        )
    if saturated:
        bounds = "its value is a bound" if saturated == 1 else "their values are bounds"
        texts.append(f"In {saturated} of {total} runs the generator was saturated: {bounds}.")
    if answer.unobserved:
        have = "has" if answer.unobserved == 1 else "have"
        texts.append(unobserved_text(answer, f"{answer.unobserved} of {total} runs {have}"))
    lost -= min(lost, saturated)  # these are counted among the lost
    if lost:
        are = "is" if lost == 1 else "are"
        texts.append(
            f"{lost} of {total} runs {were(lost)} void, lost or cancelled and {are} not in the "
            "numbers."
        )
    return texts


def _of_invalid_runs(answer: Answer, cells: int) -> str:
    """Name the first runs that have no logarithm, with the first reason that a run gives."""
    runs = sorted(answer.invalid, key=lambda run: run.position)
    reasons = [run.reason for run in runs if run.reason]
    which = ", ".join(str(run.position) for run in runs[:MOST_RUNS_NAMED])
    more = f" and {len(runs) - MOST_RUNS_NAMED} more" if len(runs) > MOST_RUNS_NAMED else ""
    noun = "run" if len(runs) == 1 else "runs"
    text = (
        f"In {cells} of {len(answer.cells)} cells a value is zero, negative or no number "
        f"({noun} {which}{more}): {'this cell is' if cells == 1 else 'these cells are'} not compared with others."
    )
    return " ".join([text, *reasons[:1]])


def unobserved_text(answer: Answer, runs: str) -> str:
    """Return that runs were done and have no value, and what they would need. runs: which, with the verb."""
    text = f"{runs} no value of {inside(answer.label)}"
    if answer.values_needed is None:
        return f"{text}."
    needed = grouped(answer.values_needed)
    return f"{text}: it takes {needed} samples in a run. {LONGER}"


def _of_order(pairs: Pairs | None) -> str:
    """Return the caveat about the order within pairs, or about strata that differ; empty without one."""
    if pairs and pairs.order_effect and pairs.order_effect.flagged:
        return (
            "Who ran first in a pair made a difference of "
            f"{change(pairs.order_effect.difference_pct)}; look at the order before trusting the change."
        )
    if pairs and pairs.overall and pairs.overall.heterogeneous:
        return (
            f"The change is not the same everywhere (I² {share(pairs.overall.i2, 0)}), so one number "
            "does not fit all: read the rows first."
        )
    return ""


def _of_confirmation(
    answer: Answer, judged: Pairs | LevelsFinding | None, capacity: CapacityFinding | None
) -> str:
    """Return that sessions do not confirm every verdict, or what is not judged at all; empty where they do."""
    if judged and judged.sessions > 1:
        return "" if is_confirmed(judged) else confirmed_by_sessions(judged)
    if capacity and not judged:
        return "" if is_carried_confirmed(capacity) else carried_by_sessions(capacity)
    if judged:
        return "Seen in one session: repeat it on another day before calling it confirmed."
    if len(answer.cells) > MOST_CELLS:
        return (
            f"{counted(len(answer.cells), 'cell')} are more than can be compared ({MOST_CELLS}): each is "
            "summarised, and which is best is not judged."
        )
    if sum(centre_of(cell) is not None for cell in answer.cells) < 2:
        return ""
    return (
        "Each interval is its cell's own; whether two cells differ is not judged by comparing "
        "their intervals."
    )


def is_carried_confirmed(capacity: CapacityFinding) -> bool:
    """Return whether sessions confirm what every setting carries."""
    each = [setting.confirmation for setting in capacity.settings]
    return all(one is not None and one.standing == "confirmed" for one in each)


def carried_by_sessions(capacity: CapacityFinding) -> str:
    """Return whether sessions confirm what is carried."""
    known = [each.confirmation for each in capacity.settings if each.confirmation]
    sessions = max((each.sessions for each in known), default=1)
    if sessions < 2:
        return "Seen in one session: repeat it on another day before calling it confirmed."
    confirmed = sum(each.standing == "confirmed" for each in known)
    if len(capacity.settings) == 1:
        verb = "confirm" if confirmed else "do not confirm"
        return f"{sessions} sessions {verb} what is carried."
    return (
        f"What {confirmed} of {len(capacity.settings)} settings carry is confirmed by "
        f"{sessions} sessions."
    )


def count_of_few_runs(answer: Answer, apart_from: Collection[int] = frozenset()) -> int:
    """Return how many cells have too few runs for a verdict."""
    cells = (cell for cell in answer.cells if cell.cell not in apart_from)
    return sum(cell.summary.n_ok < FEWEST_RUNS for cell in cells)


def too_few_runs(answer: Answer) -> str:
    """Write that there are too few runs; where some failed, that these are not counted."""
    failed = any(cell.summary.n_failed for cell in answer.cells if cell.summary.n_ok < FEWEST_RUNS)
    return f"{TOO_FEW}{' that came through' if failed else ''}"


def has_values(answer: Answer) -> bool:
    return any(cell.summary.n_ok for cell in answer.cells)


def is_invalid(answer: Answer, cell: SummarisedCell) -> bool:
    """Return whether a value of the cell is zero, negative or no number: it has no log, so no ratio. A share needs none."""
    return not is_share(answer.unit) and any(flag in cell.summary.flags for flag in NO_LOG)


def were(number: int) -> str:
    return "was" if number == 1 else "were"


def served_text(answer: Answer) -> str:
    """Return how many were served where the share is smallest, and how long each waits if all take turns.

    Empty where all were served.
    """
    if not answer.unserved:
        return ""
    worst = min(answer.unserved, key=lambda each: (each.most / each.number, -each.number))
    names = {cell.cell: setting_name(cell.levels) for cell in answer.cells}
    who = words_of(worst.parameter)
    ends = dict.fromkeys(number(each) for each in (worst.fewest, worst.most))
    text = f"{' to '.join(ends)} of {number(worst.number)} {who} were served"
    if name := names.get(worst.cell):
        text = f"At {name}, {text}"
    if worst.response is not None:
        text += f"; their response time is {amount(worst.response, worst.unit)} on average"
    if worst.end_to_end is not None:
        wait = amount(worst.end_to_end, worst.unit)
        text += f". If all take turns, each waits {wait} for an answer ({who} ÷ throughput)"
    if len(names) == 1:
        return f"{text}."
    count = f"{len(answer.unserved)} of {counted(len(names), 'cell')}"
    return f"Not all {who} were served in {count}. {text}."


def same_content_text(same: Sequence[SameContent]) -> str:
    """Return a sentence for each factor whose levels are addresses of the same content."""
    return " ".join(map(_same, same))


def other_content_text(other: Sequence[OtherContent]) -> str:
    """Return why levels of an address are not compared, with both amounts."""
    texts = [_other(each) for each in other[:MOST_CONTENTS_NAMED]]
    if len(other) > MOST_CONTENTS_NAMED:
        texts.append(f"So do {counted(len(other) - MOST_CONTENTS_NAMED, 'more pair')}.")
    return " ".join(texts)


def _same(content: SameContent) -> str:
    what = _amount_of(content)
    places = f"{number(content.addresses)} addresses ({content.factor})"
    if content.proved:
        return f"Same content{what}, from {places}."
    alike = "number" if content.bytes is None else "number and size"
    return f"Same {alike}{what} at {places}; that it is the same content is not proved."


def _amount_of(content: SameContent) -> str:
    if content.units is None:
        return ""
    size = "" if content.bytes is None else f", {amount(content.bytes, 'B')}"
    return f" ({number(content.units)} {content.unit}{size})"


def _other(content: OtherContent) -> str:
    one, two = content.units
    if one != two:
        differ = f"{number(one)} / {number(two)} {content.unit}"
    elif None not in content.bytes and content.bytes[0] != content.bytes[1]:
        differ = " / ".join(amount(each, "B") for each in content.bytes)
        differ = f"{number(one)} {content.unit} each, {differ}"
    else:
        differ = f"{number(one)} {content.unit} each, whose digests differ"
    return capitalised(
        f"{content.factor} {as_text(content.baseline)} and {as_text(content.candidate)} are not compared, since they hold "
        f"other content: {differ}."
    )
