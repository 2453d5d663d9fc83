"""The parameters of the kind `foreman_task`."""

from typing import Any

from django import forms

from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    ParameterField,
    TextParameter,
)
from campaigns.kinds.base.repository_ids import Ids
from campaigns.kit.forms import Text

PUBLISH, PROMOTE, SYNC, APPLICABILITY = "publish", "promote", "sync", "applicability"
TASKS = {
    PUBLISH: "publish content views",
    PROMOTE: "promote content views",
    SYNC: "sync content views to a smart proxy",
    APPLICABILITY: "find the errata that apply to hosts",
}
MOST_VIEWS, MOST_HOSTS = 100, 10_000
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
        help_text="How many are published, promoted or synced at the same time, each with a task of its own.",
    )
    repository_ids = Ids(
        label="Repository IDs",
        address=True,
        essential=True,
        required=False,
        max_length=400,
        help_text="Ids of the repositories that each content view holds, such as 3, 5. They are not changed.",
    )
    environment = Environment(
        label="Lifecycle environment",
        role="work",
        essential=True,
        required=False,
        max_length=100,
        help_text=(
            f"Of a promotion: the name of the environment after {LIBRARY}. Of a sync: the one that the proxy holds; empty: {LIBRARY}."
        ),
    )
    proxy = IntegerParameter(
        label="Smart proxy",
        address=True,
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Of a sync: the id of the smart proxy.",
    )
    hosts = IntegerParameter(
        label="Hosts",
        role="load",
        initial=10,
        required=False,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text="Of applicability: how many hosts of the search, those with the smallest ids.",
    )
    search_query = TextParameter(
        label="Search for hosts",
        role="work",
        initial="name ~ perfdash",
        max_length=400,
        required=False,
        help_text="Of applicability: a search of Foreman that finds the hosts. They are not changed.",
    )

    def clean(self) -> dict[str, Any]:
        """Ask each task for what it needs."""
        cleaned = super().clean() or {}
        task = cleaned.get("task")
        if task == PROMOTE and not cleaned.get("environment"):
            self.add_error("environment", "Name the environment to promote to, such as Test.")
        if task == SYNC and not cleaned.get("proxy") and "proxy" not in self.errors:
            self.add_error("proxy", "Give the id of the smart proxy to sync to.")
        if task == APPLICABILITY and not cleaned.get("hosts") and "hosts" not in self.errors:
            self.add_error("hosts", "Give the number of hosts.")
        missing = not cleaned.get("repository_ids") and "repository_ids" not in self.errors
        if task in (PUBLISH, PROMOTE, SYNC) and missing:
            self.add_error(
                "repository_ids", "Give the ids of the repositories that content views hold."
            )
        return cleaned
