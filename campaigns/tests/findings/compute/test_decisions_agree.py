"""One decision a load: what sentence, chart, tables, REST and the command line say of it, side by side, for random campaigns."""

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins

from campaigns.findings.charts import capacity as chart
from campaigns.findings.charts.base import Shown, View
from campaigns.findings.compute.answer import answer
from campaigns.findings.compute.capacity import capacity
from campaigns.findings.compute.cells import summarise_cells
from campaigns.findings.compute.conditions import Conditions
from campaigns.findings.compute.thresholds import thresholds
from campaigns.findings.pages.capacity_tables import capacity_table, threshold_table
from campaigns.findings.store import read, stored
from campaigns.findings.values import Answer, CapacityFinding, Grounds, Thresholds
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.capacity_answer import capacity_texts
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import FactorOutline, LevelLabels
from campaigns.planning.criterion import criterion_of
from campaigns.planning.metrics import analysed_metrics_of
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import Criteria
from campaigns.tests.findings.compute.loads import launch
from perfdash_client.results import digest

pytestmark = pytest.mark.django_db

CAMPAIGNS = 200
ENGINES = ["asyncio", "futures"]
GRIDS = (
    {"concurrency": [25, 50, 100, 200, 400], "engine": ENGINES},
    {"concurrency": [50, 100, 200]},
    {"concurrency": [120, 150, 190, 240, 300, 380]},
    {"concurrency": [150, 190, 240], "engine": ENGINES},
)
CRITERIA = (
    {"conditions": [{"metric": "cpu_seconds", "at_most": 40.0}]},
    {"conditions": [{"metric": "cpu_seconds", "at_most": 40.0}], "failed_percent": 5},
    {"conditions": [{"metric": "file_rate", "at_least": 10.0}], "failed_percent": 5},
    {
        "conditions": [
            {"metric": "cpu_seconds", "at_most": 40.0},
            {"metric": "file_rate", "at_least": 10.0},
        ]
    },
    {"failed_percent": 5},
)
WORD = {
    "held": "holds",
    "failed": "fails",
    "undecided": "undecided",
    "not_measured": "not measured",
}
OF_CRITERION = {"passes": "holds", "does_not_pass": "fails", "not_decided": "undecided"}
BOUNDED = ("between", "at_least", "fewer_than")
LOAD = re.compile(r"[\d,]+")


@pytest.fixture
def grids(target):
    return [launch(target, factors) for factors in GRIDS]


def drawn(campaign, rng):
    """Draw the runs of a campaign: a curve, its noise, what fails, and what is lost. By metric."""
    carried, slope = rng.uniform(15, 500), rng.choice([-1.0, 0.6, 1.0, 2.0, 3.5])
    kink, sd, block_sd = rng.uniform(0, 0.8), rng.choice([0.01, 0.05, 0.2]), rng.choice([0.0, 0.05])
    failing, lost = rng.uniform(60, 900), rng.choice([0.0, 0.0, 0.1, 0.3])
    other = rng.uniform(0.5, 2)
    blocks = rng.normal(0, block_sd, 99)
    runs: dict[str, list[ObservedRun]] = {"duration": [], "cpu_seconds": [], "file_rate": []}
    rows = campaign.runs.select_related("cell", "block").order_by("position")
    for run in rows:
        levels = run.cell.levels_by_factor
        load = levels["concurrency"] / (1.7 if levels.get("engine") == "futures" else 1.0)
        x = math.log(load / carried)
        x = x if x > 0 else x * (1 - kink)
        noise = rng.normal(0, sd) + blocks[run.block.number]
        share = 0.0 if load < failing else min(1.0, (load / failing - 1) * rng.uniform(0.2, 1))
        units = levels["concurrency"]
        failed = int(rng.binomial(units, share))
        values = {
            "duration": 5 + load / 100,
            "cpu_seconds": 40 * math.exp(slope * x + noise),
            "file_rate": 10 * math.exp(-slope * other * (x - 0.1) - noise),
        }
        state = "lost" if rng.random() < lost else "failed" if failed == units else "ok"
        for name, value in values.items():
            runs[name].append(
                ObservedRun(
                    run=run.pk, position=run.position, cell=run.cell_id, block=run.block.number,
                    repetition=run.block.repetition, session=1, state=state,
                    value=value if state == "ok" else None, reason="", started_at=None,
                    finished_at=None, units_done=0 if state == "lost" else units - failed,
                    units_failed=0 if state == "lost" else failed, part=run.block.number,
                )
            )  # fmt: skip
    return runs


