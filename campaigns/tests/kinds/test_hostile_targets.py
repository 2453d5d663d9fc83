"""Targets of bad manners, through the whole driver: an honest end, and little memory."""

import gc
import hashlib
import socket
import struct

import pytest

from campaigns.kinds.base import DriverError, TargetUnavailable
from campaigns.kinds.downloader.driver import driver
from campaigns.tests.kinds.conftest import Keeper
from campaigns.tests.kinds.programs import manners
from campaigns.tests.kinds.programs.conftest import ENGINES
from campaigns.tests.kinds.programs.manners import GOOD, SENT, SIZE, answer, expected
from campaigns.tests.kinds.programs.servers import asked, behaving
from campaigns.tests.kinds.test_downloader import parameters

DIGEST = hashlib.sha256(GOOD).hexdigest()
EACH = pytest.mark.parametrize("engine", ENGINES)
MOST_MEMORY_MB = 64
"""What a run may take more than one that only fetches the good file."""


USUAL_MEMORY_MB = {"curl": 120}
"""Three processes."""


class Repository(manners.Server):
    """The paths of bad manners, with a manifest that lists some of them."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.manifest = answer("".join(f"{name},{DIGEST},{SIZE}\n" for name in names).encode())

    def answer(self, connection: socket.socket, name: str) -> None:
        if name == "PULP_MANIFEST":
            connection.sendall(self.manifest)
        else:
            super().answer(connection, name)


def run(target, keeper: Keeper, names: list[str], **changes):
    """Measure what a manifest with those paths leads to."""
    with behaving(Repository(names)) as (place, _):
        values = parameters(manifest=f"http://{place}/PULP_MANIFEST", concurrency=8, **changes)
        context = keeper.context()
        assert all(proof.ok for proof in driver.reset(target, values, context))
        measured = driver.measure(target, values, context)
        proofs = driver.verify(target, values, context, measured)
    return measured, proofs


@EACH
def test_each_bad_answer_fails_its_file_by_class_in_little_memory(target, keeper, engine):
    by_name = {name: want for name, want in expected(engine).items() if want != "time"}

    quiet, _ = run(target, keeper, ["good"], engine=engine)
    measured, proofs = run(target, keeper, list(by_name), engine=engine, read_timeout_seconds=1)

    told = dict(zip(measured.samples["file"], measured.samples["failure"], strict=True))
    assert told == by_name
    assert measured.failure == ""
    assert all(proof.ok for proof in proofs[:3])
    assert measured.values["peak_memory"] < quiet.values["peak_memory"] + MOST_MEMORY_MB


@EACH
def test_answers_that_get_nowhere_end_with_the_run(target, keeper, engine):
    names = ["good", *(name for name, want in expected(engine).items() if want == "time")]

    for limit in (2, 4, 8, 16, 32):
        keeper.deadline_seconds = float(limit)
        measured, _ = run(target, keeper, names, engine=engine, read_timeout_seconds=1)
        if measured.units_done:  # else this machine has too much to do for so short a run
            break

    assert f"time limit of {limit} s" in measured.failure
    assert (measured.units_done, measured.units_failed) == (1, 0)
    assert "duration" in measured.censored
    assert measured.values["peak_memory"] < USUAL_MEMORY_MB.get(engine, 40) + MOST_MEMORY_MB


@pytest.mark.system
@EACH
def test_what_trickles_ends_with_the_limit_of_a_file(target, keeper, engine):
    names = ["slow-head", "slow-body", "slow-100s"]

    measured, _ = run(target, keeper, names, engine=engine, file_timeout_seconds=0.3)

    assert "All 3 files failed (3 timeout)" in measured.failure
    assert any("it was not whole after 0.3 s" in line for line in keeper.lines)


@pytest.mark.system
def test_a_manifest_that_trickles_ends_with_the_limit_of_a_file(target, keeper):
    with behaving(manners.Server()) as (place, _):
        values = parameters(manifest=f"http://{place}/slow-body", file_timeout_seconds=0.3)
        with pytest.raises(TargetUnavailable, match=r"took more than 0\.3 s"):
            driver.reset(target, values, keeper.context())


@EACH
def test_one_wrong_byte_in_file_399_of_400_is_found(target, keeper, engine):
    names = [f"file-{number}" for number in range(1, 401)]

    def serve(connection: socket.socket) -> None:
        while name := asked(connection):
            wrong = name == "file-399"
            body = GOOD[:-1] + b"y" if wrong else GOOD
            manifest = Repository(names).manifest
            kept = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body
            connection.sendall(manifest if name == "PULP_MANIFEST" else kept)

    measured, proofs = measure_from(serve, target, keeper, engine=engine)

    failed = {
        name
        for name, failure in zip(measured.samples["file"], measured.samples["failure"], strict=True)
        if failure
    }
    assert failed == {"file-399"}
    assert measured.failures == {"digest": 1}
    assert [(proof.name, proof.measured) for proof in proofs[:1]] == [("files on disk", 399)]


@EACH
def test_connections_that_are_reset_in_bursts_are_counted(target, keeper, engine):
    """Three of four connections end at once; nobody asks a second time."""
    names = [f"file-{number}" for number in range(12)]
    connections = iter(range(1000))

    def serve(connection: socket.socket) -> None:
        name = asked(connection)
        if name == "PULP_MANIFEST":
            connection.sendall(Repository(names).manifest)
        elif next(connections) % 4 == 3:
            connection.sendall(answer(GOOD))
        else:
            reset(connection)

    measured, _ = measure_from(serve, target, keeper, engine=engine, concurrency=1)

    assert measured.failures == {"connect": 9}
    assert measured.units_done == 3
    assert next(connections) == 12


@EACH
@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_server_that_hangs_up_on_every_file_fails_the_run(target, keeper, engine, end):
    names = ["a", "b", "c"]
    manifests = iter([Repository(names).manifest])

    def serve(connection: socket.socket) -> None:
        if first := next(manifests, b""):
            asked(connection)
            connection.sendall(first)
        elif end == "reset":
            reset(connection)

    measured, _ = measure_from(serve, target, keeper, engine=engine)

    assert "All 3 files failed (3 connect)" in measured.failure


def measure_from(serve, target, keeper: Keeper, **changes):
    """Measure against a server, and verify."""
    with behaving(serve) as (place, _):
        values = parameters(manifest=f"http://{place}/PULP_MANIFEST", **changes)
        context = keeper.context()
        driver.reset(target, values, context)
        measured = driver.measure(target, values, context)
        return measured, driver.verify(target, values, context, measured)


def reset(connection: socket.socket) -> None:
    """End a connection with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


