"""Actions on a server that set, read back, reset or await something. No Django.

An *action* is an HTTP request, a command over SSH, a parameter of PostgreSQL by SQL, or a manual step of a person. `values`
reads one and reports its errors, `http`, `postgresql` and `campaigns.kit.ssh` do it, `performing` chooses between them.
"""

from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused, SshAccess
from campaigns.kit.ssh.keys import fingerprint_of, wrong_key
from campaigns.targets.actions.errors import BadAction
from campaigns.targets.actions.http import Endpoint
from campaigns.targets.actions.performing import (
    Done,
    Server,
    await_ready,
    objection,
    perform,
    read_value,
)
from campaigns.targets.actions.values import (
    COMMAND,
    HTTP,
    MANUAL,
    PLACE,
    SQL,
    Action,
    Role,
    parse,
)

__all__ = [
    "COMMAND",
    "HTTP",
    "MANUAL",
    "PLACE",
    "SQL",
    "Action",
    "ActionFailed",
    "BadAction",
    "Done",
    "Endpoint",
    "HostKeyRefused",
    "Role",
    "Server",
    "SshAccess",
    "await_ready",
    "fingerprint_of",
    "objection",
    "parse",
    "perform",
    "read_value",
    "wrong_key",
]
