"""What is said of content whose address differs: that it is the same, or why its cells are not compared. Pure."""

from collections.abc import Sequence

from campaigns.findings.values import OtherContent, SameContent
from campaigns.findings.wording.answer_text import capitalised
from campaigns.kit.charts.labels import as_text
from campaigns.kit.numbers import amount, counted, number

MOST_NAMED = 2


def same_content_text(same: Sequence[SameContent]) -> str:
    """Return a sentence for each factor whose levels are addresses of the same content."""
    return " ".join(map(_same, same))


def other_content_text(other: Sequence[OtherContent]) -> str:
    """Return why levels of an address are not compared, with both amounts."""
    texts = [_other(each) for each in other[:MOST_NAMED]]
    if len(other) > MOST_NAMED:
        texts.append(f"So do {counted(len(other) - MOST_NAMED, 'more pair')}.")
    return " ".join(texts)


def _same(content: SameContent) -> str:
    what = _amount_of(content)
    places = f"{number(content.addresses)} addresses ({content.factor})"
    if content.proved:
        return f"Same content{what}, from {places}."
    alike = "number" if content.bytes is None else "number and size"
    return f"Same {alike}{what} at {places}; that it is the same content is not proved."


def _amount_of(content: SameContent) -> str:
    if content.units is None:
        return ""
    size = "" if content.bytes is None else f", {amount(content.bytes, 'B')}"
    return f" ({number(content.units)} {content.unit}{size})"


def _other(content: OtherContent) -> str:
    one, two = content.units
    if one != two:
        differ = f"{number(one)} / {number(two)} {content.unit}"
    elif None not in content.bytes and content.bytes[0] != content.bytes[1]:
        differ = " / ".join(amount(each, "B") for each in content.bytes)
        differ = f"{number(one)} {content.unit} each, {differ}"
    else:
        differ = f"{number(one)} {content.unit} each, whose digests differ"
    return capitalised(
        f"{content.factor} {as_text(content.baseline)} and {as_text(content.candidate)} are not compared, since they hold "
        f"other content: {differ}."
    )
