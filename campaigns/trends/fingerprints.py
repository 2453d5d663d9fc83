"""The identity of a trend: what is measured, at which settings, and on which address. Pure.

Versions, facts of machines, names and the team are not part of it.
"""

import json
from hashlib import sha256

from campaigns.kit.mappings import JsonObject

VERSION = "t1"


def canonical(key: JsonObject) -> str:
    """Return JSON that does not depend on the order of names: sorted, without spaces."""
    return json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(key: JsonObject) -> str:
    """Return the identity of a trend as `t1:` and 64 hex digits."""
    return f"{VERSION}:{sha256(canonical(key).encode()).hexdigest()}"
