"""Tables and constraints. No services, no signals, no logic in save()."""

from campaigns.models.amendments import Amendment
from campaigns.models.campaigns import (
    Block,
    Campaign,
    Cell,
    Factor,
    Level,
    Session,
)
from campaigns.models.evidence import (
    Distribution,
    EffectiveSetting,
    EnvironmentFact,
    Finding,
    Measurement,
    Phase,
    Proof,
    RawSamples,
    Series,
)
from campaigns.models.kept_answers import KeptAnswer
from campaigns.models.runs import (
    Attempt,
    Dispatcher,
    Exclusion,
    GeneratorLease,
    LogLine,
    Run,
    TargetLease,
    Worker,
)
from campaigns.models.submissions import DeclaredMetric, Submission, SubmissionPart
from campaigns.models.targets import Target
from campaigns.models.teams import ApiToken, Scope, SignInLink, Team

__all__ = [
    "Amendment",
    "ApiToken",
    "Attempt",
    "Block",
    "Campaign",
    "Cell",
    "DeclaredMetric",
    "Dispatcher",
    "Distribution",
    "EffectiveSetting",
    "EnvironmentFact",
    "Exclusion",
    "Factor",
    "Finding",
    "GeneratorLease",
    "KeptAnswer",
    "Level",
    "LogLine",
    "Measurement",
    "Phase",
    "Proof",
    "RawSamples",
    "Run",
    "Scope",
    "Series",
    "Session",
    "SignInLink",
    "Submission",
    "SubmissionPart",
    "Target",
    "TargetLease",
    "Team",
    "Worker",
]
