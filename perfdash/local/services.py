"""perfdash's own processes, and the variables that all of them get."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing import cpu_count
from pathlib import Path

from perfdash.answers import answers
from perfdash.environment import boolean
from perfdash.local import broker, postgres
from perfdash.local.directory import DataDirectory
from perfdash.local.forks import KEYS, ForkServer
from perfdash.local.ports import HOST
from perfdash.local.process import Service
from perfdash.local.state import SURROUNDINGS

ROOT = Path(__file__).resolve().parent.parent.parent
KATELLO_SETTINGS = {
    "time_scale": 0.1,  # its server then carries some 20 registrations a second
    "content_scale": 1,  # packages take as long as published
    "iso": True,  # its tasks are short: whole seconds would be coarse for them
    "hosts": 4000,
    "rex_seconds": 0.1,
    "sync_spread": 0.02,  # without any, nothing could be said of how much syncs vary
}
FOUNDATIONS = frozenset({"DATABASE_URL", "BROKER_URL"})
MAIL, PAGES = ("PERFDASH_EMAIL_",), ("PERFDASH_OIDC_", "PERFDASH_METRICS_TOKEN")
SECRET = ("DATABASE_URL", "BROKER_URL", "SECRET_KEY")
"""Beginnings of the names of variables that only those get who need them."""
NEEDED = {
    "prepare": (*SECRET, KEYS, *MAIL, *PAGES),
    "web": (*SECRET, KEYS, *MAIL, *PAGES),
    "control": (*SECRET, KEYS, *MAIL),
    "beat": ("BROKER_URL",),
}
"""By the name of the service; the other workers need SECRET."""
QUIET = ("-W", "ignore:You're running the worker")
"""All processes of a local start run as the same user; Celery need not warn root."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the servers of a local start listen."""

    web: int
    sandbox: int
    pulp: int
    katello: int
    katello_tls: int

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.web}"

    @property
    def sandbox_url(self) -> str:
        return f"http://{HOST}:{self.sandbox}"

    @property
    def pulp_url(self) -> str:
        return f"http://{HOST}:{self.pulp}"

    @property
    def katello_url(self) -> str:
        return f"http://{HOST}:{self.katello}"

    @property
    def katello_tls_url(self) -> str:
        return f"https://{HOST}:{self.katello_tls}"


def is_set(name: str) -> bool:
    """Say whether somebody set the variable, or the file that holds its value."""
    return bool(os.environ.get(name) or os.environ.get(f"{name}_FILE"))


def foundations(
    directory: DataDirectory, ours: frozenset[str], settings: tuple[str, ...] = ()
) -> list[Service]:
    """Describe database and broker, where their variables are `ours`."""
    results = []
    if "DATABASE_URL" in ours:
        results.append(postgres.service(directory, settings))
    if "BROKER_URL" in ours:
        results.append(broker.service(directory))
    return results


def made_secrets(
    directory: DataDirectory, key: Callable[[str], str]
) -> dict[str, Callable[[], str]]:
    """Return what makes each secret that nobody has set; key: gives keys by the names of their files."""
    return {
        "DATABASE_URL": lambda: postgres.url(directory),
        "BROKER_URL": lambda: broker.url(directory),
        "SECRET_KEY": lambda: key("secret_key"),
        "PERFDASH_ENCRYPTION_KEYS": lambda: key("encryption_keys"),
    }


def environment(
    directory: DataDirectory,
    ours: frozenset[str],
    secret: Callable[[str], str] | None = None,
) -> dict[str, str]:
    """Give the variables of every process: what somebody set wins, but for what is `ours`.

    `secret` gives the keys by the names of their files; without it the directory does.
    """
    made = made_secrets(directory, secret or directory.secret)
    replaced = {name for name in made if name in ours or not is_set(name)}
    remaining = {
        name: value
        for name, value in os.environ.items()
        if name.removesuffix("_FILE") not in replaced
    }
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **remaining,
        **{name: made[name]() for name in replaced},
        "PERFDASH_DATA": str(directory.path),
        "STATIC_COLLECTED": "False",
        "DJANGO_SETTINGS_MODULE": "perfdash.settings",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
    }


