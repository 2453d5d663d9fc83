"""Where a web request comes from, as far as it can be believed."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

OWN_NETWORK = 64
"""The prefix length of one IPv6 client, which may use any address within."""


def client_address(request: HttpRequest) -> str | None:
    """Give the address of the client, of IPv6 the network that is its own; None where it is unknown.

    Behind a proxy it is the last word of X-Forwarded-For: the one that the proxy itself has added.
    Whatever stands before it, or comes without a proxy, anybody could have written.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        peer = request.headers.get("X-Forwarded-For", "").rpartition(",")[2] or peer
    try:
        address = ip_address(peer.strip().strip("[]"))
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        if mapped is None:
            return str(ip_network((address, OWN_NETWORK), strict=False).network_address)
        address = mapped
    return str(address)
