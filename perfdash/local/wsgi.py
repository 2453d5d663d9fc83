"""The WSGI application of a local start: its worker process ends with the server's process.

It loads its modules while the database starts and is prepared, and answers after that.
"""

import os

from campaigns.kit.kernel import die_with_parent

die_with_parent(os.getppid())

# Nothing may go wrong before the line above.
import django  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from perfdash.local.gate import PREPARED, wait_at  # noqa: E402

django.setup()
get_resolver().url_patterns  # noqa: B018 - loads every page
wait_at(PREPARED)

from perfdash.wsgi import application  # noqa: E402

__all__ = ["application"]
