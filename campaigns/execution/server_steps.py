"""Run a target's reset commands and wait until it is ready; each step leaves a proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from campaigns.kinds.base import DriverError, Proof
from campaigns.kit.redaction import redact
from campaigns.models import ManualStep, Run, Target, TargetStep
from campaigns.targets.actions import (
    MANUAL,
    Action,
    ActionFailed,
    Server,
    await_ready,
    perform,
)
from campaigns.targets.reaching import action_of
from campaigns.targets.ssh_logins import note_offered_key

Result = TypeVar("Result")
MOST_LETTERS = 90
BY_HAND = "by hand"


class SettingFailed(DriverError):
    """Something could not be set, read back, reset or awaited; nothing was measured."""

    void = True


@dataclass(frozen=True, slots=True)
class Workbench:
    """What is needed to act on a target's machine.

    reach: returns its server; called where a step needs it. check: raises where the attempt must end. say: writes a line of
    the log. patiently: acts on the database, and waits while it is away.
    """

    target: Target
    reach: Callable[[], Server]
    check: Callable[[], None]
    say: Callable[[str], None]
    patiently: Callable[[Callable[[], Any]], Any]

    @property
    def server(self) -> Server:
        """The server, with decrypted secrets. Raise SecretUnreadable."""
        server: Server = self.patiently(self.reach)
        return server

    def steps(self, purpose: str) -> list[tuple[TargetStep, Action]]:
        """Return the steps of a purpose, in their order."""
        rows = TargetStep.objects.filter(target=self.target, purpose=purpose)
        result = self.patiently(lambda: list(rows.order_by("position", "pk")))
        return [(step, action_of(step)) for step in result]


def seconds_of(actions: Sequence[Action]) -> float:
    """Return the largest total duration of actions."""
    return sum(action.seconds for action in actions if action.way != MANUAL)


def reset(bench: Workbench, run: Run) -> list[Proof]:
    """Run the reset commands one after another, and wait until the server is ready.

    It ends with the first one that fails; its proof has the reason.
    """
    proofs: list[Proof] = []
    for step, action in bench.steps(TargetStep.Purpose.RESET):
        proofs.append(
            _manual_step(step, run) if action.way == MANUAL else _done(step, action, bench)
        )
        if not proofs[-1].ok:
            return proofs
    if proofs:
        proofs += until_ready(bench)
    return proofs


def until_ready(bench: Workbench) -> list[Proof]:
    """Probe until the server is ready; each probe stores a proof."""
    proofs = []
    for step, action in bench.steps(TargetStep.Purpose.READY):
        try:
            seconds = await_ready(action, bench.server, bench.check)
        except ActionFailed as error:
            note_offered_key(bench.target, error)
            proofs.append(_proof(step, "ready", redact(str(error)), ok=False))
            break
        proofs.append(_proof(step, "ready", "ready", ok=True))
        bench.say(f"{step.name}: ready after {seconds:.1f} s")
    return proofs


def _done(step: TargetStep, action: Action, bench: Workbench) -> Proof:
    expected = "exit code 0" if action.way == "command" else "status 2xx"
    try:
        done = perform(action, bench.server, bench.check)
    except ActionFailed as error:
        note_offered_key(bench.target, error)
        return _proof(step, expected, redact(str(error)), ok=False)
    bench.say(f"{step.name}: {redact(str(done))}")
    return _proof(step, expected, redact(str(done)), ok=True)


def _manual_step(step: TargetStep, run: Run) -> Proof:
    done = (
        ManualStep.objects.filter(run=run, step=step, done_at__isnull=False)
        .order_by("-pk")
        .select_related("done_by")
        .first()
    )
    if done is None:
        return _proof(step, BY_HAND, "nobody has confirmed that it is done", ok=False)
    return _proof(step, BY_HAND, f"{BY_HAND}, says {done.done_by or 'somebody'}", ok=True)


def _proof(step: TargetStep, expected: str, measured: str, *, ok: bool) -> Proof:
    return Proof(step.name[:MOST_LETTERS], expected, measured, "", ok=ok)
