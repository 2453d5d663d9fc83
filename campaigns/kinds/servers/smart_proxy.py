"""What a smart proxy tells everybody: the public key with which it logs in to hosts. No Django.

Source: smart_proxy_remote_execution_ssh, `api.rb`: `GET /ssh/pubkey`, plain text, without a login.
"""

from campaigns.kit.http.connection import Connection
from campaigns.kit.http.errors import Strange
from campaigns.kit.ssh.keys import fingerprint_of

PATH = "/ssh/pubkey"
MOST_LETTERS = 20_000


def public_keys(connection: Connection) -> list[str]:
    """Return the public keys of a smart proxy, a line of OpenSSH each. Raise Strange where it gives none, NoAnswer."""
    answer = connection.ask("GET", PATH)
    text = answer.body[:MOST_LETTERS].decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if answer.status != 200 or not lines or not all(map(fingerprint_of, lines)):
        raise Strange(
            f"{answer}, and no public key: {answer.shown[:200]} Is this the address of a smart proxy with the feature Script?"
        )
    return lines
