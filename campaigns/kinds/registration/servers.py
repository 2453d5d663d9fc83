"""What the kind asks of a server beside the load: the families' own ways to the same things."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from campaigns.kinds.base import Context, EffectiveSetting, Parameters, Proof, Target
from campaigns.kit.network import Rules


class Server(Protocol):
    """A family of servers at which hosts register."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Tell what it is, whether the login is right, and how it is."""

    def clear(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove what earlier runs of this installation left, and prove it."""

    def known(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look the organization and the activation keys up. Raise ParametersRefused."""

    def command(self, target: Target, parameters: Parameters, context: Context) -> dict[str, Any]:
        """Ask for what Foreman's global registration needs; nothing of other profiles."""

    def registered(
        self, target: Target, parameters: Parameters, context: Context, uuids: Sequence[str]
    ) -> list[Proof]:
        """Prove that the hosts of these uuids are there."""

    def remove(self, target: Target, parameters: Parameters, context: Context) -> None:
        """Remove what this attempt registered and is still there."""

    def facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Tell what must stay the same within a session."""
