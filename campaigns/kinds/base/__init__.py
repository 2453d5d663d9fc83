"""The contract between a kind of test and the rest of perfdash. It uses neither database nor Celery.

A kind is a module, or a folder, next to this package. Its name is the kind; it holds `driver`, an instance of
a subclass of Driver. `values` holds what a driver receives and returns, `errors` what it raises on purpose.
"""

from campaigns.kinds.base.credentials import Credential
from campaigns.kinds.base.cutting_short import CutShort, cut_short
from campaigns.kinds.base.driver import Driver
from campaigns.kinds.base.errors import (
    AddressRefused,
    Cancelled,
    CredentialRefused,
    DriverError,
    GeneratorFailed,
    LevelNotInForce,
    MachineRefused,
    NotClean,
    NotOurs,
    ParametersRefused,
    RemovedByOthers,
    RightsNotConfirmed,
    TargetUnavailable,
)
from campaigns.kinds.base.generating import parts_of
from campaigns.kinds.base.snippets import Snippet
from campaigns.kinds.base.values import (
    REFUSED,
    SIMULATOR,
    ClosedLoop,
    Context,
    Distribution,
    EffectiveSetting,
    Found,
    FoundMetric,
    Health,
    HostIdentity,
    Measured,
    Metric,
    Output,
    Phase,
    Preset,
    Proof,
    Recomputed,
    Series,
    Served,
    Subject,
    Target,
)
from campaigns.kit.mappings import Parameters

__all__ = [
    "REFUSED",
    "SIMULATOR",
    "AddressRefused",
    "Cancelled",
    "ClosedLoop",
    "Context",
    "Credential",
    "CredentialRefused",
    "CutShort",
    "Distribution",
    "Driver",
    "DriverError",
    "EffectiveSetting",
    "Found",
    "FoundMetric",
    "GeneratorFailed",
    "Health",
    "HostIdentity",
    "LevelNotInForce",
    "MachineRefused",
    "Measured",
    "Metric",
    "NotClean",
    "NotOurs",
    "Output",
    "Parameters",
    "ParametersRefused",
    "Phase",
    "Preset",
    "Proof",
    "Recomputed",
    "RemovedByOthers",
    "RightsNotConfirmed",
    "Series",
    "Served",
    "Snippet",
    "Subject",
    "Target",
    "TargetUnavailable",
    "cut_short",
    "parts_of",
]
