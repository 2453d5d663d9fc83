"""What a finding is: the shapes that analysis makes, the database stores as JSON, and pages, REST and bundles read.

Each shape is declared here alone; sequences are lists, as JSON gives them back. Times are seconds, changes percent (`pct`), shares of 1, values
in the unit of the metric; an instant is a text of ISO 8601 in UTC; a cell is the key of its row. No shape holds a sentence, a label of a verdict,
a tone or an icon: `wording` writes these.
"""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any, Literal

from msgspec import Struct, field, structs

from campaigns.kit.mappings import Levels as Levels
from campaigns.stats.between_campaigns import OverCells
from campaigns.stats.binding import Caveat, Resource
from campaigns.stats.binding_levels import BindingRange, LevelBinding, Trend
from campaigns.stats.calibration import Detectable
from campaigns.stats.capacity import Capacity, CapacityAlone, CapacityRatio, Held, LoadState
from campaigns.stats.cell_states import CellState
from campaigns.stats.cell_summary import CellSummary
from campaigns.stats.compared import Comparison, Model, Reading
from campaigns.stats.density import Mode
from campaigns.stats.knee import Curve, Methods
from campaigns.stats.matrix import Interaction
from campaigns.stats.paired import OrderEffect, PairedComparison
from campaigns.stats.ranks import HodgesLehmann
from campaigns.stats.units import (
    Block,
    Count,
    Degrees,
    Hours,
    InMetric,
    InMetricInterval,
    Key,
    Number,
    NumberInterval,
    OnAxis,
    OnAxisInterval,
    OnLogs,
    OnLogsInterval,
    Percent,
    PercentInterval,
    PerSecond,
    Place,
    Points,
    Position,
    PositionOrBlock,
    Probability,
    Seconds,
    SessionNumber,
    Share,
    ShareInterval,
)
from campaigns.stats.validity import Check
from campaigns.stats.verdict import Contrast, Verdict, Word

Bounds = Sequence[Number | None]
"""Both ends of an interval; None where it has no end."""
DIFFERS_P = 0.05
"""Below it a change is not the same at each load."""


class Terms(Struct, frozen=True, kw_only=True):
    """The metric that is judged, and by which criteria: what a sentence about a verdict needs.

    margin_pct: changes below it are called equivalent; delta_pct: the smallest change of interest. alpha: the error
    rate; minimum_n: the fewest runs, pairs or blocks of a verdict. same_setting: both sides are one setting (A/A).
    """

    metric: str
    label: str
    unit: str
    lower_is_better: bool
    margin_pct: Percent = 2.0
    delta_pct: Percent = 5.0
    alpha: Probability = 0.05
    minimum_n: Count = 3
    same_setting: bool = False


class Within(Struct, frozen=True):
    """The change within sessions, all runs together."""

    pct_change: Percent
    ci_pct: PercentInterval
    df: Degrees


class Confirmation(Struct, frozen=True):
    """Whether sessions agree. sessions: those with an estimate; the fields after it are empty without any.

    standing: `confirmed`, `not_confirmed` and others of `stats.sessions`; reason: why not. each, each_pct: verdict
    and change in each session. between: the verdict is that between sessions (three or more). within: the change
    within these sessions, on which the verdict rests with one session or two. differ, differ_p: whether all sessions have one effect.
    """

    standing: str
    reason: str
    sessions: Count
    word: Word | None = None
    ci_pct: PercentInterval | None = None
    each: Sequence[Word] = ()
    each_pct: Sequence[Percent] = ()
    between: bool = False
    within: Within | None = None
    differ: bool | None = None
    differ_p: Probability | None = None


class Estimate(Struct, frozen=True, kw_only=True):
    """A verdict, and the error of the estimate on the scale of logs. effective_n: blocks, pairs or runs that inform as much."""

    verdict: Verdict
    model: Model = Model.PAIRED
    df: Degrees | None = None
    standard_error: OnLogs | None = None
    effective_n: Number | None = None


class RankTest(Struct, frozen=True):
    """The second opinion. v_plus: of Wilcoxon's test of differences in blocks; u, cles, delta, size: of Mann and Whitney's."""

    p: Probability
    min_attainable_p: Probability
    v_plus: Number | None = None
    u: Number | None = None
    cles: Share | None = None
    delta: Number | None = None
    size: str = ""


class LevelComparison(Estimate, frozen=True, kw_only=True):
    """One level against another. sensitivity: by another model. ranks, shift: the second opinion."""

    pct_change_of_means: Percent | None = None
    sensitivity: Reading | None = None
    ranks: RankTest | None = None
    shift: HodgesLehmann | None = None


class Primary(Struct, frozen=True, kw_only=True):
    """The contrast that was named before the launch. at: levels that both sides share; over: the combinations it is a mean of.

    left_out: combinations at which too much failed for a number; only where the combinations are loads.
    """

    factor: str
    candidate: Any
    baseline: Any
    at: Levels
    over: Count
    comparison: Estimate
    confirmation: Confirmation = field(name="standing")
    left_out: Sequence[Levels] = ()


class RunsOfCell(Struct, frozen=True):
    """Counts of one cell's runs, and bounds of its mean where runs timed out.

    states: runs by state. lowest_limit, highest_limit: of the runs that timed out; at_least: the mean with these limits in
    the place of their values. units, units_failed: work of accepted runs. starved: runs whose generator others kept waiting;
    warned: those that something may have disturbed.
    """

    runs: Count
    states: Mapping[str, Count]
    lowest_limit: InMetric | None
    highest_limit: InMetric | None
    at_least: InMetric | None
    units: Count
    units_failed: Count
    too_many_failures: bool
    starved: Count = 0
    warned: Count = 0


MADE = ("ok", "failed", "censored", "bound", "lost")
"""The states of runs that ended, and that nobody excluded."""
DRAWN_STATES = ("ok", "failed", "censored", "bound", "excluded")
"""The states of runs that charts show."""


