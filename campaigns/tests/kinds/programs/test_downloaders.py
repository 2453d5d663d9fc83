"""What every downloader engine has to do, against the sandbox and small servers of bad manners."""

import hashlib
import resource
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from campaigns.kinds.programs.health import Verdict, judge
from campaigns.kinds.programs.program import ROOT, ProgramFailed
from campaigns.kit.http.failures import FAILURES, NO_LENGTH
from campaigns.tests.kinds.programs.certificates import Authority
from campaigns.tests.kinds.programs.conftest import request_for
from campaigns.tests.kinds.programs.processes import keeping, lives, said, until
from campaigns.tests.kinds.programs.servers import asked, behaving, server
from sandbox.process import running

pytestmark = pytest.mark.system

EMPTY = hashlib.sha256(b"").hexdigest()


def failures(outcome) -> dict[str, int]:
    """Count the classes of failure; "" are the files that came."""
    counted = Counter(outcome.samples["failure"])
    assert set(counted) <= {"", *FAILURES}
    assert set(outcome.result["examples"]) == set(counted) - {""}
    return dict(counted)


def written(directory: Path) -> dict[str, str]:
    """Give the digests of all files by name, as they are on the disk."""
    root = directory / "files"
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("names", ["commas", "nested"])
def test_files_arrive_under_their_names(sandbox, download, tmp_path, names):
    url = sandbox.manifest(files=20, size="1000-50000", names=names)

    outcome = download(url)

    files = request_for(url, tmp_path)["files"]
    assert written(tmp_path) == {name: digest for name, digest, _ in files}
    assert failures(outcome) == {"": 20}
    assert sorted(outcome.samples["file"]) == list(range(20))
    assert sum(outcome.samples["bytes"]) == sum(size for _, _, size in files)
    assert not list((tmp_path / "partial").iterdir())


def test_empty_files_and_odd_names_arrive(download, tmp_path):
    names = ["a b", "q?x=1", "h#1", "p%41", "ü/日本", "-rf", "c,d", "new;y=&'"]
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    with server(any=answer) as url:
        outcome = download(url, files=[[name, EMPTY, 0] for name in names])

    assert failures(outcome) == {"": len(names)}
    assert written(tmp_path) == dict.fromkeys(names, EMPTY)


def test_each_sample_tells_the_times_of_its_file(sandbox, download):
    outcome = download(sandbox.manifest(files=12, size=1000, latency=30))

    samples, result = outcome.samples, outcome.result
    assert all(first > 15_000 for first in samples["first_byte_us"])
    assert all(
        total >= first
        for first, total in zip(samples["first_byte_us"], samples["total_us"], strict=True)
    )
    ends = [a + b for a, b in zip(samples["start_us"], samples["total_us"], strict=True)]
    assert max(ends) / 1e6 <= result["seconds"]
    assert set(samples["status"]) == {200}
    assert result["complete"]
    assert 0 < result["cpu_seconds"] <= outcome.cpu_seconds


def test_the_series_holds_every_byte(sandbox, download):
    outcome = download(sandbox.manifest(files=20, size=20480, latency=80))

    result = outcome.result
    *whole, last = result["bytes_per_second"]
    rest = result["seconds"] - len(whole) * result["step_seconds"]
    total = sum(whole) * result["step_seconds"] + last * rest
    assert total == pytest.approx(20 * 20480)
    assert len(whole) >= 1


@pytest.mark.parametrize("concurrency", [1, 30])
def test_the_server_sees_the_concurrency_that_was_asked_for(sandbox, download, concurrency, engine):
    label = f"seen-{concurrency}-{engine}"
    url = sandbox.manifest(files=60, size=1000, latency=400 if concurrency > 1 else 1, label=label)

    outcome = download(url, concurrency=concurrency)

    assert sandbox.stats()["labels"][label]["in_flight_max"] == concurrency
    assert outcome.hello["concurrency"] == concurrency


