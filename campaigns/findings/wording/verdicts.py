"""Labels and advice of verdicts, by metric and direction. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.values import LevelRow, LevelsFinding, Pairs, Primary, Stratum, Terms
from campaigns.findings.wording.drift import holds_meanwhile
from campaigns.kit import numbers
from campaigns.kit.numbers import (
    change_span,
    counted,
    in_times,
    number,
    percent,
    plain,
    plain_percent,
    points,
    points_span,
    ratio_of,
    share,
    times,
    times_span,
    with_times,
)
from campaigns.kit.units import UNITS, is_share
from campaigns.stats.compared import Model
from campaigns.stats.verdict import Verdict, Word


@dataclass(frozen=True, slots=True)
class Display:
    """How a verdict is shown: `data-tone`, icon of the sprite (without `i-`), form of the badge.

    form: `solid`, `outline` or `open` (dashed). The arrow means better or worse, never bigger.
    """

    word: str
    tone: str
    icon: str
    form: str


_PLAIN = {
    Word.EQUIVALENT: Display("equivalent", "equal", "approx", "solid"),
    Word.NO_DIFFERENCE_SHOWN: Display("no difference shown", "thin", "ring", "outline"),
    Word.NOT_ENOUGH_DATA: Display("not enough data", "thin", "dots", "open"),
    Word.TOO_MANY_FAILURES: Display("too many failures", "fail", "x", "solid"),
    Word.NOT_COMPARABLE: Display("not comparable", "thin", "no", "outline"),
    Word.INVALID_VALUES: Display("invalid values", "warn", "no", "outline"),
}
_LESS_AND_MORE = {
    "size": ("smaller", "larger"),
    "rate": ("lower throughput", "higher throughput"),
    "transfer rate": ("lower throughput", "higher throughput"),
    "file rate": ("lower throughput", "higher throughput"),
    "count": ("fewer", "more"),
    "count of files": ("fewer", "more"),
    "count of connections": ("fewer", "more"),
}
_TIMES = {
    "size": "times as large",
    "rate": "times the throughput",
    "transfer rate": "times the throughput",
    "file rate": "times the throughput",
    "count": "times as many",
    "count of files": "times as many",
    "count of connections": "times as many",
    "time": "times as long",
}
NOUNS = ("fewer", "more", "lower throughput", "higher throughput")
"""How words of verdicts begin that a side has; others are what it is: faster, larger."""
LESS_AND_MORE_MEMORY = ("less memory", "more memory")
"""Words of verdicts that a side takes."""
OF_MEMORY = "watched.memory"
"""How the metrics begin that are the memory of the target or of a group of its processes."""
MOST_PERCENT = 100
"""A cost from here on is said as a factor."""
LEAST_PERCENT = 0.1
"""A smaller change has two significant digits, so that it is not written as none."""
LEAST_MARGIN = 1e-6
"""Points; a smaller margin of a share stands for none."""
NOTHING = 1e-12
"""A smaller share is rounding."""
MOST_PRACTICAL = 100
"""A larger number of further runs is not recommended."""
ALARMS = (Word.BETTER, Word.WORSE)
"""False alarms between two names of one setting."""
FALSE_ALARM = Display("false alarm", "warn", "warn", "outline")
MEASURE_OTHERWISE = Display("measure differently", "warn", "warn", "outline")
"""Of levels that are how it is measured: neither is better, and their results are not to be mixed."""
NO_VERDICT_YET = Display("no verdict yet", "thin", "clock", "open")
"""Verdicts are withheld until the stop rule is met."""
IN_BLOCKS = (Model.BLOCKS, Model.PAIRED, Model.SPLIT_PLOT)


def label_of(terms: Terms, word: Word) -> Display:
    """Return how a verdict is shown; equivalence says within what.

    “Fewer failures” is for metrics whose name contains errors, and for a share without a name.
    """
    if terms.same_setting and word in ALARMS:
        return FALSE_ALARM
    if isinstance(terms, LevelsFinding) and terms.instrument and word in ALARMS:
        return MEASURE_OTHERWISE
    if word == Word.EQUIVALENT:
        return Display(
            f"equivalent within {size_in_words(terms, terms.margin_pct)}",
            "equal",
            "approx",
            "solid",
        )
    if word in _PLAIN:
        return _PLAIN[word]
    less, more = _less_and_more(terms.unit, terms.lower_is_better, terms.metric)
    better = word == Word.BETTER
    return Display(
        word=less if better == terms.lower_is_better else more,
        tone=word.value,
        icon="up" if better else "down",
        form="solid",
    )


def change_in_words(terms: Terms, change: float | None) -> str:
    """Write a change: −20.0 %; beyond −90 % and +200 % as a factor: “10 times as fast”, “3.1 times the throughput”."""
    if change is not None and is_share(terms.unit):
        return points(change)
    if change is None or not in_times(change):
        return percent(change)
    ratio = ratio_of(change)
    before, after = _factor_words(terms, more=ratio >= 1)
    return f"{before}{times(ratio if ratio >= 1 else _inverse(ratio))}{after}"


def span_in_words(terms: Terms, interval: Sequence[float], change: float | None) -> str:
    """Write the interval of a change: −24.0 … −16.0 %; as factors where one of its bounds or the change is one: 8.3 … 12 times."""
    if is_share(terms.unit):
        return points_span(interval)
    if change is None or not in_times(change, *interval):
        return change_span(interval)
    bounds = [ratio_of(bound) for bound in interval]
    if in_times(change) and ratio_of(change) < 1:
        bounds = sorted(map(_inverse, bounds))
        if not _factor_words(terms, more=False)[1]:  # “lower by a factor of 20 (17 … 25)”
            return times_span(*bounds)
    return with_times(times_span(*bounds))


def with_interval(terms: Terms, change: float | None, interval: Sequence[float] | None) -> str:
    """Write a change with its interval: −20.0 % (−24.0 … −16.0 %), 10 times as fast (8.3 … 12 times); empty without a change."""
    if change is None:
        return ""
    text = change_in_words(terms, change)
    if not interval:
        return text
    span = span_in_words(terms, interval, change)
    return text if text.startswith(span) else f"{text} ({span})"


def improvement_text(terms: Terms, improvement: float) -> str:
    """Write an improvement, which is positive where it is better, in whole percent: +24 %, −12 %; beyond as a factor: 20 times as fast."""
    if is_share(terms.unit):
        return points(improvement)
    changed = -improvement if terms.lower_is_better else improvement
    return change_in_words(terms, changed) if in_times(changed) else percent(improvement, 0)


def change_briefly(terms: Terms, change: float | None) -> str:
    """Write a change as a table does: −20.0 %, 0.098 times; of a share in points."""
    if change is not None and is_share(terms.unit):
        return points(change)
    return numbers.change(change)


def span_briefly(terms: Terms, interval: Sequence[float], change: float | None = None) -> str:
    """Write the interval of a change as a table does."""
    return points_span(interval) if is_share(terms.unit) else change_span(interval, change)


def size_in_words(terms: Terms, percentage: float) -> str:
    """Write a margin or a smallest effect: 2 %; of a share 0.05 points."""
    return f"{plain(percentage)} points" if is_share(terms.unit) else plain_percent(percentage)


def margin_in_words(terms: Terms) -> str:
    """Return within what sides are called equivalent: of a share within a stated margin only."""
    if is_share(terms.unit) and terms.margin_pct < LEAST_MARGIN:
        return "equivalence not judged: no margin in points is stated"
    return f"equivalent within {size_in_words(terms, terms.margin_pct)}"


def smaller_side(terms: Terms, word: Word, baseline: float | None, candidate: float | None) -> str:
    """Write what a change of a share means to its smaller side, as “, 10 times the failures”; empty where no change is shown.

    baseline, candidate: the means, in the unit of the metric.
    """
    if not is_share(terms.unit) or word not in ALARMS or baseline is None or candidate is None:
        return ""
    before, after = (each * UNITS[terms.unit].factor for each in (baseline, candidate))
    noun = _noun_of_small(terms.metric, large=before + after > 1)
    if before + after > 1:
        before, after = 1 - before, 1 - after
    if min(before, after) < 0 or before == after:
        return ""
    if min(before, after) < NOTHING:
        first, last = (share(each) if each >= NOTHING else "none" for each in (before, after))
        return f", {noun + ' ' if noun else ''}from {first} to {last}"
    return f", {times(after / before)} times {noun or 'as high'}"


def _noun_of_small(metric: str, *, large: bool) -> str:
    """Return what the smaller side of a share counts."""
    name = metric.lower()
    if not large:
        return "the failures" if any(sign in name for sign in ("fail", "error")) else ""
    if "hit" in name:
        return "the misses"
    if any(sign in name for sign in ("avail", "success", "served", "passed", "ok")):
        return "the failures"
    return "what is missing to 100 %"


def _factor_words(terms: Terms, *, more: bool) -> tuple[str, str]:
    """Return what stands before and after a factor of 1 or more."""
    dimension = UNITS[terms.unit].dimension if terms.unit in UNITS else ""
    less, _ = _less_and_more(terms.unit, terms.lower_is_better, terms.metric)
    if less == "fewer failures":
        return ("", " times the failures") if more else ("fewer by a factor of ", "")
    if less == LESS_AND_MORE_MEMORY[0]:
        return ("", " times the memory") if more else ("less by a factor of ", "")
    if more:
        return "", f" {_TIMES.get(dimension, 'times as high')}"
    return (
        ("", " times as fast") if less == "faster" else (f"{less.split()[0]} by a factor of ", "")
    )


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else math.inf


def superlative(terms: Terms) -> str:
    """Return what the best setting is called: “fastest”, or “best”."""
    less, more = _less_and_more(terms.unit, terms.lower_is_better, terms.metric)
    return "fastest" if (less if terms.lower_is_better else more) == "faster" else "best"


def comparative(terms: Terms, word: Word, *, many: bool = False) -> str:
    """Return what one side is, with its verb: “is slower”, “have lower throughput”."""
    label = label_of(terms, word).word
    return f"{_verb_of(label, many=many)} {label}"


def _verb_of(label: str, *, many: bool = False) -> str:
    """Return the verb before a word of a verdict: “is” faster, “has” more failures, “takes” less memory."""
    if label in LESS_AND_MORE_MEMORY:
        return "take" if many else "takes"
    if label.startswith(NOUNS):
        return "have" if many else "has"
    return "are" if many else "is"


def differs_by(terms: Terms, word: Word, change: float | None) -> str:
    """Write how one side is, up to the name of the other: “is 19.5 % faster than”, “takes 2.7 times as long as”.

    word: better or worse.
    """
    label, is_what = label_of(terms, word).word, comparative(terms, word)
    if change is None:
        return f"{is_what} than"
    if is_share(terms.unit):
        return f"is {points(abs(change)).lstrip('+')} {'higher' if change > 0 else 'lower'} than"
    if not in_times(change):
        return f"{_verb_of(label)} {_percentage(abs(change))} {label} than"
    ratio = ratio_of(change)
    text = times(ratio if ratio >= 1 else _inverse(ratio))
    before, after = _factor_words(terms, more=ratio >= 1)
    if before:
        return f"{is_what} by a factor of {text} than"
    verb = "takes" if after.endswith("as long") else is_what.split()[0]
    return f"{verb} {text}{after} {'of' if ' the ' in after else 'as'}"


def cost_text(terms: Terms, cost_pct: float) -> str:
    """Return how much worse a setting is than the best: “is 18.0 % slower”, “takes 2.7 times as long”."""
    worse = label_of(terms, Word.WORSE).word
    if is_share(terms.unit):
        return f"is {points(cost_pct).lstrip('+')} {'higher' if terms.lower_is_better else 'lower'}"
    if not terms.lower_is_better:
        loss = -100 * cost_pct / (100 + cost_pct)
        if in_times(loss):
            return f"is lower by a factor of {times(ratio_of(cost_pct))}"
        return f"is {_percentage(-loss)} lower"
    if cost_pct >= MOST_PERCENT:
        factor = f"{times(ratio_of(cost_pct))}{_factor_words(terms, more=True)[1]}"
        return f"{_verb_of_factor(terms, worse)} {factor}"
    return f"{_verb_of(worse)} {_percentage(cost_pct)} {worse}"


def _percentage(size: float) -> str:
    """Write the size of a change as facts and tables beside it do: 7.4 %; a smaller one than they show with two digits."""
    return numbers.without_sign(size) if size >= LEAST_PERCENT else f"{number(size, 2)} %"


def _verb_of_factor(terms: Terms, worse: str) -> str:
    if worse == "slower":
        return "takes"
    return _verb_of(worse)


def row_advice(levels: LevelsFinding, row: LevelRow, *, meanwhile: bool = True) -> str:
    """Return the advice for a comparison of levels. meanwhile: and on what it rests, of levels measured one after the other."""
    noun, where = ("block", "") if row.comparison.model in IN_BLOCKS else ("run", " of each level")
    if row.confirmation.between:
        noun, where = "session", ""
    if not meanwhile:
        return advice_of(levels, row.comparison.verdict, noun, where)
    return _in_order(levels, row.comparison.verdict, noun, where)


def stratum_advice(pairs: Pairs, stratum: Stratum) -> str:
    """Return the advice for a stratum of pairs."""
    noun = "session" if stratum.confirmation.between else "pair"
    return advice_of(pairs, stratum.comparison.verdict, noun)


def primary_advice(
    finding: LevelsFinding | Pairs, primary: Primary, *, meanwhile: bool = True
) -> str:
    """Return the advice for the primary contrast. meanwhile: as of `row_advice`."""
    verdict = primary.comparison.verdict
    in_blocks = primary.comparison.model in IN_BLOCKS
    if primary.confirmation.between:
        noun, where = "session", ""
    elif isinstance(finding, Pairs):
        noun, where = "pair", ""
    else:
        noun, where = ("block", "") if in_blocks else ("run", " of each level")
    if isinstance(finding, Pairs) or not meanwhile:
        return advice_of(finding, verdict, noun, where)
    return _in_order(finding, verdict, noun, where)


def _in_order(terms: Terms, verdict: Verdict, noun: str, where: str = "") -> str:
    """Return the advice, and of levels that were measured one after the other on what the verdict rests."""
    texts = advice_of(terms, verdict, noun, where), holds_meanwhile(terms, verdict.word)
    return " ".join(filter(None, texts))


def advice_of(terms: Terms, verdict: Verdict, noun: str = "pair", where: str = "") -> str:
    """Return in one sentence what would decide, or what is excluded; empty where there is no advice.

    noun: what n counts; where: of what, as “ of each level”.
    """
    if terms.same_setting:
        return "Both labels are one setting." if verdict.word in ALARMS else ""
    delta, confidence = size_in_words(terms, terms.delta_pct), share(1 - terms.alpha)
    match verdict.word:
        case Word.NOT_COMPARABLE if verdict.reason == "other_hardware":
            return (
                "Two builds on other hardware: a change would be that of both. Measure both builds on each "
                "target, or make the hardware part of the question."
            )
        case Word.INVALID_VALUES:
            return "A value is zero or below, or no number: it has no ratio to another one."
        case Word.NO_DIFFERENCE_SHOWN:
            return f"A change of {delta} or more is excluded with {confidence} confidence."
        case Word.EQUIVALENT if "real_below_margin" in verdict.badges:
            return "The difference is real, but below the margin."
        case Word.NOT_ENOUGH_DATA if verdict.reason == "lost_runs":
            return "Too many runs have no value; see why before running more."
        case Word.NOT_ENOUGH_DATA if verdict.reason == "sessions_disagree":
            return "The sessions contradict each other: run another one, to judge by all of them."
        case Word.NOT_ENOUGH_DATA if verdict.reason == "resolution":
            return (
                "The values are written in steps too coarse to show it: measure with more digits."
            )
        case Word.NOT_ENOUGH_DATA if verdict.reason == "identical_values":
            return "All values are equal, so how much they vary is unknown: measure more finely."
        case Word.NOT_ENOUGH_DATA if verdict.reason == "drift_confounded":
            return (
                "The target drifted while one level was measured after the other: interleave them."
            )
        case Word.NOT_ENOUGH_DATA if verdict.reason == "n_below_minimum" and not verdict.more:
            return f"Run {counted(terms.minimum_n - verdict.n, noun)} more{where} at least."
        case Word.NOT_ENOUGH_DATA if verdict.more:
            return _further(verdict.more, noun, where, f"to detect {delta}")
        case Word.NOT_ENOUGH_DATA if verdict.n_to_decide and verdict.n_to_decide > verdict.n:
            further = verdict.n_to_decide - verdict.n
            return _further(further, noun, where, f"to tell 0 from {delta}")
        case Word.NOT_ENOUGH_DATA if verdict.required_n is None and verdict.ci_pct is not None:
            return f"The runs differ too much: no sensible number of {noun}s would detect {delta}."
    return ""


def _further(number: int, noun: str, where: str, purpose: str) -> str:
    """Return how many more it takes; nobody runs hundreds of them."""
    if number <= MOST_PRACTICAL:
        return f"Run about {counted(number, noun)} more{where} {purpose}."
    return (
        f"It would take about {counted(number, noun)} more{where} {purpose}: reduce the noise, or accept "
        "a larger smallest effect."
    )


def _less_and_more(unit: str, lower_is_better: bool, metric: str) -> tuple[str, str]:
    dimension = UNITS[unit].dimension if unit in UNITS else ""
    if dimension == "time":
        return ("faster", "slower") if lower_is_better else ("shorter", "longer")
    nameless_share = dimension == "share" and lower_is_better and not metric
    if nameless_share or any(sign in metric.lower() for sign in ("fail", "error")):
        return "fewer failures", "more failures"
    if metric.startswith(OF_MEMORY):
        return LESS_AND_MORE_MEMORY
    return _LESS_AND_MORE.get(dimension, ("lower", "higher"))
