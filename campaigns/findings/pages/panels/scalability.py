"""Throughput by concurrency with the Universal Scalability Law, and against response time."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from campaigns.findings.charts import scalability
from campaigns.findings.pages.panels.base import Chosen, Column, Numbers, Panel, Shown
from campaigns.findings.pages.plots import run_note
from campaigns.findings.values import Law, LawBounds, LoadGroup, LoadLevel, Scalability
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.numbers import amount, counted, number
from campaigns.planning.metrics import metric_of
from campaigns.results.phrases import inside
from campaigns.results.run_plots import Plot

LEFT_OUT = {
    "bound": "the generator was saturated",
    "not_steady": "both halves of the run differ by more than 5 %",
    "failures": "too much of the work, or too many runs of the level, failed",
}
HOW_LAW = (
    (
        "The dashed line",
        "is the Universal Scalability Law: it bends where requests wait for one another.",
    ),
    (
        "Beyond the peak",
        "a higher number at a time lowers throughput. Below the recommended limit some "
        "throughput is unused.",
    ),
    (
        "Of the law",
        "g is the throughput of one, s the contention (share that waits), k the coherency cost "
        "(agreement).",
    ),
    (
        "It holds",
        "only for a closed loop in a steady state: as many at a time as are asked for, all along.",
    ),
)
HOW_RESPONSE = (
    (
        "To the right",
        "is more throughput, further down a sooner answer. Numbers stand at the means of levels.",
    ),
    ("Where the path turns up", "more at a time only wait longer. The best place is before that."),
    ("A run", "is drawn at the mean time of its own requests."),
)
PARAMETERS = (
    ("g", "g, throughput of one"),
    ("s", "s, contention"),
    ("k", "k, coherency"),
    ("peak", "N at the peak"),
    ("most", "throughput at the peak"),
    ("power_point", "N of most throughput per response time"),
    ("throttle", "recommended limit"),
)
FAR = 1.5
"""Bounds beyond so many times the largest concurrency measured are not shown."""
ABOVE = 1.1
"""A level above so many times the largest throughput by the law contradicts the law."""
NO_MORE = 1e-9
"""A bound of a share below this is shown as 0."""
SYMBOLS_OF = {
    "recommended limit": ("square", "equal"),
    "peak": ("hexagram", "series-2"),
}


def usl_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where the kind is no closed loop, or its concurrency does not vary."""
    drawn = _drawn(shown, "usl")
    if drawn is None:
        return None
    group, chart, chosen = drawn
    return Panel(
        plot=Plot(
            id="usl",
            title=scalability.title_throughput(chart),
            label=scalability.describe(chart),
            figure=scalability.draw_throughput(chart),
            key=scalability.legend(chart),
            height="24rem",
        ),
        how=HOW_LAW,
        numbers=_parameters(group.law, group.bounds) if group.law else _levels(chart, group),
        aside="Universal Scalability Law" if group.law else "no law fitted",
        notes=_notes(group, chart),
        choices=(chosen,),
    )


def response_panel(shown: Shown) -> Panel | None:
    """Return the panel; None where `usl_panel` is, and where no response time was stored."""
    drawn = _drawn(shown, "response")
    if drawn is None or not _has_times(shown):
        return None
    group, chart, chosen = drawn
    return Panel(
        plot=Plot(
            id="response",
            title=scalability.title(chart),
            label=scalability.describe(chart),
            figure=scalability.draw(chart),
            key=scalability.legend(chart),
            height="24rem",
        ),
        how=HOW_RESPONSE,
        numbers=_levels(chart, group),
        aside=counted(len(group.runs), "run"),
        notes=_waiting(group),
        choices=(chosen,),
    )


def _has_times(shown: Shown) -> bool:
    """Return whether a run of any curve has a response time: one curve alone may have none that counts."""
    result = shown.findings.charts.read("usl", Scalability)
    groups = result.groups if result else ()
    return any(run.response is not None for group in groups for run in group.runs)


