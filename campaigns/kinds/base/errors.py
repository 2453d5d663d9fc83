"""What a driver raises on purpose. Pure.

  DriverError             what a person can act on; the run ends `failed`, the message is shown
  ├─ ParametersRefused    the target does not take parameters; each has a message
  ├─ TargetUnavailable    the target refuses, hangs or resets before anything could be measured; `void`
  │  └─ MachineRefused    the machine of the target shows another host key, or refuses the login
  ├─ GeneratorFailed      the load generator broke, not the target; the run is `void`
  ├─ NotClean             the clean state could not be reached; the run is `void`
  │  └─ NotOurs           the target holds things of others, who alone may remove them
  ├─ CredentialRefused    a credential of the team is not there, has ended, or may not be sent there; `void`
  ├─ RightsNotConfirmed   the login has rights beyond the target that no admin confirmed; the run is `void`
  ├─ RemovedByOthers      what the run had made on the target is gone; the run is `void`
  ├─ LevelNotInForce      a level did not take effect on the target; the run is `void`
  └─ AddressRefused       the network rules exclude the address; the run is `void`
  Cancelled               the context's cancel flag was seen; load has stopped

A void run is repeated, except after MachineRefused, NotOurs, CredentialRefused, RightsNotConfirmed and AddressRefused, where another
attempt would fail again.
Any other exception is a bug: it keeps its traceback and is re-raised.
"""

from collections.abc import Mapping
from typing import ClassVar


class DriverError(Exception):
    """An expected failure. The message says what happened, to which thing, and what to do."""

    void: ClassVar[bool] = False
    lasting: ClassVar[bool] = False
    """Whether another attempt fails in the same way until a person acts."""


class ParametersRefused(DriverError):
    """The target does not take parameters; `refused` holds its messages by the parameter's name."""

    def __init__(self, message: str, refused: Mapping[str, str]) -> None:
        super().__init__(message)
        self.refused = refused


class TargetUnavailable(DriverError):
    """The target did not answer. Where a probe finds the same, the campaign waits for it."""

    void = True


class MachineRefused(TargetUnavailable):
    """The machine of the target shows another host key, or refuses the login. Where a probe finds the same, the campaign pauses."""

    lasting = True


class GeneratorFailed(DriverError):
    """The engine or its machine failed: the run says nothing about the target."""

    void = True


class NotClean(DriverError):
    """Something of an earlier run is left and could not be removed."""

    void = True


class NotOurs(NotClean):
    """The target holds things that others made; perfdash never removes them."""

    lasting = True


class CredentialRefused(DriverError):
    """A credential of the team is not there, has ended, may not be sent to an address, or the server refuses it."""

    void = True
    lasting = True


class RightsNotConfirmed(DriverError):
    """The login of the target has rights beyond it that no admin of the team has confirmed."""

    void = True
    lasting = True


class RemovedByOthers(DriverError):
    """Somebody else removed from the target what the run had made there, before its end."""

    void = True


class LevelNotInForce(DriverError):
    """The target reads back another value than the one that was applied."""

    void = True


class AddressRefused(DriverError):
    """The network rules of the workers exclude the address."""

    void = True
    lasting = True


class Cancelled(Exception):
    """The run was cancelled, or its lease ran out; nothing loads the target any more."""
