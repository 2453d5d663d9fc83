"""The whole of a local start, with the real processes."""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import urllib.request
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest

from perfdash.answers import answers
from perfdash.local.directory import DataDirectory
from perfdash.tests.conftest import open_place, running, wait_until
from perfdash.tests.local import OWN, ask, command, environment, served, state

pytestmark = pytest.mark.system


def children(pid):
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def await_listening(url):
    """Wait for a server of the sandbox, which starts when the first page is there already."""
    address = urlsplit(url)

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex((address.hostname, address.port)) == 0

    wait_until(listens)


@pytest.fixture(scope="module")
def shared():
    """One perfdash for the tests that leave it running: its data directory and its process."""
    with open_place() as place, served(place / "data") as process:
        yield place / "data", process


def test_a_second_start_tells_of_the_first_with_a_fresh_link(shared):
    data, process = shared

    second = subprocess.run(command(data), env=environment(), capture_output=True, text=True)

    base_url = state(data)["base_url"]
    output, link = second.stdout.splitlines()
    assert second.returncode == 0
    assert output == f"perfdash is running already (process {process.pid}): {base_url}"
    assert link.startswith(base_url)
    with urllib.request.urlopen(link, timeout=120) as page:  # noqa: S310 - loopback
        assert page.status == 200


def test_static_files_come_compressed_and_are_kept_for_ever(shared):
    base_url = state(shared[0])["base_url"]
    with urllib.request.urlopen(f"{base_url}/sign-in/", timeout=120) as page:  # noqa: S310 - ours
        sheet = re.search(r'rel="stylesheet" href="([^"]+)"', page.read().decode())
    assert sheet

    wanted = urllib.request.Request(f"{base_url}{sheet[1]}", headers={"Accept-Encoding": "br"})  # noqa: S310 - ours
    with urllib.request.urlopen(wanted, timeout=120) as answer:  # noqa: S310 - ours
        assert answer.headers["Content-Encoding"] == "br"
        assert "immutable" in answer.headers["Cache-Control"]


def test_a_running_perfdash_is_not_reset(shared):
    data, _ = shared

    reset = subprocess.run(
        command(data, "--reset", "--yes"), env=environment(), capture_output=True, text=True
    )

    assert reset.returncode == 1
    assert "stop it before --reset" in reset.stderr
    wait_until(lambda: answers(f"{state(data)['base_url']}/health/"))


def test_the_status_tells_of_every_service_and_of_the_room_they_have(shared):
    data, process = shared

    output, for_programs = ask("status", data), ask("status", data, "--json")

    assert output.returncode == for_programs.returncode == 0
    assert (
        f"perfdash runs: {state(data)['base_url']} (process {process.pid}, since" in output.stdout
    )
    for name, pid in state(data)["services"].items():
        assert f"  {name:<10}{pid:>8}  20" in output.stdout
    result = json.loads(for_programs.stdout)
    assert result["running"]
    assert result["ready"]
    assert result["database_bytes"] > 1_000_000
    assert {service["name"] for service in result["services"]} == set(state(data)["services"])
    assert "password" not in for_programs.stdout.lower()


def test_the_sandbox_is_a_pulp_too_and_allowed_as_a_target(shared):
    data, _ = shared
    url = state(data)["pulp_url"]

    allowed = state(data)["environment"]["PERFDASH_ALLOWED_ADDRESSES"].splitlines()

    assert url.removeprefix("http://") in allowed
    await_listening(url)
    with urllib.request.urlopen(f"{url}/pulp/api/v3/status/") as status:  # noqa: S310 - ours
        components = {each["component"] for each in json.load(status)["versions"]}
    assert {"core", "simulated", "file", "rpm"} == components


def test_the_sandbox_is_a_katello_too_and_allowed_as_a_target(shared):
    data, _ = shared
    url = state(data)["katello_url"]

    allowed = state(data)["environment"]["PERFDASH_ALLOWED_ADDRESSES"].splitlines()

    assert url.removeprefix("http://") in allowed
    await_listening(url)
    with urllib.request.urlopen(f"{url}/katello/api/v2/status") as status:  # noqa: S310 - ours
        assert json.load(status)["version"].endswith("simulated")


def test_hosts_can_register_with_that_katello_over_tls(shared):
    data, _ = shared
    url = state(data)["katello_tls_url"]

    allowed = state(data)["environment"]["PERFDASH_ALLOWED_ADDRESSES"].splitlines()

    assert url.removeprefix("https://") in allowed
    await_listening(url)
    context = ssl.create_default_context(cafile=data / "secrets" / "katello_ca.pem")
    with urllib.request.urlopen(f"{url}/rhsm/status", context=context) as status:  # noqa: S310 - ours
        assert json.load(status)["result"]


