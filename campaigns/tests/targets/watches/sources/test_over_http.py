"""Sources over HTTP read recorded answers, and say what is wrong with others."""

import json
from threading import Event
from urllib.parse import parse_qs, urlsplit

import pytest

from campaigns.kit.network import NetworkError, parse_rules
from campaigns.targets.watches.base import Access, Group, Key, Span, WatchFailed
from campaigns.targets.watches.catalog import CATALOG, QUEUE_ROLES
from campaigns.targets.watches.over_ssh import ssh_address
from campaigns.targets.watches.polling import Missed, look_in_steps
from campaigns.targets.watches.queues import haproxy_values, puma_values
from campaigns.targets.watches.registry import all_sources
from campaigns.targets.watches.sources import (
    apache,
    haproxy,
    node_exporter,
    pcp,
    process_exporter,
    prometheus,
    pulp,
    puma,
)
from campaigns.targets.watches.sources.puma import control_of
from campaigns.tests.targets.watches.sources.sinks import LOOPBACK, Collected, Looks, watched
from campaigns.tests.targets.watches.sources.web_server import recorded, serving

LIVE = [
    (node_exporter.source, "node_exporter.txt"),
    (haproxy.source, "haproxy.csv"),
    (apache.source, "apache.txt"),
    (puma.source, "puma_workers.json"),
]
SECRET = "hunter2-of-the-watch"  # noqa: S105
ANSWERS = [
    b"",
    b"{}",
    b"[]",
    b"[" * 100_000,
    b'{"worker_status": [{"last_status": {"max_threads": "x"}}, 3, null]}',
    b'{"status": "success", "data": {"result": [{"metric": 3}, {"metric": {}, "values": [[], "x", [1, []]]}]}}',
    b"# pxname,svname,\n\xff\xfe,,,\n",
    b"node_load1 NaN\nnode_load1{\nnode_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 1e999\nnode_load1 {} x",
    b"BusyWorkers: many\nIdleWorkers: -1\n",
    b"BusyWorkers: 1e400\nIdleWorkers: 1\n",
]  # fmt: skip


@pytest.mark.parametrize(("source", "name"), LIVE, ids=lambda each: getattr(each, "name", ""))
def test_a_recorded_answer_gives_known_quantities_and_the_clock(source, name):
    with serving(recorded(name)) as server:
        sink = watched(source, server.place, looks=3)

    assert len(sink.frames) == 3
    assert len(sink.clocks) >= 3
    for key in sink.frames[0].values:
        assert key.quantity in CATALOG
        assert bool(key.label) <= bool(CATALOG[key.quantity].label)
        if key.quantity.startswith("queue."):
            assert key.label.split()[0] in QUEUE_ROLES


def test_node_exporter_is_asked_for_its_twelve_collectors_and_its_clock():
    with serving(recorded("node_exporter.txt")) as server:
        sink = watched(node_exporter.source, server.place)

    assert parse_qs(urlsplit(server.requests[0][0]).query)["collect[]"] == list(
        node_exporter.COLLECTORS
    )
    (frame, _) = sink.frames
    assert frame.at == pytest.approx(1795718871.9134164, abs=0.001)
    assert frame.uptime == pytest.approx(frame.at - 1.795632495e09)
    assert sink.clocks[0].clock == frame.at
    assert sink.last("cpu.user") == pytest.approx(51780.87 + 52054.28)
    assert sink.last("cpu.core_busy", "0") == pytest.approx(
        51780.87 + 5651.8 + 9794.65 + 441.92 + 30.83
    )
    assert sink.last("disk.busy", "vda") == 1937.98
    assert sink.labels("disk.busy") == {"vda"}
    assert sink.labels("net.received") == {"eth0"}
    assert sink.last("memory.swap_used") == 0.0
    assert 0 < sink.last("disk.free", "/") < 1
    assert sink.last("pressure.cpu.some") == 52170.621642
    assert sink.facts["cores"] == 2.0
    assert sink.cpu_seconds == [0.0, 0.0]


