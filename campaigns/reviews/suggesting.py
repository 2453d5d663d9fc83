"""Suggest the initial text of a conclusion from findings. The author edits it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from campaigns.findings.answers import answers_of
from campaigns.findings.compared import sides_of
from campaigns.findings.compute.compared import compare_campaigns
from campaigns.findings.recommended import favoured_of
from campaigns.findings.store import read
from campaigns.findings.values import Levels, LevelsFinding, Pairs
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.compare import answer_of
from campaigns.kit.charts.labels import contrast_label
from campaigns.kit.mappings import Contrast
from campaigns.models import Campaign
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.validation import LONGEST_CLAIM
from campaigns.stats.methods import METHODS

MAIN = ("pairs", "levels", "matrix", "usl")
"""Findings that answer the question, in the order of preference."""
NOT_OFFERED = ("brief:", "density:", "drift:", "cells", "surroundings", "outlook")
MOST_CONTRASTS = 60


def suggestion(campaigns: Sequence[Campaign], view: str = "") -> Content:
    """Return claim, limits, recommendation and evidence drawn from stored findings. Stores nothing."""
    sentence, caveat = _answer(campaigns)
    return Content(
        claim=sentence[:LONGEST_CLAIM],
        limits=caveat,
        recommendation="\n".join(line for each in campaigns for line in _recommended(each)),
        evidence=[
            Cited(
                campaign=each.pk,
                contrast=each.primary_contrast,
                finding=_main_finding(each),
                view=view if place == 0 else "",
            )
            for place, each in enumerate(campaigns)
        ],
    )


def contrasts_of(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the compared contrasts as JSON and as labels; the primary one first."""
    result: dict[str, str] = {}
    for contrast in _contrasts(campaign):
        if len(result) < MOST_CONTRASTS:
            result.setdefault(json.dumps(contrast, sort_keys=True), contrast_label(contrast))
    return list(result.items())


def findings_offered(campaign: Campaign) -> list[str]:
    """Return the names of findings that a conclusion may cite, those that answer the question first."""
    names = list(campaign.findings.order_by("name").values_list("name", flat=True))
    return sorted(
        (name for name in names if not name.startswith(NOT_OFFERED)),
        key=lambda name: (MAIN.index(name) if name in MAIN else len(MAIN), name),
    )


def _answer(campaigns: Sequence[Campaign]) -> tuple[str, str]:
    """Return sentence and caveats of the comparison of several campaigns, else of the answer of the first."""
    if len(campaigns) > 1:
        sides = sides_of(
            [each.pk for each in campaigns],
            {each.team_id for each in campaigns if each.team_id},
        )
        if all(side.cells and not side.campaign.withheld for side in sides):
            compared = answer_of(compare_campaigns(sides))
            return compared.sentence, _all_caveats(compared)
    first = campaigns[0]
    answer = None if first.withheld else answers_of([first.pk]).get(first.pk)
    return (answer.sentence, _all_caveats(answer)) if answer else ("", "")


def _all_caveats(answer: AnswerText) -> str:
    return " ".join(filter(None, (answer.caveat, *answer.further)))


def _main_finding(campaign: Campaign) -> str:
    names = set(campaign.findings.filter(name__in=MAIN).values_list("name", flat=True))
    return next((name for name in MAIN if name in names), "")


def _recommended(campaign: Campaign) -> Iterator[str]:
    if campaign.withheld:
        return
    for each in favoured_of(campaign, campaign.primary_contrast):
        levels = ", ".join(f"{name} {level}" for name, level in each.levels.items())
        where = ", ".join(f"{name} {level}" for name, level in each.at.items())
        yield f"Set {levels}{f' (with {where})' if where else ''}: {each.why}."


def _contrasts(campaign: Campaign) -> Iterator[Contrast]:
    if campaign.primary_contrast:
        yield dict(campaign.primary_contrast)
    rows = campaign.findings.filter(versions__methods=METHODS, name__in=["pairs", "levels"])
    for name, result in rows.order_by("-name").values_list("name", "result"):
        if name == "pairs":
            yield from _of_pairs(read(result, Pairs))
        else:
            yield from _of_levels(read(result, LevelsFinding))


def _of_pairs(pairs: Pairs) -> Iterator[Contrast]:
    for stratum in pairs.strata:
        at = {name: level for name, level in stratum.levels.items() if name != pairs.factor}
        yield _contrast(pairs.factor, pairs.candidate, pairs.baseline, at)


def _of_levels(levels: LevelsFinding) -> Iterator[Contrast]:
    for group in levels.groups:
        values = dict(zip(group.cells, group.values, strict=True))
        for row in group.comparisons:
            yield _contrast(
                levels.factor, values[row.candidate], values[row.baseline], group.levels
            )


def _contrast(factor: str, candidate: Any, baseline: Any, at: Levels) -> Contrast:
    return {"factor": factor, "candidate": candidate, "baseline": baseline, "at": dict(at)}
