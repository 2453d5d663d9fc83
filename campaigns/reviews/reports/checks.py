"""The checklist of a conclusion as a report writes it."""

from collections.abc import Iterator

from campaigns.models import Conclusion
from campaigns.reviews.checklist import checklist
from campaigns.reviews.reports.values import CheckRow

ORDER = ("fail", "warn", "pass")


def check_rows(conclusion: Conclusion) -> tuple[CheckRow, ...]:
    """Write every check of every campaign, what fails first, with the author's word on it."""
    return tuple(sorted(_rows(conclusion), key=lambda row: ORDER.index(row.state)))


def _rows(conclusion: Conclusion) -> Iterator[CheckRow]:
    texts = {(word.check_name, word.about): word.text for word in conclusion.words.all()}
    names = dict(conclusion.evidence.values_list("campaign", "campaign__name"))
    for check in checklist(conclusion):
        of = f" ({names[check.campaign]})" if len(names) > 1 else ""
        word = texts.get((check.key, check.said), "")
        yield CheckRow(f"{check.title}{of}", check.state, check.number, check.words, word)