def told(campaign, metrics, criterion, runs):
    """Compute, store and read a campaign, and write it everywhere."""
    criteria = Criteria()
    conditions = Conditions(campaign, criterion_of(criterion), runs, criteria)
    cells = {name: summarise_cells(campaign, metrics[name], runs[name], criteria) for name in runs}
    made = capacity(campaign, conditions)
    assert made is not None
    rows = {"capacity": stored(made)}
    found = read(rows["capacity"], CapacityFinding)
    kept = thresholds(conditions, cells, found)
    assert kept is not None
    rows["thresholds"] = stored(kept)
    rows["answer"] = stored(
        answer(campaign, metrics["duration"], cells["duration"], failing=conditions.failing)
    )
    judged, of_cells = read(rows["thresholds"], Thresholds), read(rows["answer"], Answer)
    text = answer_text(Grounds(of_cells, capacity=found, thresholds=judged))
    labels = LevelLabels(
        [FactorOutline(each.name, each.name, tuple(level.value for level in each.levels.all()))
         for each in campaign.factors.all()]
    )  # fmt: skip
    findings: Any = SimpleNamespace(capacity=found, cells_of=cells.get, cells=cells["duration"])
    shown = Shown(
        findings=findings,
        labels=labels,
        view=View("duration", labels.factors[0]),
        primary_metric="duration",
        quantity=lambda name: Quantity(name, "s"),
        series=lambda cell, most: [],
        selector=lambda *choice: choice,
    )
    texts = {"capacity": capacity_texts(found, of_cells), "answer": text}
    rest = {
        "findings": {
            name: {"result": row, **({"text": to_builtins(texts[name])} if name in texts else {})}
            for name, row in rows.items()
        },
        "definition": {"primary_metric": "duration"},
        "id": 1, "name": "", "question": "", "state": "finished", "state_reason": "", "runs": {},
        "simulators": [], "links": {"page": ""},
    }  # fmt: skip
    return SimpleNamespace(
        found=found,
        judged=judged,
        text=text,
        table=capacity_table(found, of_cells, labels),
        criterion=threshold_table(judged),
        panel=chart.panel(shown),
        line=digest(rest),
        rest=rest,
        cells=cells,
        runs=runs,
    )


def decided(one, place):
    """The decisions on the loads of a setting as words, in the order of the loads."""
    cells = sorted(one.found.settings[place].cells, key=lambda each: each.load)
    return {each.load: WORD[each.held] for each in cells}


def bracket(words):
    """The highest load that holds with none failing below, and the lowest that fails."""
    fails = min((load for load, word in words.items() if word == "fails"), default=None)
    holds = [load for load, word in words.items() if word == "holds"]
    low = max((load for load in holds if fails is None or load < fails), default=None)
    return low, fails, any(fails is not None and load > fails for load in holds)


def check_bounds(capacity, words):
    low, high, contradict = bracket(words)
    if capacity.word in ("not_monotone", "not_enough_data"):
        assert (capacity.low, capacity.high) == (None, None)
        assert capacity.word == "not_monotone" or (low, high) == (None, None)
        return
    assert not contradict
    if not capacity.by_line:
        assert (capacity.low, capacity.high) == (low, high)
        return
    assert low <= capacity.low < capacity.high <= high
    assert not [each for each, word in words.items() if word == "fails" and each < capacity.high]
    assert not [each for each, word in words.items() if word == "holds" and each > capacity.low]


def numbers_of(text):
    return [float(each.replace(",", "")) for each in LOAD.findall(text)]


