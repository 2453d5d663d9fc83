"""What sentence, tables, charts, REST, CSV, the command line and recommendations say of settings, side by side, for random campaigns."""

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.findings.charts.curve import main_plot
from campaigns.findings.charts.heat import heat_table
from campaigns.findings.comparison_rows import HEAD, comparison_rows
from campaigns.findings.pages.level_tables import levels_of
from campaigns.findings.pages.panels import panel_of
from campaigns.findings.pages.tables import excluded_table
from campaigns.findings.pages.view import shown_of
from campaigns.findings.recommended import favoured_of
from campaigns.findings.store import findings_of
from campaigns.findings.texts import texts_of
from campaigns.findings.wording.answer_text import is_short
from campaigns.findings.wording.verdicts import label_of
from campaigns.models import Exclusion
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.receiving import create
from campaigns.results.pages_data import outline_of
from campaigns.reviews.checklist import checks_of
from campaigns.stats.verdict import Word
from perfdash_client.verdicts import verdicts_of

pytestmark = pytest.mark.django_db

START = datetime(2026, 1, 1, tzinfo=UTC)
MIRRORED = {"better": "worse", "worse": "better"}
JUDGED = ("better", "worse", "equivalent", "no_difference_shown")
WRONG = (
    r"  ", r" [,.;:]", r"\.\.", r";\s*\.", r"\b1 (?:runs|others|combinations|blocks|settings)\b", r"\bNone\b(?! is)", r"\bnan\b",
    r"\binf\b", r"(?<![\d.])0(?:\.0+)? % (?:slower|lower|faster|higher)", r"measured is the", r"(?:best|fastest) measured",
)  # fmt: skip


SHAPES: Any = {
    "w": [{"w": levels} for levels in ([1, 2], [5, 10, 20], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32])],
    "engine": [
        {"engine": levels} for levels in (["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"])
    ],
    "w and engine": [{"w": levels, "engine": ["a", "b"]} for levels in ([1, 2], [1, 2, 4])],
    "engine and cache": [{"engine": ["a", "b", "c"], "cache": ["on", "off"]}],
    "three": [{"w": [1, 2], "engine": ["a", "b"], "cache": ["on", "off"]}],
    "work": [{"test": ["small", "large"], "w": levels} for levels in ([1, 2], [1, 2, 4])],
    "load": [{"users": levels, "engine": ["a", "b", "c"]} for levels in ([10], [10, 20, 40])]
    + [{"users": [10, 20], "w": [1, 2, 4]}],
}
BAD = ("lost", "lost", "failed", "failed", "timed out", "zero", "few", "units", "one lost")


