"""Handles of libcurl that connect only where the rules allow, and send each request once. No Django.

libcurl makes its own connections: it is given the addresses of each name by the option RESOLVE, and asks for every socket
(OPENSOCKETFUNCTION), where its address is checked once more.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pycurl

from campaigns.kinds.programs.pinned import begin_of
from campaigns.kit import name_service
from campaigns.kit.checked_addresses import Resolver, allowed_addresses
from campaigns.kit.http.failures import NO_RESOURCES, FileFailed, headers, normalised_message
from campaigns.kit.network import Endpoint, NetworkError, Refused, Rules, check_url, parse_url

HTTP_VERSIONS = {
    "automatic": pycurl.CURL_HTTP_VERSION_2TLS,
    "1.1": pycurl.CURL_HTTP_VERSION_1_1,
    "2": pycurl.CURL_HTTP_VERSION_2TLS,
}
"""HTTP/2 is agreed on over TLS only (ALPN); where the server has none, HTTP/1.1 is spoken."""
BUFFER_BYTES = 256 * 1024
NONSENSE = ("hex", "chunk", "Content-Length", "headers")
"""Words in libcurl's messages about an unreadable answer, whose code is that of a lost connection."""
NOT_SENT_AGAIN = "the connection was lost before anything was answered; nothing is sent twice"

_CLASSES: Mapping[str, Sequence[int]] = {
    "dns": (pycurl.E_COULDNT_RESOLVE_HOST,),
    "timeout": (pycurl.E_OPERATION_TIMEDOUT,),
    "generator": (pycurl.E_OUT_OF_MEMORY, pycurl.E_FAILED_INIT),
    "tls": (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    ),
    "connect": (
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_PARTIAL_FILE,
        pycurl.E_GOT_NOTHING,
        pycurl.E_SEND_ERROR,
        pycurl.E_RECV_ERROR,
        92,  # E_HTTP2_STREAM, which pycurl does not name
    ),
}
_CLASS_OF = {code: name for name, codes in _CLASSES.items() for code in codes}


@dataclass(frozen=True, slots=True)
class Place:
    """A server, and the addresses that the rules allow of those that its name resolves to."""

    endpoint: Endpoint
    addresses: tuple[str, ...]

    @property
    def resolve(self) -> list[str]:
        """The option RESOLVE with the addresses, so that libcurl uses no name service."""
        if self.endpoint.address is not None:
            return []
        written = ",".join(f"[{one}]" if ":" in one else one for one in self.addresses)
        return [f"{self.endpoint.host}:{self.endpoint.port}:{written}"]


class Places:
    """Servers by URL. Each name is resolved once for the whole run."""

    def __init__(self, rules: Rules, resolve: Resolver = name_service.resolve) -> None:
        self.rules = rules
        self._resolve = resolve
        self._known: dict[str, Place | FileFailed] = {}

    def of(self, url: str) -> Place:
        """Return the server of a URL. Raise FileFailed where its name is unknown, or the rules exclude it."""
        begin = begin_of(url)
        if begin not in self._known:
            self._known[begin] = self._find(url)
        known = self._known[begin]
        if isinstance(known, FileFailed):
            raise FileFailed(known.failure, str(known))
        return known

    def take(self, url: str, addresses: Sequence[str], failure: str, message: str) -> None:
        """Store what another process has resolved for the server of a URL.

        failure: the class of failure where it has no address; empty otherwise.
        """
        self._known[begin_of(url)] = (
            FileFailed(failure, message) if failure else Place(parse_url(url), tuple(addresses))
        )

    def _find(self, url: str) -> Place | FileFailed:
        try:
            endpoint = check_url(url, self.rules)
            addresses = allowed_addresses(
                endpoint.host,
                endpoint.port,
                self.rules,
                known=endpoint.address,
                resolve=self._resolve,
            )
            return Place(endpoint, tuple(addresses))
        except Refused as refused:
            return FileFailed("address", str(refused))
        except NetworkError as error:
            return FileFailed("protocol", str(error))
        except OSError as error:
            return FileFailed("dns", f"the name of {url} was not resolved: {error}")