def test_the_effective_concurrency_is_told(sandbox, download):
    outcome = download(sandbox.manifest(files=60, latency=400), concurrency=30)

    figures, on_their_way = outcome.result["figures"], sum(outcome.samples["total_us"]) / 1e6
    assert on_their_way >= 60 * 0.4
    assert figures["effective_concurrency"] == pytest.approx(
        on_their_way / outcome.result["seconds"], rel=0.01
    )
    assert figures["effective_concurrency"] <= 30
    assert figures["reachable_concurrency"] == 30


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"missing": 0.2, "errors": 0.1, "corrupt": 0.1, "resets": 0.1, "truncated": 0.1},
            {"": 4, "4xx": 2, "5xx": 1, "digest": 1, "connect": 2},
        ),
        ({"stalls": 0.1}, {"": 9, "timeout": 1}),
        ({"longer": 0.1, "pages": 0.2}, {"": 7, "size": 3}),
        ({"manifest": "wrongsize"}, {"": 9, "size": 1}),
    ],
)
def test_a_failed_file_is_counted_by_its_class(sandbox, download, tmp_path, settings, expected):
    url = sandbox.manifest(files=10, size=20480, **settings)

    outcome = download(url, read_timeout_seconds=0.5)

    assert failures(outcome) == expected
    assert len(written(tmp_path)) == expected[""]
    assert not list((tmp_path / "partial").iterdir())
    assert outcome.result["complete"]


def test_a_file_that_is_too_small_is_a_failure_of_size(sandbox, download, tmp_path):
    url = sandbox.manifest(files=2, size=1000)
    files = request_for(url, tmp_path)["files"]
    files[0][2] = 1001

    assert failures(download(url, files=files)) == {"": 1, "size": 1}


def test_a_server_that_is_not_there_is_told_by_class(download):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    outcome = download(f"http://127.0.0.1:{port}/", files=[["a", EMPTY, 0]])

    assert failures(outcome) == {"connect": 1}


def test_a_name_that_nobody_knows_is_told_by_class(download):
    outcome = download("http://nowhere.invalid/", files=[["a", EMPTY, 0]], rules="*:*")

    assert failures(outcome) == {"dns": 1}


def test_answers_of_bad_manners_are_told_by_class(download, engine):
    redirect = b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
    answers = {
        "shell": (b"SSH-2.0-OpenSSH_9.2\r\n", "protocol"),
        "nothing": (b"", "connect"),
        "half": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123", "connect"),
        "no_content": (b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "protocol"),
        "loop": (redirect + b"Location: /loop\r\n\r\n", "protocol"),
        "nowhere": (redirect + b"\r\n", "protocol"),
        "ftp": (redirect + b"Location: ftp://x/\r\n\r\n", "protocol"),
        "cloud": (redirect + b"Location: http://169.254.169.254/\r\n\r\n", "address"),
        "number": (redirect + b"Location: http://2130706433/\r\n\r\n", "protocol"),
        "umlaut": (redirect + "Location: /ü ö\r\n\r\n".encode(), "connect"),
        "bytes": (redirect + b"Location: /\xff\xfe\r\n\r\n", "connect"),
    }
    asked: list[str] = []

    with server(asked, **{name: answer for name, (answer, _) in answers.items()}) as url:
        outcome = download(url, files=[[name, EMPTY, 9] for name in answers])

    assert "%C3%BC%20%C3%B6" in asked
    assert "%FF%FE" in asked
    expected = {name: failure for name, (_, failure) in answers.items()}
    told = zip(outcome.samples["file"], outcome.samples["failure"], strict=True)
    assert {list(answers)[index]: failure for index, failure in told} == expected


@pytest.mark.system
@pytest.mark.parametrize("length", ["1" * 23, str(2**64), str(2**63), "-1", "many"])
def test_a_length_that_is_no_number_of_bytes_is_one_failure_in_the_same_words(download, length):
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n" % length.encode()

    with server(any=answer + b"x" * 9) as url:
        outcome = download(url, files=[["a", EMPTY, 9]])

    assert outcome.result["examples"] == {"protocol": f"a: {NO_LENGTH}"}


def test_an_endless_body_is_broken_off(download, tmp_path):
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 1_000_000

    with server(any=answer) as url:
        outcome = download(url, files=[["a", EMPTY, 9]])

    assert failures(outcome) == {"size": 1}
    assert outcome.samples["bytes"][0] < 1_000_000


def test_an_address_that_the_rules_exclude_is_not_connected_to(sandbox, download):
    before = sandbox.stats()["all"]["requests"]
    url = sandbox.manifest(files=3, label="refused")
    named = url.replace("127.0.0.1", "localhost")

    by_address = download(url, files=[["a", EMPTY, 0]], rules="127.0.0.2:*")
    by_name = download(named, files=[["a", EMPTY, 0]], rules="127.0.0.2:*, other.example:*")

    assert failures(by_address) == failures(by_name) == {"address": 1}
    assert "PERFDASH_ALLOWED_ADDRESSES" in by_name.result["examples"]["address"]
    assert sandbox.stats()["all"]["requests"] == before


