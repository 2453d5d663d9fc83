"""What the settings of two campaigns carry, against each other: “v2 carries 402 hosts, v1 348: 1.2 times as many”. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from campaigns.findings.most_carried import DECIDED
from campaigns.findings.values import CampaignComparison, ComparedCapacity, Differs
from campaigns.findings.wording.answer_text import capitalised
from campaigns.findings.wording.capacity import WORDS, CapacityWords
from campaigns.findings.wording.capacity_ratio import larger_first, ratio_label, ratio_text
from campaigns.findings.wording.verdicts import Display
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.verdict import Word

MOST_SETTINGS = 4
LONGEST_VALUES = 60
_WITHOUT_NAME = ("no difference", "not ", "which ")


def carried_by(compared: CampaignComparison, row: ComparedCapacity, side: int) -> str:
    """Return what the setting carries in one of both campaigns: “402 hosts (388 to 416)”."""
    words = words_of(compared, side)
    setting = row.candidate if side else row.baseline
    return words.short(setting.capacity) if words else ""


def words_of(compared: CampaignComparison, side: int) -> CapacityWords | None:
    """Return the words of what a campaign carries; None where it has no load."""
    found = compared.campaigns[side].carried
    return CapacityWords(found) if found else None


def label_of_capacity(compared: CampaignComparison, row: ComparedCapacity) -> Display:
    """Return how the verdict is shown."""
    label = ratio_label(row.ratio, _margin(compared))
    words = words_of(compared, 0)
    if words is None or words.loads.is_counted:
        return label
    return replace(label, word=label.word.replace("fewer", "less").replace("as many", "as much"))


def ratio_of_capacities(compared: CampaignComparison, row: ComparedCapacity) -> str:
    """Return the ratio with the campaign that carries more: “v2 carries 1.2 times as many (1.1 to 1.3)”.

    Among several candidates, the other side is named as well.
    """
    words = words_of(compared, 0)
    if words is None or row.refused:
        return "not comparable"
    one, turned = larger_first(row.ratio)
    larger, smaller = (0, row.side) if turned else (row.side, 0)
    several = len(compared.candidates) > 1
    many = f"{words.loads.as_many} as {_quoted(compared, smaller)}" if several else ""
    text = ratio_text(one, many or words.loads.as_many, _margin(compared))
    if text.startswith(_WITHOUT_NAME):
        return (
            f"{_quoted(compared, larger)} and {_quoted(compared, smaller)}: {text}"
            if several
            else text
        )
    return f"{_quoted(compared, larger)} carries {text}"


def carried_sentence(compared: CampaignComparison, side: int) -> str:
    """Return what a candidate carries against the baseline; empty where nothing was compared."""
    rows = [row for row in compared.capacities if row.side == side]
    if not rows or not any(_is_said(compared, row) for row in rows):
        return ""
    if all(row.refused for row in rows):
        names = f"What {_quoted(compared, side)} carries is not comparable with what {_quoted(compared, 0)} carries"
        return f"{names} ({'; '.join(map(_shortly, rows[0].refused))})."
    if len(rows) == 1 and len(compared.candidates) == 1:
        return _of_one(compared, rows[0])
    parts = [
        ": ".join(filter(None, (row.name, ratio_of_capacities(compared, row))))
        for row in rows[:MOST_SETTINGS]
    ]
    more = f"; and {len(rows) - MOST_SETTINGS} more" if len(rows) > MOST_SETTINGS else ""
    confirmed = {confirmation_of_capacity(row) for row in rows if not row.refused}
    sessions = f" ({confirmed.pop()})" if len(confirmed) == 1 and "" not in confirmed else ""
    return f"{capitalised('; '.join(parts))}{more}{sessions}."


def _is_said(compared: CampaignComparison, row: ComparedCapacity) -> bool:
    """Return whether a headline has the row: somebody stated a criterion, or the failure limit shows something."""
    stated = [
        found.stated
        for side in (0, row.side)
        if (found := compared.campaigns[side].carried) is not None
    ]
    return any(stated) or row.ratio.low is not None or row.ratio.high is not None


def _of_one(compared: CampaignComparison, row: ComparedCapacity) -> str:
    """Write both numbers, the larger first, and their ratio."""
    words = words_of(compared, 0)
    if words is None:
        return ""
    one, turned = larger_first(row.ratio)
    order = (0, row.side) if turned else (row.side, 0)
    names = [_quoted(compared, side) for side in order]
    texts = [carried_by(compared, row, side) for side in order]
    ratio = ratio_text(one, words.loads.as_many, _margin(compared))
    sessions = confirmation_of_capacity(row)
    ratio = f"{ratio}, {sessions}" if sessions else ratio
    at = f"With {row.name}, " if row.name else ""
    each = [(row.candidate if side else row.baseline).capacity for side in order]
    why = why_no_ratio(compared, row)
    if all(capacity.word in DECIDED for capacity in each):
        led = f"{names[0]} carries {words.led(each[0])}"
        text = f"{at}{led}, {names[1]} {words.bare(each[1])}"
        text = f"{text}; {why}." if why else f"{text}: {ratio}."
    else:
        text = f"{at}what is carried: {names[0]} {texts[0]}, {names[1]} {texts[1]}; {why or ratio}."
    other = _other_binding(compared, row)
    return " ".join(filter(None, (capitalised(text), f"The limit is that {words.kept}.", other)))


def why_no_ratio(compared: CampaignComparison, row: ComparedCapacity) -> str:
    """Return why there is no ratio; empty where there is one, or where the fields that differ say it."""
    if row.refused or row.ratio.word != Word.NOT_ENOUGH_DATA:
        return ""
    if row.ratio.reason == "not_stored":
        return "one of them was analysed by a version that did not store what a ratio needs"
    if row.ratio.reason == "no_bound":
        return "no bound of the ratio is known"
    short = (CapacityWord.NOT_ENOUGH_DATA, CapacityWord.NOT_MONOTONE)
    parts = [
        f"{_quoted(compared, side)} is {WORDS[capacity.word].word}"
        if capacity.word == CapacityWord.NOT_MONOTONE
        else f"{_quoted(compared, side)} has not enough data: {words.why_not(capacity)}"
        for side in (0, row.side)
        for capacity in [(row.candidate if side else row.baseline).capacity]
        if capacity.word in short and (words := words_of(compared, side))
    ]
    return f"no ratio, because {' and '.join(parts)}" if parts else ""


def remarks_of_capacity(compared: CampaignComparison, row: ComparedCapacity) -> tuple[str, ...]:
    """Return what else has to be known of a ratio."""
    if row.refused:
        return ()
    remarks = [_other_binding(compared, row).removesuffix(".")]
    if row.ratio.bounds_only:
        remarks.append("bounds only, no estimate")
    for side, setting in ((0, row.baseline), (row.side, row.candidate)):
        name = _quoted(compared, side)
        if setting.confirmation and setting.confirmation.reason == "sessions_disagree":
            remarks.append(f"the sessions of {name} disagree")
        if compared.campaigns[side].cancelled:
            remarks.append(f"{name} was cancelled")
    return tuple(filter(None, remarks))


def confirmation_of_capacity(row: ComparedCapacity) -> str:
    """Return in how many sessions a ratio was seen; empty where there is nothing to confirm."""
    decided = row.ratio.word in (Word.BETTER, Word.WORSE, Word.EQUIVALENT)
    has_bounds = row.ratio.low is not None or row.ratio.high is not None
    return over_sessions(row.sessions, between=row.between, decided=decided) if has_bounds else ""


def over_sessions(sessions: tuple[int, int], *, between: bool, decided: bool) -> str:
    """Return in how many sessions of both sides something was seen, and whether that confirms it."""
    if 0 in sessions:
        return ""
    if sessions == (1, 1):
        return "one session each"
    counts = f"{sessions[0]} and {sessions[1]} sessions"
    if not between:
        return f"{counts}: too few to confirm"
    return f"{'confirmed' if decided else 'not confirmed'} over {counts}"


def _other_binding(compared: CampaignComparison, row: ComparedCapacity) -> str:
    """Name the conditions that end both, where they differ."""
    sides = ((0, row.baseline.capacity), (row.side, row.candidate.capacity))
    names = [
        words.binding(capacity) for side, capacity in sides if (words := words_of(compared, side))
    ]
    if row.refused or "" in names or len(set(names)) < 2:
        return ""
    first, second = (_quoted(compared, side) for side, _ in sides)
    return f"What breaks first differs: {first}: {names[0]}; {second}: {names[1]}."


def _margin(compared: CampaignComparison) -> float:
    found = compared.campaigns[0].carried
    return found.margin_pct if found else 0.0


def _shortly(field: Differs) -> str:
    text = f"{field.label}: {field.baseline} vs. {field.candidate}"
    return f"another {field.label}" if len(text) > LONGEST_VALUES + len(field.label) else text


def _quoted(compared: CampaignComparison, side: int) -> str:
    return f"“{compared.campaigns[side].name}”"


def is_load_alone(compared: CampaignComparison, refused: Sequence[Differs]) -> bool:
    """Return whether cells are refused only because no load was measured in both."""
    found = compared.campaigns[0].carried
    labels = {field.label for field in refused}
    return found is not None and labels == {(found.load_label or found.load).lower()}
