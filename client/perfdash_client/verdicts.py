"""Verdicts of comparisons, and whether a job fails because of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfdash_client.errors import BadUse, NoAnswer, NotDecided, VerdictFailed
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

CRITERION_BROKEN = "does_not_pass"
"""The word for a criterion that is not kept. It is no verdict of a comparison."""
FAILING_WORDS = (*WORDS, CRITERION_BROKEN)
"""The words of `--fail-on`."""


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
    def interval(self) -> tuple[float, ...]:
        """The bounds of the change; empty where there are none."""
        return (
            () if self.low_pct is None or self.high_pct is None else (self.low_pct, self.high_pct)
        )

    @property
    def in_words(self) -> str:
        """What is compared with what, and where."""
        at = f" at {self.where}" if self.where else ""
        return f"{self.factor} {self.candidate} vs. {self.baseline}{at}".strip()


def verdicts_of(findings: Mapping[str, Any]) -> list[Verdict]:
    """Read all comparisons of the primary metric, the primary contrast first."""
    entries = [findings[name] for name in ("pairs", "levels") if name in findings]
    primary = [verdict for entry in entries for verdict in _primary(entry)]
    rows = [verdict for entry in entries for verdict in _rows(entry)]
    return [*primary, *(rows or _pairs(findings))]


def _pairs(findings: Mapping[str, Any]) -> Iterator[Verdict]:
    """Read the pairs of settings that differ in several factors, where no row compares any."""
    result = (findings.get("levels") or {}).get("result") or {}
    cells = ((findings.get("answer") or {}).get("result") or {}).get("cells", ())
    names = {cell["cell"]: in_words(cell["levels"]) for cell in cells}
    for pair in result.get("pairs", ()):
        low, high = pair["ci_pct"] or (None, None)
        yield Verdict(
            where="",
            factor="",
            baseline=names.get(pair["baseline"], pair["baseline"]),
            candidate=names.get(pair["candidate"], pair["candidate"]),
            word=pair["word"],
            shown=pair["word"].replace("_", " "),
            tone="",
            change_pct=pair["pct_change"],
            low_pct=low,
            high_pct=high,
            n=0,
            advice="",
            standing="",
        )


def _primary(entry: Mapping[str, Any]) -> Iterator[Verdict]:
    outcome = entry["result"].get("primary")
    if outcome:
        yield _verdict(
            outcome,
            (entry.get("text") or {}).get("primary"),
            in_words(outcome.get("at") or {}),
            (outcome["factor"], outcome["baseline"], outcome["candidate"]),
            is_primary=True,
        )


def _rows(entry: Mapping[str, Any]) -> Iterator[Verdict]:
    """Read the rows; their texts are in the same order."""
    result = entry["result"]
    texts = iter((entry.get("text") or {}).get("comparisons", ()))
    for stratum in result.get("strata", ()):
        of = (result["factor"], result["baseline"], result["candidate"])
        yield _verdict(stratum, next(texts, None), in_words(stratum["levels"]), of)
    for group in result.get("groups", ()):
        values = dict(zip(group["cells"], group["values"], strict=True))
        for row in group["comparisons"]:
            of = (result["factor"], values[row["baseline"]], values[row["candidate"]])
            yield _verdict(row, next(texts, None), in_words(group["levels"]), of)


def _verdict(
    row: Mapping[str, Any],
    text: Mapping[str, str] | None,
    where: str,
    of: tuple[str, Any, Any],
    *,
    is_primary: bool = False,
) -> Verdict:
    verdict, text = row["comparison"]["verdict"], text or {}
    low, high = verdict["ci_pct"] or (None, None)
    return Verdict(
        where=where,
        factor=of[0],
        baseline=of[1],
        candidate=of[2],
        word=verdict["word"],
        shown=text.get("label", verdict["word"].replace("_", " ")),
        tone=text.get("tone", ""),
        change_pct=verdict["pct_change"],
        low_pct=low,
        high_pct=high,
        n=verdict["n"],
        advice=text.get("advice", ""),
        standing=(row.get("standing") or {}).get("standing", ""),
        is_primary=is_primary,
    )


def read_words(given: Iterable[str]) -> frozenset[str]:
    """Read `--fail-on`, which may be repeated and hold commas. Raise BadUse."""
    texts = [word.strip() for text in given for word in text.split(",")]
    message = frozenset(text.lower().replace("-", "_").replace(" ", "_") for text in texts if text)
    if unknown := sorted(message - set(FAILING_WORDS)):
        raise BadUse(
            f"--fail-on: “{unknown[0]}” is no verdict. There are {', '.join(FAILING_WORDS)}."
        )
    if texts and not message:
        raise BadUse("--fail-on names no verdict.")
    return message


def that_decide(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Give the primary contrast alone where one is named, else all."""
    return [verdict for verdict in verdicts if verdict.is_primary] or list(verdicts)


def judge_criterion(findings: Mapping[str, Any], words: Collection[str]) -> None:
    """Judge the campaign's criterion where `words` name it.

    Raise VerdictFailed where it is not kept, NotDecided where the runs do not show it, NoAnswer without a criterion.
    """
    if CRITERION_BROKEN not in words:
        return
    entry = findings.get("thresholds")
    if entry is None:
        raise NoAnswer(
            f"The campaign states no criterion, so --fail-on {CRITERION_BROKEN} has nothing to judge."
        )
    sentence = (entry.get("text") or {}).get("sentence", "")
    match entry["result"]["word"]:
        case "passes":
            return
        case "does_not_pass":
            raise VerdictFailed(f"{sentence} (--fail-on {CRITERION_BROKEN})")
    raise NotDecided(f"Whether the criterion is kept is not decided. {sentence}".strip())


def judge(verdicts: Sequence[Verdict], words: Collection[str]) -> None:
    """Raise VerdictFailed where a deciding verdict is one of `words`, NoAnswer without verdicts."""
    if not set(words) & set(WORDS):
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
