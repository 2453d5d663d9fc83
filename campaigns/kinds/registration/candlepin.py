"""The steps of the kind `registration` at a Candlepin without Katello. Not yet tried with a real server."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from campaigns.kinds.base import (
    SIMULATOR,
    Context,
    DriverError,
    EffectiveSetting,
    Parameters,
    ParametersRefused,
    Proof,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.naming import OWN, names_shown, own_prefix
from campaigns.kinds.base.servers import (
    MARKS_OF_SIMULATORS,
    UNKNOWN,
    clock_proof,
    connected,
    target_facts,
    while_leased,
)
from campaigns.kinds.base.under_way import patience_of, remove_until_quiet
from campaigns.kinds.registration.requests import (
    OTHERS,
    attempt_prefix,
    refuse_others,
    say_removed,
)
from campaigns.kinds.servers.candlepin import Candlepin
from campaigns.kit.http.credentials import Login
from campaigns.kit.mappings import ProgramRequest
from campaigns.kit.network import Rules

NORMAL = "NORMAL"


class CandlepinServer:
    """A Candlepin at which hosts register. Without a user, only the hosts themselves send requests."""

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that Candlepin answers and is in its normal mode."""
        with _candlepin_of(target, rules) as candlepin:
            began_at = time.perf_counter()
            status = candlepin.status()
            seconds = time.perf_counter() - began_at
            mode = str(status.get("mode"))
            return [
                Proof("Candlepin", "any", str(status["version"]), "", ok=True),
                Proof("mode", NORMAL, mode, "", mode == NORMAL),
                Proof("login", "any", "given" if target.username else "none", "", ok=True),
                Proof("answers", "any", round(seconds, 4), "s", ok=True),
                names_shown(target),
                clock_proof(candlepin.date(), datetime.now(UTC)),
            ]

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that no other perfdash has hosts there, where the target has a user. Raise NotOurs."""
        if target.username:
            with _candlepin_of(target, rules) as candlepin:
                refuse_others(target, _of_others(candlepin, target, parameters))

    def clear(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove the consumers of this installation, where the target has a user."""
        with _candlepin_of(target, context) as candlepin:
            status = candlepin.status()
            if status.get("mode") != NORMAL:
                raise TargetUnavailable(
                    f"Candlepin is in mode {status.get('mode')} ({status.get('modeReason')}); bring "
                    "it back to NORMAL."
                )
            if not target.username:
                return [
                    Proof("hosts of this perfdash", "0, asked with a login", UNKNOWN, "", ok=True)
                ]
            removed = _remove(candlepin, parameters, own_prefix(target))
            left = len(list(candlepin.consumers(parameters["organization"], own_prefix(target))))
            others = _of_others(candlepin, target, parameters)
        return [
            Proof("hosts of earlier runs removed", "any", removed, "count", ok=True),
            Proof("hosts of this perfdash", 0, left, "count", left == 0),
            Proof(OTHERS, "any", others, "count", ok=True),
        ]

    def known(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Look up organization and activation keys, where the target has a user. Raise ParametersRefused."""
        label, names = parameters["organization"], parameters["activation_keys"]
        if not target.username and int(parameters.get("generators") or 1) > 1:
            raise DriverError(
                "Hosts that several generators register are deleted by a user: give the target a user "
                "name and a password, or use one generator."
            )
        if target.username:
            with _candlepin_of(target, context) as candlepin:
                if not candlepin.has_owner(label):
                    message = f"Candlepin has no owner {label}."
                    raise ParametersRefused(message, {"organization": message})
                known = candlepin.activation_keys(label)
            if missing := [name for name in names.split(",") if name not in known]:
                message = f"The owner {label} has no activation key {', '.join(missing)}."
                raise ParametersRefused(message, {"activation_keys": message})
        looked_up = bool(target.username)
        return [
            EffectiveSetting("organization", label, label if looked_up else UNKNOWN, ok=True),
            EffectiveSetting("activation_keys", names, names if looked_up else UNKNOWN, ok=True),
        ]

    def command(self, target: Target, parameters: Parameters, context: Context) -> ProgramRequest:
        """Return nothing: only Foreman has a registration command."""
        return {}

    def registered(
        self, target: Target, parameters: Parameters, context: Context, uuids: Sequence[str]
    ) -> list[Proof]:
        """Compare the consumers that Candlepin has with those that registered."""
        if not target.username:
            return [Proof("hosts registered", "asked with a login", UNKNOWN, "", ok=True)]
        there = self.uuids(target, parameters, context) or set()
        missing = set(uuids) - there
        enough = len(there) >= len(uuids)
        return [
            Proof("hosts registered", f"at least {len(uuids)}", len(there), "count", enough),
            Proof("registered uuids that are missing", 0, len(missing), "count", not missing),
        ]

    def uuids(self, target: Target, parameters: Parameters, context: Context) -> set[str] | None:
        """Return the uuids of this attempt's hosts that Candlepin has; None without a user, who could ask."""
        if not target.username:
            return None
        prefix = attempt_prefix(target, context.sender)
        with _candlepin_of(target, context) as candlepin:
            named = candlepin.consumers(parameters["organization"], prefix)
            return {consumer.uuid for consumer in named}

    def remove(self, target: Target, parameters: Parameters, context: Context, most: int) -> None:
        """Remove what this attempt registered, where the target has a user. most: how many hosts there can be."""
        check = while_leased(context)
        check()
        prefix = attempt_prefix(target, context.sender)
        patience = replace(patience_of(context), most_later=None)
        if target.username:
            with _candlepin_of(target, context, check) as candlepin:
                removed = remove_until_quiet(
                    lambda: _remove(candlepin, parameters, prefix),
                    patience,
                    candlepin.rest,
                    expected=most,
                )
            say_removed(context, removed, most)
        elif patience.seconds:
            context.say(
                f"clean-up: up to {most} hosts named {prefix}… may be left, whose registration was under way: only a user "
                "could look for them. Give the target one, or delete them in Candlepin."
            )

    def facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return version, mode and rules."""
        with _candlepin_of(target, context) as candlepin:
            status = candlepin.status()
        version = str(status["version"])
        facts = {
            "Candlepin": version,
            "mode": str(status.get("mode")),
            "rules": str(status.get("rulesVersion") or UNKNOWN),
            **target_facts(target),
        }
        told = f"{version} {status.get('release')}"
        if any(mark in told for mark in MARKS_OF_SIMULATORS):
            facts[SIMULATOR] = f"simulated Candlepin {version}"
        return facts


def _of_others(candlepin: Candlepin, target: Target, parameters: Parameters) -> int:
    """Return how many consumers another perfdash has made, or others with such a name."""
    named = candlepin.consumers(parameters["organization"], OWN)
    return sum(not consumer.name.startswith(own_prefix(target)) for consumer in named)


def _remove(candlepin: Candlepin, parameters: Parameters, prefix: str) -> int:
    """Delete the consumers whose names begin with `prefix`, and no others; return how many."""
    consumers = list(candlepin.consumers(parameters["organization"], prefix))
    for consumer in consumers:
        candlepin.delete(consumer.uuid)
    return len(consumers)


@contextmanager
def _candlepin_of(
    target: Target, access: Context | Rules, check: Callable[[], None] | None = None
) -> Iterator[Candlepin]:
    with connected(target, access, check) as connection:
        yield Candlepin(connection, target.base_url, Login(target.username, target.password))