def test_the_status_says_where_nothing_runs_and_makes_nothing(place):
    DataDirectory(place / "data")

    stopped, missing = ask("status", place / "data"), ask("status", place / "nothing")

    assert stopped.returncode == missing.returncode == 3
    assert "perfdash is not running." in stopped.stdout
    assert "is no data directory of perfdash" in missing.stderr
    assert not (place / "nothing").exists()


def test_stopping_what_does_not_run_is_done_already(place):
    DataDirectory(place / "data")

    done = ask("stop", place / "data")

    assert done.returncode == 0
    assert "is not running" in done.stdout


def test_what_the_state_file_keeps_is_no_other_programs_secret(shared):
    data, _ = shared

    assert "FOREIGN_SECRET" not in (data / "run/state.json").read_text()


def test_killed_services_come_back_and_nothing_of_them_stays(shared):
    data, _ = shared
    forking = ("web", "measure", "analysis")
    wait_until(lambda: all(children(state(data)["services"][name]) for name in forking))
    before = state(data)["services"]
    theirs = [pid for name in forking for pid in children(before[name])]

    for pid in before.values():
        os.kill(pid, signal.SIGKILL)

    wait_until(lambda: not set(before.values()) & set(state(data)["services"].values()))
    wait_until(
        lambda: answers(f"{state(data)['base_url']}/ready/")
    )  # and the database, which was killed
    assert not any(running(pid) for pid in theirs)


def test_workers_share_the_memory_of_what_they_were_forked_from(shared):
    """Everything together is to need at most 0.7 GiB; a worker that loads its own modules has 60 MiB more."""
    data, process = shared
    workers = ("measure", "analysis", "control", "generate")

    wait_until(lambda: all(state(data)["services"].get(name) for name in workers))

    for name in workers:
        assert (
            "perfdash.local.forkserver" in psutil.Process(state(data)["services"][name]).cmdline()
        )
    everybody = [process.pid, *children(process.pid)]
    assert sum(proportional_set_size(pid) for pid in everybody) < 0.7 * 2**30


def proportional_set_size(pid):
    """Return the bytes of a process, with its share of what it shares; 0 where it has just ended."""
    try:
        return psutil.Process(pid).memory_full_info().pss
    except psutil.NoSuchProcess:
        return 0


def test_a_killed_supervisor_leaves_nobody_and_the_next_start_has_the_data(place):
    data = place / "data"
    with served(data) as process:
        before = state(data)["environment"]
        with psycopg.connect(before["DATABASE_URL"]) as connection:
            connection.execute("UPDATE auth_user SET first_name = 'Ada'")
        everybody = children(process.pid)
        assert len(everybody) >= len(state(data)["services"])

        process.kill()

        wait_until(lambda: not any(running(pid) for pid in everybody))

    assert "the last one was killed; the data is kept" in ask("status", data).stdout
    with served(data) as process:
        after = state(data)["environment"]
        with psycopg.connect(after["DATABASE_URL"]) as connection:
            names = connection.execute("SELECT DISTINCT first_name FROM auth_user").fetchall()

        stopped = ask("stop", data)

        assert stopped.stdout.splitlines()[-1] == "Stopped."
        assert process.wait(timeout=120) == 0

    assert names == [("Ada",)]
    assert {name: before[name] for name in OWN} == {name: after[name] for name in OWN}


@pytest.mark.e2e
def test_servers_that_somebody_gives_are_used(place):
    data = place / "data"

    with served(data, without=()):
        assert not {"database", "broker"} & set(state(data)["services"])
        assert not (data / "database").exists()
        assert answers(f"{state(data)['base_url']}/health/")


def test_the_port_that_somebody_names_is_taken_or_nothing(place):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        done = subprocess.run(
            command(place / "data", "--port", port),
            env=environment(),
            capture_output=True,
            text=True,
        )

    assert done.returncode == 1
    assert f"Port {port} is held by" in done.stderr
    assert "--port" in done.stderr


def test_a_reset_needs_a_yes(place):
    (place / "data").mkdir()
    first = subprocess.run(
        command(place / "data", "--reset"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )

    assert first.returncode == 1
    assert "Nothing was deleted" in first.stderr


@pytest.mark.parametrize("option", [("--reset", "--yes"), ()])
def test_a_directory_that_perfdash_did_not_make_is_never_touched(place, option):
    (place / "thesis.txt").write_text("years of work")

    done = subprocess.run(
        command(place, *option), env=environment(), capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "holds other things" in done.stderr
    assert [path.name for path in place.iterdir()] == ["thesis.txt"]
