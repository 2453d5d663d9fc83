"""A database that is away for two times the lease: it hangs, or refuses, or nobody reaches it."""

import signal
from time import sleep

import pytest
from psycopg.conninfo import conninfo_to_dict

from e2e.conftest import place, wait_for
from e2e.faults import processes
from e2e.faults.load import again_and_again, loading
from e2e.faults.plant import LEASE_SECONDS, Plant, started
from e2e.faults.proxy import Proxy
from e2e.faults.servers import embedded_servers

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(1800)]

AWAY_SECONDS = 2 * LEASE_SECONDS


def assert_the_load_ends_in_time(load, attempt):
    """The keeper cannot renew: the target is left alone before somebody else could hold it."""
    wait_for(lambda: not load.sender(attempt)["in_flight"], "the end of the load", LEASE_SECONDS)


def test_the_database_hangs(plant, load, rounds):
    def fault(attempt):
        plant.forget_connection()
        stopped = processes.cluster(plant.pid)
        for process in stopped:
            process.suspend()
        try:
            assert_the_load_ends_in_time(load, attempt)
            sleep(AWAY_SECONDS)
        finally:
            for process in stopped:
                if processes.alive(process):
                    process.resume()

    again_and_again(load, rounds, fault)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["in order", "killed"])
def test_the_database_refuses(plant, load, rounds, number):
    """Nobody starts it again: the supervisor stands still meanwhile."""

    def fault(attempt):
        plant.forget_connection()
        (supervisor,) = processes.supervisor(plant.pid)
        (postmaster,) = processes.postmaster(plant.pid)
        supervisor.suspend()
        try:
            postmaster.send_signal(number)
            assert_the_load_ends_in_time(load, attempt)
            sleep(AWAY_SECONDS)
        finally:
            supervisor.resume()

    again_and_again(
        load,
        rounds,
        fault,
        settle=lambda: wait_for(lambda: processes.postmaster(plant.pid), "PostgreSQL"),
    )


class Distant(Plant):
    """A perfdash whose way to the database leads through a proxy; the tests go directly."""

    def __init__(self, data, direct_url, **environment):
        super().__init__(data, **environment)
        self.direct_url = direct_url

    def database_url(self):
        return self.direct_url


@pytest.fixture(scope="module")
def proxy():
    with embedded_servers() as servers:
        known = conninfo_to_dict(servers["DATABASE_URL"])
        with Proxy(f"{known['host']}/.s.PGSQL.5432") as made:
            made.direct_url = servers["DATABASE_URL"]
            made.broker_url = servers["BROKER_URL"]
            made.url = (
                f"postgresql://{known['user']}:{known['password']}@127.0.0.1:{made.port}"
                f"/{known['dbname']}?connect_timeout=3"
            )
            yield made


@pytest.fixture(scope="module")
def distant(proxy):
    with place() as path:
        made = Distant(
            path / "data",
            proxy.direct_url,
            DATABASE_URL=proxy.url,
            BROKER_URL=proxy.broker_url,
            DATABASE_ANSWER_SECONDS="6",
        )
        with started(made):
            yield made
            proxy.forward()


@pytest.mark.parametrize("whose", ["everybody", "the worker"])
@pytest.mark.parametrize("after", ["goes on", "is broken off", "is never heard of again"])
def test_the_network_to_the_database_is_cut(distant, proxy, target, rounds, book, whose, after):
    """Connections stay open and carry nothing, old ones and new ones."""

    def fault(attempt):
        processes_cut = None
        if whose == "the worker":
            (parent,) = processes.worker(distant.pid)
            processes_cut = {p.pid for p in processes.tree(parent.pid)}
        proxy.cut(processes_cut)
        try:
            assert_the_load_ends_in_time(load, attempt)
            sleep(AWAY_SECONDS)
        finally:
            match after:
                case "goes on":
                    proxy.forward()
                case "is broken off":
                    proxy.break_off()
                case _:
                    proxy.forget()

    with loading(distant, target, rounds) as load, book(load):
        again_and_again(load, rounds, fault)
