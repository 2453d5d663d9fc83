"""Debian's servers on loopback are watched while they are busy."""

import getpass
import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import pytest

from campaigns.kit.ssh.access import SshAccess
from campaigns.targets.watches.base import Access, Span, WatchFailed
from campaigns.targets.watches.sources import (
    apache,
    haproxy,
    node_exporter,
    pcp,
    pgbouncer,
    prometheus,
    pulp,
    puma,
)
from campaigns.tests.kinds.sql import servers
from campaigns.tests.ports import free_port
from campaigns.tests.targets import ssh_server
from campaigns.tests.targets.watches.sources.sinks import LOOPBACK, Collected, watched
from sandbox.process import running

pytestmark = pytest.mark.system
TOKEN = "control-token"  # noqa: S105


def needs(program):
    return pytest.mark.skipif(not servers.program(program), reason=f"{program} is not installed")


@contextmanager
def started(name, place, *arguments, port, **options):
    """Run a program that listens; arguments are texts."""
    with servers.running(
        [str(servers.program(name)), *arguments], port, place, **options
    ) as process:
        yield process


@contextmanager
def exporter(place):
    port = free_port()
    arguments = [
        f"--web.listen-address=127.0.0.1:{port}",
        "--no-collector.xfs",
        "--no-collector.zfs",
    ]
    with started("prometheus-node-exporter", place, *arguments, port=port):
        yield f"127.0.0.1:{port}"


@contextmanager
def clients(number, port, path="/"):
    """Ask a web server by so many clients at once, each again and again until the end."""
    over = threading.Event()

    def ask():
        while not over.is_set():
            with suppress(OSError):
                urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).read()

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def until(source, address, is_seen, **more):
    """Look until something is seen; return the sink of that look."""
    ends = time.monotonic() + 20
    while True:
        sink = watched(source, address, looks=1, **more)
        if is_seen(sink):
            return sink
        assert time.monotonic() < ends, sink.frames[-1].values
        time.sleep(0.05)


@needs("prometheus-node-exporter")
def test_node_exporter_tells_of_this_machine(tmp_path):
    with exporter(tmp_path) as address:
        sink = watched(node_exporter.source, address, looks=3)

    for quantity in (
        "cpu.user",
        "cpu.load",
        "memory.available",
        "cpu.forks",
        "tcp.segments",
        "files.open_share",
    ):
        assert len(sink.series(quantity)) == 3, quantity
    assert sink.labels("cpu.core_busy") == {str(core) for core in range(int(sink.facts["cores"]))}
    assert abs(sink.frames[-1].at - time.time()) < 5  # noqa: TID251
    assert sink.frames[-1].uptime > 0
    assert sink.cpu_seconds


@needs("prometheus-node-exporter")
def test_a_node_exporter_that_lacks_a_collector_is_read_all_the_same(tmp_path):
    port = free_port()
    arguments = [f"--web.listen-address=127.0.0.1:{port}", "--no-collector.pressure"]
    with started("prometheus-node-exporter", tmp_path, *arguments, port=port):
        sink = watched(node_exporter.source, f"127.0.0.1:{port}")

    assert not sink.labels("pressure.cpu.some")
    assert len(sink.series("cpu.user")) == 2


