"""Probe whether targets respond. A target that is being measured is not probed."""

import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from time import monotonic

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from campaigns.kinds.base import AddressRefused, Driver, DriverError, TargetUnavailable
from campaigns.kinds.registry import all_kinds
from campaigns.kit.database_clock import database_now
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.mappings import JsonObject, Levels, Parameters
from campaigns.kit.network import NetworkError
from campaigns.kit.redaction import redact_all, storable
from campaigns.models import Target
from campaigns.targets.probes import BETWEEN_SECONDS, Busy, busy
from campaigns.targets.reaching import as_driver_reaches_it, server_of
from campaigns.targets.rights import note_rights
from campaigns.targets.settable import unsettable

MOST_AT_ONCE = 8
MOST_LOOKS = 8
"""The most URLs of a campaign that are requested before its launch."""
PATIENCE_SECONDS = 15.0
AGAIN_SECONDS = 0.5
"""The seconds until a waiting target checks again whether it may be probed."""


@dataclass(slots=True)
class Turn:
    """A target that waits to be probed; instants of the monotonic clock."""

    between: float
    until: float
    due: float = 0.0


@dataclass(slots=True)
class Lookout:
    """Probes targets in threads, a few at a time: silent ones take seconds.

    A target that waits already is not added again. The process ends without waiting for probes.
    """

    _waiting: dict[int, Turn] = field(default_factory=dict)
    _at_work: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def look_at(self, targets: Iterable[int], between: float, patience: float = 0.0) -> None:
        """Probe targets by their primary keys, except those whose server was probed `between` seconds ago.

        A target that waits for another one on its server waits at most `patience` seconds.
        """
        with self._changed:
            for pk in targets:
                self._waiting.setdefault(pk, Turn(between, monotonic() + patience))
            for _ in range(min(MOST_AT_ONCE - self._at_work, len(self._waiting))):
                self._at_work += 1
                threading.Thread(target=self._work, name="probing", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until no probe is left; return whether none is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work, seconds)

    def _work(self) -> None:
        try:
            while (due := self._next()) is not None:
                pk, turn = due
                target = Target.objects.filter(pk=pk, retired_at=None).first()
                held_up = probe(target, turn.between) if target else None
                if held_up and held_up.its_turn_comes and monotonic() < turn.until:
                    with self._changed:
                        turn.due = monotonic() + AGAIN_SECONDS
                        self._waiting.setdefault(pk, turn)
        except BaseException:
            self._end()
            raise

    def _next(self) -> tuple[int, Turn] | None:
        """Return the next target that is due; None ends the thread, and nothing can be added in between."""
        with self._changed:
            while self._waiting:
                pk, turn = min(self._waiting.items(), key=lambda item: item[1].due)
                if turn.due <= monotonic():
                    return pk, self._waiting.pop(pk)
                self._changed.wait(AGAIN_SECONDS / 2)
            self._end()
            return None

    def _end(self) -> None:
        connection.close()
        with self._changed:
            self._at_work -= 1
            self._changed.notify_all()


lookout = Lookout()


def probe_in_thread(target: int) -> None:
    """Probe one target on request, in a thread."""
    lookout.look_at([target], BETWEEN_SECONDS, PATIENCE_SECONDS)


def probe_all_in_threads() -> None:
    """Probe each server through one of its targets: the one that has waited longest."""
    targets = Target.objects.filter(retired_at=None)
    oldest_last = targets.order_by(F("probed_at").desc(nulls_last=True), "-pk")
    one_each = {address: pk for pk, address in oldest_last.values_list("pk", "address")}
    lookout.look_at(one_each.values(), settings.PROBE_SECONDS / 2)


