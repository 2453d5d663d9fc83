"""The checklist before sign-off: each line passes, warns or fails, with its number. Pure.

A check that could not be made warns, so that it is not mistaken for one that passed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from campaigns.findings.most_carried import DECIDED
from campaigns.findings.values import (
    BriefCells,
    CapacityFinding,
    CapacityOfSetting,
    Checks,
    Confirmation,
    FailedParts,
    LevelsFinding,
    Pairs,
    Sensitivity,
    Terms,
    Thresholds,
)
from campaigns.findings.wording.answer_text import capitalised
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.findings.wording.capacity_answer import NO_CRITERION
from campaigns.findings.wording.checks import (
    AGGREGATED,
    NO_FACTS,
    NO_HEALTH,
    NO_TREND,
    NOT_SATURATED,
    rounding_text,
    saturation_text,
    starved_text,
    switches_text,
    trend_number,
)
from campaigns.findings.wording.drift import within_text
from campaigns.findings.wording.failed_parts import failed_parts
from campaigns.findings.wording.sensitivity import sensitivity_sentence
from campaigns.findings.wording.thresholds import labels_of, thresholds_sentence
from campaigns.kit import numbers
from campaigns.kit.numbers import (
    MISSING,
    coefficient,
    counted,
    p_value,
    plain,
    share,
    without_sign,
)
from campaigns.stats.validity import FEWEST_BLOCKS, FEWEST_FOR_DRIFT, Check, Outcome

State = Literal["pass", "warn", "fail"]
PASS: State = "pass"  # noqa: S105 - no password
WARN: State = "warn"
FAIL: State = "fail"
STATES: Mapping[Outcome, State] = {
    Outcome.PASS: PASS,
    Outcome.WARN: WARN,
    Outcome.FAIL: FAIL,
    Outcome.NOT_POSSIBLE: WARN,
}
TITLES = {
    "n": "Runs and blocks",
    "order": "Order of runs",
    "confounding": "Level and time apart",
    "drift": "Drift",
    "place": "Position within block",
    "clean_state": "Clean state before",
    "same_work": "Same work after",
    "starved": "Other programs on the generator",
    "saturation": "Generator saturation",
    "censored": "Timed out or failed",
    "environment": "Environment",
    "between": "Beside the first campaign",
    "amendments": "Amendments",
    "exclusions": "Exclusions",
    "sessions": "Sessions",
    "capacity": "Capacity",
    "criterion": "Criterion",
    "fidelity": "What the numbers are",
    "sensitivity": "Sensitivity",
    "analysis": "Failed parts of the analysis",
    "stand_in": "Simulator",
}
ORDER, ELSEWHERE, FEW, SESSIONS = "order", "elsewhere", "few", "sessions"
SIMULATOR = "stand_in"  # as snapshots of conclusions and their justifications have it, which nothing may change
CAUSES = {
    ORDER: "Levels were measured one after the other",
    ELSEWHERE: "Measured elsewhere, and not recorded there",
    FEW: "Few runs",
    SESSIONS: "Few sessions",
    SIMULATOR: "Measured on a simulator",
}
"""Causes that several warnings may share; one justification answers all warnings of a cause."""
FEWEST_RUNS = 3
"""The fewest runs of a cell that allow a sound interval."""
MOST_LISTED = 5
MOST_DIFFERENCES = 8
LONGEST_VALUE = 60
DRIFTS = ("block_drift", "drift", "drift_within")
PLACES = {
    "order_in_block": "The position of a run within its block mattered.",
    "cold_start": "First runs of blocks are the extremes of most levels: warm up.",
}
CARRIED = (
    ("interpolated", "The number lies between loads that were measured, and was not measured itself"),
    ("two_loads", "Two loads only: a bend between them is not seen"),
    ("clumped_failures", "Failures come in few runs, so that the interval is too narrow"),
)  # fmt: skip
"""Badges of a capacity that warn, and what they mean."""
NOT_ANALYSED = "Unknown: nothing was analysed yet."


@dataclass(frozen=True, slots=True)
class Design:
    """How a campaign was measured, as far as its checklist needs it.

    order: `interleaved`, `paired`, `random` or `blocked`. block: the noun for a block. blocks, cells: their numbers.
    failed_limit: the largest share of runs that may fail. imported: it was measured elsewhere.
    """

    order: str
    block: str
    blocks: int
    cells: int
    failed_limit: float
    imported: bool

    @property
    def in_blocks(self) -> bool:
        """Return whether levels take turns within blocks."""
        return self.order in ("interleaved", "paired")

    @property
    def not_recorded(self) -> str:
        """Return the cause of a warning about results that were measured elsewhere."""
        return ELSEWHERE if self.imported else ""


@dataclass(frozen=True, slots=True)
class Line:
    """One check. number: the deciding figure, as text. cause: one of CAUSES, where other warnings may share it."""

    name: str
    state: State
    number: str
    text: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ExcludedRun:
    """A run that was excluded, by its position."""

    position: int
    by: str
    reason: str


def title_of(name: str) -> str:
    """Return the label of a check by name, also of one that no longer exists."""
    return TITLES.get(name, name.replace("_", " ").capitalize())


def runs_line(design: Design, cells: BriefCells | None) -> Line:
    """Return whether every cell has enough runs."""
    counts = [cell.summary.n_ok for cell in cells.cells] if cells else []
    if not any(counts):
        return Line("n", FAIL, "0", "No run has a value.")
    few, many = min(counts), max(counts)
    span = str(few) if few == many else f"{few} to {many}"
    runs = counted(few, "run") if few == many else f"{span} runs"
    text = (
        f"{runs} that {'counts' if few == many == 1 else 'count'} in each of {counted(len(counts), 'cell')}, "
        f"in {counted(design.blocks, design.block)}."
    )
    if few < 2:
        return Line("n", FAIL, span, f"{text} Fewer than 2 allow no interval.")
    if few < FEWEST_RUNS:
        text += f" Fewer than {FEWEST_RUNS} allow no sound interval."
        return Line("n", WARN, span, text, FEW)
    return Line("n", PASS, span, text)


def order_line(design: Design) -> Line:
    """Return whether the order of runs separates level and time."""
    if design.in_blocks:
        return Line("order", PASS, design.order, "Levels take turns within each block.")
    if design.order == "random":
        return Line("order", PASS, design.order, "Runs were made in random order.")
    text = (
        "All runs of a level were made one after the other: level and time of day cannot be "
        "distinguished."
    )
    return Line("order", WARN, design.order, text, ORDER)


def lines_of_checks(
    design: Design, checks: Checks | None, cells: BriefCells | None
) -> Iterator[Line]:
    """Yield confounding, drift, position, starvation and saturation, environment and fidelity."""
    runs = sum(cell.summary.n_ok for cell in cells.cells) if cells else 0
    by_name = {check.name: check for check in checks.checks} if checks else {}
    yield _confounding(design, _possible(by_name.get("interleaving")))
    yield _drift(design, _possible(next((by_name[n] for n in DRIFTS if n in by_name), None)), runs)
    yield from _place([by_name[name] for name in PLACES if _possible(by_name.get(name))])
    if checks is None:
        yield Line("saturation", WARN, MISSING, NOT_ANALYSED)
        yield Line("environment", WARN, MISSING, NOT_ANALYSED)
        return
    if waited := _possible(
        by_name.get("starved")
    ):  # where nobody looked, saturation says that health is unknown
        yield _starved(waited)
    yield _saturation(design, _possible(by_name.get("saturation")))
    yield _environment(design, _possible(by_name.get("environment")))
    if "rounded" in by_name:
        text = rounding_text(by_name["rounded"])
        yield Line("fidelity", STATES[by_name["rounded"].outcome], "rounded", text)
    if "aggregated" in by_name:
        yield Line("fidelity", WARN, "aggregated", AGGREGATED)


def _possible(check: Check | None) -> Check | None:
    return check if check and check.outcome != Outcome.NOT_POSSIBLE else None


def _confounding(design: Design, check: Check | None) -> Line:
    if check is None and design.cells > 1:
        text = (
            "The order of runs is unknown, or no other was possible: level and time may be "
            "confounded."
        )
        return Line("confounding", WARN, MISSING, text, design.not_recorded or ORDER)
    if check is None:
        text = "There is one cell only: nothing to be confounded with."
        return Line("confounding", PASS, MISSING, text)
    text = f"{switches_text(check)} in the order in which runs were made."
    number, state = coefficient(check.value or 0.0), STATES[check.outcome]
    if state == PASS:
        return Line("confounding", state, number, text)
    text += " Level and time of day are fully confounded."
    return Line("confounding", state, number, text, ORDER)


def _drift(design: Design, check: Check | None, runs: int) -> Line:
    if check is None:
        return _no_drift(design, runs)
    passed = check.outcome == Outcome.PASS
    if check.name == "drift_within":
        text = within_text(check) + ("" if passed else ".")
        return Line("drift", WARN, f"p {p_value(check.value)}", text, ORDER)
    if passed:
        return Line("drift", PASS, trend_number(check), NO_TREND)
    text = "Runs change with time: compare levels with care."
    if check.name == "block_drift":
        text = "The target drifts: contrasts are protected, absolute levels are not."
    return Line("drift", STATES[check.outcome], trend_number(check), text)


def _no_drift(design: Design, runs: int) -> Line:
    """Return why drift cannot be checked. It needs blocks where levels are interleaved, else runs."""
    noun, there, needed = "run", runs, FEWEST_FOR_DRIFT
    if design.in_blocks:
        noun, there, needed = design.block, design.blocks, FEWEST_BLOCKS
    if there < needed:
        text = (
            f"Too few to see a drift: it takes {counted(needed, noun)}, and there "
            f"{'is' if there == 1 else 'are'} {there}."
        )
        return Line("drift", WARN, MISSING, text, FEW)
    text = (
        "Whether there is a drift is unknown: these values, or their times, do not allow the test."
    )
    return Line("drift", WARN, MISSING, text, "" if design.in_blocks else ORDER)


def _place(checks: Sequence[Check]) -> Iterator[Line]:
    """Yield the check of positions where runs are in blocks, with the number of the worst."""
    bad = [check for check in checks if check.outcome != Outcome.PASS]
    for check in (bad or checks)[:1]:
        number = f"p {p_value(check.value)}"
        if check.name == "cold_start":
            number = share(check.value, 0)
        text = " ".join(PLACES[each.name] for each in bad) or "No effect of the position was found."
        yield Line("place", STATES[check.outcome], number, text)


def _starved(check: Check) -> Line:
    number = numbers.number(int(check.value or 0))
    if STATES[check.outcome] != PASS:
        number = f"{number} of {numbers.number(int(check.figures['runs']))}"
    return Line("starved", STATES[check.outcome], number, starved_text(check))


def _saturation(design: Design, check: Check | None) -> Line:
    if check is None:
        return Line("saturation", WARN, MISSING, NO_HEALTH, design.not_recorded)
    number, state = numbers.number(int(check.value or 0)), STATES[check.outcome]
    if state == PASS:
        return Line("saturation", state, number, NOT_SATURATED)
    return Line("saturation", state, number, saturation_text(check))


def _environment(design: Design, check: Check | None) -> Line:
    if check is None:
        return Line("environment", WARN, MISSING, NO_FACTS, design.not_recorded)
    facts = counted(int(check.figures["facts"]), "fact")
    if changed := int(check.value or 0):
        text = f"{counted(changed, 'change')} of {facts}: runs before and after one are not comparable."
        return Line("environment", FAIL, str(changed), text)
    if check.outcome == Outcome.PASS:
        text = f"{facts}, the same before the first and after the last run."
        return Line("environment", PASS, "0", text)
    text = f"{facts}, described by the import, not captured with each run."
    return Line("environment", WARN, "imported description", text, design.not_recorded)


def sensitivity_line(terms: Terms, finding: Sensitivity) -> Line:
    """Return whether a verdict changes when a run or a block is left out."""
    looks = [look for look in (finding.as_judged.runs, finding.as_judged.blocks) if look]
    flipping, tried = sum(look.flipping for look in looks), sum(look.tried for look in looks)
    return Line(
        "sensitivity",
        PASS if finding.status == "robust" else WARN,
        f"{numbers.number(flipping)} of {numbers.number(tried)}" if tried else MISSING,
        sensitivity_sentence(terms, finding),
        FEW if finding.status == "too_few" else "",
    )


def failed_parts_line(finding: FailedParts) -> Line:
    """Return which parts of the analysis failed."""
    failed = failed_parts(finding)
    return Line("analysis", WARN, counted(len(failed), "part"), "; ".join(failed))


def clean_state_line(design: Design, runs: int, proved: int, bad: int) -> Line:
    """Return how many accepted runs have a proof of a clean state. bad: those for which one failed."""
    return _proofs(design, "clean_state", "a clean state before the run", runs, proved, bad)


def same_work_line(design: Design, runs: int, proved: int, bad: int) -> Line:
    """Return how many accepted runs have a proof of the same work. bad: those for which one failed."""
    return _proofs(design, "same_work", "the same work after the run", runs, proved, bad)


def _proofs(design: Design, name: str, what: str, runs: int, proved: int, bad: int) -> Line:
    number = f"{proved} of {runs}"
    if bad:
        text = f"The proof of {what} failed for {counted(bad, 'run')}; {number} have it."
        return Line(name, FAIL, number, text)
    if not runs:
        text = f"No run was accepted, so that none has a proof of {what}."
        return Line(name, WARN, number, text, design.not_recorded)
    if proved < runs:
        text = f"{number} runs have a proof of {what}; no record for the rest."
        return Line(name, WARN, number, text, design.not_recorded)
    return Line(name, PASS, number, f"Every run has a proof of {what}.")


def censored_line(design: Design, cells: BriefCells | None) -> Line:
    """Return how many runs timed out, failed or have no value."""
    summaries = [cell.summary for cell in cells.cells] if cells else []
    total = sum(each.n_total for each in summaries)
    censored = sum(each.n_censored for each in summaries)
    failed = sum(each.n_failed for each in summaries) - censored
    lost = sum(each.n_lost for each in summaries)
    of_all = (censored + failed) / total if total else 0.0
    text = f"{censored} of {counted(total + lost, 'run')} timed out, {failed} failed, {lost} without a value that counts."
    state = WARN if censored or failed or lost else PASS
    if of_all > design.failed_limit:
        state = FAIL
        text += f" The campaign allows {without_sign(100 * design.failed_limit)}."
    return Line("censored", state, without_sign(100 * of_all), text)


def amendments_line(remarks: Sequence[str]) -> Line:
    """Return what was amended after launch."""
    if not remarks:
        return Line("amendments", PASS, "0", "Nothing was amended after launch.")
    return Line("amendments", WARN, str(len(remarks)), _listed(remarks))


def exclusions_line(runs: Sequence[ExcludedRun]) -> Line:
    """Return which runs were excluded from the analysis, and why."""
    if not runs:
        return Line("exclusions", PASS, "0", "No run was excluded from the analysis.")
    texts = [f"Run {run.position} by {run.by}: {run.reason.rstrip('.')}." for run in runs]
    return Line("exclusions", WARN, str(len(texts)), _listed(texts))


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_LISTED
    return " ".join(texts[:MOST_LISTED]) + (f" And {more} more." if more > 0 else "")


def sessions_line(finding: LevelsFinding | Pairs | None, begun: int) -> Line:
    """Return how many sessions support each comparison, and whether they confirm it. begun: sessions where nothing is compared."""
    number = (finding.sessions if finding else 0) or begun or 1
    if number == 1:
        text = (
            "One session: this does not count as confirmation, since the target may behave "
            "differently on another day."
        )
        return Line("sessions", WARN, "1", text, SESSIONS)
    confirmations = _confirmations(finding) if finding else []
    if not confirmations:
        return Line("sessions", PASS, str(number), f"{number} sessions; nothing is compared.")
    fewest = min(each.sessions for each in confirmations)
    of = counted(len(confirmations), "comparison")
    if below := sum(each.sessions < 2 for each in confirmations):
        rest = "rests on one, or lies" if below == 1 else "rest on one, or lie"
        text = (
            f"The campaign has {number} sessions, but {below} of {of} {rest} across them: this does "
            "not count as confirmation."
        )
        return Line("sessions", WARN, str(fewest), text, SESSIONS)
    text, which = f"The comparison rests on {fewest} sessions", "it"
    unconfirmed = sum(each.standing != "confirmed" for each in confirmations)
    if len(confirmations) > 1:
        text = f"Each comparison rests on {fewest} sessions or more"
        which = f"{unconfirmed} of {of}" if unconfirmed else "it"
    if unconfirmed:
        text += f", which do not confirm {which}."
        return Line("sessions", WARN, str(fewest), text, SESSIONS)
    return Line("sessions", PASS, str(fewest), f"{text}, which confirm it.")


def capacity_line(finding: CapacityFinding) -> Line:
    """Return whether what each setting carries is decided, was measured and not interpolated, and was seen in several sessions."""
    words = CapacityWords(finding)
    if not words.has_criterion:
        return Line("capacity", WARN, MISSING, NO_CRITERION)
    settings = finding.settings
    decided = [each for each in settings if each.capacity.word in DECIDED]
    alone = len(settings) == 1
    number = f"{len(decided)} of {len(settings)}"
    lead = f"What is carried is decided for {number} settings."
    if alone:
        number = words.short(settings[0].capacity)
        lead = f"Carries {number}." if decided else f"{capitalised(number)}."
    remarks = list(filter(None, (_with_badge(decided, *each, alone=alone) for each in CARRIED)))
    if any(each.capacity.is_wide for each in decided):
        factor = plain(finding.resolution)
        whose = "Its bounds lie" if alone else "Bounds of a setting lie"
        remarks.append(f"{whose} further apart than a factor of {factor}.")
    by_sessions = _by_sessions(decided, alone=alone)
    means = f"Carried means that {words.kept}."
    text = " ".join(filter(None, (lead, means, *remarks, by_sessions)))
    if len(decided) < len(settings) or remarks:
        return Line("capacity", WARN, number, text)
    return Line("capacity", WARN if by_sessions else PASS, number, text, by_sessions and SESSIONS)


def _with_badge(
    decided: Sequence[CapacityOfSetting], badge: str, meaning: str, *, alone: bool
) -> str:
    count = sum(badge in each.capacity.badges for each in decided)
    if not count:
        return ""
    return f"{meaning}." if alone else f"{meaning} ({count} of {len(decided)} settings)."


def _by_sessions(decided: Sequence[CapacityOfSetting], *, alone: bool) -> str:
    """Say that sessions do not confirm what is carried; empty where they do."""
    standings = [each.confirmation.standing for each in decided if each.confirmation]
    single, not_confirmed = standings.count("one_session"), standings.count("not_confirmed")
    among = "" if alone or len(decided) == 1 else f" of {len(decided)} settings"
    of = among and f" for {single or not_confirmed}{among}"
    if single:
        return f"It rests on one session{of}: this does not count as confirmation."
    return f"Its sessions do not confirm it{of}." if not_confirmed else ""


def criterion_line(finding: Thresholds) -> Line | None:
    """Return whether every cell keeps the stated criterion; None where nothing was judged."""
    text = thresholds_sentence(finding)
    states: Mapping[str, State] = {"passes": PASS, "not_decided": WARN, "does_not_pass": FAIL}
    return (
        Line("criterion", states[finding.word], labels_of(finding)[finding.word].word, text)
        if text
        else None
    )


def _confirmations(finding: LevelsFinding | Pairs) -> list[Confirmation]:
    """Return how sessions support the primary contrast or, without one, every comparison."""
    if finding.primary:
        return [finding.primary.confirmation]
    if isinstance(finding, Pairs):
        return [stratum.confirmation for stratum in finding.strata]
    return [row.confirmation for group in finding.groups for row in group.comparisons]


def simulator_line(simulators: Sequence[str]) -> Line:
    """Return that a campaign was measured on simulators."""
    text = f"Measured on a {' and a '.join(simulators)}, not on a real server."
    return Line(SIMULATOR, WARN, "simulated", text, SIMULATOR)


def between_line(first: str, differing: Sequence[tuple[str, str, str]], one_sided: int) -> Line:
    """Return in what a campaign differs from the first one.

    differing: label of each fact, its value there and here, both empty where values are confidential. one_sided: facts
    that were recorded for one of the two only.
    """
    parts = []
    if differing:
        more = len(differing) - MOST_DIFFERENCES
        listed = ", ".join(
            f"{label} ({_short(there)} → {_short(here)})" if there or here else label
            for label, there, here in differing[:MOST_DIFFERENCES]
        )
        parts.append(
            f"Differs from “{first}” in {listed}{f' and {more} more' if more > 0 else ''}: "
            "each may be why results differ."
        )
    if one_sided:
        facts = f"{counted(one_sided, 'fact')} {'was' if one_sided == 1 else 'were'}"
        parts.append(f"{facts} recorded for one of the two campaigns only.")
    if parts:
        return Line("between", WARN, str(len(differing)), " ".join(parts))
    text = f"Settings, target and environment are those of “{first}” as far as recorded."
    return Line("between", PASS, "0", text)


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…"