class CellRun(Struct, frozen=True):
    """One run. run: the key of its row; position: in the plan. value: None where it has none, the limit where it timed out."""

    run: Key
    position: Position
    value: InMetric | None
    state: str
    block: Block
    session: SessionNumber
    units: Count
    units_failed: Count
    reason: str
    started_at: str | None
    worker: str


class SummarisedCell(Struct, frozen=True, kw_only=True):
    """One cell by itself, whatever the others show."""

    cell: Key
    levels: Levels
    summary: CellSummary
    counts: RunsOfCell


class Cell(SummarisedCell, frozen=True, kw_only=True):
    """A cell with its runs."""

    runs: Sequence[CellRun]


class OtherRun(Struct, frozen=True):
    """A run that counts for nothing, and is drawn. place: among the runs of its cell that are drawn, from 0."""

    place: Count
    state: str
    value: InMetric | None


class BriefCell(SummarisedCell, frozen=True, kw_only=True):
    """A cell with the values of its accepted runs alone: ten thousand whole runs are megabytes.

    others: what else is drawn of its runs; None in findings of earlier versions.
    """

    values: Sequence[InMetric | None]
    others: Sequence[OtherRun] | None = None


class _CellsOfMetric(Struct, frozen=True, kw_only=True):
    """lower_is_better: None where neither direction is better."""

    metric: str
    label: str
    unit: str
    lower_is_better: bool | None


class Cells(_CellsOfMetric, frozen=True, kw_only=True):
    """All cells of one metric, in the order of their levels."""

    cells: Sequence[Cell]


class BriefCells(_CellsOfMetric, frozen=True, kw_only=True):
    """All cells of one metric, without their runs."""

    cells: Sequence[BriefCell]


class PairOfRuns(Struct, frozen=True):
    """Two runs of a block. Runs are named by their positions."""

    block: Block
    change_pct: Percent | None
    baseline: InMetric | None
    candidate: InMetric | None
    candidate_first: bool
    baseline_run: Position
    candidate_run: Position


class Stratum(Struct, frozen=True, kw_only=True):
    """The pairs that share all levels but that of the paired factor. name: distinct, of the levels."""

    name: str
    levels: Levels
    comparison: PairedComparison
    confirmation: Confirmation = field(name="standing")
    pairs: Sequence[PairOfRuns]


class OverStrata(Struct, frozen=True, kw_only=True):
    """The change over all strata, by four means; `stats.overall.Overall` has the formulas.

    heterogeneous: strata differ, so the interval is that of a sample of them.
    """

    strata: Count
    average_pct: Percent
    average_ci: PercentInterval | None
    geometric_pct: Percent
    geometric_ci: PercentInterval | None
    heterogeneous: bool
    fixed: Contrast | None
    fixed_ci: PercentInterval | None
    sample: Contrast | None
    sample_ci: PercentInterval | None
    q: Number | None
    q_p: Probability | None
    differ_p: Probability | None
    i2: Share | None
    total_pct: Percent
    rate_pct: Percent
    confirmation: Confirmation = field(name="standing")


class Pairs(Terms, frozen=True, kw_only=True):
    """A paired campaign: candidate against baseline in every stratum, judged as one family."""

    factor: str
    baseline: Any
    candidate: Any
    strata: Sequence[Stratum]
    overall: OverStrata | None
    sessions: Count
    order_effect: OrderEffect | None
    primary: Primary | None = None


class LevelRow(Struct, frozen=True, kw_only=True):
    """A comparison of two cells that differ in one factor."""

    baseline: Key
    candidate: Key
    comparison: LevelComparison
    confirmation: Confirmation = field(name="standing")


class PairOfCells(Struct, frozen=True, kw_only=True):
    """The verdict of two cells that did the same work, in the family of all such pairs. p_adjusted: within it."""

    baseline: Key
    candidate: Key
    word: Word
    reason: str
    pct_change: Percent | None
    ci_pct: PercentInterval | None
    p: Probability | None
    p_adjusted: Probability | None


class WithinShare(Struct, frozen=True):
    """The first cell that is shown to cost no more than `share`; None where none is. blocks_needed: for that."""

    share: Share
    cell: Key | None
    blocks_needed: Count | None


class Best(Struct, frozen=True):
    """Cells ranked against the best; `stats.best.Best` has the formulas.

    seen: the cell with the best mean. possibly: those that no other is shown to be better than, by the verdicts of all pairs; alike: these
    are shown to be equivalent. at_edge: the best is the last level. failing: cells that are not ranked since too much failed; unknown: since
    too little is known of them, so that one of them may be the best.
    """

    cells: Sequence[Key]
    seen: Key
    at_edge: bool
    possibly: Sequence[Key]
    cost_pct: Sequence[Percent]
    upper_pct: Sequence[Percent]
    smallest_share: Share
    critical: Sequence[Number]
    df: Degrees
    within: Sequence[WithinShare]
    failing: Sequence[Key] = ()
    unknown: Sequence[Key] = ()
    alike: bool = False

    @property
    def winner(self) -> Key | None:
        """The cell that is shown to be the best; None where another one may be."""
        if self.unknown or len(self.possibly) != 1:
            return None
        return self.possibly[0]

    def recommended(self, within_pct: Percent) -> Key | None:
        """Return the first cell that is shown to be within so many percent of the best; None where an unknown one may be the best."""
        if self.unknown:
            return None
        rows = zip(self.cells, self.upper_pct, strict=True)
        return next((cell for cell, upper in rows if upper <= within_pct), None)


class BreakShare(Struct, frozen=True):
    """The share of resamples whose break lies between two neighbouring levels."""

    low: OnAxis
    high: OnAxis
    share: Share


