"""The WSGI application of a local start: its worker process ends with the server's process."""

import os

from campaigns.kit.kernel import die_with_parent

die_with_parent(os.getppid())

from perfdash.wsgi import application  # noqa: E402 - nothing may go wrong before the line above

__all__ = ["application"]