def test_a_machine_that_starts_with_more_cores_is_told_with_these():
    cores, booted = [1], [1000.0]

    def answer(_, __):
        lines = [f'node_cpu_seconds_total{{cpu="{n}",mode="user"}} 5' for n in range(cores[0])]
        lines += ["node_time_seconds 5000", f"node_boot_time_seconds {booted[0]}"]
        return 200, "\n".join(lines).encode() + b"\n"

    def restart():
        cores[0], booted[0] = 4, 4990.0

    with serving(answer) as server:
        sink = watched(node_exporter.source, server.place, between=restart)

    assert sink.facts["cores"] == 4.0


def test_a_node_exporter_without_one_of_the_collectors_is_asked_for_all():
    def answer(path, _):
        return (
            (400, b"missing collector")
            if "collect" in path
            else (200, recorded("node_exporter.txt"))
        )

    with serving(answer) as server:
        sink = watched(node_exporter.source, server.place)

    assert sink.last("cpu.load") > 0
    assert server.requests[-1][0] == "/metrics"


PROGRAMS = b"""\
# TYPE namedprocess_namegroup_cpu_seconds_total counter
namedprocess_namegroup_cpu_seconds_total{groupname="puma",mode="user"} 12.5
namedprocess_namegroup_cpu_seconds_total{groupname="puma",mode="system"} 2.5
namedprocess_namegroup_cpu_seconds_total{groupname="puma: cluster",mode="user"} 1
namedprocess_namegroup_cpu_seconds_total{groupname="cron",mode="user"} 0.5
namedprocess_namegroup_num_procs{groupname="puma"} 3
namedprocess_namegroup_num_threads{groupname="puma"} 40
namedprocess_namegroup_memory_bytes{groupname="puma",memtype="virtual"} 9e+09
namedprocess_namegroup_memory_bytes{groupname="puma",memtype="resident"} 2e+09
namedprocess_namegroup_memory_bytes{groupname="puma",memtype="proportionalResident"} 1.5e+09
namedprocess_namegroup_memory_bytes{groupname="cron",memtype="proportionalResident"} NaN
namedprocess_namegroup_worst_fd_ratio{groupname="puma"} 0.25
namedprocess_namegroup_worst_fd_ratio{groupname="puma: cluster"} 0.5
"""


def test_programs_of_process_exporter_are_put_into_the_groups_of_the_target():
    groups = (Group("puma", ("foreman.service", "puma*")), Group("postgres", ("postgres*",)))
    with serving(PROGRAMS) as server:
        sink = watched(process_exporter.source, server.place, groups=groups)

    assert sink.last("group.cpu", "puma") == 16.0
    assert sink.last("group.cpu", "others") == 0.5
    assert sink.last("group.memory", "puma") == 1.5e9
    assert sink.labels("group.memory") == {"puma"}
    assert (sink.last("group.processes", "puma"), sink.last("group.threads", "puma")) == (3, 40)
    assert sink.last("group.descriptors", "puma") == 0.5
    assert sink.labels("group.cpu") == {"puma", "others"}


def test_memory_that_is_shared_counts_in_each_process_where_process_exporter_knows_no_more():
    plain = b"".join(line + b"\n" for line in PROGRAMS.splitlines() if b"proportional" not in line)
    with serving(plain) as server:
        sink = watched(process_exporter.source, server.place, groups=(Group("puma", ("puma*",)),))

    assert sink.last("group.memory", "puma") == 2e9


def test_an_exporter_without_processes_is_none_of_process_exporter():
    with (
        serving(recorded("node_exporter.txt")) as server,
        pytest.raises(
            WatchFailed, match="no group of process-exporter: its configuration matches no program"
        ),
    ):
        watched(process_exporter.source, server.place)