class KneeUncertainty(Struct, frozen=True):
    """The uncertainty of the break by resamples. l_shares, chord_shares: by level, of two other methods. rough: few runs."""

    interval: OnAxisInterval
    below: NumberInterval
    above: NumberInterval
    l_shares: Mapping[str, Share]
    chord_shares: Mapping[str, Share]
    rough: bool
    between: Sequence[BreakShare]


class Knee(Struct, frozen=True):
    """Where the curve bends. strength: `strong`, `moderate` or `smooth`: no distinct knee."""

    strength: str
    at: OnAxis
    below: Number
    above: Number
    delta_aicc: Number
    curves: Sequence[Curve]
    methods: Methods
    uncertainty: KneeUncertainty | None


class LevelGroup(Struct, frozen=True):
    """Cells that differ in one factor alone. values: its levels, in the order of `cells`.

    reading: bounds for comparing levels on the chart.
    """

    levels: Levels
    values: Sequence[Any]
    cells: Sequence[Key]
    numeric: bool
    reading: Sequence[InMetricInterval | None]
    comparisons: Sequence[LevelRow]
    best: Best | None
    knee: Knee | None


class BestOverall(Struct, frozen=True):
    """The best cell over all factors, for one work and load. levels: of these; setting: of the best cell."""

    levels: Levels
    setting: Levels
    best: Best


class Noise(Struct, frozen=True):
    """Standard deviations of runs, within blocks where there are some, and between blocks; None where unknown."""

    sd_pct: Percent | None = None
    df: Degrees | None = None
    block_sd_pct: Percent | None = None
    efficiency: Number | None = None
    blocks: Count | None = None


class PlotNoise(Struct, frozen=True):
    """Standard deviations within whole plots and between them, where a factor is costly to change."""

    within_pct: Percent
    between_pct: Percent
    whole_df: Degrees
    sub_df: Degrees
    blocks: Count


class OrderDrift(Struct, frozen=True):
    """Drift within levels that were measured one after the other. known: it can be estimated.

    slope_pct, ci_pct, missed_pct: in an hour, where hours is known, which the longest level took; else from run to run.
    missed_pct: the largest drift, up or down, that the 95 % interval does not exclude.
    """

    known: bool
    shown: bool
    slope_pct: Percent | None = None
    ci_pct: PercentInterval | None = None
    p: Probability | None = None
    missed_pct: Percent | None = None
    hours: Hours | None = None


class OverLoads(Struct, frozen=True, kw_only=True):
    """A change of a setting over all loads: the mean of its changes at each of them. at: levels of what is held fixed, without loads.

    over: the number of loads. left_out: loads at which a side has too many failures, or no value. differs_p: that the change is the same at
    each load (F test); None where that cannot be tested.
    """

    factor: str
    candidate: Any
    baseline: Any
    at: Levels
    over: Count
    left_out: Sequence[Levels]
    comparison: Estimate
    confirmation: Confirmation = field(name="standing")
    differs_p: Probability | None = None

    @property
    def differs(self) -> bool:
        """Whether the change is not the same at each load, so that each has to be read before the mean."""
        return self.differs_p is not None and self.differs_p < DIFFERS_P


class LevelsFinding(Terms, frozen=True, kw_only=True):
    """A campaign of levels: neighbours compared as one family, the best setting, the knee.

    hard: factors that are costly to change. between: what is said of cells rests on one value a session. overall: empty with one factor to compare.

    loads: factors that are load; groups are at one level of each. over_loads: each contrast over all loads, a family of its own. As `curves` the
    factor is itself a load: a group a setting, without comparisons and without a best level. instrument: the factor is how it is measured, so that
    its levels should measure the same, and none is the best. pairs: all pairs of cells that did the same work under the same load and take part; of very many cells
    only those of `groups`, and each against the best measured.
    """

    factor: str
    model: Model
    noise: Noise
    hard: Sequence[str] = ()
    plots: PlotNoise | None = None
    sessions: Count
    between: bool
    drift: OrderDrift | None
    groups: Sequence[LevelGroup]
    overall: Sequence[BestOverall]
    primary: Primary | None = None
    loads: Sequence[str] = ()
    over_loads: Sequence[OverLoads] = ()
    instrument: bool = False
    pairs: Sequence[PairOfCells] = ()


class BlockChanges(Struct, frozen=True):
    """The change between two cells in each block that holds both."""

    baseline: Key
    candidate: Key
    blocks: Sequence[Block]
    changes_pct: Sequence[Percent]


class WithinBlocks(Struct, frozen=True):
    """The comparisons of levels, block by block."""

    comparisons: Sequence[BlockChanges]


class MatrixCell(Struct, frozen=True):
    """A cell against the first of its row. improvement_pct: of durations, less is better. word: None for the first."""

    cell: Key
    level: Any
    state: CellState
    improvement_pct: Percent | None
    ci_pct: PercentInterval | None
    word: Word | None
    n: Count
    failed: Count
    lost: Count
    failed_units: Count


class MatrixRow(Struct, frozen=True):
    """Cells that differ in the factor of the columns. no_baseline: the first cell has no number.

    best: the cell that is shown to be the best; None where another one may be. ties: those that may be, or are within the tolerance of the best.
    """

    levels: Levels
    cells: Sequence[MatrixCell]
    no_baseline: bool
    best: Key | None
    ties: Sequence[Key]
    recommended: Key | None


class FactorMatrix(Struct, frozen=True):
    """The matrix with the levels of one factor as its columns. unlimited: the level that means no limit, and is the last."""

    factor: str
    columns: Sequence[Any]
    numeric: bool
    rows: Sequence[MatrixRow]
    interaction: Interaction | None
    unlimited: Number | None = None


class Matrix(Terms, frozen=True, kw_only=True):
    """The improvement of each cell over the first of its row. tie_points: percentage points that count as equal."""

    tie_points: Points
    factors: Mapping[str, FactorMatrix]


class Checks(Struct, frozen=True):
    """Checks of whether the runs can be trusted."""

    checks: Sequence[Check]


