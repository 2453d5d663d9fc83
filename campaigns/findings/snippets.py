"""The favoured settings of a campaign as commands of the target's own tools. Reads only."""

import shlex
from collections.abc import Mapping
from typing import Any

from campaigns.kinds.base import Snippet
from campaigns.models import Campaign, Setting
from campaigns.planning.metrics import driver_if_known
from campaigns.targets.actions import COMMAND, HAND
from campaigns.targets.actions.values import PLACE

OWN = "the command by which perfdash sets it on the target"
BY_HAND = "what perfdash asks a person to do on the target"


def snippets_of(
    campaign: Campaign, levels: Mapping[str, Any], *, own: bool = True
) -> tuple[list[Snippet], list[str]]:
    """Return the snippets for levels, and the names of those for which none is known.

    own: include how the target's own settings are set, which may name machines.
    """
    driver = driver_if_known(campaign.kind)
    family = campaign.target.family if campaign.target else ""
    results = list(driver.snippets(family, levels, campaign.parameters)) if driver else []
    known = {name for snippet in results for name in snippet.names}
    if own and campaign.target:
        rows = campaign.target.setting_rows.filter(name__in=levels.keys() - known)
        results += [snippet for row in rows if (snippet := _own(row, levels[row.name]))]
    known = {name for snippet in results for name in snippet.names}
    return results, [name for name in levels if name not in known]


def _own(setting: Setting, value: Any) -> Snippet | None:
    """Return the command of SSH, or the text of the manual step; an HTTP request is nothing to paste."""
    action: Mapping[str, Any] = setting.apply
    if action.get("way") == COMMAND:
        texts = [str(each).replace(PLACE, str(value)) for each in action["arguments"]]
        return Snippet("shell of the target", shlex.join(texts), (setting.name,), OWN)
    if action.get("way") == HAND and action.get("words"):
        text = f"{action['words']}: {value}"
        return Snippet("by hand", text, (setting.name,), BY_HAND)
    return None