def _drawn(shown: Shown, panel: str) -> "tuple[LoadGroup, scalability.LoadChart, Chosen] | None":
    """Return the curve that is drawn, its chart and its selector; None where there is no curve."""
    result = shown.findings.charts.read("usl", Scalability)
    groups = [group for group in result.groups if group.runs] if result else []
    if result is None or not groups:
        return None
    options = [
        (str(place), shown.labels.values(group.levels) or "all")
        for place, group in enumerate(groups)
    ]
    chosen = shown.chosen(f"{panel}-of", "Curve", options)
    group = groups[int(chosen.value)]
    if shown.is_open:
        group = replace(group, law=None, bounds=None, curve=(), places={})
    return group, _chart(shown, result, group), chosen


def _chart(shown: Shown, result: Scalability, group: LoadGroup) -> scalability.LoadChart:
    metric = metric_of(shown.campaign, result.throughput)
    labels = {factor.name: inside(factor.label) for factor in shown.labels.factors}
    return scalability.LoadChart(
        factor=labels.get(result.parameter, result.parameter),
        throughput=Quantity(inside(metric.label), metric.unit, metric.lower_is_better),
        runs=[
            scalability.LoadRun(
                run.n,
                run.throughput,
                run.response,
                f"run {run.position}",
                run_note(run, shown.labels.block),
                run.position,
                LEFT_OUT.get(run.left_out, ""),
            )
            for run in group.runs
        ],
        levels=[
            scalability.LoadLevel(level.n, level.throughput, level.response)
            for level in group.levels_measured
        ],
        law=[(n, x, r) for n, x, r in group.curve],
        marks=_marks(group, metric.unit),
    )


def _marks(group: LoadGroup, unit: str) -> list[scalability.LoadMark]:
    """Return the recommended limit and the peak, where they lie in the measured range."""
    law = group.law
    if law is None or doubt_of(law, group.levels_measured, unit):
        return []
    return [
        scalability.LoadMark(name, at.n, at.throughput, at.response, *look)
        for name, look in SYMBOLS_OF.items()
        if (at := group.places.get(name)) and at.n <= law.largest
    ]


def _notes(group: LoadGroup, chart: scalability.LoadChart) -> tuple[str, ...]:
    law = group.law
    if law is None and not group.missing:
        return ("The law is shown when the campaign has ended.", *_left_out(group))
    if law is None:
        levels = len(group.levels_measured)
        return (
            f"No law is fitted: it takes {group.fewest} levels with runs that count, and there "
            f"{'is' if levels == 1 else 'are'} {levels}.",
            *_left_out(group),
        )
    if doubt := doubt_of(law, group.levels_measured, chart.throughput.unit):
        return (doubt, *_left_out(group), *_waiting(group))
    return (
        *_limit(law, group),
        *_peak(law, group.bounds, chart),
        *_left_out(group),
        *_waiting(group),
    )


def doubt_of(law: Law, levels: Sequence[LoadLevel], unit: str) -> str:
    """Return where runs carried more than the law allows at all: nothing is to be had from it then."""
    most = law.most
    above = [level for level in levels if most is not None and level.throughput > ABOVE * most]
    if not above:
        return ""
    best = max(above, key=lambda level: float(level.throughput))
    return (
        f"The law does not describe these runs: its largest throughput is {amount(most, unit)}, and "
        f"at {number(best.n)} the runs carried {amount(best.throughput, unit)} on average. No "
        "limit is recommended from it; look at the runs that are far from the others."
    )


def _limit(law: Law, group: LoadGroup) -> tuple[str, ...]:
    if group.unranked:
        return (f"{group.unranked}: no limit is recommended.",)
    if law.throttle is None:
        return ("The law has no largest throughput, so that no limit is recommended.",)
    if law.extrapolated:
        return (
            f"By the law 95 % of the largest throughput takes {law.throttle} at a time, more "
            f"than the {number(law.largest)} that were measured: measure there before using it.",
        )
    text = f"Recommended limit: {law.throttle} at a time, the fewest with 95 % of the largest throughput"
    if group.bounds and group.bounds.throttle:
        text += f" (95 % interval of where that is: {between(group.bounds.throttle, law)})"
    if law.peak_reached and law.rule_of_thumb is not None:
        agrees = "agrees" if law.rule_agrees else "does not agree"
        text += (
            f". The rule of thumb, 75 % of the peak, says {number(law.rule_of_thumb)}, and {agrees}"
        )
    return (f"{text}.",)


