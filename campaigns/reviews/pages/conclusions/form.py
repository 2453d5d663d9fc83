"""The form of a conclusion."""

import json
import re
from collections.abc import Mapping, Sequence

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from campaigns.findings.wording.checklist import title_of
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import add_errors, is_key
from campaigns.kit.mappings import Contrast, TemplateContext
from campaigns.kit.pages.people import user_of
from campaigns.kit.rights import visible
from campaigns.models import Campaign, Conclusion
from campaigns.reviews.checklist import checklist
from campaigns.reviews.content import Cited, Content
from campaigns.reviews.pages.conclusions.page import CheckGroup, check_groups, check_lines
from campaigns.reviews.suggesting import contrasts_of, findings_offered

MOST_OFFERED = 1000
MOST_READ = 20
OFFERS = "campaigns-offered"
"""Id of the list of campaigns that the inputs search."""
BESIDE_NO_FIELD = ("", "evidence", "supersedes")
NO_EVIDENCE = Cited(campaign=0)
LEFT_OVER = (
    "The check passes now or is gone, since a campaign changed. What you wrote on it stands below: "
    "carry over what still holds, then store again."
)
Errors = Mapping[str, Sequence[str]]


def _area(rows: int, hint: str) -> forms.CharField:
    return forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": rows}), help_text=hint
    )


class ConclusionForm(forms.Form):
    """The texts of a conclusion; `reviews` checks them."""

    claim = _area(2, "One sentence that somebody signs.")
    recommendation = _area(3, "What to do: the setting, and where.")
    limits = _area(3, "Where it does not hold, or is not known.")


class EvidenceForm(forms.Form):
    """A piece of evidence, or an empty row for another one."""

    campaign = forms.CharField(
        required=False,
        widget=forms.TextInput(attrs={"list": OFFERS, "autocomplete": "off"}),
        help_text="To add a campaign, type words of its name, or its number.",
    )
    contrast = forms.ChoiceField(required=False)
    finding = forms.ChoiceField(required=False)
    view = forms.CharField(
        required=False,
        label="Chart",
        help_text="Address of the page with the chart as you want it seen, such as /campaigns/12/?x=…",
    )

    def __init__(self, place: int, typed: str, cited: Cited, campaign: Campaign | None) -> None:
        contrast = json.dumps(cited.contrast, sort_keys=True) if cited.contrast else ""
        values = {"campaign": _named(campaign) if campaign else typed, "view": cited.view}
        values |= {"contrast": contrast, "finding": cited.finding}
        super().__init__(
            {f"{name}-{place}": value for name, value in values.items()}, prefix=str(place)
        )
        if values["campaign"]:
            self.fields[
                "campaign"
            ].help_text = (
                "Type words of its name, or its number. Empty the field to remove this evidence."
            )
        if campaign is None:
            for name in ("contrast", "finding", "view"):
                del self.fields[name]
            return
        names = dict.fromkeys([*findings_offered(campaign), cited.finding])
        findings = [(name, name.replace("_", " ")) for name in names if name]
        contrasts = dict([("", "The whole answer"), *contrasts_of(campaign)])
        contrasts.setdefault(contrast, contrast)
        self.fields["contrast"] = forms.ChoiceField(choices=[*contrasts.items()], required=False)
        self.fields["finding"] = forms.ChoiceField(
            choices=[("", "The answer"), *findings], required=False
        )

    def add_prefix(self, field_name: str) -> str:
        """Return the name of an input, such as campaign-0."""
        return f"{field_name}-{self.prefix}"


class WordForm(forms.Form):
    """The justification of checks of one cause."""

    word = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, group: CheckGroup, content: Content) -> None:
        self.group, self.keys = group, group.keys.split(",")
        text = next((content.words[key] for key in self.keys if content.words.get(key)), "")
        super().__init__({f"word-{group.keys}": text}, prefix=group.keys)
        several = f", for all {len(self.keys)}" if len(self.keys) > 1 else ""
        required = "" if group.word else " (required)"
        self.fields["word"].label = f"Your justification{several}{required}"

    def add_prefix(self, field_name: str) -> str:
        """Return the name of the input, which holds the keys of the checks."""
        return f"{field_name}-{self.prefix}"


