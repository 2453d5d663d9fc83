"""The part of a report about one campaign."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import parse_qsl, urlsplit

from django.db.models import Count, Max, Min
from msgspec import structs

from campaigns.findings.answers import answer_of
from campaigns.findings.pages.level_tables import level_tables
from campaigns.findings.pages.tables import strata_table
from campaigns.findings.store import Findings, findings_of
from campaigns.findings.values import FactOnBoth
from campaigns.findings.wording.answer_text import NOT_ANALYSED, WITHHELD
from campaigns.findings.wording.binding import binding_sentence
from campaigns.findings.wording.capacity_answer import capacity_texts
from campaigns.findings.wording.sensitivity import sensitivity_sentence
from campaigns.findings.wording.thresholds import threshold_texts
from campaigns.kinds.base import SIMULATOR
from campaigns.kit.charts.labels import LevelLabels, contrast_label, level_text, line_of
from campaigns.kit.numbers import amount, counted, plain_percent
from campaigns.models import Campaign, Evidence, Exclusion, Finding, Run
from campaigns.planning.amendments import amendments_of
from campaigns.planning.metrics import metric_of
from campaigns.planning.pages.limits import limits_of
from campaigns.results.environment import ObservedFact, simulators_of
from campaigns.results.pages_data import Outline, outline_of, surroundings_of
from campaigns.reviews.reports.charts import charts_of
from campaigns.reviews.reports.values import Compared, Excluded, Part, Rows

PUBLIC_FACTS = frozenset(
    {"Candlepin", "Foreman", "Katello", "Pulp", "cores", "kernel", "memory", "processor", "python",
     "version", "versions of workers", "workers", SIMULATOR}
)  # fmt: skip
"""Facts of the environment in a public report: versions and sizes, nothing that names a machine."""
SOMEBODY = "a member of the team"
MOST_COMPARED = 30
"""Comparisons that are written out; the bundle and the page of the campaign have all."""


def part_of(campaign: Campaign, evidence: Evidence | None = None, *, public: bool = False) -> Part:
    """Return the part of a report about a campaign, of a conclusion or alone.

    public: without the target's name, names of people, and facts that could name a machine.
    """
    outline = outline_of(campaign)
    query = dict(parse_qsl(urlsplit(evidence.view).query)) if evidence else {}
    findings = findings_of(campaign, "")
    if public:
        findings = _public(findings)
    is_open = campaign.state in Campaign.ACTIVE
    compared = [] if is_open else list(_compared(campaign, outline, findings))
    answer = WITHHELD if is_open else answer_of(findings) or NOT_ANALYSED
    surroundings = surroundings_of(campaign, findings.surroundings)
    simulators = simulators_of(campaign)
    contrast = evidence.contrast if evidence else None
    return Part(
        name=campaign.name,
        question=campaign.question,
        contrast=contrast_label(contrast, outline.factors) if contrast else outline.contrast,
        answer=answer.sentence,
        certainty=answer.certainty,
        caveats=[*filter(None, (answer.caveat, *answer.further))],
        facts=(
            *(
                (fact.label, ", ".join(filter(None, (fact.value, fact.note))))
                for fact in answer.facts
            ),
            *(() if is_open or public else _binding(findings)),
        ),
        carried=() if is_open else tuple(_carried(findings))[:MOST_COMPARED],
        criterion=() if is_open else tuple(_criterion(findings))[:MOST_COMPARED],
        compared=tuple(compared[:MOST_COMPARED]),
        more_compared=max(0, len(compared) - MOST_COMPARED),
        charts=() if is_open else charts_of(campaign, outline, findings, query, simulators),
        definition=tuple(_definition(campaign, outline, public=public)),
        how=tuple(_how(campaign, outline)),
        sessions=tuple(_sessions(campaign)),
        environment=tuple(
            (f"{fact.name} ({fact.place})", _of_runs(fact))
            for fact in surroundings.facts
            if not public or fact.name in PUBLIC_FACTS
        ),
        settings=tuple(
            (seen.name, level_text(seen.asked), level_text(seen.in_force), str(seen.runs))
            for seen in surroundings.settings
        ),
        unread=_unread(surroundings.unread),
        excluded=tuple(_excluded(campaign, public=public)),
        amended=tuple(_amended(campaign, public=public)),
        sensitivity=() if is_open else _sensitivity(findings),
        data_hash=findings.data_hash,
        signed_hash=evidence.data_hash if evidence else "",
        versions=_versions(campaign),
        computed_at=at(findings.computed_at),
    )


def _binding(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield what is said of the target's resources, where it was watched. It may name disks and groups of processes."""
    if findings.binding is not None:
        yield "Which resource binds", binding_sentence(findings.binding)


