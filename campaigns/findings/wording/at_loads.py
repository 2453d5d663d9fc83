"""Settings compared at each load, and their mean over all loads. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from campaigns.findings.values import Answer, LevelGroup, LevelRow, LevelsFinding, OverLoads
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    fact_of,
    first_short,
)
from campaigns.findings.wording.cells import centre_of, names_of
from campaigns.findings.wording.drift import JUDGED, meanwhile
from campaigns.findings.wording.loads import load_text, named, plural, setting_name
from campaigns.findings.wording.two_sides import certainty_of_two, verdict_of_two
from campaigns.findings.wording.verdicts import change_in_words, label_of, row_advice, with_interval
from campaigns.kit.charts.labels import level_text, words_of
from campaigns.kit.mappings import Levels
from campaigns.kit.numbers import amount, counted, is_number, plain_percent
from campaigns.stats.verdict import Verdict, Word

DIFFERS = "differs by load"
MOST_LOADS = 4
"""More loads are summed up by their verdicts."""


def is_over_loads(levels: LevelsFinding | None) -> bool:
    """Return whether settings are compared at several loads."""
    return bool(levels and levels.loads and levels.factor not in levels.loads and levels.over_loads)


def loads_text(levels: Levels, loads: Sequence[str]) -> str:
    """Write the loads among levels: “40 hosts”, “40 hosts, rate 5”."""
    return ", ".join(
        named(words_of(name), load_text(level))
        if is_number(level)
        else f"{name} {level_text(level)}"
        for name, level in levels.items()
        if name in loads
    )


def all_loads(several: Sequence[Levels], loads: Sequence[str]) -> str:
    """Write several loads: “600, 700 and 800 hosts”."""
    numbers = [[load_text(each[name]) for name in loads if name in each] for each in several]
    if len(loads) != 1 or not all(map(len, numbers)):
        return ", ".join(loads_text(each, loads) for each in several)
    texts = [text for (text,) in numbers]
    joined = " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
    return named(words_of(loads[0]), joined)


def without_loads(levels: LevelsFinding, left_out: Sequence[Levels]) -> str:
    """Write which loads a mean is without, and why; empty where it has all of them."""
    if not left_out:
        return ""
    known = [
        {row.comparison.verdict.word for row in group.comparisons}
        for group in levels.groups
        if any(each.items() <= group.levels.items() for each in left_out)
    ]
    failed = all(Word.TOO_MANY_FAILURES in words for words in known)
    why = "too much failed" if failed else "too much failed or no run counts"
    if known and not any(Word.TOO_MANY_FAILURES in words for words in known):
        why = "no run of a setting counts"
    return f", without {all_loads(left_out, levels.loads)}, where {why}"


def settings_at_loads(levels: LevelsFinding) -> AnswerText:
    """Compose verdict, certainty and details of settings that are compared at several loads."""
    first, *others = levels.over_loads
    more = f"{counted(len(others), 'more contrast')} in the table." if others else ""
    certainty = filter(None, (*_certainty_over_loads(levels, first, more), more))
    return AnswerText(
        sentence=first_short(_verdicts_over_loads(levels, first)),
        tone="info",
        certainty=first_short(certainty),
        facts=facts_over_loads(levels)[:MOST_FACTS],
        statements=[
            Statement(
                "info",
                f"{capitalised(_at_each(levels, _rows(levels, each)))}."
                if _is_primary(levels, each)
                else _contrast(levels, each),
            )
            for each in levels.over_loads
            if _rows(levels, each)
        ],
    )


def _verdicts_over_loads(levels: LevelsFinding, mean: OverLoads) -> Iterator[str]:
    """Return the verdict on a contrast over loads; where it is not the same at each, that."""
    sides = f"{_factor(levels)} {level_text(mean.candidate)}", level_text(mean.baseline)
    at = f" at {setting_name(mean.at)}" if mean.at else ""
    if mean.differs:
        rows = _rows(levels, mean)
        pair = capitalised(f"{sides[0]} vs. {sides[1]}{at}")
        yield f"{pair} {DIFFERS}: {_at_each(levels, rows)}."
        yield f"{pair} {DIFFERS}."
        yield "How the settings compare differs by load."
        return
    over = f" over {mean.over} loads{without_loads(levels, mean.left_out)}" if mean.over > 1 else ""
    loads = mean.over + len(mean.left_out)
    of = (
        f" over {mean.over}{f' of {loads}' if mean.left_out else ''} loads"
        if mean.over > 1
        else " at one load"
    )
    texts = verdict_of_two(levels, mean.comparison.verdict, sides, f"{at}{over}", of)
    yield from map(capitalised, texts)


def _certainty_over_loads(levels: LevelsFinding, mean: OverLoads, more: str) -> Iterator[str]:
    verdict = mean.comparison.verdict
    of = f"mean over {mean.over} loads" if mean.over > 1 else "at one load"
    for text in certainty_of_two(levels, verdict, of, ""):
        yield f"{text} {more}".strip()
        yield text


def facts_over_loads(levels: LevelsFinding) -> list[Fact]:
    """Return the mean change of each contrast over loads."""
    facts = []
    for each in levels.over_loads:
        verdict = each.comparison.verdict
        if verdict.pct_change is not None and verdict.ci_pct:
            name = f"{level_text(each.candidate)} vs. {level_text(each.baseline)}"
            differs = f", {DIFFERS}" if each.differs else ""
            note = f", mean over {each.over} loads{differs}"
            label = f"{_factor(levels)} {name}"
            facts.append(fact_of(levels, label, verdict.pct_change, verdict.ci_pct, note))
    return facts


def same_measure(levels: LevelsFinding) -> list[str]:
    """Return whether levels that are how it is measured give the same result, a sentence for each pair; none where nothing is compared."""
    texts = []
    for group in levels.groups:
        values = dict(zip(group.cells, group.values, strict=True))
        where = f"At {setting_name(group.levels)} " if group.levels else ""
        for row in group.comparisons:
            one, other = (
                setting_name({levels.factor: values[side]})
                for side in (row.candidate, row.baseline)
            )
            text = f"{where}{_same(levels, row, one, other)}"
            texts.append(capitalised(text))
    return texts


def verdict_on_measures(levels: LevelsFinding) -> Iterator[str]:
    """Return as texts that say ever less whether levels that are how it is measured give the same result."""
    words = [row.comparison.verdict.word for group in levels.groups for row in group.comparisons]
    noun = plural(words_of(levels.factor))
    differ = sum(word in (Word.BETTER, Word.WORSE) for word in words)
    same = sum(word == Word.EQUIVALENT for word in words)
    margin = plain_percent(levels.margin_pct)
    if len(words) == 1:
        (text,) = same_measure(levels)
        yield text
        yield f"{text.partition(':')[0].rstrip('.')}."
    if differ:
        yield (
            f"{differ} of {counted(len(words), 'pair')} of {noun} do not measure the same{meanwhile(levels)}: "
            "their results must not be mixed."
        )
        yield f"{differ} of {counted(len(words), 'pair')} do not measure the same."
    elif same == len(words):
        yield f"All {noun} measure the same, within {margin}{meanwhile(levels)}."
        yield f"All of them measure the same, within {margin}{meanwhile(levels)}."
    else:
        yield f"That all {noun} measure the same is not shown: {same} of {counted(len(words), 'pair')} do."
        yield f"That all measure the same is not shown: {same} of {counted(len(words), 'pair')} do."


def _same(levels: LevelsFinding, row: LevelRow, one: str, other: str) -> str:
    verdict = row.comparison.verdict
    match verdict.word:
        case Word.EQUIVALENT:
            margin = plain_percent(levels.margin_pct)
            return f"{one} and {other} measure the same, within {margin}{meanwhile(levels)}."
        case Word.BETTER | Word.WORSE:
            return (
                f"{one} and {other} do not measure the same{meanwhile(levels)}: {_change(levels, verdict)}. "
                "Their results must not be mixed."
            )
    advice = row_advice(levels, row)
    shown = _change(levels, verdict) or label_of(levels, verdict.word).word
    text = f"that {one} and {other} measure the same is not shown: {shown}."
    return f"{text} {advice}".strip()


def differs_by_load(
    levels: LevelsFinding, factor: str, candidate: object, baseline: object
) -> bool:
    """Return whether the change of a contrast differs between loads."""
    return any(
        each.differs
        for each in levels.over_loads
        if (each.factor, each.candidate, each.baseline) == (factor, candidate, baseline)
    )


def answer_of_loads(answer: Answer) -> AnswerText:
    """Describe what is measured at each load, where nothing is known of what is carried."""
    names = names_of(answer.cells)
    measured = [
        (cell, value)
        for cell in answer.cells
        for value in [centre_of(cell)]
        if value is not None and cell.cell not in answer.failing
    ]
    if not measured:
        return AnswerText("Too much failed at every load for a value.", "fail")
    by = " and ".join(map(words_of, answer.asked)) or "load"
    parts = [f"{names[cell.cell]}: {amount(value, answer.unit)}" for cell, value in measured]
    texts = []
    for most in range(min(MOST_FACTS, len(parts)), 0, -1):
        more = f"; and {len(parts) - most} more" if len(parts) > most else ""
        texts.append(f"{answer.label} by {by}: {'; '.join(parts[:most])}{more}.")
    texts.append(f"{answer.label} was measured at {counted(len(parts), 'load')}.")
    runs = sum(cell.summary.n_ok for cell, _ in measured)
    return AnswerText(first_short(texts), "info", f"{counted(runs, 'run')}; nothing is ranked.")


def _is_primary(levels: LevelsFinding, mean: OverLoads) -> bool:
    """Return whether the mean is that of the primary contrast, which is named before it."""
    primary = levels.primary
    return bool(
        primary
        and primary.over == mean.over
        and primary.factor == mean.factor
        and (primary.candidate, primary.baseline) == (mean.candidate, mean.baseline)
    )


def _contrast(levels: LevelsFinding, mean: OverLoads) -> str:
    names = [setting_name({levels.factor: side}) for side in (mean.candidate, mean.baseline)]
    where = f" at {setting_name(mean.at)}" if mean.at else ""
    pair = f"{capitalised(names[0])} vs. {names[1]}{where}"
    rows = _rows(levels, mean)
    shown = _at_each(levels, rows)
    without = without_loads(levels, mean.left_out)
    over = f"mean over {mean.over} loads{without}" if mean.over > 1 else "at one load"
    over += meanwhile(levels) if mean.comparison.verdict.word in JUDGED else ""
    text = _verdict(levels, mean.comparison.verdict)
    if mean.differs:
        return f"{pair} {DIFFERS}: {shown}; {over}: {text}."
    return f"{pair}: {text}, {over}" + (f"; {shown}." if shown else ".")


def _rows(levels: LevelsFinding, mean: OverLoads) -> list[tuple[Levels, Verdict]]:
    """Return the verdicts of a contrast at each load."""
    rows = []
    for group in levels.groups:
        if any(group.levels.get(name) != level for name, level in mean.at.items()):
            continue
        row = _row(group, mean)
        if row is not None:
            rows.append((group.levels, row.comparison.verdict))
    return rows


def _row(group: LevelGroup, mean: OverLoads) -> LevelRow | None:
    values: Mapping[int, object] = dict(zip(group.cells, group.values, strict=True))
    for row in group.comparisons:
        if (values[row.baseline], values[row.candidate]) == (mean.baseline, mean.candidate):
            return row
    return None


def _at_each(levels: LevelsFinding, rows: Sequence[tuple[Levels, Verdict]]) -> str:
    """Write the change at each load; of many loads how many have which verdict."""
    if len(rows) > MOST_LOADS:
        labels = sorted(label_of(levels, verdict.word).word for _, verdict in rows)
        counts = [f"{word} at {len([*same])}" for word, same in groupby(labels)]
        return f"{', '.join(counts)} of {len(rows)} loads"
    return ", ".join(
        f"at {loads_text(at, levels.loads)} {_briefly(levels, verdict)}" for at, verdict in rows
    )


def _briefly(levels: LevelsFinding, verdict: Verdict) -> str:
    label = label_of(levels, verdict.word).word
    if verdict.pct_change is None or verdict.word == Word.TOO_MANY_FAILURES:
        return label
    return f"{label} ({change_in_words(levels, verdict.pct_change)})"


def _verdict(levels: LevelsFinding, verdict: Verdict) -> str:
    return ", ".join(filter(None, (label_of(levels, verdict.word).word, _change(levels, verdict))))


def _change(levels: LevelsFinding, verdict: Verdict) -> str:
    return with_interval(levels, verdict.pct_change, verdict.ci_pct)


def _factor(levels: LevelsFinding) -> str:
    return words_of(levels.factor)
