"""The answer of a paired campaign. Pure."""

from dataclasses import replace

from campaigns.findings.values import OverStrata, Pairs, Stratum
from campaigns.findings.wording.answer_text import MOST_FACTS, AnswerText, Fact, fact_of
from campaigns.findings.wording.verdicts import (
    Display,
    change_in_words,
    comparative,
    label_of,
    smaller_side,
    stratum_advice,
    with_interval,
)
from campaigns.kit.charts.labels import level_text, short_labels
from campaigns.kit.numbers import change
from campaigns.kit.units import is_share
from campaigns.stats.verdict import Word

AS_PUBLISHED = "as published elsewhere"
RANKED = (
    Word.BETTER,
    Word.WORSE,
    Word.EQUIVALENT,
    Word.NO_DIFFERENCE_SHOWN,
    Word.TOO_MANY_FAILURES,
)
"""The order in which strata are named; all other verdicts come after these."""


def answer_of_pairs(pairs: Pairs) -> AnswerText:
    """Compose sentence, tone, badges and facts."""
    words = {stratum.comparison.verdict.word for stratum in pairs.strata}
    tone = "thin"
    if words in ({Word.BETTER}, {Word.WORSE}):
        tone = words.pop().value
    return AnswerText(
        sentence=_one_stratum(pairs) if len(pairs.strata) == 1 else _several_strata(pairs),
        tone=tone,
        badges=_badges(pairs),
        facts=_readings(pairs, pairs.overall) if pairs.overall else _changes(pairs),
    )


def labels_of(pairs: Pairs) -> dict[str, str]:
    """Return short labels of strata, by their names."""
    texts = {stratum.name: _levels_of(stratum) or stratum.name for stratum in pairs.strata}
    short = short_labels([*texts.values()])
    return {name: short[text] for name, text in texts.items()}


def _levels_of(stratum: Stratum) -> str:
    """Return the levels as text; one that looks like two is quoted."""
    texts = map(level_text, stratum.levels.values())
    return ", ".join(f"“{text}”" if ", " in text else text for text in texts)


def _sides(pairs: Pairs) -> tuple[str, str]:
    """Return candidate and baseline as text."""
    return level_text(pairs.candidate), level_text(pairs.baseline)


def _badges(pairs: Pairs) -> list[Display]:
    """Return how many strata have which verdict."""
    groups, total = _by_word(pairs), len(pairs.strata)
    labels = [(label_of(pairs, word), len(members)) for word, members in groups.items()]
    if total == 1:
        return [label for label, _ in labels]
    return [replace(label, word=f"{label.word}: {count} of {total}") for label, count in labels]


def _changes(pairs: Pairs) -> list[Fact]:
    """Return the change in each of the first strata."""
    labels = labels_of(pairs)
    facts = []
    for stratum in pairs.strata[:MOST_FACTS]:
        verdict = stratum.comparison.verdict
        facts.append(fact_of(pairs, labels[stratum.name], verdict.pct_change, verdict.ci_pct))
    return facts


def _readings(pairs: Pairs, overall: OverStrata) -> list[Fact]:
    """Return the change over all strata, by four means: “19.5 % faster” alone is ambiguous."""
    if is_share(pairs.unit):
        return [fact_of(pairs, "mean difference", overall.geometric_pct, overall.geometric_ci)]
    sample = ", rows as a sample" if overall.heterogeneous else ""
    if overall.confirmation.between:
        sample = f", between {overall.confirmation.sessions} sessions"
    return [
        fact_of(pairs, "geometric mean", overall.geometric_pct, overall.geometric_ci, sample),
        fact_of(
            pairs,
            "average of the % changes",
            overall.average_pct,
            overall.average_ci,
            f"{', ' if overall.average_ci else ''}{AS_PUBLISHED}",
        ),
        Fact(
            "of the sum of all", change_in_words(pairs, overall.total_pct), "long ones weigh more"
        ),
        Fact("average of the inverse", change(overall.rate_pct), "the same, as a rate"),
    ]


def _one_stratum(pairs: Pairs) -> str:
    (stratum,) = pairs.strata
    verdict = stratum.comparison.verdict
    word = label_of(pairs, verdict.word).word
    candidate, baseline = _sides(pairs)
    if verdict.word in (Word.BETTER, Word.WORSE) and verdict.ci_pct:
        means = stratum.comparison.mean_baseline, stratum.comparison.mean_candidate
        small = smaller_side(pairs, verdict.word, *means)
        return (
            f"{candidate} {comparative(pairs, verdict.word)} than {baseline}: "
            f"{with_interval(pairs, verdict.pct_change, verdict.ci_pct)}{small}."
        )
    if verdict.word == Word.EQUIVALENT:
        return f"{candidate} and {baseline} are {word}."
    advice = stratum_advice(pairs, stratum)
    return f"{candidate} vs. {baseline}: {word}. {advice}".strip()


def _several_strata(pairs: Pairs) -> str:
    """Return the mean change with its interval, then the strata by verdict: better, worse, all others."""
    groups, total = _by_word(pairs), len(pairs.strata)
    candidate, baseline = _sides(pairs)
    parts = []
    for word in sorted(groups, key=_rank):
        members = groups[word]
        where = f"all {total}" if len(members) == total else f"{len(members)} of {total}"
        part = f"{label_of(pairs, word).word} on {where}"
        if word in (Word.BETTER, Word.WORSE):
            changes = sorted(each.comparison.verdict.pct_change or 0.0 for each in members)
            ends = (changes[0], changes[-1])
            texts = dict.fromkeys(change_in_words(pairs, each) for each in ends)
            part += f" ({' to '.join(texts)})"
        parts.append(part)
    return f"{candidate} vs. {baseline}: {_mean_over(pairs)}{', '.join(parts)}."


def _mean_over(pairs: Pairs) -> str:
    """Return the geometric mean, which is given only with its interval."""
    overall = pairs.overall
    if not overall or not overall.geometric_ci:
        return ""
    mean = with_interval(pairs, overall.geometric_pct, overall.geometric_ci)
    kind = "mean" if is_share(pairs.unit) else "geometric mean"
    return f"{mean}, {kind} over {overall.strata}; "


def _by_word(pairs: Pairs) -> dict[Word, list[Stratum]]:
    groups: dict[Word, list[Stratum]] = {}
    for stratum in pairs.strata:
        groups.setdefault(stratum.comparison.verdict.word, []).append(stratum)
    return groups


def _rank(word: Word) -> tuple[int, str]:
    return (RANKED.index(word) if word in RANKED else len(RANKED), word.value)
