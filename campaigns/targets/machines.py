"""Which targets run on one machine, by what their owners say, and by their hosts and the IP addresses of these. Reads only."""

from collections.abc import Sequence

from campaigns.kit.network import parse_url
from campaigns.models import Target
from campaigns.targets.same_server import THIS_MACHINE, Hosts


def shared_machines(targets: Sequence[Target]) -> list[list[str]]:
    """Return the names of targets that share a machine, machine by machine; none that is alone on one."""
    places = _places(targets)
    groups: list[tuple[set[str], list[str]]] = []
    for target in targets:
        mine, names = set(places[target.pk]), [target.name]
        for group in [group for group in groups if group[0] & mine]:
            groups.remove(group)
            mine, names = mine | group[0], [*group[1], *names]
        groups.append((mine, names))
    return [names for _, names in groups if len(names) > 1]


def on_this_machine(targets: Sequence[Target]) -> list[str]:
    """Return the names of targets on the machine that asks, which may generate the load as well."""
    places = _places(targets)
    return [target.name for target in targets if THIS_MACHINE in places[target.pk]]


def _places(targets: Sequence[Target]) -> dict[int, frozenset[str]]:
    """Return the names and IP addresses of each target's machine, by primary key; one host is one machine, resolved or not."""
    hosts = Hosts()
    hosts.ask([target.base_url for target in targets])
    return {
        target.pk: hosts.of(target.base_url)
        | {f"host {parse_url(target.base_url).host}"}
        | ({f"named {target.runs_on.strip().lower()}"} if target.runs_on.strip() else frozenset())
        for target in targets
    }
