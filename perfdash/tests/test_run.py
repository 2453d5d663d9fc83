import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from perfdash.local import postgres
from perfdash.local.directory import DataDirectory
from perfdash.local.postgres import ClusterFailed
from perfdash.local.process import Account
from perfdash.local.serve import FOUNDATIONS_FAILED
from perfdash.tests.conftest import running, wait_until

pytestmark = pytest.mark.system

NAMELESS = 54321

SURVIVES = """
import os, signal, time
from pathlib import Path
import psycopg

url = os.environ["DATABASE_URL"]
with psycopg.connect(url) as connection:
    connection.execute("CREATE TABLE thing AS SELECT generate_series(1, 1000) AS n")
server = Path(os.environ["PERFDASH_DATA"], "database/cluster/postmaster.pid")
os.kill(int(server.read_text().splitlines()[0]), signal.SIGKILL)
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        with psycopg.connect(url) as connection:
            print(connection.execute("SELECT count(*) FROM thing").fetchone()[0])
            break
    except psycopg.OperationalError:
        time.sleep(0.1)
"""
PROMPT = """
import os, sys
import psycopg, redis
from perfdash.addresses import redis_url

with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    print(connection.execute(
        "SELECT datlocprovider::text, datlocale FROM pg_database WHERE datname = 'perfdash'"
    ).fetchone())
redis.Redis.from_url(redis_url(os.environ["BROKER_URL"])).ping()
sys.exit(7)
"""
PIDS = """
import os, time
print(os.environ["PERFDASH_DATA"], os.getpid(), flush=True)
time.sleep(300)
"""
BROKEN = """
import sys
from perfdash.local import serve, services
from perfdash.local.process import Service

words = (sys.executable, "-c", "raise SystemExit('there is no room')")
broken = Service("broken", words, {}, ready=lambda pid: False)
services.foundations = lambda *given: [broken]
sys.exit(serve.run(["true"]))
"""


def command(code):
    return [sys.executable, "-m", "perfdash.local", "run", sys.executable, "-c", code]


def test_a_command_gets_a_database_and_a_broker_and_its_exit_code_is_kept(place):
    done = subprocess.run(
        command(PROMPT), env=os.environ | {"TMPDIR": str(place)}, capture_output=True, text=True
    )

    assert done.returncode == 7, done.stderr
    assert done.stdout == "('b', 'C.UTF-8')\n"
    assert list(place.iterdir()) == []


@pytest.mark.system
def test_what_does_not_start_leaves_the_log_that_it_names_and_no_key(place):
    done = subprocess.run(
        [sys.executable, "-c", BROKEN],
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == FOUNDATIONS_FAILED
    log = re.search(r"All of it is in (.*/broken\.log)\.", done.stderr)
    assert log, done.stderr
    assert "there is no room" in Path(log[1]).read_text()
    assert [path.name for path in Path(log[1]).parents[1].iterdir()] == ["log"]


def test_the_database_comes_back_with_its_data_when_its_server_is_killed(place):
    done = subprocess.run(
        command(SURVIVES),
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
    )

    assert done.stdout == "1000\n", done.stderr


def test_nothing_is_left_running_when_the_runner_is_killed(place):
    runner = subprocess.Popen(
        command(PIDS),
        env=os.environ | {"TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout is not None
    runner.stdout.readline()
    family = [child.pid for child in psutil.Process(runner.pid).children(recursive=True)]
    assert len(family) >= 3

    runner.kill()

    wait_until(lambda: not any(running(pid) for pid in family))
    runner.communicate()


def test_a_request_to_stop_reaches_the_command_and_ends_the_rest(place):
    runner = subprocess.Popen(
        command(PIDS),
        env=os.environ | {"TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert runner.stdout is not None
    runner.stdout.readline()
    family = [child.pid for child in psutil.Process(runner.pid).children(recursive=True)]

    runner.send_signal(signal.SIGTERM)

    runner.communicate(timeout=120)
    wait_until(lambda: not any(running(pid) for pid in family))
    assert list(place.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a directory away")
def test_a_user_id_without_a_name_is_told_what_to_do(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, NAMELESS, NAMELESS)
    directory = DataDirectory(data)
    assert directory.account == Account(NAMELESS, NAMELESS)

    with pytest.raises(ClusterFailed, match=f"user id {NAMELESS} has no name") as caught:
        postgres.service(directory)

    assert "/etc/passwd" in str(caught.value)
    assert "DATABASE_URL" in str(caught.value)


def test_one_with_a_name_is_none_of_them():
    postgres._require_name(0)
    with pytest.raises(ClusterFailed):
        postgres._require_name(NAMELESS)
