"""Determine which targets are one server: same port, and hosts that resolve to a common IP address.

They share one `address`, and with it lease, queue, limits, quiet hours and production mark.
"""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from django.db import connection
from django.db.models.functions import Now

from campaigns.kinds.programs.health import is_here
from campaigns.kit import name_service, network
from campaigns.kit.errors import Invalid
from campaigns.kit.network import normalised_address
from campaigns.models import Campaign, Target, TargetLease, on_address

ONE_SAVER = 7_363_002  # key of the advisory lock
THIS_MACHINE = "this machine"


class Hosts:
    """The IP addresses of hosts; each host is resolved once."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = {}

    def ask(self, urls: Iterable[str]) -> None:
        """Resolve the hosts of these URLs concurrently."""
        hosts = {network.parse_url(url, network.SCHEMES).host for url in urls} - self._known.keys()
        for host, result in name_service.addresses_of(hosts).items():
            self._known[host] = frozenset(map(_place, result))

    def of(self, url: str) -> frozenset[str]:
        """Return the IP addresses of a URL's host; none where it does not resolve."""
        self.ask([url])
        return self._known[network.parse_url(url, network.SCHEMES).host]

    def resolve_in_threads(self, urls: Sequence[str], pk: int | None) -> None:
        """Resolve URLs and all targets that might be the same server, in threads."""
        for url in urls:
            if rows := _others(url, pk):
                self.ask([url, *(each for row in rows for each in urls_of(row))])


def urls_of(target: Target) -> list[str]:
    """Return the URLs that a target is reached at: that of its server, and that of its content where it has another one."""
    return [target.base_url, *([target.content_url] if target.content_url else [])]


def share_address(target: Target, url: str, hosts: Hosts, content_url: str = "") -> str:
    """Return the address of a target at this URL, and store it for the other targets on its server, also for those at its content.

    Call it in a transaction; calls wait for one another. Raise Invalid where that would change the address of
    an active campaign's target.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_SAVER])
    own = network.normalised_address(url)
    moved = target._state.adding or own != normalised_address(target.base_url)
    urls = [url, *([content_url] if content_url else [])]
    hosts.resolve_in_threads(urls, target.pk)
    found = {
        row.pk: row
        for each in urls
        for row in _others(each, target.pk)
        if _is_same(row, each, hosts)
    }
    twins = list(found.values())
    addresses = list(dict.fromkeys(row.address for row in twins))
    if not moved and _stays(target, url, hosts):
        addresses = list(dict.fromkeys([target.address, *addresses]))
    busy = [address for address in addresses if is_held(address)]
    if len(busy) > 1:
        if not moved:
            return target.address
        raise Invalid({"base_url": [_between(twins, busy)]})
    address = [*busy, *addresses, own][0]
    Target.objects.filter(address__in=addresses).exclude(address=address).update(address=address)
    return address


def is_held(address: str) -> bool:
    """Return whether a campaign is active at an address, or a run of any kind holds it."""
    leases = TargetLease.objects.filter(
        address=address, attempt__isnull=False, expires_at__gt=Now()
    )
    return bool(measuring(address)) or leases.exists()


def measuring(address: str) -> list[Campaign]:
    """Return the active campaigns at an address, of all its targets."""
    rows = Campaign.objects.filter(on_address(address), state__in=Campaign.ACTIVE)
    return list(rows.select_related("target").order_by("pk"))


def is_measuring(target: Target, campaigns: Sequence[Campaign]) -> str:
    """Return a message on the campaign that prevents changes of a target: its own, else one on the same server."""
    result = min(campaigns, key=lambda campaign: target not in campaign.targets)
    if target in result.targets:
        return f"The campaign “{result.name}” is measuring this target."
    return (
        f"{_campaign(result, target)} is measuring the same server; the limits of this target count "
        "for it too."
    )


def _campaign(campaign: Campaign, target: Target) -> str:
    if campaign.team_id != target.team_id:
        return "A campaign of another team"
    return f"The campaign “{campaign.name}”, as “{campaign.target}”,"


def _others(url: str, pk: int | None) -> list[Target]:
    """Return the targets in use with the same port, except the one of this key."""
    port = network.parse_url(url, network.SCHEMES).port
    rows = Target.objects.filter(retired_at=None).order_by("pk")
    return [row for row in rows if row.pk != pk and port in map(_port, urls_of(row))]


def _port(url: str) -> int:
    return network.parse_url(url, network.SCHEMES).port


def _is_same(row: Target, url: str, hosts: Hosts) -> bool:
    own = network.normalised_address(url)
    at_port = [each for each in urls_of(row) if _port(each) == _port(url)]
    return own in (row.address, *map(normalised_address, at_port)) or any(
        hosts.of(url) & hosts.of(each) for each in at_port
    )


def _stays(target: Target, url: str, hosts: Hosts) -> bool:
    """Return whether a target keeps its address, since nothing shows that it is a different server now."""
    if is_held(target.address):
        return True
    here = hosts.of(url)
    shared = [row for row in _others(url, target.pk) if row.address == target.address]
    return not shared or any(
        not here or not (there := hosts.of(row.base_url)) or here & there for row in shared
    )


def _place(address: str) -> str:
    """Return the normal form of an IP address; all loopback addresses are one."""
    plain = network.unwrapped(ip_address(address))
    return THIS_MACHINE if is_here(str(plain)) else str(plain)


def _between(twins: Sequence[Target], busy: Sequence[str]) -> str:
    known = " and ".join(f"“{row.name}”" for row in twins if row.address in busy)
    return (
        f"This server is the same as {known}, which were taken for different ones so far, and are "
        "both being measured. Save it when one of them is free."
    )
