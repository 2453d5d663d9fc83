"""A real nginx that serves a feed to whoever has a client certificate, and to whoever has a password or a token."""

import getpass
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.ports import free_ports

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
USER, PASSWORD, TOKEN = "somebody", "sentinel-password-of-a-feed", "sentinel-token-of-a-feed"
FILES, SIZE = 5, 1000
CONFIGURATION = """
user {user}; worker_processes 1; daemon off; pid {place}/nginx.pid; error_log {place}/error.log;
events {{ }}
http {{
    log_format who '$server_port $status $request_uri "$ssl_client_s_dn" "$http_authorization"';
    access_log {place}/access.log who;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    ssl_certificate {place}/server.pem; ssl_certificate_key {place}/server.pem;
    server {{
        listen 127.0.0.1:{entitled} ssl; root {place}/www;
        ssl_client_certificate {place}/ours.pem; ssl_verify_client on;
        location /elsewhere/ {{ return 302 https://127.0.0.1:{private}/feed/PULP_MANIFEST; }}
    }}
    server {{
        listen 127.0.0.1:{private} ssl; root {place}/www;
        location /elsewhere/ {{ return 302 https://127.0.0.1:{entitled}/feed/PULP_MANIFEST; }}
        location /token/ {{ if ($http_authorization != "Bearer {token}") {{ return 401; }} alias {place}/www/feed/; }}
        location / {{ auth_basic private; auth_basic_user_file {place}/passwords; }}
    }}
    server {{ listen 127.0.0.1:{other}; root {place}/www; }}
}}
"""


@dataclass(frozen=True)
class Guarded:
    """entitled: wants a client certificate of `authority`. private: wants USER and PASSWORD, or below /token/ TOKEN. other: wants nothing."""

    entitled: str
    private: str
    other: str
    authority: Authority
    place: Path

    @property
    def ca(self) -> str:
        return self.authority.file.read_text()

    def asked(self) -> list[str]:
        """The requests: port, status, path, subject of the certificate, header Authorization."""
        return (self.place / "access.log").read_text().splitlines()

    def asked_since(self, before: int, number: int = 1, path: str = "") -> list[str]:
        """Return the requests after the first `before` that name a path, once there are so many.

        nginx writes its log when an answer has been sent, which its client may have read before.
        """

        def found() -> list[str]:
            return [line for line in self.asked()[before:] if path in line]

        until(lambda: len(found()) >= number)
        return found()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A server for the tests of a module."""
    place = tmp_path_factory.mktemp("guarded")
    for directory in (place, *place.parents):
        if str(directory).startswith("/tmp/pytest"):  # noqa: S108
            directory.chmod(0o755)  # nginx's worker may be another user
    with running(place) as server:
        yield server


@contextmanager
def running(place: Path) -> Iterator[Guarded]:
    """Start the server."""
    assert NGINX, "nginx is not installed"
    www = place / "www" / "feed"
    www.mkdir(parents=True)
    authority = Authority(place, "ours")
    authority.server()
    lines = []
    for number in range(FILES):
        content = bytes([number]) * SIZE
        (www / f"file-{number}").write_bytes(content)
        lines.append(f"file-{number},{hashlib.sha256(content).hexdigest()},{SIZE}\n")
    (www / "PULP_MANIFEST").write_text("".join(lines))
    (place / "passwords").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
    entitled = free_ports(3)
    ports = {"entitled": entitled, "private": entitled + 1, "other": entitled + 2}
    text = CONFIGURATION.format(place=place, token=TOKEN, user=getpass.getuser(), **ports)
    (place / "nginx.conf").write_text(text)
    process = subprocess.Popen([NGINX, "-c", f"{place}/nginx.conf", "-e", f"{place}/error.log"])
    try:
        assert until(lambda: (place / "nginx.pid").exists())
        urls = (
            f"https://127.0.0.1:{ports['entitled']}",
            f"https://127.0.0.1:{ports['private']}",
            f"http://127.0.0.1:{ports['other']}",
        )
        yield Guarded(*urls, authority, place)
    finally:
        process.terminate()
        process.wait(10)
