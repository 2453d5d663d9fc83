"""The throttling study in small, with what script/throttle starts: maxconn is set through HAProxy's runtime socket over SSH."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from campaigns.execution import dispatch, restore_settings
from campaigns.execution.running import execute
from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kinds.sql.engine import pgbench
from campaigns.kit import kernel
from campaigns.models import Attempt, EffectiveSetting, Setting, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.targets.probing import probe
from campaigns.tests.kinds.sql import servers
from perfdash.local.throttle import PACKAGES

pytestmark = [
    pytest.mark.system,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not all(map(servers.program, PACKAGES)), reason=f"needs {', '.join(PACKAGES.values())}"),
    pytest.mark.skipif(not pgbench.candidates(), reason="pgbench is not installed"),
]  # fmt: skip


@pytest.fixture(scope="module")
def throttle(tmp_path_factory):
    """What script/throttle writes down of itself: the path of the file."""
    place = tmp_path_factory.mktemp("throttle")
    for each in (place, place.parent):
        each.chmod(0o755)
    data, log = place / "data", place / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "perfdash.local.throttle", "--no-target", "--data", str(data)],
            stdout=output,
            stderr=output,
            preexec_fn=partial(kernel.die_with_parent, os.getpid(), signal.SIGTERM),
        )
    try:
        end = monotonic() + 60
        while "Ctrl-C stops it" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert monotonic() < end, log.read_text()
            sleep(0.05)
        yield data / "run" / "target.json"
    finally:
        process.terminate()
        assert process.wait(30) == 0, log.read_text()


@pytest.fixture
def target(throttle, settings, worker, capsys):
    settings.OWNER_CONFIRMS = True
    call_command("prepare", "--throttled-database", str(throttle))
    assert "with the setting maxconn" in capsys.readouterr().out
    return Target.objects.get()


def launch(target, **factors):
    data = {
        "question": "Whom does it serve?",
        "kind": "sql",
        "target": target.pk,
        "parameters": {
            "rows": 100,
            "client_processes": "apart",
            "duration_seconds": 1,
            "warm_up_seconds": 0,
        },
        "factors": factors,
        "order": "interleaved",
        "repetitions": 1,
        "seed": 1,
        "cool_down_seconds": 0,
    }
    campaign = drafts.create(checking.check(data), None)
    lifecycle.launch(campaign, None)
    return campaign


def go():
    for _ in range(20):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")


def test_its_login_has_no_right_beyond_the_database(target):
    probe(target)

    target.refresh_from_db()
    assert (target.health, target.rights) == (Target.Health.READY, [])


def served(campaign):
    """Return the clients that were served, by clients and maxconn."""
    return {
        (levels["clients"], levels["maxconn"]): measurement.value
        for run in campaign.runs.all()
        for levels in [run.cell.levels_by_factor]
        for measurement in Attempt.objects.get(run=run, state="accepted").measurements.all()
        if measurement.metric.name == "clients_served"
    }


def test_maxconn_is_set_read_back_and_set_back(target, throttle):
    campaign = launch(target, clients=[2, 5], maxconn=[0, 3])
    go()

    assert list(campaign.runs.values_list("state", "reason")) == [("done", "")] * 4
    assert served(campaign) == {(2, 0): 2, (5, 0): 5, (2, 3): 2, (5, 3): 3}
    found = EffectiveSetting.objects.filter(name="maxconn")
    assert {(each.asked, each.in_force) for each in found} == {(0, 0), (3, 3)}
    compute.analyse(campaign)
    (answer,) = answers_of([campaign.pk]).values()
    told = " ".join((answer.caveat, *answer.further))
    assert "3 of 5 clients were served; their response time is" in told
    assert "If all take turns, each waits" in told
    restore_settings.restore(target.pk)
    assert slim(json.loads(throttle.read_text())["socket"]) in ("", "0")


def test_a_socket_that_does_nothing_makes_the_run_void(target, throttle, tmp_path):
    deaf = tmp_path / "deaf.sock"
    setting = Setting.objects.get()
    setting.apply["arguments"][2] = setting.apply["arguments"][2].replace(
        json.loads(throttle.read_text())["socket"], str(deaf)
    )
    setting.save()
    with deaf_socket(deaf):
        campaign = launch(target, clients=[2, 3], maxconn=[3])
        go()

    reasons = set(campaign.runs.values_list("reason", flat=True))
    assert any("maxconn: asked 3, in force 0" in reason for reason in reasons)
    assert not Attempt.objects.filter(run__campaign=campaign, state="accepted").exists()


def test_the_target_is_made_once_and_follows_its_server(target, throttle, capsys):
    call_command("prepare", "--throttled-database", str(throttle))
    assert capsys.readouterr().out == ""
    moved = json.loads(throttle.read_text()) | {"base_url": "postgresql://127.0.0.1:1/perfdash"}
    elsewhere = throttle.with_name("moved.json")
    elsewhere.write_text(json.dumps(moved))

    call_command("prepare", "--throttled-database", str(elsewhere))

    assert "is at postgresql://127.0.0.1:1/perfdash now" in capsys.readouterr().out
    assert Target.objects.get().setting_rows.get().name == "maxconn"
    assert User.objects.count() == 1


def slim(path):
    """Return the limit that HAProxy itself tells; empty: none."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(path)
        asked.sendall(b"show stat psql 4 -1\n")
        answer = b"".join(iter(lambda: asked.recv(65536), b"")).decode()
    (line,) = [each for each in answer.splitlines() if each.startswith("psql,pg1,")]
    return line.split(",")[6]


@contextmanager
def deaf_socket(path):
    """Listen on a socket, and answer every line with an empty one, as HAProxy does."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def answer():
            while True:
                try:
                    asked, _ = listening.accept()
                except OSError:
                    return
                with asked:
                    asked.recv(4096)
                    asked.sendall(b"\n")

        threading.Thread(target=answer, daemon=True).start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