def _public(findings: Findings) -> Findings:
    """Return findings without the facts of targets that are not public: that some differ is all that is said of them."""
    answer = findings.answer
    if answer is None:
        return findings
    answer = structs.replace(answer, target="")
    told = answer.targets
    if told is None:
        return replace(findings, answer=answer)
    pairs = [structs.replace(pair, differs=_public_facts(pair.differs)) for pair in told.pairs]
    quiet = [structs.replace(each, why="") for each in told.quiet]  # it may name an address
    told = structs.replace(told, pairs=pairs, quiet=quiet)
    return replace(findings, answer=structs.replace(answer, targets=told))


def _public_facts(differs: Sequence[FactOnBoth]) -> list[FactOnBoth]:
    public = [fact for fact in differs if fact.name in PUBLIC_FACTS]
    return public + [FactOnBoth("other facts", "", "")] * (len(public) < len(differs))


def at(instant: datetime | None) -> str:
    """Format an instant in UTC; empty where there is none."""
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC" if instant else ""


def _compared(campaign: Campaign, outline: Outline, findings: Findings) -> Iterator[Compared]:
    labels = LevelLabels(outline.factors, campaign.block_word)
    told = findings.answer.targets if findings.answer else None
    if findings.pairs:
        table = strata_table(findings.pairs, labels, told)
        sides = f"{table.candidate} vs. {table.baseline}"
        for line in table.lines:
            name = f"{line.name}: {sides}" if len(table.lines) > 1 else sides
            yield Compared(
                name,
                line.change,
                line.interval,
                line.display.word,
                line.display.tone,
                line.confirmation,
                line.pairs,
                line.also,
            )
    elif findings.levels and findings.summaries:
        levels = level_tables(findings.levels, findings.summaries, labels, told=told)
        for group in levels.groups:
            where = f"{group.title}: " if len(levels.groups) > 1 else ""
            for step in group.steps:
                yield Compared(
                    f"{where}{levels.factor} {step.candidate} vs. {step.baseline}",
                    step.change,
                    step.interval,
                    step.display.word,
                    step.display.tone,
                    step.confirmation,
                    "",
                    step.also,
                )