@needs("prometheus")
@needs("prometheus-node-exporter")
def test_prometheus_is_asked_for_what_it_scraped(tmp_path):
    port = free_port()
    with exporter(tmp_path) as address:
        config = tmp_path / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            f"scrape_configs: [{{job_name: node, static_configs: [{{targets: ['{address}']}}]}}]\n"
        )
        arguments = [
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with started("prometheus", tmp_path, *arguments, port=port):
            access = Access(
                prometheus.source.check_address(f"127.0.0.1:{port}"),
                LOOPBACK,
                options={"instance": address},
            )
            begun, ends = time.time(), time.monotonic() + 30  # noqa: TID251
            while True:
                sink = Collected()
                with suppress(WatchFailed):
                    prometheus.source.fetch(access, sink, Span(begun - 1, time.time() + 1))  # noqa: TID251
                if len(sink.frames) >= 3:
                    break
                assert time.monotonic() < ends
                time.sleep(0.2)

    idle = sink.series("cpu.idle")
    assert idle == sorted(idle)
    assert sink.facts["scrape_interval_seconds"] == pytest.approx(1.0, abs=0.2)
    assert sink.facts["cores"] >= 1
    assert abs(sink.facts["clock_minus_prometheus"]) < 1
    assert sink.frames[0].uptime > 0


HAPROXY = """
global
    maxconn 4096
    stats socket 127.0.0.1:{runtime} level user
    stats socket {place}/h.sock mode 600 level user
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout queue 10s
listen web
    bind 127.0.0.1:{port}
    server one 127.0.0.1:{behind} maxconn 3
listen stats
    bind 127.0.0.1:{stats}
    stats enable
    stats uri /stats
    stats auth watch:secret
"""


def by_ssh(source, machine, **options):
    """Look once by SSH."""
    ssh = SshAccess("127.0.0.1", machine.port, machine.username, machine.key, "", machine.host_key)
    return watched(source, f"ssh://127.0.0.1:{machine.port}", ssh=ssh, options=options)


@pytest.fixture
def short():
    """A directory with a path that is short enough for sockets."""
    with TemporaryDirectory(prefix="perfdash-") as place:
        yield place


@needs("haproxy")
def test_haproxys_queue_is_seen_over_http_and_by_its_runtime_sockets(tmp_path, short):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        ports = {name: free_port() for name in ("port", "stats", "runtime")}
        config = tmp_path / "haproxy.cfg"
        config.write_text(HAPROXY.format(behind=silent.getsockname()[1], place=short, **ports))
        with started("haproxy", tmp_path, "-db", "-q", "-f", str(config), port=ports["stats"]):
            held = [socket.create_connection(("127.0.0.1", ports["port"])) for _ in range(8)]
            try:
                for each in held:
                    each.sendall(b"GET / HTTP/1.0\r\n\r\n")
                login = {"username": "watch", "password": "secret"}
                for address in (
                    f"127.0.0.1:{ports['stats']}/stats",
                    f"tcp://127.0.0.1:{ports['runtime']}",
                ):
                    sink = until(
                        haproxy.source,
                        address,
                        lambda sink: sink.last("queue.waiting", "throttle web") == 5.0,
                        **login,
                    )
                    assert sink.last("queue.busy", "throttle web") == 3.0
                    assert sink.last("queue.limit", "throttle web") == 3.0
                    assert sink.last("queue.busy", "throttle web (frontend)") == 8.0
                with pytest.raises(WatchFailed, match="user name and password"):
                    watched(haproxy.source, f"127.0.0.1:{ports['stats']}")
                if ssh_server.SSHD:
                    with ssh_server.openssh(tmp_path) as machine:
                        sink = by_ssh(haproxy.source, machine, socket=f"{short}/h.sock")
                        assert sink.series("queue.waiting", "throttle web") == [5.0, 5.0]
                        with pytest.raises(WatchFailed, match="AllowStreamLocalForwarding"):
                            by_ssh(haproxy.source, machine, socket=f"{short}/none.sock")
            finally:
                for each in held:
                    each.close()


APACHE = """
ServerName localhost
ServerRoot {place}
DefaultRuntimeDir {place}
PidFile {place}/apache.pid
ErrorLog {place}/apache.err
Listen 127.0.0.1:{port}
User {user}
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
MinSpareThreads 1
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule status_module /usr/lib/apache2/modules/mod_status.so
<Location /server-status>
SetHandler server-status
</Location>
"""


@needs("apache2")
def test_apaches_workers_are_seen(tmp_path):
    port = free_port()
    config = tmp_path / "apache.conf"
    user = "nobody" if getpass.getuser() == "root" else getpass.getuser()
    config.write_text(APACHE.format(place=tmp_path, port=port, user=user))
    with started("apache2", tmp_path, "-f", str(config), "-DFOREGROUND", port=port):
        address, threads = f"127.0.0.1:{port}", "threads apache"
        # A thread that is not up yet counts in neither busy nor idle.
        until(apache.source, address, lambda sink: sink.last("queue.limit", threads) == 4.0)
        sink = watched(apache.source, address, looks=3)

    assert sink.series("queue.limit", "threads apache") == [4.0] * 3
    assert sink.last("queue.busy", "threads apache") >= 1.0
    assert sink.series("queue.requests", "threads apache") == sorted(
        sink.series("queue.requests", "threads apache")
    )
    assert sink.facts["apache.version"].startswith("Apache/")


@needs("puma")
def test_pumas_threads_are_seen_over_http_and_by_ssh(tmp_path, short):
    (tmp_path / "config.ru").write_text(
        'run lambda { |env| sleep 0.2; [200, {"Content-Type" => "text/plain"}, ["ok"]] }\n'
    )
    port, control = free_port(), free_port()
    arguments = [
        *("-b", f"tcp://127.0.0.1:{port}", "-t", "1:3"),
        *("--control-url", f"tcp://127.0.0.1:{control}", "--control-token", TOKEN),
        *("-S", f"{short}/puma.state"),
        str(tmp_path / "config.ru"),
    ]
    with started("puma", tmp_path, *arguments, port=control), clients(8, port):
        sink = until(
            puma.source,
            f"127.0.0.1:{control}",
            lambda sink: sink.last("queue.busy", "threads puma") == 3.0,
            password=TOKEN,
        )
        assert sink.last("queue.limit", "threads puma") == 3.0
        assert sink.series("queue.waiting", "threads puma")
        with pytest.raises(WatchFailed, match="control token"):
            watched(puma.source, f"127.0.0.1:{control}", password="wrong")  # noqa: S106
        if ssh_server.SSHD:
            with ssh_server.openssh(tmp_path) as machine:
                sink = by_ssh(puma.source, machine, state_file=f"{short}/puma.state")
                assert sink.series("queue.limit", "threads puma") == [3.0, 3.0]
                with pytest.raises(WatchFailed, match="cannot read"):
                    by_ssh(puma.source, machine, state_file=f"{short}/none")


@needs("pgbouncer")
def test_clients_that_wait_for_a_connection_of_pgbouncer_are_seen(tmp_path):
    with servers.database(tmp_path) as database, servers.pgbouncer(database, pool=2) as port:
        login = {"username": servers.USER, "password": database.password}
        held = []
        try:
            for number in range(5):
                held.append(database.connect_as(servers.USER, database.password, port=port))
                held[-1].pgconn.send_query(b"BEGIN" if number < 2 else b"SELECT 1")
            label = f"throttle bench of {servers.USER} (PgBouncer)"
            sink = until(
                pgbouncer.source,
                f"127.0.0.1:{port}",
                lambda sink: (
                    "queue.waiting" in {key.quantity for key in sink.frames[-1].values}
                    and sink.last("queue.waiting", label) == 3.0
                ),
                **login,
            )
        finally:
            for each in held:
                each.close()
        assert sink.last("queue.busy", label) == 2.0
        assert sink.last("queue.limit", label) == 2.0
        assert sink.facts["pgbouncer.pool_mode"] == "transaction"
        with pytest.raises(WatchFailed, match="stats_users"):
            watched(pgbouncer.source, f"127.0.0.1:{port}", username="nobody", password="x")  # noqa: S106


def test_workers_of_the_simulated_pulp_are_task_slots():
    with running(pulp={}) as sandbox:
        url = sandbox.pulp.base_url
        sink = watched(pulp.source, url, username="admin", password="password")  # noqa: S106
        with pytest.raises(WatchFailed, match="user name and password"):
            watched(pulp.source, url, username="admin", password="wrong")  # noqa: S106

    assert sink.series("queue.busy", "slots pulp workers") == [0.0, 0.0]
    assert sink.series("queue.waiting", "slots pulp workers") == [0.0, 0.0]
    assert sink.last("queue.limit", "slots pulp workers") > 0


PCP = Path("/usr/lib/pcp/bin")
AGENTS = Path("/var/lib/pcp/pmdas")
PMCD = f"""
pmcd	2	dso	pmcd_init	{AGENTS}/pmcd/pmda_pmcd.so
linux	60	pipe	binary		{AGENTS}/linux/pmdalinux
"""
PMPROXY = """
[pmproxy]
pcp.enabled = true
http.enabled = true
redis.enabled = false
"""


@pytest.mark.skipif(
    not (PCP / "pmproxy").exists() or not Path("/var/lib/pcp/pmns/root").exists(),
    reason="pcp is not installed, or was never started",
)
def test_pmproxy_tells_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PCP_LOG_DIR", str(tmp_path))
    pmcd, port = free_port(), free_port()
    for name, text in (("pmcd", PMCD), ("pmproxy", PMPROXY)):
        (tmp_path / f"{name}.conf").write_text(text)

    def arguments(name, port):
        places = ("-c", f"{name}.conf"), ("-s", f"{name}.socket"), ("-l", f"{name}.txt")
        files = [part for option, file in places for part in (option, str(tmp_path / file))]
        return [str(PCP / name), "-f", "-A", "-i", "127.0.0.1", "-p", str(port), *files]

    with (
        servers.running(arguments("pmcd", pmcd), pmcd, tmp_path, cwd=tmp_path),
        servers.running(arguments("pmproxy", port), port, tmp_path),
    ):
        sink = watched(
            pcp.source, f"127.0.0.1:{port}", looks=3, options={"host": f"127.0.0.1:{pmcd}"}
        )

    for quantity in ("cpu.user", "cpu.load", "memory.available", "cpu.forks", "tcp.segments"):
        assert len(sink.series(quantity)) == 3, quantity
    assert len(sink.labels("cpu.core_busy")) == sink.facts["cores"]
    assert sink.cpu_seconds
