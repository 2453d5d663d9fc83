import resource
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil
import pytest

from campaigns.kinds.base import (
    SIMULATOR,
    AddressRefused,
    Cancelled,
    DriverError,
    GeneratorFailed,
    LevelNotInForce,
    NotClean,
    TargetUnavailable,
)
from campaigns.kinds.base.places import url_of
from campaigns.kinds.downloader.driver import MODULES, driver
from campaigns.kinds.programs.program import ROOT
from campaigns.kinds.registry import driver_of
from campaigns.kit import histogram
from campaigns.kit.http.failures import FAILURES
from campaigns.kit.network import Rules, parse_rules
from campaigns.kit.units import UNITS
from campaigns.tests.kinds.programs.conftest import ENGINES
from campaigns.tests.kinds.programs.processes import until
from campaigns.tests.kinds.programs.servers import server
from campaigns.tests.kinds.recomputed import follows
from sandbox.grammar import manifest_path
from sandbox.process import running

RULES = parse_rules("127.0.0.1:*")


def parameters(**changes):
    """Give a cell's parameters as the form leaves them."""
    settings = changes.pop("settings", None)
    data = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    data |= {"concurrency": 4, "read_timeout_seconds": 5}
    data |= {"manifest": manifest_path(**settings) if settings else "PULP_MANIFEST"} | changes
    form = driver.parameters(data)
    assert form.is_valid(), form.errors
    return form.cleaned_data


def run(target, keeper, **changes):
    """Go through reset and measure."""
    context, values = keeper.context(), parameters(**changes)
    driver.reset(target, values, context)
    measured = driver.measure(target, values, context)
    follows(driver, measured)
    return measured


