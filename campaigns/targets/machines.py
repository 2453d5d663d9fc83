"""Which targets run on one machine, by what their owners say, and by their hosts and the IP addresses of these. Reads only."""

from collections.abc import Collection, Mapping, Sequence

from campaigns.kit.network import SCHEMES, parse_url
from campaigns.models import Target
from campaigns.targets.same_server import THIS_MACHINE, Hosts


def shared_machines(
    targets: Sequence[Target], known: Mapping[int, Collection[str] | None] | None = None
) -> list[list[str]]:
    """Return the names of targets that share a machine, machine by machine; none that is alone on one.

    known: names and addresses as they were resolved at launch, by primary key; where these are None, what needs no network is compared.
    Without `known`, hosts are resolved now.
    """
    if known is None:
        places: Mapping[int, Collection[str]] = machines_of(targets)
    else:
        places = {
            target.pk: _names(target) if (stored := known.get(target.pk)) is None else stored
            for target in targets
        }
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
    places = machines_of(targets)
    return [target.name for target in targets if THIS_MACHINE in places[target.pk]]


def machines_of(targets: Sequence[Target]) -> dict[int, frozenset[str]]:
    """Return the names and IP addresses of each target's machine, by primary key; it takes at most 2 s.

    One host is one machine, resolved or not.
    """
    hosts = Hosts()
    hosts.ask([target.base_url for target in targets])
    return {target.pk: hosts.of(target.base_url) | _names(target) for target in targets}


def _names(target: Target) -> frozenset[str]:
    """Return what tells the machine without the network: its host, and the name that its owner typed in."""
    named = target.runs_on.strip().lower()
    host = f"host {parse_url(target.base_url, SCHEMES).host}"
    return frozenset({host, f"named {named}"} if named else {host})
