"""The answer of a comparison of campaigns: one sentence and its caveat."""

from collections.abc import Sequence
from typing import Any

from campaigns.findings.compared import Side
from campaigns.findings.compute.compared import Against, Compared, Row
from campaigns.findings.compute.verdict_labels import bound_of
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.numbers import percent, span_pct
from campaigns.stats.comparisons import WITHOUT_NUMBERS

MOST_FACTS = 4
LONGEST_VALUES = 60
MOST_CAUSES = 3
UNPAIRED = (
    "Nothing pairs runs of different campaigns: whatever else was different at the time is part of "
    "the change."
)


def answer_of(compared: Compared) -> dict[str, Any]:
    """Compose sentence, tone, badges, facts and caveat, as the answer of a campaign has them."""
    names = [f"“{name}”" for name in compared.names.campaigns]
    if len(compared.against) == 1:
        sentence = _of_campaign(compared, compared.against[0], names)
    elif compared.against:
        text = "; ".join(_briefly(compared, each, names) for each in compared.against)
        sentence = f"Against {names[0]}: {text}."
    elif len(compared.rows) == 1:
        sentence = _of_row(compared.rows[0], *_titles(compared, compared.rows[0]))
    else:
        text = "; ".join(_row_briefly(row, _titles(compared, row)[1]) for row in compared.rows)
        sentence = f"Against {compared.names.whole(0, compared.rows[0].baseline)}: {text}."
    tones = {row.display.tone for row in compared.judged}
    return {
        "sentence": sentence + _bounds(compared),
        "tone": tones.pop() if len(tones) == 1 else "info" if tones else "thin",
        "badges": _badges(compared),
        "facts": _facts(compared, compared.names.campaigns),
        "caveat": _caveat(compared, names) if compared.judged else "",
    }


def _bounds(compared: Compared) -> str:
    """Add the cells that have no mean because runs timed out or failed, with their bounds."""
    cells = {
        (side, cell["cell"]): cell
        for row in compared.judged
        for side, cell in ((0, row.baseline), (row.side, row.candidate))
    }
    results = [
        f"{compared.names.whole(side, cell)}: {value} ({why})"
        for (side, _), cell in cells.items()
        for value, why in [bound_of(cell, (compared.measured[side].side.cells or {})["unit"])]
        if value
    ]
    more = f"; and {len(results) - MOST_CAUSES} more" if len(results) > MOST_CAUSES else ""
    return f" {'; '.join(results[:MOST_CAUSES])}{more}." if results else ""


def _of_campaign(compared: Compared, against: Against, names: Sequence[str]) -> str:
    name, base = names[against.side], names[0]
    if against.refused:
        why = "; ".join(map(_both, against.refused))
        return f"{name} is not comparable with {base} ({why})."
    rows = [row for row in compared.rows if row.side == against.side]
    if not rows:
        return f"{name} and {base} have no cell with the same levels."
    if len(rows) == 1:
        where = f" at {rows[0].name}" if rows[0].name else ""
        return _of_row(rows[0], base, f"{name}{where}")
    texts: dict[str, int] = {}
    for row in rows:
        texts[row.display.word] = texts.get(row.display.word, 0) + 1
    counts = ", ".join(f"{word} in {number}" for word, number in texts.items())
    if against.over is None:
        return f"{name} vs. {base}, {len(rows)} cells: {counts}."
    over = against.over
    interval = f" (95 % {span_pct(over.ci_pct)})" if over.ci_pct else ""
    return (
        f"{name} vs. {base}: {percent(over.geometric_pct)}{interval}, geometric mean over "
        f"{over.cells} cells, from {percent(over.low_pct)} to {percent(over.high_pct)}; {counts}."
    )


def _briefly(compared: Compared, against: Against, names: Sequence[str]) -> str:
    """Describe one of several candidates; the tables have the rest."""
    name = names[against.side]
    if against.refused:
        return f"{name} is not comparable ({', '.join(each.label for each in against.refused)})"
    rows = [row for row in compared.rows if row.side == against.side]
    if not rows:
        return f"{name} has no cell with the same levels"
    if len(rows) == 1:
        return _row_briefly(rows[0], name)
    if against.over is None:
        return f"{name}, {len(rows)} cells without a mean"
    interval = f"95 % {span_pct(against.over.ci_pct)}, " if against.over.ci_pct else ""
    return f"{name} {percent(against.over.geometric_pct)} ({interval}{against.over.cells} cells)"


def _row_briefly(row: Row, name: str) -> str:
    verdict = row.comparison.verdict
    if row.fields:
        return f"{name} is not comparable ({', '.join(each.label for each in row.fields)})"
    change = "" if verdict.pct_change is None else f" {percent(verdict.pct_change)}"
    return f"{name}{change} ({row.display.word})"


