"""What the simulated server is made of: settings of Puma, the database, httpd and the machine."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self


class UnknownSetting(LookupError):
    """There is no setting of that name."""


class BadSetting(ValueError):
    """A value that the setting cannot have; the message lists the allowed ones."""


NO_PROFILE = "none"
OF_PROFILE = ("cpus", "memory_gib", "puma_workers", "puma_threads", "max_connections")
PROFILES = {
    "default": (4, 20.0, 4, 16, 500),
    "medium": (8, 32.0, 8, 16, 1000),
    "large": (16, 64.0, 12, 16, 1000),
    "extra-large": (32, 128.0, 16, 16, 1000),
    "extra-extra-large": (48, 256.0, 20, 16, 1000),
}
"""Values of OF_PROFILE by the tuning profile of the installer: the machine that each is for, and what it sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Settings with the values of a small installation.

    `puma_threads_min`: threads that a worker has from its start, at most `puma_threads`; it makes the others on demand.
    `proxy_cpus`: of a smart proxy through which hosts register; 0: they reach the server itself.
    `proxy_timeout`: seconds of the server after which the proxy gives up an answer.
    `time_scale`: seconds here for one of the server; 0 answers at once, and nothing is modelled.
    `db_pool`: connections of one worker; 0 is as many as it has threads, and four more.
    `dynflow_workers`, `dynflow_threads`: processes that work on tasks, and threads of each.
    `rex_slots`: hosts of a job that the smart proxy works on at once; `rex_seconds`: of a host, on the clock here, on an idle
    proxy; `rex_fail_share`, `rex_hang_share`: shares of a job's hosts that fail, and that never end.
    `mqtt_rate_limit`: hosts that the proxy lets fetch their jobs or work on them at a time, 0: any number; `mqtt_resend_interval`,
    `mqtt_ttl`: seconds here after which a host is told again, and after which a message counts as unanswered.
    `max_connections`: of PostgreSQL. `httpd_limit`: requests in the server at once.
    `restart_seconds`: how long nobody is served after a setting was changed, on the clock here.
    `content_scale`: seconds here for one of the content app, 0: content is served at once. `content_workers`: its processes, 0: as
    many as the installer starts, 2 x min(8, CPUs) + 1. `content_ms`, `content_cold_ms`: CPU of a request, and of one that has to
    be fetched from the feed; `content_wait_ms`: that a process waits besides; `content_tls_ms`: CPU of a handshake.
    `proxy_httpd_limit`: requests in the proxy at once.
    `installer_profile`: gives the machine the size that a tuning profile is for, and its settings; `none` gives back what it had before.
    `own`: what that was, as OF_PROFILE; empty without a profile. Nobody sets or reads it.
    """

    puma_workers: int = 4
    puma_threads: int = 5
    puma_threads_min: int = 0
    puma_backlog: int = 1024
    db_pool: int = 0
    max_connections: int = 500
    httpd_limit: int = 1024
    dynflow_workers: int = 1
    dynflow_threads: int = 5
    rex_slots: int = 100
    rex_seconds: float = 1.0
    rex_fail_share: float = 0.0
    rex_hang_share: float = 0.0
    mqtt_rate_limit: int = 0
    mqtt_resend_interval: int = 900
    mqtt_ttl: int = 5
    cpus: int = 8
    memory_gib: float = 32.0
    proxy_cpus: int = 0
    proxy_memory_gib: float = 12.0
    proxy_timeout: float = 60.0
    proxy_httpd_limit: int = 4096
    content_workers: int = 0
    content_ms: float = 16.8
    content_cold_ms: float = 31.0
    content_wait_ms: float = 3.4
    content_tls_ms: float = 3.0
    content_scale: float = 0.0
    time_scale: float = 0.0
    restart_seconds: float = 0.0
    seed: int = 1
    installer_profile: str = NO_PROFILE
    own: tuple[float, ...] = field(default=(), repr=False)

    @property
    def first_threads(self) -> int:
        """How many threads a worker has before the first request."""
        return min(self.puma_threads_min, self.puma_threads)

    @property
    def pool(self) -> int:
        """How many connections to the database a worker may have."""
        return self.db_pool or self.puma_threads + 4

    def changed(self, name: str, value: Any) -> Self:
        """Give these settings with another value. Raise UnknownSetting, BadSetting."""
        if name in CHOICES:
            return self._with_profile(value)
        if name not in BOUNDS:
            raise UnknownSetting(f"There is no setting {name}; there are {', '.join(NAMES)}.")
        least, most = BOUNDS[name]
        whole = isinstance(getattr(self, name), int)
        kinds = int if whole else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not least <= value <= most:
            number = "a whole number" if whole else "a number"
            raise BadSetting(f"{name} is {number} from {least:g} to {most:g}, not {value!r}.")
        values: dict[str, Any] = {name: value if whole else float(value)}
        return replace(self, **values)

    def document(self) -> dict[str, Any]:
        """Give the settings for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "own"}

    def _with_profile(self, name: Any) -> Self:
        if name not in CHOICES["installer_profile"]:
            choices = ", ".join(CHOICES["installer_profile"])
            raise BadSetting(f"installer_profile is one of {choices}, not {name!r}.")
        before = self.own or tuple(getattr(self, each) for each in OF_PROFILE)
        values: Any = before if name == NO_PROFILE else PROFILES[name]
        own = () if name == NO_PROFILE else before
        changed: dict[str, Any] = dict(zip(OF_PROFILE, values, strict=True))
        return replace(self, installer_profile=name, own=own, **changed)