def probe(target: Target, between: float = 0.0) -> Busy | None:
    """Probe one target and store the result, or return why its server may not be probed now."""
    began_at = claim(target, between)
    if isinstance(began_at, Busy):
        return began_at
    claimed = Target.objects.filter(pk=target.pk, probe_began_at=began_at)
    try:
        _ask(target)
        claimed.filter(base_url=target.base_url).update(
            health=target.health,
            health_message=storable(target.health_message),
            proofs=target.proofs,
            probed_at=Now(),
        )
    finally:
        claimed.update(probe_began_at=None)
    return None


def is_away(target: Target) -> bool:
    """Ask a target that did not answer once more, as a probe does; return whether it does not answer that either."""
    try:
        driver, server = _driver_for(target.family), server_of(target)
        proofs = driver.probe(as_driver_reaches_it(target, server=server), server.endpoint.rules)
    except TargetUnavailable:
        return True
    except (DriverError, NetworkError, SecretUnreadable):
        return False
    return not all(proof.ok for proof in proofs)


def looked_at(
    target: Target, driver: Driver, parameters: Parameters, cells: Iterable[Levels]
) -> list[str] | None:
    """Request the first URLs of the cells of a target, once each, and ask whether their settings could be set; return what fails.

    None where nothing was asked, since its server is measured or probed, or gives no response here: a worker elsewhere may get one.
    """
    if isinstance(began_at := claim(target, 0.0), Busy):
        return None
    result: list[str] = []
    each_cell = list(cells)
    try:
        server = server_of(target)
        seen, rules = as_driver_reaches_it(target, server=server), server.endpoint.rules
        for each in _different(target, driver, parameters, each_cell)[:MOST_LOOKS]:
            try:
                driver.look(seen, each, rules)
            except TargetUnavailable:
                return result or None
            except (DriverError, NetworkError) as error:
                result.append(str(error))
        result += unsettable(target, server, parameters, each_cell)
    except SecretUnreadable as error:
        result.append(str(error))
    finally:
        Target.objects.filter(pk=target.pk, probe_began_at=began_at).update(probe_began_at=None)
    return result


def _different(
    target: Target, driver: Driver, parameters: Parameters, cells: Iterable[Levels]
) -> list[JsonObject]:
    """Return the parameters of the cells whose URLs differ from those of earlier ones."""
    by_urls: dict[str, JsonObject] = {}
    for levels in cells:
        each = {**parameters, **levels}
        urls = {**driver.urls(target.base_url, each), **driver.reads(each)}
        by_urls.setdefault(repr(sorted(urls.items())), each)
    return list(by_urls.values())


@transaction.atomic
def claim(target: Target, between: float) -> datetime | Busy:
    """Record the start of a probe, as the only one of its server."""
    server = Target.objects.filter(address=target.address).order_by("pk")
    list(server.select_for_update(no_key=True).values_list("pk"))
    now = database_now()
    if result := busy(target, now, between):
        return result
    Target.objects.filter(pk=target.pk).update(probe_began_at=now)
    return now


def _ask(target: Target) -> None:
    target.proofs = []
    try:
        driver, server = _driver_for(target.family), server_of(target)
        seen = as_driver_reaches_it(target, server=server)
        proofs = driver.probe(seen, server.endpoint.rules)
        note_rights(target, driver.rights(seen, server.endpoint.rules))
    except (AddressRefused, NetworkError) as error:
        target.health, target.health_message = Target.Health.REFUSED, str(error)
    except (DriverError, SecretUnreadable) as error:
        target.health, target.health_message = Target.Health.UNREACHABLE, str(error)
    else:
        ready = all(proof.ok for proof in proofs)
        target.health = Target.Health.READY if ready else Target.Health.UNREACHABLE
        target.health_message = ""
        target.proofs = redact_all([asdict(proof) for proof in proofs])


def _driver_for(family: str) -> Driver:
    """Return the driver of the kind that knows a family best: the one with the fewest others."""
    known = [
        driver for driver in all_kinds().values() if driver.executable and driver.probes(family)
    ]
    if not known:
        raise DriverError(f"No kind of test knows the family {family}; change the target's family.")
    return min(known, key=lambda driver: len(driver.families))
