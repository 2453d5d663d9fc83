import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import aiohttp
import psutil
import pytest

from sandbox.process import DidNotStart, Sandbox, running
from sandbox.server import start
from sandbox.tests.conftest import wait_until
from sandbox.tests.sockets import bodies, connected, read_to_the_end, request

pytestmark = pytest.mark.system

PROJECT = Path(__file__).parents[2]


COMMAND = [sys.executable, "-m", "sandbox"]


@contextmanager
def started(*arguments: str) -> Iterator[tuple[Sandbox, subprocess.Popen[str]]]:
    command = [*COMMAND, "--port", "0", *arguments]
    with subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield Sandbox(process.stdout.readline().split()[-1], process.pid), process
        process.kill()


def what_it_says(*arguments: str) -> tuple[int, str]:
    ended = subprocess.run(
        [*COMMAND, *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_answers_under_way_end(number: signal.Signals) -> None:
    with started() as (sandbox, process), connected(sandbox.base_url) as client:
        url = urljoin(sandbox.manifest(size=5000, latency=300), "file-000001.bin")
        client.sendall(request(url))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

        process.send_signal(number)
        [(status, body)] = bodies(read_to_the_end(client))

        assert (status, len(body)) == (200, 5000)
        assert process.wait(5) == 0


def test_a_signal_ends_what_hangs_at_once() -> None:
    with started("--grace", "60") as (sandbox, process), connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(manifest="hang")))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

        process.terminate()

        assert process.wait(5) == 0


def test_the_grace_ends_what_takes_too_long() -> None:
    with started("--grace", "0.2") as (sandbox, process), connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(latency=60_000)))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

        process.terminate()

        assert process.wait(5) == 0


def test_a_manifest_in_the_making_does_not_delay_the_end() -> None:
    with started("--grace", "0.1") as (sandbox, process), connected(sandbox.base_url) as client:
        client.sendall(request(sandbox.manifest(files=1, size="10GB")))
        wait_until(lambda: sandbox.stats()["all"]["in_flight"] == 1)

        process.terminate()

        assert process.wait(5) == 0


def test_it_ends_with_its_input() -> None:
    with started("--until-eof") as (_, process):
        assert process.stdin

        process.stdin.close()

        assert process.wait(5) == 0


def test_running_leaves_no_process_behind() -> None:
    with running() as sandbox:
        assert psutil.pid_exists(sandbox.pid)

    assert not psutil.pid_exists(sandbox.pid)


def test_a_port_in_use_is_told_in_a_sentence() -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = str(used.getsockname()[1])

        status, answer = what_it_says("--port", port)
        with pytest.raises(DidNotStart, match=f"--port {port}"):
            running(port=int(port)).__enter__()

    assert status == 1
    assert f"cannot listen on 127.0.0.1:{port}" in answer
    assert "Traceback" not in answer


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--port", "70000"], "0 to 65535"),
        (["--tls-cert", "x.pem"], "--tls-key"),
        (["--tls-cert", "no.pem", "--tls-key", "no.pem"], "no.pem is not a file"),
        (["--tls-cert", __file__, "--tls-key", __file__], "are no certificate and key"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    status, answer = what_it_says(*arguments)

    assert status != 0
    assert sentence in answer
    assert "Traceback" not in answer


def test_it_runs_in_the_loop_of_a_test() -> None:
    async def serve_and_ask() -> tuple[int, str | None]:
        server = await start()
        url = f"{server.base_url}/repo/size=4MB/file-000001.bin"
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.get(url) as response,
        ):
            received = await response.read()
        await server.stop()
        return len(received), urlsplit(server.base_url).hostname

    assert asyncio.run(serve_and_ask()) == (4_000_000, "127.0.0.1")


def test_a_simulator_of_pulp_has_a_port_of_its_own() -> None:
    with running(pulp={"workers": 3}) as sandbox:
        assert urlsplit(sandbox.pulp.base_url).port != urlsplit(sandbox.base_url).port
        assert sandbox.pulp.told()["behaviour"]["workers"] == 3


def test_without_being_asked_there_is_no_simulated_pulp() -> None:
    with running() as sandbox, pytest.raises(LookupError, match="pulp"):
        _ = sandbox.pulp


@pytest.mark.parametrize(
    ("settings", "said"),
    [('{"worker": 1}', "no such setting: worker"), ("{", "Expecting property name")],
)
def test_a_bad_setting_of_the_simulator_is_named(settings: str, said: str) -> None:
    code, error = what_it_says("--pulp-port", "0", "--pulp", settings)

    assert code == 2
    assert said in error


def test_a_port_of_the_simulator_that_is_taken_is_named() -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]

        code, error = what_it_says("--port", "0", "--pulp-port", str(port))

    assert code == 1
    assert f"127.0.0.1:0 or {port}" in error