def document(seed):
    """Return a random submission: factors, order, noise, what failed, what was lost, sessions, a primary contrast, a load."""
    rng = np.random.default_rng(seed)

    def one(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    shape = one(*SHAPES)
    levels = one(*SHAPES[shape])
    order = one("blocked", "interleaved", "interleaved")
    higher = rng.random() < 0.3
    unit = one("1/s", "MB/s") if higher else one("s", "s", "ms", "MB", "count")
    about = {"question": "Which?", "order": order, "primary_metric": "m"}
    if "users" in levels:
        about["roles"] = {"users": one("load", "load", "load", "setting")}
    if "test" in levels:
        about["work"] = ["test"]
    cells = [dict(zip(levels, each, strict=True)) for each in product(*levels.values())]
    if rng.random() < 0.3:
        about["primary_contrast"] = contrast(levels, whole=rng.random() < 0.3)
    elif len(cells) > 4 and rng.random() < 0.3:
        del cells[int(rng.integers(len(cells)))]
    elif shape == "w and engine" and rng.random() < 0.3:
        cells = [cells[0], cells[3]]  # two settings that differ in two factors
    label = "Duration" if unit in ("s", "ms") else "Amount"
    return {
        "campaign": about,
        "metrics": {"m": {"unit": unit, "lower_is_better": not higher, "label": label}},
        "runs": [*runs_of(cells, order, rng, one)],
    }


def contrast(levels, *, whole):
    """Return a primary contrast of two levels, at the first level of each other factor or over all of them."""
    factor = next(name for name in levels if name not in ("users", "test"))
    at = {name: values[0] for name, values in levels.items() if name != factor}
    result = {"factor": factor, "baseline": levels[factor][0], "candidate": levels[factor][1]}
    return result if whole else {**result, "at": at}


def runs_of(cells, order, rng, one):
    sessions, n = one(1, 1, 1, 1, 2, 3), one(3, 4, 5, 6)
    n = min(n, 4) if sessions > 1 else n
    means = 10 * np.exp(rng.normal(0, one(0.0, 0.02, 0.05, 0.3, 1.5), len(cells)))
    noise = np.full(len(cells), one(0.001, 0.01, 0.02, 0.1))
    if rng.random() < 0.25:
        noise[int(rng.integers(len(cells)))] *= 8
    chosen = rng.choice(len(cells), size=one(0, 0, 0, 1, 1, 2), replace=False)
    bad = {int(place): one(*BAD) for place in chosen}
    kind, drift = one(*["plain"] * 12, "equal", "coarse"), one(0.0, 0.0, 0.001)
    blocks = rng.normal(0, one(0.0, 0.05), n * sessions) * (order == "interleaved")
    timed = sessions > 1 or one(True, True, False)
    clock = 0
    for session in range(sessions):
        plan = [(place, block) for block in range(n) for place in range(len(cells))]
        for place, block in sorted(plan) if order == "blocked" else plan:
            if bad.get(place) == "few" and block > 0:
                continue
            number, clock = session * n + block, clock + 1
            log = rng.normal(0, noise[place]) + blocks[number] + drift * clock
            value = {"equal": 10.0, "coarse": max(1.0, round(means[place] * np.exp(log)))}
            run = {
                "tags": cells[place],
                "values": {"m": float(value.get(kind, means[place] * np.exp(log)))},
            }
            if order == "interleaved":
                run["block"] = number + 1
            if timed:
                at = START + timedelta(minutes=clock, days=2 * session)
                run["started_at"] = at.isoformat()
                run["finished_at"] = (at + timedelta(seconds=10)).isoformat()
            yield run | spoilt(bad.get(place), block == 1, rng.random() < 0.5)


def spoilt(how, once, by_chance):
    """Return what is wrong with a run. once: it is one of few; by_chance: or one of many."""
    match how:
        case "lost" if by_chance:
            return {"values": {"m": None}}
        case "one lost" if once:
            return {"values": {"m": None}}
        case "failed" if once:
            return {"state": "failed", "reason": "it broke", "values": {}}
        case "timed out" if once:
            limit = {"value": 60, "censored": True}
            return {"state": "failed", "reason": "killed", "values": {"m": limit}}
        case "zero" if once:
            return {"values": {"m": 0.0}}
        case "units":
            return {"units_done": 80, "units_failed": 20}
    return {}


def received(seed):
    """Submit and analyse a campaign; of every fifth a run is excluded."""
    campaign = create(read_submission(document(seed)), None).campaign
    if seed % 5 == 0 and (run := campaign.runs.filter(state="done").last()):
        Exclusion.objects.create(run=run, user=None, reason="a backup ran")
    compute.analyse(campaign)
    return campaign


class Truth:
    """What the words of all pairs say, read from what REST gives."""

    def __init__(self, campaign, levels, answer):
        self.cells = {cell["cell"]: cell for cell in answer["cells"]}
        self.limit = campaign.failed_limit
        self.words = {}
        for pair in levels["pairs"]:
            word = pair["word"]
            self.words[pair["baseline"], pair["candidate"]] = word, pair["pct_change"]
        fixed = [*answer["work"], *answer["loads"]]
        self.boards: dict[str, list[int]] = {}
        for key, cell in self.cells.items():
            board = repr([cell["levels"].get(name) for name in fixed])
            self.boards.setdefault(board, []).append(key)
        self.board_of = {key: each for each in self.boards.values() for key in each}

    def word(self, baseline, candidate):
        """The word of the candidate against the baseline; None where the family has none."""
        if (baseline, candidate) in self.words:
            return self.words[baseline, candidate][0]
        mirrored = self.words.get((candidate, baseline), ("",))[0]
        return MIRRORED.get(mirrored, mirrored) or None

    def fails(self, key):
        summary, counts = self.cells[key]["summary"], self.cells[key]["counts"]
        answered = summary["n_ok"] + summary["n_failed"]
        units = counts["units_failed"] / counts["units"] if counts["units"] else 0.0
        failed = summary["n_failed"] / answered if answered else 0.0
        return bool(summary["n_censored"]) or max(failed, units) > self.limit

    def unknown(self, key):
        summary = self.cells[key]["summary"]
        runs = summary["n_ok"] + summary["n_failed"] + summary["n_lost"]
        invalid = {"not_positive", "invalid_values"} & {*summary["flags"]}
        return not self.fails(key) and bool(
            summary["n_ok"] < 3 or summary["n_lost"] > 0.2 * runs or invalid
        )

    def winner(self, among):
        """The only setting that every other one that passes is shown to be worse than; None where one is unknown."""
        if any(map(self.unknown, among)):
            return None
        members = [key for key in among if not self.fails(key)]
        best = [
            key
            for key in members
            if all(self.word(other, key) == "better" for other in members if other != key)
        ]
        return best[0] if len(members) > 1 and best else None

    def beaten(self, key, among):
        return any(self.word(key, other) == "better" for other in among if not self.fails(other))


def told(campaign):
    """All faces of a campaign."""
    rows = {each.name: each.result for each in campaign.findings.all()}
    texts = texts_of(campaign)
    findings = findings_of(campaign, "")
    outline = outline_of(campaign)
    shown = shown_of(campaign, outline, findings, {})
    plot, several = main_plot(shown)
    rest = {name: {"result": row, "text": texts.get(name)} for name, row in rows.items()}
    checks = checks_of([campaign])[campaign.pk]
    return SimpleNamespace(
        campaign=campaign,
        rows=rows,
        findings=findings,
        levels=rows.get("levels"),
        truth=Truth(campaign, rows["levels"], rows["answer"]) if "levels" in rows else None,
        texts=texts,
        answer=answers_of([campaign.pk])[campaign.pk],
        tables=levels_of(shown),
        heat=heat_table(shown),
        plot=plot,
        labels=[each.label for each in [plot, *several] if each],
        matrix=panel_of(shown, "interaction"),
        favoured=favoured_of(campaign),
        csv=[dict(zip(HEAD, row, strict=True)) for row in [*comparison_rows(campaign)][1:]],
        verdicts=verdicts_of(rest),
        excluded=excluded_table(findings.with_excluded, findings.levels, shown.labels)
        if findings.with_excluded and findings.levels
        else None,
        checks=checks,
    )


def sentences(one):
    """Every text, by where it stands."""
    answer = one.answer
    yield "sentence", answer.sentence
    yield "certainty", answer.certainty
    for caveat in (answer.caveat, *answer.further):
        yield "caveat", caveat
    for fact in answer.facts:
        yield "fact", f"{fact.label}: {fact.value} ({fact.note})"
    for statement in answer.statements:
        yield "statement", statement.text
    for badge in answer.badges:
        yield "badge", badge.word
    for label in one.labels:
        yield "chart", label
    if one.matrix:
        yield "matrix", one.matrix.plot.label
    for each in one.favoured:
        yield "recommended", each.why
    for text in one.texts.get("sensitivity") or ():
        yield "sensitivity", text
    for check in one.checks:
        yield "check", check.words
    for text in one.texts.get("checks") or ():
        yield "checks", text


class Doubts(list):
    """What does not hold, as texts."""

    def that(self, holds, text):
        if not holds:
            self.append(text)


def check_words(one, doubts):
    """One word a pair: rows, matrix, REST, CSV, tables, command line."""
    truth, levels = one.truth, one.levels
    rows = [row for group in levels["groups"] for row in group["comparisons"]]
    words = []
    for row in rows:
        verdict = row["comparison"]["verdict"]
        words.append(verdict["word"])
        known = truth.word(row["baseline"], row["candidate"])
        told = verdict["word"], known
        if known is None:
            doubts.that(verdict["word"] not in JUDGED, f"a step without a pair: {told}")
        else:
            doubts.that(verdict["word"] == known, f"step and pair: {told}")
    doubts.that([each["verdict"] for each in one.csv[: len(words)]] == words, "CSV and REST")
    rest = one.texts["levels"]
    labels = [label_of(one.findings.levels, Word(word)).word for word in words]
    doubts.that([each["label"] for each in rest["comparisons"]] == labels, "REST's text and word")
    lines = [line for group in one.tables.groups for line in group.steps]
    doubts.that([line.display.word for line in lines] == labels, "table and REST")
    client = [each for each in one.verdicts if not each.is_primary]
    if rows:
        doubts.that([each.word for each in client] == words, "command line and REST")
        doubts.that([each.shown for each in client] == labels, "label of the command line")
    else:
        doubts.that(
            [each.word for each in client] == [each["word"] for each in levels["pairs"]],
            "pairs of the command line",
        )
    doubts.that(
        one.tables.pairs
        == len(levels["pairs"])
        - sum(truth.word(row["baseline"], row["candidate"]) is not None for row in rows),
        "number of other pairs",
    )
    primary = levels["primary"]
    if primary and primary["over"] == 1:
        own = primary["comparison"]["verdict"]["word"]
        pair = next((key for key in truth.words if is_contrast(truth, key, primary)), None)
        if pair:
            known = truth.word(*pair)
            known = (
                known
                if truth.cells[pair[0]]["levels"][primary["factor"]] == primary["baseline"]
                else MIRRORED.get(known, known)
            )
            doubts.that(own == known, f"primary and pair: {own}, {known}")
    for name, matrix in (one.rows.get("matrix") or {"factors": {}})["factors"].items():
        for row in matrix["rows"]:
            first = row["cells"][0]["cell"]
            for cell in row["cells"][1:]:
                known = truth.word(first, cell["cell"])
                if cell["word"] is not None and known is not None:
                    doubts.that(
                        cell["word"] == known, f"matrix of {name} and pair: {cell['word']}, {known}"
                    )
                elif cell["word"] in JUDGED:
                    doubts.append(f"matrix of {name} without a pair: {cell['word']}")


def is_contrast(truth, pair, primary):
    one, other = (truth.cells[key]["levels"] for key in pair)
    factor = primary["factor"]
    sides = {repr(one[factor]), repr(other[factor])}
    same = {n: v for n, v in one.items() if n != factor} == {
        n: v for n, v in other.items() if n != factor
    }
    at = all(one.get(name) == level for name, level in primary["at"].items())
    return same and at and sides == {repr(primary["baseline"]), repr(primary["candidate"])}


def check_best(one, doubts):
    """What is called the best is shown to be better than every other, by everything that calls one so."""
    truth, levels = one.truth, one.levels
    groups = [(group["cells"], group["best"]) for group in levels["groups"] if group["best"]]
    overall = [(truth.board_of[each["best"]["seen"]], each["best"]) for each in levels["overall"]]
    winners = set()
    for among, best in [*groups, *overall]:
        known = truth.winner(among)
        winners.add(known)
        told = best["possibly"][0] if len(best["possibly"]) == 1 and not best["unknown"] else None
        doubts.that(told == known, f"best {told}, by the pairs {known}")
        doubts.that({*best["failing"]} == {key for key in among if truth.fails(key)}, "who fails")
        doubts.that(
            {*best["unknown"]} == {key for key in among if truth.unknown(key)}, "who is unknown"
        )
        for key in best["possibly"]:
            doubts.that(not truth.beaten(key, among), "may be the best, and is beaten")
        for key in best["cells"]:
            if key not in best["possibly"]:
                doubts.that(truth.beaten(key, among), "is not the best, and is not beaten")
        doubts.that(best["seen"] in best["possibly"], "the best mean is beaten")
    winners.discard(None)
    for where, text in sentences(one):
        check_superlative(where, text, winners, doubts)
    for each in one.favoured:
        if "shown to be the best" in each.why:
            doubts.that(winners, f"recommended without a winner: {each.why}")
        fitting = [
            key
            for key, cell in truth.cells.items()
            if all(cell["levels"].get(n) == v for n, v in {**each.levels, **each.at}.items())
        ]
        doubts.that(
            any(not truth.fails(key) and not truth.unknown(key) for key in fitting),
            "recommended, and not judged",
        )
    check_recommended(one, doubts)


def check_recommended(one, doubts):
    """The same level is recommended by the matrix, the table, the chart and the list; none where one cannot be judged."""
    levels, within = one.levels, one.levels["delta_pct"]
    recommended = {}
    for group, table in zip(levels["groups"], one.tables.groups, strict=True):
        best = group["best"]
        near = (
            [
                cell
                for cell, upper in zip(best["cells"], best["upper_pct"], strict=True)
                if upper <= within
            ]
            if best
            else []
        )
        chosen = near[0] if near and not best["unknown"] else None
        recommended[repr(sorted(group["levels"].items()))] = chosen
        if best and best["unknown"]:
            doubts.that(not table.recommended, "the table recommends beside an unknown setting")
        if chosen is not None:
            level = dict(zip(group["cells"], group["values"], strict=True))[chosen]
            fitting = [each for each in one.favoured if each.levels.get(levels["factor"]) == level]
            doubts.that(fitting or one.findings.capacity, f"not favoured: {level}")
    for each in one.favoured:
        if [*each.levels] == [levels["factor"]] and not each.at:
            doubts.that(
                None not in recommended.values(), f"favoured for all, and not everywhere: {each}"
            )
    matrix = (one.rows.get("matrix") or {"factors": {}})["factors"].get(levels["factor"])
    for row in matrix["rows"] if matrix and matrix["numeric"] else ():
        if row["no_baseline"]:
            continue
        known = recommended.get(repr(sorted(row["levels"].items())))
        doubts.that(
            row["recommended"] == known, f"matrix recommends {row['recommended']}, else {known}"
        )
    chart = re.search(r"(\S+) is within \S+ % of the best", one.labels[0]) if one.labels else None
    if chart and len(recommended) == 1:
        (chosen,) = recommended.values()
        doubts.that(chosen is not None, f"the chart shades a level: {chart[0]}")


def check_superlative(where, text, winners, doubts):
    """Nothing is called the best where no cell is the winner of what it is compared with."""
    if where not in ("check", "checks") and re.search(r"\b(?:is|are) the (?:fastest|best)\b", text):
        doubts.that(winners, f"{where}: a superlative without a winner: {text}")
    called = re.search(r"(?<!may be )\bthe (?:fastest|best)\)$|\bBest at ", text)
    if called and where in ("fact", "chart"):
        doubts.that(winners, f"{where}: {text}")


def check_language(one, doubts):
    for where, text in sentences(one):
        for pattern in WRONG:
            if re.search(pattern, text):
                doubts.append(f"{where} reads wrong ({pattern}): {text}")
    for line in (one.answer.sentence, one.answer.certainty):
        if not is_short(line) or line.endswith("…"):
            doubts.append(f"{len(line.split())} words, {len(line)} letters: {line}")
    answer = one.rows["answer"]
    truth = one.truth
    if truth and answer["order"] == "blocked":
        claims = re.search(r"\b(?:fastest|best|slower|lower|faster)\b", one.answer.sentence)
        if claims and not re.search(r"No setting|no setting", one.answer.sentence):
            doubts.that(
                "if nothing else changed meanwhile" in one.answer.sentence,
                f"unconditional: {one.answer.sentence}",
            )


def check_failing(one, doubts):
    truth = one.truth
    for key in truth.cells if not one.rows["answer"]["loads"] else ():
        if truth.fails(key):
            values = [f"{name} {value}" for name, value in truth.cells[key]["levels"].items()]
            text = one.answer.sentence.lower()
            if not re.search(r"fails? too often|timed out|too much failed|too many failures", text):
                doubts.append(f"who fails is not named ({values}): {one.answer.sentence}")


def doubts_about(seed):
    return doubts_of(told(received(seed)))


def doubts_of(one):
    """What contradicts the words of the pairs, or reads wrong, as texts."""
    doubts = Doubts()
    check_language(one, doubts)
    if one.levels:
        check_words(one, doubts)
        check_best(one, doubts)
        check_failing(one, doubts)
    return doubts


@pytest.mark.parametrize(
    "seeds",
    [range(10), pytest.param(range(10, 200), id="many", marks=pytest.mark.nightly)],
)
def test_all_that_is_said_of_settings_agrees(seeds):
    doubts = {seed: found for seed in seeds if (found := doubts_about(seed))}

    assert not doubts, doubts
