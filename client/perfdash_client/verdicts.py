"""Verdicts of comparisons, and whether a job fails because of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdash_client.errors import BadUse, NoAnswer, VerdictFailed
from perfdash_client.formats import levels as in_words

WORDS = (
    "better",
    "worse",
    "equivalent",
    "no_difference_shown",
    "not_enough_data",
    "too_many_failures",
    "not_comparable",
    "invalid_values",
)
"""The closed list of the server's verdicts (docs/explanation/statistics.md)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Candidate against baseline, of the primary metric; changes in %, negative is less.

    is_primary: it is the campaign's primary contrast, which answers its question.
    """

    where: str
    factor: str
    baseline: Any
    candidate: Any
    word: str
    shown: str
    tone: str
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    n: int
    advice: str
    standing: str
    is_primary: bool = False

    @property
    def in_words(self) -> str:
        """What is compared with what, and where."""
        at = f" at {self.where}" if self.where else ""
        return f"{self.factor} {self.candidate} vs. {self.baseline}{at}"


def verdicts_of(findings: Mapping[str, Any]) -> list[Verdict]:
    """Read all comparisons of the primary metric, the primary contrast first."""
    results = [findings[name]["result"] for name in ("pairs", "levels") if name in findings]
    return [*(v for r in results for v in _primary(r)), *(v for r in results for v in _rows(r))]


def _primary(result: Mapping[str, Any]) -> Iterator[Verdict]:
    outcome = result.get("primary")
    if outcome:
        yield _verdict(
            outcome,
            in_words(outcome.get("at") or {}),
            (outcome["factor"], outcome["baseline"], outcome["candidate"]),
            is_primary=True,
        )


def _rows(result: Mapping[str, Any]) -> Iterator[Verdict]:
    for stratum in result.get("strata", ()):
        of = (result["factor"], result["baseline"], result["candidate"])
        yield _verdict(stratum, in_words(stratum["levels"]), of)
    for group in result.get("groups", ()):
        values = dict(zip(group["cells"], group["values"], strict=True))
        for row in group["comparisons"]:
            of = (result["factor"], values[row["baseline"]], values[row["candidate"]])
            yield _verdict(row, in_words(group["levels"]), of)


def _verdict(
    row: Mapping[str, Any], where: str, of: tuple[str, Any, Any], *, is_primary: bool = False
) -> Verdict:
    verdict = row["comparison"]["verdict"]
    low, high = verdict["ci_pct"] or (None, None)
    return Verdict(
        where=where,
        factor=of[0],
        baseline=of[1],
        candidate=of[2],
        word=verdict["word"],
        shown=row["display"]["word"],
        tone=row["display"]["tone"],
        change_pct=verdict["pct_change"],
        low_pct=low,
        high_pct=high,
        n=verdict["n"],
        advice=row.get("advice", ""),
        standing=(row.get("standing") or {}).get("standing", ""),
        is_primary=is_primary,
    )


def read_words(given: Iterable[str]) -> frozenset[str]:
    """Read `--fail-on`, which may be repeated and hold commas. Raise BadUse."""
    texts = [word.strip() for text in given for word in text.split(",")]
    message = frozenset(text.lower().replace("-", "_").replace(" ", "_") for text in texts if text)
    if unknown := sorted(message - set(WORDS)):
        raise BadUse(f"--fail-on: “{unknown[0]}” is no verdict. There are {', '.join(WORDS)}.")
    if texts and not message:
        raise BadUse("--fail-on names no verdict.")
    return message


def that_decide(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Give the primary contrast alone where one is named, else all."""
    return [verdict for verdict in verdicts if verdict.is_primary] or list(verdicts)


def judge(verdicts: Sequence[Verdict], words: Collection[str]) -> None:
    """Raise VerdictFailed where a deciding verdict is one of `words`, NoAnswer without verdicts."""
    if not words:
        return
    deciding = that_decide(verdicts)
    if not deciding:
        raise NoAnswer("The campaign compares nothing, so --fail-on has nothing to judge.")
    failing = [verdict for verdict in deciding if verdict.word in words]
    if failing:
        first = failing[0]
        more = f"; and {len(failing) - 1} more" if len(failing) > 1 else ""
        raise VerdictFailed(
            f"{first.word}: {first.in_words}{more} (--fail-on {','.join(sorted(words))})."
        )
