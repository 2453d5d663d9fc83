"""What a comparison of campaigns says: its answer, and the remarks on each row. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from campaigns.findings.values import (
    CampaignComparison,
    ComparedCandidate,
    ComparedCapacity,
    ComparedCells,
    Difference,
    Differs,
)
from campaigns.findings.wording.answer_text import (
    MOST_FACTS,
    AnswerText,
    Fact,
    Statement,
    capitalised,
    fact_of,
    first_short,
)
from campaigns.findings.wording.cells import bound_of
from campaigns.findings.wording.compared_capacity import (
    carried_sentence,
    is_load_alone,
    label_of_capacity,
    over_sessions,
    words_of,
)
from campaigns.findings.wording.targets import differing_text
from campaigns.findings.wording.two_sides import certainty_of_two, verdict_of_two
from campaigns.findings.wording.verdicts import (
    Display,
    advice_of,
    change_briefly,
    change_in_words,
    label_of,
    smaller_side,
    span_in_words,
)
from campaigns.kit.numbers import counted, short
from campaigns.stats.verdict import DECIDED, WITHOUT_NUMBERS, Word

MOST_CAUSES = 3
LONGEST_VALUES = 60
LONGEST_NAME = 48
"""Letters of the name of a campaign in a verdict."""
ENVIRONMENT_DIFFERS = Display("environment differs", "worse", "warn", "outline")
UNPAIRED = (
    "Runs of different campaigns are not paired, so the change includes whatever else differed at the "
    "time."
)


def label_of_row(compared: CampaignComparison, row: ComparedCells) -> Display:
    """Return how the verdict of a row is shown."""
    return label_of(compared.terms, row.comparison.verdict.word)


def advice_of_row(compared: CampaignComparison, row: ComparedCells) -> str:
    """Return what would decide, or what is excluded; empty where there is no advice."""
    noun = "session" if row.between else "run"
    return advice_of(compared.terms, row.comparison.verdict, noun, " of each side")


def confirmation_text(row: ComparedCells) -> str:
    """Return in how many sessions a verdict was seen; empty where there is nothing to confirm."""
    word = row.comparison.verdict.word
    if word in WITHOUT_NUMBERS:
        return ""
    return over_sessions(row.sessions, between=row.between, decided=word in DECIDED)


def also_in_row(row: ComparedCells | ComparedCapacity) -> str:
    """Return what else differs between the targets of both sides; empty where it is one target."""
    return "" if row.differs is None else differing_text(row.differs)


def both_values(field: Differs) -> str:
    """Return a field that differs, with both of its values."""
    return f"{field.label}: {field.baseline} vs. {field.candidate}"


def change_text(difference: Difference, side: int) -> str:
    """Return a fact with its value in the first campaign and in another one."""
    return f"{difference.label} ({difference.values[0]} → {difference.values[side]})"


def answer_of(compared: CampaignComparison) -> AnswerText:
    """Return the sentence, its caveat, badges and numbers, as the answer of a campaign has them."""
    tones = {label_of_row(compared, row).tone for row in compared.judged}
    carried = [
        each for row in compared.candidates if (each := carried_sentence(compared, row.side))
    ]
    if carried:
        tones |= {label_of_capacity(compared, row).tone for row in compared.capacities}
    verdict, certainty = _lines(compared)
    details = [each for each in (_sentence(compared), _bounds(compared)) if each]
    if carried:
        details = [*carried, verdict, *details]
        verdict, certainty = (
            first_short(texts_of_carried(compared, carried)),
            certainty_of_carried(compared),
        )
    caveat, *further = (_caveats(compared) if compared.judged_sides else []) or [""]
    return AnswerText(
        sentence=verdict,
        tone=tones.pop() if len(tones) == 1 else "info" if tones else "thin",
        certainty=certainty,
        caveat=caveat,
        further=further,
        badges=_badges(compared),
        facts=_facts(compared)[:MOST_FACTS],
        statements=[Statement("info", each) for each in dict.fromkeys(details) if each != verdict],
    )


def texts_of_carried(compared: CampaignComparison, carried: Sequence[str]) -> Iterator[str]:
    """Return what both carry, in texts that say ever less."""
    yield " ".join(carried)
    for end in (". ", "; "):
        yield f"{carried[0].partition(end)[0].rstrip('.')}."
    if len(compared.candidates) == 1:
        yield "What both campaigns carry is in the table."
        return
    yield f"What {len(compared.candidates)} campaigns carry against {_short(compared, 0)} is in the table."
    yield "What each campaign carries is in the table."


def certainty_of_carried(compared: CampaignComparison) -> str:
    """Return by which limit it is judged what is carried."""
    words = words_of(compared, 0)
    if words is None or not words.kept:
        return ""
    return first_short(
        (
            f"The limit is that {words.kept}, {words.confidence}.",
            f"The limit is that {words.kept}.",
            "",
        )
    )


def _lines(compared: CampaignComparison) -> tuple[str, str]:
    """Return verdict and certainty."""
    return first_short(_verdicts(compared)), first_short(_certainties(compared))


def _single(compared: CampaignComparison) -> ComparedCells | None:
    """Return the only row that is compared; None where there are several, or none."""
    rows = compared.rows
    if len(rows) != 1 or len(compared.candidates) > 1 or rows[0].refused:
        return None
    if compared.candidates and compared.candidates[0].refused:
        return None
    return rows[0]


def _verdicts(compared: CampaignComparison) -> Iterator[str]:
    row = _single(compared)
    if row is not None:
        if compared.candidates:
            where = f" at {row.name}" if row.name else ""
            sides = _short(compared, row.side), _short(compared, 0)
        else:
            where, sides = "", (short(row.titles[1]), short(row.titles[0]))
        briefly = " at one cell" if where else ""
        yield from verdict_of_two(
            compared.terms, row.comparison.verdict, sides, where, briefly, row.means
        )
        return
    yield from _same_in_all(compared)
    yield _sentence(compared)
    if len(compared.candidates) > 1:
        text = "; ".join(
            _briefly(compared, each, with_interval=False) for each in compared.candidates
        )
        yield f"Against {_short(compared, 0)}: {text}."
    if len(compared.candidates) == 1:
        (candidate,) = compared.candidates
        name, baseline = _short(compared, candidate.side), _short(compared, 0)
        if candidate.refused:
            yield _not_comparable(name, baseline, candidate.refused[:1])
            yield f"{name} is not comparable with {baseline}."
            yield "The campaigns are not comparable."
            return
        rows = compared.rows_of(candidate)
        words = Counter(label_of_row(compared, row).word for row in rows)
        counts = ", ".join(f"{word} in {number}" for word, number in words.most_common(MOST_FACTS))
        yield f"{name} vs. {baseline}, {counted(len(rows), 'cell')}: {counts}."
        yield f"{capitalised(counts)} of {counted(len(rows), 'cell')}."
    words = Counter(label_of_row(compared, row).word for row in compared.rows)
    counts = ", ".join(f"{word} in {number}" for word, number in words.most_common(MOST_FACTS))
    several = (
        f"{len(compared.candidates)} campaigns"
        if compared.candidates
        else f"{len(compared.rows)} cells"
    )
    yield (
        f"{several} against the first: {counts}."
        if counts
        else f"{several} against the first: the tables have each."
    )


def _same_in_all(compared: CampaignComparison) -> Iterator[str]:
    """Return the mean change of the only candidate, where every cell has the same verdict."""
    rows = compared.rows
    if len(compared.candidates) != 1 or compared.candidates[0].refused or len(rows) < 2:
        return
    (candidate,) = compared.candidates
    verdicts = [row.comparison.verdict for row in rows]
    over = candidate.over
    if over is None or {each.word for each in verdicts} not in ({Word.BETTER}, {Word.WORSE}):
        return
    mean = replace(verdicts[0], pct_change=over.geometric_pct)
    sides = _short(compared, candidate.side), _short(compared, 0)
    where = f" in {'both' if len(rows) == 2 else f'all {len(rows)}'} cells"
    yield from verdict_of_two(compared.terms, mean, sides, where)


def _certainties(compared: CampaignComparison) -> Iterator[str]:
    row = _single(compared)
    if row is not None:
        noun = f"{row.sessions[0]} and {row.sessions[1]} sessions" if row.between else ""
        runs = f"{row.baseline.summary.n_ok} and {row.candidate.summary.n_ok} runs"
        of = ", ".join(filter(None, (runs, noun)))
        advice = advice_of_row(compared, row)
        if row.comparison.verdict.word == Word.NO_DIFFERENCE_SHOWN:
            advice = ""
        yield from certainty_of_two(compared.terms, row.comparison.verdict, of, advice)
        return
    if len(compared.candidates) == 1 and (over := compared.candidates[0].over):
        mean = _change(compared, over.geometric_pct, over.ci_pct)
        cells = counted(over.cells, "cell")
        low, high = (change_briefly(compared.terms, each) for each in (over.low_pct, over.high_pct))
        yield f"{mean} as geometric mean over {cells}, from {low} to {high}."
        yield f"{mean} as geometric mean over {cells}."
    yield f"{counted(len(compared.rows), 'comparison')} in the tables." if compared.rows else ""


def _sentence(compared: CampaignComparison) -> str:
    baseline = _quoted(compared, 0)
    if len(compared.candidates) == 1:
        return _of_candidate(compared, compared.candidates[0])
    if compared.candidates:
        text = "; ".join(_briefly(compared, each) for each in compared.candidates)
        return f"Against {baseline}: {text}."
    first = compared.rows[0]
    if len(compared.rows) == 1:
        return _of_row(compared, first, *first.titles)
    text = "; ".join(_row_briefly(compared, row, row.titles[1]) for row in compared.rows)
    return f"Against {first.titles[0]}: {text}."


def _of_candidate(compared: CampaignComparison, candidate: ComparedCandidate) -> str:
    name, baseline = _quoted(compared, candidate.side), _quoted(compared, 0)
    if candidate.refused:
        if compared.capacities_of(candidate) and is_load_alone(compared, candidate.refused):
            return "No load was measured in both, so single loads are not compared."
        return _not_comparable(name, baseline, candidate.refused)
    rows = compared.rows_of(candidate)
    if not rows:
        return f"{name} and {baseline} have no cell with the same levels."
    if len(rows) == 1:
        where = f" at {rows[0].name}" if rows[0].name else ""
        return _of_row(compared, rows[0], baseline, f"{name}{where}")
    words = Counter(label_of_row(compared, row).word for row in rows)
    counts = ", ".join(f"{word} in {number}" for word, number in words.items())
    over = candidate.over
    if over is None:
        return f"{name} vs. {baseline}, {len(rows)} cells: {counts}."
    return (
        f"{name} vs. {baseline}: {_change(compared, over.geometric_pct, over.ci_pct)}, geometric "
        f"mean over {counted(over.cells, 'cell')}, from "
        f"{change_briefly(compared.terms, over.low_pct)} to "
        f"{change_briefly(compared.terms, over.high_pct)}; {counts}."
    )


def _briefly(
    compared: CampaignComparison, candidate: ComparedCandidate, *, with_interval: bool = True
) -> str:
    """Describe one of several candidates; the tables have the rest."""
    name = _quoted(compared, candidate.side)
    if candidate.refused:
        return f"{name} is not comparable ({_labels(candidate.refused)})"
    rows = compared.rows_of(candidate)
    if not rows:
        return f"{name} has no cell with the same levels"
    if len(rows) == 1:
        return _row_briefly(compared, rows[0], name)
    over = candidate.over
    if over is None:
        return f"{name} has no mean change over its {len(rows)} cells"
    shown = change_in_words(compared.terms, over.geometric_pct)
    interval = ""
    if over.ci_pct and with_interval:
        interval = f"95 % {span_in_words(compared.terms, over.ci_pct, over.geometric_pct)}, "
    return f"{name} {shown} ({interval}{counted(over.cells, 'cell')})"


def _row_briefly(compared: CampaignComparison, row: ComparedCells, name: str) -> str:
    if row.refused:
        return f"{name} is not comparable ({_labels(row.refused)})"
    changed = row.comparison.verdict.pct_change
    text = name if changed is None else f"{name} {change_in_words(compared.terms, changed)}"
    return f"{text} ({label_of_row(compared, row).word})"


def _of_row(compared: CampaignComparison, row: ComparedCells, baseline: str, candidate: str) -> str:
    if row.refused:
        text = _not_comparable(candidate, baseline, row.refused)
        return f"{text} {advice_of_row(compared, row)}".strip()
    verdict, word = row.comparison.verdict, label_of_row(compared, row).word
    if verdict.pct_change is None:
        return f"{candidate} vs. {baseline}: {word}."
    changed = _change(compared, verdict.pct_change, verdict.ci_pct)
    small = smaller_side(compared.terms, verdict.word, *row.means)
    return f"{candidate} vs. {baseline}: {word}, {changed}{small}."


def _not_comparable(candidate: str, baseline: str, refused: Sequence[Differs]) -> str:
    why = "; ".join(map(_shortly, refused))
    return f"{candidate} is not comparable with {baseline} ({why})."


def _shortly(field: Differs) -> str:
    """Return a field with both values where they are short; the tables have them all."""
    long = len(f"{field.baseline} vs. {field.candidate}") > LONGEST_VALUES
    return f"another {field.label}" if long else both_values(field)


def _labels(fields: Sequence[Differs]) -> str:
    return ", ".join(each.label for each in fields)


def _quoted(compared: CampaignComparison, side: int) -> str:
    return f"“{compared.campaigns[side].name}”"


def _short(compared: CampaignComparison, side: int) -> str:
    """Return the name of a campaign as a sentence can hold it."""
    return f"“{short(compared.campaigns[side].name, LONGEST_NAME)}”"


def _change(compared: CampaignComparison, changed: float, interval: Sequence[float] | None) -> str:
    """Write a change with its interval: −20.0 % (95 % −24.0 … −16.0 %)."""
    text = change_in_words(compared.terms, changed)
    return f"{text} (95 % {span_in_words(compared.terms, interval, changed)})" if interval else text


def _bounds(compared: CampaignComparison) -> str:
    """Return the cells that have no mean because runs timed out or failed, with their bounds."""
    bounds = {}
    for row in compared.judged:
        cells = zip((0, row.side), (row.baseline, row.candidate), row.titles, strict=True)
        for side, cell, title in cells:
            value, why = bound_of(cell, compared.campaigns[side].unit)
            if value:
                bounds[side, cell.cell] = f"{title}: {value} ({why})"
    texts = list(bounds.values())
    more = f"; and {len(texts) - MOST_CAUSES} more" if len(texts) > MOST_CAUSES else ""
    return f"{'; '.join(texts[:MOST_CAUSES])}{more}." if texts else ""


def _badges(compared: CampaignComparison) -> list[Display]:
    labels = Counter(label_of_row(compared, row) for row in compared.rows)
    of = len(compared.rows)
    carried = Counter(label_of_capacity(compared, row) for row in compared.capacities)
    of_carried = len(compared.capacities)
    badges = [
        replace(each, word=f"{each.word}: {number} of {of_carried}") if of_carried > 1 else each
        for each, number in carried.items()
    ]
    badges += [
        Display(f"{each.word}: {number} of {of}", each.tone, each.icon, each.form)
        if of > 1
        else each
        for each, number in labels.items()
    ]
    if refused := sum(bool(each.refused) for each in compared.candidates):
        word = f"not comparable: {counted(refused, 'campaign')}"
        badges.append(Display(word, "thin", "no", "outline"))
    if any(map(compared.causes_of, compared.judged_sides)):
        badges.append(ENVIRONMENT_DIFFERS)
    return badges


def _facts(compared: CampaignComparison) -> list[Fact]:
    """Return the change of each candidate over its cells; of a single one its extremes, or each of few cells."""
    overall = [
        fact_of(
            compared.terms,
            compared.campaigns[each.side].name,
            each.over.geometric_pct,
            each.over.ci_pct,
        )
        for each in compared.candidates
        if each.over
    ]
    if len(overall) > 1:
        return overall[:MOST_FACTS]
    cells = [
        (
            verdict.pct_change,
            fact_of(compared.terms, row.name or row.titles[1], verdict.pct_change, verdict.ci_pct),
        )
        for row in compared.judged
        if (verdict := row.comparison.verdict).pct_change is not None
        and verdict.word not in WITHOUT_NUMBERS
    ]
    if len(cells) + len(overall) > MOST_FACTS:
        ordered = sorted(cells, key=lambda each: each[0])
        cells = [ordered[0], ordered[-1]]
    return [*overall, *(fact for _, fact in cells)]


def _caveats(compared: CampaignComparison) -> list[str]:
    """Return other possible causes of a change than the difference between the campaigns, the worst first."""
    judged = [0, *compared.judged_sides]
    campaigns = [compared.campaigns[side] for side in judged]
    texts = []
    if simulators := dict.fromkeys(what for each in campaigns for what in each.simulators):
        texts.append(f"Measured on a {' and a '.join(simulators)}, not on a real server.")
    causes = [_of_causes(compared, side) for side in judged[1:] if compared.causes_of(side)]
    texts += causes or ["No difference in settings or environment is recorded, except the time."]
    texts += [
        f"The environment of {_quoted(compared, side)} changed while it was measured."
        for side in judged
        if any(row.changed[side] for row in compared.differences if row.changed)
    ]
    cancelled = [each.name for each in campaigns if each.cancelled and each.carried]
    if cancelled and compared.capacities:
        names = " and ".join(f"“{name}”" for name in cancelled)
        texts.append(
            f"{names} {'was' if len(cancelled) == 1 else 'were'} cancelled before all planned runs were made."
        )
    if not all(each.checked for each in campaigns):
        texts.append("perfdash did not check what work the imported runs did.")
    return [*texts, UNPAIRED]


def _of_causes(compared: CampaignComparison, side: int) -> str:
    name = _quoted(compared, side)
    causes = [change_text(each, side) for each in compared.causes_of(side)]
    if len(causes) == 1:
        return f"The only recorded difference of {name} is {causes[0]}."
    more = f" and {len(causes) - MOST_CAUSES} more" if len(causes) > MOST_CAUSES else ""
    return (
        f"{len(causes)} things differ for {name}: {', '.join(causes[:MOST_CAUSES])}{more}; the "
        "change cannot be attributed to one of them alone."
    )
