"""Names of what perfdash makes on a target. Each has the installation in it: several perfdash may use one server. Pure."""

from campaigns.kinds.base.values import Proof, Target

OWN = "perfdash-"
"""Prefix of the name of everything that any perfdash makes on a target."""
INSTALLATION = r"[0-9a-f]{8}"
"""An installation in a name, as a regular expression."""


def own_prefix(target: Target) -> str:
    """Return the prefix of the names of what this installation makes on a target. Raise ValueError without an installation."""
    if not target.installation:
        raise ValueError(f"The target {target.name} was not given the installation.")
    return f"{OWN}{target.installation}-"


def names_shown(target: Target) -> Proof:
    """Return how the names of what this installation makes on a target begin, for its page: so people tell two perfdash apart."""
    return Proof("names of what perfdash makes", "any", f"{own_prefix(target)}…", "", ok=True)