def test_the_kind_is_found_and_declares_what_it_measures():
    assert driver_of("downloader") is driver
    assert driver.primary_metric.name == "duration"
    assert {metric.unit for metric in driver.metrics} <= set(UNITS)
    assert set(driver.factors) | set(driver.work) <= set(driver.parameters.base_fields)
    assert driver.estimate_seconds(parameters()) > 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("manifest", ""),
        ("manifest", "../PULP_MANIFEST"),
        ("manifest", "a b"),
        ("manifest", "PULP_MANIFEST?x=1"),
        ("manifest", "PULP\x00MANIFEST"),
        ("manifest", "ftp://a.example/PULP_MANIFEST"),
        ("manifest", "http://user:secret@a.example/PULP_MANIFEST"),
        ("manifest", "x" * 501),
        ("engine", "wget"),
        ("http_version", "3"),
        ("processes", "3"),
        ("concurrency", 0),
        ("concurrency", 1001),
        ("concurrency", "many"),
        ("event_loop", "trio"),
        ("hashing", "nowhere"),
        ("read_timeout_seconds", 0),
        ("read_timeout_seconds", "nan"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_at_its_field(name, value):
    data = {field: known.initial for field, known in driver.parameters.base_fields.items()}

    form = driver.parameters(data | {name: value})

    assert list(form.errors) == [name]


def test_as_many_requests_at_a_time_are_asked_for_as_the_concurrency_says():
    assert driver.concurrency(parameters(concurrency=37)) == 37


@pytest.mark.parametrize(
    ("base", "written", "url"),
    [
        ("http://h:1", "PULP_MANIFEST", "http://h:1/PULP_MANIFEST"),
        ("http://h:1/a/", "/b/PULP_MANIFEST", "http://h:1/a/b/PULP_MANIFEST"),
        ("http://h:1/a", "https://other/x", "https://other/x"),
        ("http://h", "f=1,n=2/ü%20x", "http://h/f=1,n=2/%C3%BC%20x"),
    ],
)
def test_a_manifest_stands_below_the_target_unless_it_is_a_whole_url(base, written, url):
    assert url_of(base, written) == url


def test_a_probe_tells_that_the_server_answers(target, keeper):
    proofs = driver.probe(target, RULES)

    assert [proof.ok for proof in proofs] == [True, True]
    assert proofs[0].measured == 200


def test_the_sandbox_is_a_simulator_and_says_so_itself(target, keeper):
    facts = driver.environment(target, keeper.context())

    assert facts == {"server": "perfdash-sandbox", SIMULATOR: "sandbox of perfdash"}


def test_a_server_of_another_name_is_no_simulator(target, keeper, monkeypatch):
    monkeypatch.setattr("campaigns.kinds.downloader.driver.SANDBOX", "another")

    assert driver.environment(target, keeper.context()) == {"server": "perfdash-sandbox"}


def test_a_probe_says_what_is_wrong(target):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(TargetUnavailable, match=r"no connection.*Check that the server runs"):
        driver.probe(replace(target, base_url=f"http://127.0.0.1:{port}"), RULES)
    with pytest.raises(AddressRefused, match="PERFDASH_ALLOWED_ADDRESSES"):
        driver.probe(target, Rules())
    named = replace(target, base_url=target.base_url.replace("127.0.0.1", "localhost"))
    with pytest.raises(AddressRefused, match="PERFDASH_ALLOWED_ADDRESSES"):
        driver.probe(named, parse_rules("127.0.0.2:*"))
    with pytest.raises(DriverError, match="http"):
        driver.probe(replace(target, base_url="gopher://x"), RULES)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_attempt_goes_through_its_steps(target, keeper, engine):
    context = keeper.context()
    values = parameters(
        settings={"files": 40, "size": "1000-30000", "names": "commas"}, engine=engine
    )
    context.directory.mkdir()
    (context.directory / "left over").write_text("x")

    clean = driver.reset(target, values, context)
    settings = driver.apply(target, values, context)
    measured = driver.measure(target, values, context)
    work = driver.verify(target, values, context, measured)

    assert all(proof.ok for proof in clean)
    assert [proof.measured for proof in clean[:2]] == [0, 0]
    assert all(setting.ok for setting in settings)
    assert {setting.name for setting in settings} >= set(driver.factors)
    assert (measured.units_done, measured.units_failed) == (40, 0)
    assert measured.failure == ""
    assert not measured.censored
    assert all(proof.ok for proof in work)
    assert work[0].measured == 40
    driver.clean_up(target, values, context)
    assert not context.directory.exists()


def test_measurements_belong_together(target, keeper):
    measured = run(target, keeper, settings={"files": 40, "size": 20000, "latency": 10})

    values = measured.values
    declared = {metric.name for metric in driver.metrics}
    assert set(values) == declared - {"file_time_p95"}  # needs 200 files
    assert values["throughput"] * values["duration"] == pytest.approx(0.8)
    assert values["file_rate"] * values["duration"] == pytest.approx(40)
    assert values["failed_files"] == 0
    assert 2 < values["effective_concurrency"] <= 4
    assert values["file_time_p50"] > 5
    assert values["cpu_seconds"] > 0
    assert 10 < values["peak_memory"] < 1000
    assert {len(column) for column in measured.samples.values()} == {40}
    assert min(measured.samples["first_byte_seconds"]) > 0.005
    assert {entry.name: entry.count for entry in measured.distributions} == {
        "file_time": 40,
        "first_byte": 40,
    }
    summary = histogram.summarise(measured.distributions[0].encoded)
    assert summary.minimum == pytest.approx(min(measured.samples["total_seconds"]) * 1e6, rel=1e-3)
    assert sum(phase.seconds for phase in measured.phases) == pytest.approx(values["duration"])
    assert measured.series[0].unit == "MB/s"
    assert measured.health.verdict in ("healthy", "warned", "starved", "saturated")
    assert measured.health.figures["reachable_concurrency"] == 4


def test_a_failed_file_is_counted_and_the_rest_is_proved(target, keeper):
    context = keeper.context()
    values = parameters(settings={"files": 20, "missing": 0.1, "corrupt": 0.05})

    driver.reset(target, values, context)
    measured = driver.measure(target, values, context)
    proofs = driver.verify(target, values, context, measured)

    assert measured.failures == {"4xx": 2, "digest": 1}
    assert measured.values["failed_files"] == 3
    assert measured.failure == ""
    assert all(proof.ok for proof in proofs)
    assert proofs[0].expected == 17
    assert any("the server answered 404" in line for line in keeper.lines)


def test_a_run_of_which_too_much_fails_is_cut_short(target, keeper):
    context = replace(keeper.context(), most_failed=0.05)
    values = parameters(settings={"files": 100, "errors": 0.5, "latency": 200})
    driver.reset(target, values, context)

    measured = driver.measure(target, values, context)

    failed = measured.units_failed
    assert measured.failure.startswith(f"Cut short: {failed} of 100 files had failed")
    assert 5 < failed < 50
    assert (measured.units_done, measured.values) == (100 - failed, {})


def test_a_run_without_any_file_fails_in_words(target, keeper):
    measured = run(target, keeper, settings={"files": 5, "errors": 1})

    assert "All 5 files failed (5 5xx)" in measured.failure
    assert "duration" not in measured.values
    assert measured.values["failed_files"] == 5


def test_a_run_that_takes_too_long_is_a_lower_limit(target, keeper):
    keeper.deadline_seconds = 0.5

    measured = run(target, keeper, settings={"files": 10, "size": 1000, "stalls": 0.5})

    assert "duration" in measured.censored
    assert measured.values["duration"] >= 0.5
    assert "throughput" not in measured.values
    assert "time limit of 0.5 s" in measured.failure
    assert measured.units_done + measured.units_failed < 10


def test_a_path_that_looks_like_half_an_address_is_only_a_path():
    assert parameters(manifest="//[")["manifest"] == "//["


@pytest.mark.parametrize(
    "damage",
    [
        lambda root: (root / "file-000003.bin").write_bytes(b"x" * 1000),
        lambda root: (root / "file-000003.bin").unlink(),
        lambda root: (root / "another").write_bytes(b""),
    ],
    ids=["changed", "removed", "added"],
)
def test_verify_does_not_believe_the_engine(target, keeper, damage):
    context = keeper.context()
    values = parameters(settings={"files": 5, "size": 1000})
    driver.reset(target, values, context)
    measured = driver.measure(target, values, context)

    damage(context.directory / "files")

    assert not all(proof.ok for proof in driver.verify(target, values, context, measured))


def test_verify_can_be_cancelled_between_files(target, keeper):
    context = keeper.context()
    values = parameters(settings={"files": 5, "size": 1000})
    driver.reset(target, values, context)
    measured = driver.measure(target, values, context)

    keeper.cancelled.set()

    with pytest.raises(Cancelled):
        driver.verify(target, values, context, measured)


@pytest.mark.parametrize(
    ("kind", "error", "says"),
    [
        ("missing", DriverError, "answered 404"),
        ("error", TargetUnavailable, "answered 500"),
        ("empty", DriverError, "is empty"),
        ("truncated", DriverError, "Line 5"),
        ("notutf8", DriverError, "Line 1 .*UTF-8"),
        ("html", DriverError, "Line 1 .*PULP_MANIFEST"),
        ("traversal", DriverError, r"Line 1 .*\.\./"),
        ("absolute", DriverError, "absolute"),
        ("duplicates", DriverError, "Line 2 .*line 1"),
        ("negative", DriverError, "Line 1 .*size"),
        ("absurd", DriverError, "Line 1 .*size"),
        ("badhex", DriverError, "Line 1 .*SHA-256"),
        ("hang", TargetUnavailable, "nothing came for too long"),
        ("reset", TargetUnavailable, "lost"),
    ],
)
def test_a_bad_manifest_is_told_in_words(target, keeper, kind, error, says):
    values = parameters(settings={"files": 5, "manifest": kind}, read_timeout_seconds=0.3)

    with pytest.raises(DriverError, match=says) as caught:
        driver.reset(target, values, keeper.context())

    assert type(caught.value) is error


def test_an_endless_manifest_ends(target, keeper, monkeypatch):
    monkeypatch.setattr("campaigns.kinds.programs.manifest.MOST_BYTES", 100_000)

    with pytest.raises(DriverError, match="more than 100000 bytes"):
        driver.reset(target, parameters(settings={"manifest": "endless"}), keeper.context())


def test_a_manifest_elsewhere_is_under_the_rules(target, keeper):
    elsewhere = parameters(manifest="http://127.0.0.2:1/PULP_MANIFEST")
    redirected = parameters(settings={"manifest": "redirect", "to": "127.0.0.2:9000"})

    for values in (elsewhere, redirected):
        with pytest.raises(AddressRefused):
            driver.reset(target, values, keeper.context())


@pytest.mark.parametrize("kind", ["manifest", "file"])
def test_another_server_that_the_rules_allow_is_not_loaded_either(target, keeper, kind):
    keeper.rules = "127.0.0.0/8:*"
    with running(host="127.0.0.2") as other:
        to = {"to": other.base_url.removeprefix("http://")}
        if kind == "manifest":
            with pytest.raises(AddressRefused, match="another server than the one that this run"):
                run(target, keeper, settings={"files": 2, "manifest": "redirect"} | to)
        else:
            measured = run(target, keeper, settings={"files": 2, "redirects": 0.5} | to)
            assert measured.failures == {"address": 1}
        assert other.stats()["all"]["requests"] == 0


def test_a_probe_is_not_led_to_another_server(target):
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n"

    with server(any=answer) as url:
        proofs = driver.probe(replace(target, base_url=url), RULES)

    assert proofs[0].measured == 302


class GetAlone(BaseHTTPRequestHandler):
    """The server of the standard library: it answers 501 to what it has no method for."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def test_a_server_without_head_is_reachable(target):
    with HTTPServer(("127.0.0.1", 0), GetAlone) as listening:
        threading.Thread(target=listening.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{listening.server_port}/"
            proofs = driver.probe(replace(target, base_url=url), RULES)
        finally:
            listening.shutdown()

    assert [proof.ok for proof in proofs] == [True, True]
    assert proofs[0].measured == 200


def test_a_level_above_what_the_owner_allows_does_not_take_effect(target, keeper):
    keeper.most_concurrent = 3
    values, context = parameters(settings={"files": 4}, concurrency=8), keeper.context()

    wrong = [setting for setting in driver.apply(target, values, context) if not setting.ok]

    assert [(setting.name, setting.asked, setting.in_force) for setting in wrong] == [
        ("concurrency", 8, 3)
    ]
    assert "The target's owner allows 3 requests at a time" in wrong[0].why
    driver.reset(target, values, context)
    with pytest.raises(LevelNotInForce, match="owner allows 3 requests at a time"):
        driver.measure(target, values, context)


@pytest.mark.parametrize("engine", sorted(MODULES))
def test_a_whole_run_keeps_to_the_rate_of_the_owner(target, keeper, sandbox, engine):
    keeper.most_per_second = 25
    keeper.sender = f"perfdash attempt/rate-{engine}"
    context = keeper.context()
    values = parameters(settings={"files": 20, "size": 100}, engine=engine, concurrency=20)

    driver.reset(target, values, context)
    driver.apply(target, values, context)
    driver.environment(target, context)
    measured = driver.measure(target, values, context)

    seen = sandbox.stats()["senders"][keeper.sender]
    assert seen["requests"] == 21  # the head of / is no request to a repository
    assert seen["per_second_max"] <= 25
    assert measured.units_done == 20
    assert measured.health.verdict == "saturated"
    assert any(
        "held back by the target's limit of 25 requests/s" in r for r in measured.health.reasons
    )


def test_a_disk_without_room_is_seen_before_the_clock(target, keeper):
    line = f"huge,{'0' * 64},{2**40}\n".encode()
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + line

    with server(any=answer) as url:
        proofs = driver.reset(target, parameters(manifest=url), keeper.context())

    assert [proof.name for proof in proofs if not proof.ok] == ["free disk of the generator"]


@contextmanager
def room_for(size):
    """Within the test only: its own report may go to a file too. Engines that are loaded have a limit of their own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(soft):
        for process in (psutil.Process(), *psutil.Process().children()):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (soft, before[1]))

    limit(size)
    try:
        yield
    finally:
        limit(before[0])