class Outlook(Struct, frozen=True):
    """How much longer a campaign with an adaptive stop rule takes, or why it ends.

    primary: by the primary contrast, else by the widest interval. stop: `precise`, `most_blocks`, `out_of_time`, or empty while it
    goes on. more: further blocks; expected_pct: the half width then; seconds: until then. closed: runs
    that were closed when this was computed. blocks, most: those of the plan, and the most it may have. undecided: where nothing but load varies, it goes
    on until each capacity is decided: how many are not; None where intervals of changes decide.
    """

    primary: bool
    stop: str
    target_pct: Percent
    half_width_pct: Percent | None
    more: Count | None
    expected_pct: Percent | None
    seconds: Seconds | None
    closed: Count
    blocks: Count = 0
    most: Count = 0
    alpha: Probability = 0.05
    undecided: Count | None = None


class CalibrationFinding(Struct, frozen=True, kw_only=True):
    """The noise of identical runs; `stats.calibration.Calibration` has the formulas. alarms: of so many verdicts."""

    n: Count
    sd_log: OnLogs
    sd_log_ci: OnLogsInterval
    run_sd_log: OnLogs
    seen_pct: Percent
    floor_pct: Percent
    mean_pct: Percent
    mean_p: Probability
    detectable: Sequence[Detectable]
    metric: str
    label: str
    sd_pct: Percent
    sd_ci_pct: PercentInterval
    run_sd_pct: Percent
    alpha: Probability
    verdicts: Count
    alarms: Count


class FactChange(Struct, frozen=True):
    """A change of a fact of the environment between two runs, or during one: then both numbers are equal."""

    side: str
    name: str
    before: str
    after: str
    last_run_before: Position
    first_run_after: Position
    target: str = ""

    @property
    def place(self) -> str:
        """Of what it is a fact: the side, and which one of several targets."""
        return f"{self.side} {self.target}".strip()


class TargetPart(Struct, frozen=True):
    """One of several targets of a campaign. took_part: blocks with an accepted run of it, of all with planned ones.

    out: why nothing more was measured on it; empty where it took part to the end. sessions: its environments.
    """

    level: str
    took_part: Count
    blocks: Count
    sessions: Count
    out: str = ""


class FactOnBoth(Struct, frozen=True):
    """A fact of the environment that differs between two targets."""

    name: str
    baseline: str
    candidate: str


class TargetPair(Struct, frozen=True):
    """Two targets. together: blocks with accepted runs of both. differs: facts, those of the hardware first."""

    baseline: str
    candidate: str
    together: Count
    differs: Sequence[FactOnBoth] = ()


class QuietMeanwhile(Struct, frozen=True):
    """How often a target was not proved to be quiet before a run on another, of the runs that asked; why: in the first of them."""

    level: str
    unproved: Count
    of: Count
    why: str = ""


class TargetsTold(Struct, frozen=True):
    """Several targets side by side. factor: whose levels they are. shared: targets that run on one machine.

    quiet: those that share a part with a measured one, and were asked whether they do anything.
    """

    factor: str
    targets: Sequence[TargetPart]
    pairs: Sequence[TargetPair]
    shared: Sequence[Sequence[str]] = ()
    quiet: Sequence[QuietMeanwhile] = ()


class BegunSession(Struct, frozen=True):
    """A session after the first: the position of its first run, and why it began. hours: of the gap before it; None where that was short."""

    session: SessionNumber
    position: Position
    hours: Hours | None
    changes: Sequence[FactChange]


class SessionsFinding(Struct, frozen=True):
    """Why sessions began. parted: blocks with values in several sessions; those of pairs are left out."""

    begun: Sequence[BegunSession]
    parted: Count
    paired: bool = False


class InvalidRun(Struct, frozen=True):
    """A run whose value is zero, negative or no number: it has no logarithm, so no ratio. position: in the plan."""

    cell: Key
    position: Position
    reason: str


class SameContent(Struct, frozen=True, kw_only=True):
    """A factor of addresses whose cells are compared, since their runs worked on the same content.

    addresses: how many levels. units, bytes: None where they differ between the levels of other factors. unit: what is counted. proved:
    by a digest; else number, or number and size, are equal and that it is the same content is not proved.
    """

    factor: str
    addresses: Count
    units: Number | None
    bytes: Number | None
    unit: str
    proved: bool


class OtherContent(Struct, frozen=True, kw_only=True):
    """Two levels of an address with other content, which are not compared; number and bytes of both sides."""

    factor: str
    baseline: Any
    candidate: Any
    units: tuple[Number, Number]
    bytes: tuple[Number | None, Number | None]
    unit: str


class Unserved(Struct, frozen=True, kw_only=True):
    """A cell of a closed loop in which not everybody got an answer.

    number: at a time; fewest, most: that a run served. response: the mean response time of those who were served;
    end_to_end: number ÷ throughput. Both are means over runs in `unit`, None where no run has one.
    """

    cell: Key
    parameter: str
    number: Number
    fewest: Number
    most: Number
    response: InMetric | None
    end_to_end: InMetric | None
    unit: str


class Answer(Struct, frozen=True, kw_only=True):
    """What the answer of a campaign states beside the findings with verdicts: its metric, its cells, how it was measured.

    work: factors that change the work, so that cells are not compared across them; loads: that are load, whose levels are not compared either,
    and asked, which are among them: their names mean load, or they are a guess, and nobody has stated their roles. guesses: why a factor of a
    file is one, by name, whether its role was stated afterwards or not. nouns: what sentences call a factor, where it is not its name. target: the name of the only one; empty for imports and several. instruments: that are how it is measured. failing: cells of which too much failed for a number. simulators: kinds of simulated targets that it
    was measured on. unobserved: runs that were done, and have no value of the metric; values_needed: in a run, where it is a percentile.
    """

    metric: str
    label: str
    unit: str
    lower_is_better: bool
    order: str
    cancelled: bool
    work: Sequence[str]
    failing: Sequence[Key]
    simulators: Sequence[str]
    changes: Sequence[FactChange]
    cells: Sequence[SummarisedCell]
    invalid: Sequence[InvalidRun]
    same_content: Sequence[SameContent] = ()
    other_content: Sequence[OtherContent] = ()
    loads: Sequence[str] = ()
    instruments: Sequence[str] = ()
    asked: Sequence[str] = ()
    guesses: Mapping[str, str] = {}
    nouns: Mapping[str, str] = {}
    target: str = ""
    targets: TargetsTold | None = None
    unserved: Sequence[Unserved] = ()
    unobserved: Count = 0
    values_needed: Count | None = None


