"""The answers of campaigns as text, from their stored findings."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from django.db.models import OuterRef, QuerySet, Subquery
from msgspec import Struct, structs

from campaigns.findings.store import AS_TEXT, SHAPES, Findings, decode
from campaigns.findings.values import Answer, Grounds, LevelsFinding
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.cells import centre_of
from campaigns.findings.wording.primary_word import primary_word
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.numbers import is_number
from campaigns.models import Campaign, Finding, PublishedAnswer
from campaigns.stats.methods import METHODS
from perfdash import __version__

log = logging.getLogger(__name__)

UNWRITTEN = AnswerText(
    "The answer cannot be put into words, by an error in perfdash. The numbers are not affected.",
    "warn",
)
"""Instead of an answer whose wording fails: neither its findings nor lists with other campaigns may depend on it."""
PARTS = Grounds.__struct_fields__[1:]
"""The findings that an answer may rest on."""
ONE = frozenset({"factor", "load", "parameter"})
"""Fields of findings that hold the name of a factor."""
SEVERAL = frozenset({"loads", "work", "asked", "instruments", "others"})
"""Fields that hold names of factors."""
FEWEST_POINTS = 3
"""Of a curve: two values are a change."""
T = TypeVar("T")


def answers_of(campaigns: Collection[int]) -> dict[int, AnswerText]:
    """Return the answers of campaigns by their keys; those without current findings are absent.

    Findings of other versions of the methods are left out, since they are being computed again.
    """
    return {key: _written(grounds) for key, grounds in _stored(campaigns).items()}


def _stored(campaigns: Collection[int]) -> dict[int, Grounds]:
    """Return the current findings behind the answers of campaigns, in one query."""
    rows = Finding.objects.filter(
        campaign__in=campaigns, name__in=["answer", *PARTS], versions__methods=METHODS
    )
    parts: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, name, text in rows.values_list("campaign", "name", AS_TEXT):
        parts[key][name] = decode(text, SHAPES[name])
    return {key: Grounds(**found) for key, found in parts.items() if "answer" in found}


def answer_of(findings: Findings) -> AnswerText | None:
    """Return the answer of a campaign; None where nothing is stored yet."""
    if findings.answer is None:
        return None
    return _written(Grounds(findings.answer, **{name: getattr(findings, name) for name in PARTS}))


def _written(grounds: Grounds) -> AnswerText:
    try:
        return answer_text(renamed(grounds, grounds.answer.nouns))
    except Exception:
        log.exception("An answer about %s cannot be put into words.", grounds.answer.label)
        return UNWRITTEN


def renamed(part: T, names: Mapping[str, str]) -> T:
    """Return a finding, or a part of one, in which factors have the names that people use: “users” where the question asks for users.

    names: the new name by the old one.
    """
    return _renamed(part, names) if names else part


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    if isinstance(part, Struct):
        return structs.replace(
            part,
            **{
                field: _of_field(field, getattr(part, field), names)
                for field in part.__struct_fields__
            },
        )
    if isinstance(part, Mapping):
        return {names.get(key, key): _renamed(value, names) for key, value in part.items()}
    if isinstance(part, Sequence) and not isinstance(part, str | bytes):
        return [_renamed(each, names) for each in part]
    return part


def _of_field(field: str, value: Any, names: Mapping[str, str]) -> Any:
    if field in ONE and isinstance(value, str):
        return names.get(value, value)
    if field in SEVERAL and isinstance(value, Sequence) and not isinstance(value, str):
        return [
            names.get(each, each) if isinstance(each, str) else _renamed(each, names)
            for each in value
        ]
    return _renamed(value, names)


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer as lists of campaigns show it. word: of the primary question; None if it has none.

    means: of the cells along the only factor, in its order, for a spark line.
    """

    sentence: str
    word: Display | None
    means: Sequence[float | None]

    @property
    def badge(self) -> Display | None:
        """Return the word unless the sentence begins with it."""
        if self.word and self.sentence.casefold().startswith(self.word.word.casefold()):
            return None
        return self.word


def publish_answer(campaign: Campaign) -> None:
    """Store the answer of a campaign as lists and readers of the database see it; see `PublishedAnswer`."""
    for key, grounds in _stored([campaign.pk]).items():
        text = _written(grounds)
        row = PublishedAnswer(
            campaign_id=key,
            sentence=text.sentence,
            certainty=text.certainty,
            caveat=text.caveat,
            more_caveats=len(text.further),
            badges=msgspec.to_builtins(_words(grounds)),
            means=_means_along(grounds.answer, grounds.levels),
            computed_at=Finding.objects.values_list("computed_at", flat=True).get(
                campaign=key, name="answer"
            ),
            version=__version__,
        )
        PublishedAnswer.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["campaign"],
            update_fields=[
                "sentence",
                "certainty",
                "caveat",
                "more_caveats",
                "badges",
                "means",
                "computed_at",
                "version",
            ],
        )


def published() -> QuerySet[PublishedAnswer]:
    """Return the answers that hold: of findings of these methods.

    The methods are a value, not EXISTS, which the database would join with the findings of all campaigns first.
    """
    answer = Finding.objects.filter(campaign=OuterRef("pk"), name="answer")
    rows = PublishedAnswer.objects.alias(methods=Subquery(answer.values("versions__methods")))
    return rows.filter(methods=METHODS)


def listed(row: PublishedAnswer) -> ListedAnswer:
    """Return a published answer in its types."""
    words = msgspec.convert(row.badges, tuple[Display, ...])
    return ListedAnswer(row.sentence, next(iter(words), None), row.means)


def _words(grounds: Grounds) -> list[Display]:
    """Return the word of the primary question; nothing if it has none, or cannot be written."""
    try:
        word = primary_word(grounds)
    except Exception:
        log.exception("The word of an answer about %s cannot be written.", grounds.answer.label)
        return []
    return [word] if word else []


def _means_along(answer: Answer, levels: LevelsFinding | None) -> list[float | None]:
    """Return the mean of each cell along the only factor, in the order of its levels.

    Empty if there are several factors, or one whose levels are no numbers: no curve joins them. A cell of which too
    much failed has no value.
    """
    cells = {cell.cell: cell for cell in answer.cells}
    factors = {tuple(cell.levels) for cell in answer.cells}
    values = [next(iter(cell.levels.values()), None) for cell in answer.cells]
    if len(factors) != 1 or len(*factors) != 1 or not all(map(is_number, values)):
        return []
    if len(values) < FEWEST_POINTS or set(answer.work).intersection(*factors):
        return []
    ranked = levels.groups[0].cells if levels and len(levels.groups) == 1 else ()
    by_value = (cell for _, cell in sorted(zip(values, cells, strict=True)))
    order = ranked if set(ranked) == set(cells) else by_value
    return [None if key in answer.failing else centre_of(cells[key]) for key in order]
