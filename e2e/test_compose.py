"""docker-compose.yml without containers: every command and health check as plain processes.

Beside them run Debian's own PostgreSQL and Redis, on free ports of the loopback interface.
"""

import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis
import yaml
from cryptography.fernet import Fernet

from campaigns.tests.ports import free_port
from e2e.conftest import ROOT, ends_with_us, wait_for

pytestmark = pytest.mark.e2e

COMPOSE = ROOT / "docker-compose.yml"
PROGRAMS = Path(sys.executable).parent
OURS = (
    *("web", "worker-measure", "worker-generate", "worker-control", "worker-analysis"),
    *("beat", "sandbox"),
)
SETTINGS = {"ALLOWED_HOSTS": "perf.example"}
SECRETS = {
    "postgres_password": "postgresword",
    "database_url": "postgresql://perfdash:postgresword@postgres:5432/perfdash",
    "redis_password": "redisword",
    "broker_url": "redis://:redisword@redis:6379/0",
    "secret_key": "a secret key for this test only",
    "encryption_keys": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "email_url": "",
    "oidc_client_secret": "",
    "metrics_token": "",
}


def interpolated(text, variables):
    """Do what Compose does with ${NAME}, ${NAME:-default}, ${NAME:?message} and $$."""

    def value(match):
        name, mark, rest = match["name"], match["mark"], match["rest"]
        found = variables.get(name, "")
        assert found or mark != ":?", rest
        return found or (rest if mark == ":-" else "")

    pattern = r"(?<!\$)\$\{(?P<name>\w+)((?P<mark>:[-?])(?P<rest>[^}]*))?\}"
    return re.sub(pattern, value, text).replace("$$", "$")


def services(variables):
    loaded = yaml.safe_load(COMPOSE.read_text())
    return yaml.safe_load(interpolated(json.dumps(loaded), variables))["services"]


def image_command():
    text = (ROOT / "Dockerfile").read_text()
    command = text.partition("\nCMD ")[2].replace("\\\n", "")
    return json.loads(command)