class BriefVerdict(Struct, frozen=True):
    """The verdict of a comparison, briefly."""

    word: Word
    pct_change: Percent | None
    ci_pct: PercentInterval | None


class ComparedLevels(Struct, frozen=True):
    """Which comparison: its levels, and those of both sides."""

    levels: Levels
    baseline: Any
    candidate: Any


class ExclusionRow(Struct, frozen=True):
    """A comparison without the excluded runs, and with them."""

    name: ComparedLevels
    without: BriefVerdict
    included: BriefVerdict = field(name="with")


class WithExcluded(Struct, frozen=True):
    """What excluded runs change. positions: of these runs."""

    positions: Sequence[Position]
    rows: Sequence[ExclusionRow]


FlippedPart = Literal["levels", "pairs", "primary", "best", "recommended"]
"""What changes: a verdict, or a level."""
LEVEL_CHOICES = ("best", "recommended")
"""Changes of a level, not of a verdict."""
LeftOutUnit = Literal["pair", "block"]
SensitivityStatus = Literal["robust", "flips", "best_flips", "too_few", "undecided", "not_tried"]


class Flipped(Struct, frozen=True, kw_only=True):
    """A verdict, or a best or recommended level, that changes.

    before, after: the words of verdicts, or levels; None where there is none. too_few: since too little is left.
    """

    of: FlippedPart
    levels: Levels
    baseline: Any = None
    candidate: Any = None
    primary: bool
    before: Any
    after: Any
    too_few: bool


class Flip(Struct, frozen=True):
    """What changes without one run (by its position) or block."""

    without: PositionOrBlock
    changes: Sequence[Flipped]


class LeftOutInTurn(Struct, frozen=True):
    """Runs or blocks left out one after the other. tried: of so many; flipping: how many change something; flips: the first of them."""

    tried: Count
    of: Count
    flips: Sequence[Flip]
    flipping: Count


class Tried(Struct, frozen=True):
    """decided: verdicts that could flip. runs: None for pairs, where the other run of a pair is useless alone; blocks: None without blocks."""

    decided: Count
    runs: LeftOutInTurn | None = None
    blocks: LeftOutInTurn | None = None


class Sensitivity(Struct, frozen=True):
    """Whether a verdict changes when any one run or block is left out.

    best_flips: no verdict does, but another level is the best or the recommended one; too_few: with one less nothing could be judged;
    undecided: there is no verdict that could flip; not_tried: it would take too long.

    with_excluded: the same as if no run was excluded; None where none is.
    """

    status: SensitivityStatus
    unit: LeftOutUnit
    as_judged: Tried
    with_excluded: Tried | None


class FailedPart(Struct, frozen=True):
    """A finding that could not be computed, and the error."""

    name: str
    error: str


class FailedParts(Struct, frozen=True):
    """What failed of an analysis."""

    parts: Sequence[FailedPart]


Missing = Literal["", "not_in_blocks", "not_positive", "too_many", "too_few"]
"""Why there are no effects of blocks; empty where there are."""


class Spread(Struct, frozen=True):
    """Mean and standard deviation over runs; no standard deviation of one run."""

    mean: Seconds
    sd: Seconds | None


class PhaseCell(Struct, frozen=True):
    """Seconds of each phase of one cell, by its name. runs: those that have phases."""

    cell: Key
    levels: Levels
    runs: Count
    seconds: Mapping[str, Spread]


class PhaseTable(Struct, frozen=True):
    """Phases in the order of time. overlap: they go on at the same time, and do not add up."""

    overlap: bool
    names: Sequence[str]
    cells: Sequence[PhaseCell]


class Phases(Struct, frozen=True, omit_defaults=True):
    """Steps of an attempt, and parts of the measured time; None where no run has any."""

    attempt: PhaseTable | None = None
    measure: PhaseTable | None = None


class Stretch(Struct, frozen=True):
    """A part of a campaign: its first and last position. Instants are None where a run has none."""

    first: Position
    last: Position
    started_at: str | None
    ended_at: str | None


class BlockEffect(Stretch, frozen=True):
    """How far the runs of one block lie from those of the others, whichever cells it holds."""

    block: Block
    session: SessionNumber
    effect_pct: Percent


class SessionStretch(Stretch, frozen=True):
    """The runs of one session."""

    number: SessionNumber
    runs: Count


class Drift(Struct, frozen=True):
    """Effects of blocks around 0, and the sessions.

    block_sd_pct, sd_pct: standard deviation between blocks, and of runs within a block. efficiency: how many times the runs would have
    been needed without blocks.
    """

    missing: Missing
    blocks: Sequence[BlockEffect]
    block_sd_pct: Percent | None
    sd_pct: Percent | None
    efficiency: Number | None
    sessions: Sequence[SessionStretch]


class DensityCurve(Struct, frozen=True):
    """Heights on an even grid from `low` to `high`, of logs where `on_logs`; the highest peak is 1."""

    low: InMetric
    high: InMetric
    on_logs: bool
    heights: Sequence[Number]
    modes: Sequence[Mode]


class DensityCell(Struct, frozen=True):
    """The density of one cell's runs; None where there are too few, or the values are no raw ones."""

    cell: Key
    density: DensityCurve | None
    n: Count


