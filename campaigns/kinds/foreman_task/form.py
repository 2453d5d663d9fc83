"""The parameters of the kind `foreman_task`."""

from typing import Any

from django import forms

from campaigns.kinds.base.parameters import ChoiceParameter, IntegerParameter, ParameterField
from campaigns.kinds.base.repository_ids import Ids
from campaigns.kit.forms import Text

PUBLISH, PROMOTE = "publish", "promote"
TASKS = {PUBLISH: "publish content views", PROMOTE: "promote content views"}
MOST_VIEWS = 100
LIBRARY = "Library"


class Environment(ParameterField, Text):
    """The name of a lifecycle environment."""


class ForemanTaskForm(forms.Form):
    """What is asked of a Foreman, and how much of it at once."""

    task = ChoiceParameter(
        label="What is asked",
        role="work",
        essential=True,
        choices=list(TASKS.items()),
        initial=PUBLISH,
        help_text="Content views are made for it, and removed after each run; those of others are not touched.",
    )
    content_views = IntegerParameter(
        label="Content views",
        role="load",
        essential=True,
        initial=1,
        min_value=1,
        max_value=MOST_VIEWS,
        help_text="How many are published or promoted at the same time, each with a task of its own.",
    )
    repository_ids = Ids(
        label="Repository IDs",
        address=True,
        essential=True,
        max_length=400,
        help_text="Ids of the repositories that each content view holds, such as 3, 5. They are not changed.",
    )
    environment = Environment(
        label="Lifecycle environment",
        role="work",
        essential=True,
        required=False,
        max_length=100,
        help_text=f"Of a promotion: the name of the environment after {LIBRARY}.",
    )

    def clean(self) -> dict[str, Any]:
        """Ask a promotion for its environment."""
        cleaned = super().clean() or {}
        if cleaned.get("task") == PROMOTE and not cleaned.get("environment"):
            self.add_error("environment", "Name the environment to promote to, such as Test.")
        return cleaned