def test_servers_of_a_backend_are_one_queue_of_haproxy():
    lines = recorded("haproxy.csv").decode().splitlines()
    busy = [
        lines[0],
        lines[1],
        *(line.replace(",0,0,0,0,3,", ",1,9,3,3,3,", 1) for line in lines[2:4]),
        lines[4].replace(",0,0,0,0,410,", ",4,9,6,6,410,", 1),
    ]
    values = haproxy_values("\n".join(busy))

    assert values[Key("queue.busy", "throttle slow")] == 6.0
    assert values[Key("queue.limit", "throttle slow")] == 6.0
    assert values[Key("queue.waiting", "throttle slow")] == 6.0
    assert values[Key("queue.errors", "throttle slow")] == 0.0
    assert values[Key("queue.limit", "throttle clients (frontend)")] == 4096.0

    without = haproxy_values(
        "\n".join([*busy[:3], busy[3].replace(",3,3,3,", ",3,3,,", 1), busy[4]])
    )
    assert Key("queue.limit", "throttle slow") not in without


def test_threads_of_pumas_workers_are_added_up():
    values = puma_values(json.loads(recorded("puma_workers.json")))

    assert values == {
        Key("queue.busy", "threads puma"): 6.0,
        Key("queue.limit", "threads puma"): 6.0,
        Key("queue.waiting", "threads puma"): 3.0,
        Key("queue.requests", "threads puma"): 6.0,
    }
    single = {"backlog": 2, "running": 1, "pool_capacity": 4, "max_threads": 5}
    assert puma_values(single)[Key("queue.busy", "threads puma")] == 1.0
    starting = {"workers": 1, "worker_status": [{"index": 0, "last_status": {}}]}
    assert puma_values(starting) == {}


def test_workers_of_apache_have_the_limit_that_its_owner_gives():
    with serving(recorded("apache.txt")) as server:
        plain = watched(apache.source, f"http://{server.place}/server-status?auto")
        limited = watched(apache.source, server.place, options={"max_workers": 400})

    assert plain.last("queue.busy", "threads apache") == 1.0
    assert plain.last("queue.limit", "threads apache") == 75.0
    assert limited.last("queue.limit", "threads apache") == 400.0
    assert plain.facts["apache.mpm"] == "event"
    assert server.requests[0][0] == "/server-status?auto"


@pytest.mark.parametrize("source", [source for source, _ in LIVE], ids=lambda each: each.name)
def test_odd_answers_end_a_watch_or_are_left_out(source):
    with serving(b"") as server:
        for body in ANSWERS:
            server.give(200, body)
            try:
                sink = watched(source, server.place)
            except WatchFailed as failure:
                assert str(failure).endswith("."), body[:40]  # noqa: PT017 - it may fail, or not
            else:
                for frame in sink.frames:
                    assert all(0 <= value < 1e300 for value in frame.values.values()), body[:40]


@pytest.mark.parametrize("source", [source for source, _ in LIVE], ids=lambda each: each.name)
def test_a_status_says_what_to_do_without_the_password(source):
    with serving(b"") as server:
        for status, message in (
            (302, "redirects"),
            (401, "password"),
            (403, "token|password"),
            (404, "check the address"),
            (500, "in a row"),
        ):
            server.give(status, SECRET.encode())
            with pytest.raises(WatchFailed, match=message) as raised:
                watched(source, server.place, looks=9, username="watch", password=SECRET)
            assert SECRET not in str(raised.value)


def test_pumas_token_goes_into_the_query_and_into_no_message():
    with serving(recorded("puma_workers.json")) as server:
        watched(puma.source, server.place, password=SECRET)
        assert server.requests[0][0] == f"/stats?token={SECRET}"
        assert "Authorization" not in server.requests[0][1]
        address = server.place
    with pytest.raises(WatchFailed, match="connection refused") as raised:
        watched(puma.source, address, password=SECRET)
    assert SECRET not in str(raised.value)


def test_a_password_without_a_user_name_is_a_bearer_token():
    with serving(recorded("apache.txt")) as server:
        watched(apache.source, server.place, password=SECRET)

    assert server.requests[0][1]["Authorization"] == f"Bearer {SECRET}"


def test_three_looks_in_a_row_without_an_answer_end_a_watch(monkeypatch):
    monkeypatch.setattr("campaigns.targets.watches.web.LOOK_SECONDS", 0.05)
    over = Event()

    def answer(*_):
        over.wait(20)
        return 200, b""

    with serving(answer) as server:
        try:
            with pytest.raises(WatchFailed, match=r"within 0\.05 s\. So it was 3 times in a row"):
                watched(apache.source, server.place, looks=9)
        finally:
            over.set()
    assert len(server.requests) <= 3