def check_headline(one):
    sentence = one.text.sentence
    assert len(sentence.split()) <= 25, sentence
    assert len(sentence) <= 160, sentence
    for setting in one.found.settings:
        capacity = setting.capacity
        part = sentence
        if setting.levels:
            name = f"engine {setting.levels['engine']}"
            if name not in sentence.lower() or capacity.word not in BOUNDED:
                continue
            part = re.split(r", engine|: ", sentence[sentence.lower().index(name) + len(name) :])[0]
        if capacity.word not in BOUNDED:
            assert not sentence.startswith("Carries")
            continue
        told = numbers_of(part.partition("carried")[0])
        if capacity.by_line:
            assert told[0] <= capacity.low + 1e-9
            assert told[-1] >= capacity.high - 1e-9
            continue
        bounds = [end for end in (capacity.low, capacity.high) if end is not None]
        assert told == (bounds if len(one.found.settings) == 1 else bounds[:1]), sentence


def check(one):
    names = {
        each.cell: (place, each.load)
        for place, s in enumerate(one.found.settings)
        for each in s.cells
    }
    every = [decided(one, place) for place in range(len(one.found.settings))]
    for place, words in enumerate(every):
        capacity = one.found.settings[place].capacity
        check_bounds(capacity, words)
        assert [line.cells[place].word for line in one.table.loads] == [*words.values()]
        assert (
            one.table.capacities[place].short
            == one.rest["findings"]["capacity"]["text"]["settings"][place]["short"]
        )
        digested = one.line["capacity"][place]
        assert (digested["word"], digested["low"], digested["high"]) == (
            str(capacity.word), capacity.low, capacity.high,
        )  # fmt: skip
        row = one.rest["findings"]["capacity"]["result"]["settings"][place]
        assert {each["load"]: WORD[each["held"]] for each in row["cells"]} == words
    for cell in one.judged.cells:
        place, load = names[cell.cell]
        expected = every[place][load].replace("not measured", "undecided")
        assert OF_CRITERION[cell.word] == expected
        labels = [
            line.label.word
            for line in one.criterion.texts.lines
            if line.label.word != "not contradicted"
        ]
        assert set(labels) <= {"holds", "fails", "undecided"}
    check_headline(one)
    if one.panel is not None:
        check_chart(one, every)


def check_chart(one, every):
    """Hatching, marks and the table are the decisions; dots are of the metric of the condition."""
    names = [
        f"engine {each.levels['engine']}" if each.levels else "all runs"
        for each in one.found.settings
    ]
    for row in one.panel.numbers.rows:
        assert row[-2] == every[names.index(row[0])][float(row[1])]
    metric = next((each.metric for each in one.found.conditions if each.metric), "duration")
    values = {run.value for run in one.runs[metric]}
    for trace in one.panel.plot.figure["data"]:
        name = str(trace.get("name", ""))
        if name.startswith("run "):
            assert all(
                any(math.isclose(y, v, rel_tol=1e-4) for v in values if v) for y in trace["y"]
            )
        if name.startswith("fails"):
            place = next((n for n, each in enumerate(names) if name.endswith(each)), 0)
            failing = [load for load, word in every[place].items() if word == "fails"]
            assert len(trace["x"]) <= len(failing)


def test_one_decision_is_told_everywhere_in_random_campaigns(grids):
    metrics = [{each.name: each for each in analysed_metrics_of(campaign)} for campaign in grids]
    said = set()
    for seed in range(CAMPAIGNS):
        rng = np.random.default_rng(seed)
        which = int(rng.integers(len(grids)))
        campaign, criterion = grids[which], CRITERIA[int(rng.integers(len(CRITERIA)))]
        one = told(campaign, metrics[which], criterion, drawn(campaign, rng))
        check(one)
        said |= {str(each.capacity.word) for each in one.found.settings}
        said |= {"by_line" for each in one.found.settings if each.capacity.by_line}

    assert said == {
        "between",
        "at_least",
        "fewer_than",
        "not_monotone",
        "not_enough_data",
        "by_line",
    }
