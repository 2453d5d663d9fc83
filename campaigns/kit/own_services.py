"""Where perfdash's own services are: as the settings have them, and what their names resolve to."""

from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic

from django.conf import settings

from campaigns.kit import name_service, network


def installation_rules() -> network.Rules:
    """Rules of the installation, without what owners confirmed."""
    return network.parse_rules(settings.ALLOWED_ADDRESSES, own_addresses())


FRESH_SECONDS = 60.0


@dataclass(slots=True)
class _Known:
    addresses: frozenset[str] = frozenset()
    asked_at: float | None = None

    @property
    def is_fresh(self) -> bool:
        return self.asked_at is not None and monotonic() - self.asked_at < FRESH_SECONDS


_known: dict[str, _Known] = {}


def own_addresses() -> list[tuple[str, int]]:
    """Address or name, and port, of each service; a name's IP addresses stand beside it.

    Names are asked for once a minute. One that does not resolve is known by what it was last.
    """
    written = [(str(host), int(port)) for host, port in settings.OWN_ADDRESSES]
    hosts = {host for host, _ in written if _is_name(host)}
    for host in hosts:
        _known.setdefault(host, _Known())
    old = {host for host in hosts if not _known[host].is_fresh}
    for host, found in name_service.addresses_of(old).items():
        _known[host] = _Known(found or _known[host].addresses, monotonic())
    beside = [
        (_plain(address), port)
        for host, port in written
        if host in hosts
        for address in sorted(_known[host].addresses)
    ]
    return list(dict.fromkeys(written + beside))


def _is_name(host: str) -> bool:
    if "/" in host or "*" in host or host == "localhost":
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def _plain(address: str) -> str:
    """A name of this machine itself may stand for any of its loopback addresses."""
    return "localhost" if ip_address(address).is_loopback else address
