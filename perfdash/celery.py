"""The Celery application; the tasks are in `campaigns.tasks`."""

import gc
import os
from collections.abc import Mapping
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, setup_logging, worker_before_create_process
from kombu.transport.redis import Channel, QoS

from campaigns.kit import kernel
from campaigns.kit.messages import CONTROL
from perfdash.database import limit_waits
from perfdash.environment import NEEDED, REQUIRED, SIGNING, refuse_missing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
# `manage.py migrate` has made Django's checks; to make them, a worker would load every page and its libraries.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

app = Celery("perfdash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def _check_environment(options: Mapping[str, Any], **kwargs: Any) -> None:
    """Refuse to start without what is needed: who decides what runs hands others their secrets, and signs links in mails."""
    decides = CONTROL in (options.get("queues") or CONTROL)
    refuse_missing((*REQUIRED, SIGNING) if decides else NEEDED)


@celeryd_init.connect
def _name_process(sender: str, **kwargs: Any) -> None:
    """Show in lists such as that of `ps` which worker this is: forked ones have one command line."""
    kernel.name_process(sender.partition("@")[0])


@setup_logging.connect
def _leave_logging_to_django(**kwargs: Any) -> None:
    """Configure the logs of workers by LOG_LEVEL and LOG_FORMAT; Celery would set a level of its own."""


@celeryd_init.connect
def _wait_for_no_silent_database(**kwargs: Any) -> None:
    limit_waits()


@worker_before_create_process.connect
def _share_memory_with_children(**kwargs: Any) -> None:
    """Keep the collector of a child from writing into, and so from copying, what its worker has loaded."""
    gc.collect()
    gc.freeze()


class RestoreWhereOpen(QoS):
    """Puts messages that nobody has begun back into their queue, unless the connection is closed by then.

    kombu 5.7 would ask the closed connection for its address when a broker that speaks TLS is restarted: an
    AttributeError, which ends the worker. The next dispatch sends such messages again.
    """

    def restore_unacked(self, client: Any = None) -> None:
        """Put back what was delivered and not acknowledged."""
        if self.channel.connection.client is not None:
            super().restore_unacked(client)
        elif self._delivered:
            self._delivered.clear()


Channel.QoS = RestoreWhereOpen