def read(request: HttpRequest) -> Content:
    """Return the content of the form, without rows that name no campaign."""
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
) -> TemplateContext:
    """Return the context of the form; a stored conclusion has fields for its justifications."""
    form = ConclusionForm({name: getattr(content, name) for name in ConclusionForm.base_fields})
    add_errors(form, Invalid({name: errors[name] for name in form.fields if name in errors}))
    text = _label(conclusion, content, errors) if conclusion else []
    left_over = _without_field(content, text) if errors else []
    return {
        "form": form,
        "rows": _rows(request, content, errors),
        "offers": OFFERS,
        "offered": [
            (_named(each), f"{each.get_state_display().lower()}, {each.created_at:%Y-%m-%d}")
            for each in _launched(request)
            .only("name", "state", "created_at")
            .order_by("-pk")[:MOST_OFFERED]
        ],
        "words": text,
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
    """Return a campaign as the list offers it."""
    return f"{campaign.name} ({campaign.pk})"


def _key_in(text: str, launched: QuerySet[Campaign]) -> int:
    """Read a campaign as the list offers it, or its number; 0 where it is neither.

    A name may itself end in a number in brackets: "Nightly (2)" is not campaign 2.
    """
    match = re.fullmatch(r"(.*) \((\d{1,17})\)|#?(\d{1,17})", text.strip(), re.DOTALL | re.ASCII)
    if match is None:
        return 0
    name, offered, number = match.groups()
    if number:
        return int(number)
    names = launched.filter(pk=int(offered)).values_list("name", flat=True)
    return int(offered) if name in names else 0


def _launched(request: HttpRequest) -> QuerySet[Campaign]:
    return visible(Campaign.objects.exclude(state=Campaign.State.DRAFT), user_of(request))


def _contrast(text: str) -> Contrast | None:
    """Read what the form offers as JSON; anything else is refused later, as no factor is named."""
    if not text:
        return None
    try:
        result = json.loads(text)
        # Half a surrogate pair cannot be written into a page, nor NaN into the database.
        json.dumps(result, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {}
    return result if isinstance(result, dict) else {}


def _rows(request: HttpRequest, content: Content, errors: Errors) -> list[EvidenceForm]:
    """Return a form for each piece of evidence, and an empty one."""
    named = _launched(request).filter(pk__in={each.campaign for each in content.evidence})
    by_key = {each.pk: each for each in named}
    typed = [
        text for n in range(MOST_READ) if (text := request.POST.get(f"campaign-{n}", "").strip())
    ]
    rows = []
    for place, cited in enumerate(content.evidence[:MOST_READ]):
        text = typed[place] if typed else ""
        row = EvidenceForm(place, text or str(cited.campaign), cited, by_key.get(cited.campaign))
        path = f"evidence.{place}"
        wrong = {name: errors.get(f"{path}.{name}", ()) for name in row.fields}
        if wrong["campaign"] and not cited.campaign:
            wrong["campaign"] = [
                f"“{text[:200]}” is no campaign of the list. Choose one, or type its number."
            ]
        add_errors(row, Invalid(wrong))
        rows.append(row)
    return (
        rows if len(rows) == MOST_READ else [*rows, EvidenceForm(len(rows), "", NO_EVIDENCE, None)]
    )


def _label(conclusion: Conclusion, content: Content, errors: Errors) -> list[WordForm]:
    """Return a form for each cause of checks that do not pass."""
    lines = check_lines(conclusion, checklist(conclusion))
    texts = []
    for group in check_groups(line for line in lines if line.check.state != "pass"):
        form = WordForm(group, content)
        wrong = (errors[path] for key in form.keys if (path := f"words.{key}") in errors)
        add_errors(form, Invalid({"word": next(wrong, ())}))
        texts.append(form)
    return texts


def _without_field(content: Content, words: Sequence[WordForm]) -> list[tuple[str, str]]:
    """Return justifications of checks that have no field any more: titles and texts."""
    known = {line.check.key for form in words for line in form.group.lines}
    return [
        (title_of(key.rpartition("-")[0])[:60], text)
        for key, text in content.words.items()
        if key not in known and text
    ]
