"""What hosts of perfdash are called, so that nobody else's is ever touched. Pure but for the installation's key."""

import hmac
import re
from hashlib import sha256

from django.conf import settings

DOMAIN = "perfdash.example"
OWN = "perfdash-"


def installation_prefix() -> str:
    """Begin the names of all hosts of this installation so; another one has another prefix."""
    digest = hmac.new(settings.SECRET_KEY.encode(), b"names of registered hosts", sha256)
    return f"{OWN}{digest.hexdigest()[:8]}-"


def attempt_prefix(sender: str) -> str:
    """Begin the names of the hosts of one attempt so; `sender` ends with its number."""
    number = re.sub(r"[^0-9a-z]", "", sender.rpartition("/")[2].lower()) or "0"
    return f"{installation_prefix()}a{number}-"
