"""REST resources of recipes: the shipped ones, and their import as settings of a target."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable, text
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.targets.api.settings import ACTION, TAG, SettingInput, TargetSettingOutput
from campaigns.targets.api.targets import in_use
from campaigns.targets.recipes import importing
from campaigns.targets.recipes.reading import MOST_LETTERS, Recipe, read_recipe, shipped


class UsedPresetOutput(Part):
    """The preset of a kind of test that answers the question of a recipe."""

    kind = serializers.CharField()
    name = serializers.CharField()


class ReadinessOutput(Part):
    """A readiness check that a recipe adds to a target."""

    name = serializers.CharField()
    action = serializers.SerializerMethodField()

    @extend_schema_field(ACTION)
    def get_action(self, ready: Any) -> JsonObject:
        """What it does."""
        return dict(ready.action)


class RecipeOutput(Selectable):
    """A recipe. `setting`: as `POST targets/<id>/settings` takes it."""

    recipe = serializers.CharField(source="file")
    title = serializers.CharField()
    question = serializers.CharField()
    published = text()
    source = serializers.CharField()  # type: ignore[assignment]
    costs = serializers.CharField()
    needs = text()
    families = serializers.ListField(child=serializers.CharField())
    preset = UsedPresetOutput(allow_null=True)
    tried = text()
    adapt = text()
    setting = serializers.DictField(child=serializers.JSONField())
    readiness = ReadinessOutput(many=True)


class RecipeInput(Input):
    """A recipe by the name of its file, or a text of YAML; `setting` and `ready` replace what it says."""

    recipe = serializers.CharField(required=False, max_length=100)
    yaml = serializers.CharField(required=False, max_length=MOST_LETTERS, trim_whitespace=False)
    setting = SettingInput(required=False)
    ready = serializers.JSONField(required=False)


class Recipes(Api):
    """GET: the shipped recipes."""

    @operation("list_recipes", TAG, answer=RecipeOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List recipes of settings, each with its question, source and costs."""
        rows = [_shown(name, recipe) for name, recipe in shipped().items()]
        return self.whole([self.shown(row, RecipeOutput) for row in rows], RecipeOutput)


class ImportRecipe(Api):
    """POST: a setting of a target, as a recipe has it."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation(
        "import_recipe",
        TAG,
        body=RecipeInput,
        answer=TargetSettingOutput,
        code=status.HTTP_201_CREATED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Define the setting of a recipe, after its value was read back; what cannot be read back is refused."""
        target, sent = in_use(pk), self.read(RecipeInput)
        recipe = _recipe(sent)
        data = {**recipe.setting, **sent.get("setting", {})}
        data |= {"ready": sent["ready"]} if "ready" in sent else {}
        row = importing.import_recipe(recipe, data, target, self.user)
        output = self.shown(row, TargetSettingOutput)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


def _shown(name: str, recipe: Recipe) -> JsonObject:
    return {"file": name} | {field: getattr(recipe, field) for field in recipe.__struct_fields__}


def _recipe(sent: JsonObject) -> Recipe:
    """Return the recipe that is meant. Raise Invalid."""
    if ("recipe" in sent) == ("yaml" in sent):
        raise Invalid({"recipe": ["Give the name of a shipped recipe, or a text as yaml."]})
    if "yaml" in sent:
        return read_recipe(sent["yaml"])
    if sent["recipe"] not in shipped():
        raise Invalid(
            {"recipe": [f"There is no recipe “{sent['recipe']}”; GET recipes lists them."]}
        )
    return shipped()[sent["recipe"]]
