"""Addresses of perfdash's own services, from the settings and the name service."""

from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic

from django.conf import settings

from campaigns.kit import name_service, network


def installation_rules() -> network.Rules:
    """Return the rules of the installation, without those that owners of targets confirmed."""
    return network.parse_rules(settings.ALLOWED_ADDRESSES, own_addresses())


FRESH_SECONDS = 60.0


@dataclass(slots=True)
class _Known:
    addresses: frozenset[str] = frozenset()
    resolved_at: float | None = None

    @property
    def is_fresh(self) -> bool:
        return self.resolved_at is not None and monotonic() - self.resolved_at < FRESH_SECONDS


_known: dict[str, _Known] = {}


def own_addresses() -> list[tuple[str, int]]:
    """Return address or name, and port, of each service, and the IP addresses of the names.

    Names are resolved once a minute. One that does not resolve keeps its last addresses.
    """
    written = [(str(host), int(port)) for host, port in settings.OWN_ADDRESSES]
    hosts = {host for host, _ in written if _is_name(host)}
    for host in hosts:
        _known.setdefault(host, _Known())
    old = {host for host in hosts if not _known[host].is_fresh}
    for host, addresses in name_service.addresses_of(old).items():
        _known[host] = _Known(addresses or _known[host].addresses, monotonic())
    resolved = [
        (_plain(address), port)
        for host, port in written
        if host in hosts
        for address in sorted(_known[host].addresses)
    ]
    return list(dict.fromkeys(written + resolved))


def _is_name(host: str) -> bool:
    if "/" in host or "*" in host or host == "localhost":
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def _plain(address: str) -> str:
    """Return `localhost` for any loopback address: a name of this machine may mean each of them."""
    return "localhost" if ip_address(address).is_loopback else address
