"""What is carried as the answer of a campaign, and as everything that is said of it. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
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
    first_short,
    is_short,
)
from campaigns.findings.wording.capacity import (
    WORDS,
    CapacityText,
    CapacityWords,
    RatioText,
)
from campaigns.findings.wording.capacity_ratio import larger_first, ratio_in_headline
from campaigns.findings.wording.loads import is_several, setting_name
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.numbers import counted
from campaigns.stats.capacity import (
    Capacity,
    CapacityWord,
)

NO_CRITERION = "No criterion was set, so what is carried is not stated."
ASK_FOR_ONE = "State one, such as an upper limit of a percentile, to learn what is carried."
CANCELLED = "The campaign was cancelled, so this rests on fewer runs than planned."
MANY = "What is carried differs between settings; the table has it."
CARRIES = "Carries"
MOST_LISTED = 3


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
        """Return what is carried as a verdict of one sentence, of one setting or of several; `statements` has the rest."""
        settings = self.capacities
        if not settings:
            return ""
        if not self.has_criterion or self._shows_nothing():
            return self._of_none() if self.finding.stated else self._without_criterion()
        return self._of_one(settings[0]) if len(settings) == 1 else self._of_several()

    def _shows_nothing(self) -> bool:
        """Return whether no setting has a bound, and no reason but that nothing is shown."""
        capacities = [each.capacity for each in self.capacities]
        return all(each.reason == "no_bound" and each.word not in DECIDED for each in capacities)

    @property
    def _asks_for_one(self) -> bool:
        """Whether nobody said what “carried” means, and the failure limit shows nothing either: then the curve is what is known."""
        return not self.has_criterion or (not self.finding.stated and self._shows_nothing())

    def _without_criterion(self) -> str:
        what = (
            f"how many {self.loads.noun} are"
            if self.loads.is_counted
            else f"what {self.loads.noun} is"
        )
        return f"No criterion was set, so {what} carried is not stated."

    def _of_none(self) -> str:
        """Return that no load is decided, of any setting."""
        return f"What is carried is not shown: {self.why_not(self.capacities[0].capacity)}."

    def _of_one(self, setting: CapacityOfSetting) -> str:
        text = self.sentence(setting)
        if not setting.levels:
            target = self.answer.target if self.answer else ""
            led = f"{target} {text[:1].lower()}{text[1:]}"
            return led if target and text.startswith(CARRIES) and is_short(led) else text
        name = capitalised(setting_name(setting.levels))
        if text.startswith(CARRIES):
            carry = "carry" if is_several(setting.levels) else "carries"
            led = f"{name} {carry}{text.removeprefix(CARRIES)}"
        else:
            led = f"{name}: {text[:1].lower()}{text[1:]}"
        return led if is_short(led) else text

    def _of_several(self) -> str:
        """Return the first of these that is short enough: with the ratio, without it, without what carries less."""
        return first_short((*self._said(), MANY))

    def _said(self) -> Iterator[str]:
        decided = [each for each in self.capacities if each.capacity.word in DECIDED]
        if not decided:
            names = {each.capacity.word for each in self.capacities}
            if names == {CapacityWord.NOT_MONOTONE}:
                yield "What is carried is not shown: the loads of each setting contradict each other."
            yield f"What is carried is not shown of any of {len(self.capacities)} settings."
            return
        two = self._two() if len(self.capacities) == 2 else None
        if two:
            yield from two
        ordered = sorted(decided, key=lambda each: -(each.capacity.low or 0.0))
        most = self._most()
        if most is not None:
            rest = len(self.capacities) - 1
            yield f"{self._carries(most)}, the most of {rest + 1} settings."
        others = [each for each in self.capacities if each.capacity.word not in DECIDED]
        if len(ordered) <= MOST_LISTED:
            unknown = f"; {self._unknown(others)}" if others else ""
            yield f"{self._all(ordered)}{unknown}."
        yield f"{self._all(ordered[:2])}{_in_table(len(self.capacities) - min(2, len(ordered)))}."
        yield f"{self._carries(ordered[0])}{_in_table(len(self.capacities) - 1)}."

    def _all(self, settings: Sequence[CapacityOfSetting]) -> str:
        """Write several with the noun once: “4 workers carry at least 100 hosts, 2 workers at least 50”."""
        first, *rest = settings
        return ", ".join([self._carries(first), *map(self._next, rest)])

    def _unknown(self, others: Sequence[CapacityOfSetting]) -> str:
        if len(others) > 1:
            return f"{len(others)} settings are not decided"
        (one,) = others
        return f"{setting_name(one.levels)}: {WORDS[one.capacity.word].word}"

    def _carries(self, setting: CapacityOfSetting) -> str:
        """Write the first setting of a sentence, with the name of the load."""
        name = capitalised(setting_name(setting.levels))
        carry = "carry" if is_several(setting.levels) else "carries"
        return f"{name} {carry} {self.led(setting.capacity)}"

    def _next(self, setting: CapacityOfSetting) -> str:
        name, bare = setting_name(setting.levels), self.bare(setting.capacity)
        verb = " carries" if name[-1:].isdigit() and bare[:1].isdigit() else ""
        return f"{name}{verb} {bare}"  # else two numbers would stand side by side

    def _two(self) -> list[str]:
        """Write two settings with their ratio, the larger first, and without it; empty where one has no bound."""
        settings = self.capacities
        if any(each.capacity.word not in DECIDED for each in settings):
            return []
        known = self.finding.ratios[0] if self.finding.ratios else None
        if known is None or self._differ_in_load(known):
            return [f"{self._all(settings)}."]
        one, turned = larger_first(known.ratio)
        order = (known.baseline, known.candidate) if turned else (known.candidate, known.baseline)
        text = self._all([settings[place] for place in order])
        ratio = ratio_in_headline(one, self.loads.as_many, self.finding.margin_pct)
        return [*([f"{text}: {ratio}."] if ratio else []), f"{text}."]

    def _differ_in_load(self, ratio: SettingRatio) -> bool:
        """Return whether the sides differ in another load: these are not ranked either."""
        one, other = (self.capacities[place].levels for place in (ratio.baseline, ratio.candidate))
        return any(one.get(name) != other.get(name) for name in self.finding.others)

    def _most(self) -> CapacityOfSetting | None:
        """Return which of three or more settings carries most, where that is decided against every other one."""
        place = most_carried(self.finding)
        if place is None or len(self.capacities) < 3:
            return None
        levels = self.capacities[place].levels
        if self.answer and any(name in levels for name in self.answer.instruments):
            return None  # how it is measured is no choice between settings
        return self.capacities[place]

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

    def narrowing(self) -> str:
        """Return where two settings fail and what would narrow it: “Fails at 200 and at 100. Measure 140 and 70 to narrow it.”."""
        settings = self.capacities
        if len(settings) != 2 or any(
            each.capacity.by_line or each.capacity.high is None for each in settings
        ):
            return ""
        loads = self.loads
        ends = [loads.up(each.capacity.high or 0.0) for each in self._larger_first(settings)]
        text = f"Fails at {' and at '.join(dict.fromkeys(ends))}."
        advised = [
            loads.down(load)
            for each in self._larger_first(settings)
            if each.capacity.advice and not self.cancelled
            for load in each.capacity.advice.loads[:1]
        ]
        if advised:
            text += f" Measure {' and '.join(dict.fromkeys(advised))} to narrow it."
        return text

    @staticmethod
    def _larger_first(settings: Sequence[CapacityOfSetting]) -> list[CapacityOfSetting]:
        return sorted(settings, key=lambda each: -(each.capacity.low or each.capacity.high or 0.0))

    def certainties(self) -> Iterator[str]:
        """Return what the verdict rests on and what would decide, as texts that say ever less."""
        settings = self.capacities
        runs = counted(sum(cell.runs for each in settings for cell in each.cells), "run")
        if self._asks_for_one:
            if len(settings) == 1 and (curve := self.curve(settings[0])):
                yield curve
            yield ASK_FOR_ONE
            return
        if narrowing := self.narrowing():
            yield narrowing
        advice = next((text for each in settings if (text := self.advice(each))), "")
        if len(settings) == 1 and (text := self.certainty(settings[0])):
            yield text
        of = f" of {counted(len(settings), 'setting')}" if len(settings) > 1 else ""
        if any(each.capacity.word in DECIDED for each in settings):
            yield f"{self.confidence}, {runs}{of}. {advice}".strip()
            yield f"{self.confidence}, {runs}{of}."
        yield f"{runs}{of}. {advice}".strip()
        yield f"{runs}{of}."

    def facts(self) -> list[Fact]:
        """Return what each of the first settings carries."""
        if self._asks_for_one:
            return []
        return [
            Fact(
                setting_name(each.levels) or "carried",
                self.short(each.capacity),
                self._note(each.capacity),
            )
            for each in self.capacities[:MOST_FACTS]
        ]

    def _note(self, capacity: Capacity) -> str:
        if capacity.word in DECIDED:
            about = self.about(capacity)
            return ", ".join(filter(None, (self.confidence, about and f"{about} by the line")))
        return self.binding(capacity)

    def badges(self) -> list[Display]:
        """Return what is carried as a badge, of several settings how many have which word."""
        if self._asks_for_one:
            return [Display("no criterion", "thin", "info", "open")]
        settings = self.capacities
        if len(settings) == 1:
            capacity = settings[0].capacity
            label = WORDS[capacity.word]
            if capacity.word in DECIDED:
                return [replace(label, word=f"carries {self.short(capacity)}")]
            return [replace(label, word=f"capacity: {label.word}")]
        counts = Counter(each.capacity.word for each in settings)
        return [
            replace(WORDS[word], word=f"{WORDS[word].word}: {count} of {len(settings)}")
            for word, count in counts.items()
        ]

    def statements(self) -> list[Statement]:
        """Return a sentence for each setting, each ratio and each safe load."""
        if not self.has_criterion:
            curves = [
                f"{capitalised(setting_name(each.levels))}: {text}" if each.levels else text
                for each in self.capacities[:MOST_FACTS]
                if (text := self.curve(each))
            ]
            return [Statement("info", text) for text in (*curves, ASK_FOR_ONE)]
        lines = (
            []
            if self.finding.stated or not self._shows_nothing()
            else [Statement("info", ASK_FOR_ONE)]
        )
        if narrowing := self.narrowing():
            lines.append(Statement("info", narrowing))
        lines += self._of_settings()
        if self.cancelled:
            lines.append(Statement("warn", CANCELLED))
        if bindings := self._bindings(
            [each for each in self.capacities if each.capacity.word in DECIDED]
        ):
            lines.append(Statement("info", bindings))
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

    def _of_settings(self) -> list[Statement]:
        """Return the details of each setting: certainty first; of several, what each carries before it."""
        lines = []
        for each in self.capacities:
            tone = WORDS[each.capacity.word].tone
            told = [*self.details(each), *filter(None, [self.look_at_runs(each.capacity)])]
            if len(self.capacities) == 1:
                lines += [Statement(tone, text) for text in told]
                continue
            name, text = (
                capitalised(setting_name(each.levels)),
                " ".join([self.sentence(each), *told]),
            )
            lines.append(Statement(tone, f"{name}: {text[:1].lower()}{text[1:]}"))
        return lines

    @property
    def tone(self) -> str:
        """The tone of the answer."""
        words = {each.capacity.word for each in self.capacities}
        if not self.has_criterion:
            return "info"
        return WORDS[words.pop()].tone if len(words) == 1 else "info"


def _in_table(settings: int) -> str:
    """Return the end of a sentence that leaves so many settings out."""
    if settings == 1:
        return "; the table has the other setting"
    return f"; {settings} more settings are in the table"


def answer_of_capacity(answer: Answer, finding: CapacityFinding) -> AnswerText:
    """Compose the answer of what is carried."""
    words = CapacityAnswer(finding, answer)
    return AnswerText(
        sentence=words.headline(),
        tone=words.tone,
        certainty=first_short(words.certainties()),
        badges=words.badges(),
        facts=words.facts(),
        statements=words.statements(),
    )
