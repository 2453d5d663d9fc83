"""Where workers may connect. Pure: no Django, no I/O, no name service."""

from campaigns.kit.network.addresses import Address, Network, is_local, unwrapped
from campaigns.kit.network.errors import BadRule, BadUrl, NetworkError, Refused
from campaigns.kit.network.rules import SETTING, Rule, Rules, check_url, parse_rules
from campaigns.kit.network.urls import Endpoint, normalised_address, parse_url

__all__ = [
    "SETTING",
    "Address",
    "BadRule",
    "BadUrl",
    "Endpoint",
    "Network",
    "NetworkError",
    "Refused",
    "Rule",
    "Rules",
    "check_url",
    "is_local",
    "normalised_address",
    "parse_rules",
    "parse_url",
    "unwrapped",
]
