"""The page of the recipes in the documentation has each of them, as it is."""

from pathlib import Path

import pytest

from campaigns.targets.recipes.reading import Recipe, shipped

pytestmark = pytest.mark.unit

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "recipes.md"
HEAD = "| recipe | question | published | a change costs | preset | tried on |\n|---|---|---|---|---|---|\n"


def row(name: str, recipe: Recipe) -> str:
    file = f"[`{name}`](../../campaigns/targets/recipes/{name}.yaml)"
    preset = f"{recipe.preset.kind}: `{recipe.preset.name}`" if recipe.preset else ""
    cells = (file, recipe.question, recipe.published, recipe.costs, preset, recipe.tried)
    return f"| {' | '.join(cells)} |\n"


def test_the_table_has_each_recipe_as_it_is():
    table = HEAD + "".join(row(name, recipe) for name, recipe in shipped().items())
    assert table in PAGE.read_text(encoding="utf-8"), f"Put this table there:\n{table}"
