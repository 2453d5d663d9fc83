"""Test whether a verdict changes when any one run or block is left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from campaigns.findings.compute.groups import (
    comparable_factors,
    groups_of,
    instruments_of,
    unlimited_of,
    unranked_loads,
)
from campaigns.findings.compute.pairs import family_of, is_load
from campaigns.findings.compute.primary import (
    compare_with_primary,
    means_over_loads,
    strata_of,
)
from campaigns.findings.compute.statistics_input import Family
from campaigns.findings.compute.whole_plots import hard_factors
from campaigns.findings.values import (
    LEVEL_CHOICES,
    Flip,
    Flipped,
    FlippedPart,
    LeftOutInTurn,
    LeftOutUnit,
    Levels,
    Sensitivity,
    SensitivityStatus,
    Tried,
)
from campaigns.kinds.base import Metric
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.criteria import MOST_CELLS, Criteria
from campaigns.stats.verdict import Verdict, Word

NAME = "sensitivity"
MOST_COST = 20_000
"""About as many milliseconds; what would take longer is not tried, and the finding notes it."""
MOST_FLIPS = 50
"""So many runs or blocks that change a verdict are stored in full; all are counted."""
COUNTS = ("ok", "failed", "censored")
UNDECIDED = (
    Word.NOT_ENOUGH_DATA,
    Word.TOO_MANY_FAILURES,
    Word.NOT_COMPARABLE,
    Word.INVALID_VALUES,
)
IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, or the best or recommended level. of, levels, baseline, candidate, primary: which one, as `Flipped` has them."""

    of: FlippedPart
    value: Any
    reason: str = ""
    levels: Levels = field(default_factory=dict)
    baseline: Any = None
    candidate: Any = None
    primary: bool = False


Verdicts = Mapping[str, Outcome]


def leave_out(
    campaign: Campaign, metric: Metric, runs: Sequence[ObservedRun], criteria: Criteria
) -> Sensitivity | None:
    """Judge again without each run and without each block, with the exclusions and without them.

    None while the campaign goes on, where nothing is compared, and where no difference can exist (A/A).
    """
    if campaign.state not in Campaign.CLOSED or campaign.paired_factor == BLIND_LABEL:
        return None
    judge = _Judge(campaign, metric, criteria)
    outcome = _tried(campaign, judge, runs)
    if outcome is None:
        return None
    excluded = [run for run in runs if run.state == "excluded" and run.value is not None]
    together = None
    if excluded:
        everything = [replace(run, state="ok") if run in excluded else run for run in runs]
        together = _tried(campaign, judge, everything)
    unit: LeftOutUnit = "pair" if campaign.order == Campaign.Order.PAIRED else "block"
    return Sensitivity(status_of(outcome, together), unit, outcome, together)


def status_of(as_judged: Tried, with_excluded: Tried | None) -> SensitivityStatus:
    """Return what leaving out changes, with the exclusions or without them. A campaign without runs has nothing to leave out."""
    sides = [side for side in (as_judged, with_excluded) if side]
    looks = [look for side in sides for look in (side.runs, side.blocks) if look]
    if not any(look.tried for look in looks):
        return "not_tried" if any(look.of for look in looks) else "undecided"
    changes = [each for look in looks for flip in look.flips for each in flip.changes]
    of_verdicts = [each for each in changes if each.of not in LEVEL_CHOICES]
    if any(map(_is_of_verdict, changes)):
        return "flips"
    if not any(side.decided for side in sides):
        return "undecided"
    if not changes:
        return "robust"
    return "too_few" if of_verdicts or all(each.too_few for each in changes) else "best_flips"


def _tried(campaign: Campaign, judge: "_Judge", runs: Sequence[ObservedRun]) -> Tried | None:
    whole = judge.verdicts(runs)
    if not whole:
        return None
    counted = [run for run in runs if run.state in COUNTS]
    blocks = sorted({run.block for run in counted})
    words = [each.value for each in whole.values() if each.of not in LEVEL_CHOICES]
    each_left_out: dict[str, LeftOutInTurn] = {}
    if campaign.order != Campaign.Order.PAIRED:  # the other run of a pair is useless alone
        each_run = [(run.position, {run.run}) for run in counted]
        each_left_out["runs"] = _each(judge, whole, runs, each_run)
    if campaign.order in IN_BLOCKS:
        each_block = [
            (block, {run.run for run in counted if run.block == block}) for block in blocks
        ]
        each_left_out["blocks"] = _each(judge, whole, runs, each_block)
    return Tried(sum(word not in UNDECIDED for word in words), **each_left_out)


