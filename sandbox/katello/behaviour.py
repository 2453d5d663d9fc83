"""How the simulated Katello behaves; a test changes it, at the start or while it runs."""

import re
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from sandbox.grammar import BadPath, pairs, read
from sandbox.katello.authority import IDENTITY_KEYS
from sandbox.settings import Feed

OUTCOMES = ("success", "warning", "error", "pause", "cancelled")
FAULTS = (
    *("", "html", "unavailable", "empty", "rate", "unauthorized", "absent", "gone"),
    *("half", "reset", "hang"),
)
JOB_FAILURES = ("script", "connect", "pickup", "timeout", "proxy", "planning")
CLIENT_CERTIFICATES = ("optional", "required")
LONGEST_SECONDS = 3600.0
MOST_HOSTS = 10_000


class BadKatello(ValueError):
    """A setting that does not exist, or with a value that it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KatelloBehaviour:
    """Settings, each with the value of a Katello that is in order."""

    user: str = "admin"
    password: str = field(default="password", repr=False)
    sync_seconds: float = 1.0  # of a sync that looks at everything
    skip_seconds: float = 0.3  # of one that finds the metadata unchanged
    sync_spread: float = 0.0  # standard deviation of the logarithm of both
    publish_seconds: float = 0.5  # of a repository of a content view, on an idle worker of Dynflow
    promote_seconds: float = 0.2
    proxy_sync_seconds: float = 0.4  # of a repository of a content view, to a smart proxy
    applicability_seconds: float = 0.05  # of a host
    reclaim_seconds: float = 0.2  # that packages which can be fetched again are deleted
    content_faults: str = (
        ""  # of all content, in the grammar of the sandbox's repositories: flaky=0.2/corrupt=0.1
    )
    content_guard: bool = False  # content is for registered hosts only
    client_certificates: str = "optional"  # over TLS; or required
    hosts: int = 0  # of somebody else, on which jobs can run: container-00001.example and so on
    job_plan_seconds: float = 0.002  # that Foreman plans a host of a job
    foreign_inputs: bool = False  # job templates take inputs of others besides their own
    job_look_seconds: float = (
        0.0  # between two looks of Foreman at the hosts of a job; a real one takes 15
    )
    job_failure: str = "script"  # of the hosts that fail: see jobs.FAILURES
    lost_cancels: int = 0  # cancellations of a job that reach nobody, unless they are forced
    may_run_jobs: bool = True
    may_edit_hosts: bool = True
    may_view_parameters: bool = True  # of hosts
    mqtt_broker: str = ""  # host:port, where the smart proxy tells registered hosts of their jobs; without it SSH is modelled
    start_seconds: float = 0.0  # until a planned task runs
    cancel_seconds: float = 0.1
    answer_seconds: float = 0.0  # wait before each answer
    commit_seconds: float = 0.0  # until a POST has its effect, also if its connection was closed
    session_seconds: float = 3600.0
    outcome: str = "success"  # of the syncs that begin from now on
    error: str = "404, message='Not Found', url='http://feed/repodata/repomd.xml'"
    added: int = 0  # packages that each sync adds
    duration: bool = True  # tasks tell their duration, in milliseconds
    iso: bool = False  # instants as ISO 8601 with milliseconds
    request_ids: bool = True  # the header X-Request-Id reaches Foreman
    can_stop: bool = True  # paused tasks can be stopped over the API
    old_errors: bool = True  # errors say displayMessage, as before Katello 5.0
    may_write: bool = True  # without it, the user may only read
    may_list_proxies: bool = True
    unavailable: bool = False  # 503, as httpd answers where Foreman is away
    broken: bool = False  # 500 pages to everybody
    failing_service: str = ""  # such as pulp3
    clock_offset_seconds: float = 0.0
    identity_key: str = "rsa2048"  # of hosts that register: rsa2048, rsa4096, ec
    candlepin_mode: str = "NORMAL"  # or SUSPEND: then nobody can register
    host_limit: int = 10  # of the activation key few-ak
    host_profile_assume: bool = True  # a known host may come with another DMI UUID
    host_dmi_uuid_duplicates: str = ""  # DMI UUIDs that several hosts may have
    unregister_delete_host: bool = False  # unregistering deletes the host too
    foreman_proxy_content_auto_sync: bool = False  # a real Foreman has it on until somebody sets it
    fault: str = ""  # one of FAULTS, of a share of the requests
    fault_share: float = 1.0
    fault_on: str = ""  # a regular expression in "POST /rhsm/consumers" and the like
    ignored_setting: str = ""  # of the machine; changing it has no effect

    @classmethod
    def of(cls, document: object) -> Self:
        """Read settings from decoded JSON. Raise BadKatello, naming the one that is wrong."""
        return cls().changed(document)

    def changed(self, document: object) -> Self:
        """Give these settings with others in their place. Raise BadKatello like `of`."""
        if not isinstance(document, dict):
            raise BadKatello(f"settings are a JSON object, not {document!r}")
        known = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        if unknown := document.keys() - known.keys():
            raise BadKatello(f"no such setting: {min(unknown)}; there are {', '.join(known)}")
        checked: dict[str, Any] = {
            name: _checked(name, value, known[name]) for name, value in document.items()
        }
        return replace(self, **checked)

    def document(self) -> dict[str, Any]:
        """Give the settings for JSON, without the password."""
        names = (setting.name for setting in fields(self) if setting.name != "password")
        return {name: getattr(self, name) for name in names}


_CHOICES = {
    "outcome": OUTCOMES,
    "identity_key": IDENTITY_KEYS,
    "candlepin_mode": ("NORMAL", "SUSPEND"),
    "fault": FAULTS,
    "job_failure": JOB_FAILURES,
    "client_certificates": CLIENT_CERTIFICATES,
}


def _checked(name: str, value: Any, now: object) -> object:
    if name in _CHOICES:
        if value in _CHOICES[name]:
            return value
        choices = ", ".join(choice or "nothing" for choice in _CHOICES[name])
        raise BadKatello(f"{name}: one of {choices}, not {value!r}")
    if name == "fault_on":
        _check_pattern(value)
    if name == "content_faults":
        _check_faults(value)
    if isinstance(now, bool | str):
        if type(value) is type(now):
            return value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least = -LONGEST_SECONDS if name == "clock_offset_seconds" else 0
        if least <= value <= (MOST_HOSTS if name == "hosts" else LONGEST_SECONDS):
            return int(value) if isinstance(now, int) else float(value)
    kinds = {bool: "true or false", str: "a text", int: "a number", float: "a number"}
    raise BadKatello(f"{name}: {kinds[type(now)]} up to {LONGEST_SECONDS:g}, not {value!r}")


def _check_faults(value: object) -> None:
    try:
        settings = ["packages=2000", *filter(None, str(value).split("/"))]
        read(pairs(settings), Feed.RPM)
    except BadPath as problem:
        raise BadKatello(f"content_faults: {problem}") from None


def _check_pattern(value: object) -> None:
    try:
        re.compile(str(value))
    except re.error as error:
        raise BadKatello(f"fault_on: a regular expression, not {value!r}: {error}") from None
