"""Validate the content of a conclusion, field by field."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User

from campaigns.findings.pages.levels import LABELS, PRINT
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Contrast
from campaigns.kit.rights import visible
from campaigns.models import Campaign, Factor
from campaigns.reviews.content import Cited, Content

LONGEST_CLAIM, LONGEST_TEXT, LONGEST_WORD, LONGEST_VIEW = 500, 20_000, 2_000, 500
MOST_EVIDENCE = 20
LEVEL = "|".join([*LABELS, PRINT])
VIEW = re.compile(
    rf"/(?:campaigns/[1-9][0-9]{{0,8}}/(?:(?:{LEVEL})/)?|compare/)(?:[?#][!-~]*)?", re.ASCII
)
CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Invisible characters, and those that change the direction of text."""
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Invisible characters that Unicode classifies as letters."""
CONTRAST = ("factor", "candidate", "baseline", "at")
Errors = dict[str, list[str]]


def checked(user: User, content: Content) -> list[Campaign]:
    """Return the campaigns of the evidence, in its order. Raise Invalid with every error by field."""
    errors: Errors = {}
    if not content.claim.strip():
        errors["claim"] = ["Say in a sentence what you claim."]
    _check_text("claim", content.claim, LONGEST_CLAIM, errors)
    _check_text("recommendation", content.recommendation, LONGEST_TEXT, errors)
    _check_text("limits", content.limits, LONGEST_TEXT, errors)
    for key, text in content.words.items():
        _check_text(f"words.{key[:50]}", text, LONGEST_WORD, errors)
    result = _campaigns(user, content.evidence, errors)
    if errors:
        raise Invalid(errors)
    return result


def _check_text(name: str, text: str, longest: int, errors: Errors) -> None:
    if len(text.strip()) > longest:
        errors[name] = [f"It has {len(text.strip())} letters; {longest} are the most."]
    elif wrong := wrong_letters(text):
        errors[name] = [wrong]


def wrong_letters(text: str) -> str:
    """Return an error for a text with control characters or without visible ones; empty if there is none."""
    if match := CONTROL.search(text):
        return f"It holds a control character (U+{ord(match[0]):04X}); leave that out."
    if text.strip() and not any(map(_is_seen, text)):
        return f"It holds nothing that can be seen (U+{ord(text.strip()[0]):04X}); write a word."
    return ""


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter)[0] not in "CMZ" and letter not in BLANKS


def _campaigns(user: User, evidence: Sequence[Cited], errors: Errors) -> list[Campaign]:
    if not 1 <= len(evidence) <= MOST_EVIDENCE:
        errors["evidence"] = [
            f"A conclusion rests on 1 to {MOST_EVIDENCE} pieces of evidence; {len(evidence)} are named."
        ]
        return []
    rows = visible(Campaign.objects.filter(pk__in=[each.campaign for each in evidence]), user)
    seen = {row.pk: row for row in rows.select_related("team", "target")}
    result = []
    for place, each in enumerate(evidence):
        campaign = seen.get(each.campaign)
        if campaign is None:
            errors[f"evidence.{place}.campaign"] = [f"There is no campaign {each.campaign}."]
        elif campaign.state == Campaign.State.DRAFT:
            errors[f"evidence.{place}.campaign"] = [
                f"“{campaign.name}” is a draft: nothing was measured that a claim could rest on."
            ]
        else:
            result.append(campaign)
            _check_cited(f"evidence.{place}", campaign, each, errors)
    return result


def _check_cited(path: str, campaign: Campaign, each: Cited, errors: Errors) -> None:
    names = list(campaign.findings.order_by("name").values_list("name", flat=True))
    if each.finding and each.finding not in names:
        errors[f"{path}.finding"] = [
            f"“{campaign.name}” has no finding “{each.finding[:50]}”; it has {', '.join(names[:30])}."
        ]
    if each.view and (len(each.view) > LONGEST_VIEW or not VIEW.fullmatch(each.view)):
        errors[f"{path}.view"] = [
            "Give the address of a campaign's page, or of a comparison, as the browser shows it without "
            "the server, such as /campaigns/12/?x=workers."
        ]
    if each.contrast is not None and (wrong := _wrong_contrast(campaign, each.contrast)):
        errors[f"{path}.contrast"] = [wrong]


def _wrong_contrast(campaign: Campaign, contrast: Contrast) -> str:
    """Return what is wrong with a contrast; empty if nothing is."""
    levels = {
        factor.name: [level.value for level in factor.levels.all()]
        for factor in Factor.objects.filter(campaign=campaign).prefetch_related("levels")
    }
    if unknown := [str(name)[:40] for name in contrast if name not in CONTRAST]:
        return f"There is no “{unknown[0]}” in it; there are {', '.join(CONTRAST)}."
    factor, at = contrast.get("factor"), contrast.get("at", {})
    if not isinstance(factor, str) or factor not in levels or not isinstance(at, Mapping):
        return f"Name a factor of the campaign; it has {', '.join(levels)}."
    named = [(factor, contrast.get(side)) for side in ("candidate", "baseline")] + list(at.items())
    for name, level in named:
        if name not in levels or level not in levels[name]:
            return f"“{str(level)[:40]}” is no level of {str(name)[:40]} in “{campaign.name}”."
    return ""
