"""A name that resolves to an allowed address when it is checked, and to another one later, leads no kind or watch elsewhere."""

import socket
import threading
import time
from dataclasses import replace
from itertools import count

import pytest

from campaigns.kinds.base import Cancelled, Context, DriverError, Target
from campaigns.kinds.base.feed import offer_of
from campaigns.kinds.http.driver import driver as http
from campaigns.kinds.programs import run_remotely
from campaigns.kinds.programs.commands import Command, new_marker
from campaigns.kinds.registration.driver import driver as registration
from campaigns.kinds.sql.driver import driver as sql
from campaigns.kinds.storage.driver import driver as storage
from campaigns.kit import name_service
from campaigns.kit.http.failures import FileFailed
from campaigns.kit.network import NetworkError, parse_rules
from campaigns.kit.ssh import commands
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.targets.watches.base import Access, Span, WatchFailed
from campaigns.targets.watches.recording import Recording
from campaigns.targets.watches.registry import all_sources
from campaigns.tests.kinds.programs.rebinding import rebind
from campaigns.tests.kinds.programs.servers import behaving

NAME = "rebinding.example"
HERE, THERE = "127.0.0.1", "127.0.0.2"
RULES = parse_rules(f"{HERE}:*")
EXPECTED = (DriverError, WatchFailed, ActionFailed, NetworkError, FileFailed, OSError)
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJW7VYvOn1Y0HZZyfXzDPO2XlDHUFqOhq0vXgKPJ9Oc6"


def refusing(connection: socket.socket) -> None:
    """Answer every protocol by an error of HTTP, which ends most attempts at once."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@pytest.fixture
def places(monkeypatch):
    """Two servers on one port: the allowed one, and one that counts who connects; the name moves between them."""
    with (
        behaving(refusing, HERE) as (place, allowed),
        behaving(refusing, THERE, int(place.rpartition(":")[2])) as (_, forbidden),
    ):
        monkeypatch.setattr(socket, "getaddrinfo", socket.getaddrinfo)  # as it was, at the end
        rebind(NAME, [[HERE], [THERE]])
        yield int(place.rpartition(":")[2]), allowed, forbidden


def context(tmp_path):
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 15.0,
        progress=lambda values: None,
        say=lambda text: None,
        clock=time.perf_counter_ns,
        directory=tmp_path,
        rules=RULES,
        deadline_seconds=5.0,
    )


def ssh_to(port):
    return SshAccess(NAME, port, "somebody", "", "a password", HOST_KEY)


def target(port, family="http", scheme="http"):
    url = f"{scheme}://{NAME}:{port}/x"
    return Target("it", family, url, "somebody", "a password", ssh=ssh_to(port))


def command():
    return Command(["true"], 5.0, 1000, new_marker())


WAYS = {
    "http": lambda port, here: http.probe(target(port), RULES),
    "sql": lambda port, here: sql.probe(target(port, "postgresql", "postgresql"), RULES),
    "registration at Katello": lambda port, here: registration.probe(
        target(port, "katello"), RULES
    ),
    "registration at Candlepin": lambda port, here: registration.probe(
        target(port, "candlepin"), RULES
    ),
    "storage": lambda port, here: storage.probe(target(port, "machine", "ssh"), RULES),
    "storage, a run": lambda port, here: storage.environment(target(port, "machine", "ssh"), here),
    "program on the target": lambda port, here: run_remotely.run(
        command(), ssh_to(port), RULES, lambda: None
    ),
    "a feed": lambda port, here: offer_of(f"http://{NAME}:{port}/PULP_MANIFEST", "file/file", here),
}


def assert_it_leads_nowhere_else(act, places):
    """The first attempt reaches the allowed server, and every later one is refused."""
    _, allowed, forbidden = places
    told = []
    for _ in range(3):
        try:
            act()
        except EXPECTED as error:
            told.append(str(error))
    assert allowed
    assert forbidden == []
    assert f"{THERE} port" in told[-1]


@pytest.mark.parametrize("name", WAYS)
def test_no_kind_is_led_elsewhere(places, tmp_path, name):
    here = context(tmp_path)

    assert_it_leads_nowhere_else(lambda: WAYS[name](places[0], here), places)


ADDRESSES = {
    "haproxy": ["http://{}", "tcp://{}", "ssh://{}"],
    "pgbouncer": ["{}"],
    "postgresql": ["{}/x"],
    "puma": ["http://{}", "ssh://{}"],
    "ssh": ["{}"],
}


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name in all_sources() for form in ADDRESSES.get(name, ["http://{}"])],
)
def test_no_watch_is_led_elsewhere(places, name, form):
    source, port = all_sources()[name], places[0]
    access = Access(
        source.check_address(form.format(f"{NAME}:{port}")),
        RULES,
        username="somebody",
        password="a password",  # noqa: S106
        options={option.name: option.initial or "/x" for option in source.options},
    )
    if source.is_by_ssh(access.address):
        access = replace(access, ssh=ssh_to(port))

    def look():
        looks = count()
        if source.live:
            source.sample(access, Recording(), lambda seconds: next(looks) > 20)
        else:
            source.fetch(access, Recording(), Span(1.0, 2.0))

    assert_it_leads_nowhere_else(look, places)


def test_a_name_server_that_hangs_holds_up_no_cancel(monkeypatch):
    hangs, asked, answered = threading.Event(), threading.Event(), threading.Event()

    def resolve(*arguments):
        asked.set()
        hangs.wait(60)
        answered.set()
        return [HERE]

    def check():
        if asked.is_set():
            raise Cancelled

    monkeypatch.setattr(name_service, "resolve", resolve)
    try:
        with pytest.raises(Cancelled):
            commands.look(ssh_to(9), RULES, check)
        assert not answered.is_set()
        monkeypatch.setattr(commands, "CONNECT_SECONDS", 0.1)
        with pytest.raises(ActionFailed, match=r"did not resolve within 0\.1 s"):
            commands.look(ssh_to(9), RULES, lambda: None)
    finally:
        hangs.set()
