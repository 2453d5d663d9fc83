"""Send messages. Nobody else does, so that a message always follows what is stored."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

MESSAGE_SECONDS = 600  # by the clocks of two machines; an old message is harmless, only useless
CONTROL = "control"

log = logging.getLogger(__name__)


def send(name: str, argument: int, queue: str) -> None:
    """Send a task by its name; a broker that is away is logged, and asked again by and by."""
    try:
        current_app.send_task(
            name,
            args=[argument],
            queue=queue,
            expires=MESSAGE_SECONDS,
            retry=False,
            ignore_result=True,
        )
    except OperationalError as error:
        log.warning("The broker does not take %s(%s): %s", name, argument, error)
