"""What is carried as the answer of a campaign, and as everything that is said of it. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.findings.most_carried import DECIDED, most_carried
from campaigns.findings.values import (
    Answer,
    CapacityFinding,
    CapacityOfSetting,
    SettingRatio,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
)
from campaigns.findings.wording.capacity import (
    WORDS,
    CapacityText,
    CapacityWords,
    RatioText,
)
from campaigns.findings.wording.capacity_ratio import larger_first, ratio_text
from campaigns.findings.wording.loads import is_several, setting_name
from campaigns.findings.wording.verdicts import Display
from campaigns.stats.capacity import (
    Capacity,
    CapacityWord,
)

NO_CRITERION = "No criterion was set, so what is carried is not stated."
ASK_FOR_ONE = "State one, such as an upper limit of a percentile, to learn what is carried."
CANCELLED = "The campaign was cancelled, so this rests on fewer runs than planned."
UNSTATED = f"No criterion was set. {ASK_FOR_ONE}"
"""Where the failure limit stands in for a criterion, and nothing follows from it."""


@dataclass(frozen=True, slots=True)
class CapacityTexts:
    """What settings carry. conditions: what “carried” means; settings, ratios: in the order of the finding."""

    sentence: str
    conditions: str
    settings: Sequence[CapacityText]
    ratios: Sequence[RatioText]


def capacity_texts(finding: CapacityFinding, answer: Answer | None = None) -> CapacityTexts:
    """Return everything that is said of what is carried. answer: with the values of the cells."""
    words = CapacityAnswer(finding, answer)
    return CapacityTexts(
        words.headline(),
        words.kept,
        [words.text(each) for each in finding.settings],
        [words.ratio(each) for each in finding.ratios],
    )


class CapacityAnswer(CapacityWords):
    """Writes what is carried by all settings together."""

    def headline(self) -> str:
        """Return what is carried, of one setting or of several."""
        settings = self.capacities
        if not settings:
            return ""
        text = self._of_one(settings[0]) if len(settings) == 1 else self._of_several()
        return f"{text} {CANCELLED}" if self.cancelled else text

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
        one, turned = larger_first(known.ratio)
        order = (known.baseline, known.candidate) if turned else (known.candidate, known.baseline)
        larger, smaller = (settings[place] for place in order)
        texts = [self._bare(each.capacity) for each in (larger, smaller)]
        carry = "carry" if is_several(larger.levels) else "carries"
        lead = f"{setting_name(larger.levels)} {carry} {self._with_noun(texts[0], larger.capacity)}"
        ratio = ratio_text(one, self.loads.as_many, self.finding.margin_pct)
        both_carry = all(each.capacity.word == CapacityWord.CARRIES for each in settings)
        if known.ratio.reason == "no_bound" and both_carry:
            # Each side of a ratio is bounded with half of the error.
            ratio += "; a bound of their ratio takes more blocks"
        name = setting_name(smaller.levels)
        verb = (
            " carries" if name[-1:].isdigit() else ""
        )  # else two numbers would stand side by side
        return f"{lead}, {name}{verb} {texts[1]}: {ratio}"

    def _with_noun(self, bare: str, capacity: Capacity) -> str:
        """Write the number of the first of two settings with the name of the load."""
        if capacity.word == CapacityWord.CARRIES and self.estimate(capacity) is not None:
            return self.loads.of(bare)
        return self.short(capacity)

    def _bare(self, capacity: Capacity) -> str:
        """Write what is carried without the name of the load."""
        loads, low, high = self.loads, capacity.low, capacity.high
        if capacity.word == CapacityWord.CARRIES and low is not None and high is not None:
            first, middle, last = loads.within(low, self.estimate(capacity), high)
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
            if (advice := self.advice(each))
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
            first, middle, _ = self.loads.within(low, self.estimate(capacity), high)
            return self.loads.of(middle or first)
        return self.short(capacity)

    def _note(self, capacity: Capacity) -> str:
        low, high = capacity.low, capacity.high
        if capacity.word == CapacityWord.CARRIES and low is not None and high is not None:
            first, middle, last = self.loads.within(low, self.estimate(capacity), high)
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
                if of.remark:
                    pair = f"{of.larger} against {of.smaller}"
                    lines.append(Statement("warn", f"{capitalised(pair)} {of.remark}."))
        if most := self._near_the_most():
            lines.append(Statement("info", most))
        for each in self.capacities:
            if each.without and each.without.changes:
                name = setting_name(each.levels) or "what is carried"
                lines.append(Statement("warn", f"{capitalised(name)} {self.without_blocks(each)}."))
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
    words = CapacityAnswer(finding, answer)
    return AnswerText(
        sentence=words.headline(),
        tone=words.tone,
        badges=words.badges(),
        facts=words.facts(),
        statements=words.statements(),
    )