def test_a_look_that_fails_is_a_gap():
    fails = iter([True, False, True, True, False, True, True, True])

    def look():
        if next(fails):
            raise Missed("No answer.")
        seen.append(1)

    seen: list[int] = []
    with pytest.raises(WatchFailed, match="No answer"):
        look_in_steps(look, 1.0, Looks(99))
    assert len(seen) == 2
    with pytest.raises(WatchFailed, match="Refused"):
        look_in_steps(raises_hopeless, 1.0, Looks(1))


def raises_hopeless():
    raise Missed("Refused.", hopeless=True)


def test_an_answer_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("campaigns.targets.watches.web.MOST_BYTES", 1000)
    with serving(b"x" * 2000) as server, pytest.raises(WatchFailed, match="too long"):
        watched(apache.source, server.place)


def test_a_node_exporter_of_a_million_series_does_not_take_the_processor_of_the_worker():
    body = b"".join(b'node_cpu_seconds_total{cpu="%d"} 1\n' % number for number in range(20_001))
    with serving(body) as server, pytest.raises(WatchFailed, match="more than 20,000 samples"):
        watched(node_exporter.source, server.place)


@pytest.mark.parametrize("source", [source for source, _ in LIVE], ids=lambda each: each.name)
def test_no_connection_leaves_the_rules(source):
    with pytest.raises(WatchFailed, match="no rule allows it"):
        watched(source, "127.0.0.1:9", rules=parse_rules("10.0.0.0/8:*"))
    with pytest.raises(WatchFailed, match="no rule allows it"):
        watched(source, "localhost:9", rules=parse_rules("10.0.0.0/8:*"))


def test_each_source_has_a_form_of_addresses_and_says_what_it_needs():
    for name, source in all_sources().items():
        assert source.name == name
        assert source.label
        assert source.needs
        assert source.address_help
        with pytest.raises(ValueError, match=r"\w"):
            source.check_address("watch:secret@host.example:1/a")
        if source.uses_ssh or source.may_use_ssh:
            form = source.check_address("ssh://Host.example")
            assert source.check_address(form) == form
            assert source.host_and_port(form) == ("host.example", 22)
        if source.uses_ssh:
            continue
        address = "host.example:4321/a" if name == "postgresql" else "host.example:4321"
        form = source.check_address(address)
        assert source.check_address(form) == form
        assert source.host_and_port(form) == ("host.example", 4321)


@pytest.mark.parametrize(
    "address", ["", "ftp://host/", "http://host/?a=b", "http://u:secret@host/", "host:99999", "a b"]
)
def test_addresses_of_no_web_server_are_refused(address):
    for source in (*(source for source, _ in LIVE), prometheus.source):
        with pytest.raises(NetworkError) as raised:
            source.check_address(address)
        assert "secret" not in str(raised.value)


# Prometheus -----------------------------------------------------------------------------------------------------------

BEGIN = 1_700_000_000.0


def prometheus_of(scrapes, *, instances=("host:9100",), warnings=None):
    """Return what answers as a Prometheus with scrapes each second: node_cpu_seconds_total grows by one a second."""

    def answer(path, form):
        if path != "/api/v1/query":
            return 404, b"404 page not found"
        if form["query"] == "time()":
            result = [BEGIN + 100, str(BEGIN + 100)]
        else:
            end = float(form["time"])
            seconds = int(form["query"].rpartition("[")[2].removesuffix("ms]")) / 1000
            kept = [at for at in scrapes if end - seconds <= BEGIN + at <= end]
            result = []
            for instance in instances:
                for name, more in (
                    ("up", {}),
                    ("node_cpu_seconds_total", {"cpu": "0", "mode": "user"}),
                    ("node_time_seconds", {}),
                ):
                    if name in form["query"]:
                        metric = {"__name__": name, "instance": instance} | more
                        offset = BEGIN + 0.5 if name == "node_time_seconds" else 0
                        values = [[BEGIN + at, str(at + offset)] for at in kept]
                        result.append({"metric": metric, "values": values})
        document = {"status": "success", "data": {"result": result}}
        return 200, json.dumps(document | ({"warnings": warnings} if warnings else {})).encode()

    return answer