def _carried(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield what each setting carries, and the ratios between them."""
    if findings.capacity is None or not findings.capacity.conditions:
        return
    texts = capacity_texts(findings.capacity, findings.answer)
    yield "carried means that", texts.conditions
    for setting in texts.settings:
        first = f"breaks first: {setting.binding}" if setting.binding else ""
        safe = f"safe load {setting.safe_load}" if setting.safe_load else ""
        parts = (setting.short, first, safe, *setting.remarks, setting.advice)
        yield setting.setting or "carried", "; ".join(filter(None, parts))
    for ratio in texts.ratios:
        yield (
            f"{ratio.larger} against {ratio.smaller}",
            "; ".join(filter(None, (ratio.text, ratio.also))),
        )


def _criterion(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield whether the criterion is kept, and each condition in each cell."""
    if findings.thresholds is None:
        return
    texts = threshold_texts(findings.thresholds)
    yield texts.label.word, texts.sentence
    for each in texts.lines:
        yield each.cell or "all runs", f"{each.why}: {each.label.word}"


def _definition(campaign: Campaign, outline: Outline, *, public: bool) -> Iterator[tuple[str, str]]:
    yield "Kind", outline.kind
    if campaign.target:
        family = campaign.target.family
        named = f"{campaign.target_names} ({family})"
        number = len(campaign.targets)
        yield (
            "Target",
            (f"{number} of {family}" if number > 1 else f"a {family}") if public else named,
        )
    for factor in outline.factors:
        paired = ", paired" if factor.name == campaign.paired_factor else ""
        yield factor.label, ", ".join(level_text(level) for level in factor.levels) + paired
    for label, value in outline.parameters:
        if value not in (None, ""):
            yield label, line_of(value)


def _how(campaign: Campaign, outline: Outline) -> Iterator[tuple[str, str]]:
    seed = "" if campaign.source else f", seed {campaign.seed}"
    yield "Order", f"{campaign.get_order_display()}{seed}"
    yield "Runs", _counts(campaign, outline)
    yield "Repetitions", str(campaign.repetitions)
    if outline.warm_ups:
        yield "Warm-ups", f"{outline.warm_ups}, not counted"
    when = campaign.runs.exclude(purpose=Run.Purpose.TRIAL).aggregate(
        first=Min("started_at"), last=Max("finished_at")
    )
    if when["first"]:
        yield "Measured", f"{at(when['first'])} to {at(when['last'])}"
    metric = outline.metric
    better = {True: ", lower is better", False: ", higher is better", None: ""}[metric.direction]
    yield "Primary metric", f"{metric.label}{f' ({metric.unit})' if metric.unit else ''}{better}"
    yield (
        "Smallest effect",
        f"{plain_percent(100 * campaign.smallest_effect)}; "
        f"equivalent within {plain_percent(100 * campaign.margin)}",
    )
    yield (
        "Failure limit",
        f"above {plain_percent(100 * campaign.failed_limit)} of the work of a cell",
    )
    if campaign.stop_rule:
        yield "Stop rule", campaign.stop_rule_text
    if outline.executable:
        yield "Limits", limits_of(campaign)
    if campaign.source:
        yield "Source", f"{campaign.source}; import of {campaign.fidelity} values"


def _counts(campaign: Campaign, outline: Outline) -> str:
    """Describe how many of the planned runs are done, and the states of the others."""
    runs = campaign.runs.filter(purpose=Run.Purpose.MEASURED).order_by().values("state")
    states = {row["state"]: row["runs"] for row in runs.annotate(runs=Count("pk"))}
    done = states.pop(Run.State.DONE, 0)
    others = "".join(f", {number} {Run.State(state).label}" for state, number in states.items())
    return f"{done} of {outline.runs} done{others}; {counted(outline.cells, 'cell')}"


def _sessions(campaign: Campaign) -> Iterator[tuple[str, str, str]]:
    rows = campaign.sessions.exclude(kind="trial").annotate(runs=Count("blocks__runs"))
    for session in rows.order_by("number"):
        yield (
            f"{session.number} ({session.get_kind_display()})",
            at(session.started_at),
            counted(session.runs, "run"),
        )


def _of_runs(fact: ObservedFact) -> str:
    return f"{fact.value} (runs {fact.first} to {fact.last})" if fact.changed else fact.value


def _unread(runs: int) -> str:
    if not runs:
        return ""
    return f"After {counted(runs, 'run')} the target's facts could not be read."


def _amended(campaign: Campaign, *, public: bool) -> Iterator[str]:
    for line in amendments_of(campaign):
        text = f"{line.label} {line.before} → {line.after}, {at(line.at)}"
        yield f"{text}, by {SOMEBODY if public else line.by}: {line.reason}"


def _sensitivity(findings: Findings) -> tuple[str, ...]:
    """Return whether a verdict depends on one run or block; empty where that was not tried."""
    terms = findings.pairs or findings.levels
    if not (findings.sensitivity and terms):
        return ()
    return (sensitivity_sentence(terms, findings.sensitivity),)


def _excluded(campaign: Campaign, *, public: bool) -> Iterator[Excluded]:
    rows = Exclusion.objects.filter(run__campaign=campaign, withdrawn_at=None)
    unit = metric_of(campaign, campaign.primary_metric).unit
    values = _values(campaign)
    for row in rows.select_related("run", "user").order_by("run__position"):
        yield Excluded(
            run=f"run {row.run.position}",
            value=amount(values.get(row.run_id), unit),
            by=SOMEBODY if public else row.user.get_username() if row.user else "perfdash",
            at=at(row.at),
            reason=row.reason,
        )


def _values(campaign: Campaign) -> dict[int, float]:
    rows = Run.objects.filter(
        campaign=campaign,
        exclusions__withdrawn_at=None,
        exclusions__isnull=False,
        attempts__state="accepted",
        attempts__measurements__metric__name=campaign.primary_metric,
    )
    return dict(rows.values_list("pk", "attempts__measurements__value"))


def _versions(campaign: Campaign) -> Rows:
    rows = Finding.objects.filter(campaign=campaign, name="answer").values_list(
        "versions", flat=True
    )
    return tuple((name, str(version)) for name, version in sorted((rows.first() or {}).items()))
