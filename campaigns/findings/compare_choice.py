"""The campaigns or cells chosen for a comparison, limited to what can be compared. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from campaigns.findings.compared import Side
from campaigns.models import Campaign

MOST_CAMPAIGNS = 6
"""The chart has so many colours and symbols for its series."""
MOST_CELLS = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """campaigns: by their keys. cells: (campaign, cell) in their place. The first is the baseline."""

    campaigns: tuple[int, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    metric: str = ""

    @property
    def all_campaigns(self) -> tuple[int, ...]:
        """Those of the cells first, in their order, then those named without cells."""
        return tuple(dict.fromkeys((*(campaign for campaign, _ in self.cells), *self.campaigns)))


AnyChoice = TypeVar("AnyChoice", bound=Choice)


def there_is(choice: AnyChoice, sides: Sequence[Side]) -> tuple[AnyChoice, list[str]]:
    """Leave out what there is not, so that no link keeps it; say so."""
    known = {side.campaign.pk: side for side in sides}
    lost = [str(key) for key in choice.all_campaigns if key not in known]
    wrong = [f"There is no campaign {', '.join(lost)}."] if lost else []
    cells = []
    for campaign, key in choice.cells:
        side = known.get(campaign)
        if side is None:
            continue
        if side.cells is not None and key not in {cell["cell"] for cell in side.cells["cells"]}:
            wrong.append(f"“{side.campaign.name}” has no cell {key}.")
        else:
            cells.append((campaign, key))
    stored = tuple(key for key in choice.campaigns if key in known)
    if choice.cells and not cells:
        stored = tuple(known)
    return replace(choice, campaigns=stored, cells=tuple(cells)), wrong


def why_unusable(side: Side) -> str:
    """Return why a campaign cannot be compared now; empty where it can."""
    campaign = side.campaign
    if campaign.state == Campaign.State.DRAFT:
        return f"“{campaign.name}” is a draft: it has no runs to compare. Launch it first."
    if campaign.state in Campaign.ACTIVE:
        return (
            f"“{campaign.name}” is still measured: no verdict is given until its stop rule is met. "
            "It can be compared when it is finished."
        )
    if side.cells is not None:
        return ""
    if campaign.analysis_requested_at is not None:
        return f"“{campaign.name}” is being analysed. Ask again in a moment."
    return f"“{campaign.name}” has no findings: nothing of it was analysed."
