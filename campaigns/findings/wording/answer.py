"""The answer of a campaign: verdict, certainty, the worst caveat, a few numbers. Pure.

It states findings; what to *do* is a conclusion, and conclusions are a person's.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from campaigns.findings.values import (
    Answer,
    Grounds,
    LevelsFinding,
    Pairs,
    Primary,
    SummarisedCell,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    clipped,
    fact_of,
    first_short,
    is_short,
)
from campaigns.findings.wording.at_loads import (
    answer_of_loads,
    is_over_loads,
    same_measure,
    settings_at_loads,
    verdict_on_measures,
    without_loads,
)
from campaigns.findings.wording.best_set import why_unknown
from campaigns.findings.wording.calibration import answer_of_calibration
from campaigns.findings.wording.capacity_answer import answer_of_capacity
from campaigns.findings.wording.caveats import (
    TOO_FEW,
    carried_by_sessions,
    caveats_of,
    count_of_few_runs,
    has_values,
    is_carried_confirmed,
    is_invalid,
    same_content_text,
    too_few_runs,
    unobserved_text,
    were,
)
from campaigns.findings.wording.cells import FEWEST_RUNS, bound_of, centre_of, names_of
from campaigns.findings.wording.drift import BY_THE_HOUR
from campaigns.findings.wording.level_answer import answer_of_levels
from campaigns.findings.wording.outlook import ended
from campaigns.findings.wording.pair_answer import answer_of_pairs
from campaigns.findings.wording.sessions import (
    confirmed_by_sessions,
    is_confirmed,
    sessions_text,
)
from campaigns.findings.wording.starved import (
    not_judged,
)
from campaigns.findings.wording.thresholds import (
    LABELS,
    thresholds_certainty,
    thresholds_sentence,
    thresholds_verdict,
)
from campaigns.findings.wording.two_sides import certainty_of_two, verdict_of_two
from campaigns.findings.wording.verdicts import IN_BLOCKS, Display, label_of, primary_advice
from campaigns.kit.charts.labels import (
    contrast_label,
    contrast_place,
    contrast_sides,
    inside,
    words_of,
)
from campaigns.kit.numbers import amount, counted, number, share
from campaigns.stats.criteria import MOST_CELLS
from campaigns.stats.verdict import Word

ROLE_NOT_STATED = Display("role not stated", "warn", "warn", "outline")
BY_ORDER = (BY_THE_HOUR,)
"""Caveats that stand before everything else."""
HOW_TO_STATE = (
    "To state a role, amend the campaign: “load” says how much is asked of the target at once, and the answer is what each "
    "setting carries; “setting” says what somebody may choose, and its levels are ranked."
)
SIMULATED = Display("simulated", "warn", "warn", "solid")
"""Badge of results that were not measured on a real server."""


def answer_text(on: Grounds) -> AnswerText:
    """Compose the answer of its findings."""
    if (nothing := not_judged(on.answer)) is not None:
        return _complete(nothing, on.answer, [])
    text = _first(on)
    for step in STEPS_OF_CALIBRATION if on.calibration else STEPS:
        text = step(text, on)
    text = _complete(text, on.answer, caveats_of(on))
    return replace(text, ended=ended(on.outlook) if on.outlook and not on.answer.cancelled else "")


def _first(on: Grounds) -> AnswerText:
    """Return the answer on how settings compare, to which every step adds."""
    if not has_values(on.answer):
        return _nothing(on.answer)
    if on.calibration:
        return answer_of_calibration(on.calibration)
    if on.pairs:
        return answer_of_pairs(on.pairs)
    if not on.levels and on.answer.loads:
        return AnswerText("", "info") if on.capacity else answer_of_loads(on.answer)
    return _of_levels(on.answer, on.levels)


def _complete(text: AnswerText, answer: Answer, caveats: Sequence[str]) -> AnswerText:
    """Add all caveats, the worst first, and cut what nobody reads in one breath. caveats: beside those of the text."""
    badges, told = text.badges, []
    if answer.simulators:
        told = [f"Measured on a {' and a '.join(answer.simulators)}, not on a real server."]
        badges = [SIMULATED, *badges]
    by_order = [each for each in caveats if each in BY_ORDER]
    rest = [each for each in caveats if each not in BY_ORDER]
    if TOO_FEW in text.sentence:
        rest = [each for each in rest if TOO_FEW not in each]  # the verdict says it
    worst, *further = [*by_order, *told, *text.further, *rest] or [""]
    return replace(
        text,
        sentence=clipped(text.sentence),
        certainty=clipped(text.certainty),
        badges=badges,
        caveat=worst,
        further=further,
    )


def _detailed(text: AnswerText, sentence: str, tone: str = "info") -> AnswerText:
    """Return the answer with one more detail before all others; it may be empty."""
    if not sentence:
        return text
    return replace(text, statements=[Statement(tone, sentence), *text.statements])


def _with_question(text: AnswerText, on: Grounds) -> AnswerText:
    """Put the question what factors are before everything else of an answer: load, as their names say, or a setting, as was guessed."""
    asked, guesses = on.answer.asked, on.answer.guesses
    if not asked:
        return text
    quoted = [f"“{words_of(name)}”" for name in asked]
    names = " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
    what, why = "load", "Their roles are" if len(asked) > 1 else "Its role is"
    why += " not stated"
    if all(name in guesses for name in asked):
        what, why = "setting", "The file does not say so"
    question = f"Is {names} a {what}? {why}, so its levels are not ranked."
    if len(asked) > 1:
        question = f"Are {names} {what}s? {why}, so their levels are not ranked."
    return replace(
        text,
        sentence=first_short(
            (
                question,
                f"Is this a {what}? The role of a factor is not stated, so its levels are not ranked.",
            )
        ),
        certainty="Amend the campaign to state it: a load is carried, a setting is ranked.",
        tone="warn",
        badges=[ROLE_NOT_STATED, *text.badges],
        statements=[
            *(
                Statement("warn", f"“{words_of(name)}” is a guess. {guesses[name]}")
                for name in asked
                if name in guesses
            ),
            Statement("warn", HOW_TO_STATE),
            *([Statement("info", text.sentence)] if text.sentence else []),
            *text.statements,
        ],
    )


def _with_same_content(text: AnswerText, on: Grounds) -> AnswerText:
    """Add which addresses have the same content."""
    return _detailed(text, same_content_text(on.answer.same_content))


def _with_sessions(text: AnswerText, on: Grounds) -> AnswerText:
    """Add what sessions show, and whether they confirm the answer."""
    if not (judged := on.judged):
        return text
    text = _detailed(text, sessions_text(judged))
    if judged.sessions > 1 and is_confirmed(judged):
        return _detailed(text, confirmed_by_sessions(judged))
    return text


def _with_bounds(text: AnswerText, on: Grounds) -> AnswerText:
    """Add the cells that have no mean because runs timed out or failed, with their bounds."""
    answer = on.answer
    names, is_known = names_of(answer.cells), has_values(answer)
    # What is carried says at which load it fails, and of failures alone the answer is that of all.
    all_said = bool(answer.loads) or len(answer.failing) == len(answer.cells)
    bounds = [
        Fact(names[cell.cell] or answer.label, value, why)
        for cell in answer.cells
        for value, why in [bound_of(cell, answer.unit)]
        if value and (is_known or cell.summary.n_censored)
        if cell.summary.n_failed or not all_said
    ]
    if not bounds:
        return text
    parts = "; ".join(f"{each.label}: {each.value} ({each.note})" for each in bounds[:MOST_FACTS])
    more = f"; and {len(bounds) - MOST_FACTS} more" if len(bounds) > MOST_FACTS else ""
    told = f"{capitalised(parts)}{more}."
    if not is_known and is_short(told):
        text = replace(text, certainty=told)
    return replace(_detailed(text, told, "warn"), facts=[*text.facts, *bounds][:MOST_FACTS])


def _nothing(answer: Answer) -> AnswerText:
    timed_out = sum(cell.summary.n_censored for cell in answer.cells)
    failed = sum(cell.summary.n_failed for cell in answer.cells) - timed_out
    without = answer.unobserved
    lost = sum(cell.summary.n_lost for cell in answer.cells) - without
    parts = [f"{timed_out} timed out"] if timed_out else []
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{lost} {were(lost)} void, lost or cancelled"] if lost else []
    if without and not parts:
        sentence, _, needed = unobserved_text(answer, "The runs that were done have").partition(
            ": "
        )
        return AnswerText(f"{sentence.rstrip('.')}.", "fail", capitalised(needed) if needed else "")
    parts += [f"{without} {'has' if without == 1 else 'have'} no value"] if without else []
    if parts:
        return AnswerText(f"No run came through: {', '.join(parts)}.", "fail")
    return AnswerText("No run has ended yet.", "thin")


def _with_capacity(text: AnswerText, on: Grounds) -> AnswerText:
    """Put what is carried before everything else of an answer, of which the sentence becomes the first of the details."""
    if not on.capacity or not on.capacity.settings:
        return text
    carried = answer_of_capacity(on.answer, on.capacity)
    is_told = is_over_loads(on.levels) and not (on.levels and on.levels.primary)  # by the details
    lines = [] if is_told else [text.sentence, text.certainty]
    rest = [Statement(text.tone, each) for each in lines if each]
    text = replace(
        text,
        sentence=carried.sentence,
        certainty=carried.certainty,
        tone=text.tone if text.tone == "fail" else carried.tone,
        badges=[*carried.badges, *text.badges],
        facts=[*carried.facts, *text.facts][:MOST_FACTS],
        statements=[*carried.statements, *rest, *text.statements],
    )
    if not on.judged and is_carried_confirmed(on.capacity):
        return _detailed(text, carried_by_sessions(on.capacity))
    return text


def _with_thresholds(text: AnswerText, on: Grounds) -> AnswerText:
    """Answer whether the criterion is kept; where settings are compared, beside how they do.

    Capacity, where there is one, says what is kept at which load.
    """
    thresholds = on.thresholds
    if thresholds is None or on.capacity or not has_values(on.answer):
        return text
    label = LABELS[thresholds.word]
    tone = label.tone if thresholds.word == "does_not_pass" else text.tone
    badges, whole = [label, *text.badges], thresholds_sentence(thresholds)
    if not whole:
        return replace(text, badges=badges, tone=tone)
    verdict = first_short(thresholds_verdict(thresholds))
    if on.is_compared:
        not_kept = [verdict] if thresholds.word != "passes" else []
        text = _detailed(text, whole, label.tone)
        return replace(text, badges=badges, tone=tone, further=[*not_kept, *text.further])
    before = [Statement(text.tone, each) for each in (text.sentence,) if each]
    return replace(
        text,
        sentence=verdict,
        certainty=first_short(thresholds_certainty(thresholds)),
        badges=badges,
        tone=tone,
        statements=[Statement(label.tone, whole), *before, *text.statements],
    )


def _of_levels(answer: Answer, levels: LevelsFinding | None) -> AnswerText:
    """Return the answer of levels; where none of them can be best, that of the cells with its details."""
    text = answer_of_levels(answer, levels) if levels else None
    if text and levels and levels.instrument and not levels.loads:
        measured = same_measure(levels)
        if not measured:
            return replace(text, sentence=_of_cells(answer).sentence)
        several = measured if len(measured) > 1 else []
        return replace(
            text,
            sentence=first_short(verdict_on_measures(levels)),
            statements=[*(Statement("info", each) for each in several), *text.statements],
        )
    if text and levels and is_over_loads(levels):
        over = settings_at_loads(levels)
        return replace(over, badges=text.badges, statements=[*over.statements, *text.statements])
    if text and text.sentence:
        return text
    of_cells = _of_cells(answer)
    return replace(of_cells, badges=text.badges, statements=text.statements) if text else of_cells


def _of_cells(answer: Answer) -> AnswerText:
    """Describe the cells where nothing shows which of them is best, and why none is ranked."""
    measured = [cell for cell in answer.cells if centre_of(cell) is not None]
    known = [cell for cell in measured if cell.cell not in answer.failing]
    if not known and answer.failing:
        return AnswerText("No setting can be called best: too much failed in every cell.", "fail")
    if not known:
        return AnswerText("No cell has a value that can be averaged.", "thin")
    valid = [cell for cell in known if not is_invalid(answer, cell)]
    if not valid:
        return _of_invalid(answer, known)
    names = names_of(answer.cells)
    works = {str([cell.levels.get(name) for name in answer.work]) for cell in answer.cells}
    runs = counted(sum(cell.summary.n_ok for cell in valid), "run")
    if len(answer.cells) == 1 or len(valid) == 1:
        sentence, tone = first_short(_of_one(answer, valid[0])), "info"
        certainty = _certainty_of_one(answer, valid[0])
    elif len(works) == len(answer.cells):
        sentence, tone = first_short(_of_each(answer, valid)), "info"
        certainty = f"{runs}; each setting did other work, so none is ranked."
    else:
        sentence, tone = _unranked(answer), "thin"
        certainty = f"{_range_of(answer, valid)}, {runs}."
    return AnswerText(
        sentence=capitalised(sentence),
        tone=tone,
        certainty=certainty,
        facts=[
            Fact(names[cell.cell] or answer.label, _value(answer, cell), _interval(answer, cell))
            for cell in valid[:MOST_FACTS]
        ],
    )


def _of_invalid(answer: Answer, known: Sequence[SummarisedCell]) -> AnswerText:
    """Count the values without a logarithm, and list medians, which need none."""
    keys = {cell.cell for cell in known}
    runs = sum(run.cell in keys for run in answer.invalid)
    of = sum(cell.summary.n_ok for cell in known)
    names = names_of(answer.cells)
    return AnswerText(
        sentence=(
            f"No setting is ranked: {runs} of {of} runs {'has' if runs == 1 else 'have'} a "
            f"{inside(answer.label)} of zero or below."
        ),
        tone="warn",
        certainty=f"{_in_cells(answer, len(known))}A value of zero has no ratio to another one.",
        facts=[
            Fact(
                names[cell.cell] or answer.label,
                amount(cell.summary.median, answer.unit),
                f"median of {counted(cell.summary.n_ok, 'run')}",
            )
            for cell in known[:MOST_FACTS]
            if cell.summary.median is not None
        ],
    )


def _in_cells(answer: Answer, count: int) -> str:
    """Write in how many settings something is, as a sentence; empty where there is one alone."""
    total = len(answer.cells)
    return f"In {count} of {total} {_cells(answer)}. " if total > 1 else ""


def _of_one(answer: Answer, cell: SummarisedCell) -> Iterator[str]:
    name, summary = names_of(answer.cells)[cell.cell], cell.summary
    how = "in one run" if summary.n_ok == 1 else "on average"
    if summary.n_failed:
        of = f"in {summary.n_ok} of {summary.n_ok + summary.n_failed} runs"
        how = of if summary.n_ok == 1 else f"{how}, {of}"
    others = _others(answer, cell)
    for beside in dict.fromkeys((f"; {others}" if others else "", "")):
        for where in dict.fromkeys((f" at {name}" if name else "", "")):
            yield f"{answer.label} is {_value(answer, cell)} {how}{where}{beside}."


def _others(answer: Answer, known: SummarisedCell) -> str:
    """Write which settings have no value beside the only one that has: “w new timed out”."""
    names = names_of(answer.cells)
    others = [
        cell
        for cell in answer.cells
        if cell.cell != known.cell and (cell.cell in answer.failing or cell.summary.n_failed)
    ]
    invalid = [cell for cell in answer.cells if is_invalid(answer, cell)]
    if not others and len(invalid) == 1:
        return f"{names[invalid[0].cell]} has a value of zero or below"
    if not others:
        return f"{len(invalid)} {_cells(answer)} have values of zero or below" if invalid else ""
    if len(others) > 1:
        return f"{len(others)} other {_cells(answer)} fail too often"
    timed_out = others[0].summary.n_censored
    return f"{names[others[0].cell]} {'timed out' if timed_out else 'fails too often'}"


def _certainty_of_one(answer: Answer, cell: SummarisedCell) -> str:
    interval, runs = cell.summary.gmean_ci, counted(cell.summary.n_ok, "run")
    if interval is None:
        return (
            f"{runs}, too few for an interval." if cell.summary.n_ok < FEWEST_RUNS else f"{runs}."
        )
    return f"{_interval(answer, cell)} ({share(cell.summary.confidence)}), {runs}."


def _of_each(answer: Answer, cells: Sequence[SummarisedCell]) -> Iterator[str]:
    """Return the value of each cell, where all cells did different work and are not compared; of ever fewer."""
    names = names_of(answer.cells)
    parts = [f"{names[cell.cell]}: {_value(answer, cell)}" for cell in cells]
    for most in range(min(MOST_FACTS, len(parts)), 0, -1):
        more = len(parts) - most
        yield "; ".join(parts[:most]) + (f"; and {more} more." if more > 0 else ".")
    yield f"{_range_of(answer, cells)}, for {len(parts)} kinds of work."


def _range_of(answer: Answer, cells: Sequence[SummarisedCell]) -> str:
    """Write between which values the cells lie: “Duration is 10 s to 20 s on average”."""
    values = sorted(centre_of(cell) or 0.0 for cell in cells)
    ends = dict.fromkeys(amount(value, answer.unit) for value in (values[0], values[-1]))
    how = " on average" if any(cell.summary.n_ok > 1 for cell in cells) else ""
    return f"{answer.label} is {' to '.join(ends)}{how}"


def _unranked(answer: Answer) -> str:
    """Return why no setting is ranked."""
    total, few = len(answer.cells), count_of_few_runs(answer)
    lost = [
        cell
        for cell in answer.cells
        if cell.summary.n_ok >= FEWEST_RUNS and why_unknown(cell, answer.unit)
    ]
    if answer.cancelled:
        why = ["the campaign was cancelled before its stop rule was met"]
    elif lost:
        name = names_of(answer.cells)[lost[0].cell]
        reason = why_unknown(lost[0], answer.unit)
        why = [f"{name} cannot be judged ({reason})", f"a setting cannot be judged ({reason})"]
    elif few:
        have = "has" if few == 1 else "have"
        why = [f"{few} of {total} {_cells(answer)} {have} {too_few_runs(answer)}"]
    elif total > MOST_CELLS:
        why = [f"{number(total)} {_cells(answer)} are more than can be compared ({MOST_CELLS})"]
    else:
        why = ["the runs do not show how the settings compare"]
    return first_short(f"No setting is ranked: {each}." for each in why)


def _value(answer: Answer, cell: SummarisedCell) -> str:
    return amount(centre_of(cell) or 0.0, answer.unit)


def _interval(answer: Answer, cell: SummarisedCell) -> str:
    interval = cell.summary.gmean_ci
    if interval is None:
        return f"n = {cell.summary.n_ok}"
    return f"{amount(interval.low, answer.unit)} to {amount(interval.high, answer.unit)}"


def _cells(answer: Answer) -> str:
    """Name the cells: a setting has one at each load."""
    return "cells" if answer.loads else "settings"


def _has_loads(judged: Pairs | LevelsFinding) -> bool:
    return isinstance(judged, LevelsFinding) and bool(judged.loads)


def _with_primary(text: AnswerText, on: Grounds) -> AnswerText:
    """Put the verdict on the primary contrast in the place of the answer, whose sentence becomes a detail.

    Pairs at one place have no other verdict.
    """
    judged = on.judged
    primary = judged.primary if judged else None
    is_alone = on.pairs is not None and len(on.pairs.strata) == 1
    if judged is None or primary is None or is_alone or not has_values(on.answer):
        return text
    verdict = primary.comparison.verdict
    label = label_of(judged, verdict.word)
    contrast = {
        "factor": primary.factor,
        "candidate": primary.candidate,
        "baseline": primary.baseline,
        "at": primary.at,
    }
    facts = list(text.facts)
    if verdict.pct_change is not None:
        name = contrast_label(contrast)
        facts.insert(0, fact_of(judged, name, verdict.pct_change, verdict.ci_pct))
    advice = primary_advice(judged, primary, meanwhile=False)
    if verdict.word == Word.NO_DIFFERENCE_SHOWN:
        advice = ""
    is_told = isinstance(judged, LevelsFinding) and is_over_loads(judged)  # it leads these, too
    where = _where(judged, primary), _where_briefly(judged, primary)
    led = verdict_of_two(judged, verdict, contrast_sides(contrast), *where)
    certainty = certainty_of_two(judged, verdict, _measured(judged, primary), advice)
    return replace(
        text,
        sentence=first_short(map(capitalised, led)),
        certainty=first_short(certainty),
        tone=label.tone,
        badges=[replace(label, word=f"primary contrast: {label.word}"), *text.badges],
        facts=facts[:MOST_FACTS],
        statements=[
            *([Statement("info", text.sentence)] if text.sentence and not is_told else []),
            *text.statements,
        ],
    )


def _where(judged: Pairs | LevelsFinding, primary: Primary) -> str:
    """Write at which levels of other factors the primary contrast is, or over how many."""
    at = contrast_place({"at": primary.at})
    over = f" over {primary.over} {'loads' if _has_loads(judged) else 'combinations'}"
    over = over if primary.over > 1 else ""
    if primary.left_out and isinstance(judged, LevelsFinding):
        over += without_loads(judged, primary.left_out)
    return f"{f' at {at}' if at else ''}{over}"


def _where_briefly(judged: Pairs | LevelsFinding, primary: Primary) -> str:
    """Write how much of everything the primary contrast is about: “ over 3 of 5 loads”, “ at one combination of the others”."""
    if primary.over > 1:
        noun = "loads" if _has_loads(judged) else "combinations"
        every = primary.over + len(primary.left_out)
        return f" over {primary.over}{f' of {every}' if primary.left_out else ''} {noun}"
    return " at one combination of the others" if primary.at else ""


def _measured(judged: Pairs | LevelsFinding, primary: Primary) -> str:
    """Write of how much the primary contrast is made: “50 pairs, one session”."""
    count = primary.comparison.verdict.n
    noun = "pair"
    if isinstance(judged, LevelsFinding):
        noun = "block" if primary.comparison.model in IN_BLOCKS else "run"
    if primary.confirmation.between:
        return f"between {counted(primary.confirmation.sessions, 'session')}"
    of = f"{counted(count, noun)}{' a side' if noun == 'run' else ''}"
    return f"{of}, {'one session' if judged.sessions == 1 else counted(judged.sessions, 'session')}"


STEPS: Sequence[Callable[[AnswerText, Grounds], AnswerText]] = (
    _with_primary,
    _with_thresholds,
    _with_sessions,
    _with_bounds,
    _with_question,
    _with_same_content,
    _with_capacity,
)
"""What is added to an answer. Each puts its own before what is there, so the last one leads: what is carried, then how settings compare."""
STEPS_OF_CALIBRATION = (_with_bounds, _with_same_content)
"""The same for two identical sides: nothing else can be said of them."""