ANSWERS = {
    "no-content-with-body", "not-modified-with-body", "partial", "storm-of-103", "switching",
}  # fmt: skip
"""What is no file, but an answer: its status is told."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", sorted(SENT))
def test_a_manifest_of_bad_manners_ends_in_words(target, keeper, monkeypatch, name):
    monkeypatch.setattr("campaigns.kinds.programs.manifest.MOST_BYTES", 2_000_000)
    wanted = expected("futures")[name]
    read = wanted in ("", "size", "digest") or name in ANSWERS
    patience, keeper.deadline_seconds = (20, 30) if read else (0.4, 0.6)
    served = manners.Server()

    with behaving(served) as (place, _):
        values = parameters(manifest=f"http://{place}/{name}", read_timeout_seconds=patience)
        with pytest.raises(DriverError) as caught:
            driver.reset(target, values, keeper.context())

    gc.collect()  # urllib3 leaves an answer open where its lengths contradict each other
    assert type(caught.value) is (DriverError if read else TargetUnavailable)
    assert served.sent.get(name, 0) < 30_000_000


@pytest.mark.slow
def test_a_manifest_of_100000_lines_fits_into_bounded_memory(target, keeper):
    begin_100000_files(target, keeper, ENGINES[0])


@pytest.mark.nightly
@pytest.mark.slow
@EACH
def test_a_manifest_of_100000_lines_fits_into_bounded_memory_of_each_engine(target, keeper, engine):
    begin_100000_files(target, keeper, engine)


def begin_100000_files(target, keeper, engine):
    """The begin of such a run: all of it takes minutes."""
    values = parameters(
        settings={"files": 100_000, "size": "0-9"},
        engine=engine,
        concurrency=20,
        read_timeout_seconds=60,
    )
    keeper.deadline_seconds = 900
    driver.reset(target, values, keeper.context())

    keeper.deadline_seconds = 3
    measured = driver.measure(target, values, keeper.context())

    assert "of 100000 files (0 failed)" in measured.failure
    assert measured.units_done > 0
    assert measured.values["peak_memory"] < 400
