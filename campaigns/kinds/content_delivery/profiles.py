"""What hosts send when they fetch content: one profile for each client. Pure.

`dnf-4` is what dnf 4.14 with librepo 1.14.5 sends; a recording of it is test data. It opens a connection for `repomd.xml`, closes
it, opens others for the other metadata, closes these, and keeps one a download for the packages. `plain` keeps one connection a
download from the first request to the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Profile:
    """A client. sends_sender: its User-Agent is the name of the load, not that of a client.

    first: headers of the first document only, after the others. keeps_connections: from one group of requests to the next.
    stops: a host whose download has failed for good makes no further one.
    """

    name: str
    label: str
    user_agent: str = ""
    headers: Headers = (("Accept", "*/*"),)
    first: Headers = ()
    keeps_connections: bool = True
    stops: bool = False
    meaning: str = field(default="", compare=False)

    def request(
        self, host_header: str, path: str, *, sender: str, headers: Headers = (), first: bool
    ) -> bytes:
        """Return the bytes of a GET. headers: further ones; they stand where curl has its own Authorization."""
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host_header}",
            *(f"{name}: {value}" for name, value in headers),
            f"User-Agent: {self.user_agent or sender}",
            *(f"{name}: {value}" for name, value in self.headers),
            *(f"{name}: {value}" for name, value in (self.first if first else ())),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


DNF_4 = Profile(
    name="dnf-4",
    label="dnf 4",
    user_agent="libdnf (Debian GNU/Linux 12; generic; Linux.x86_64)",
    first=(("Cache-Control", "no-cache"), ("Pragma", "no-cache")),
    keeps_connections=False,
    stops=True,
)
PLAIN = Profile(name="plain", label="a connection a download")
PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (DNF_4, PLAIN)}