@pytest.fixture(scope="module")
def place():
    path = Path(tempfile.mkdtemp(prefix="compose-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@contextmanager
def running(command, log, **options):
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=ends_with_us(), **options
        )
    try:
        yield process
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def postgres(place):
    """Debian's PostgreSQL, as `nobody` where the tests run as root; gives its port."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    home = place / "postgres"
    home.mkdir()
    os.chown(home, account.pw_uid, account.pw_gid)
    drop = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    options = {"cwd": home, "env": {"LC_ALL": "C.UTF-8"}} | (drop if os.geteuid() == 0 else {})
    password = home / "password"
    password.write_text(SECRETS["postgres_password"])
    initdb = [programs / "initdb", "-D", home / "data", "-U", "perfdash", "--no-sync"]
    subprocess.run(
        [*initdb, "--auth=scram-sha-256", f"--pwfile={password}"],
        check=True, stdout=subprocess.DEVNULL, **options,
    )  # fmt: skip
    port = free_port()
    server = [programs / "postgres", "-D", home / "data", "-k", home, "-p", str(port)]
    address = f"postgresql://perfdash:{SECRETS['postgres_password']}@127.0.0.1:{port}/postgres"

    def connected():
        try:
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("CREATE DATABASE perfdash")
        except psycopg.OperationalError:
            return False
        return True

    with running([*server, "-c", "fsync=off"], place / "postgres.log", **options):
        wait_for(connected, "PostgreSQL")
        yield port


@pytest.fixture(scope="module")
def broker(place):
    """Debian's Redis; gives its port."""
    home = place / "redis"
    home.mkdir()
    port = free_port()
    program = shutil.which("redis-server", path=f"{os.environ['PATH']}:/usr/bin")
    assert program, "redis-server is not installed"
    server = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--save", ""]

    def answers():
        client = redis.Redis(port=port, password=SECRETS["redis_password"])
        try:
            return client.ping()
        except redis.ConnectionError:
            return False
        finally:
            client.close()

    log = place / "redis.log"
    with running([*server, "--requirepass", SECRETS["redis_password"]], log):
        wait_for(answers, "Redis")
        yield port


class Machine:
    """What a service finds in its container: replaced by what this machine has."""

    def __init__(self, place, postgres, broker):
        self.place = place
        self.found = services(SETTINGS)
        self.replaced = {
            "@postgres:5432": f"@127.0.0.1:{postgres}",
            "@redis:6379": f"@127.0.0.1:{broker}",
            "0.0.0.0": "127.0.0.1",  # noqa: S104 - the other way round
            "8000": str(free_port()),
            "8099": str(free_port()),
            "8299": str(free_port()),
            "8399": str(free_port()),
            "/srv": str(place),
            "/run/secrets": str(place / "secrets"),
        }
        (place / "secrets").mkdir()
        for name, value in SECRETS.items():
            (place / "secrets" / name).write_text(self.here(value))

    def here(self, text):
        for there, here in self.replaced.items():
            text = text.replace(there, here)
        return text

    def environment(self, name):
        written = self.found[name].get("environment", {})
        variables = {key: self.here(str(value)) for key, value in written.items()}
        return variables | {
            "PATH": f"{PROGRAMS}:/usr/bin:/bin",
            "STATIC_ROOT": str(self.place / "static"),
            "PERFDASH_ALIVE_FILE": str(self.place / f"{name}.alive"),
            "PYTHONUNBUFFERED": "1",
        }

    def command(self, name):
        command = self.found[name].get("command") or image_command()
        words = shlex.split(command) if isinstance(command, str) else command
        return [self.here(word) for word in words]

    def run(self, name, command):
        return subprocess.run(
            command, cwd=ROOT, env=self.environment(name), capture_output=True, text=True
        )

    def healthy(self, name):
        kind, *words = self.found[name]["healthcheck"]["test"]
        words = [self.here(word) for word in words]
        command = ["/bin/sh", "-c", *words] if kind == "CMD-SHELL" else words
        return self.run(name, command).returncode == 0


@pytest.fixture(scope="module")
def machine(place, postgres, broker):
    made = Machine(place, postgres, broker)
    migrated = made.run("migrate", made.command("migrate"))
    assert migrated.returncode == 0, migrated.stderr
    collected = made.run("web", ["python", "manage.py", "collectstatic", "--no-input"])
    assert collected.returncode == 0, collected.stderr
    return made


def test_the_file_fits_the_schema_of_compose():
    check = [str(PROGRAMS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]

    done = subprocess.run([*check, str(COMPOSE)], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def test_the_commands_of_the_readme_make_every_secret(tmp_path):
    recipe = (ROOT / "README.md").read_text().partition("`docker-compose.yml`:\n\n```sh\n")[2]
    commands = recipe.partition("docker compose")[0]
    (tmp_path / "script").mkdir()
    shutil.copy(ROOT / "script/compose-secrets", tmp_path / "script")
    subprocess.run(["/bin/sh", "-euc", commands], cwd=tmp_path, check=True)

    made = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    assert services(made)["web"]["environment"]["ALLOWED_HOSTS"] == "localhost,127.0.0.1"
    secrets = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    Fernet(secrets["encryption_keys"])
    assert set(secrets) == set(SECRETS)
    filled = [value for value in secrets.values() if value]
    assert len(set(filled)) == len(filled) == 6


def test_only_the_web_server_is_reachable_and_only_from_this_machine():
    ports = {name: service.get("ports", []) for name, service in services(SETTINGS).items()}

    assert {name: found for name, found in ports.items() if found} == {
        "web": ["127.0.0.1:8000:8000"]
    }


def test_every_file_that_the_image_takes_is_there():
    text = (ROOT / "Dockerfile").read_text() + (ROOT / ".dockerignore").read_text()
    named = re.findall(r"^!(\S+)$|^COPY (requirements\S+) ", text, re.MULTILINE)

    for path in filter(None, (path for found in named for path in found)):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    "name", ["web", *(pytest.param(name, marks=pytest.mark.nightly) for name in OURS[1:])]
)
def test_a_service_starts_and_its_health_check_passes(machine, place, name):
    assert not machine.healthy(name)

    log = place / f"{name}.log"
    with running(machine.command(name), log, cwd=ROOT, env=machine.environment(name)) as process:
        wait_for(lambda: machine.healthy(name) or process.poll() is not None, name)

    assert "Traceback" not in log.read_text()