class Densities(Struct, frozen=True):
    """Densities of one metric. fewest: the number of runs that a density takes."""

    fewest: Count
    cells: Sequence[DensityCell]


class CurveTogether(Struct, frozen=True):
    """Percentiles of all samples together, without intervals."""

    shares: Sequence[Share]
    values: Sequence[Seconds]


class PercentileCell(Struct, frozen=True):
    """Percentiles of one cell's samples: columns of equal length, `low` and `high` None without an interval.

    values: geometric means of the runs' own percentiles. counts: samples; fewest: of a run; dropped: samples
    that were out of the histograms' range.
    """

    cell: Key
    dropped: Count
    runs: Count
    counts: Count
    fewest: Count
    shares: Sequence[Share]
    values: Sequence[Seconds]
    low: Sequence[Seconds | None]
    high: Sequence[Seconds | None]
    together: CurveTogether


class Percentiles(Struct, frozen=True):
    """The curves of one quantity, such as the response time."""

    name: str
    cells: Sequence[PercentileCell]


LeftOut = Literal["", "bound", "not_steady", "failures"]
"""Why the fit of a law does not use a run: the generator was saturated, its halves differ, or too much failed."""


class LoadRun(Struct, frozen=True):
    """One run of a closed loop: `n` at a time, throughput in 1/s, mean response time.

    left_out: why the fit does not use it; empty where it does.
    """

    position: Position
    block: Block
    worker: str
    started_at: str | None
    n: Number
    throughput: PerSecond
    response: Seconds | None
    left_out: LeftOut


class LoadLevel(Struct, frozen=True):
    """Means of the runs with `n` at a time. effective: by Little's law the number served; ratio: of it to `n`."""

    n: Number
    runs: Count
    throughput: PerSecond
    response: Seconds | None
    effective: Number | None
    ratio: Number | None
    consistent: bool | None


class Law(Struct, frozen=True):
    """The Universal Scalability Law, and what follows from it; None where that is infinite.

    g: throughput of one; s: contention; k: coherency; largest: the most at a time that was measured;
    throttle: the recommended limit.
    """

    g: PerSecond
    s: Number
    k: Number
    largest: Number
    peak: Number | None
    whole_peak: Count | None
    most: PerSecond | None
    power_point: Number | None
    linear_limit: Number | None
    peak_reached: bool
    throttle: Count | None
    extrapolated: bool
    rule_of_thumb: Number | None
    rule_agrees: bool


class LawBounds(Struct, frozen=True):
    """Bootstrap intervals of the law's figures. with_peak: the share of resamples with a peak."""

    g: Sequence[PerSecond | None]
    s: Bounds
    k: Bounds
    peak: Bounds
    most: Sequence[PerSecond | None]
    power_point: Bounds
    throttle: Bounds | None
    with_peak: Share


class LoadPlace(Struct, frozen=True):
    """A point of the law: `n` at a time, throughput and response time."""

    n: Number
    throughput: PerSecond
    response: Seconds


class Unranked(Struct, frozen=True):
    """Why no limit is recommended: the campaign was cancelled, or `few` of its `levels` have fewer than `fewest` runs that count."""

    cancelled: bool
    few: Count = 0
    levels: Count = 0
    fewest: Count = 0


class LoadGroup(Struct, frozen=True):
    """One curve: the runs whose other levels are equal.

    missing: why there is no law; fewest: levels that it takes. left_out: numbers of runs by reason. curve: points
    of the law (n, throughput, response time).
    """

    levels: Levels
    missing: Literal["", "not_enough_levels"]
    fewest: Count
    left_out: Mapping[str, Count]
    runs: Sequence[LoadRun]
    levels_measured: Sequence[LoadLevel]
    law: Law | None
    bounds: LawBounds | None
    curve: Sequence[Sequence[Number]]
    places: Mapping[str, LoadPlace]
    unranked: Unranked | None = None


class Scalability(Struct, frozen=True):
    """Curves of throughput by concurrency. parameter: its name; throughput, response: names of metrics."""

    parameter: str
    throughput: str
    response: str
    groups: Sequence[LoadGroup]


class ConditionTerms(Struct, frozen=True, kw_only=True):
    """A condition of the criterion. name: as in `ConditionCapacity`; metric: empty for the share of failures.

    at_most, at_least: the bound in the unit of the metric, one of them; failed_share: the bound where it is a share. stated: somebody stated it;
    else it is the campaign's failure limit. as_share: a percentile that is judged as a share of the units.
    """

    name: str
    metric: str = ""
    label: str = ""
    unit: str = ""
    at_most: InMetric | None = None
    at_least: InMetric | None = None
    failed_share: Share | None = None
    as_share: bool = False
    stated: bool = True


class CapacityCell(Struct, frozen=True, kw_only=True):
    """One cell as a step of load. load: its level; held: the decision on it, the only one: all that speaks of the load reads it.

    passed: runs that kept every condition, of `runs`, which decides nothing; cut_short: those that were ended early since too much had failed, so that
    more than what was counted would have failed.
    """

    cell: Key
    load: OnAxis
    held: Held
    runs: Count
    passed: Count
    cut_short: Count = 0


class WordWithout(Struct, frozen=True, kw_only=True):
    """Another word that a capacity, or a ratio of capacities, has without one block; low, high: the bracket of a capacity."""

    block: Block
    word: str
    low: OnAxis | None = None
    high: OnAxis | None = None


class WithoutBlocks(Struct, frozen=True, kw_only=True):
    """What leaving out each block in turn changes. tried: of so many; 0 where too little would be left, or sessions are the sample.

    lowest, highest: estimates of the capacity without one of them; None where one has none, and of ratios.
    """

    tried: Count
    of: Count
    changes: Sequence[WordWithout] = ()
    lowest: OnAxis | None = None
    highest: OnAxis | None = None


