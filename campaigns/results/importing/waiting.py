"""Store large files in the database, in parts, until a worker reads them."""

import logging
import tempfile
from dataclasses import asdict
from datetime import timedelta
from typing import IO

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import BadFile, Invalid
from campaigns.kit.rights import NotAllowed, NotVisible
from campaigns.models import Submission, SubmissionPart, Team
from campaigns.models.teams import default_team
from campaigns.results import reading
from campaigns.results.importing.files import PIECE, About, digest_of, stored_already, submitted_of
from campaigns.results.importing.known import wait_for_turn
from campaigns.results.importing.receiving import Received, create
from campaigns.results.importing.submitted import Submitted

log = logging.getLogger(__name__)

READ_AT_ONCE = 2_000_000
"""A file of at most so many bytes is read during the request; a worker reads a larger one."""
READING_SECONDS = 1_000
"""A file that a worker has not read after so long is sent again; its reader is ended before."""
MOST_TRIES = 3
"""A file whose reading was begun so often, and never ended, is refused: it ends the workers that read it."""


@transaction.atomic
def keep(
    content: IO[bytes], about: About, author: User | None, team: Team | None = None
) -> Submission | Received:
    """Store a file until a worker reads it, or return the submission that has it already."""
    digest = digest_of(content, about)
    known = stored_already(digest, team)
    if known is not None:
        return known
    waiting_file = Submission.objects.create(
        team_id=team.pk if team else default_team(),
        user=author,
        state=Submission.State.WAITING,
        format=about.format,
        filename=about.filename[:200],
        digest=digest,
        options=asdict(about),
    )
    number = 0
    while piece := content.read(PIECE):
        SubmissionPart.objects.create(submission=waiting_file, number=number, content=piece)
        number += 1
    record(Action.RESULTS_QUEUED, user=author, subject=waiting_file, filename=waiting_file.filename)
    return waiting_file


def due(most: int) -> list[int]:
    """Return up to so many files that a worker shall read now, and mark them as sent."""
    waiting = Submission.objects.filter(state=Submission.State.WAITING).exclude(_sent())
    keys = list(waiting.order_by("pk").values_list("pk", flat=True)[: max(0, most)])
    Submission.objects.filter(pk__in=keys).update(sent_at=Now())
    return keys


def being_read() -> int:
    """Return how many files were sent to a worker."""
    return Submission.objects.filter(_sent(), state=Submission.State.WAITING).count()


def forget_sent() -> None:
    """Mark all waiting files as not sent."""
    Submission.objects.filter(state=Submission.State.WAITING).update(sent_at=None)


def _sent() -> Q:
    return Q(sent_at__isnull=False, sent_at__gt=Now() - timedelta(seconds=READING_SECONDS))


def read_waiting(key: int) -> Received | None:
    """Read a file and store it, or note why it cannot be stored. None: somebody else did, or does.

    Three steps: the file is claimed, read, and stored. No transaction is open while it is read: the database ends one
    that idles for long.
    """
    claim = _claim(key)
    if claim is None:
        return None
    try:
        return _stored(claim, _read(claim))
    except (BadFile, Invalid) as problem:
        _refuse(claim, str(problem))
    except (NotAllowed, NotVisible):
        _refuse(claim, "Whoever sent it may not write in the team any more.")
    except (OperationalError, InterfaceError):  # the database is away: it is sent again
        raise
    except Exception as bug:
        log.exception("The file of submission %s cannot be stored.", key)
        _refuse(
            claim,
            f"Internal error in perfdash ({type(bug).__name__}); the log of the worker has the "
            "details.",
        )
    return None


@transaction.atomic
def _claim(key: int) -> Submission | None:
    """Return a file that this worker shall read, with the number of the try; None where it need not be read."""
    submission = _waiting(key)
    if submission is None:
        return None
    known = stored_already(submission.digest, submission.team)
    if known is not None:
        _take_over(submission, known)
        return None
    if submission.tries >= MOST_TRIES:
        _end(
            submission,
            f"Its reading was begun {submission.tries} times, and no worker came to its end; the logs of the workers "
            "have the reasons. Send a part of the file, or send it again when the workers are well.",
        )
        return None
    submission.tries, submission.sent_at = submission.tries + 1, database_now()
    submission.save(update_fields=["tries", "sent_at"])
    return submission


def _read(claim: Submission) -> Submitted:
    """Return the content of a file that was claimed. Raise BadFile."""
    about = About(**claim.options)
    with tempfile.TemporaryFile() as file:
        for content in claim.parts.values_list("content", flat=True).iterator(chunk_size=4):
            file.write(content)
        file.seek(0)
        read = reading.read(file, about.filename, about.format, about.mapping, reading.LATER)
    return submitted_of(read, about, claim.digest)


@transaction.atomic
def _stored(claim: Submission, submitted: Submitted) -> Received | None:
    """Store what was read, unless another worker has claimed the file since, or stored the same."""
    submission = _waiting(claim.pk)
    if submission is None or submission.tries != claim.tries:
        return None
    wait_for_turn(f"file {submission.digest}")
    known = stored_already(submission.digest, submission.team)
    if known is not None:
        _take_over(submission, known)
        return None
    with transaction.atomic():
        received = create(submitted, submission.user, submission, submission.team)
    submission.parts.all().delete()
    return received


def _waiting(key: int) -> Submission | None:
    """Return a file that waits, locked until the transaction ends."""
    locked = Submission.objects.select_for_update(skip_locked=True, of=("self",))
    return locked.filter(pk=key, state=Submission.State.WAITING).first()


def _take_over(submission: Submission, known: Received) -> None:
    """Note that the same file is stored already."""
    submission.campaign, submission.state, submission.done_at = (
        known.campaign,
        Submission.State.STORED,
        database_now(),
    )
    submission.save(update_fields=["campaign", "state", "done_at"])
    submission.parts.all().delete()


@transaction.atomic
def _refuse(claim: Submission, problem: str) -> None:
    """Note why a file was refused, unless another worker has claimed it since."""
    submission = _waiting(claim.pk)
    if submission is not None and submission.tries == claim.tries:
        _end(submission, problem)


def _end(submission: Submission, problem: str) -> None:
    submission.state, submission.problem = Submission.State.REFUSED, problem
    submission.save(update_fields=["state", "problem"])
    record(Action.RESULTS_REFUSED, user=None, subject=submission, filename=submission.filename)
    submission.parts.all().delete()
