"""The form of a conclusion: what somebody typed, and what it is drawn from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, QueryDict

from campaigns.models import Campaign, Conclusion
from campaigns.queries.rights import visible
from campaigns.reviews.check import title_of
from campaigns.reviews.checklist import checklist
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.suggesting import contrasts_of, findings_offered
from campaigns.web.conclusions.page import CheckLine, check_lines
from campaigns.web.fields import Choice, Field, is_key
from campaigns.web.people import user_of

MOST_OFFERED = 200
MOST_READ = 20
BESIDE_NO_FIELD = ("", "evidence", "supersedes")
LEFT_OVER = (
    "The check passes now or is gone, since a campaign changed. What you wrote on it stands below: "
    "carry over what still holds, then store again."
)
Errors = Mapping[str, Sequence[str]]


def read(post: QueryDict) -> Content:
    """What was typed. Rows without a campaign are left out."""
    older = post.get("supersedes", "")
    return Content(
        claim=_text(post, "claim"),
        recommendation=_text(post, "recommendation"),
        limits=_text(post, "limits"),
        evidence=[
            Cited(
                campaign=int(key),
                contrast=_contrast(post.get(f"contrast-{place}", "")),
                finding=post.get(f"finding-{place}", "")[:200],
                view=post.get(f"view-{place}", "").strip()[:1000],
            )
            for place in range(MOST_READ)
            if is_key(key := post.get(f"campaign-{place}", ""))
        ],
        supersedes=int(older) if is_key(older) else None,
        words={
            name.removeprefix("word-"): _text(post, name)
            for name in post
            if name.startswith("word-")
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
        "words": words,
        "left_over": left_over,
        "supersedes": content.supersedes,
        "problems": [
            *(message for path in BESIDE_NO_FIELD for message in errors.get(path, ())),
            *(f"“{title}” takes no word any more. {LEFT_OVER}" for title, _ in left_over),
        ],
    }


def _text(post: QueryDict, name: str) -> str:
    return post.get(name, "").replace("\r\n", "\n").strip()


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
    launched = visible(Campaign.objects.exclude(state=Campaign.State.DRAFT), user_of(request))
    offered = list(launched.order_by("-pk")[:MOST_OFFERED])
    named = {each.campaign for each in content.evidence} - {each.pk for each in offered}
    offered += list(launched.filter(pk__in=named))
    by_key = {each.pk: each for each in offered}
    cited: list[Cited | None] = [*content.evidence, None]
    return [_row(place, each, by_key, errors) for place, each in enumerate(cited[:MOST_READ])]


def _row(
    place: int, cited: Cited | None, offered: Mapping[int, Campaign], errors: Errors
) -> list[Field]:
    chosen = cited.campaign if cited else None
    campaign = offered.get(chosen) if chosen is not None else None
    path = f"evidence.{place}"
    blank = "Add a campaign" if cited is None else "None: take this row away"
    choices = [Choice("", blank, campaign is None)]
    choices += [Choice(str(key), each.name, key == chosen) for key, each in offered.items()]
    wrong = errors.get(f"{path}.campaign", ())
    fields = [
        Field(
            f"campaign-{place}", "Campaign", "", "select", choices=choices,
            errors=wrong if cited else (),
        )
    ]  # fmt: skip
    if cited is None or campaign is None:
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
) -> list[tuple[CheckLine, Field]]:
    """A field for each check that does not pass."""
    lines = check_lines(conclusion, checklist(conclusion))
    return [
        (
            line,
            Field(
                f"word-{line.check.key}",
                f"Your word on it{'' if line.word else ', which it takes'}",
                content.words.get(line.check.key, ""),
                "textarea",
                rows=2,
                errors=errors.get(f"words.{line.check.key}", ()),
            ),
        )
        for line in lines
        if line.check.state != "pass"
    ]


def _left_over(
    content: Content, drawn_words: Sequence[tuple[CheckLine, Field]]
) -> list[tuple[str, str]]:
    """What was typed on checks that have no field any more: their titles, and the words."""
    drawn_keys = {line.check.key for line, _ in drawn_words}
    return [
        (title_of(key.rpartition("-")[0])[:60], text)
        for key, text in content.words.items()
        if key not in drawn_keys and text
    ]