def test_a_rule_by_name_allows_what_the_name_resolves_to(sandbox, download):
    url = sandbox.manifest(files=3, size=100)

    outcome = download(url.replace("127.0.0.1", "localhost"), rules="localhost:*")

    assert failures(outcome) == {"": 3}


@pytest.mark.parametrize("rules", ["127.0.0.1:*", "127.0.0.1:*, 127.0.0.2:*"])
def test_a_redirect_to_another_server_is_not_followed(sandbox, download, rules):
    with running(host="127.0.0.2") as other:
        place = other.base_url.removeprefix("http://")
        url = sandbox.manifest(files=4, size=100, redirects=0.5, to=place)

        outcome = download(url, rules=rules)
        asked = other.stats()["all"]["requests"]

    assert failures(outcome) == {"": 2, "address": 2}
    assert asked == 0


def test_a_redirect_on_the_same_server_is_followed(sandbox, download):
    place = sandbox.base_url.removeprefix("http://")

    outcome = download(sandbox.manifest(files=4, size=100, redirects=0.5, to=place))

    assert failures(outcome) == {"": 4}


def test_a_certificate_that_nobody_trusts_is_told_by_class(download, tmp_path):
    server = Authority(tmp_path, "unknown").server()

    with running(tls=(server, server)) as encrypted:
        url = encrypted.manifest(files=2, size=100)
        untrusted = download(url, files=[["a", EMPTY, 0]])

    assert failures(untrusted) == {"tls": 1}


def test_certificates_of_the_environment_are_trusted_for_their_names(
    download, tmp_path, monkeypatch
):
    authority = Authority(tmp_path, "ours")
    server = authority.server()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    with running(tls=(server, server)) as encrypted:
        url = encrypted.manifest(files=1, size=0)
        files = [["file-000000.bin", EMPTY, 0]]
        by_address = download(url, files=files)
        other_name = url.replace("127.0.0.1", "localhost")
        by_name = download(other_name, files=files, rules="localhost:*")

    assert failures(by_address) == {"": 1}
    assert failures(by_name) == {"tls": 1}