def test_a_manifest_for_which_there_is_no_room_is_told(target, keeper):
    told = r"File too large\. Make room in WORK_DIRECTORY"
    with pytest.raises(NotClean, match=told), room_for(10):
        driver.reset(target, parameters(settings={"files": 1}), keeper.context())


def test_a_file_for_which_there_is_no_room_says_nothing_of_the_target(target, keeper):
    values = parameters(settings={"files": 3, "size": 100_000})
    driver.reset(target, values, keeper.context())
    driver.apply(target, values, keeper.context())

    told = r"3 files failed \(disk_full.*Make room in WORK_DIRECTORY"
    with pytest.raises(GeneratorFailed, match=told) as caught, room_for(50_000):
        driver.measure(target, values, keeper.context())

    assert caught.value.void


def test_a_directory_that_cannot_be_made_is_told(target, keeper):
    keeper.directory.write_text("a file stands here")

    with pytest.raises(NotClean, match="WORK_DIRECTORY"):
        driver.reset(target, parameters(settings={"files": 1}), keeper.context())


def test_cancelling_a_measurement_stops_the_load(target, keeper, sandbox):
    settings = {"files": 20, "size": "4MB", "stalls": 1, "label": "driver-cancel"}

    def in_flight():
        counts = sandbox.stats()["labels"].get("driver-cancel")
        return counts["in_flight"] if counts else 0

    def cancel() -> None:
        until(lambda: in_flight() == 4)
        keeper.cancelled.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        run(target, keeper, settings=settings)
    thread.join()

    assert until(lambda: in_flight() == 0, 10.0)


