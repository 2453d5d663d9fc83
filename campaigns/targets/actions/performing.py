"""Perform an action over HTTP, SSH or SQL, and return how it ended."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic, sleep
from types import ModuleType
from typing import TYPE_CHECKING, Any

from campaigns.kit.redaction import begin_of, redact
from campaigns.kit.ssh.access import ActionFailed, SshAccess
from campaigns.targets.actions import http
from campaigns.targets.actions.values import HTTP, MANUAL, PLACE, SQL, Action

if TYPE_CHECKING:
    from campaigns.kit.ssh.commands import Ran

MOST_SAID = 600
AGAIN_SECONDS = 1.0
ONE_LOOK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """The connections to the machine of a target; `ssh` is None where it has no login."""

    endpoint: http.Endpoint
    ssh: SshAccess | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The end of an action. `status`: status 200, or exit code 0; `output`: the end of the output."""

    status: str
    output: str
    seconds: float

    def __str__(self) -> str:
        text = f": {self.output}" if self.output else ""
        return f"{self.status} after {self.seconds:.1f} s{text}"


def perform(
    action: Action, server: Server, check: Callable[[], None], *, value: Any = None
) -> Done:
    """Perform an action. Raise ActionFailed where it does not succeed."""
    if action.way == HTTP:
        answer = http.ask(action, server.endpoint, check, action.seconds, value)
        return Done(f"status {answer.status}", shortened(answer.shown), answer.seconds)
    if action.way == SQL:
        return _put(action, server, check, value)
    ran = _run(action, server, check, action.seconds, value)
    return Done("exit code 0", shortened(ran.output or ran.errors), ran.seconds)


def read_value(action: Action, server: Server, check: Callable[[], None]) -> Any:
    """Return the value that an action reads back: a text, a number or a boolean. Raise ActionFailed."""
    if action.way == HTTP:
        return http.value_at(http.ask(action, server.endpoint, check, action.seconds), action.at)
    if action.way == SQL:
        return _postgresql().read(action, server.endpoint, check)
    ran = _run(action, server, check, action.seconds)
    if ran.cut:
        raise ActionFailed("The command printed far more than a value; let it print that alone.")
    if action.at:
        return http.read_json(ran.output, action.at, "The command")
    return ran.output.strip()


def objection(
    action: Action, server: Server, check: Callable[[], None], values: Iterable[Any] = ()
) -> str:
    """Return why an action could not set one of these values, as far as that can be asked without changing anything.

    Empty where nothing speaks against it. Raise ActionFailed where nobody answers.
    """
    if action.way != SQL:
        return ""
    return str(_postgresql().objection(action, server.endpoint, check, values))


def await_ready(action: Action, server: Server, check: Callable[[], None]) -> float:
    """Repeat an action until the server is ready; return the seconds that it took. Raise ActionFailed."""
    begun = monotonic()
    while True:
        left = action.seconds - (monotonic() - begun)
        try:
            _look_once(action, server, check, max(1.0, min(left, ONE_LOOK_SECONDS)))
        except ActionFailed as error:
            if left <= 0:
                raise ActionFailed(
                    f"The server was not ready within {action.seconds:g} s: {error}", error.output
                ) from None
        else:
            return monotonic() - begun
        rest = monotonic() + AGAIN_SECONDS
        while monotonic() < rest:
            check()
            sleep(AGAIN_SECONDS / 10)


def _look_once(action: Action, server: Server, check: Callable[[], None], seconds: float) -> None:
    if action.way == HTTP:
        answer = http.ask(action, server.endpoint, check, seconds)
        if action.expect is None:
            return
        result = http.value_at(answer, action.at)
    else:
        ran = _run(action, server, check, seconds)
        if action.expect is None:
            return
        result = (
            http.read_json(ran.output, action.at, "The command")
            if action.at
            else ran.output.strip()
        )
    if result != action.expect and str(result) != str(action.expect):
        raise ActionFailed(f"It says {begin_of(str(result), 100)}, not {action.expect}.")


def _put(action: Action, server: Server, check: Callable[[], None], value: Any) -> Done:
    begun = monotonic()

    def restart(seconds: float) -> None:
        _run(action, server, check, seconds)

    done = _postgresql().put(action, value, server.endpoint, check, restart)
    return Done("done", done, monotonic() - begun)


def _postgresql() -> ModuleType:
    """Return the module that speaks to PostgreSQL, loaded where one is spoken to."""
    from campaigns.targets.actions import postgresql

    return postgresql


def _run(
    action: Action, server: Server, check: Callable[[], None], seconds: float, value: Any = None
) -> "Ran":
    from campaigns.kit.ssh import commands as ssh

    if action.way == MANUAL:
        raise ActionFailed("A manual step is not done by a worker.")
    if server.ssh is None:
        raise ActionFailed(
            "No SSH login is configured for the target: an admin gives it on its page."
        )
    arguments = [argument.replace(PLACE, _as_text(value)) for argument in action.arguments]
    ran = ssh.run(arguments, server.ssh, server.endpoint.rules, check, seconds)
    if ran.exit_status:
        text = shortened(ran.errors or ran.output)
        raise ActionFailed(
            f"“{action.arguments[0]}” ended with exit code {ran.exit_status}: {text or 'no words'}",
            text,
        )
    return ran


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def shortened(text: str) -> str:
    """Return the end of a text, where error messages are, without secrets: they go before half of one is cut off."""
    text = redact(text.strip())
    return text if len(text) <= MOST_SAID else f"…{text[-MOST_SAID:]}"