def _peak(law: Law, bounds: LawBounds | None, chart: scalability.LoadChart) -> tuple[str, ...]:
    if law.peak is None:
        return ("The law has no peak: no decline at a higher number at a time was observed.",)
    if not law.peak_reached:
        return (
            "The peak was not reached: by the law it lies beyond 1.5 times the largest number "
            "that was measured, and nothing is said of it.",
        )
    span = f" (95 % interval: {between(bounds.peak, law)})" if bounds else ""
    most = amount(law.most, chart.throughput.unit)
    return (f"The peak lies at {number(law.peak)}{span} at a time, with {most}.",)


def between(bounds: Sequence[float | None], law: Law) -> str:
    """Return an interval of concurrency as text; bounds outside the measured range have no number."""
    low, high = (
        None if bound is None or bound > law.largest else number(bound) for bound in bounds
    )
    if low is None:
        return "beyond what was measured"
    return f"{low} to {high}" if high is not None else f"{low} to beyond what was measured"


def _left_out(group: LoadGroup) -> tuple[str, ...]:
    parts = [
        f"{counted(count, 'run')} where {labels}"
        for reason, labels in LEFT_OUT.items()
        if (count := group.left_out[reason])
    ]
    return (f"In no fit: {'; '.join(parts)}.",) if parts else ()


def _waiting(group: LoadGroup) -> tuple[str, ...]:
    """Return by Little's law whether response times include all waiting."""
    off = [level for level in group.levels_measured if level.consistent is False]
    if not off:
        return ()
    worst = max(off, key=lambda level: abs((level.ratio or 0.0) - 1))
    where = ", ".join(number(level.n) for level in off)
    why = (
        "The rest waited where nobody timed it, or was not there all along; end to end an answer "
        "takes number ÷ throughput."
        if (worst.ratio or 0.0) < 1
        else "They are not all of the same requests, or some were counted twice."
    )
    return (
        f"At {where} throughput × response time is not the number at a time within 5 % (Little’s "
        f"law): at {number(worst.n)} it accounts for {number(worst.effective)}. {why}",
    )


def _parameters(law: Law, bounds: LawBounds | None) -> Numbers:
    rows: list[Sequence[Any]] = [
        (label, getattr(law, name), *bounds_of(name, bounds, law)) for name, label in PARAMETERS
    ]
    rows.append(("rule of thumb, 75 % of the peak", law.rule_of_thumb, None, None))
    return Numbers(
        (
            Column("of the law"),
            Column("value", "count"),
            Column("95 % from", "count"),
            Column("to", "count"),
        ),
        rows,
    )


def bounds_of(name: str, bounds: LawBounds | None, law: Law) -> tuple[float | None, float | None]:
    """Return the bounds, None where they lie outside the measured range."""
    low, high = getattr(bounds, name, None) or (None, None)
    if name in ("peak", "power_point", "throttle"):
        low, high = (None if b is None or b > FAR * law.largest else b for b in (low, high))
    elif name == "most" and bounds_of("peak", bounds, law)[1] is None:
        high = None
    elif low is not None and low < NO_MORE:
        low = 0.0
    return low, high


def _levels(chart: scalability.LoadChart, group: LoadGroup) -> Numbers:
    return Numbers(
        (
            Column(chart.factor),
            Column("runs", "count"),
            Column("throughput", chart.throughput.unit),
            Column("response time", "s"),
            Column("throughput × response time", "count"),
        ),
        [
            (
                number(level.n),
                level.runs,
                level.throughput,
                level.response,
                level.effective,
            )
            for level in group.levels_measured
        ],
    )