class CheckedCurl:
    """An easy handle without cookies, redirects, proxies, netrc, or any protocol but HTTP.

    reason: the failure where its own checks ended a request. opened: the number of connections that it
    has opened.
    """

    def __init__(
        self, rules: Rules, sender: str, http_version: str, connect_timeout_seconds: float
    ) -> None:
        """Set what is the same for every request."""
        self.reason: FileFailed | None = None
        self.opened = 0
        self.begun = False
        self._rules = rules
        self._may_share = http_version != "1.1"
        self._place: Place | None = None
        self.curl = curl = pycurl.Curl()
        for option, value in (
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROXY, ""),
            (pycurl.NOPROXY, "*"),
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.HTTP_CONTENT_DECODING, 0),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.NOSIGNAL, 1),
            (pycurl.BUFFERSIZE, BUFFER_BYTES),
            (pycurl.DNS_CACHE_TIMEOUT, -1),
            (pycurl.HTTP_VERSION, HTTP_VERSIONS[http_version]),
            (pycurl.CONNECTTIMEOUT_MS, max(1, round(connect_timeout_seconds * 1000))),
            (pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in headers(sender).items()]),
            (pycurl.OPENSOCKETFUNCTION, self._open),
            (pycurl.PREREQFUNCTION, self._begin),
            (pycurl.SSL_VERIFYPEER, 1),
            (pycurl.SSL_VERIFYHOST, 2),
            (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
        ):
            curl.setopt(option, value)

    def ask_for(self, url: str, places: Places) -> None:
        """Prepare the next request. Raise FileFailed where the rules exclude it."""
        place = places.of(url)
        if place is not self._place:
            self._place = place
            self.curl.setopt(pycurl.RESOLVE, place.resolve)
            # Without TLS nothing is ever shared, and waiting for a first answer could last for ever.
            shares = self._may_share and place.endpoint.scheme == "https"
            self.curl.setopt(pycurl.PIPEWAIT, int(shares))
            if place.endpoint.scheme == "https":
                _trust(self.curl)
        self.curl.setopt(pycurl.URL, url)
        self.reason = None
        self.begun = False

    def failure(self, code: int, message: str) -> FileFailed:
        """Return the failure of a request that libcurl ended with `code`."""
        if self.reason:
            return self.reason
        message = message or pycurl.easy_strerror(code)
        if self.curl.getinfo(pycurl.OS_ERRNO) in NO_RESOURCES:
            return FileFailed("generator", f"the generator has no more resources: {message}")
        failure = _CLASS_OF.get(code, "protocol")
        if code == pycurl.E_RECV_ERROR and any(word in message for word in NONSENSE):
            failure = "protocol"
        return FileFailed(failure, normalised_message(f"{message} (libcurl {code})"))

    def _open(self, purpose: int, wanted: Any) -> socket.socket | int:
        """Make the socket of a connection, if the rules allow the address that it will go to."""
        family, kind, protocol, address = wanted
        if self.begun or family not in (socket.AF_INET, socket.AF_INET6):
            self.reason = (
                FileFailed("connect", NOT_SENT_AGAIN)
                if self.begun
                else FileFailed("address", f"{address!r} is no address of the internet protocol")
            )
            return int(pycurl.SOCKET_BAD)
        try:
            host, port = _text(address[0]), int(address[1])
            self._rules.check(host, port, self._place.endpoint.host if self._place else "")
            made = socket.socket(family, kind, protocol)
            os.close(os.dup(made.fileno()))  # as pycurl will do; libcurl would tell another reason
        except Refused as refused:
            self.reason = FileFailed("address", str(refused))
        except OSError as error:
            failure = "generator" if error.errno in NO_RESOURCES else "connect"
            self.reason = FileFailed(failure, f"no socket: {error}")
        else:
            self.reason = None  # another address of the name was refused, this one is not
            self.opened += 1
            return made
        return int(pycurl.SOCKET_BAD)

    def _begin(self, address: str, own: str, port: int, own_port: int) -> int:
        """Allow a request once: libcurl would repeat it where a reused connection was lost."""
        if self.begun:
            self.reason = FileFailed("connect", NOT_SENT_AGAIN)
            return int(pycurl.PREREQFUNC_ABORT)
        self.begun = True
        return int(pycurl.PREREQFUNC_OK)


def spoken(url: str, places: Places, curl: CheckedCurl, timeout_seconds: float) -> str:
    """Request the head of a URL, and return the version of HTTP of the answer.

    Raise FileFailed where there is none.
    """
    curl.ask_for(url, places)
    curl.curl.setopt(pycurl.NOBODY, 1)
    curl.curl.setopt(pycurl.TIMEOUT_MS, max(1, round(timeout_seconds * 1000)))
    try:
        curl.curl.perform()
    except pycurl.error as error:
        raise curl.failure(*error.args) from None
    is_2 = curl.curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0
    return "2" if is_2 else "1.1"


def libraries() -> dict[str, str]:
    """Return the versions of pycurl and its libraries."""
    parts = dict(part.split("/", 1) for part in pycurl.version.split() if "/" in part)
    return {"pycurl": parts.pop("PycURL")} | {
        name: parts[name] for name in ("libcurl", "OpenSSL", "nghttp2") if name in parts
    }


@cache
def trusted_paths() -> tuple[str | None, str | None]:
    """Return the file and the directory of certificates that Python's ssl trusts, SSL_CERT_FILE and SSL_CERT_DIR included.

    The first call takes ten milliseconds: engines call it before their clock runs, and only for https.
    """
    import ssl  # loads a second OpenSSL

    paths = ssl.get_default_verify_paths()
    return paths.cafile, paths.capath


def _trust(curl: pycurl.Curl) -> None:
    """Trust the certificates of `trusted_paths`."""
    file, directory = trusted_paths()
    for option, path in ((pycurl.CAINFO, file), (pycurl.CAPATH, directory)):
        if path:
            curl.setopt(option, path)
        else:
            curl.unsetopt(option)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
