"""The throttling study in small: HAProxy's maxconn as a setting of the target, set through its runtime socket over SSH."""

import socket
import threading
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User

from campaigns.execution import dispatch, restore_settings, try_settings
from campaigns.execution.running import execute
from campaigns.kinds.sql.engine import pgbench
from campaigns.kit import encryption
from campaigns.models import Attempt, EffectiveSetting, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.targets import settings as target_settings
from campaigns.targets import ssh_logins
from campaigns.targets.actions import fingerprint_of
from campaigns.tests.kinds.sql import servers
from campaigns.tests.targets import ssh_server

pytestmark = [
    pytest.mark.system,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not servers.program("haproxy"), reason="haproxy is not installed"),
    pytest.mark.skipif(not servers.program("socat"), reason="socat is not installed"),
    pytest.mark.skipif(not pgbench.candidates(), reason="pgbench is not installed"),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    place = tmp_path_factory.mktemp("database")
    for each in (place, place.parent):
        each.chmod(0o755)
    with servers.database(place) as made:
        yield made


@pytest.fixture
def admin(db):
    return User.objects.create_superuser("admin")


def maxconn(path):
    """Return the setting, as docs/how-to/throttling.md has it."""
    write = f'echo "set maxconn server psql/pg1 $1" | socat - {path}'
    read = f'echo "show stat psql 4 -1" | socat - {path} | awk -F, \'$2 == "pg1" {{print $7 == "" ? 0 : $7}}\''
    return {
        "name": "maxconn",
        "type": "integer",
        "apply": {"way": "command", "arguments": ["sh", "-c", write, "sh", "{value}"]},
        "read_back": {"way": "command", "arguments": ["sh", "-c", read]},
    }


@contextmanager
def target_with(setting, database, port, admin, settings):
    """A target behind HAProxy whose setting is reached over SSH."""
    with ssh_server.within() as machine:
        settings.ALLOWED_ADDRESSES = f"127.0.0.0/8:{port},{machine.port}"
        target = Target.objects.create(
            name="throttled",
            family="postgresql",
            base_url=f"postgresql://127.0.0.1:{port}/bench",
            address=f"127.0.0.1:{port}",
            username=servers.USER,
            password=encryption.encrypt(database.password),
        )
        login = ssh_logins.save_ssh(
            {
                "host": "127.0.0.1",
                "port": machine.port,
                "username": machine.username,
                "key": machine.key,
            },
            target,
            admin,
        )
        target_settings.save_setting(setting, target, admin)
        try_settings.look_at_settings(target.pk)
        login.refresh_from_db()
        ssh_logins.accept_host_key(login, fingerprint_of(login.offered_key), admin)
        yield target


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
    campaign = drafts.save_draft(checking.check(data), None)
    lifecycle.launch(campaign, None)
    return campaign


def go():
    for _ in range(20):
        dispatch.dispatch()
        attempt = Attempt.objects.filter(state=Attempt.State.QUEUED).first()
        if attempt is None:
            return
        execute(attempt.pk, "measure@here", "here")


def served(campaign):
    """Return the clients that were served, by clients and maxconn."""
    return {
        (levels["clients"], levels["maxconn"]): measurement.value
        for run in campaign.runs.all()
        for levels in [run.cell.levels_by_factor]
        for measurement in Attempt.objects.get(run=run, state="accepted").measurements.all()
        if measurement.metric.name == "clients_served"
    }


def test_maxconn_is_set_read_back_and_set_back(database, admin, settings, worker, tmp_path):
    with (
        servers.haproxy(tmp_path, database) as port,
        target_with(maxconn(tmp_path / "admin.sock"), database, port, admin, settings) as target,
    ):
        campaign = launch(target, clients=[2, 5], maxconn=[0, 3])
        go()
        assert list(campaign.runs.values_list("state", "reason")) == [("done", "")] * 4
        assert served(campaign) == {(2, 0): 2, (5, 0): 5, (2, 3): 2, (5, 3): 3}
        found = EffectiveSetting.objects.filter(name="maxconn")
        assert {(each.asked, each.in_force) for each in found} == {(0, 0), (3, 3)}
        restore_settings.restore(target.pk)
        assert slim(tmp_path / "admin.sock") == ""


def test_a_socket_that_does_nothing_makes_the_run_void(database, admin, settings, worker, tmp_path):
    deaf = tmp_path / "deaf.sock"
    with (
        servers.haproxy(tmp_path, database) as port,
        deaf_socket(deaf),
    ):
        setting = maxconn(tmp_path / "admin.sock")
        write = setting["apply"]["arguments"]
        write[2] = write[2].replace(str(tmp_path / "admin.sock"), str(deaf))
        with target_with(setting, database, port, admin, settings) as target:
            campaign = launch(target, clients=[2, 3], maxconn=[3])
            go()

            reasons = set(campaign.runs.values_list("reason", flat=True))
            assert any("maxconn: asked 3, in force 0" in reason for reason in reasons)
            assert not Attempt.objects.filter(state="accepted").exists()


def slim(path):
    """Return the limit that HAProxy itself tells; empty: none."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(str(path))
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
