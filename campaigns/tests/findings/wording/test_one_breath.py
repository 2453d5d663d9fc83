"""Whatever was measured, verdict and certainty are read in one breath: 25 words and 160 letters, of random answers."""

import random
import re
from itertools import pairwise

import msgspec
import pytest

from campaigns.findings.values import (
    BestOverall,
    OrderDrift,
    ThresholdCell,
    Thresholds,
    ThresholdState,
)
from campaigns.findings.wording.answer_text import MOST_FACTS, clipped, first_short, is_short
from campaigns.kit.charts.labels import level_text
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.interval import Interval
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording import test_answer
from campaigns.tests.findings.wording.builders import (
    FAILURES,
    ONE_SESSION,
    P95,
    answer,
    answered,
    best_of,
    between_sessions,
    capacities,
    capacity,
    carried_by,
    cell,
    level_group,
    levels_of,
    of_two_sessions,
    over,
    pairs_of,
    ratio,
    step,
    stratum,
    verdict,
)

URL = "https://content.example/pulp/content/default/Library/custom/rhel/9/x86_64/baseos/os/PULP_MANIFEST?n="
NAMES = (
    "old",
    "new",
    "asyncio",
    "futures",
    "v2.4.0-rc1",
    URL,
    " ".join(["a level that has many words in it"] * 3),
    "x" * 200,
    True,
    None,
    0.125,
)
FACTORS = (
    "engine",
    "download_concurrency",
    "number_of_workers_of_the_content_application",
    "memory",
    "path",
)
UNITS = (("s", True), ("B/s", False), ("1/s", False), ("count", True), ("share", False))
WRONG = re.compile(
    r"  | [,.;:]|\.\.|\bNone\b|\bnan\b|(?<![\d.])0(?:\.0+)? % (?:slower|lower|faster|higher)|vs\. $"
)