def test_cancelling_while_the_manifest_hangs_ends_the_wait(target, keeper):
    timer = threading.Timer(0.3, keeper.cancelled.set)
    timer.start()

    with pytest.raises(Cancelled):
        driver.reset(target, parameters(settings={"manifest": "hang"}), keeper.context())


def test_progress_is_passed_on(target, keeper):
    run(target, keeper, settings={"files": 30, "size": 1000, "latency": 80})

    assert keeper.progress
    # A kernel may not count how long threads wait for a CPU.
    assert set(keeper.progress[0]) - {"waited_share"} == {
        "files", "files_done", "files_failed", "own_failures", "bytes", "seconds", "step_seconds",
        "rate_series",
    }  # fmt: skip
    assert keeper.progress[-1]["files_done"] <= 30


def test_an_engine_that_crashes_is_told_with_its_words(target, keeper, monkeypatch):
    monkeypatch.setitem(MODULES, "asyncio", "campaigns.kinds.downloader.engines.no_such_engine")

    with pytest.raises(GeneratorFailed, match="No module named") as caught:
        driver.apply(target, parameters(settings={"files": 1}), keeper.context())

    assert caught.value.void


@pytest.mark.parametrize("engine", ["asyncio", "futures", "curl"])
def test_the_program_of_apply_measures_and_is_replaced_where_it_has_ended(target, keeper, engine):
    values = parameters(settings={"files": 2}, engine=engine)
    context = keeper.context()
    driver.reset(target, values, context)
    driver.apply(target, values, context)
    _, waiting = driver._waiting.get(context.directory, (None, None))

    assert (waiting is None) == (engine == "curl")
    assert driver.measure(target, values, context).units_done == 2
    assert waiting is None or not waiting.is_waiting()
    assert driver.measure(target, values, context).units_done == 2
    driver.clean_up(target, values, context)
    assert context.directory not in driver._waiting


