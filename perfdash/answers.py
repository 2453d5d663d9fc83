"""Asks a web server whether it answers: `python -m perfdash.answers URL`.

The `Host` of the request is the first of ALLOWED_HOSTS, and a proxy's header says that the request
came over TLS: the check looks like a person's request from outside.
"""

import http.client
import os
import sys
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 5.0


def answers(url: str, seconds: float = TIMEOUT_SECONDS) -> bool:
    """Say whether the URL gives a page or a redirection, but no error."""
    parts = urlsplit(url)
    hosts = os.environ.get("ALLOWED_HOSTS", "").replace(",", " ").split()
    host = hosts[0].lstrip("*.") if hosts else ""
    headers = {"Host": host or parts.netloc, "X-Forwarded-Proto": "https"}
    connection = http.client.HTTPConnection(parts.netloc, timeout=seconds)
    try:
        connection.request("GET", parts.path or "/", headers=headers)
        return connection.getresponse().status < 400
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if answers(sys.argv[1]) else 1)