def with_servers(
    variables: Mapping[str, str], ports: Ports, directory: DataDirectory
) -> dict[str, str]:
    """Add what the servers need: addresses, by the ports, and the place of the static files.

    Sandbox and simulators are always allowed as targets.
    """
    given_ones = variables.get("PERFDASH_ALLOWED_ADDRESSES", "")
    ours = (ports.sandbox, ports.pulp, ports.katello, ports.katello_tls)
    allowed = [given_ones, *(f"{HOST}:{port}" for port in ours)]
    return {
        "PERFDASH_OWNER_CONFIRMS": "True",
        "ALLOWED_HOSTS": "127.0.0.1,localhost,[::1]",
        "PERFDASH_SANDBOX_URL": ports.sandbox_url,
        **variables,
        "PERFDASH_BASE_URL": ports.base_url,
        "PERFDASH_ALLOWED_ADDRESSES": "\n".join(filter(None, allowed)),
        "STATIC_COLLECTED": str(not boolean("DEBUG", False)),
        "STATIC_ROOT": str(directory.path / "static"),
    }


def preparation(variables: Mapping[str, str], ports: Ports, katello_ca: Path) -> Service:
    """Describe what runs before the servers: it prints the URL that signs in."""
    service = _python(
        "prepare", variables, "-m", "perfdash.local.preparation", ports.base_url, ports.sandbox_url,
        ports.pulp_url, ports.katello_tls_url, str(katello_ca),
    )  # fmt: skip
    return replace(service, secret=True, forked=True)


def forkserver(variables: Mapping[str, str]) -> tuple[Service, ForkServer]:
    """Describe what the workers are forked from, and give our end of it. It has no secret but those of all workers."""
    service = _python("forkserver", variables, *QUIET, "-m", "perfdash.local.forkserver")
    forks = ForkServer(service.environment)
    return replace(service, stdin=forks.connect, ready=forks.ready), forks


def web(variables: Mapping[str, str], ports: Ports, prepared: Callable[[], bool]) -> Service:
    """Describe the web server. It answers only when all is `prepared`, and is not asked before."""
    threads = str(min(8, 2 * cpu_count() + 1))
    command = (
        "-m", "perfdash.web_server", "--interface", "rsgi", "--http", "1", "--host", HOST, "--port", str(ports.web),
        "--workers", "1", "--no-ws", "--log-level", "warning", "perfdash.local.server:server",
    )  # fmt: skip
    return replace(
        _python("web", {"PERFDASH_WEB_THREADS": threads, **variables}, *command),
        stage=4,
        ready=lambda pid: prepared() and answers(f"{ports.base_url}/health/"),
    )


def others(variables: Mapping[str, str], ports: Ports, katello_ca: Path) -> list[Service]:
    """Describe the workers, what sends them messages, and the sandbox."""
    sandbox = (
        "-m", "sandbox", "--host", HOST, "--port", str(ports.sandbox), "--pulp-port", str(ports.pulp),
        "--katello-port", str(ports.katello), "--katello-tls-port", str(ports.katello_tls),
        "--katello-ca", str(katello_ca), "--katello", json.dumps(KATELLO_SETTINGS),
    )  # fmt: skip
    beat = ("-m", "celery", "-A", "perfdash.schedule", "--quiet", "beat", "--pidfile=")
    return [
        _worker("measure", variables),
        _worker("control", variables, "--pool", "threads", "--concurrency", "8"),
        _worker(
            "analysis", variables, "--concurrency", "2", "--include", "campaigns.findings.compute"
        ),
        _worker("generate", variables, "--pool", "threads", "--concurrency", "8"),
        replace(_python("beat", variables, *beat), stage=4),
        replace(_python("sandbox", _surroundings(variables), *sandbox), stage=2),
    ]


def _worker(queue: str, variables: Mapping[str, str], *options: str) -> Service:
    """Describe a worker of one queue; without options it has one child.

    Generators are kept by threads: all that a keeper does is to wait for its program.
    """
    service = _python(
        queue, variables, *QUIET, "-m", "celery", "-A", "perfdash", "--quiet", "worker", "-Q", queue,
        *(options or ("--concurrency", "1")), "--hostname", f"{queue}@%h", "--without-mingle",
        "--without-gossip",
    )  # fmt: skip
    return replace(service, stop_seconds=10, forked=True)


def _python(name: str, variables: Mapping[str, str], *arguments: str) -> Service:
    command = (sys.executable, *arguments)
    needed = NEEDED.get(name, SECRET)
    values = {
        variable: value
        for variable, value in variables.items()
        if variable.startswith(needed) or not variable.startswith((*SECRET, KEYS, *MAIL, *PAGES))
    }
    return Service(name, command, values, stage=3, directory=str(ROOT))


def _surroundings(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables of a program that knows nothing of perfdash: no setting, and no secret of anybody."""
    return {name: value for name, value in variables.items() if name in SURROUNDINGS}
