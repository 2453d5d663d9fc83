"""What a driver raises on purpose. Pure.

  DriverError             what a person can act on; the run ends `failed`, the message is shown
  ├─ ParametersRefused    the target does not take parameters; its words stand beside each
  ├─ TargetUnavailable    the target refuses, hangs or resets before anything could be measured; `void`
  ├─ GeneratorFailed      what generates the load broke, not the target; the run is `void`
  ├─ NotClean             the clean state could not be reached; the run is `void`
  │  └─ NotOurs           what stands in the way belongs to others, who alone may remove it
  ├─ LevelNotInForce      a level did not take effect on the target; the run is `void`
  └─ AddressRefused       the rules say that workers may not connect there; the run is `void`
  Cancelled               the context's cancel flag was seen; load has stopped

A void run is repeated, but not after NotOurs and AddressRefused: another attempt would end alike.

Anything else is a bug: it keeps its traceback and is re-raised.
"""

from collections.abc import Mapping
from typing import ClassVar


class DriverError(Exception):
    """An expected failure; its message says what, which and what to do."""

    void: ClassVar[bool] = False
    lasting: ClassVar[bool] = False
    """Another attempt would end alike, until a person has done something."""


class ParametersRefused(DriverError):
    """The target does not take parameters; `refused` holds its sentences by the parameter's name."""

    def __init__(self, message: str, refused: Mapping[str, str]) -> None:
        super().__init__(message)
        self.refused = refused


class TargetUnavailable(DriverError):
    """The target did not answer."""

    void = True


class GeneratorFailed(DriverError):
    """The engine died, or its machine could not keep what came: nothing is known of the target."""

    void = True


class NotClean(DriverError):
    """Something was left of an earlier run, and could not be removed."""

    void = True


class NotOurs(NotClean):
    """The target holds what others made; perfdash never removes it."""

    lasting = True


class LevelNotInForce(DriverError):
    """The target reads back another value than the one that was applied."""

    void = True


class AddressRefused(DriverError):
    """The rules of where workers may connect exclude the address."""

    void = True
    lasting = True


class Cancelled(Exception):
    """Somebody asked for the end, or the lease ran out; nothing loads the target any more."""