class CapacityOfSetting(Struct, frozen=True, kw_only=True):
    """What one setting carries. levels: of all factors but the load. conditions of `capacity` are named as in `CapacityFinding.conditions`.

    alone: what a comparison with another campaign rests on. without: each block in turn; None while the campaign goes on.
    """

    levels: Levels
    cells: Sequence[CapacityCell]
    capacity: Capacity
    confirmation: Confirmation | None = None
    alone: CapacityAlone | None = None
    without: WithoutBlocks | None = None


class SettingRatio(Struct, frozen=True, kw_only=True):
    """The capacity of one setting against another, by their places in `CapacityFinding.settings`. without: as of a setting."""

    baseline: Place
    candidate: Place
    factor: str
    ratio: CapacityRatio
    without: WithoutBlocks | None = None


class MostCarried(Struct, frozen=True, kw_only=True):
    """Settings against the one that truly carries the most, whichever that is (Hsu), by their places.

    possibly: those that may carry the most. more_pct: how much more it carries than each of them, at most. recommended: the first
    that it beats by `within_pct` at most; None where none is shown to be.
    """

    possibly: Sequence[Place]
    more_pct: Sequence[Percent]
    within_pct: Percent
    recommended: Place | None


class CapacityFinding(Struct, frozen=True, kw_only=True):
    """What is carried: for each setting the largest load that keeps the conditions.

    load: the factor; load_unit: what it counts, such as hosts. others: further factors that are load, which are held fixed in each setting. offered_rate: so much is asked, whatever the target does. cancelled: the campaign ended before its plan. stated:
    somebody stated a criterion. ratios: of settings that differ in one factor, one family. most: of three settings or more that can be ranked. margin_pct, delta_pct: of ratios. highest: values
    of the primary metric at the lowest and the highest load are in the cells' finding.
    """

    load: str
    load_label: str
    others: Sequence[str]
    conditions: Sequence[ConditionTerms]
    stated: bool
    resolution: Number
    alpha: Probability
    margin_pct: Percent
    delta_pct: Percent
    settings: Sequence[CapacityOfSetting]
    ratios: Sequence[SettingRatio]
    offered_rate: bool = False
    cancelled: bool = False
    explored: Sequence[Position] = ()
    most: MostCarried | None = None

    @property
    def is_told(self) -> bool:
        """Return whether there is a criterion to be kept, or something is said to be carried."""
        return self.stated or any(each.capacity.word.has_bounds for each in self.settings)

    @property
    def decisions(self) -> dict[Key, Held]:
        """Return the decision on each load of each setting, by cell."""
        return {each.cell: each.held for setting in self.settings for each in setting.cells}

    @property
    def states(self) -> dict[Key, tuple[Held, dict[str, LoadState]]]:
        """Return by cell the decision on it, and the state of each condition by its name."""
        return {
            each.cell: (
                each.held,
                {
                    one.name: state
                    for one in setting.capacity.conditions
                    for state in one.loads
                    if isclose(state.load, each.load, rel_tol=1e-9)
                },
            )
            for setting in self.settings
            for each in setting.cells
        }


ThresholdWord = Literal["passes", "does_not_pass", "not_decided", "not_contradicted"]
"""`not_contradicted`: of a share without a failure that has too few units to be shown; never of a cell."""


class ThresholdState(Struct, frozen=True, kw_only=True):
    """One condition in one cell: the estimate with its interval in the metric's unit, or the share that failed with its."""

    name: str
    word: ThresholdWord
    value: InMetric | None
    interval: InMetricInterval | None
    share: Share | None = None
    share_interval: ShareInterval | None = None


class ThresholdCell(Struct, frozen=True, kw_only=True):
    """One cell against the criterion; word: the worst of its conditions."""

    cell: Key
    levels: Levels
    word: ThresholdWord
    states: Sequence[ThresholdState]


class Thresholds(Struct, frozen=True, kw_only=True):
    """Whether cells keep the criterion, beside the comparisons. word: `passes` if every cell does, `does_not_pass` if one does not.

    loads: cells are loads, and their words the decisions of `CapacityFinding`.
    """

    word: ThresholdWord
    conditions: Sequence[ConditionTerms]
    cells: Sequence[ThresholdCell]
    loads: bool = False


class BindingLevel(Struct, frozen=True):
    """What the runs of one cell say of which resource binds. value: its level of the factor, None where none varies."""

    cell: Key
    value: Any
    binding: LevelBinding


class BindingGroup(Struct, frozen=True, kw_only=True):
    """The cells of one setting, in the order of their levels. levels: of all other factors.

    ranges: at which levels each resource binds, by their places in `cells`; trends: of each resource's utilisation. Both need levels that
    are numbers.
    """

    levels: Levels
    cells: Sequence[BindingLevel]
    ranges: Sequence[BindingRange]
    trends: Sequence[Trend]


class BindingFinding(Struct, frozen=True, kw_only=True):
    """Which resource of the target binds at which level. Absent where no run was watched.

    factor: along which levels are told, the load where one varies; empty where nothing varies. label: what it counts. watched: runs
    that were judged, of `runs` that count. not_watched: resources that no run observed. missing: sources that were not there
    in a run. rule: its version; alpha: of the trends. niced: programs whose niced work is a part of a CPU that binds.
    """

    factor: str
    label: str
    is_load: bool
    numeric: bool
    groups: Sequence[BindingGroup]
    runs: Count
    watched: Count
    not_watched: Sequence[Resource]
    missing: Sequence[str]
    caveats: Sequence[Caveat]
    rule: Count
    alpha: Probability
    niced: Sequence[str] = ()


class Differs(Struct, frozen=True):
    """A field in which baseline and candidate differ, with both of its values as text."""

    label: str
    baseline: str
    candidate: str


NOT_RECORDED = "not recorded"
"""A fact of the environment that was not recorded of a campaign."""


