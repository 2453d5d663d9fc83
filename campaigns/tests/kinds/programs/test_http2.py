"""The engine curl speaks HTTP/2 with a real nginx, over TLS, where that is asked for or possible."""

import hashlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from campaigns.kinds.base import LevelNotInForce, Target
from campaigns.kinds.downloader.driver import driver
from campaigns.tests.kinds.conftest import Keeper
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.test_downloader import parameters

pytestmark = pytest.mark.e2e

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
CONFIGURATION = """
daemon off; pid {place}/nginx.pid; error_log {place}/error.log;
events {{ }}
http {{
    log_format version '$server_protocol $request_uri'; access_log {place}/access.log version;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    ssl_certificate {place}/server.pem; ssl_certificate_key {place}/server.pem;
    server {{
        listen 127.0.0.1:{new} ssl http2; listen 127.0.0.1:{old} ssl; listen 127.0.0.1:{plain};
        root {place}/www;
        location = /moved {{ return 302 /file-0; }}
        location = /away {{ return 302 https://127.0.0.2/; }}
    }}
}}
"""


@dataclass(frozen=True)
class Server:
    """An nginx: with HTTP/2 over TLS, without it, and without TLS."""

    new: str
    old: str
    plain: str
    place: Path

    def versions(self) -> set[str]:
        """Give the versions in which files were asked for."""
        lines = (self.place / "access.log").read_text().splitlines()
        return {line.split()[0] for line in lines if "/file-" in line}


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[Server]:
    place = tmp_path / "nginx"
    (place / "www").mkdir(parents=True)
    place.chmod(0o755)
    authority = Authority(place, "ours")
    authority.server()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    lines = []
    for index in range(40):
        content = bytes([index]) * 30_000
        (place / "www" / f"file-{index}").write_bytes(content)
        lines.append(f"file-{index},{hashlib.sha256(content).hexdigest()},{len(content)}\n")
    moved = hashlib.sha256(bytes(30_000)).hexdigest()
    (place / "www" / "PULP_MANIFEST").write_text("".join(lines))
    (place / "www" / "REDIRECTED").write_text(f"moved,{moved},30000\naway,{moved},30000\n")
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    new, old, plain = (one.getsockname()[1] for one in sockets)
    for one in sockets:
        one.close()
    (place / "nginx.conf").write_text(
        CONFIGURATION.format(place=place, new=new, old=old, plain=plain)
    )
    for directory in tmp_path.resolve().parents:
        if directory.owner() == "root" and str(directory).startswith("/tmp/pytest"):  # noqa: S108
            directory.chmod(0o755)  # nginx's worker is another user
    tmp_path.chmod(0o755)
    assert NGINX, "nginx is not installed"
    process = subprocess.Popen([NGINX, "-c", f"{place}/nginx.conf", "-e", f"{place}/error.log"])
    try:
        assert until(lambda: answers(plain))
        urls = (f"https://127.0.0.1:{new}", f"https://127.0.0.1:{old}", f"http://127.0.0.1:{plain}")
        yield Server(*urls, place)
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run(keeper: Keeper, url: str, **changes):
    """Go through reset, apply and measure; give what is in force, and what was measured."""
    target, context = Target("nginx", "http", url), keeper.context()
    values = parameters(engine="curl", concurrency=12, **changes)
    driver.reset(target, values, context)
    settings = {one.name: one for one in driver.apply(target, values, context)}
    return settings, driver.measure(target, values, context)


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path / "attempt-1")


@pytest.mark.parametrize("version", ["automatic", "2"])
@pytest.mark.parametrize("processes", ["1", "2"])
def test_files_share_connections_over_http_2(server, keeper, version, processes):
    settings, measured = run(keeper, server.new, http_version=version, processes=processes)

    assert settings["http_version"].in_force == "2"
    assert settings["http_version"].ok
    assert measured.units_done == 40
    assert server.versions() == {"HTTP/2.0"}
    assert measured.health.figures["connections"] == int(processes)


def test_http_1_1_is_spoken_where_it_is_asked_for(server, keeper):
    settings, measured = run(keeper, server.new, http_version="1.1")

    assert settings["http_version"].in_force == "1.1"
    assert server.versions() == {"HTTP/1.1"}
    assert measured.units_done == 40
    assert 2 <= measured.health.figures["connections"] <= 12


@pytest.mark.parametrize("place", ["old", "plain"])
def test_a_server_without_http_2_is_asked_in_1_1_or_the_level_is_void(server, keeper, place):
    url = getattr(server, place)
    settings, measured = run(keeper, url)

    assert settings["http_version"].in_force == "1.1"
    assert settings["http_version"].ok
    assert measured.units_done == 40
    assert 2 <= measured.health.figures["connections"] <= 12

    target, values = Target("nginx", "http", url), parameters(engine="curl", http_version="2")
    (wrong,) = (one for one in driver.apply(target, values, keeper.context()) if not one.ok)
    assert wrong.name == "http_version"
    assert "did not agree to HTTP/2" in wrong.why
    with pytest.raises(LevelNotInForce, match=r"http_version was to be 2, but 1\.1"):
        run(keeper, url, http_version="2")


def test_redirects_over_http_2_are_looked_at_one_by_one(server, keeper):
    _, measured = run(keeper, server.new, manifest="REDIRECTED")

    assert measured.failures == {"address": 1}
    assert measured.units_done == 1
