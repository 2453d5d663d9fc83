"""What is carried, in words: of one setting, of several, and their ratios. Pure.

Load is never ranked: no sentence here says of one load that it is better than another.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from campaigns.findings.most_carried import DECIDED, most_carried
from campaigns.findings.values import (
    Answer,
    CapacityFinding,
    CapacityOfSetting,
    ConditionTerms,
    SettingRatio,
    SummarisedCell,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
)
from campaigns.findings.wording.cells import centre_of
from campaigns.findings.wording.loads import LoadWords, decimal_text, is_several, setting_name
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import BOUND_DIGITS, amount, counted, number, plain_percent, share
from campaigns.stats.capacity import (
    Advice,
    Capacity,
    CapacityRatio,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
)
from campaigns.stats.verdict import Word

FEWEST_BLOCKS = 3
PERCENTILE = re.compile(r"(\d+)(?:st|nd|rd|th) percentile")
SAME = 0.05
"""Values whose ratio is within this of 1 are “about that of”."""
MOST_DIGITS = 6
WORDS: Mapping[CapacityWord, Display] = {
    CapacityWord.CARRIES: Display("carries", "info", "check", "solid"),
    CapacityWord.AT_LEAST: Display("carries at least", "info", "check", "outline"),
    CapacityWord.LESS_THAN: Display("carries less than", "warn", "down", "outline"),
    CapacityWord.NOT_DECIDED: Display("not decided", "thin", "ring", "outline"),
    CapacityWord.NOT_MONOTONE: Display("not monotone", "warn", "warn", "outline"),
    CapacityWord.NOT_ENOUGH_DATA: Display("not enough data", "thin", "dots", "open"),
}
HELD: Mapping[Held, Display] = {
    Held.HELD: Display("held", "info", "check", "solid"),
    Held.FAILED: Display("failed", "fail", "x", "solid"),
    Held.UNDECIDED: Display("not decided", "thin", "ring", "outline"),
    Held.NOT_MEASURED: Display("not measured", "thin", "dots", "open"),
}
BADGES = {
    "interpolated": "interpolated between loads",
    "levels_only": "loads judged one by one, nothing interpolated",
    "two_loads": "two loads only: a bend between them is not seen",
    "rough_interval": "few blocks: rough interval",
    "clumped_failures": "failures come in few runs: their interval is too narrow",
}
NO_CRITERION = "No criterion was set, so what is carried is not stated."
ASK_FOR_ONE = "State one, such as an upper limit of a percentile, to learn what is carried."
UNSTATED = f"No criterion was set. {ASK_FOR_ONE}"
"""Where the failure limit stands in for a criterion, and nothing follows from it."""


@dataclass(frozen=True, slots=True)
class CapacityText:
    """What one setting carries. short: for a table; advice: what would decide; binding: the condition that ends it first."""

    setting: str
    short: str
    sentence: str
    label: Display
    advice: str
    binding: str
    safe_load: str
    remarks: Sequence[str]


@dataclass(frozen=True, slots=True)
class RatioText:
    """The ratio of two capacities. larger, smaller: names of settings, in this order where the ratio is written."""

    larger: str
    smaller: str
    text: str
    label: Display


@dataclass(frozen=True, slots=True)
class CapacityTexts:
    """What settings carry. conditions: what “carried” means; settings, ratios: in the order of the finding."""

    sentence: str
    conditions: str
    settings: Sequence[CapacityText]
    ratios: Sequence[RatioText]


def capacity_texts(finding: CapacityFinding, answer: Answer | None = None) -> CapacityTexts:
    """Return everything that is said of what is carried. answer: with the values of the cells."""
    words = CapacityWords(finding, answer)
    return CapacityTexts(
        words.headline(),
        words.kept,
        [words.text(each) for each in finding.settings],
        [words.ratio(each) for each in finding.ratios],
    )


def kept(condition: ConditionTerms) -> str:
    """Write that a condition is kept: “p95 of a registration stays within 3:00 min”, “at most 5 % fail”."""
    if condition.metric:
        what = subject(condition)
        if condition.at_least is not None:
            return f"{what} stays at {amount(condition.at_least, condition.unit)} or more"
        return f"{what} stays within {amount(condition.at_most, condition.unit)}"
    return f"at most {share(condition.failed_share)} fail"


def subject(condition: ConditionTerms) -> str:
    """Name what a condition limits: “p95 of a registration”, “failures”."""
    return metric_phrase(condition.label or condition.metric) if condition.metric else "failures"


def metric_phrase(label: str) -> str:
    """Write the label of a metric inside a sentence: “mean time of a registration”, “p95 of the time of a registration”."""
    what, _, which = label.rpartition(", ")
    if not what:
        return inside(label)
    if which in ("mean", "median"):
        return f"{which} {inside(what)}"
    if percentile := PERCENTILE.fullmatch(which):
        return f"p{percentile[1]} of the {inside(what)}"
    return inside(label)


def beside_limit(value: float, limit: float | None, write: Callable[[float, int], str]) -> str:
    """Write a value with enough digits that it does not look like the limit, above or below which it is."""
    if limit is None or value == limit:
        return write(value, 3)
    for digits in range(3, MOST_DIGITS + 1):
        if write(value, digits) != write(limit, digits):
            return write(value, digits)
    return f"just {'above' if value > limit else 'below'} {write(limit, 3)}"


def reached(condition: ConditionTerms, state: LoadState, *, alone: bool = True) -> str:
    """Write what a condition is at one load: “it is 7:00 min”, “42 % fail”; empty where there is no value.

    alone: the sentence has to name the metric.
    """
    it = subject(condition) if alone else "it"
    limit = condition.at_most if condition.at_most is not None else condition.at_least
    if condition.metric and not condition.as_share:
        if state.value is None:
            return ""
        unit = condition.unit
        return (
            f"{it} is {beside_limit(state.value, limit, lambda v, digits: amount(v, unit, digits))}"
        )
    if state.share is None:
        return ""
    failing = beside_limit(state.share, condition.failed_share, _share)
    if not condition.metric:
        return f"{failing} fail"
    return f"{failing} take longer than {amount(limit, condition.unit)} or fail"


def _share(value: float, digits: int) -> str:
    return share(value, digits - 2)


class CapacityWords:
    """Writes the sentences of one finding. answer: with the values of its cells, for what happens at a load."""

    def __init__(self, finding: CapacityFinding, answer: Answer | None = None) -> None:
        self.finding = finding
        self.answer = answer
        self.cells: Mapping[int, SummarisedCell] = {}
        if answer:
            self.cells = {cell.cell: cell for cell in answer.cells}
        self.conditions = {each.name: each for each in finding.conditions}
        exact = {each.load for setting in finding.settings for each in setting.cells}
        exact |= {
            end
            for setting in finding.settings
            for end in (setting.capacity.lowest, setting.capacity.highest)
        }
        self.loads = LoadWords(finding.load_label or finding.load, exact)
        self.confidence = share(1 - finding.alpha)

    @property
    def has_criterion(self) -> bool:
        """Whether anything limits what is carried."""
        return bool(self.finding.conditions)

    @property
    def kept(self) -> str:
        """Write all conditions: “p95 of a registration stays within 3:00 min and at most 5 % fail”."""
        return " and ".join(map(kept, self.finding.conditions))

    @property
    def capacities(self) -> Sequence[CapacityOfSetting]:
        """The settings in their order."""
        return self.finding.settings

    def text(self, setting: CapacityOfSetting) -> CapacityText:
        """Return everything that is said of one setting."""
        capacity = setting.capacity
        return CapacityText(
            setting=setting_name(setting.levels),
            short=self.short(capacity),
            sentence=self.sentence(setting),
            label=WORDS[capacity.word],
            advice=self.advice(capacity),
            binding=self.binding(capacity),
            safe_load=self.safe_load(capacity),
            remarks=[BADGES.get(each, each.replace("_", " ")) for each in capacity.badges],
        )

    def short(self, capacity: Capacity) -> str:
        """Return what is carried in few words: “402 hosts (388 to 416)”, “at least 40 hosts”, “not decided (240 to 960 hosts)”."""
        loads, low, high = self.loads, capacity.low, capacity.high
        match capacity.word:
            case CapacityWord.CARRIES if low is not None and high is not None:
                first, middle, last = loads.within(low, self._estimate(capacity), high)
                if middle:
                    return f"{loads.of(middle)} ({first} to {last})"
                return f"{loads.of(first)}, fails at {last}"
            case CapacityWord.AT_LEAST if low is not None:
                return f"at least {loads.of(loads.down(low))}"
            case CapacityWord.LESS_THAN if high is not None:
                return f"less than {loads.of(loads.up(high))}"
            case CapacityWord.NOT_DECIDED if low is not None and high is not None:
                first, _, last = loads.within(low, None, high)
                return f"not decided ({loads.of(f'{first} to {last}')})"
            case CapacityWord.NOT_ENOUGH_DATA if capacity.about is not None:
                return f"not enough data (about {loads.of(loads.down(capacity.about, 2))})"
        return WORDS[capacity.word].word

    @staticmethod
    def _estimate(capacity: Capacity) -> float | None:
        """Return the estimate that may be shown: none where loads were judged one by one."""
        return None if "levels_only" in capacity.badges else capacity.estimate

    def sentence(self, setting: CapacityOfSetting) -> str:
        """Return one or more sentences on what one setting carries, without its name."""
        capacity = setting.capacity
        lead = self._lead(setting)
        return " ".join(filter(None, (lead, self._first_to_break(capacity), self.at_end(setting))))

    def _lead(self, setting: CapacityOfSetting) -> str:
        capacity, loads = setting.capacity, self.loads
        low, high, conditions = capacity.low, capacity.high, self.kept
        lowest, highest = capacity.lowest, capacity.highest
        match capacity.word:
            case CapacityWord.CARRIES if low is not None and high is not None:
                first, middle, last = loads.within(low, self._estimate(capacity), high)
                if middle:
                    return f"Carries {loads.of(middle)} ({first} to {last}, {self.confidence}): {conditions}."
                return (
                    f"Carries {loads.of(first)}, fails at {last} ({self.confidence}): {conditions}."
                )
            case CapacityWord.AT_LEAST if low is not None:
                text = f"Carries at least {loads.of(loads.down(low))}"
                if low >= highest:
                    return f"{text}, {loads.highest}: {conditions}."
                top = f"{loads.down(highest)}, {loads.highest},"
                return f"{text}; {top} is neither shown to hold nor to fail: {conditions}."
            case CapacityWord.LESS_THAN if high is not None:
                text = f"Carries less than {loads.of(loads.up(high))}"
                if high <= lowest:
                    return f"{text}, {loads.lowest}, which fails: the limit is that {conditions}."
                bottom = f"{loads.down(lowest)}, {loads.lowest},"
                return f"{text}; {bottom} is neither shown to hold nor to fail: the limit is that {conditions}."
            case CapacityWord.NOT_DECIDED if low is not None and high is not None:
                first, _, last = loads.within(low, None, high)
                between = f"between {first} and {loads.of(last)}"
                if not loads.is_counted:
                    between = f"{loads.noun} between {first} and {last}"
                text = f"Not decided: carries {between} ({self.confidence}) while {conditions}."
                return " ".join(filter(None, (text, self.advice(capacity))))
            case CapacityWord.NOT_MONOTONE:
                return self._not_monotone(capacity)
        return self._not_enough(setting)

    def _not_monotone(self, capacity: Capacity) -> str:
        loads = self.loads
        reversed_ = [
            (self.conditions.get(each.name), pair)
            for each in capacity.conditions
            for pair in each.not_monotone
        ]
        why = ""
        if reversed_:
            condition, (one, other) = reversed_[0]
            at = f"at {loads.of(loads.down(one))} than at {loads.down(other)}"
            if condition is None or not condition.metric or condition.as_share:
                why = f": more fail {at}"
            else:
                way = "lower" if condition.at_least is not None else "higher"
                why = f": {subject(condition)} is {way} {at}"
        text = f"Not monotone{why}. Look at the runs before a number is made of it."
        if reversed_ and condition is not None and condition.at_least is not None:
            text += " Where it grows with the load, as throughput does, limit a time or failures instead."
        if capacity.estimate is not None:
            crossed = loads.of(loads.down(capacity.estimate, 2))
            text += f" The limit is first crossed at about {crossed}."
        return text

    def _not_enough(self, setting: CapacityOfSetting) -> str:
        capacity, loads = setting.capacity, self.loads
        text = f"What is carried cannot be stated: {self._why_not(capacity)}."
        if capacity.about is not None:
            text += f" By these runs it is about {loads.of(loads.down(capacity.about, 2))}, without bounds."
        advice = self.advice(capacity)
        return f"{text} {advice}".strip()

    def _why_not(self, capacity: Capacity) -> str:
        noun = self.loads.noun if self.loads.is_counted else "loads"
        match capacity.reason:
            case "blocks":
                return f"there {'is' if capacity.blocks == 1 else 'are'} {counted(capacity.blocks, 'block')}, and it takes at least {FEWEST_BLOCKS}"
            case "loads":
                return "only one load was measured, and it takes at least two"
            case "not_connected":
                return "no block holds several loads, so loads and time cannot be told apart"
            case "lost_runs":
                return "too many runs were lost; see why before running more"
            case "invalid_values":
                return f"{self._without_log(capacity)}, and what is carried is judged on a logarithmic scale"
        which = f"no number of {noun}" if self.loads.is_counted else "no load"
        return f"{which} is shown to hold or to fail{self._too_few_units(capacity)}"

    def _without_log(self, capacity: Capacity) -> str:
        """Name the first condition whose values have no logarithm."""
        names = [each.name for each in capacity.conditions if each.reason == "invalid_values"]
        condition = self.conditions.get(names[0]) if names else None
        what = subject(condition) if condition and condition.metric else ""
        return (
            f"a value of {what} is zero, negative or no number" if what else "a count is no number"
        )

    def _too_few_units(self, capacity: Capacity) -> str:
        """Say what the runs show of failures where that is too little for the limit."""
        for each in capacity.conditions:
            condition = self.conditions.get(each.name)
            known = [state for state in each.loads if state.share_interval]
            if condition is None or condition.metric or not known:
                continue
            last = known[-1]
            at = f"at {self.loads.of(self.loads.down(last.load))}"
            upper = last.share_interval[1] if last.share_interval else 1.0
            return (
                f": {at} {beside_limit(last.share or 0.0, condition.failed_share, _share)} failed, which shows only that at most "
                f"{_upper_share(upper)} fail ({self.confidence}), and the limit is {share(condition.failed_share)}"
            )
        return ""

    def advice(self, capacity: Capacity) -> str:
        """Return what would decide; empty where there is no advice."""
        return _advice(capacity.advice, self.loads) if capacity.advice else ""

    def binding(self, capacity: Capacity) -> str:
        """Name the condition that ends first; empty where none is known to."""
        condition = self.conditions.get(capacity.binding)
        return subject(condition) if condition else ""

    def safe_load(self, capacity: Capacity) -> str:
        """Return the load at which a single further run holds; empty where it is unknown."""
        if capacity.safe_load is None:
            return ""
        return self.loads.of(self.loads.down(capacity.safe_load))

    def _first_to_break(self, capacity: Capacity) -> str:
        condition = self.conditions.get(capacity.binding)
        numbers = (CapacityWord.CARRIES, CapacityWord.NOT_DECIDED, CapacityWord.LESS_THAN)
        if len(self.conditions) < 2 or condition is None or capacity.word not in numbers:
            return ""
        verb = "break" if not condition.metric else "breaks"
        return f"{capitalised(subject(condition))} {verb} it first."

    def at_end(self, setting: CapacityOfSetting) -> str:
        """Return what happens at the highest load, or at the lowest one where that fails."""
        capacity = setting.capacity
        if capacity.word == CapacityWord.AT_LEAST or not self.has_criterion:
            return self.curve(setting, there=capacity.low == capacity.highest)
        if capacity.word not in (
            CapacityWord.CARRIES,
            CapacityWord.NOT_DECIDED,
            CapacityWord.LESS_THAN,
        ):
            return self.curve(setting)
        first = capacity.word == CapacityWord.LESS_THAN
        condition, own = self._binding_of(capacity)
        states = [each for each in own.loads if each.state != Held.NOT_MEASURED] if own else []
        if condition is None or not states:
            return self.curve(setting)
        state = (min if first else max)(states, key=lambda each: each.load)
        alone = first or len(self.conditions) > 1 or condition.as_share
        text = reached(condition, state, alone=alone)
        at = f"At {self.loads.of(self.loads.down(state.load))}"
        if not text:
            return self._failed_at(setting, state.load)
        if text[:1].isdigit():
            at += ","
        return f"{at} {text}."

    def _binding_of(
        self, capacity: Capacity
    ) -> tuple[ConditionTerms | None, ConditionCapacity | None]:
        """Return the condition that ends first, or the only one."""
        name = capacity.binding or next((each.name for each in capacity.conditions), "")
        own = next((each for each in capacity.conditions if each.name == name), None)
        return self.conditions.get(name), own

    def _failed_at(self, setting: CapacityOfSetting, load: float) -> str:
        """Say how much of the work failed at a load without a value."""
        key = next((each.cell for each in setting.cells if each.load == load), None)
        cell = self.cells.get(key) if key is not None else None
        at = f"At {self.loads.of(self.loads.down(load))}"
        if cell is None or not cell.counts.units_failed or not cell.counts.units:
            return f"{at} too much fails for a value."
        failing = share(cell.counts.units_failed / cell.counts.units)
        return f"{at}, {failing} of the work failed."

    def curve(self, setting: CapacityOfSetting, *, there: bool = False) -> str:
        """Return the primary metric at both ends of the loads, as “Duration is 31 s there, 2.6 times that of 5 hosts”.

        there: the highest load was just named.
        """
        measured = [
            (each.load, value, self.cells[each.cell])
            for each in sorted(setting.cells, key=lambda each: each.load)
            if each.cell in self.cells
            for value in [centre_of(self.cells[each.cell])]
            if value is not None and not self.cells[each.cell].counts.too_many_failures
        ]
        if not measured or not self.answer:
            return ""
        label, unit = capitalised(metric_phrase(self.answer.label)), self.answer.unit
        (first, low, _), (last, high, _) = measured[0], measured[-1]
        there = there and last == setting.capacity.highest
        at = "there" if there else f"at {self.loads.of(self.loads.down(last))}"
        text = f"{label} is {amount(high, unit)} {at}"
        if first == last:
            return f"{text}."
        ratio = high / low if low > 0 and high > 0 else None
        base = self.loads.of(self.loads.down(first))
        if ratio is None:
            return f"{text} and {amount(low, unit)} at {base}."
        if abs(ratio - 1) < SAME:
            return f"{text}, about that of {base}."
        return f"{text}, {number(ratio, 2)} times that of {base}."

    def ratio(self, ratio: SettingRatio) -> RatioText:
        """Return a ratio with the larger capacity first."""
        names = [
            setting_name(self.capacities[place].levels)
            for place in (ratio.candidate, ratio.baseline)
        ]
        one, turned = _larger_first(ratio.ratio)
        larger, smaller = reversed(names) if turned else names
        return RatioText(
            larger, smaller, _ratio(one, self), _ratio_label(ratio.ratio, self.finding)
        )

    def headline(self) -> str:
        """Return what is carried, of one setting or of several."""
        settings = self.capacities
        if not settings:
            return ""
        if len(settings) == 1:
            return self._of_one(settings[0])
        return self._of_several()

    def _of_one(self, setting: CapacityOfSetting) -> str:
        if not self.has_criterion:
            return " ".join(filter(None, (NO_CRITERION, self.curve(setting), ASK_FOR_ONE)))
        text = self.sentence(setting)
        if setting.levels:
            text = f"{capitalised(setting_name(setting.levels))}: {text[:1].lower()}{text[1:]}"
        return f"{text} {self._unstated()}".strip()

    def _unstated(self) -> str:
        """Ask for a criterion where none was set and the failure limit shows nothing."""
        capacities = [each.capacity for each in self.capacities]
        nothing = all(each.reason == "no_bound" and each.word not in DECIDED for each in capacities)
        return UNSTATED if nothing and not self.finding.stated else ""

    def _of_several(self) -> str:
        settings = self.capacities
        if not self.has_criterion:
            parts = [
                f"{setting_name(each.levels)}: {text[:1].lower()}{text[1:-1]}"
                for each in settings[:MOST_FACTS]
                if (text := self.curve(each))
            ]
            curves = f"{capitalised('; '.join(parts))}." if parts else ""
            return " ".join(filter(None, (NO_CRITERION, curves, ASK_FOR_ONE)))
        decided = [each for each in settings if each.capacity.word in DECIDED]
        others = [each for each in settings if each.capacity.word not in DECIDED]
        parts, more = [], 0
        if decided and len(settings) == 2 and len(decided) == 2:
            parts.append(self._two())
        else:
            parts += [self._carries(each) for each in decided[:MOST_FACTS]]
            parts += [
                f"{setting_name(each.levels)}: {self.short(each.capacity)}"
                for each in others[: max(0, MOST_FACTS - len(decided))]
            ]
            more = len(settings) - len(parts)
        rest = f"; and {more} more" if more > 0 else ""
        return " ".join(
            filter(
                None,
                (
                    f"{capitalised('; '.join(parts))}{rest}{self._most()}.",
                    f"Carried means that {self.kept}.",
                    self._bindings(decided),
                    self._advice_of(others),
                    self._unstated(),
                ),
            )
        )

    def _carries(self, setting: CapacityOfSetting, *, verb: bool = True) -> str:
        name = setting_name(setting.levels)
        carry = ("carry" if is_several(setting.levels) else "carries") if verb else ""
        return " ".join(filter(None, (name, carry, self.short(setting.capacity))))

    def _two(self) -> str:
        """Write two settings with their ratio: the larger first."""
        settings = self.capacities
        known = self.finding.ratios[0] if self.finding.ratios else None
        if known is None or self._differ_in_load(known):
            return "; ".join(self._carries(each) for each in settings)
        one, turned = _larger_first(known.ratio)
        order = (known.baseline, known.candidate) if turned else (known.candidate, known.baseline)
        larger, smaller = (settings[place] for place in order)
        texts = [self._bare(each.capacity) for each in (larger, smaller)]
        carry = "carry" if is_several(larger.levels) else "carries"
        lead = f"{setting_name(larger.levels)} {carry} {self._with_noun(texts[0], larger.capacity)}"
        return f"{lead}, {setting_name(smaller.levels)} {texts[1]}: {_ratio(one, self)}"

    def _with_noun(self, bare: str, capacity: Capacity) -> str:
        """Write the number of the first of two settings with the name of the load."""
        if capacity.word == CapacityWord.CARRIES and self._estimate(capacity) is not None:
            return self.loads.of(bare)
        return self.short(capacity)

    def _bare(self, capacity: Capacity) -> str:
        """Write what is carried without the name of the load."""
        loads, low, high = self.loads, capacity.low, capacity.high
        if capacity.word == CapacityWord.CARRIES and low is not None and high is not None:
            first, middle, last = loads.within(low, self._estimate(capacity), high)
            return middle or f"{first} (fails at {last})"
        if capacity.word == CapacityWord.AT_LEAST and low is not None:
            return f"at least {loads.down(low)}"
        return f"less than {loads.up(high or 0.0)}"

    def _differ_in_load(self, ratio: SettingRatio) -> bool:
        """Return whether the sides differ in another load: these are not ranked either."""
        one, other = (self.capacities[place].levels for place in (ratio.baseline, ratio.candidate))
        return any(one.get(name) != other.get(name) for name in self.finding.others)

    def _most(self) -> str:
        """Say which of three or more settings carries most, where that is decided against every other one."""
        place = most_carried(self.finding)
        if place is None or len(self.capacities) < 3:
            return ""
        levels = self.capacities[place].levels
        if self.answer and any(name in levels for name in self.answer.instruments):
            return ""  # how it is measured is no choice between settings
        return f"; {setting_name(levels)} {'carry' if is_several(levels) else 'carries'} the most"

    def _near_the_most(self) -> str:
        """Name the first of several settings that carries nearly the most."""
        most = self.finding.most
        if most is None:
            return ""
        names = [setting_name(each.levels) for each in self.capacities]
        within = f"{most.within_pct:g} %"
        if most.recommended is not None:
            near, more = most.recommended, max(0, math.ceil(most.more_pct[most.recommended]))
            return (
                f"First setting that carries within {within} of the most: {names[near]}. No other one carries more than"
                f" {more} % more, with {self.confidence} confidence."
            )
        may = [names[place] for place in most.possibly[:MOST_FACTS]]
        more = len(most.possibly) - len(may)
        rest = f" or one of {more} more" if more else ""
        return f"No setting is shown to carry within {within} of the most. It may be carried by {' or '.join(may)}{rest}."

    def _bindings(self, decided: Sequence[CapacityOfSetting]) -> str:
        """Name the conditions that end first, where they differ between settings."""
        names = {each.capacity.binding for each in decided if each.capacity.binding}
        if len(names) < 2:
            return ""
        parts = [
            f"{setting_name(each.levels)}: {self.binding(each.capacity)}"
            for each in decided[:MOST_FACTS]
            if each.capacity.binding
        ]
        return f"What breaks first differs: {'; '.join(parts)}."

    def _advice_of(self, others: Sequence[CapacityOfSetting]) -> str:
        parts = [
            f"For {setting_name(each.levels)}: {advice[:1].lower()}{advice[1:]}"
            for each in others[:MOST_FACTS]
            if (advice := self.advice(each.capacity))
        ]
        return " ".join(parts)

    def facts(self) -> list[Fact]:
        """Return what each of the first settings carries."""
        if not self.has_criterion:
            return []
        return [
            Fact(
                setting_name(each.levels) or "carried",
                self._fact(each.capacity),
                self._note(each.capacity),
            )
            for each in self.capacities[:MOST_FACTS]
        ]

    def _fact(self, capacity: Capacity) -> str:
        low, high = capacity.low, capacity.high
        if capacity.word == CapacityWord.CARRIES and low is not None and high is not None:
            first, middle, _ = self.loads.within(low, self._estimate(capacity), high)
            return self.loads.of(middle or first)
        return self.short(capacity)

    def _note(self, capacity: Capacity) -> str:
        low, high = capacity.low, capacity.high
        if capacity.word == CapacityWord.CARRIES and low is not None and high is not None:
            first, middle, last = self.loads.within(low, self._estimate(capacity), high)
            span = f"{first} to {last}" if middle else f"fails at {last}"
            return f"{span}, {self.confidence}"
        return self.binding(capacity)

    def badges(self) -> list[Display]:
        """Return what is carried as a badge, of several settings how many have which word."""
        if not self.has_criterion:
            return [Display("no criterion", "thin", "info", "open")]
        settings = self.capacities
        if len(settings) == 1:
            capacity = settings[0].capacity
            label = WORDS[capacity.word]
            if capacity.word in DECIDED:
                what = f"carries {self._fact(capacity)}"
                return [replace(label, word=what)]
            return [replace(label, word=f"capacity: {label.word}")]
        counts = Counter(each.capacity.word for each in settings)
        return [
            replace(WORDS[word], word=f"{WORDS[word].word}: {count} of {len(settings)}")
            for word, count in counts.items()
        ]

    def statements(self) -> list[Statement]:
        """Return a sentence for each setting, each ratio and each safe load."""
        if not self.has_criterion:
            return []
        lines = []
        for each in self.capacities if len(self.capacities) > 1 else ():
            name, text = setting_name(each.levels), self.sentence(each)
            lines.append(
                Statement(
                    WORDS[each.capacity.word].tone,
                    f"{capitalised(name)}: {text[:1].lower()}{text[1:]}",
                )
            )
        for ratio in self.finding.ratios:
            if not self._differ_in_load(ratio):
                of = self.ratio(ratio)
                lines.append(
                    Statement(
                        of.label.tone,
                        f"{capitalised(of.larger)} against {of.smaller}: {of.text}.",
                    )
                )
        if most := self._near_the_most():
            lines.append(Statement("info", most))
        for each in self.capacities:
            if safe := self.safe_load(each.capacity):
                name = f" of {setting_name(each.levels)}" if each.levels else ""
                lines.append(
                    Statement(
                        "info",
                        f"Safe load{name}: {safe}. There a single further run keeps every condition with {self.confidence} confidence.",
                    )
                )
        return lines

    @property
    def tone(self) -> str:
        """The tone of the answer."""
        words = {each.capacity.word for each in self.capacities}
        if not self.has_criterion:
            return "info"
        return WORDS[words.pop()].tone if len(words) == 1 else "info"


def answer_of_capacity(answer: Answer, finding: CapacityFinding) -> AnswerText:
    """Compose the answer of what is carried."""
    words = CapacityWords(finding, answer)
    return AnswerText(
        sentence=words.headline(),
        tone=words.tone,
        badges=words.badges(),
        facts=words.facts(),
        statements=words.statements(),
    )


def _upper_share(value: float) -> str:
    """Write an upper bound of a share, rounded up to a tenth of a percent."""
    tenths = -(-round(1000 * value, 9) // 1)
    return share(min(1.0, tenths / 1000))


def _advice(advice: Advice, loads: LoadWords) -> str:
    if advice.loads:
        between = loads.all_of([loads.down(each) for each in advice.loads])
        return f"Measure {between} in between."
    if advice.blocks:
        about = "About " if advice.rough else ""
        text = f"{about}{counted(advice.blocks, 'more block')} would decide."
        return capitalised(text)
    return ""


def _larger_first(ratio: CapacityRatio) -> tuple[CapacityRatio, bool]:
    """Turn a ratio below 1 around, so that the larger capacity is named first."""
    known = ratio.ratio
    if known is None:
        turned = ratio.high is not None and ratio.high <= 1 and (ratio.low or 0.0) < 1
    else:
        turned = known < 1
    if not turned:
        return ratio, False
    return (
        replace(
            ratio,
            ratio=1 / known if known else None,
            low=1 / ratio.high if ratio.high else None,
            high=1 / ratio.low if ratio.low else None,
        ),
        True,
    )


def _ratio(ratio: CapacityRatio, words: CapacityWords) -> str:
    """Write a ratio whose larger side comes first."""
    many, margin = words.loads.as_many, plain_percent(words.finding.margin_pct)
    if ratio.word == Word.NOT_COMPARABLE:
        return "not comparable"
    low, high = ratio.low, ratio.high
    if ratio.ratio is None or ratio.bounds_only:
        return _bounded(low, high, many)
    middle, span = times(ratio.ratio, low, high)
    match ratio.word:
        case Word.BETTER | Word.WORSE:
            return f"{middle} times {many} ({span})"
        case Word.EQUIVALENT:
            return f"{many} within {margin} ({span} times)"
        case Word.NO_DIFFERENCE_SHOWN:
            return f"no difference shown ({span} times {many})"
    return f"not enough data to compare them ({span} times {many})" if span else "not enough data"


def _bounded(low: float | None, high: float | None, many: str) -> str:
    if low is None and high is None:
        return "not enough data to compare them"
    if low is not None and high is not None:
        if low > 1:
            first, last = _ends(low, high)
            return f"between {first} and {last} times {many}"
        first, last = _ends(low, high)
        return f"which carries more is not decided ({first} to {last} times {many})"
    if low is not None:
        first, _ = _ends(low, low)
        return f"at least {first} times {many}"
    _, last = _ends(high or 0.0, high or 0.0)
    return f"at most {last} times {many}"


def times(ratio: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Write a ratio and its interval, the low end rounded down and the high one up."""
    if low is None or high is None:
        return number(ratio, 2), ""
    first, last = _ends(low, high)
    places = max(len(each.partition(".")[2]) for each in (first, last))
    return f"{ratio:,.{places}f}", f"{first} to {last}"


