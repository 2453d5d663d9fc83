"""The answer of a campaign: one sentence, the strongest caveat, a few numbers. Pure.

It states findings; what to *do* is a conclusion, and conclusions are a person's.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from campaigns.findings.values import (
    Answer,
    CalibrationFinding,
    CapacityFinding,
    FactChange,
    LevelsFinding,
    Outlook,
    Pairs,
    Primary,
    SessionsFinding,
    SummarisedCell,
    Thresholds,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    fact_of,
)
from campaigns.findings.wording.at_loads import (
    DIFFERS,
    answer_of_loads,
    differs_by_load,
    facts_over_loads,
    is_over_loads,
    same_measure,
    settings_at_loads,
    without_loads,
)
from campaigns.findings.wording.best_set import why_unknown
from campaigns.findings.wording.calibration import answer_of_calibration
from campaigns.findings.wording.capacity_answer import answer_of_capacity
from campaigns.findings.wording.cells import FEWEST_RUNS, NO_LOG, bound_of, centre_of, names_of
from campaigns.findings.wording.drift import BY_THE_HOUR, drift_note
from campaigns.findings.wording.level_answer import answer_of_levels
from campaigns.findings.wording.outlook import ended
from campaigns.findings.wording.pair_answer import answer_of_pairs
from campaigns.findings.wording.sameness import other_content_text, same_content_text
from campaigns.findings.wording.serving import served_text
from campaigns.findings.wording.sessions import (
    confirmed_by_sessions,
    notes_of_changes,
    sessions_text,
)
from campaigns.findings.wording.starved import (
    not_judged,
    starved_caveat,
    starved_in,
)
from campaigns.findings.wording.targets import targets_text
from campaigns.findings.wording.thresholds import LABELS, thresholds_sentence
from campaigns.findings.wording.verdicts import (
    Display,
    label_of,
    primary_advice,
    with_interval,
)
from campaigns.kit.charts.labels import contrast_label, inside
from campaigns.kit.numbers import amount, change, counted, grouped, number, share
from campaigns.kit.units import is_share
from campaigns.stats.capacity import Held
from campaigns.stats.criteria import MOST_CELLS

MOST_RUNS_NAMED = 5
BLOCKED = "blocked"
ROLE_NOT_STATED = Display("role not stated", "warn", "warn", "outline")
HOW_TO_STATE = (
    "To state a role, amend the campaign: “load” says how much is asked of the target at once, and the answer is what each "
    "setting carries; “setting” says what somebody may choose, and its levels are ranked."
)
SIMULATED = Display("simulated", "warn", "warn", "solid")
"""Badge of results that were not measured on a real server."""


def answer_text(
    answer: Answer,
    pairs: Pairs | None = None,
    levels: LevelsFinding | None = None,
    calibration: CalibrationFinding | None = None,
    sessions: SessionsFinding | None = None,
    outlook: Outlook | None = None,
    capacity: CapacityFinding | None = None,
    thresholds: Thresholds | None = None,
) -> AnswerText:
    """Compose the answer from its findings: what is carried first, then how settings compare. sessions: why there are several."""
    if (nothing := not_judged(answer)) is not None:
        return _on_simulators(nothing, answer)
    has_values = _has_values(answer)
    judged = pairs or levels
    if not has_values:
        text = _nothing(answer)
    elif calibration:
        text = answer_of_calibration(calibration)
    elif pairs:
        text = answer_of_pairs(pairs)
    elif not levels and answer.loads:
        text = AnswerText("", "info") if capacity else answer_of_loads(answer)
    else:
        text = _of_levels(answer, levels)
    alone = pairs is not None and len(pairs.strata) == 1
    if judged and judged.primary and has_values and not alone and not calibration:
        text = _led_by(judged, judged.primary, text)
    if thresholds and not calibration and not capacity:  # capacity says what is kept at which load
        text = _with_thresholds(thresholds, text)
    by_sessions = "" if calibration else sessions_text(judged)
    text = _with_bounds(_extended(text, by_sessions), answer)
    if answer.asked and not calibration:
        text = _asking(answer.asked, text)
    text = _extended(text, served_text(answer))
    text = _extended(text, same_content_text(answer.same_content))
    text = _extended(text, other_content_text(answer.other_content))
    if capacity and capacity.settings and not calibration:
        text = _after_capacity(answer, capacity, text)
    caveats = [starved_caveat(answer), _caveat(answer, pairs, levels, capacity)]
    if told := targets_text(answer.targets):
        caveats.insert(0, told)
    if answer.changes:
        caveats[:0] = [_of_changes(answer.changes), *notes_of_changes(sessions)]
    text = _on_simulators(replace(text, caveat=" ".join(filter(None, caveats))), answer)
    if answer.order == BLOCKED and len(answer.cells) > 1 and has_values:
        by_order = filter(None, (BY_THE_HOUR, drift_note(levels), text.caveat))
        text = replace(text, caveat=" ".join(by_order))
    return replace(text, ended=ended(outlook) if outlook and not answer.cancelled else "")


def _on_simulators(text: AnswerText, answer: Answer) -> AnswerText:
    """Add that the target was simulated, if it was."""
    if not answer.simulators:
        return text
    told = f"Measured on a {' and a '.join(answer.simulators)}, not on a real server."
    return replace(text, badges=[SIMULATED, *text.badges], caveat=f"{told} {text.caveat}".strip())


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _has_values(answer: Answer) -> bool:
    return any(cell.summary.n_ok for cell in answer.cells)


def _extended(text: AnswerText, sentence: str) -> AnswerText:
    """Return the answer with one more sentence, which may be empty."""
    return replace(text, sentence=f"{text.sentence} {sentence}".strip())


def _asking(asked: Sequence[str], text: AnswerText) -> AnswerText:
    """Put the question whether factors are load before everything else of an answer."""
    quoted = [f"“{name}”" for name in asked]
    names = " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
    question = f"Is {names} a load? Its role is not stated, so its levels are not ranked."
    if len(asked) > 1:
        question = f"Are {names} loads? Their roles are not stated, so their levels are not ranked."
    return replace(
        text,
        sentence=f"{question} {text.sentence}".strip(),
        tone="warn",
        badges=[ROLE_NOT_STATED, *text.badges],
        statements=[Statement("warn", HOW_TO_STATE), *text.statements],
    )


def _with_bounds(text: AnswerText, answer: Answer) -> AnswerText:
    """Add the cells that have no mean because runs timed out or failed, with their bounds."""
    names, has_values = names_of(answer.cells), _has_values(answer)
    # What is carried says at which load it fails, and of failures alone the answer is that of all.
    all_said = bool(answer.loads) or len(answer.failing) == len(answer.cells)
    bounds = [
        Fact(names[cell.cell] or answer.label, value, why)
        for cell in answer.cells
        for value, why in [bound_of(cell, answer.unit)]
        if value and (has_values or cell.summary.n_censored)
        if cell.summary.n_failed or not all_said
    ]
    if not bounds:
        return text
    parts = "; ".join(f"{each.label}: {each.value} ({each.note})" for each in bounds[:MOST_FACTS])
    more = f"; and {len(bounds) - MOST_FACTS} more" if len(bounds) > MOST_FACTS else ""
    return replace(
        _extended(text, f"{capitalised(parts)}{more}."),
        facts=[*text.facts, *bounds][:MOST_FACTS],
    )


def _of_changes(changes: Sequence[FactChange]) -> str:
    """Return the caveat about changes of the environment during the campaign."""
    names = list(dict.fromkeys(f"{change.name} ({change.place})" for change in changes))
    more = f" and {len(names) - MOST_FACTS} more" if len(names) > MOST_FACTS else ""
    return (
        f"The environment changed during the campaign: {', '.join(names[:MOST_FACTS])}{more}; "
        "runs before and after it are not comparable as they are."
    )


def _nothing(answer: Answer) -> AnswerText:
    timed_out = sum(cell.summary.n_censored for cell in answer.cells)
    failed = sum(cell.summary.n_failed for cell in answer.cells) - timed_out
    without = answer.unobserved
    lost = sum(cell.summary.n_lost for cell in answer.cells) - without
    parts = [f"{timed_out} timed out"] if timed_out else []
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{lost} {_were(lost)} void, lost or cancelled"] if lost else []
    if without and not parts:
        return AnswerText(_of_unobserved(answer, "The runs that were done have"), "fail")
    parts += [f"{without} {'has' if without == 1 else 'have'} no value"] if without else []
    if parts:
        return AnswerText(f"No run came through: {', '.join(parts)}.", "fail")
    return AnswerText("No run has ended yet.", "thin")


def _of_unobserved(answer: Answer, runs: str) -> str:
    """Return that runs were done and have no value, and what they would need. runs: which, with the verb."""
    text = f"{runs} no value of {inside(answer.label)}"
    if answer.values_needed is None:
        return f"{text}."
    needed = grouped(answer.values_needed)
    return f"{text}: it takes {needed} samples in a run. Measure longer, or judge by the mean."


def _after_capacity(answer: Answer, capacity: CapacityFinding, text: AnswerText) -> AnswerText:
    """Put what is carried before everything else of an answer, of which the sentence becomes the first of the details."""
    carried = answer_of_capacity(answer, capacity)
    rest = [Statement(text.tone, text.sentence)] if text.sentence else []
    return replace(
        text,
        sentence=carried.sentence,
        tone=text.tone if text.tone == "fail" else carried.tone,
        badges=[*carried.badges, *text.badges],
        facts=[*carried.facts, *text.facts][:MOST_FACTS],
        statements=[*carried.statements, *rest, *text.statements],
    )


def _with_thresholds(thresholds: Thresholds, text: AnswerText) -> AnswerText:
    """Add whether the criterion is kept, beside the comparisons."""
    label = LABELS[thresholds.word]
    return replace(
        _extended(text, thresholds_sentence(thresholds)),
        badges=[label, *text.badges],
        tone=label.tone if thresholds.word == "does_not_pass" else text.tone,
    )


def _of_levels(answer: Answer, levels: LevelsFinding | None) -> AnswerText:
    """Return the answer of levels; where none of them can be best, that of the cells with its details."""
    text = answer_of_levels(answer, levels) if levels else None
    if text and levels and levels.instrument and not levels.loads:
        return replace(text, sentence=same_measure(levels) or _of_cells(answer).sentence)
    if text and levels and is_over_loads(levels):
        return replace(
            text, sentence=settings_at_loads(levels), facts=facts_over_loads(levels)[:MOST_FACTS]
        )
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
    valid = [cell for cell in known if not _is_invalid(answer, cell)]
    if not valid:
        return _of_invalid(answer, known)
    names = names_of(answer.cells)
    works = {str([cell.levels.get(name) for name in answer.work]) for cell in answer.cells}
    if len(answer.cells) == 1 or len(valid) == 1:
        sentence, tone = _of_one(answer, valid[0]), "info"
    elif len(works) == len(answer.cells):
        sentence, tone = _of_each(answer, valid), "info"
    else:
        sentence, tone = _unranked(answer, valid), "thin"
    return AnswerText(
        sentence=capitalised(sentence),
        tone=tone,
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
            f"{inside(answer.label)} of zero or below, in {len(known)} of {len(answer.cells)} {_cells(answer)}."
        ),
        tone="warn",
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


def _of_one(answer: Answer, cell: SummarisedCell) -> str:
    name, summary = names_of(answer.cells)[cell.cell], cell.summary
    how = "in one run" if summary.n_ok == 1 else "on average"
    if summary.n_failed:
        of = f"in {summary.n_ok} of {summary.n_ok + summary.n_failed} runs"
        how = of if summary.n_ok == 1 else f"{how}, {of}"
    where = f" at {name}" if name else ""
    return f"{answer.label} is {_value(answer, cell)} {how}{where}."


def _of_each(answer: Answer, cells: Sequence[SummarisedCell]) -> str:
    """Return the value of each cell, where all cells did different work and are not compared."""
    names = names_of(answer.cells)
    parts = [f"{names[cell.cell]}: {_value(answer, cell)}" for cell in cells]
    more = len(parts) - MOST_FACTS
    return "; ".join(parts[:MOST_FACTS]) + (f"; and {more} more." if more > 0 else ".")


def _unranked(answer: Answer, valid: Sequence[SummarisedCell]) -> str:
    """Return why no setting is ranked, and between which values they lie."""
    total, few = len(answer.cells), _few(answer)
    lost = [
        cell
        for cell in answer.cells
        if cell.summary.n_ok >= FEWEST_RUNS and why_unknown(cell, answer.unit)
    ]
    if answer.cancelled:
        why = "the campaign was cancelled before its stop rule was met"
    elif lost:
        name = names_of(answer.cells)[lost[0].cell]
        why = f"{name} cannot be judged ({why_unknown(lost[0], answer.unit)})"
    elif few:
        have = "has" if few == 1 else "have"
        why = f"{few} of {total} {_cells(answer)} {have} {_too_few_runs(answer)}"
    elif total > MOST_CELLS:
        why = f"{number(total)} {_cells(answer)} are more than can be compared ({MOST_CELLS})"
    else:
        why = "the runs do not show how the settings compare"
    values = sorted(centre_of(cell) or 0.0 for cell in valid)
    ends = dict.fromkeys(amount(value, answer.unit) for value in (values[0], values[-1]))
    how = " on average" if any(cell.summary.n_ok > 1 for cell in valid) else ""
    return f"No setting is ranked: {why}. {answer.label} is {' to '.join(ends)}{how}."


def _is_invalid(answer: Answer, cell: SummarisedCell) -> bool:
    """Return whether a value of the cell is zero, negative or no number: it has no log, so no ratio. A share needs none."""
    return not is_share(answer.unit) and any(flag in cell.summary.flags for flag in NO_LOG)


def _value(answer: Answer, cell: SummarisedCell) -> str:
    return amount(centre_of(cell) or 0.0, answer.unit)


def _interval(answer: Answer, cell: SummarisedCell) -> str:
    interval = cell.summary.gmean_ci
    if interval is None:
        return f"n = {cell.summary.n_ok}"
    return f"{amount(interval.low, answer.unit)} to {amount(interval.high, answer.unit)}"


def _shown_to_fail(capacity: CapacityFinding | None) -> Collection[int]:
    """Return the cells whose load is shown to be too much: that their work fails is what was found, and no caveat."""
    if capacity is None:
        return frozenset()
    cells = (cell for setting in capacity.settings for cell in setting.cells)
    return frozenset(cell.cell for cell in cells if cell.held == Held.FAILED)


def _few(answer: Answer, apart_from: Collection[int] = frozenset()) -> int:
    """Return how many cells have too few runs for a verdict."""
    cells = (cell for cell in answer.cells if cell.cell not in apart_from)
    return sum(cell.summary.n_ok < FEWEST_RUNS for cell in cells)


def _too_few_runs(answer: Answer) -> str:
    """Write that there are too few runs; where some failed, that these are not counted."""
    failed = any(cell.summary.n_failed for cell in answer.cells if cell.summary.n_ok < FEWEST_RUNS)
    return f"fewer than {FEWEST_RUNS} runs{' that came through' if failed else ''}"


def _cells(answer: Answer) -> str:
    """Name the cells: a setting has one at each load."""
    return "cells" if answer.loads else "settings"


def _caveat(
    answer: Answer,
    pairs: Pairs | None,
    levels: LevelsFinding | None,
    capacity: CapacityFinding | None = None,
) -> str:
    """Return the strongest caveat that applies, after that of cells with too few runs."""
    too_much = _shown_to_fail(capacity)
    strongest = (
        _of_runs(answer, too_much)
        or _of_order(pairs)
        or _of_confirmation(answer, pairs or levels, capacity)
    )
    few, total = _few(answer, too_much), len(answer.cells)
    if not few or not _has_values(answer):
        return strongest
    which = f"{few} of {total} cells" if total > 1 else "The cell"
    have, them = ("has", "it") if few == 1 else ("have", "them")
    return f"{which} {have} {_too_few_runs(answer)}: no verdict is given for {them}. {strongest}"


def _of_runs(answer: Answer, too_much: Collection[int] = frozenset()) -> str:
    """Return the strongest caveat about values that are invalid, missing or bounds; empty without any.

    too_much: cells of which it is no caveat that they fail.
    """
    summaries = [cell.summary for cell in answer.cells]
    cells = len(summaries)
    failing = [cell for cell in answer.failing if cell not in too_much]
    failed = sum(
        cell.summary.n_failed
        for cell in answer.cells
        if cell.cell not in too_much or not _has_values(answer)
    )
    starved, _ = starved_in(answer.cells)
    lost = sum(summary.n_lost for summary in summaries) - answer.unobserved - starved
    total = sum(summary.n_total + summary.n_lost for summary in summaries)
    saturated = sum(summary.n_saturated for summary in summaries)
    timed_out = sum(summary.n_censored for summary in summaries)
    if invalid := sum(_is_invalid(answer, cell) for cell in answer.cells):
        return _of_invalid_runs(answer, invalid)
    if timed_out and _has_values(answer):
        cells_have, are = ("its cell has", "is") if timed_out == 1 else ("their cells have", "are")
        return (
            f"{timed_out} of {total} runs timed out: {cells_have} a lower bound in the place of a "
            f"mean, and {are} not compared."
        )
    if failed and not _has_values(answer):
        how = "timed out or failed" if timed_out else "failed"
        return f"{failed} of {total} runs {'timed out' if timed_out == failed else how}."
    if failed:
        return f"{failed} of {total} runs failed; means are those of the runs that came through."
    if failing:
        return (
            f"In {len(failing)} of {cells} cells too much of the work failed: nothing is "
            "made of what came through there."
        )
    if saturated:
        bounds = "its value is a bound" if saturated == 1 else "their values are bounds"
        return f"In {saturated} of {total} runs the generator was saturated: {bounds}."
    texts = []
    if answer.unobserved and _has_values(answer):
        have = "has" if answer.unobserved == 1 else "have"
        texts.append(_of_unobserved(answer, f"{answer.unobserved} of {total} runs {have}"))
    if lost:
        are = "is" if lost == 1 else "are"
        texts.append(
            f"{lost} of {total} runs {_were(lost)} void, lost or cancelled and {are} not in the "
            "numbers."
        )
    return " ".join(texts)


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
    """Return whether sessions confirm the verdicts, or what is not judged at all."""
    if judged and judged.sessions > 1:
        return confirmed_by_sessions(judged)
    if capacity and not judged:
        return _of_sessions(capacity)
    if judged:
        return "Seen in one session: repeat it on another day before calling it confirmed."
    if len(answer.cells) > MOST_CELLS:
        return (
            f"{counted(len(answer.cells), 'cell')} are more than can be compared ({MOST_CELLS}): each is "
            "summarised, and which is best is not judged."
        )
    return (
        "Each interval is its cell's own; whether two cells differ is not judged by comparing "
        "their intervals."
    )


def _of_sessions(capacity: CapacityFinding) -> str:
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


def _has_loads(judged: Pairs | LevelsFinding) -> bool:
    return isinstance(judged, LevelsFinding) and bool(judged.loads)


def _led_by(judged: Pairs | LevelsFinding, primary: Primary, text: AnswerText) -> AnswerText:
    """Put the verdict of the primary contrast before everything else of an answer."""
    verdict = primary.comparison.verdict
    label = label_of(judged, verdict.word)
    name = contrast_label(
        {
            "factor": primary.factor,
            "candidate": primary.candidate,
            "baseline": primary.baseline,
            "at": primary.at,
        }
    )
    over = f", over {primary.over} {'loads' if _has_loads(judged) else 'combinations'}"
    over = over if primary.over > 1 else ""
    if primary.left_out and isinstance(judged, LevelsFinding):
        over += without_loads(judged, primary.left_out)
    changed, facts = "", list(text.facts)
    if verdict.pct_change is not None:
        changed = f", {with_interval(judged, verdict.pct_change, verdict.ci_pct)}"
        if isinstance(judged, LevelsFinding) and differs_by_load(
            judged, primary.factor, primary.candidate, primary.baseline
        ):
            changed += f"; {DIFFERS}"
        facts.insert(0, fact_of(judged, name, verdict.pct_change, verdict.ci_pct))
    parts = [f"{capitalised(name)}{over}: {label.word}{changed}.", primary_advice(judged, primary)]
    if isinstance(judged, Pairs) or judged.loads:
        parts.append(text.sentence)
    elif text.sentence:
        text = replace(text, statements=[Statement("info", text.sentence), *text.statements])
    return replace(
        text,
        sentence=" ".join(filter(None, parts)),
        tone=label.tone,
        badges=[replace(label, word=f"primary contrast: {label.word}"), *text.badges],
        facts=facts[:MOST_FACTS],
    )