def _of_row(row: Row, baseline: str, candidate: str) -> str:
    verdict = row.comparison.verdict
    if row.fields:
        why = "; ".join(map(_both, row.fields))
        return f"{candidate} is not comparable with {baseline} ({why})."
    if verdict.pct_change is None:
        return f"{candidate} vs. {baseline}: {row.display.word}."
    interval = f" (95 % {span_pct(verdict.ci_pct)})" if verdict.ci_pct else ""
    return (
        f"{candidate} vs. {baseline}: {row.display.word}, {percent(verdict.pct_change)}{interval}."
    )


def _both(field: Any) -> str:
    """Name a field that differs, with both values where they are short; the tables have them all."""
    values = f"{field.baseline} vs. {field.candidate}"
    return f"{field.label}: {values}" if len(values) <= LONGEST_VALUES else f"another {field.label}"


def _titles(compared: Compared, row: Row) -> tuple[str, str]:
    """Return the names of the two cells of a row, where cells were chosen."""
    names = compared.names
    return names.whole(0, row.baseline), names.whole(row.side, row.candidate)


def _badges(compared: Compared) -> list[dict[str, Any]]:
    counted: dict[str, list[Row]] = {}
    for row in compared.rows:
        counted.setdefault(row.display.word, []).append(row)
    badges = [
        {
            "word": f"{word}: {len(rows)} of {len(compared.rows)}"
            if len(compared.rows) > 1
            else word,
            "tone": rows[0].display.tone,
            "icon": rows[0].display.icon,
            "form": rows[0].display.form,
        }
        for word, rows in counted.items()
    ]
    refused = sum(bool(each.refused) for each in compared.against)
    if refused:
        word = f"not comparable: {refused} campaign{'s' if refused > 1 else ''}"
        badges.append({"word": word, "tone": "thin", "icon": "no", "form": "outline"})
    if any(compared.causes_of(row.side) for row in compared.judged):
        word = "environment differs"
        badges.append({"word": word, "tone": "worse", "icon": "warn", "form": "outline"})
    return badges


def _facts(compared: Compared, names: Sequence[str]) -> list[dict[str, str]]:
    """Return the change of each candidate over its cells; of a single one its extremes, or each of few cells."""
    overall = [
        _fact(names[each.side], each.over.geometric_pct, each.over.ci_pct)
        for each in compared.against
        if each.over
    ]
    if len(overall) > 1:
        return overall[:MOST_FACTS]
    numbered = [
        (row.comparison.verdict.pct_change, row)
        for row in compared.judged
        if row.comparison.verdict.pct_change is not None
        and row.comparison.verdict.word not in WITHOUT_NUMBERS
    ]
    if len(numbered) + len(overall) > MOST_FACTS:
        ordered = sorted(numbered, key=lambda each: each[0])
        numbered = [ordered[0], ordered[-1]]
    cells = [
        _fact(
            row.name or compared.names.whole(row.side, row.candidate),
            change,
            row.comparison.verdict.ci_pct,
        )
        for change, row in numbered
    ]
    return [*overall, *cells]


def _fact(label: str, change: float, interval: Sequence[float] | None) -> dict[str, str]:
    note = span_pct(interval) if interval else ""
    return {"label": label, "value": percent(change), "note": note}


def _caveat(compared: Compared, names: Sequence[str]) -> str:
    """Return other possible causes of a change than the difference between the campaigns."""
    judged = sorted({0, *(row.side for row in compared.judged)})
    sides = [compared.measured[place].side for place in judged]
    texts = []
    if stand_ins := dict.fromkeys(what for side in sides for what in side.stand_ins):
        texts.append(f"Measured on a {' and a '.join(stand_ins)}, not on a real server.")
    causes = {place: compared.causes_of(place) for place in judged[1:]}
    texts += [_of_causes(names[place], result) for place, result in causes.items() if result]
    if not any(causes.values()):
        texts.append("No difference of environment is recorded but the time.")
    texts += [
        f"The environment of {names[place]} changed while it was measured."
        for place in judged
        if any(row.changed[place] for row in compared.differences if row.changed)
    ]
    if not all(_executable(side) for side in sides):
        texts.append("What work an import did is not checked by perfdash.")
    return " ".join([*texts, UNPAIRED])


def _of_causes(name: str, causes: Sequence[str]) -> str:
    if len(causes) == 1:
        return f"The only recorded difference of {name} is {causes[0]}."
    more = f" and {len(causes) - MOST_CAUSES} more" if len(causes) > MOST_CAUSES else ""
    return (
        f"{len(causes)} things differ for {name}: {', '.join(causes[:MOST_CAUSES])}{more}; the "
        "change cannot be put down to one of them."
    )


def _executable(side: Side) -> bool:
    try:
        return driver_of(side.campaign.kind).executable
    except UnknownKind:
        return False