class Chance:
    """Makes random findings."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.unit, self.lower_is_better = self.one(*UNITS)
        self.factor = self.one(*FACTORS)

    def one(self, *choices):
        return self.rng.choice(choices)

    @property
    def terms(self):
        return {
            "unit": self.unit, "lower_is_better": self.lower_is_better, "factor": self.factor,
            "metric": self.one("duration", "errors", "availability", "m"),
        }  # fmt: skip

    def verdict(self):
        word = self.one(*Word)
        if word in (Word.TOO_MANY_FAILURES, Word.NOT_COMPARABLE, Word.INVALID_VALUES):
            return verdict(word)
        change = self.rng.uniform(-9, 9) * self.one(0.001, 1, 1, 10, 1000)
        change = max(change, -99.9)
        half = abs(self.rng.uniform(0, 5)) * self.one(1, 10)
        more = self.one(None, 3, 199, 400_000) if word == Word.NOT_ENOUGH_DATA else None
        return verdict(word, change, max(change - half, -99.95), change + half, more=more)

    def names(self, count):
        start = self.rng.randrange(len(NAMES))
        return [NAMES[(start + place) % len(NAMES)] for place in range(count)]

    def cells(self, levels, **others):
        return [
            self.cell(key, **{self.factor: level} | others) for key, level in enumerate(levels, 1)
        ]

    def cell(self, key, **levels):
        bad = self.one({}, {}, {}, {"n_lost": 4}, {"n_censored": 1, "lowest_limit": 60.0, "highest_limit": 60.0, "at_least": 39.0},
                       {"too_many_failures": True, "units": 10, "units_failed": 3}, {"starved": 4, "n_lost": 4, "states": {"ok": 5, "bound": 4}})  # fmt: skip
        failed = 2 if "n_censored" in bad or "too_many_failures" in bad else 0
        return cell(key, self.rng.uniform(0.001, 5000), self.one(1, 3, 5), failed, **bad, **levels)

    def pairs(self):
        sessions = self.one(1, 1, 2, 3)
        confirmation = {1: None, 2: of_two_sessions(-20.0, -21.0), 3: between_sessions(3)}[sessions]
        name, told = self.one("size", "manifest"), confirmation or ONE_SESSION
        count = self.one(1, 1, 2, 5, 12)
        strata = [
            stratum(self.verdict(), told, **levels)
            for levels in ({name: place} for place in range(count))
        ]
        mean = (
            over(count, self.rng.uniform(-80, 300)) if count > 1 and self.one(True, False) else None
        )
        baseline, candidate = self.names(2)
        found = pairs_of(
            *strata,
            **self.terms,
            overall=mean,
            sessions=sessions,
            baseline=baseline,
            candidate=candidate,
        )
        return answer(*self.cells([baseline, candidate]), order="paired"), {"pairs": found}

    def levels(self):
        count = self.one(2, 2, 3, 4, 6)
        levels = self.one(self.names(count), [2**place for place in range(count)])
        groups = self.one(1, 1, 1, 2, 6)
        numeric = not isinstance(levels[0], str) and levels[0] not in (True, None)
        made, cells = [], []
        for group in range(groups):
            keys = [group * count + place + 1 for place in range(count)]
            with_ = (
                {}
                if groups == 1
                else {"operating_system": f"{level_text(self.one(*NAMES))} {group}"}
            )
            own = self.cells(levels, **with_)
            cells += [cell(key, 10.0, **each.levels) if self.one(True, False) else self.renamed(each, key)
                      for key, each in zip(keys, own, strict=True)]  # fmt: skip
            rows = [step(*pair, self.verdict()) for pair in pairwise(keys)]
            made.append(
                level_group(
                    levels,
                    cells=keys,
                    levels=with_,
                    numeric=numeric,
                    comparisons=rows,
                    best=self.best(keys),
                )
            )
        overall = (
            [BestOverall({}, {}, best)]
            if groups > 1
            and (best := self.best([each.cell for each in cells]))
            and self.one(True, False)
            else []
        )
        drift = self.one(None, OrderDrift(known=True, shown=False, slope_pct=0.1, missed_pct=2.0))
        found = levels_of(*made, **self.terms, overall=overall, drift=drift)
        return answer(*cells, order="blocked" if drift else "interleaved"), {"levels": found}

    def renamed(self, one, key):
        return msgspec.structs.replace(one, cell=key)

    def best(self, keys):
        if self.rng.random() < 0.2:
            return None
        keys = [*keys]
        out = [keys.pop() for _ in range(self.one(0, 0, 1, 2)) if len(keys) > 2]
        failing, unknown = (out, []) if self.one(True, False) else ([], out)
        seen = self.rng.choice(keys)
        possibly = self.one([seen], [seen], keys, sorted({seen, keys[0]}))
        costs = [0.0 if key == seen else self.rng.uniform(0, 900) for key in keys]
        return best_of(keys, seen, [2 * cost for cost in costs], possibly=possibly, cost_pct=costs,
                       failing=failing, unknown=unknown, alike=self.one(True, False, False))  # fmt: skip

    def capacities(self):
        count = self.one(1, 1, 2, 3, 7)
        settings = []
        for place in range(count):
            word = self.one(*CapacityWord)
            low = 120.0 if word in (CapacityWord.BETWEEN, CapacityWord.AT_LEAST) else None
            above = word in (CapacityWord.BETWEEN, CapacityWord.FEWER_THAN)
            high = self.one(240.0, 480.0) if above else None
            levels = {} if count == 1 else {self.factor: self.one(*NAMES, place), "n": place}
            estimate = 150.0 if low and high and self.one(True, False) else None
            reason = (
                self.one("no_bound", "blocks", "loads", "lost_runs")
                if word == CapacityWord.NOT_ENOUGH_DATA
                else ""
            )
            settings.append(
                carried_by(
                    capacity(word, low, estimate, high, reason=reason),
                    first_cell=1 + 5 * place,
                    **levels,
                )
            )
        ratios = [ratio(Word.BETTER, 1.7, 1.6, 1.8)] if count == 2 else []
        label = self.one("Hosts", "Clients", "Offered rate", "Users")
        conditions = self.one([P95], [P95, FAILURES], [FAILURES], [])
        found = capacities(
            *settings,
            load_label=label,
            load=label.lower(),
            conditions=conditions,
            ratios=ratios,
            stated=bool(conditions),
        )
        cells = [
            cell(each.cell, 10.0, hosts=each.load, **setting.levels)
            for setting in settings
            for each in setting.cells
        ]
        return answer(*cells, loads=["hosts"]), {"capacity": found}

    def thresholds(self):
        count = self.one(1, 1, 2, 5)
        cells, judged = [], []
        for place in range(count):
            word = self.one("passes", "does_not_pass", "not_decided", "not_contradicted")
            levels = {self.factor: self.names(count)[place]}
            state = ThresholdState(
                name="p95", word=word, value=150.0, interval=Interval(140.0, 190.0)
            )
            share = ThresholdState(
                name="failed_share",
                word=word,
                value=None,
                interval=None,
                share=0.1,
                share_interval=Interval(0.05, 0.2),
            )
            judged.append(
                ThresholdCell(cell=place + 1, levels=levels, word=word, states=[state, share])
            )
            cells.append(cell(place + 1, 10.0, **levels))
        word = self.one(*{each.word for each in judged})
        conditions = self.one([P95], [P95, FAILURES])
        return answer(*cells), {
            "thresholds": Thresholds(word=word, conditions=conditions, cells=judged)
        }

    def alone(self):
        count = self.one(1, 2, 4, 500)
        cells = self.cells(self.one(self.names(min(count, len(NAMES))), [*range(count)]))
        work, asked = self.one([], [self.factor]), self.one([], [], [self.factor])
        return answer(*cells, work=work, asked=asked, cancelled=self.one(True, False),
                      label=self.one("Duration", "CPU time of all workers of the content application", "m")), {}  # fmt: skip


def random_answer(seed):
    """Return what is said of random findings of one of six kinds."""
    chance = Chance(seed)
    kinds = (
        chance.pairs,
        chance.levels,
        chance.levels,
        chance.capacities,
        chance.thresholds,
        chance.alone,
    )
    of, findings = kinds[seed % len(kinds)]()
    return answered(of, **findings)


def doubts_about(text):
    """Return what cannot be read in one breath, or reads wrong."""
    lines = {"verdict": text.sentence, "certainty": text.certainty}
    doubts = [f"{name} is too long: {line}" for name, line in lines.items() if not is_short(line)]
    doubts += [f"{name} is cut: {line}" for name, line in lines.items() if line.endswith("…")]
    doubts += [f"{name} reads wrong: {line}" for name, line in lines.items() if WRONG.search(line)]
    doubts += [f"no sentence: {line}" for line in lines.values() if line and line[-1] not in ".?…"]
    doubts += [f"chain: {line}" for line in lines.values() if line.count(";") > MOST_FACTS]
    if not text.sentence:
        doubts.append("no verdict")
    if len(text.facts) > MOST_FACTS:
        doubts.append(f"{len(text.facts)} key figures")
    return doubts


@pytest.mark.parametrize("name", test_answer.SENTENCES)
def test_each_golden_answer_is_read_in_one_breath(name):
    assert not doubts_about(test_answer.SENTENCES[name][0])


def test_five_hundred_random_answers_are_read_in_one_breath():
    doubts = {seed: found for seed in range(500) if (found := doubts_about(random_answer(seed)))}

    assert not doubts


def test_of_several_texts_the_first_short_one_is_said():
    long = "word " * 26

    assert first_short([long, "Short.", "Other."]) == "Short."
    assert first_short([long]).endswith("word…")
    assert is_short(clipped("x" * 500))