def test_an_engine_with_another_level_in_force_is_found(target, keeper, monkeypatch):
    monkeypatch.setitem(MODULES, "futures", MODULES["asyncio"])
    values = parameters(settings={"files": 2}, engine="futures")

    settings = driver.apply(target, values, keeper.context())

    assert [setting.name for setting in settings if not setting.ok] == ["engine"]
    with pytest.raises(LevelNotInForce, match="engine was to be futures"):
        driver.measure(target, values, keeper.context())


def test_the_page_about_the_kind_names_all_that_there_is():
    page = (ROOT / "docs" / "reference" / "kinds" / "downloader.md").read_text()

    for name in driver.parameters.base_fields:
        assert f"| `{name}` |" in page
    for metric in driver.metrics:
        assert f"`{metric.name}`" in page
    for name, meaning in FAILURES.items():
        assert f"| `{name}` | {meaning} |" in page


def test_what_the_sandbox_offers_it_has_and_what_it_has_not_is_said(target):
    offered = driver.offers(target.base_url, target.base_url)["manifest"]

    for each in offered:
        driver.look(target, parameters(manifest=each), RULES)
    with pytest.raises(DriverError, match=r"/PULP_MANIFEST answered 404 .* check the parameter"):
        driver.look(target, parameters(), RULES)
    assert driver.offers("http://127.0.0.1:9/", target.base_url) == {}
    assert driver.offers(f"{target.base_url}/repo", target.base_url) == {}


def test_a_server_that_is_away_is_told_apart_from_a_wrong_path(target):
    away = replace(target, base_url="http://127.0.0.1:9")

    with pytest.raises(TargetUnavailable):
        driver.look(away, parameters(), RULES)
