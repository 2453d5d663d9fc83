"""The comparisons of levels as a forest, and the pairs of a paired campaign as slopes and in time."""

from collections.abc import Mapping, Sequence

from campaigns.findings.charts import pairs, slopes
from campaigns.findings.pages.panels.base import Column, Numbers, Panel, Shown
from campaigns.findings.pages.plots import quantity_of
from campaigns.findings.values import LevelGroup, LevelRow, LevelsFinding, WithinBlocks
from campaigns.findings.wording.verdicts import label_of
from campaigns.results.phrases import Levels, level_text
from campaigns.results.run_plots import Plot

FOREST_HOW = (
    ("Each row", "is one comparison; left of 0 the metric went down, right of it up."),
    ("The thick bar", "is its 95 % interval by the model that decides; the thin one below it is by "
     "another model. Where they disagree, read the noise first."),
    ("Small diamonds", "are the changes within each block, where runs were interleaved."),
    ("Verdicts", "are corrected for the number of comparisons (Holm); intervals are each by itself."),
)  # fmt: skip
SLOPES_HOW = (
    ("Each line", "is one pair, two runs back to back. Lines that go the same way agree."),
    ("Each small chart", "has an axis of its own: rows may do other work."),
)
DIFFERENCES_HOW = (
    ("Each mark", "is the change of one pair, in the order in which pairs were made."),
    ("A slope", "means that the change itself depends on time; then one number does not tell it."),
    ("The line", "of a colour is the change that all its pairs make together."),
)


def forest_panel(shown: Shown) -> Panel | None:
    """Return the panel of every comparison of levels; None before they are judged."""
    finding = shown.findings.levels
    if not finding or not shown.primary or shown.is_open:
        return None
    within = _within_blocks(shown)
    rows = [
        _row(row, group, finding, shown.labels, within)
        for group in finding.groups
        for row in group.comparisons
    ]
    if not rows:
        return None
    chart = pairs.PairsChart(quantity_of(finding), "", "", rows)
    return Panel(
        plot=Plot(
            id="contrasts",
            title=pairs.title(chart),
            label=pairs.describe(chart),
            figure=pairs.draw(chart),
            key=pairs.legend(chart),
            height=f"{8 + 3 * max(2, len(rows))}rem",
            note=pairs.note(chart),
        ),
        how=FOREST_HOW,
        numbers=Numbers(
            (
                Column("comparison"),
                Column("change", "%"),
                Column("95 % from", "%"),
                Column("95 % to", "%"),
                Column("other model from", "%"),
                Column("other model to", "%"),
                Column("verdict"),
            ),
            [
                (
                    row.name,
                    row.change_pct,
                    *(row.interval or (None, None)),
                    *(row.second or (None, None)),
                    row.word,
                )
                for row in rows
            ],
        ),
    )


def slopes_panel(shown: Shown) -> Panel | None:
    """Return the panel of pairs as lines, a small chart for each stratum; None without pairs."""
    chart = _slopes(shown)
    if chart is None:
        return None
    drawn = slopes.slopes(chart)
    whole = Plot(
        id="slopes",
        title=f"Each pair: {chart.baseline} to {chart.candidate}",
        label=slopes.describe(chart),
        figure=drawn[0][1],
        key=slopes.slopes_legend(chart),
        height="20rem",
        note=slopes.note(chart),
    )
    return Panel(
        plot=whole,
        how=SLOPES_HOW,
        numbers=_pair_numbers(chart),
        multiples=tuple(
            Plot(
                id=f"slopes-{index}",
                title=name or "all pairs",
                label=f"{name or 'all pairs'}: {whole.title}",
                figure=figure,
                height="18rem",
            )
            for index, (name, figure) in enumerate(drawn, start=1)
        )
        if len(drawn) > 1
        else (),
    )


def differences_panel(shown: Shown) -> Panel | None:
    """Return the panel of the change of each pair in the order of time; None without pairs."""
    chart = _slopes(shown)
    if chart is None or all(p.change_pct is None for s in chart.strata for p in s.pairs):
        return None
    return Panel(
        plot=Plot(
            id="differences",
            title="The change of each pair, in the order of time",
            label=slopes.describe(chart),
            figure=slopes.differences(chart),
            key=slopes.differences_legend(chart),
            height="20rem",
            note=slopes.note(chart),
        ),
        how=DIFFERENCES_HOW,
        numbers=_pair_numbers(chart),
    )


def _within_blocks(shown: Shown) -> dict[tuple[int, int], list[pairs.PairPoint]]:
    """Return the changes of each comparison in its blocks, by the keys of its cells."""
    result = shown.findings.charts.read("within_blocks", WithinBlocks)
    return {
        (row.baseline, row.candidate): [
            pairs.PairPoint(change, None, f"block {block}")
            for block, change in zip(row.blocks, row.changes_pct, strict=True)
        ]
        for row in (result.comparisons if result else ())
    }


def _row(
    row: LevelRow,
    group: LevelGroup,
    finding: LevelsFinding,
    labels: Levels,
    within: Mapping[tuple[int, int], Sequence[pairs.PairPoint]],
) -> pairs.StratumRow:
    values = dict(zip(group.cells, group.values, strict=True))
    sides = [labels.short(finding.factor, values[cell]) for cell in (row.candidate, row.baseline)]
    where = labels.values(group.levels)
    verdict, other = row.comparison.verdict, row.comparison.sensitivity
    display = label_of(finding, verdict.word)
    return pairs.StratumRow(
        name=f"{where}: {' vs '.join(sides)}" if where else " vs ".join(sides),
        pairs=within.get((row.baseline, row.candidate), ()),
        tone=display.tone,
        word=display.word,
        change_pct=verdict.pct_change,
        interval=verdict.ci_pct,
        second=other.ci_pct if other else None,
    )


def _slopes(shown: Shown) -> slopes.SlopesChart | None:
    finding = shown.findings.pairs
    if not finding or not shown.primary:
        return None
    strata = [
        slopes.SlopeStratum(
            name=shown.labels.values(stratum.levels, without=finding.factor),
            pairs=[
                slopes.SlopePair(
                    baseline=pair.baseline,
                    candidate=pair.candidate,
                    block=pair.block,
                    change_pct=pair.change_pct,
                    candidate_first=pair.candidate_first,
                    positions=(pair.baseline_run, pair.candidate_run),
                )
                for pair in stratum.pairs
                if pair.baseline is not None and pair.candidate is not None
            ],
            change_pct=stratum.comparison.verdict.pct_change,
        )
        for stratum in finding.strata
    ]
    strata = [stratum for stratum in strata if stratum.pairs]
    if not strata:
        return None
    sides = level_text(finding.baseline), level_text(finding.candidate)
    return slopes.SlopesChart(quantity_of(finding), *sides, strata)


def _pair_numbers(chart: slopes.SlopesChart) -> Numbers:
    unit = chart.quantity.unit
    return Numbers(
        (
            Column("stratum"),
            Column("block"),
            Column(chart.baseline, unit),
            Column(chart.candidate, unit),
            Column("change", "%"),
            Column("ran first"),
        ),
        [
            (
                stratum.name or "all pairs",
                pair.block,
                pair.baseline,
                pair.candidate,
                pair.change_pct,
                chart.candidate if pair.candidate_first else chart.baseline,
            )
            for stratum in chart.strata
            for pair in stratum.pairs
        ],
    )
