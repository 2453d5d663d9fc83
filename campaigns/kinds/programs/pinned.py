"""Pin a URL to one checked address, for programs that cannot check addresses themselves. No Django.

A foreign engine (curl, wrk, ...) resolves names, follows redirects and uses proxies by itself. It may be
started only on a `Pinned`: the name is resolved here once, addresses that the rules exclude are dropped,
and the program gets the address. The rest of docs/how-to/external-programs.md applies, too: no redirects,
no proxies, no configuration of a user.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from campaigns.kit import name_service
from campaigns.kit.checked_addresses import Resolver, allowed_addresses
from campaigns.kit.network import Rules, check_url, unwrapped


@dataclass(frozen=True, slots=True)
class Pinned:
    """The only address that a program may connect to. host: for the header Host and the certificate.

    url: the original URL, http or https. address: an IP address, an IPv6 one without brackets.
    """

    scheme: str
    host: str
    port: int
    address: str
    url: str

    @property
    def url_of_address(self) -> str:
        """The URL with the address in place of the name; it needs the header Host."""
        path = urlsplit(self.url)
        return urlunsplit((self.scheme, self._place(self.address), path.path, path.query, ""))

    @property
    def host_header(self) -> str:
        """The value of the header Host."""
        return self._place(self.host)

    def curl(self) -> list[str]:
        """Return arguments with which curl connects to the address alone, `--disable` first.

        It uses only this scheme, no redirects, proxies, configuration or netrc; the URL comes last.
        """
        address = f"[{self.address}]" if ":" in self.address else self.address
        return [
            "--disable",
            *("--proto", f"={self.scheme}", "--max-redirs", "0", "--noproxy", "*"),
            *("--globoff", "--no-netrc", "--no-location", "--path-as-is"),
            *("--connect-to", f"::{address}:{self.port}"),
            *("--url", self.url),
        ]

    def _place(self, host: str) -> str:
        written = f"[{host}]" if ":" in host else host
        usual = {"http": 80, "https": 443}[self.scheme]
        return written if self.port == usual else f"{written}:{self.port}"


def pin(url: str, rules: Rules, resolve: Resolver = name_service.resolve) -> Pinned:
    """Resolve a URL's name once, and return the first address that the rules allow.

    Raise BadUrl or Refused, or OSError where the name cannot be resolved.
    """
    endpoint = check_url(url, rules)
    host, port = endpoint.host, endpoint.port
    address = allowed_addresses(host, port, rules, known=endpoint.address, resolve=resolve)[0]
    return Pinned(endpoint.scheme, host, port, str(unwrapped(address)), url)


def begin_of(url: str) -> str:
    """Return scheme, host and port of a URL, as written."""
    scheme, separator, rest = url.partition("://")
    return scheme + separator + rest.partition("/")[0]
