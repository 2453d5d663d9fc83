"""An nginx and an HAProxy of Debian whose capacity is known, since each answer waits for a fixed time."""

import getpass
import hashlib
import shutil
import socket
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

from campaigns.tests.ports import free_port
from e2e.conftest import ends_with_us, wait_for

PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin"
FILE = bytes(500)
NGINX = """
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
user {user}; worker_processes 1; daemon off; pid {place}/nginx.pid; error_log {place}/error.log crit;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 1000000; default_type application/octet-stream;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    limit_conn_zone $server_name zone=clients:1m; limit_conn_status 503; limit_conn_log_level info;
    server {{
        listen 127.0.0.1:{port} backlog=4096; server_name slow; root {place}/www;
        location / {{ }}
        location ~ ^/[0-9]+/file {{ {limit} echo_sleep {seconds}; echo_exec @file; }}
        location @file {{ }}
    }}
}}
"""
HAPROXY = """
global
    maxconn 4096
defaults
    mode http
    option http-server-close
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout queue {queue_seconds}s
frontend clients
    bind 127.0.0.1:{port}
    default_backend slow
backend slow
    server nginx {address} maxconn {most}
"""


@dataclass(frozen=True)
class Server:
    """A web server: its URL, and the process."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def address(self):
        return self.url.removeprefix("http://")


def manifest(number):
    """Return the path of a repository with so many files."""
    return f"/{number}/PULP_MANIFEST"


@contextmanager
def nginx(place, seconds, most=None, numbers=()):
    """Serve repositories of `numbers` files, each `seconds` late; more than `most` clients at once get a 503."""
    digest = hashlib.sha256(FILE).hexdigest()
    for number in numbers:
        files = place / "www" / str(number)
        files.mkdir(parents=True)
        names = [f"file-{index}" for index in range(number)]
        for name in names:
            (files / name).write_bytes(FILE)
        lines = [f"{name},{digest},{len(FILE)}\n" for name in names]
        (files / "PULP_MANIFEST").write_text("".join(lines))
    port = free_port()
    limit = f"limit_conn clients {most};" if most else ""
    user = getpass.getuser()  # whose the directory is
    text = NGINX.format(place=place, port=port, limit=limit, seconds=seconds, user=user)
    (place / "nginx.conf").write_text(text)
    with _started(port, "nginx", "-c", place / "nginx.conf", "-e", place / "error.log") as server:
        yield server


@contextmanager
def haproxy(place, behind, most, queue_seconds=10):
    """Pass requests on to a server, at most `most` of them at once; the others wait in HAProxy's queue."""
    port = free_port()
    text = HAPROXY.format(port=port, address=behind.address, most=most, queue_seconds=queue_seconds)
    (place / "haproxy.cfg").write_text(text)
    with _started(port, "haproxy", "-db", "-q", "-f", place / "haproxy.cfg") as server:
        yield server


@contextmanager
def _started(port, name, *arguments):
    program = shutil.which(name, path=PLACES)
    assert program, f"{name} is not installed; script/packages.sh names its package"
    process = subprocess.Popen([program, *map(str, arguments)], preexec_fn=ends_with_us())
    try:
        wait_for(lambda: _listens(port), f"{name} at port {port}", seconds=10)
        assert process.poll() is None
        yield Server(f"http://127.0.0.1:{port}", process)
    finally:
        process.terminate()
        process.wait()


def _listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True
