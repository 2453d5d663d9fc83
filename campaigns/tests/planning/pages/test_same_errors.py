"""The form gives the errors that REST and YAML give for the same mistake, at the same paths."""

import pytest
from django.http import QueryDict

from campaigns.kit.errors import Invalid
from campaigns.models import Target
from campaigns.planning.checking import check
from campaigns.planning.definition import Definition
from campaigns.planning.design import FIELDS
from campaigns.planning.pages import forms
from campaigns.tests.planning.api.test_golden_definitions import CASES, servers

__all__ = ["servers"]
pytestmark = pytest.mark.django_db

TYPED = {
    "numbers out of range",
    "texts for numbers",
    "a margin above the effect",
    "precision at random",
    "everything excluded",
    "too many cells",
    "too many runs",
    "a URL of another server",
    "a pair without one",
    "a paired factor of three levels",
    "a load of one level",
    "a pair of loads",
    "conditions twice",
    "a limit that the client never sees",
    "a contrast of loads",
    "a contrast at no level",
    "configurations that leave a setting open",
    "configurations that another server lacks",
}
"""Cases that somebody may type: others are shapes that no form has."""


def typed(sent):
    """What a browser would send for a definition."""
    keys = dict(Target.objects.values_list("name", "pk"))
    named = sent.get("targets") or [sent["target"]]
    post = QueryDict(mutable=True)
    post["kind"], post["target"] = sent["kind"], str(keys[named[0]])
    post.setlist("also", [str(keys[name]) for name in named[1:]])
    for name in FIELDS.keys() & sent:
        post[name] = str(sent[name])
    for name, value in sent.get("parameters", {}).items():
        post[f"p-{name}"] = str(value)
    for name, levels in sent.get("factors", {}).items():
        if name != "configuration":
            post[f"vary-{name}"] = "on"
            post.setlist(f"levels-{name}", [str(level) for level in levels])
    rows = sent.get("factors", {}).get("configuration", {})
    for row, (name, chosen) in enumerate(rows.items()):
        post[f"configuration-{row}-name"] = name
        for setting, value in chosen.items():
            post[f"configuration-{row}-{setting}"] = str(value)
    post["excluded"] = "\n".join(
        ", ".join(f"{name}={level}" for name, level in each.items())
        for each in sent.get("excluded", ())
    )
    conditions = (sent.get("criterion") or {}).get("conditions", ())
    for row, condition in enumerate(conditions):
        post[f"criterion.conditions.{row}.metric"] = condition["metric"]
        post[f"criterion.conditions.{row}.limit"] = str(
            condition.get("at_most", condition.get("at_least"))
        )
    if contrast := sent.get("primary_contrast"):
        for side in ("candidate", "baseline"):
            post[f"primary_contrast.{side}"] = f"{contrast['factor']}={contrast[side]}"
        post["primary_contrast.at"] = ", ".join(
            f"{name}={level}" for name, level in contrast.get("at", {}).items()
        )
    return post


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["name"] in TYPED], ids=lambda case: case["name"]
)
def test_the_form_gives_the_same_errors_at_the_same_paths(case, team):
    assert case["sent"].keys() <= {*Definition.__struct_fields__}
    entered = forms.read(typed(case["sent"]), frozenset({team.pk}))
    data, errors = forms.as_definition(entered)
    with pytest.raises(Invalid) as caught:
        check(data, entered.targets)

    assert caught.value.errors | errors == case["errors"]
