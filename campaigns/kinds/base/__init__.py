"""The contract between a kind of test and the rest. Knows no database, no Celery, no clock but its own.

A kind is one module, or one folder, beside this one. Its name is the kind; it holds `driver`, one instance of a
subclass of Driver. What it is given and gives stands in `values`, what it raises on purpose in `errors`.
"""

from campaigns.kinds.base.driver import Driver
from campaigns.kinds.base.errors import (
    AddressRefused,
    Cancelled,
    DriverError,
    GeneratorFailed,
    LevelNotInForce,
    NotClean,
    NotOurs,
    ParametersRefused,
    TargetUnavailable,
)
from campaigns.kinds.base.generating import parts_of
from campaigns.kinds.base.snippets import Snippet
from campaigns.kinds.base.values import (
    REFUSED,
    STAND_IN,
    ClosedLoop,
    Context,
    Distribution,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    Parameters,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Series,
    Target,
)

__all__ = [
    "REFUSED",
    "STAND_IN",
    "AddressRefused",
    "Cancelled",
    "ClosedLoop",
    "Context",
    "Distribution",
    "Driver",
    "DriverError",
    "EffectiveSetting",
    "GeneratorFailed",
    "Health",
    "LevelNotInForce",
    "Measured",
    "Metric",
    "NotClean",
    "NotOurs",
    "Parameters",
    "ParametersRefused",
    "Phase",
    "Preset",
    "Proof",
    "Recomputed",
    "Series",
    "Snippet",
    "Target",
    "TargetUnavailable",
    "parts_of",
]
