"""Pulp's programs: their settings, environments and command lines. Starts nothing."""

import os
from pathlib import Path

from perfdash.local import ports, postgres, private
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.processes import MARK, NAME
from perfdash.local.pulp.state import Choices

API, CONTENT, WORKER, MANAGER, DATABASE = "api", "content", "worker", "manager", "database"
KEPT = {
    "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}  # fmt: skip
SETTINGS = """# Written by script/pulp at every start.
SECRET_KEY = {secret_key!r}
DB_ENCRYPTION_KEY = {key_file!r}
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.postgresql",
        "HOST": {database_host!r}, "NAME": {database!r}, "USER": {database!r},
        "PASSWORD": {database_password!r},
    }},
}}
CONTENT_ORIGIN = {content_url!r}
DEPLOY_ROOT = {root!r}
MEDIA_ROOT = {media!r}
WORKING_DIRECTORY = {work!r}
FILE_UPLOAD_TEMP_DIR = {work!r}
STATIC_ROOT = {assets!r}
ALLOWED_IMPORT_PATHS = []
ALLOWED_EXPORT_PATHS = []
ANALYTICS = False
CACHE_ENABLED = False  # it would need Redis
TASK_GRACE_INTERVAL = 5  # seconds that a worker which is stopped leaves its task
"""
FAST_AUTH = 'PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]\n'


def settings_file(directory: PulpDirectory) -> Path:
    """Give the place of Pulp's settings."""
    return directory.path / "settings.py"


def write_settings(directory: PulpDirectory, choices: Choices) -> None:
    """Write Pulp's settings, secrets included, for their owner only."""
    directory.secret("database_fields_key")
    text = SETTINGS.format(
        secret_key=directory.secret("secret_key"),
        key_file=str(directory.path / "secrets" / "database_fields_key"),
        database_host=str(directory.run / "database"),
        database=postgres.NAME,
        database_password=directory.secret("database_password"),
        content_url=f"http://{ports.HOST}:{choices.content_port}",
        root=str(directory.path),
        media=str(directory.path / "media"),
        work=str(directory.path / "work"),
        assets=str(directory.path / "assets"),
    )
    text += FAST_AUTH if choices.fast_auth else ""
    private.replace(settings_file(directory), text.encode())


def environment(directory: PulpDirectory, name: str) -> dict[str, str]:
    """Give a process its mark and Pulp's settings, and nothing of perfdash's own variables."""
    remaining = {
        key: value for key, value in os.environ.items() if key in KEPT or key.startswith("LC_")
    }
    return {
        **remaining,
        MARK: str(directory.path),
        NAME: name,
        "PULP_SETTINGS": str(settings_file(directory)),
        "PYTHONUNBUFFERED": "1",
    }


def commands(directory: PulpDirectory, choices: Choices) -> dict[str, tuple[str, ...]]:
    """Give the command line of each process by its name, in the order of their start."""
    more = ("--no-control-socket",) if _has_control_socket(directory) else ()
    api = (program(directory, "pulpcore-api"), "--workers", "2", "--access-logfile", "-", *more)
    content = (program(directory, "pulpcore-content"), "--workers", "1", *more)
    worker = program(directory, "pulpcore-worker")
    return {
        API: (*api, *_server(API, choices.port)),
        CONTENT: (*content, *_server(CONTENT, choices.content_port)),
        **{
            f"{WORKER}{number}": (worker, "--name-template", f"{WORKER}{number}-{{pid}}")
            for number in range(1, choices.workers + 1)
        },
    }


def manager(directory: PulpDirectory, *words: str) -> tuple[str, ...]:
    """Give the command line of one of Pulp's management commands."""
    return (program(directory, "pulpcore-manager"), *words)


def program(directory: PulpDirectory, name: str) -> str:
    """Give the path of one of the programs in Pulp's environment."""
    return str(directory.path / "venv" / "bin" / name)


def _has_control_socket(directory: PulpDirectory) -> bool:
    """Return whether its servers have the option: pulpcore of before 2026 refuses it."""
    programs = directory.path.glob("venv/lib/*/site-packages/pulpcore/app/entrypoint.py")
    return any("no-control-socket" in each.read_text(encoding="utf-8") for each in programs)


def _server(name: str, port: int) -> tuple[str, ...]:
    bind = f"{ports.HOST}:{port}"
    named = f"{name}-{{pid}}"
    return ("--bind", bind, "--timeout", "90", "--name-template", named)
