"""An nginx of a test: plain, and by TLS for hosts that show a certificate; it writes down who they are."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.ports import free_ports

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
CONFIGURATION = """
daemon off; pid {place}/nginx.pid; error_log {place}/error.log; user root;
worker_processes 1; worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{
    log_format asked '$ssl_client_s_dn|$connection|$ssl_session_reused|$status|$request_uri';
    access_log {place}/access.log asked;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    keepalive_requests 100000; tcp_nodelay on;
    ssl_certificate {place}/server.pem; ssl_certificate_key {place}/server.pem;
    ssl_client_certificate {authority};
    server {{ listen 127.0.0.1:{plain} backlog=8192; root {www}; }}
    server {{ listen 127.0.0.1:{tls} ssl backlog=8192; ssl_verify_client on; root {www}; }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """url: plain. tls_url: for hosts with a certificate."""

    url: str
    tls_url: str
    place: Path
    port: int

    def asked(self) -> list[tuple[str, str, str, str, str]]:
        """Give subject, connection, whether its TLS session was an earlier one (`r`, or `.`), status and path of each request."""
        lines = (self.place / "access.log").read_text().splitlines()
        return [tuple(line.split("|")) for line in lines]  # type: ignore[misc]


@contextmanager
def nginx(place: Path, www: Path, authority: Authority) -> Iterator[Nginx]:
    """Serve the files below `www`."""
    assert NGINX, "nginx is not installed"
    place.mkdir(parents=True)
    shutil.copy(authority.server(), place / "server.pem")
    plain = free_ports(2)
    (place / "nginx.conf").write_text(
        CONFIGURATION.format(
            place=place, www=www, plain=plain, tls=plain + 1, authority=authority.file
        )
    )
    process = subprocess.Popen([NGINX, "-c", f"{place}/nginx.conf", "-e", f"{place}/error.log"])
    try:
        assert until(lambda: _answers(plain))
        yield Nginx(f"http://127.0.0.1:{plain}/", f"https://127.0.0.1:{plain + 1}/", place, plain)
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
