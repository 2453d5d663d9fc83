"""IP addresses: which IPv4 one an IPv6 one holds, and those that nobody may connect to. Pure."""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from campaigns.kit.network.errors import BadUrl

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NEVER: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("169.254.169.254/32", "an address of cloud metadata"),
        ("100.100.100.200/32", "an address of cloud metadata"),
        ("192.0.0.192/32", "an address of cloud metadata"),
        ("168.63.129.16/32", "an address of cloud metadata"),
        ("fd00:ec2::/32", "an address of cloud metadata"),
        ("fd20:ce::254/128", "an address of cloud metadata"),
        ("0.0.0.0/8", "an unspecified address"),
        ("::/128", "an unspecified address"),
        ("169.254.0.0/16", "a link-local address"),
        ("fe80::/10", "a link-local address"),
        ("224.0.0.0/4", "a multicast address"),
        ("ff00::/8", "a multicast address"),
        ("240.0.0.0/4", "a reserved or broadcast address"),
        ("2001::/32", "a tunnelled (Teredo) address"),
        ("64:ff9b:1::/48", "a translated (NAT64) address"),
    )
)
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")


def unwrapped(address: str | Address) -> Address:
    """Give the IPv4 address inside an IPv6 one (mapped, compatible, 6to4, NAT64), or the address.

    Raise BadUrl where the text is no IP address.
    """
    if isinstance(address, str):
        try:
            address = ip_address(address.partition("%")[0])
        except ValueError:
            raise BadUrl(f"{address!r} is not an IP address.") from None
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is not None:
        return inner
    if address in NAT64 or (address in COMPATIBLE and int(address) > 0xFFFF):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return IPv6Address(int(address))  # without a zone


def is_local(address: str | Address) -> bool:
    """Say whether the address is loopback or private: one that only the owner can vouch for."""
    plain = unwrapped(address)
    return plain.is_loopback or plain.is_private
