"""The record of activity: who did what, by which means. A row is written in the transaction of the action.

Who acts, and by which means, is held in a context variable, so that functions need not pass it on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from campaigns.models import AuditEvent, Campaign, Team

BROWSER, COMMAND, SYSTEM = "browser", "command", "system"


@dataclass(frozen=True, slots=True)
class Acting:
    """By which means something is done, and a function that returns who does it."""

    means: str = SYSTEM
    user: Callable[[], User | None] = lambda: None


_acting: ContextVar[Acting] = ContextVar("acting", default=Acting())  # noqa: B039 - it is frozen


@contextmanager
def by_means(of: str) -> Iterator[None]:
    """Record what is done within the block as done by these means: browser, command, or a token's name."""
    with _as(replace(_acting.get(), means=of)):
        yield


@contextmanager
def by_request(user: Callable[[], User | None]) -> Iterator[None]:
    """Record what is done within the block as done in a browser by the user that `user` returns."""
    with _as(Acting(BROWSER, user)):
        yield


def acting(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, behind the one that knows users: nobody is looked up before something is recorded."""

    def middleware(request: HttpRequest) -> HttpResponse:
        def who() -> User | None:
            user = getattr(request, "user", None)
            return user if isinstance(user, User) else None

        with by_request(who):
            return get_response(request)

    return middleware


def set_means(of: str) -> None:
    """Set other means than the browser, within `by_request`."""
    _acting.set(replace(_acting.get(), means=of))


def token_means(name: str) -> str:
    """Return the name of a token as means."""
    return f"token “{name}”"


def current_means() -> str:
    """Return the means of what is done now."""
    return _acting.get().means


def current_user() -> User | None:
    """Return the sender of the request; None in commands and tasks."""
    return _acting.get().user()


@contextmanager
def _as(acting: Acting) -> Iterator[None]:
    token = _acting.set(acting)
    try:
        yield
    finally:
        _acting.reset(token)


class Action(models.TextChoices):
    """Every action that is recorded. The label stands between the person and the thing."""

    CAMPAIGN_CREATED = "campaign_created", "made the draft"
    CAMPAIGN_EDITED = "campaign_edited", "changed the draft"
    CAMPAIGN_DELETED = "campaign_deleted", "deleted the draft"
    CAMPAIGN_CLONED = "campaign_cloned", "made a draft like another campaign"
    CAMPAIGN_CALIBRATED = "campaign_calibrated", "made an A/A campaign"
    CAMPAIGN_TRIED = "campaign_tried", "requested a trial run"
    CAMPAIGN_LAUNCHED = "campaign_launched", "launched"
    CAMPAIGN_PAUSED = "campaign_paused", "paused"
    CAMPAIGN_STOPPED = "campaign_stopped", "stopped automatically"
    CAMPAIGN_RESUMED = "campaign_resumed", "resumed"
    CAMPAIGN_CANCELLED = "campaign_cancelled", "cancelled"
    CAMPAIGN_EXTENDED = "campaign_extended", "extended"
    CAMPAIGN_AMENDED = "campaign_amended", "amended"
    CAMPAIGN_MOVED = "campaign_moved", "moved in the queue"
    CAMPAIGN_ENDED = "campaign_ended", "ended"
    CAMPAIGN_ARCHIVED = "campaign_archived", "archived"
    CAMPAIGN_UNARCHIVED = "campaign_unarchived", "took out of the archive"
    SAMPLES_DELETED = "samples_deleted", "deleted raw samples"

    LAUNCH_REQUESTED = "launch_asked", "requested approval of a launch"
    LAUNCH_APPROVED = "launch_approved", "approved the launch"
    LAUNCH_REFUSED = "launch_refused", "rejected the launch"
    LAUNCH_WITHDRAWN = "launch_withdrawn", "withdrew the launch request"

    RUN_CANCELLED = "run_cancelled", "cancelled a run"
    RUN_REPEATED = "run_repeated", "repeated a run"
    RUN_EXCLUDED = "run_excluded", "excluded a run"
    RUN_INCLUDED = "run_included", "let a run count again"
    # The value stays: rows of the record are never changed.
    MANUAL_STEP_DONE = "hand_done", "confirmed a manual step"

    RESULTS_QUEUED = "results_kept", "sent a file for a worker to read"
    RESULTS_RECEIVED = "results_received", "submitted results"
    RESULTS_REFUSED = "results_refused", "refused a file"

    TARGET_CREATED = "target_created", "made the target"
    TARGET_EDITED = "target_edited", "changed the target"
    TARGET_RETIRED = "target_retired", "retired the target"
    TARGET_TRIED = "target_tried", "tried a scenario at the target"
    TARGET_DELETED = "target_deleted", "deleted the target"
    SETTING_CREATED = "setting_created", "defined a setting"
    SETTING_EDITED = "setting_edited", "changed a setting"
    SETTING_DELETED = "setting_deleted", "deleted a setting"
    STEP_CREATED = "step_created", "defined a step"
    STEP_EDITED = "step_edited", "changed a step"
    STEP_DELETED = "step_deleted", "deleted a step"
    SSH_SAVED = "ssh_saved", "changed the SSH login"
    SSH_DELETED = "ssh_deleted", "deleted the SSH login"
    HOST_KEY_ACCEPTED = "host_key_accepted", "accepted the host key"
    FEED_CONFIRMED = "feed_confirmed", "confirmed the address of a feed"
    FEED_WITHDRAWN = "feed_withdrawn", "withdrew the address of a feed"
    RIGHTS_CONFIRMED = "rights_confirmed", "confirmed rights of the login"
    RIGHTS_WITHDRAWN = "rights_withdrawn", "withdrew the confirmation of rights"
    POPULATION_CREATED = "population_created", "registered a population"
    POPULATION_DELETED = "population_deleted", "deleted a population"
    POPULATION_RESUMED = "population_resumed", "let the registration of a population go on"
    POPULATION_FORGOTTEN = "population_forgotten", "forgot a population that is left at the server"
    CREDENTIAL_CREATED = "credential_created", "made a credential"
    CREDENTIAL_EDITED = "credential_edited", "changed a credential"
    CREDENTIAL_DELETED = "credential_deleted", "deleted a credential"
    WATCH_CREATED = "watch_created", "defined a watch"
    WATCH_EDITED = "watch_edited", "changed a watch"
    WATCH_TRIED = "watch_tried", "tried a watch"
    WATCH_DELETED = "watch_deleted", "deleted a watch"

    PROGRAM_SAVED = "program_saved", "saved a draft of the program"
    PROGRAM_TRIED = "program_tried", "tried the program"
    PROGRAM_PUBLISHED = "program_published", "published the program"
    PROGRAM_RETIRED = "program_retired", "retired the program"
    PROGRAM_DELETED = "program_deleted", "deleted a draft of the program"

    CONCLUSION_CREATED = "conclusion_created", "began the conclusion"
    CONCLUSION_EDITED = "conclusion_edited", "changed the conclusion"
    CONCLUSION_DELETED = "conclusion_deleted", "deleted the conclusion"
    CONCLUSION_SENT = "conclusion_sent", "sent to review"
    CONCLUSION_WITHDRAWN = "conclusion_taken_back", "took back from review"
    CONCLUSION_ACCEPTED = "conclusion_accepted", "accepted"
    CONCLUSION_REJECTED = "conclusion_rejected", "rejected"
    CONCLUSION_SUPERSEDED = "conclusion_superseded", "superseded"
    CONCLUSION_REOPENED = "conclusion_reopened", "re-opened"
    CONCLUSION_RECOMPUTED = "conclusion_recomputed", "computed anew, and nothing moved"
    REVIEW_REQUESTED = "reviewer_asked", "requested a review"
    REVIEWER_REMOVED = "reviewer_removed", "withdrew the request for a review"
    DECISION_MADE = "decision_made", "decided"
    WARNING_JUSTIFIED = "word_given", "answered a warning"
    BASELINE_SET = "baseline_set", "made it the baseline"
    BASELINE_REMOVED = "baseline_removed", "made it the baseline no more"
    BUNDLE_DOWNLOADED = "bundle_taken", "downloaded the bundle"
    LINK_MADE = "link_made", "made a public link"
    LINK_REVOKED = "link_revoked", "revoked a public link"

    THREAD_OPENED = "thread_opened", "began a thread"
    COMMENT_MADE = "comment_made", "commented"
    COMMENT_EDITED = "comment_edited", "changed a comment"
    COMMENT_DELETED = "comment_deleted", "deleted a comment"
    THREAD_RESOLVED = "thread_resolved", "resolved a thread"
    THREAD_REOPENED = "thread_reopened", "re-opened a thread"

    TEAM_CREATED = "team_created", "made the team"
    TEAM_EDITED = "team_edited", "changed the team's rules"
    MEMBER_ADDED = "member_added", "added a member"
    MEMBER_CHANGED = "member_changed", "changed the roles of a member"
    MEMBER_REMOVED = "member_removed", "removed a member"
    INVITATION_MADE = "invitation_made", "made an invitation"
    INVITATION_USED = "invitation_used", "joined by an invitation"
    INVITATION_REVOKED = "invitation_revoked", "revoked an invitation"
    TEMPLATE_CREATED = "template_created", "made the template"
    TEMPLATE_EDITED = "template_edited", "changed the template"
    TEMPLATE_RETIRED = "template_retired", "retired the template"
    LINE_CREATED = "line_created", "began the line"
    LINE_EDITED = "line_edited", "changed the line"
    LINE_MEASURED = "line_measured", "had the line measured"
    LINE_APPROVED = "line_approved", "approved the line"
    HOOK_MADE = "hook_made", "made a hook of the line"
    HOOK_DELETED = "hook_deleted", "deleted the hook of the line"
    LINE_ASKED = "line_asked", "asked the line to look"
    LINE_PAUSED = "line_paused", "paused the line"
    LINE_RESUMED = "line_resumed", "resumed the line"
    LINE_ENDED = "line_ended", "ended the line"
    ALERT_OPENED = "alert_opened", "opened the alert"
    ALERT_JUDGED = "alert_judged", "judged the alert"
    ALERT_HANDLED = "alert_handled", "handled the alert"
    ALERT_REOPENED = "alert_reopened", "re-opened the alert"
    ALERT_RECOVERED = "alert_recovered", "saw the alert recover"
    CONFIRMATION_PLANNED = "confirmation_planned", "planned the confirmation"
    CONFIRMATION_ENDED = "confirmation_ended", "ended the confirmation"
    MUTE_BEGUN = "mute_begun", "began the mute"
    MUTE_ENDED = "mute_ended", "took the mute back"
    CHANNEL_CREATED = "channel_created", "added a notification channel"
    CHANNEL_EDITED = "channel_edited", "changed a notification channel"
    CHANNEL_DELETED = "channel_deleted", "deleted a notification channel"

    ACCOUNT_MADE = "account_made", "made the account"
    ACCOUNT_EDITED = "account_edited", "changed the account"
    SIGNED_IN = "signed_in", "signed in"
    SIGNED_OUT = "signed_out", "signed out"
    SIGN_IN_FAILED = "sign_in_failed", "failed to sign in"
    SIGN_IN_LINK_MADE = "sign_in_link_made", "made a sign-in link"
    PASSWORD_CHANGED = "password_changed", "changed the password"
    FACTOR_ADDED = "factor_added", "added a second factor"
    FACTOR_REMOVED = "factor_removed", "removed a second factor"
    RECOVERY_CODE_USED = "recovery_code_used", "used a recovery code"
    RECOVERY_CODES_RENEWED = "recovery_codes_renewed", "made new recovery codes"
    PROVIDER_LINKED = "provider_linked", "connected an account elsewhere"
    PROVIDER_UNLINKED = "provider_unlinked", "disconnected an account elsewhere"
    SESSION_ENDED = "session_ended", "ended a session"
    TOKEN_MADE = "token_made", "made a token"
    TOKEN_REVOKED = "token_revoked", "revoked a token"
    TOKEN_USED = "token_used", "used a token"
    KEYS_ROTATED = "keys_rotated", "encrypted the stored passwords anew"


NAME_LETTERS = 200
MEANS_LETTERS = 120


class _Default(Enum):
    SENDER = "the sender of the request"


def record(
    action: Action,
    *,
    user: User | _Default | None = _Default.SENDER,
    team: Team | None = None,
    subject: Model | None = None,
    campaign: Campaign | None = None,
    **details: Any,
) -> AuditEvent:
    """Record an action, in the caller's transaction; see `event`."""
    row = event(action, user=user, team=team, subject=subject, campaign=campaign, **details)
    row.save(force_insert=True)
    return row


def event(
    action: Action,
    *,
    user: User | _Default | None = _Default.SENDER,
    team: Team | None = None,
    subject: Model | None = None,
    campaign: Campaign | None = None,
    **details: Any,
) -> AuditEvent:
    """Return the record of an action, which the caller stores.

    user: who did it; by default the sender of the request; None: perfdash itself. team: by default
    that of the campaign or the subject. details: JSON values without secrets.
    """
    if campaign is None:
        campaign = _campaign_of(subject)
    what = subject if subject is not None else campaign
    sender = current_user()
    by_itself = user is None and sender is not None
    return AuditEvent(
        user=sender if isinstance(user, _Default) else user,
        means=(SYSTEM if by_itself else current_means())[:MEANS_LETTERS],
        team_id=team.pk if team is not None else _team_of(campaign) or _team_of(subject),
        action=Action(action),
        subject_kind="" if what is None else str(what._meta.model_name),
        subject_key=None if what is None else what.pk,
        subject_name="" if what is None else str(what)[:NAME_LETTERS],
        campaign_key=None if campaign is None else campaign.pk,
        details=details,
    )


def _campaign_of(subject: Model | None) -> Campaign | None:
    campaign = subject if isinstance(subject, Campaign) else getattr(subject, "campaign", None)
    return campaign if isinstance(campaign, Campaign) else None


def _team_of(what: Model | None) -> int | None:
    """Return the primary key of the team that owns a row, or the target that the row belongs to."""
    if isinstance(what, Team):
        return what.pk
    owner = what if hasattr(what, "team_id") else getattr(what, "target", None)
    return getattr(owner, "team_id", None)
