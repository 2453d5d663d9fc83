"""Texts about a campaign of levels: its noise, its verdicts by number, its best setting and its knee. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from campaigns.findings.values import Best, Knee, LevelGroup, LevelsFinding, Terms
from campaigns.findings.wording.drift import runs_without_blocks
from campaigns.findings.wording.verdicts import change_briefly, label_of
from campaigns.kit.numbers import bracketed, counted, number, share, without_sign
from campaigns.stats.compared import Model

Rows = Sequence[tuple[str, str]]
"""Name and value."""
MODELS = {
    Model.BLOCKS: "cell and block: the noise within a block",
    Model.POOLED: "noise pooled over all levels (no blocks)",
    Model.WELCH: "each level with its own noise (Welch)",
    Model.SPLIT_PLOT: "split plot: a factor that is hard to change is judged by the noise between whole "
    "plots, the others by the noise within them",
    Model.PAIRED: "each pair of levels by its own blocks, since noise differs",
}
BETWEEN = "sessions as the sample: noise between sessions"
EVIDENCE = {
    "strong": "strong",
    "moderate": "moderate",
    "smooth": "none: a smooth curve fits as well",
}


def model_text(levels: LevelsFinding) -> str:
    """Return by which noise the levels are judged."""
    return BETWEEN if levels.between else MODELS[levels.model]


def noise_rows(levels: LevelsFinding) -> Rows:
    """Return how much runs vary; nothing where that is unknown."""
    noise, plots = levels.noise, levels.plots
    if noise.sd_pct is None:
        return ()
    if plots:
        blocks = counted(plots.blocks, "block")
        return (
            (
                "noise within whole plots",
                f"{without_sign(plots.within_pct)} (df {number(plots.sub_df)})",
            ),
            (
                "between whole plots",
                f"{without_sign(plots.between_pct)} (df {number(plots.whole_df)}, {blocks})",
            ),
        )
    rows = [("noise", f"{without_sign(noise.sd_pct)} (df {number(noise.df)})")]
    if noise.block_sd_pct is not None:
        rows.append(("between blocks", without_sign(noise.block_sd_pct)))
    if noise.efficiency:
        rows.append(("without blocks it would have taken", runs_without_blocks(noise.efficiency)))
    return rows


def verdict_counts(levels: LevelsFinding, group: LevelGroup) -> str:
    """Return how many comparisons of a group have each verdict: “2 faster, 1 not enough data”."""
    counts = Counter(
        label_of(levels, row.comparison.verdict.word).word for row in group.comparisons
    )
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def within_rows(best: Best, names: Mapping[int, str]) -> Rows:
    """Return for several shares the first setting that is within it of the best; names: of cells."""
    return [
        (share(each.share), "none" if each.cell is None else names[each.cell])
        for each in best.within
    ]


def cost_text(terms: Terms, best: Best, cell: int) -> str:
    """Return how much slower or lower a cell is than the one with the best mean."""
    if cell == best.seen:
        return "best mean"
    place = best.cells.index(cell)
    return change_briefly(terms, best.cost_pct[place])


def knee_rows(knee: Knee, levels: Sequence[float]) -> Rows:
    """Return the knee by each method, with its uncertainty."""
    return list(_knee_rows(knee, levels))


def _knee_rows(knee: Knee, levels: Sequence[float]) -> Iterator[tuple[str, str]]:
    methods, doubt = knee.methods, knee.uncertainty
    better = "better" if knee.delta_aicc >= 0 else "worse"
    yield "evidence", f"{EVIDENCE[knee.strength]} (AICc {better} by {number(abs(knee.delta_aicc))})"
    yield "break of a power law", _level(knee.at)
    if doubt:
        yield "interval of the break", bracketed(*doubt.interval, levels)
        yield (
            "share of resamples",
            ", ".join(
                f"{_level(each.low)} to {_level(each.high)}: {share(each.share, 0)}"
                for each in doubt.between
                if each.share > 0
            ),
        )
    yield "L-method", _level(methods.l_method)
    yield "slope ratio", _level(methods.slope_ratio)
    yield "Kneedle, linear axis", _level(methods.kneed_linear)
    yield "Kneedle, log axis", _level(methods.kneed_log)
    if knee.strength != "smooth":
        yield "two of three agree on", _level(methods.consensus)
    yield "exponent below, above", f"{number(knee.below)}, {number(knee.above)}"


def _level(value: float | None) -> str:
    return "none found" if value is None else number(value)
