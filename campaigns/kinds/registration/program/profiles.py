"""The requests by which each client registers a host: order, authentication, connections. Pure.

Recorded with subscription-manager 1.30.15 and 1.29.53; the steps of Foreman's global registration are
from its sources, without what the script does locally on a host.
"""

from dataclasses import dataclass
from enum import StrEnum


class Auth(StrEnum):
    """How a request authenticates its sender."""

    NONE = "none"
    CERTIFICATE = "certificate"
    TOKEN = "token"  # noqa: S105  the name of a method, no password


class Part(StrEnum):
    """The part of a registration that a request belongs to; the times of a part are added up."""

    SCRIPT = "script"
    SUBSCRIPTION = "subscription"
    CONFIGURATION = "configuration"
    BUILT = "built"


@dataclass(frozen=True, slots=True)
class Step:
    """One request.

    path: below that of the API (`/rhsm`), or of Foreman where `part` is not the subscription; {uuid} and
        {serial} are the host's own.
    connection: the number of the connection, from 1; requests with the same number share one.
    body: the name of the body in `bodies`; empty: none.
    needs: the rel or the capability without which the client leaves the step out.
    may_fail: whether the client goes on where the server refuses it.
    """

    name: str
    method: str
    path: str
    auth: Auth
    connection: int
    body: str = ""
    part: Part = Part.SUBSCRIPTION
    needs: str = ""
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The requests of one client. version: of subscription-manager."""

    name: str
    version: str
    steps: tuple[Step, ...]

    @property
    def connections(self) -> int:
        """How many connections a host opens."""
        return len({step.connection for step in self.steps})

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the steps, in their order."""
        return tuple(dict.fromkeys(step.part for step in self.steps))

    @property
    def sends_profile(self) -> bool:
        """Whether a host sends its packages while it registers."""
        return any(step.body == "profile" for step in self.steps)


CONSUMER = "consumer"
"""The step that creates the consumer, which is the slow one."""
PACKAGES, CONTENT_ACCESS = "packages", "org_level_content_access"


def _before_certificate(first: int) -> tuple[Step, ...]:
    query = "?owner={owner}&activation_keys={keys}"
    return (
        Step("service", "GET", "/", Auth.NONE, first),
        Step(CONSUMER, "POST", f"/consumers{query}", Auth.NONE, first + 1, body="consumer"),
    )


def _with_certificate(connection: int) -> tuple[Step, ...]:
    own = "/consumers/{uuid}"

    def get(name: str, path: str, needs: str = "") -> Step:
        return Step(name, "GET", path, Auth.CERTIFICATE, connection, needs=needs)

    return (
        get("status", "/status"),
        get("serials", f"{own}/certificates/serials"),
        get("certificates", f"{own}/certificates?serials={{serial}}"),
        get("status_2", "/status"),
        get("accessible_content", f"{own}/accessible_content", CONTENT_ACCESS),
        get("content_overrides", f"{own}/content_overrides"),
    )


def _profile_upload(connection: int) -> tuple[Step, ...]:
    return (
        Step("status_3", "GET", "/status", Auth.CERTIFICATE, connection, needs=PACKAGES),
        Step("profile", "PUT", "/consumers/{uuid}/profiles", Auth.CERTIFICATE, connection,
             body="profile", needs=PACKAGES, may_fail=True),
    )  # fmt: skip


def _compliance(connections: tuple[int, ...]) -> tuple[Step, ...]:
    return tuple(
        Step(f"compliance_{number}", "GET", "/consumers/{uuid}/compliance", Auth.CERTIFICATE, one)
        for number, one in enumerate(connections, 1)
    )


def _rhsm_130(first: int) -> tuple[Step, ...]:
    return (*_before_certificate(first), *_with_certificate(first + 2), *_profile_upload(first + 2))


RHSM_130 = Profile("rhsm-1.30", "1.30.15", _rhsm_130(1))
RHSM_129 = Profile(
    "rhsm-1.29",
    "1.29.53",
    (*_before_certificate(1), *_with_certificate(3), *_compliance((3, 3, 4, 4))),
)
FOREMAN_GLOBAL = Profile(
    "foreman-global",
    RHSM_130.version,
    (
        Step("script", "GET", "{script}", Auth.TOKEN, 1, part=Part.SCRIPT),
        *_rhsm_130(2),
        Step("configuration", "POST", "{register}", Auth.TOKEN, 5, body="registered",
             part=Part.CONFIGURATION),
        Step("built", "GET", "{built}", Auth.NONE, 6, part=Part.BUILT),
    ),
)  # fmt: skip

PROFILES = {profile.name: profile for profile in (RHSM_130, RHSM_129, FOREMAN_GLOBAL)}