def fetched(answer, monkeypatch, span=(0, 100), **options):
    """Ask for seconds after BEGIN; the worker's clock is 7 seconds late."""
    monkeypatch.setattr(prometheus, "wall_clock", lambda: BEGIN + 93)
    sink = Collected()
    with serving(answer) as server:
        access = Access(
            prometheus.source.check_address(server.place),
            LOOPBACK,
            options={"instance": "host"} | options,
        )
        begin, end = (BEGIN - 7 + seconds for seconds in span)
        prometheus.source.fetch(access, sink, Span(begin, end))
    return sink, server


def test_prometheus_gives_the_scrapes_of_a_span_by_its_own_clock(monkeypatch):
    scrapes = [at + 0.25 for at in range(-50, 150) if not 40 <= at < 60]
    sink, server = fetched(prometheus_of(scrapes), monkeypatch)

    ats = [frame.at - BEGIN for frame in sink.frames]
    assert ats == [at for at in scrapes if 0 <= at < 100]
    assert sink.series("cpu.user") == ats
    assert len(sink.clocks) == prometheus.QUESTIONS
    assert sink.facts["scrape_interval_seconds"] == 1.0
    assert sink.facts["clock_minus_prometheus"] == pytest.approx(0.5)
    assert "too_coarse" not in sink.facts
    assert 'instance=~"host(:[0-9]+)?"' in server.requests[-1][2]["query"]


def test_scrapes_that_are_far_apart_are_too_coarse(monkeypatch):
    sink, _ = fetched(prometheus_of(range(0, 100, 15), warnings=["partial"]), monkeypatch)
    assert "partial" in sink.facts["prometheus_warning"]
    assert "7 scrapes in 100 s" in sink.facts["too_coarse"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "could not read"),
        (422, "could not answer"),
        (503, "too busy"),
        (401, "password"),
        (404, "check the address"),
    ],
)
def test_errors_of_prometheus_are_told(status, message, monkeypatch):
    body = b'{"status": "error", "errorType": "execution", "error": "query timed out"}'
    with pytest.raises(WatchFailed, match=rf"{message}.*query timed out"):
        fetched(lambda path, form: (status, body), monkeypatch)


def test_odd_answers_are_no_prometheus(monkeypatch):
    for body in ANSWERS:
        with pytest.raises(WatchFailed):
            fetched(lambda path, form, body=body: (200, body), monkeypatch)


def test_an_instance_that_is_missing_or_several_is_told(monkeypatch):
    with pytest.raises(WatchFailed, match="scraped no instance “host”"):
        fetched(prometheus_of([], instances=()), monkeypatch)
    with pytest.raises(WatchFailed, match="host:1, host:2"):
        fetched(prometheus_of(range(100), instances=("host:1", "host:2")), monkeypatch)
    with pytest.raises(WatchFailed, match="names no instance"):
        fetched(prometheus_of(range(100)), monkeypatch, instance=" ")


@pytest.mark.parametrize(
    ("instance", "matchers"),
    [
        ("host:9100", 'instance="host:9100"'),
        ("a.b", r'instance=~"a\\.b(:[0-9]+)?"'),
        ('x"} or up{a="', r'instance=~"x\"\\}\\ or\\ up\\{a=\"(:[0-9]+)?"'),
        ("[::1]:9100", 'instance="[::1]:9100"'),
    ],
)
def test_label_values_are_escaped(instance, matchers):
    assert prometheus.matchers_of(instance) == matchers
    assert prometheus.matchers_of("h:1", 'j"') == r'instance="h:1",job="j\""'


# Pulp, and what is read by SSH ----------------------------------------------------------------------------------------


