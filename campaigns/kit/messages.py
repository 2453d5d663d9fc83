"""Sends Celery tasks by name. Only this module does, so that a message never precedes the commit of its rows."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

MESSAGE_SECONDS = 600  # by the clocks of two machines; an old message is harmless, only useless
CONTROL = "control"
ANALYSIS = "analysis"
"""The queue of the analysis workers."""

VERSIONED = frozenset({"campaigns.execute_attempt", "campaigns.generate"})
"""Tasks that only a worker of the sender's version executes. The released 0.1.0 fails at the second argument."""

log = logging.getLogger(__name__)
_after_commit: ContextVar[bool] = ContextVar("after_commit", default=False)


@contextmanager
def messages_after_commit() -> Iterator[None]:
    """Send the tasks of this block when its transaction commits.

    Needed where a dispatch runs within a transaction: a worker would look for rows that are not there yet.
    """
    held = _after_commit.set(True)
    try:
        yield
    finally:
        _after_commit.reset(held)


def send(name: str, argument: int | None, queue: str, key: str = "") -> None:
    """Send a task by its name. A broker that is away is logged; the task is sent again later.

    key: opens the secrets that were sealed for the task; it is told in no log.
    """
    if _after_commit.get():
        transaction.on_commit(partial(_send, name, argument, queue, key))
    else:
        _send(name, argument, queue, key)


def _send(name: str, argument: int | None, queue: str, key: str) -> None:
    arguments = [] if argument is None else [argument]
    version = [settings.VERSION] if name in VERSIONED else []
    try:
        current_app.send_task(
            name,
            args=[*arguments, *version, *filter(None, [key])],
            argsrepr=repr(arguments),
            queue=queue,
            expires=MESSAGE_SECONDS,
            retry=False,
            ignore_result=True,
        )
    except OperationalError as error:
        log.warning("The broker does not take %s(%s): %s", name, argument, error)