BOUNDS: dict[str, tuple[float, float]] = {
    "puma_workers": (1, 100),
    "puma_threads": (1, 128),
    "puma_threads_min": (0, 128),
    "puma_backlog": (1, 65535),
    "db_pool": (0, 1000),
    "max_connections": (10, 10_000),
    "httpd_limit": (1, 100_000),
    "dynflow_workers": (1, 64),
    "dynflow_threads": (1, 64),
    "rex_slots": (1, 20_000),
    "rex_seconds": (0.001, 600),
    "rex_fail_share": (0, 1),
    "rex_hang_share": (0, 1),
    "mqtt_rate_limit": (0, 20_000),
    "mqtt_resend_interval": (1, 86_400),
    "mqtt_ttl": (1, 3600),
    "cpus": (1, 256),
    "memory_gib": (1, 4096),
    "proxy_cpus": (0, 256),
    "proxy_memory_gib": (1, 4096),
    "proxy_timeout": (1, 3600),
    "proxy_httpd_limit": (1, 100_000),
    "content_workers": (0, 256),
    "content_ms": (0.001, 60_000),
    "content_cold_ms": (0.001, 60_000),
    "content_wait_ms": (0, 60_000),
    "content_tls_ms": (0, 60_000),
    "content_scale": (0, 10),
    "time_scale": (0, 10),
    "restart_seconds": (0, 600),
    "seed": (0, 2**32 - 1),
}
CHOICES: dict[str, tuple[str, ...]] = {"installer_profile": (NO_PROFILE, *PROFILES)}
NAMES = (*BOUNDS, *CHOICES)
OF_TASKS = frozenset(
    {"dynflow_workers", "dynflow_threads"}
    | {"rex_slots", "rex_seconds", "rex_fail_share", "rex_hang_share"}
    | {"mqtt_rate_limit", "mqtt_resend_interval", "mqtt_ttl"}
)  # requests do not meet them
OF_PROXY = frozenset({"proxy_cpus", "proxy_memory_gib", "proxy_timeout"})  # they restart the proxy
OF_CONTENT = frozenset(
    {"content_workers", "content_ms", "content_cold_ms", "content_wait_ms", "content_tls_ms"}
    | {"content_scale", "proxy_httpd_limit"}
)  # they restart the content app
AT_ONCE = frozenset({"time_scale", "restart_seconds", "seed"})  # they restart nothing