def test_pulps_running_and_waiting_tasks_are_task_slots():
    def answer(path, form):
        if path == "/pulp/api/v3/status/":
            return 200, b'{"online_workers": [{"name": "1"}, {"name": "2"}]}'
        return 200, b'{"count": 2}' if "state=running" in path else b'{"count": 5}'

    with serving(answer) as server:
        sink = watched(pulp.source, server.place)

    assert sink.last("queue.busy", "slots pulp workers") == 2.0
    assert sink.last("queue.limit", "slots pulp workers") == 2.0
    assert sink.last("queue.waiting", "slots pulp workers") == 5.0
    for body in ANSWERS:
        with serving(body) as server, pytest.raises(WatchFailed):
            watched(pulp.source, server.place)


def test_the_state_file_of_puma_names_its_control_server():
    state = "---\npid: 12\ncontrol_url: {}\ncontrol_auth_token: {}\nrunning_from: /srv\n"
    assert control_of(state.format("unix:///run/p.sock", "'abc'")) == ("/run/p.sock", "abc")
    assert control_of(state.format("unix://tmp/p.sock", "none")) == ("/tmp/p.sock", "")  # noqa: S108
    assert control_of(state.format("tcp://0.0.0.0:9293", "a")) == (("127.0.0.1", 9293), "a")
    for url, message in (
        ("tcp://169.254.169.254:80", "loopback"),
        ("tcp://db.example:80", "loopback"),
        ("tcp://127.0.0.1:x", "control server"),
        ("unix:///" + "x" * 200, "107"),
        ("", "control server"),
    ):
        with pytest.raises(WatchFailed, match=message):
            control_of(state.format(url, "a"))


def test_a_watch_by_ssh_needs_a_login_and_a_whole_path():
    assert ssh_address("Host.example:2222") == "host.example:2222"
    assert ssh_address("[fd00::1]") == "[fd00::1]"
    for source, option in ((puma.source, "state_file"), (haproxy.source, "socket")):
        with pytest.raises(WatchFailed, match="no SSH login"):
            watched(source, "ssh://host", options={option: "/run/a.sock"})
        with pytest.raises(WatchFailed, match="whole path"):
            watched(source, "ssh://host", options={option: "a.sock"})


# Performance Co-Pilot -------------------------------------------------------------------------------------------------


def pmproxy(path, form, forgets=()):
    """Answer as pmproxy has. forgets: the numbers of the questions at which it has forgotten the context."""
    document = json.loads(recorded("pcp.json"))
    what, query = urlsplit(path).path.removeprefix("/pmapi/"), parse_qs(urlsplit(path).query)
    if what == "context":
        return 200, json.dumps(document["context"]).encode()
    if forgets and forgets.pop(0):
        return 400, b'{"message": "unknown context identifier: 1", "success": false}'
    if what == "indom":
        return 200, json.dumps(document["indom"][query["name"][0]]).encode()
    return 200, json.dumps(document["fetch"]).encode()


def test_pcp_is_read_with_the_names_of_instances_and_again_where_a_context_is_forgotten():
    forgets = [False, False, False, False, True, False, True]
    with serving(lambda path, form: pmproxy(path, form, forgets)) as server:
        sink = watched(pcp.source, server.place, options={"host": "db:1"})

    assert "hostspec=db%3A1" in server.requests[0][0]
    assert len(sink.frames) == 2
    assert sink.labels("disk.busy") == {"vda"}
    assert sink.labels("net.received") == {"eth0"}
    assert sink.labels("cpu.core_busy") == {"0", "1"}
    assert sink.labels("disk.free") == {"/"}
    assert not sink.labels("net.speed")
    assert sink.last("memory.total") == sink.facts["memory_total"] == 24684084 * 1024
    assert sink.last("cpu.idle") == pytest.approx(35563.69)
    assert sink.last("pressure.cpu.some") > 50_000
    assert sink.facts["cores"] == 2.0
    assert sink.frames[0].uptime > 0
    assert all(key.quantity in CATALOG for key in sink.frames[0].values)


def test_odd_answers_are_no_pcp():
    for body in ANSWERS:
        with serving(body) as server, pytest.raises(WatchFailed):
            watched(pcp.source, server.place)
