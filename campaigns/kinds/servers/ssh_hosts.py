"""Where a Foreman reaches a host by SSH: an address of its interface, and parameters of the host. No Django.

Source: foreman_remote_execution, `remote_execution_provider.rb` (`find_ip`, `host_setting`) and `script_execution_provider.rb`
(`ssh_port`); Foreman, `hosts_controller.rb`: a change of a host that names its parameters deletes those that it does not name.
"""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kinds.servers.foreman_hosts import HOSTS
from campaigns.kinds.servers.job_invocations import PAGE
from campaigns.kinds.servers.katello import Katello
from campaigns.kit.http.errors import Strange

PORT = "remote_execution_ssh_port"
BY_IP = "remote_execution_connect_by_ip"
BY_IPV6 = "remote_execution_connect_by_ip_prefer_ipv6"
KINDS = {PORT: "integer", BY_IP: "boolean", BY_IPV6: "boolean"}
"""Types of the parameters. Foreman takes any text for true where it has to be a boolean."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host is reached."""

    address: str
    port: int

    @property
    def is_ipv6(self) -> bool:
        """Whether the address is one of IPv6."""
        return ipaddress.ip_address(self.address).version == 6

    @property
    def field(self) -> str:
        """The attribute of a host that has the address of its first interface."""
        return "ip6" if self.is_ipv6 else "ip"

    @property
    def parameters(self) -> dict[str, int | bool]:
        """The parameters of the host, by name."""
        return {PORT: self.port, BY_IP: True, BY_IPV6: self.is_ipv6}


@dataclass(frozen=True, slots=True)
class ReachedHost:
    """A host as Foreman shows it. parameters: its own, as they are listed; addresses: by `ip` and `ip6`."""

    id: int
    name: str
    addresses: Mapping[str, str]
    parameters: Sequence[Mapping[str, Any]]

    def is_at(self, place: Place) -> bool:
        """Return whether Foreman reaches it there."""
        values = {str(each.get("name")): str(each.get("value")) for each in self.parameters}
        wanted = {name: str(value) for name, value in place.parameters.items()}
        has_address = _same(self.addresses.get(place.field, ""), place.address)
        return has_address and all(
            values.get(name, "").lower() == value.lower() for name, value in wanted.items()
        )


def reached_hosts(katello: Katello, search: str) -> Iterator[ReachedHost]:
    """Yield the hosts that a query finds, with their parameters. It is no request for the time of a load."""
    for row in katello.results(HOSTS, size=PAGE, search=search, include="parameters"):
        try:
            yield ReachedHost(
                int(row["id"]),
                str(row["name"]),
                {name: str(row.get(name) or "") for name in ("ip", "ip6")},
                list(row.get("parameters") or ()),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Strange(f"A host cannot be read ({error!r}).") from None


def place_host(katello: Katello, host: ReachedHost, place: Place) -> None:
    """Let Foreman reach a host there. Its other parameters stay, except hidden ones, whose values nobody is shown."""
    kept = [
        {
            "name": each["name"],
            "value": each.get("value"),
            "parameter_type": each.get("parameter_type") or "string",
        }
        for each in host.parameters
        if each.get("name") not in KINDS and not each.get("hidden_value?")
    ]
    ours = [
        {"name": name, "value": value, "parameter_type": KINDS[name]}
        for name, value in place.parameters.items()
    ]
    changed = {place.field: place.address, "host_parameters_attributes": [*kept, *ours]}
    katello.send("PUT", f"{HOSTS}/{host.id}", {"host": changed})


def may_not_place(katello: Katello, host: int) -> str:
    """Return the permission that the user lacks for `place_host`; empty without one. Raise Answered where parameters are not shown."""
    granted = katello.get(f"{HOSTS}/{host}").get("permissions")
    if isinstance(granted, Mapping) and granted.get("edit_hosts") is False:
        return "edit_hosts"
    katello.get(f"{HOSTS}/{host}/parameters", per_page=1)
    return ""


def _same(one: str, other: str) -> bool:
    try:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    except ValueError:
        return False
