"""Do something at the same instant as something else, with a connection of its own."""

import threading
from contextlib import contextmanager

from django.db import connection, transaction


class Beside:
    """Runs a function in a thread with a connection of its own."""

    def __init__(self, function, *arguments):
        self.result = self.error = None
        self._work = (function, arguments)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        function, arguments = self._work
        try:
            self.result = function(*arguments)
        except Exception as error:  # noqa: BLE001  looked at by the test
            self.error = error
        finally:
            connection.close()

    def ended(self, seconds=10.0):
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def get(self):
        assert self.ended(), "it still waits"
        if self.error is not None:
            raise self.error
        return self.result


@contextmanager
def not_stored_yet():
    """What happens in the block is stored at its end only."""
    with transaction.atomic():
        yield
