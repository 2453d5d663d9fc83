"""Decide on conclusions: approve, request changes, reject. Nobody may decide on a conclusion that they wrote."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.outbox import announce
from campaigns.kit.rights import Right
from campaigns.models import Announcement, Conclusion, Decision
from campaigns.reviews.checklist import checklist, failed, without_word
from campaigns.reviews.drafting import require_supersedable
from campaigns.reviews.errors import Moved, NotReady, OwnWork, ReviewRefused
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.reopening import reopen_where_moved
from campaigns.reviews.rows import locked, may_review, people_of, require
from campaigns.reviews.validation import wrong_letters

Word = Decision.Word
LONGEST_REASON = 5_000


def decide(
    key: int,
    user: User,
    word: str,
    *,
    revision: int,
    data_hash: str,
    reason: str = "",
    with_failed: bool = False,
) -> Conclusion:
    """Decide on a revision whose data have this hash.

    with_failed: the user has seen that checks failed, and approves anyway. The last approval that the team's
    rule requires accepts the conclusion; a request for changes and a rejection take effect at once. A user who
    has approved already may confirm that: see `may_confirm`. Raise Moved where it was revised or its data changed
    (it is then re-opened), OwnWork, NotReady where justifications are missing, ReviewRefused, NotVisible, NotAllowed.
    """
    with transaction.atomic():
        conclusion = locked(key)
        require(user, conclusion, Right.REVIEW)
        _require_undecided(conclusion)
        moved = reopen_where_moved(conclusion)
        if not moved:
            _require_seen(conclusion, revision, data_hash)
            _require_other(conclusion, user)
            if word == Word.APPROVE and may_confirm(conclusion, user):
                _confirm(conclusion, user, with_failed)
            else:
                _require_first(conclusion, user)
                _decide(conclusion, user, Word(word), reason.strip()[:LONGEST_REASON], with_failed)
    if moved:
        raise Moved(
            f"Its data changed while it was in review, and it was re-opened: {conclusion.reason} "
            "Your decision was not stored."
        )
    return Conclusion.objects.get(pk=key)


def approvals(conclusion: Conclusion) -> list[Decision]:
    """Return the approvals that count: of this revision and data, by users who may review it now."""
    rows = conclusion.decisions.select_related("user").filter(
        revision=conclusion.revision, word=Word.APPROVE, data_hash=data_hash_of(conclusion)
    )
    return [each for each in rows if may_review(each.user, conclusion)]


def may_confirm(conclusion: Conclusion, user: User) -> bool:
    """Return whether the user can confirm an earlier approval, because enough approvals exist.

    That happens when a role is restored, or the team's rule is lowered, after the last approval: the conclusion is
    accepted when somebody who approved confirms it. The stored decision stays as it is.
    """
    value = approvals(conclusion) if conclusion.state == Conclusion.State.IN_REVIEW else []
    enough = len(value) >= conclusion.team.approvals_needed
    return enough and user.pk in {each.user_id for each in value}


def _confirm(conclusion: Conclusion, user: User, with_failed: bool) -> None:
    _require_complete(conclusion, with_failed)
    _accept(conclusion, user)
    announce(
        Announcement.Kind.REVIEW_DECIDED,
        conclusion.team,
        campaign=conclusion.evidence.select_related("campaign")[0].campaign,
        conclusion=conclusion,
        to=people_of(conclusion),
        by=user,
        what=(
            f"{user.get_username()} confirmed the approval of the conclusion “{conclusion.claim}”: enough "
            f"approvals are there. It is {conclusion.get_state_display()}."
        ),
    )


def _require_undecided(conclusion: Conclusion) -> None:
    if conclusion.state == Conclusion.State.IN_REVIEW:
        return
    why = f" {conclusion.reason}" if conclusion.state == Conclusion.State.REOPENED else ""
    raise ReviewRefused(
        f"The conclusion is {conclusion.get_state_display()}: it is not open for decisions.{why}"
    )


def _require_seen(conclusion: Conclusion, revision: int, data_hash: str) -> None:
    if revision != conclusion.revision:
        raise Moved(
            f"You looked at revision {revision}, and revision {conclusion.revision} is in review. Your "
            "decision was not stored: read it again."
        )
    if data_hash != data_hash_of(conclusion):
        raise Moved(
            "The data are others than those that you looked at. Your decision was not stored: read "
            "the conclusion again."
        )


def _require_other(conclusion: Conclusion, user: User) -> None:
    if user.pk == conclusion.author_id:
        raise OwnWork("You are its author, so someone else must review it.")
    if conclusion.writers.filter(pk=user.pk).exists():
        raise OwnWork("You edited this, so someone else must review it.")


def _require_first(conclusion: Conclusion, user: User) -> None:
    if conclusion.decisions.filter(revision=conclusion.revision, user=user).exists():
        raise ReviewRefused("You have decided on this revision already; decisions are final.")


def _decide(conclusion: Conclusion, user: User, word: Word, reason: str, with_failed: bool) -> None:
    if word == Word.APPROVE:
        _require_complete(conclusion, with_failed)
    elif not reason:
        raise ReviewRefused("Say why: its author has to know what to do about it.")
    if wrong := wrong_letters(reason):
        raise ReviewRefused(f"The reason was not accepted. {wrong}")
    Decision.objects.create(
        conclusion=conclusion,
        revision=conclusion.revision,
        user=user,
        word=word,
        reason=reason,
        data_hash=data_hash_of(conclusion),
    )
    was = conclusion.state
    match word:
        case Word.REQUEST_CHANGES:
            _close(conclusion, Conclusion.State.CHANGES_REQUESTED, reason)
        case Word.REJECT:
            _close(conclusion, Conclusion.State.REJECTED, reason)
            record(Action.CONCLUSION_REJECTED, user=user, subject=conclusion, reason=reason)
        case Word.APPROVE:
            if len(approvals(conclusion)) >= conclusion.team.approvals_needed:
                _accept(conclusion, user)
    _notify(conclusion, user, word, reason, decided=conclusion.state != was)


def _require_complete(conclusion: Conclusion, with_failed: bool) -> None:
    """Raise NotReady unless all warnings are justified, and the user has seen the failures."""
    checks = checklist(conclusion)
    if missing := without_word(conclusion, checks):
        titles = ", ".join(check.title.lower() for check in missing)
        raise NotReady(
            f"The author has not justified these warnings or failures: {titles}. Ask for changes."
        )
    if (bad := failed(checks)) and not with_failed:
        titles = ", ".join(check.title.lower() for check in bad)
        raise NotReady(
            f"Checks failed: {titles}. To approve it anyway, confirm that you have seen that."
        )
    if conclusion.supersedes is not None:
        require_supersedable(conclusion.supersedes)


def _accept(conclusion: Conclusion, user: User) -> None:
    _close(conclusion, Conclusion.State.ACCEPTED, "")
    record(Action.CONCLUSION_ACCEPTED, user=user, subject=conclusion, revision=conclusion.revision)
    older = conclusion.supersedes
    if older is None:
        return
    _close(older, Conclusion.State.SUPERSEDED, f"Superseded by conclusion {conclusion.pk}.")
    record(Action.CONCLUSION_SUPERSEDED, user=user, subject=older, by=conclusion.pk)


def _close(conclusion: Conclusion, state: Conclusion.State, reason: str) -> None:
    conclusion.state, conclusion.reason = state, reason
    conclusion.decided_at, conclusion.changed_at = Now(), Now()
    conclusion.save(update_fields=["state", "reason", "decided_at", "changed_at"])


def _notify(conclusion: Conclusion, user: User, word: Word, reason: str, *, decided: bool) -> None:
    campaign = conclusion.evidence.select_related("campaign")[0].campaign
    record(
        Action.DECISION_MADE,
        user=user,
        subject=conclusion,
        campaign=campaign,
        word=word,
        revision=conclusion.revision,
        data_hash=data_hash_of(conclusion),
        reason=reason,
        state=conclusion.state,
    )
    needed, count = conclusion.team.approvals_needed, len(approvals(conclusion))
    stands = f" It is {conclusion.get_state_display()}." if decided else ""
    if word == Word.APPROVE and not decided:
        stands = f" {count} of {needed} approvals are there."
    announce(
        Announcement.Kind.REVIEW_DECIDED,
        conclusion.team,
        campaign=campaign,
        conclusion=conclusion,
        to=people_of(conclusion),
        by=user,
        what=(
            f"{user.get_username()} {word.label} the conclusion “{conclusion.claim}”."
            if word != Word.REQUEST_CHANGES
            else f"{user.get_username()} asked for changes of the conclusion “{conclusion.claim}”."
        )
        + stands,
        words=reason,
    )
