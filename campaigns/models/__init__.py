"""Tables and constraints. No services, no signals, no logic in save()."""

from campaigns.models.activity import AuditEvent
from campaigns.models.amendments import Amendment
from campaigns.models.campaigns import Block, Campaign, Cell, Factor, Level, Session
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
from campaigns.models.generators import Generator
from campaigns.models.kept_answers import KeptAnswer
from campaigns.models.launches import LaunchRequest
from campaigns.models.notices import Announcement, Channel, Delivery
from campaigns.models.retention import DeletedSamples, Retention
from campaigns.models.reviews import CheckWord, Conclusion, Decision, Evidence, PublicLink, Reviewer
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
from campaigns.models.settings import FoundSetting, HandRequest, Setting, SshLogin, TargetStep
from campaigns.models.submissions import DeclaredMetric, Submission, SubmissionPart
from campaigns.models.talk import Comment, Mention, Thread
from campaigns.models.targets import Target
from campaigns.models.teams import ApiToken, Invitation, Membership, Role, Scope, SignInLink, Team
from campaigns.models.templates import Template

__all__ = [
    "Amendment",
    "Announcement",
    "ApiToken",
    "Attempt",
    "AuditEvent",
    "Block",
    "Campaign",
    "Cell",
    "Channel",
    "CheckWord",
    "Comment",
    "Conclusion",
    "Decision",
    "DeclaredMetric",
    "DeletedSamples",
    "Delivery",
    "Dispatcher",
    "Distribution",
    "EffectiveSetting",
    "EnvironmentFact",
    "Evidence",
    "Exclusion",
    "Factor",
    "Finding",
    "FoundSetting",
    "Generator",
    "GeneratorLease",
    "HandRequest",
    "Invitation",
    "KeptAnswer",
    "LaunchRequest",
    "Level",
    "LogLine",
    "Measurement",
    "Membership",
    "Mention",
    "Phase",
    "Proof",
    "PublicLink",
    "RawSamples",
    "Retention",
    "Reviewer",
    "Role",
    "Run",
    "Scope",
    "Series",
    "Session",
    "Setting",
    "SignInLink",
    "SshLogin",
    "Submission",
    "SubmissionPart",
    "Target",
    "TargetLease",
    "TargetStep",
    "Team",
    "Template",
    "Thread",
    "Worker",
]