def _each(
    judge: "_Judge",
    whole: Verdicts,
    runs: Sequence[ObservedRun],
    parts: Sequence[tuple[int, set[int]]],
) -> LeftOutInTurn:
    """Return each part that is left out in turn: its number, and its runs by their keys."""
    if len(parts) * judge.cost(runs) > MOST_COST:
        return LeftOutInTurn(0, len(parts), [], 0)
    flips = []
    for number, left_out in parts:
        rest = [replace(r, state="excluded") if r.run in left_out else r for r in runs]
        if changes := list(_changes(whole, judge.verdicts(rest))):
            flips.append(Flip(number, changes))
    return LeftOutInTurn(len(parts), len(parts), _kept(flips), len(flips))


def _kept(flips: Sequence[Flip]) -> list[Flip]:
    """Return the first flips in their order: of too many those that change a verdict before all others."""
    first = sorted(
        range(len(flips)), key=lambda place: not any(map(_is_of_verdict, flips[place].changes))
    )
    return [flips[place] for place in sorted(first[:MOST_FLIPS])]


def _is_of_verdict(change: Flipped) -> bool:
    return change.of not in LEVEL_CHOICES and not change.too_few


def _changes(whole: Verdicts, rest: Verdicts) -> Iterator[Flipped]:
    for key, before in whole.items():
        after = rest.get(key)
        if after is None or after.value != before.value:
            yield Flipped(
                of=before.of,
                levels=before.levels,
                baseline=before.baseline,
                candidate=before.candidate,
                primary=before.primary,
                before=before.value,
                after=after.value if after else None,
                too_few=after is None or after.reason == "n_below_minimum",
            )


class _Judge:
    """Computes the verdicts of a campaign, without numbers, for any part of its runs."""

    def __init__(self, campaign: Campaign, metric: Metric, criteria: Criteria) -> None:
        self.campaign, self.metric, self.criteria = campaign, metric, criteria
        self.cells = list(campaign.cells.all())
        self.factor = next(iter(comparable_factors(campaign)), None)
        self.groups = (
            groups_of(self.factor, self.cells, unlimited_of(campaign, self.factor))
            if self.factor
            else []
        )
        self.ranked = self.factor not in instruments_of(campaign)
        self.loads = unranked_loads(campaign)
        self.paired = campaign.order == Campaign.Order.PAIRED
        self.hard = hard_factors(campaign)

    def cost(self, runs: Sequence[ObservedRun]) -> float:
        """Estimate roughly how many milliseconds one judgement takes."""
        pairs = sum(len(group.pairs) for group in self.groups)
        return 5 + pairs + len(runs) ** 2 / 4000

    def verdicts(self, runs: Sequence[ObservedRun]) -> Verdicts:
        """Judge them all, as one family; empty where nothing is compared."""
        if self.paired:
            return {} if is_load(self.campaign) else dict(self._of_pairs(runs))
        if self.factor is None or not 1 < len(self.cells) <= MOST_CELLS:
            return {}
        return dict(self._of_levels(runs))

    def _of_pairs(self, runs: Sequence[ObservedRun]) -> Iterator[tuple[str, Outcome]]:
        blocks, _, family = family_of(
            self.campaign, self.metric, runs, self.criteria, bootstrap=False
        )
        primary = strata_of(self.campaign, [levels for levels, _ in blocks.values()])
        for place, (levels, _) in enumerate(blocks.values()):
            verdict = family.comparisons[place].verdict
            yield (
                f"pairs {place}",
                Outcome("pairs", verdict.word, verdict.reason, levels, primary=primary == (place,)),
            )
        if family.together:
            yield "together", _of_primary(family.together.verdict)

    def _of_levels(self, runs: Sequence[ObservedRun]) -> Iterator[tuple[str, Outcome]]:
        family = Family(
            self.campaign, self.metric, self.criteria, self.cells, runs, self.hard, ranks=False
        )
        wanted = [pair for group in self.groups for pair in group.pairs]
        means = means_over_loads(self.groups, self.loads, family)
        compared, primary = compare_with_primary(self.campaign, family, wanted, means)
        rows = dict(zip(wanted, compared.comparisons, strict=True))
        for number, group in enumerate(self.groups):
            values = dict(zip(group.cells, group.values, strict=True))
            for pair in group.pairs:
                verdict = rows[pair].verdict
                yield (
                    f"levels {pair}",
                    Outcome(
                        "levels",
                        verdict.word,
                        verdict.reason,
                        group.levels,
                        baseline=values[pair[0]],
                        candidate=values[pair[1]],
                    ),
                )
            best = family.best_of(group, compared) if self.ranked else None
            if best is not None:
                near = best.recommended(100 * self.criteria.delta)
                cell = near if group.numeric else best.winner
                level = None if cell is None else values[family.place[cell]]
                of: FlippedPart = "recommended" if group.numeric else "best"
                yield f"best {number}", Outcome(of, level, levels=group.levels)
        if primary is not None:
            yield "primary", _of_primary(primary.comparison.verdict)


def _of_primary(verdict: Verdict) -> Outcome:
    return Outcome("primary", verdict.word, verdict.reason, primary=True)
