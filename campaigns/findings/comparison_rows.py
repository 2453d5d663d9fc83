"""The comparisons of a campaign, or of several, as rows of a CSV with exact numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

from campaigns.findings.compute.compared import Compared
from campaigns.findings.store import read
from campaigns.findings.values import (
    Answer,
    CapacityFinding,
    ComparedCapacity,
    Differs,
    Levels,
    LevelsFinding,
    Pairs,
    TargetsTold,
)
from campaigns.findings.wording.compare import also_in_row, confirmation_text
from campaigns.findings.wording.compared_capacity import confirmation_of_capacity
from campaigns.findings.wording.targets import also_differs
from campaigns.models import Campaign
from campaigns.planning.roles import roles_of
from campaigns.results.pages_data import shown_findings
from campaigns.stats.methods import METHODS
from campaigns.stats.verdict import Verdict

HEAD = (
    "where", "factor", "baseline", "candidate", "verdict", "reason", "badges", "change_pct",
    "low_pct", "high_pct", "p", "p_holm", "p_ranks", "model", "n", "df", "required_n",
    "detectable_pct", "standing", "metric", "unit", "data_hash", "role", "also_differs",
)  # fmt: skip
FACTOR, BASELINE, CANDIDATE = map(HEAD.index, ("factor", "baseline", "candidate"))
HEAD_OF_CAMPAIGNS = (
    "baseline", "candidate", "baseline_cell", "candidate_cell", "verdict", "reason", "fields",
    "badges", "change_pct", "low_pct", "high_pct", "p", "p_holm", "p_ranks", "model", "n", "df",
    "baseline_mean", "candidate_mean", "metric", "unit", "standing", "data_hash", "also_differs",
)  # fmt: skip


def comparison_rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    """Yield the head, then one row a comparison of the primary metric, of levels or of strata, and one a ratio of capacities.

    The head alone while the campaign is active, and while findings of earlier methods are computed again.
    """
    yield HEAD
    roles, told = roles_of(campaign), _told(campaign)
    for row in _rows(campaign):
        also = also_differs(told, row[FACTOR], row[BASELINE], row[CANDIDATE])
        yield (*row, roles.get(row[FACTOR], ""), also)


def _told(campaign: Campaign) -> TargetsTold | None:
    row = shown_findings(campaign).filter(versions__methods=METHODS, name="answer").first()
    return read(row.result, Answer).targets if row else None


def _rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    rows = shown_findings(campaign).filter(versions__methods=METHODS)
    if row := rows.filter(name="levels").first():
        levels = read(row.result, LevelsFinding)
        for line in _of_levels(levels):
            yield (*line, levels.metric, levels.unit, row.data_hash)
        for line in _over_loads(levels):
            yield (*line, levels.metric, levels.unit, row.data_hash)
    if row := rows.filter(name="capacity").first():
        capacity = read(row.result, CapacityFinding)
        for line in _of_ratios(capacity):
            yield (*line, "capacity", capacity.load, row.data_hash)
    if row := rows.filter(name="pairs").first():
        pairs = read(row.result, Pairs)
        for line in _of_pairs(pairs):
            yield (*line, pairs.metric, pairs.unit, row.data_hash)


def _of_levels(levels: LevelsFinding) -> Iterator[tuple[Any, ...]]:
    for group in levels.groups:
        values = dict(zip(group.cells, group.values, strict=True))
        for row in group.comparisons:
            comparison = row.comparison
            ranks = comparison.ranks
            yield (
                _where(group.levels),
                levels.factor,
                values[row.baseline],
                values[row.candidate],
                *_of_verdict(comparison.verdict, ranks.p if ranks else None),
                comparison.model,
                comparison.verdict.n,
                _df(comparison.df),
                comparison.verdict.required_n,
                comparison.verdict.mde_pct,
                row.confirmation.standing,
            )


def _over_loads(levels: LevelsFinding) -> Iterator[tuple[Any, ...]]:
    """Yield the mean of each contrast over loads."""
    for row in levels.over_loads:
        comparison = row.comparison
        over = f"over {' x '.join(levels.loads)}"
        yield (
            ", ".join(filter(None, [_where(row.at), over])),
            levels.factor,
            row.baseline,
            row.candidate,
            *_of_verdict(comparison.verdict, None),
            comparison.model,
            comparison.verdict.n,
            _df(comparison.df),
            comparison.verdict.required_n,
            comparison.verdict.mde_pct,
            row.confirmation.standing,
        )


def _of_ratios(capacity: CapacityFinding) -> Iterator[tuple[Any, ...]]:
    """Yield the ratio of capacities of settings that differ in one factor, as a change in %."""
    for each in capacity.ratios:
        baseline, candidate = (
            capacity.settings[place].levels for place in (each.baseline, each.candidate)
        )
        others = {name: level for name, level in baseline.items() if name != each.factor}
        ratio = each.ratio
        low, high = (None if end is None else 100 * (end - 1) for end in (ratio.low, ratio.high))
        yield (
            _where(others), each.factor, baseline[each.factor], candidate[each.factor], ratio.word,
            ratio.reason, " ".join(ratio.badges), ratio.more_pct, low, high, ratio.p, ratio.p_adjusted,
            None, "capacity", None, _df(ratio.df), None, None, "",
        )  # fmt: skip


def _of_pairs(pairs: Pairs) -> Iterator[tuple[Any, ...]]:
    for stratum in pairs.strata:
        comparison = stratum.comparison
        yield (
            _where(stratum.levels),
            pairs.factor,
            pairs.baseline,
            pairs.candidate,
            *_of_verdict(comparison.verdict, comparison.wilcoxon_p),
            "paired",
            comparison.n_pairs,
            _df(comparison.df),
            comparison.verdict.required_n,
            comparison.verdict.mde_pct,
            stratum.confirmation.standing,
        )


def _of_verdict(verdict: Verdict, p_ranks: float | None) -> tuple[Any, ...]:
    low, high = verdict.ci_pct or (None, None)
    return (
        verdict.word,
        verdict.reason,
        " ".join(verdict.badges),
        verdict.pct_change,
        low,
        high,
        verdict.p,
        verdict.p_adjusted,
        p_ranks,
    )


def _df(df: float | None) -> float | None:
    """Return whole degrees of freedom as such: 10, not 10.0."""
    return int(df) if df is not None and df.is_integer() else df


def _where(levels: Levels) -> str:
    return ", ".join(f"{name}={level}" for name, level in levels.items())


def rows_of_campaigns(compared: Compared | None) -> Iterator[Sequence[object]]:
    """Yield the head, then one row a comparison of cells of campaigns; a campaign that is refused as a whole has one."""
    yield HEAD_OF_CAMPAIGNS
    if compared is None:
        return
    names, terms = compared.names, compared.terms
    for each in compared.candidates:
        if each.refused:
            refused = (names.campaigns[0], names.campaigns[each.side], "", "", "not_comparable")
            yield (
                *refused, "", _fields(each.refused), *[""] * 12, terms.metric, terms.unit, "",
                compared.data_hash, "",
            )  # fmt: skip
    for carried in compared.capacities:
        yield _of_carried(compared, carried)
    for row in compared.rows:
        verdict, ranks = row.comparison.verdict, row.comparison.ranks
        low, high = verdict.ci_pct or (None, None)
        yield (
            names.campaigns[0],
            names.campaigns[row.side],
            names.cell(0, row.baseline),
            names.cell(row.side, row.candidate),
            verdict.word.value,
            verdict.reason,
            _fields(row.refused),
            " ".join(verdict.badges),
            verdict.pct_change, low, high, verdict.p, verdict.p_adjusted,
            ranks.p if ranks else None,
            row.comparison.model.value, verdict.n, row.comparison.df,
            *row.means, terms.metric, terms.unit, confirmation_text(row), compared.data_hash,
            also_in_row(row),
        )  # fmt: skip


def _of_carried(compared: Compared, row: ComparedCapacity) -> Sequence[object]:
    """Return the ratio of what a setting of two campaigns carries, as a change in %; both means are the estimates."""
    ratio, campaigns = row.ratio, compared.names.campaigns
    capacities = row.baseline.capacity, row.candidate.capacity
    load = compared.campaigns[0].carried
    low, high = (None if end is None else 100 * (end - 1) for end in (ratio.low, ratio.high))
    return (
        campaigns[0], campaigns[row.side], row.name, row.name, ratio.word, ratio.reason,
        _fields(row.refused), " ".join(ratio.badges), ratio.more_pct, low, high, ratio.p,
        ratio.p_adjusted, None, "capacity", min(each.blocks for each in capacities), ratio.df,
        *(each.estimate for each in capacities), "capacity", load.load if load else "",
        confirmation_of_capacity(row), compared.data_hash, also_in_row(row),
    )  # fmt: skip


def _fields(fields: Sequence[Differs]) -> str:
    return "; ".join(f"{each.label}: {each.baseline} | {each.candidate}" for each in fields)
