"""The answer of a paired campaign. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.findings.values import Confirmation, OverStrata, Pairs, Stratum
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    fact_of,
    first_short,
)
from campaigns.findings.wording.loads import plural
from campaigns.findings.wording.two_sides import (
    GENERIC,
    certainty_of_two,
    interval_in_prose,
    verdict_of_two,
)
from campaigns.findings.wording.verdicts import (
    Display,
    change_in_words,
    label_of,
    stratum_advice,
    with_interval,
)
from campaigns.kit.charts.labels import level_text, short_labels, words_of
from campaigns.kit.numbers import change, counted, number
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
    alone = len(pairs.strata) == 1
    sentence, certainty = _one_stratum(pairs) if alone else _several_strata(pairs)
    return AnswerText(
        sentence=sentence,
        tone=tone,
        certainty=certainty,
        badges=_badges(pairs),
        facts=_readings(pairs, pairs.overall) if pairs.overall else _changes(pairs),
        statements=_as_a_rate(pairs, pairs.overall) if pairs.overall else (),
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
    both = level_text(pairs.candidate), level_text(pairs.baseline)
    short = short_labels(both)
    return short[both[0]], short[both[1]]


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
    """Return the change over all strata, by three means: “19.5 % faster” alone is ambiguous."""
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
    ]


def _as_a_rate(pairs: Pairs, overall: OverStrata) -> list[Statement]:
    """Return the change over all strata as a rate, which is how others publish it."""
    if is_share(pairs.unit):
        return []
    return [
        Statement("info", f"As a rate, the average of the inverse: {change(overall.rate_pct)}.")
    ]


def _one_stratum(pairs: Pairs) -> tuple[str, str]:
    """Return verdict and certainty of all pairs at one place."""
    (stratum,) = pairs.strata
    verdict = stratum.comparison.verdict
    means = stratum.comparison.mean_baseline, stratum.comparison.mean_candidate
    sentence = first_short(verdict_of_two(pairs, verdict, _sides(pairs), means=means))
    # That a change is excluded is in the certainty already.
    advice = "" if verdict.word == Word.NO_DIFFERENCE_SHOWN else stratum_advice(pairs, stratum)
    of = _measured(pairs, [stratum], stratum.confirmation)
    return sentence, first_short(certainty_of_two(pairs, verdict, of, advice))


def _several_strata(pairs: Pairs) -> tuple[str, str]:
    """Return what is said of all strata by their verdicts, with the mean change where they have one verdict."""
    return first_short(_over_strata(pairs)), first_short(_certainty_over_strata(pairs))


def _over_strata(pairs: Pairs) -> Iterator[str]:
    groups, total = _by_word(pairs), len(pairs.strata)
    places = _places(pairs)
    what = f"{number(total)} {places}"
    candidate, baseline = _sides(pairs)
    if len(groups) == 1:
        (word,) = groups
        overall = pairs.overall
        change = overall.geometric_pct if overall and overall.geometric_ci else None
        where = f" on {f'both {places}' if total == 2 else f'all {what}'}"
        if word in (Word.NO_DIFFERENCE_SHOWN, Word.NOT_ENOUGH_DATA):
            where = f" on any of {what}"
        one = replace(groups[word][0].comparison.verdict, pct_change=change)
        yield from verdict_of_two(pairs, one, (candidate, baseline), where)
        return
    ordered = sorted(groups, key=_rank)
    for names in ((candidate, baseline), GENERIC):
        for most in range(min(len(ordered), MOST_FACTS), 0, -1):
            parts = [
                f"{label_of(pairs, word).word} on {len(groups[word])}" for word in ordered[:most]
            ]
            rest = total - sum(len(groups[word]) for word in ordered[:most])
            parts += [f"something else on {rest}"] if rest else []
            yield f"{names[0]} vs. {names[1]}, {what}: {', '.join(parts)}."


def _certainty_over_strata(pairs: Pairs) -> Iterator[str]:
    overall = pairs.overall
    confirmation = overall.confirmation if overall else pairs.strata[0].confirmation
    measured = _measured(pairs, pairs.strata, confirmation)
    if overall and overall.geometric_ci:
        kind = "mean" if is_share(pairs.unit) else "geometric mean"
        if len(_by_word(pairs)) == 1:
            (word,) = _by_word(pairs)
            has_direction = word in (Word.BETTER, Word.WORSE)
            bounds, middle = overall.geometric_ci, overall.geometric_pct
            mean = interval_in_prose(pairs, bounds, middle, has_direction=has_direction)
            if (
                word in (Word.NO_DIFFERENCE_SHOWN, Word.NOT_ENOUGH_DATA)
                and bounds[0] * bounds[1] > 0
            ):
                yield f"Their mean is {mean}, which only a primary contrast judges; {measured}."
            yield f"{mean}, {kind} of {measured}."
        else:
            mean = with_interval(pairs, overall.geometric_pct, overall.geometric_ci)
            yield f"{capitalised(kind)} {mean}; {measured}."
            yield f"{capitalised(kind)} {mean}."
    else:
        changes = [
            change
            for each in pairs.strata
            if (change := each.comparison.verdict.pct_change) is not None
        ]
        if changes:
            ends = dict.fromkeys(
                change_in_words(pairs, each) for each in (min(changes), max(changes))
            )
            yield f"{' to '.join(ends)}; {measured}.{_more(pairs)}"
            yield f"{' to '.join(ends)}; {measured}."
    yield f"{measured}."


def _more(pairs: Pairs) -> str:
    """Return what would decide the stratum that takes most, where none is decided."""
    verdicts = [each.comparison.verdict for each in pairs.strata]
    if any(verdict.word != Word.NOT_ENOUGH_DATA for verdict in verdicts):
        return ""
    most = max(pairs.strata, key=lambda each: each.comparison.verdict.more or 0)
    return f" {stratum_advice(pairs, most)}".rstrip()


def _measured(pairs: Pairs, strata: Sequence[Stratum], confirmation: Confirmation) -> str:
    """Write what was measured: “50 pairs of 5 manifests, one session”."""
    count = sum(each.comparison.verdict.n for each in strata)
    of = f" of {number(len(strata))} {_places(pairs)}" if len(strata) > 1 else ""
    return f"{counted(count, 'pair')}{of}{of_sessions(pairs.sessions, confirmation)}"


def of_sessions(sessions: int, confirmation: Confirmation) -> str:
    """Write in how many sessions it was measured, after what was: “, one session”."""
    if confirmation.between:
        return f", between {counted(confirmation.sessions, 'session')}"
    return ", one session" if sessions == 1 else f", {counted(sessions, 'session')}"


def _places(pairs: Pairs) -> str:
    """Return what strata are: the name of the only factor in which they differ, in the plural."""
    names = [
        name
        for name in pairs.strata[0].levels
        if len({str(each.levels.get(name)) for each in pairs.strata}) > 1
    ]
    return plural(words_of(names[0])) if len(names) == 1 else "combinations"


def _by_word(pairs: Pairs) -> dict[Word, list[Stratum]]:
    groups: dict[Word, list[Stratum]] = {}
    for stratum in pairs.strata:
        groups.setdefault(stratum.comparison.verdict.word, []).append(stratum)
    return groups


def _rank(word: Word) -> tuple[int, str]:
    return (RANKED.index(word) if word in RANKED else len(RANKED), word.value)
