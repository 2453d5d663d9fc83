"""Deliver in threads of the control worker, so that a slow receiver blocks neither dispatch nor analysis."""

import logging
import threading
from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError, connection

from campaigns.accounts.notifications.claiming import due, give_up_old
from campaigns.accounts.notifications.delivering import deliver_next
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.models import Announcement

MOST_AT_ONCE = 4
"""The most attempts at once in a process, each for another channel."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Messengers:
    """Threads that deliver until nothing is due. They are daemons: a process ends without waiting for them."""

    _at_work: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def wake(self, wanted: int) -> None:
        """Start threads until `wanted` are running, but at most MOST_AT_ONCE."""
        with self._changed:
            for _ in range(min(wanted, MOST_AT_ONCE) - self._at_work):
                self._at_work += 1
                threading.Thread(target=self._work, name="notifying", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until all threads have ended; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work, seconds)

    def _work(self) -> None:
        try:
            while deliver_next():
                pass
        except (DatabaseError, InterfaceError) as error:
            log.warning("The database is away: %s", error)
        finally:
            connection.close()
            with self._changed:
                self._at_work -= 1
                self._changed.notify_all()


messengers = Messengers()


def deliver_in_threads() -> None:
    """Read the outbox, and start threads for due deliveries; return at once."""
    if Announcement.objects.filter(read_at=None).exists():
        while read_outbox():
            pass
    give_up_old()
    if wanted := due().values("channel").distinct()[:MOST_AT_ONCE].count():
        messengers.wake(wanted)
