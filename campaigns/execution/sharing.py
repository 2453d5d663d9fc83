"""Which targets of a campaign share a part with the one that is measured. Reads only, and asks no name server."""

from campaigns.kinds.base import Driver
from campaigns.models import Run, Target
from campaigns.targets.machines import shared_machines


def sharing_with(run: Run, driver: Driver) -> list[Target]:
    """Return the other targets on the machine of a run's target; all others where one upstream serves them."""
    if run.cell.target_id is None:
        return []  # it is the only target
    places = list(run.campaign.places.select_related("target"))
    others = [place.target for place in places if place.target_id != run.cell.target_id]
    if driver.one_upstream or not others:
        return others
    machines = shared_machines(
        [place.target for place in places], {place.target_id: place.machine for place in places}
    )
    mine = {name for names in machines if run.cell.target.name in names for name in names}  # type: ignore[union-attr]
    return [other for other in others if other.name in mine]
