"""What is carried, in words: of one setting, of several, and their ratios. Pure.

Load is never ranked: no sentence here says of one load that it is better than another.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose

from campaigns.findings.values import (
    Answer,
    CapacityFinding,
    CapacityOfSetting,
    ConditionTerms,
    SettingRatio,
    SummarisedCell,
    WithoutBlocks,
    WordWithout,
)
from campaigns.findings.wording.answer_text import (
    capitalised,
)
from campaigns.findings.wording.capacity_ratio import larger_first, ratio_label, ratio_text
from campaigns.findings.wording.cells import centre_of
from campaigns.findings.wording.loads import LoadWords, setting_name
from campaigns.findings.wording.targets import also_differs
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import DIGITS, amount, bound, counted, grouped, number, share
from campaigns.stats.capacity import (
    Advice,
    Capacity,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
)

FEWEST_BLOCKS = 3
PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)|(\d+)(?:st|nd|rd|th) percentile")
"""How labels of metrics end; those of earlier versions, which are stored, are written out."""
SAME = 0.05
"""Values whose ratio is within this of 1 are “about that of”."""
MOST_DIGITS = 6
ROUNDING = 1e-12
"""Values nearer to a limit than this are at it: they differ by how they were computed."""
SHARE = "share"
AT_LEAST = "at least"
LONGER = "Measure longer, or judge by the mean."
WORDS: Mapping[CapacityWord, Display] = {
    CapacityWord.BETWEEN: Display("between two loads", "info", "check", "solid"),
    CapacityWord.AT_LEAST: Display("at least", "info", "check", "outline"),
    CapacityWord.FEWER_THAN: Display("fewer than", "warn", "down", "outline"),
    CapacityWord.NOT_MONOTONE: Display("not monotone", "warn", "warn", "outline"),
    CapacityWord.NOT_ENOUGH_DATA: Display("not enough data", "thin", "dots", "open"),
}
HELD: Mapping[Held, Display] = {
    Held.HELD: Display("holds", "info", "check", "solid"),
    Held.FAILED: Display("fails", "fail", "x", "solid"),
    Held.UNDECIDED: Display("undecided", "thin", "ring", "outline"),
    Held.NOT_CONTRADICTED: Display("not contradicted", "thin", "info", "open"),
    Held.NOT_MEASURED: Display("not measured", "thin", "dots", "open"),
}
"""The decision on a load, in the same words wherever it is told."""
BADGES = {
    "interpolated": "by the line between neighbouring loads",
    "levels_only": "no line: loads judged one by one",
    "two_loads": "two loads only: a bend between them is not seen",
    "rough_interval": "few blocks: rough interval",
    "clumped_failures": "failures come in few runs: their interval is too narrow",
    "own_noise": "a load is judged by the noise of its own runs",
}


@dataclass(frozen=True, slots=True)
class CapacityText:
    """What one setting carries. short: for a table; about: by the line, unclaimed; advice: what would narrow it.

    binding: the condition that ends it first. not_contradicted: shares that nothing decides.
    """

    setting: str
    short: str
    sentence: str
    label: Display
    advice: str
    binding: str
    safe_load: str
    remarks: Sequence[str]
    about: str = ""
    not_contradicted: str = ""


@dataclass(frozen=True, slots=True)
class RatioText:
    """The ratio of two capacities. larger, smaller: names of settings, in this order where the ratio is written.

    also: what else differs between two targets, the larger one first. remark: the single blocks on which the word rests.
    """

    larger: str
    smaller: str
    text: str
    label: Display
    also: str = ""
    remark: str = ""


def kept(condition: ConditionTerms) -> str:
    """Write that a condition is kept: “p95 of a registration stays within 3:00 min”, “at most 5 % fail”."""
    if condition.metric:
        what = subject(condition)
        if condition.at_least is not None:
            return f"{what} stays at {bound(condition.at_least, condition.unit)} or more"
        return f"{what} stays within {bound(condition.at_most, condition.unit)}"
    return f"at most {bound(condition.failed_share, SHARE)} fail"


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
        return f"p{percentile[1] or percentile[2]} of the {inside(what)}"
    return inside(label)


def beside_limit(value: float, limit: float | None, unit: str, fewest: int = DIGITS) -> str:
    """Write a value with enough digits that it does not look like the limit, above or below which it is."""
    if limit is None:
        return _with(fewest, value, unit)
    if isclose(value, limit, rel_tol=ROUNDING):
        return bound(limit, unit)
    for digits in range(fewest, MOST_DIGITS + 1):
        text = _with(digits, value, unit)
        if text != _with(digits, limit, unit):
            return text
    return f"just {'above' if value > limit else 'below'} {bound(limit, unit)}"


def _with(digits: int, value: float, unit: str) -> str:
    return share(value, digits - 2) if unit == SHARE else amount(value, unit, digits)


def reached(condition: ConditionTerms, state: LoadState) -> str:
    """Write what a condition is at one load: “p95 of a registration is 7:00 min”, “42 % fail”; empty where there is no value."""
    limit = condition.at_most if condition.at_most is not None else condition.at_least
    if condition.metric and not condition.as_share:
        if state.value is None:
            return ""
        return f"{subject(condition)} is {beside_limit(state.value, limit, condition.unit)}"
    if state.share is None:
        return ""
    failing = beside_limit(state.share, condition.failed_share, SHARE)
    if not condition.metric:
        return f"{failing} fail"
    longer = "" if limit is None else f" take longer than {bound(limit, condition.unit)} or"
    return f"{failing}{longer} fail"


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
            advice=self.advice(setting),
            binding=self.binding(capacity),
            safe_load=self.safe_load(capacity),
            remarks=[
                *(BADGES.get(each, each.replace("_", " ")) for each in capacity.badges),
                *filter(None, [self.without_blocks(setting)]),
            ],
            about=self.about(capacity),
            not_contradicted=self.not_contradicted(setting),
        )

    def without_blocks(self, setting: CapacityOfSetting) -> str:
        """Return what leaving out any one block changes; empty where it was not tried."""
        rest, loads = setting.without, self.loads
        if rest is None:
            return ""
        if rest.changes:
            words = {key: self._changed(each) for each in rest.changes for key in [_key(each)]}
            return _without(rest, words)
        if not rest.tried:
            return ""
        text = f"no single block of {rest.of} changes this"
        if rest.lowest is None or rest.highest is None or not setting.capacity.by_line:
            return text
        first, _, last = loads.within(rest.lowest, None, rest.highest)
        numbers = loads.of(first if first == last else f"{first} to {last}")
        return f"{text}: without any one it is {numbers}"

    def _changed(self, without: WordWithout) -> str:
        """Write what is carried without one block."""
        return self.claim(CapacityWord(without.word), without.low, without.high, by_line=False)

    def short(self, capacity: Capacity) -> str:
        """Return what is claimed in few words: “at least 100 hosts, fewer than 200”, “139 to 152 hosts”."""
        # Findings of before have an estimate where the interval of the line was claimed.
        by_line = capacity.by_line or capacity.estimate is not None
        return self.claim(capacity.word, capacity.low, capacity.high, by_line=by_line)

    def claim(
        self, word: CapacityWord, low: float | None, high: float | None, *, by_line: bool
    ) -> str:
        """Write a word with its bounds."""
        loads = self.loads
        if word == CapacityWord.BETWEEN and low is not None and high is not None:
            if by_line:
                first, _, last = loads.within(low, None, high)
                return loads.of(first if first == last else f"{first} to {last}")
            return f"at least {loads.of(loads.down(low))}, {loads.fewer_than} {loads.up(high)}"
        if word == CapacityWord.AT_LEAST and low is not None:
            return f"at least {loads.of(loads.down(low))}"
        if word == CapacityWord.FEWER_THAN and high is not None:
            return loads.below(loads.up(high))
        return WORDS[word].word

    def led(self, capacity: Capacity) -> str:
        """Write the bound that a headline of several names, with the name of the load: “at least 100 hosts”, “139 to 152 hosts”."""
        loads, low, high = self.loads, capacity.low, capacity.high
        if low is not None and not capacity.by_line:
            return f"at least {loads.of(loads.down(low))}"
        if low is None and high is not None:
            return loads.below(loads.up(high))
        return self.short(capacity)

    def bare(self, capacity: Capacity) -> str:
        """Write what is claimed beside that of another setting, shortly and without the name of the load."""
        loads, low, high = self.loads, capacity.low, capacity.high
        if capacity.by_line and low is not None and high is not None:
            first, _, last = loads.within(low, None, high)
            return first if first == last else f"{first} to {last}"
        if low is not None:
            return f"at least {loads.down(low)}"
        if high is not None:
            return f"{loads.fewer_than} {loads.up(high)}"
        return WORDS[capacity.word].word

    def about(self, capacity: Capacity) -> str:
        """Return where the line crosses the limit, which is not claimed; empty where it is, or where there is none."""
        low, high, about = capacity.low, capacity.high, capacity.about
        if about is None or capacity.by_line:
            return ""
        if (low is not None and about < low) or (high is not None and about > high):
            return ""
        return f"about {self.loads.of(self.loads.down(about, 2))}"

    def sentence(self, setting: CapacityOfSetting) -> str:
        """Return what one setting carries, in one sentence, without its name."""
        capacity = setting.capacity
        if capacity.word == CapacityWord.NOT_MONOTONE:
            return self._not_monotone(setting)
        if capacity.word == CapacityWord.NOT_ENOUGH_DATA:
            return f"What is carried is not shown: {self.why_not(capacity)}."
        return f"Carries {self.short(capacity)}{self._at_end_of_loads(capacity)}."

    def _at_end_of_loads(self, capacity: Capacity) -> str:
        """Say that a bound is the highest, or the lowest load that was measured."""
        if capacity.word == CapacityWord.AT_LEAST and capacity.low == capacity.highest:
            return f", {self.loads.highest}"
        if capacity.word == CapacityWord.FEWER_THAN and capacity.high == capacity.lowest:
            return f", {self.loads.lowest}"
        return ""

    def details(self, setting: CapacityOfSetting) -> list[str]:
        """Return further sentences on one setting: certainty first, then what is not claimed, and what happens at the end."""
        capacity = setting.capacity
        about = self.about(capacity)
        return [
            *filter(
                None,
                (
                    self.certainty(setting),
                    self._undecided(setting),
                    self.not_contradicted(setting),
                    f"By the line between loads it is {about}, which is not claimed."
                    if about
                    else "",
                    self._first_to_break(capacity),
                    self.at_end(setting),
                ),
            )
        ]

    def certainty(self, setting: CapacityOfSetting) -> str:
        """Return what the claim rests on, and what would narrow it."""
        capacity, advice = setting.capacity, self.advice(setting)
        runs = sum(each.runs for each in setting.cells)
        if capacity.word in (CapacityWord.NOT_MONOTONE, CapacityWord.NOT_ENOUGH_DATA) or not runs:
            return advice
        text = f"{capitalised(self.kept)}: {self.confidence}, {counted(runs, 'run')}."
        return f"{text} {advice}".strip()

    def _undecided(self, setting: CapacityOfSetting) -> str:
        """Name the loads that neither hold nor fail, of those that bound what is claimed."""
        capacity = setting.capacity
        if capacity.word in (CapacityWord.NOT_MONOTONE, CapacityWord.NOT_ENOUGH_DATA):
            return ""
        low, high = capacity.low or 0.0, capacity.high or float("inf")
        open_ones = [
            self.loads.down(each.load)
            for each in setting.cells
            if each.held == Held.UNDECIDED and low < each.load < high
        ]
        if not open_ones or capacity.by_line:
            return ""
        be = "is" if len(open_ones) == 1 else "are"
        named = _listed(open_ones[:MOST_LOADS], len(open_ones) - MOST_LOADS)
        return f"{capitalised(self.loads.of(named))} {be} undecided."

    def not_contradicted(self, setting: CapacityOfSetting) -> str:
        """Say once what shares show that have no failure and too few units: “0 of 75 failed; at most 9.3 % is shown”."""
        for one in setting.capacity.conditions:
            condition = self.conditions.get(one.name)
            states = [each for each in one.loads if each.state == Held.NOT_CONTRADICTED]
            known = [each for each in states if each.share_interval]
            if condition is None or not known:
                continue
            last = known[-1]
            upper = last.share_interval[1] if last.share_interval else 1.0
            limit = condition.failed_share if not condition.metric else None
            what = "failed" if not condition.metric else f"broke the limit of {subject(condition)}"
            of = f"0 of {counted(last.units, 'unit')}" if last.units else "None"
            text = (
                f"{of} {what} at {self.loads.of(self.loads.down(last.load))}; "
                f"at most {_upper_share(upper)} is shown"
            )
            return f"{text}, and the limit is {bound(limit, SHARE)}." if limit else f"{text}."
        return ""

    def _not_monotone(self, setting: CapacityOfSetting) -> str:
        """Return the first two loads that contradict each other."""
        loads, capacity = self.loads, setting.capacity
        reversed_ = [
            (self.conditions.get(each.name), pair)
            for each in capacity.conditions
            for pair in each.not_monotone
        ]
        fails = min((each.load for each in setting.cells if each.held == Held.FAILED), default=None)
        holds = max((each.load for each in setting.cells if each.held == Held.HELD), default=None)
        if fails is not None and holds is not None and fails < holds:
            one, other = loads.of(loads.down(fails)), loads.down(holds)
            return (
                f"Not monotone: {one} fail and {other} hold, so no number is made of it."
                if (loads.is_counted)
                else f"Not monotone: {one} fails and {other} holds, so no number is made of it."
            )
        if not reversed_:
            return "Not monotone, so no number is made of it."
        condition, (one_load, other_load) = reversed_[0]
        at = f"at {loads.of(loads.down(one_load))} than at {loads.down(other_load)}"
        if condition is None or not condition.metric or condition.as_share:
            return f"Not monotone: more fail {at}, so no number is made of it."
        way = "lower" if condition.at_least is not None else "higher"
        return f"Not monotone: {subject(condition)} is {way} {at}, so no number is made of it."

    def look_at_runs(self, capacity: Capacity) -> str:
        """Return what to do where loads contradict one another; empty elsewhere."""
        if capacity.word != CapacityWord.NOT_MONOTONE:
            return ""
        text = "Look at the runs before a number is made of it."
        if any(
            condition.at_least is not None
            for each in capacity.conditions
            if (condition := self.conditions.get(each.name))
        ):
            text += " Where it grows with the load, as throughput does, limit a time or failures instead."
        return text

    def why_not(self, capacity: Capacity) -> str:
        """Return why nothing can be stated of what is carried."""
        noun = self.loads.noun if self.loads.is_counted else "loads"
        match capacity.reason:
            case "blocks":
                return f"there {'is' if capacity.blocks == 1 else 'are'} {counted(capacity.blocks, 'block')}, and it takes at least {FEWEST_BLOCKS}"
            case "loads":
                return "fewer than two loads were measured"
            case "not_connected":
                return "no block holds several loads, so loads and time cannot be told apart"
            case "lost_runs":
                return self._too_few_samples() or "too many runs have no value"
            case "invalid_values":
                return self._without_log(capacity)
        which = f"no number of {noun}" if self.loads.is_counted else "no load"
        return f"{which} is shown to hold or to fail"

    def _too_few_samples(self) -> str:
        """Return how many samples the percentile takes; empty where runs have no value for another reason."""
        answer = self.answer
        if not answer or not answer.unobserved or answer.values_needed is None:
            return ""
        runs = f"{counted(answer.unobserved, 'run')} {'has' if answer.unobserved == 1 else 'have'}"
        return f"{runs} fewer than the {grouped(answer.values_needed)} samples that {metric_phrase(answer.label)} takes"

    def _without_log(self, capacity: Capacity) -> str:
        """Name the first condition whose values have no logarithm."""
        names = [each.name for each in capacity.conditions if each.reason == "invalid_values"]
        condition = self.conditions.get(names[0]) if names else None
        what = subject(condition) if condition and condition.metric else ""
        return (
            f"a value of {what} is zero, negative or no number" if what else "a count is no number"
        )

    @property
    def cancelled(self) -> bool:
        """Whether the campaign was cancelled, so that no further block of it can decide anything."""
        return self.finding.cancelled or bool(self.answer and self.answer.cancelled)

    def advice(self, setting: CapacityOfSetting) -> str:
        """Return what would decide; empty where there is no advice, or no campaign to extend."""
        capacity, confirmation = setting.capacity, setting.confirmation
        if self.cancelled:
            return ""
        if setting.capacity.reason == "lost_runs" and self._too_few_samples():
            return LONGER
        short = capacity.is_wide or capacity.word == CapacityWord.NOT_ENOUGH_DATA
        if confirmation and short:
            if confirmation.between:
                return (
                    "Another session would narrow it; more blocks in the same sessions would not."
                )
            if confirmation.reason == "sessions_disagree":
                sessions = "Both" if confirmation.sessions == 2 else "The"
                return f"{sessions} sessions disagree, so another session would decide; more blocks in these would not."
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
        numbers = (CapacityWord.BETWEEN, CapacityWord.FEWER_THAN)
        if len(self.conditions) < 2 or condition is None or capacity.word not in numbers:
            return ""
        verb = "break" if not condition.metric else "breaks"
        return f"{capitalised(subject(condition))} {verb} first."

    def at_end(self, setting: CapacityOfSetting) -> str:
        """Return what happens at the highest load, or at the lowest one where that fails."""
        capacity = setting.capacity
        if capacity.word == CapacityWord.AT_LEAST or not self.has_criterion:
            return self.curve(setting, there=capacity.low == capacity.highest)
        if capacity.word not in (CapacityWord.BETWEEN, CapacityWord.FEWER_THAN):
            return self.curve(setting)
        first = capacity.word == CapacityWord.FEWER_THAN
        condition, own = self._binding_of(capacity)
        states = [each for each in own.loads if each.state != Held.NOT_MEASURED] if own else []
        if condition is None or not states:
            return self.curve(setting)
        state = (min if first else max)(states, key=lambda each: each.load)
        text = reached(condition, state)
        if text[:1].isdigit() and self._is_cut_short(setting, state.load):
            text = f"{AT_LEAST} {text}"
        at = f"At {self.loads.of(self.loads.down(state.load))}"
        if not text:
            return self._failed_at(setting, state.load)
        if text[:1].isdigit() or text.startswith(AT_LEAST):
            at += ","
        return f"{at} {text}."

    @staticmethod
    def _is_cut_short(setting: CapacityOfSetting, load: float) -> bool:
        """Return whether runs at a load ended before all that would have failed had failed."""
        return any(each.cut_short for each in setting.cells if each.load == load)

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
        least = f"{AT_LEAST} " if self._is_cut_short(setting, load) else ""
        return f"{at}, {least}{failing} of the work failed."

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
        one, turned = larger_first(ratio.ratio)
        larger, smaller = reversed(names) if turned else names
        margin = self.finding.margin_pct
        text = ratio_text(one, self.loads.as_many, margin)
        sides = [
            self.capacities[place].levels.get(ratio.factor)
            for place in (ratio.baseline, ratio.candidate)
        ]
        told = self.answer.targets if self.answer else None
        also = also_differs(told, ratio.factor, *(sides if turned else reversed(sides)))
        rest = ratio.without
        words = {
            _key(each): ratio_label(replace(ratio.ratio, word=each.word), margin).word
            for each in (rest.changes if rest else ())
        }
        remark = _without(rest, words) if rest and rest.changes else ""
        return RatioText(larger, smaller, text, ratio_label(ratio.ratio, margin), also, remark)


MOST_BLOCKS = 3
"""Blocks that are named one by one."""
MOST_LOADS = 3
Changed = tuple[str, float | None, float | None]
"""The word and the bounds of what is carried without a block."""


def _key(without: WordWithout) -> Changed:
    return without.word, without.low, without.high


def _listed(texts: Sequence[str], more: int) -> str:
    """Write several: “100, 200 and 3 more”."""
    if more > 0:
        return f"{', '.join(texts)} and {more} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _without(rest: WithoutBlocks, words: Mapping[Changed, str]) -> str:
    """Write the blocks without which the word is another one: “without block 2 or 5 of 6: at least 100 hosts”."""
    parts = []
    for key, text in words.items():
        blocks = [str(each.block) for each in rest.changes if _key(each) == key]
        more = f" or one of {len(blocks) - MOST_BLOCKS} more" if len(blocks) > MOST_BLOCKS else ""
        parts.append(f"without block {' or '.join(blocks[:MOST_BLOCKS])}{more}: {text}")
    return f"rests on single blocks of {rest.of}: {'; '.join(parts)}"


def _upper_share(value: float) -> str:
    """Write an upper bound of a share, rounded up to a tenth of a percent."""
    tenths = -(-round(1000 * value, 9) // 1)
    return share(min(1.0, tenths / 1000))


def _advice(advice: Advice, loads: LoadWords) -> str:
    if advice.loads:
        named = _listed([loads.down(each) for each in advice.loads[:MOST_LOADS]], 0)
        return f"Measure {loads.of(named)} to narrow it."
    if advice.blocks:
        about = "about " if advice.rough else ""
        return capitalised(f"{about}{counted(advice.blocks, 'more block')} would narrow it.")
    return ""
