"""A user of a server's REST API, and how basic authentication writes one. Pure."""

from base64 import b64encode
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Login:
    """A user; without a name the client certificate says who we are."""

    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def header(self) -> dict[str, str]:
        """The header that sends the password."""
        login = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {b64encode(login).decode()}"}
