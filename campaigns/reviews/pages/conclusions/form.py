"""The form of a conclusion: what somebody typed, and what it is drawn from."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from campaigns.kit.pages.fields import Choice, Field, is_key
from campaigns.kit.pages.people import user_of
from campaigns.kit.rights import visible
from campaigns.models import Campaign, Conclusion
from campaigns.reviews.check import title_of
from campaigns.reviews.checklist import checklist
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.pages.conclusions.page import CheckGroup, check_groups, check_lines
from campaigns.reviews.suggesting import contrasts_of, findings_offered

MOST_OFFERED = 1000
MOST_READ = 20
OFFERS = "campaigns-offered"
"""Id of the list of campaigns that the inputs search."""
BESIDE_NO_FIELD = ("", "evidence", "supersedes")
LEFT_OVER = (
    "The check passes now or is gone, since a campaign changed. What you wrote on it stands below: "
    "carry over what still holds, then store again."
)
Errors = Mapping[str, Sequence[str]]


def read(request: HttpRequest) -> Content:
    """What was typed. Rows without a campaign are left out."""
    post, launched = request.POST, _launched(request)
    older = post.get("supersedes", "")
    return Content(
        claim=_text(post, "claim"),
        recommendation=_text(post, "recommendation"),
        limits=_text(post, "limits"),
        evidence=[
            Cited(
                campaign=_key_in(post.get(f"campaign-{place}", ""), launched),
                contrast=_contrast(post.get(f"contrast-{place}", "")),
                finding=post.get(f"finding-{place}", "")[:200],
                view=post.get(f"view-{place}", "").strip()[:1000],
            )
            for place in range(MOST_READ)
            if post.get(f"campaign-{place}", "").strip()
        ],
        supersedes=int(older) if is_key(older) else None,
        words={
            key: _text(post, name)
            for name in post
            if name.startswith("word-")
            for key in name.removeprefix("word-").split(",")
        },
    )


def drawn(
    request: HttpRequest, content: Content, errors: Errors, conclusion: Conclusion | None = None
) -> dict[str, Any]:
    """What the form is drawn from; a conclusion that is stored has its checks to answer."""
    words = _words(conclusion, content, errors) if conclusion else []
    left_over = _left_over(content, words) if errors else []
    return {
        "claim": _area(
            "claim", "Claim", content.claim, errors, 2, "One sentence that somebody signs."
        ),
        "recommendation": _area(
            "recommendation",
            "Recommendation",
            content.recommendation,
            errors,
            3,
            "What to do: the setting, and where.",
        ),
        "limits": _area(
            "limits",
            "Limits",
            content.limits,
            errors,
            3,
            "Where it does not hold, or is not known.",
        ),
        "rows": _rows(request, content, errors),
        "offers": OFFERS,
        "offered": [
            (_named(each), f"{each.get_state_display().lower()}, {each.created_at:%Y-%m-%d}")
            for each in _launched(request).order_by("-pk")[:MOST_OFFERED]
        ],
        "words": words,
        "left_over": left_over,
        "supersedes": content.supersedes,
        "problems": [
            *(message for path in BESIDE_NO_FIELD for message in errors.get(path, ())),
            *(f"“{title}” needs no justification any more. {LEFT_OVER}" for title, _ in left_over),
        ],
    }


def _text(post: QueryDict, name: str) -> str:
    return post.get(name, "").replace("\r\n", "\n").strip()


def _named(campaign: Campaign) -> str:
    """Write a campaign as the list offers it."""
    return f"{campaign.name} ({campaign.pk})"


def _key_in(text: str, launched: QuerySet[Campaign]) -> int:
    """Read a campaign as the list offers it, or its number; 0 where it is neither.

    A name may itself end in a number in brackets: "Nightly (2)" is not campaign 2.
    """
    found = re.fullmatch(r"(.*) \((\d{1,17})\)|#?(\d{1,17})", text.strip(), re.DOTALL | re.ASCII)
    if found is None:
        return 0
    name, offered, number = found.groups()
    if number:
        return int(number)
    names = launched.filter(pk=int(offered)).values_list("name", flat=True)
    return int(offered) if name in names else 0


def _launched(request: HttpRequest) -> QuerySet[Campaign]:
    return visible(Campaign.objects.exclude(state=Campaign.State.DRAFT), user_of(request))


def _contrast(text: str) -> Mapping[str, Any] | None:
    """Read what the form offers as JSON; anything else is refused later, as no factor is named."""
    if not text:
        return None
    try:
        found = json.loads(text)
        # Half a surrogate pair cannot be written into a page, nor NaN into the database.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _area(name: str, label: str, value: str, errors: Errors, rows: int, hint: str) -> Field:
    return Field(
        name, label, value, "textarea", hint=hint, rows=rows, errors=errors.get(name, ()),
        required=name == "claim",
    )  # fmt: skip


def _rows(request: HttpRequest, content: Content, errors: Errors) -> list[list[Field]]:
    """A row for each piece of evidence, and an empty one."""
    named = _launched(request).filter(pk__in={each.campaign for each in content.evidence})
    by_key = {each.pk: each for each in named}
    typed = [
        text for n in range(MOST_READ) if (text := request.POST.get(f"campaign-{n}", "").strip())
    ]
    rows = [
        _row(place, each, by_key.get(each.campaign), typed[place] if typed else "", errors)
        for place, each in enumerate(content.evidence[:MOST_READ])
    ]
    return rows if len(rows) == MOST_READ else [*rows, [_campaign_field(len(rows), "", ())]]


def _campaign_field(place: int, value: str, wrong: Sequence[str]) -> Field:
    hint = "Type words of its name, or its number. Empty the field to remove this evidence."
    if not value:
        hint = "To add a campaign, type words of its name, or its number."
    attributes = {"list": OFFERS}
    return Field(
        f"campaign-{place}",
        "Campaign",
        value,
        hint=hint,
        errors=wrong,
        autocomplete="off",
        attributes=attributes,
    )


def _row(
    place: int, cited: Cited, campaign: Campaign | None, typed: str, errors: Errors
) -> list[Field]:
    path = f"evidence.{place}"
    wrong = errors.get(f"{path}.campaign", ())
    if wrong and not cited.campaign:
        wrong = [f"“{typed[:200]}” is no campaign of the list. Choose one, or type its number."]
    value = _named(campaign) if campaign else typed or str(cited.campaign)
    fields = [_campaign_field(place, value, wrong)]
    if campaign is None:
        return fields
    return [
        *fields,
        _contrast_field(place, cited, campaign, errors.get(f"{path}.contrast", ())),
        _finding_field(place, cited, campaign, errors.get(f"{path}.finding", ())),
        Field(
            f"view-{place}",
            "Chart",
            cited.view,
            hint="Address of the page with the chart as you want it seen, such as /campaigns/12/?x=…",
            errors=errors.get(f"{path}.view", ()),
        ),
    ]


def _contrast_field(place: int, cited: Cited, campaign: Campaign, wrong: Sequence[str]) -> Field:
    chosen = json.dumps(cited.contrast, sort_keys=True) if cited.contrast else ""
    options = contrasts_of(campaign)
    if chosen and chosen not in dict(options):
        options.append((chosen, chosen))
    choices = [Choice("", "The whole answer", not chosen)]
    choices += [Choice(value, words, value == chosen) for value, words in options]
    return Field(f"contrast-{place}", "Contrast", "", "select", choices=choices, errors=wrong)


def _finding_field(place: int, cited: Cited, campaign: Campaign, wrong: Sequence[str]) -> Field:
    names = findings_offered(campaign)
    if cited.finding and cited.finding not in names:
        names.append(cited.finding)
    choices = [Choice("", "The answer", not cited.finding)]
    choices += [Choice(name, name.replace("_", " "), name == cited.finding) for name in names]
    return Field(f"finding-{place}", "Finding", "", "select", choices=choices, errors=wrong)


def _words(
    conclusion: Conclusion, content: Content, errors: Errors
) -> list[tuple[CheckGroup, Field]]:
    """A field for each cause of checks that do not pass."""
    lines = check_lines(conclusion, checklist(conclusion))
    groups = check_groups(line for line in lines if line.check.state != "pass")
    return [(group, _word_field(group, content, errors)) for group in groups]


def _word_field(group: CheckGroup, content: Content, errors: Errors) -> Field:
    keys = group.keys.split(",")
    several = f", for all {len(keys)}" if len(keys) > 1 else ""
    return Field(
        f"word-{group.keys}",
        f"Your justification{several}{'' if group.word else ' (required)'}",
        next((content.words[key] for key in keys if content.words.get(key)), ""),
        "textarea",
        rows=2,
        errors=next((errors[path] for key in keys if (path := f"words.{key}") in errors), ()),
    )


def _left_over(
    content: Content, drawn_words: Sequence[tuple[CheckGroup, Field]]
) -> list[tuple[str, str]]:
    """What was typed on checks that have no field any more: their titles, and the words."""
    drawn_keys = {line.check.key for group, _ in drawn_words for line in group.lines}
    return [
        (title_of(key.rpartition("-")[0])[:60], text)
        for key, text in content.words.items()
        if key not in drawn_keys and text
    ]
