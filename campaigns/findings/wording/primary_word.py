"""The one word that answers the primary question of a campaign, for lists that show no other. Pure."""

from campaigns.findings.values import (
    Answer,
    Best,
    CapacityFinding,
    Grounds,
    LevelsFinding,
    Pairs,
)
from campaigns.findings.wording.answer import ROLE_NOT_STATED
from campaigns.findings.wording.calibration import IDENTICAL
from campaigns.findings.wording.capacity import WORDS
from campaigns.findings.wording.capacity_answer import answer_of_capacity
from campaigns.findings.wording.pair_answer import answer_of_pairs
from campaigns.findings.wording.starved import not_judged
from campaigns.findings.wording.thresholds import LABELS
from campaigns.findings.wording.verdicts import Display, label_of

NOT_JUDGED = Display("not judged", "thin", "dots", "open")
BEST_SHOWN = Display("best shown", "better", "check", "solid")
SEVERAL = Display("several may be best", "thin", "ring", "outline")
NONE_SHOWN = Display("no best shown", "thin", "ring", "outline")
ALIKE = Display("equivalent", "equal", "approx", "solid")


def primary_word(on: Grounds) -> Display | None:
    """Return the word of what the campaign asks first: how much is carried, whether it passes, the primary contrast, which is best.

    None where there is no such word: nothing was compared.
    """
    answer, capacity, judged = on.answer, on.capacity, on.judged
    if not_judged(answer) or not any(cell.summary.n_ok for cell in answer.cells):
        return NOT_JUDGED
    if on.calibration:
        return IDENTICAL
    if answer.asked:
        return ROLE_NOT_STATED
    if capacity and capacity.settings:
        return _of_capacity(answer, capacity)
    if judged and judged.primary:
        return label_of(judged, judged.primary.comparison.verdict.word)
    if on.pairs:
        return _of_pairs(on.pairs)
    if on.thresholds and not on.is_compared:
        return LABELS[on.thresholds.word]
    return _of_levels(on.levels) if on.levels else None


def _of_capacity(answer: Answer, capacity: CapacityFinding) -> Display:
    """Return what is carried; of several settings their common word, or how many have the first one."""
    words = {each.capacity.word for each in capacity.settings}
    badge = answer_of_capacity(answer, capacity).badges[0]
    if capacity.stated and len(words) == 1 < len(capacity.settings):
        return WORDS[words.pop()]
    return badge


def _of_pairs(pairs: Pairs) -> Display:
    """Return the common word of all strata, or how many have the first one."""
    words = {stratum.comparison.verdict.word for stratum in pairs.strata}
    if len(words) == 1:
        return label_of(pairs, words.pop())
    return answer_of_pairs(pairs).badges[0]


def _of_levels(levels: LevelsFinding) -> Display | None:
    """Return the word of the only comparison, or whether one setting is shown to be the best."""
    rows = [row for group in levels.groups for row in group.comparisons]
    if len(rows) == 1:
        return label_of(levels, rows[0].comparison.verdict.word)
    bests = [each.best for each in levels.overall] or [
        group.best for group in levels.groups if group.best
    ]
    if levels.instrument or len(bests) != 1:
        return None
    return _of_best(levels, bests[0])


def _of_best(levels: LevelsFinding, best: Best) -> Display:
    if best.unknown:
        return NOT_JUDGED
    if best.winner is not None:
        return BEST_SHOWN
    if best.alike:
        return ALIKE
    return NONE_SHOWN if len(best.possibly) == len(best.cells) else SEVERAL
