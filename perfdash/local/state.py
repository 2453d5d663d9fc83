"""The state of a running perfdash in a file, for a second start and for `status`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from perfdash.local import private

SETTINGS = {
    "ALLOWED_HOSTS", "BROKER_URL", "CSRF_TRUSTED_ORIGINS", "DATABASE_ANSWER_SECONDS",
    "DATABASE_POOLED", "DATABASE_URL", "DEBUG", "DJANGO_SETTINGS_MODULE", "LOG_FORMAT", "LOG_LEVEL", "SECRET_KEY",
    "GENERATORS_SECONDS", "LINES_SECONDS", "STEP_SECONDS", "WORK_DIRECTORY",
}  # fmt: skip
SECRETS = frozenset({
    "BROKER_URL", "DATABASE_URL", "PERFDASH_EMAIL_URL", "PERFDASH_ENCRYPTION_KEYS", "PERFDASH_METRICS_TOKEN",
    "PERFDASH_OIDC_CLIENT_SECRET", "SECRET_KEY",
})  # fmt: skip
"""Variables whose values are nowhere but where they come from."""
FAMILIES = ("PERFDASH_", "LEASE_", "RENEW_", "DISPATCH_", "PROBE_", "STATIC_")
SURROUNDINGS = {
    "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH",
    "PYTHONUNBUFFERED", "PYTHONWARNINGS", "SSL_CERT_FILE", "SSL_CERT_DIR", "VIRTUAL_ENV",
}  # fmt: skip


@dataclass(slots=True)
class Record:
    """One service: `since` is an instant as ISO 8601, empty while it does not run; `pid` is 0 then."""

    pid: int
    since: str
    restarts: int = 0
    last_end: str = ""


@dataclass(slots=True)
class State:
    """`environment` is what every process got of settings, without secrets; `given` names those that came as variables.

    `services` holds the last process of each service, also while it has none.
    """

    pid: int
    base_url: str
    sandbox_url: str
    pulp_url: str = ""  # of the simulated Pulp
    katello_url: str = ""  # of the other
    katello_tls_url: str = ""  # of the same, where hosts register
    started: str = ""
    ready: bool = False
    services: dict[str, int] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    given: list[str] = field(default_factory=list)

    def note(self, name: str, record: Record) -> None:
        """Take note of a service's start or end."""
        if record.pid:
            self.services[name] = record.pid
        self.records[name] = record

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all. Raise OSError."""
        private.replace(path, json.dumps(asdict(self), indent=1).encode())

    @classmethod
    def load(cls, path: Path) -> "State":
        """Read the file. Raise FileNotFoundError where nothing runs, or is only about to."""
        result = json.loads(path.read_text(encoding="utf-8"))
        records = {name: Record(**record) for name, record in result.pop("records").items()}
        return cls(**result, records=records)


def needed(environment: Mapping[str, str]) -> dict[str, str]:
    """Keep the variables that a command of perfdash needs, but for secrets; no secret of another program is stored either."""
    return {
        name: value for name, value in environment.items() if _is_ours(name) and name not in SECRETS
    }


def _is_ours(name: str) -> bool:
    bare = name.removesuffix("_FILE")
    ours = bare in SETTINGS or name in SURROUNDINGS
    return ours or name.startswith((*FAMILIES, "LC_"))
