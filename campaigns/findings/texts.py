"""What REST and exported files say of findings in words, written at each request."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from campaigns.findings.answers import answers_of
from campaigns.findings.store import read
from campaigns.findings.values import (
    Answer,
    BindingFinding,
    CapacityFinding,
    Checks,
    FailedParts,
    LevelsFinding,
    Pairs,
    Sensitivity,
    Terms,
    Thresholds,
)
from campaigns.findings.wording.binding import binding_texts
from campaigns.findings.wording.capacity_answer import capacity_texts
from campaigns.findings.wording.checks import check_lines
from campaigns.findings.wording.comparisons import comparison_texts
from campaigns.findings.wording.failed_parts import failed_parts
from campaigns.findings.wording.sensitivity import sensitivity_sentence
from campaigns.findings.wording.thresholds import threshold_texts
from campaigns.models import Campaign, Finding
from campaigns.results.pages_data import shown_findings
from campaigns.stats.methods import METHODS

COMPARED: Mapping[str, type[LevelsFinding] | type[Pairs]] = {
    "levels": LevelsFinding,
    "pairs": Pairs,
}
NAMES = frozenset(
    {
        "answer",
        "binding",
        "capacity",
        "checks",
        "sensitivity",
        "thresholds",
        Finding.FAILED_PARTS,
        *COMPARED,
    }
)
"""Findings with a text."""


def texts_of(campaign: Campaign, names: Collection[str] = NAMES) -> dict[str, Any]:
    """Return the texts of findings by name, as JSON; those without a text are absent.

    Findings of other versions of the methods have none, since they are being computed again.
    """
    wanted = NAMES & set(names)
    if not wanted:
        return {}
    rows = shown_findings(campaign).filter(
        versions__methods=METHODS, name__in={*wanted, *COMPARED, "answer"}
    )
    texts = dict(_texts(dict(rows.values_list("name", "result"))))
    if "answer" in wanted and shown_findings(campaign).filter(name="answer").exists():
        texts["answer"] = answers_of([campaign.pk]).get(campaign.pk)
    return {name: to_builtins(text) for name, text in texts.items() if name in wanted}


def _texts(results: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    terms: Terms | None = None
    answer = read(results["answer"], Answer) if "answer" in results else None
    for name, shape in COMPARED.items():
        if name in results:
            terms = compared = read(results[name], shape)
            yield name, comparison_texts(compared, answer.targets if answer else None)
    if "capacity" in results:
        yield "capacity", capacity_texts(read(results["capacity"], CapacityFinding), answer)
    if "thresholds" in results:
        yield "thresholds", threshold_texts(read(results["thresholds"], Thresholds))
    if "binding" in results:
        yield "binding", binding_texts(read(results["binding"], BindingFinding))
    if "checks" in results:
        lines = check_lines(read(results["checks"], Checks))
        yield "checks", [f"{line.title}: {line.text}" for line in lines]
    if "sensitivity" in results and terms:
        yield (
            "sensitivity",
            [sensitivity_sentence(terms, read(results["sensitivity"], Sensitivity))],
        )
    if Finding.FAILED_PARTS in results:
        parts = read(results[Finding.FAILED_PARTS], FailedParts)
        yield Finding.FAILED_PARTS, failed_parts(parts)