def _ends(low: float, high: float) -> tuple[str, str]:
    """Write both ends with the decimals that their distance calls for, and that keep each on its side of 1."""
    first, last = Decimal(f"{low:.{BOUND_DIGITS}g}"), Decimal(f"{high:.{BOUND_DIGITS}g}")
    down, up = first, last
    for places in range(1, MOST_DIGITS):
        step = Decimal(1).scaleb(-places)
        down, up = first.quantize(step, ROUND_FLOOR), last.quantize(step, ROUND_CEILING)
        sides = (first <= 1 or down > 1) and (last >= 1 or up < 1)
        if sides and down > 0 and (first == last or up - down <= 2 * (last - first)):
            break
    return decimal_text(down), decimal_text(up)


def _ratio_label(ratio: CapacityRatio, finding: CapacityFinding) -> Display:
    """Return how the verdict of candidate to baseline is shown."""
    match ratio.word:
        case Word.BETTER:
            return Display("carries more", "better", "up", "solid")
        case Word.WORSE:
            return Display("carries fewer", "worse", "down", "solid")
        case Word.EQUIVALENT:
            within = plain_percent(finding.margin_pct)
            return Display(f"as many within {within}", "equal", "approx", "solid")
        case Word.NO_DIFFERENCE_SHOWN:
            return Display("no difference shown", "thin", "ring", "outline")
        case Word.NOT_COMPARABLE:
            return Display("not comparable", "thin", "no", "outline")
    return Display("not enough data", "thin", "dots", "open")
