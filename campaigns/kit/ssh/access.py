"""The login of a machine, and the errors of what is done there. Pure."""

from dataclasses import dataclass, field


class ActionFailed(Exception):
    """The action failed, or the server refused it. `output`: the end of its output."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class LoginRefused(ActionFailed):
    """The machine does not accept the key or password of the login."""


class HostKeyRefused(ActionFailed):
    """The machine showed a host key that is not accepted. `key`: as a line of OpenSSH."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class SshAccess:
    """The machine and user that run commands. host_key: the accepted one, as a line of OpenSSH; or empty."""

    host: str
    port: int
    username: str
    key: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    host_key: str = ""

    def __str__(self) -> str:
        return f"{self.username}@{self.host}:{self.port}"