def test_a_full_disk_is_told_by_class(sandbox, download, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    files = [*request_for(sandbox.manifest(files=3, size=1000), tmp_path)["files"]]
    large = request_for(sandbox.manifest(files=1, size=100_000), tmp_path)["files"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        small = download(sandbox.manifest(files=3, size=1000), files=files)
        outcome = download(sandbox.manifest(files=1, size=100_000), files=large)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert failures(small) == {"": 3}
    assert failures(outcome) == {"disk_full": 1}
    assert not list((tmp_path / "partial").iterdir())


def test_a_file_system_without_space_is_told_by_class(sandbox, download, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a small file system")
    try:
        outcome = download(sandbox.manifest(files=10, size=60_000), concurrency=1)
        files = written(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)  # noqa: S607

    counted = failures(outcome)
    assert set(counted) == {"", "disk_full"}
    assert len(files) == counted[""]


def test_no_name_leads_out_of_the_directory(sandbox, download, tmp_path):
    with pytest.raises(ProgramFailed, match="outside"):
        download(sandbox.manifest(files=1), files=[["../../x/y", EMPTY, 0]])

    assert not (tmp_path.parent / "x").exists()


def test_a_run_ends_at_its_time_limit_with_what_it_has(sandbox, download, tmp_path):
    url = sandbox.manifest(files=10, size=1000, stalls=0.5)

    for limit in (0.6, 2.0, 6.0, 18.0):
        directory = tmp_path / f"within-{limit}"
        outcome = download(
            url,
            directory=directory,
            concurrency=10,
            time_limit_seconds=limit,
            read_timeout_seconds=60.0,
        )
        if (
            len(outcome.samples.get("file", ())) == 5
        ):  # else this machine has too much to do for that limit
            break

    assert not outcome.result["complete"]
    assert not outcome.timed_out
    assert outcome.result["seconds"] >= limit
    assert failures(outcome) == {"": 5}
    assert len(written(directory)) == 5


def test_a_first_answer_that_does_not_come_holds_no_other_file_up(download):
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def serve(connection):
        if asked(connection) != "silent":
            connection.sendall(answer)
        else:
            asked(connection)  # until the client goes

    with behaving(serve) as (place, _):
        files = [[name, EMPTY, 0] for name in ("silent", "a", "b", "c")]
        outcome = download(f"http://{place}/", files=files, processes="1", time_limit_seconds=4.0)

    assert failures(outcome) == {"": 3}


def test_cancelling_empties_the_server(sandbox, download, engine):
    label = f"cancel-{engine}"
    url = sandbox.manifest(files=20, size="4MB", stalls=1, label=label)
    cancelled = threading.Event()

    def in_flight():
        return sandbox.stats()["labels"].get(label, {"in_flight": 0})["in_flight"]

    def cancel() -> None:
        until(lambda: in_flight() == 4)
        cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    outcome = download(url, cancelled=cancelled, read_timeout_seconds=20.0)
    thread.join()

    assert outcome.cancelled
    assert sandbox.stats()["labels"][label]["in_flight_max"] == 4
    assert until(lambda: in_flight() == 0, 10.0)


def test_an_engine_whose_keeper_is_killed_stops_loading(sandbox, engine, tmp_path):
    label = f"orphan-{engine}"
    url = sandbox.manifest(files=20, size="4MB", stalls=1, label=label)
    request = request_for(url, tmp_path, read_timeout_seconds=20.0)

    def in_flight():
        return sandbox.stats()["labels"][label]["in_flight"]

    with keeping(module=engine, request=request, lease_seconds=30.0) as keeper:
        said(keeper)
        assert until(lambda: in_flight() == 4)

        keeper.kill()

        assert until(lambda: in_flight() == 0, 10.0)
        assert until(lambda: not lives(keeper.pid))


def test_an_engine_without_descriptors_is_saturated(sandbox, engine, tmp_path):
    url = sandbox.manifest(files=200, size=1000, latency=100)
    request = request_for(url, tmp_path, concurrency=100)

    with keeping(
        module=engine, request=request, lease_seconds=30.0, limits={"RLIMIT_NOFILE": 40}
    ) as keeper:
        result = said_at_the_end(keeper)["result"]

    verdict = judge(result["figures"])
    assert result["examples"]["generator"]
    assert verdict.word == "saturated"
    assert "descriptors" in verdict.reasons[0]


def test_an_engine_with_little_to_do_is_not_marked(sandbox, download):
    outcome = download(sandbox.manifest(files=40, size=1000, latency=200))

    figures = outcome.result["figures"]
    calm = {"waited_share": 0.0, "loop_lag_p99_seconds": 0.0}  # this machine may be busy
    assert judge(figures | calm) == Verdict("healthy", ())
    assert {"cpu_cores", "machine_cpu_share", "descriptors", "exhausted"} <= set(figures)


@pytest.mark.parametrize(
    ("event_loop", "hashing"), [("asyncio", "executor"), ("uvloop", "loop"), ("uvloop", "executor")]
)
def test_the_levels_of_asyncio_are_in_force(sandbox, download, tmp_path, event_loop, hashing):
    outcome = download(
        sandbox.manifest(files=3, size="700000-900000"),
        engine="campaigns.kinds.downloader.engines.asyncio",
        event_loop=event_loop,
        hashing=hashing,
    )

    assert failures(outcome) == {"": 3}
    assert len(written(tmp_path)) == 3
    assert outcome.hello["event_loop"] == event_loop
    assert outcome.hello["hashing"] == hashing
    assert "loop_lag_max_seconds" in outcome.result["figures"]


def test_an_engine_describes_itself_without_downloading(sandbox, download, engine):
    before = sandbox.stats()["all"]["requests"]

    outcome = download("http://127.0.0.1:9/", files=[], only_describe=True)

    assert outcome.hello["engine"] in engine
    assert {"python"} < set(outcome.hello["libraries"])
    assert sandbox.stats()["all"]["requests"] == before


def test_an_engine_imports_no_django_and_no_database(engine):
    code = f"import {engine}, sys; print(*{{name.partition('.')[0] for name in sys.modules}})"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)

    loaded = set(done.stdout.decode().split())
    assert "campaigns" in loaded
    assert not loaded & {"django", "rest_framework", "celery", "kombu", "psycopg", "redis"}


def said_at_the_end(keeper):
    """Give the outcome, the last line that a keeper prints."""
    while "result" not in (line := said(keeper)):
        pass
    return line


def test_the_server_reads_who_loads_it(sandbox, engine, download):
    sender = f"perfdash attempt/{engine}"

    download(sandbox.manifest(files=3, size=10, label="sender"), sender=sender)

    assert sandbox.stats()["senders"][sender]["requests"] == 3