class Difference(Struct, frozen=True):
    """One fact over the compared campaigns, in their order.

    differs: which of them differ from the first one. weight: what the difference is: a possible cause of
    different results, how runs were made, or when. changed: in which of them it changed while they were
    measured.
    """

    group: str
    label: str
    values: Sequence[str]
    differs: Sequence[bool]
    weight: Literal["cause", "design", "time"] = "cause"
    changed: Sequence[bool] = ()

    def only(self, places: Sequence[int]) -> "Difference":
        """Return the fact for some campaigns only, always with the first one."""
        return structs.replace(
            self,
            values=tuple(self.values[place] for place in places),
            differs=tuple(self.differs[place] for place in places),
            changed=tuple(self.changed[place] for place in places) if self.changed else (),
        )

    @property
    def any(self) -> bool:
        """Return whether one of them differs."""
        return any(self.differs)

    @property
    def unknown(self) -> bool:
        """Return whether it was recorded of some of the campaigns only."""
        return 0 < list(self.values).count(NOT_RECORDED) < len(self.values)


class ComparedCampaign(Struct, frozen=True, kw_only=True):
    """A campaign of a comparison; the first one is the baseline.

    name: distinct among them. unit: of its cells, before their conversion into that of the baseline.
    checked: perfdash made the runs, and checked what work they did. carried: what its settings carry; None without load. cancelled: it was ended
    before its plan.
    """

    name: str
    unit: str
    simulators: Sequence[str]
    checked: bool
    carried: CapacityFinding | None = None
    cancelled: bool = False


class ComparedCells(Struct, frozen=True, kw_only=True):
    """A cell of a candidate against one of the baseline.

    side: the place of the candidate among the campaigns. name: the levels that both have; empty where cells
    were chosen one by one. titles: of both, with their campaigns. means: geometric where there is one, in the unit of
    the baseline. sessions: with a value, of each; between: the verdict is that between sessions. refused: why
    they are not compared. settings: what else was set otherwise. differs: facts of two targets; None where it is one, or none is known.
    """

    side: int
    name: str
    titles: tuple[str, str]
    baseline: Cell
    candidate: Cell
    comparison: Comparison
    means: tuple[float | None, float | None]
    sessions: tuple[int, int]
    between: bool
    refused: Sequence[Differs] = ()
    settings: Sequence[Differs] = ()
    differs: Sequence[FactOnBoth] | None = None


class ComparedCapacity(Struct, frozen=True, kw_only=True):
    """What a setting of a candidate carries against the same one of the baseline.

    name: the levels that both have; empty for the only setting. sessions: of each with an estimate; between: both rest on the spread of sessions. refused: why
    they are not compared. differs: facts of their targets; None where it is one target.
    """

    side: Place
    name: str
    baseline: CapacityOfSetting
    candidate: CapacityOfSetting
    ratio: CapacityRatio
    sessions: tuple[Count, Count]
    between: bool
    refused: Sequence[Differs] = ()
    differs: Sequence[FactOnBoth] | None = None


class ComparedCandidate(Struct, frozen=True, kw_only=True):
    """A candidate as a whole.

    refused: why none of its cells may be compared. apart: factors without a level in common. only_here, only_there: cells of
    the candidate, and of the baseline, without a counterpart.
    """

    side: int
    refused: Sequence[Differs]
    over: OverCells | None = None
    apart: Sequence[Differs] = ()
    only_here: Sequence[str] = ()
    only_there: Sequence[str] = ()


class CampaignComparison(Struct, frozen=True, kw_only=True):
    """Campaigns, or cells of them, against the first. It is not stored.

    candidates: empty where cells were chosen one by one. left_out: how many pairs of cells beyond the limit were not compared.
    capacities: of the settings that two campaigns with load have.
    """

    terms: Terms
    campaigns: Sequence[ComparedCampaign]
    candidates: Sequence[ComparedCandidate]
    rows: Sequence[ComparedCells]
    differences: Sequence[Difference]
    left_out: int = 0
    capacities: Sequence[ComparedCapacity] = ()

    @property
    def judged_sides(self) -> Sequence[int]:
        """Return the candidates of which anything was judged, by their places."""
        carried = {each.side for each in self.capacities if not each.refused}
        return sorted(carried | {row.side for row in self.judged})

    def capacities_of(self, candidate: ComparedCandidate) -> Sequence[ComparedCapacity]:
        """Return what the settings of one candidate carry."""
        return [each for each in self.capacities if each.side == candidate.side]

    @property
    def judged(self) -> Sequence[ComparedCells]:
        """Return the rows that were not refused."""
        return [row for row in self.rows if not row.refused]

    def rows_of(self, candidate: ComparedCandidate) -> Sequence[ComparedCells]:
        """Return the rows of one candidate."""
        return [row for row in self.rows if row.side == candidate.side]

    def causes_of(self, side: int) -> Sequence[Difference]:
        """Return the differences between a campaign and the first one that may cause different results."""
        return [row for row in self.differences if row.weight == "cause" and row.differs[side]]


class Grounds(Struct, frozen=True):
    """The findings that the answer of a campaign rests on; None where it has none of a kind. sessions: why there are several."""

    answer: Answer
    pairs: Pairs | None = None
    levels: LevelsFinding | None = None
    calibration: CalibrationFinding | None = None
    sessions: SessionsFinding | None = None
    outlook: Outlook | None = None
    capacity: CapacityFinding | None = None
    thresholds: Thresholds | None = None

    @property
    def judged(self) -> Pairs | LevelsFinding | None:
        """Return the finding with the verdicts on differences."""
        return self.pairs or self.levels

    @property
    def is_compared(self) -> bool:
        """Return whether settings were compared, so that how they compare is the answer."""
        if self.pairs or not self.levels:
            return self.pairs is not None
        levels = self.levels
        return bool(levels.primary or levels.pairs or any(g.comparisons for g in levels.groups))
