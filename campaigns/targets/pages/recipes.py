"""Pages of recipes: those that fit a target, the form of one, and its import."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kinds.base import Preset
from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors
from campaigns.kit.mappings import CleanedData, JsonObject
from campaigns.kit.pages.forms import problems_of
from campaigns.kit.pages.people import takes, user_of
from campaigns.kit.rights import Right
from campaigns.models import Setting, Target
from campaigns.targets.pages.settings import Edited, edit, in_use
from campaigns.targets.recipes import importing
from campaigns.targets.recipes.reading import (
    MOST_LETTERS,
    Readiness,
    Recipe,
    read_recipe,
    shipped,
    shipped_text,
)
from campaigns.targets.setting_forms import ActionForm, SettingForm
from campaigns.targets.settings import revised_setting


class RecipeForm(forms.Form):
    """A recipe of one's own: pasted, or as a file."""

    yaml = forms.CharField(
        required=False,
        strip=False,
        max_length=MOST_LETTERS,
        label="Recipe",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="YAML, as the shipped recipes are.",
    )
    file = forms.FileField(required=False, label="Or its file")

    def text(self) -> str:
        """Return the text that was sent. Raise Invalid."""
        file = self.cleaned_data.get("file")
        if file is None:
            return str(self.cleaned_data["yaml"])
        if file.size > MOST_LETTERS:
            raise Invalid({"file": [f"A recipe has at most {MOST_LETTERS:,} letters."]})
        try:
            return str(file.read().decode())
        except UnicodeDecodeError:
            raise Invalid({"file": ["The file is no text in UTF-8."]}) from None


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """A recipe on the page of a target. is_here: the target has a setting of its name. preset: the label of its preset; or empty."""

    name: str
    recipe: Recipe
    is_here: bool
    preset: str


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Target)
def recipe_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List the recipes that fit a target, or show the form of one that was pasted."""
    target = in_use(pk)
    form = RecipeForm(request.POST or None, request.FILES or None)
    if request.method == "POST":
        try:
            if form.is_valid():
                text = form.text()
                return _form(request, target, read_recipe(text), text)
        except Invalid as invalid:
            _add(form, invalid)
    return _list(request, target, form)


def _add(form: RecipeForm, invalid: Invalid) -> None:
    """Add what is wrong with a recipe; its own fields stand before their messages."""
    texts = [
        text if path in form.fields else f"{path}: {text}"
        for path, each in invalid.errors.items()
        for text in each
    ]
    add_errors(form, Invalid({"yaml": texts}))


def _list(request: HttpRequest, target: Target, form: RecipeForm) -> HttpResponse:
    known = set(target.setting_rows.values_list("name", flat=True))
    rows = [
        RecipeRow(name, each, each.name in known, preset_label(each, target))
        for name, each in shipped().items()
        if each.fits(target.family)
    ]
    errors = problems_of(form) if request.method == "POST" else []
    context = {"target": target, "rows": rows, "form": form, "errors": errors}
    return render(request, "targets/recipes.html", context, status=422 if errors else 200)


@require_http_methods(["GET"])
@takes(Right.OPERATE, Target)
def recipe_page(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Show the form of a shipped recipe, filled in."""
    target = in_use(pk)
    if name not in shipped():
        raise Http404
    return _form(request, target, shipped()[name], shipped_text(name))


@require_POST
@takes(Right.OPERATE, Target)
def recipe_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Import a recipe as its form says."""
    target, text = in_use(pk), request.POST.get("recipe", "")
    try:
        recipe = read_recipe(text)
    except Invalid as invalid:
        form = RecipeForm({"yaml": text})
        form.is_valid()
        _add(form, invalid)
        return _list(request, target, form)
    return _form(request, target, recipe, text)


def _form(request: HttpRequest, target: Target, recipe: Recipe, text: str) -> HttpResponse:
    """Show the form of a setting with the values of a recipe, or import what it says."""
    imports = "recipe" in request.POST
    data = request.POST if imports else None
    setting = SettingForm(data, instance=Setting(target=target), initial=_initial(recipe))
    apply, read = recipe.setting["apply"], recipe.setting["read_back"]
    actions = [
        ActionForm(data, "apply", apply, "How it is set", has_value=True),
        ActionForm(data, "read_back", read, "How it is read back"),
    ]
    actions += [
        ActionForm(data, "ready", ready.action, f"Readiness: {ready.name}")
        for ready in _missing(recipe, target)
    ]

    def save(sent: CleanedData) -> None:
        try:
            importing.import_recipe(recipe, sent, target, user_of(request))
        except NotPossible as refusal:
            raise Invalid({"": [str(refusal)]}) from None

    edited = Edited(
        target=target,
        title=recipe.title,
        name=f"The setting {request.POST.get('name', '')}",
        row=None,
        form=setting,
        save=save,
        stored=revised_setting,
        remove="",
        actions=actions,
    )
    about = {"recipe": recipe, "recipe_text": text, "preset": preset_label(recipe, target)}
    about["import_url"] = reverse("recipe-import", args=[target.pk])
    return edit(request, edited, is_sent=imports, about=about)


def _missing(recipe: Recipe, target: Target) -> list[Readiness]:
    known = set(target.steps.values_list("name", flat=True))
    return [each for each in recipe.readiness if each.name not in known]


def _initial(recipe: Recipe) -> JsonObject:
    """Return the fields of a setting; those that a recipe does not give are as REST has them."""
    usual = {"type": Setting.Type.INTEGER, "hard_to_change": True}
    return usual | {
        name: value for name, value in recipe.setting.items() if name in SettingForm.Meta.fields
    }


def preset_label(recipe: Recipe, target: Target) -> str:
    """Return the label of the preset of a recipe; empty where it has none, or none that fits the target."""
    driver = all_kinds().get(recipe.preset.kind) if recipe.preset else None
    if recipe.preset is None or driver is None or target.family not in driver.families:
        return ""
    presets: Sequence[Preset] = driver.presets("")
    return next((each.label for each in presets if each.name == recipe.preset.name), "")
