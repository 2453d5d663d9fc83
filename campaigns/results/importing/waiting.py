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
from campaigns.kit.errors import BadFile, Invalid
from campaigns.kit.rights import NotAllowed, NotVisible
from campaigns.models import Submission, SubmissionPart, Team
from campaigns.models.teams import default_team
from campaigns.results import readers
from campaigns.results.importing.files import PIECE, About, digest_of, stored_already, submitted_of
from campaigns.results.importing.known import wait_for_turn
from campaigns.results.importing.receiving import Received, create

log = logging.getLogger(__name__)

READ_AT_ONCE = 2_000_000
"""A file of at most so many bytes is read during the request; a worker reads a larger one."""
READING_SECONDS = 300
"""A file that a worker has not read after so long is sent again."""


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


@transaction.atomic
def read_waiting(key: int) -> Received | None:
    """Read a file and store it, or note why it cannot be stored. None: somebody else did."""
    locked = Submission.objects.select_for_update(skip_locked=True, of=("self",))
    submission = locked.filter(pk=key, state=Submission.State.WAITING).first()
    if submission is None:
        return None
    wait_for_turn(f"file {submission.digest}")
    known = stored_already(submission.digest, submission.team)
    if known is not None:
        submission.campaign, submission.state, submission.done_at = (
            known.campaign,
            Submission.State.STORED,
            Now(),
        )
        submission.save(update_fields=["campaign", "state", "done_at"])
        submission.parts.all().delete()
        return None
    about = About(**submission.options)
    received = None
    try:
        with tempfile.TemporaryFile() as file, transaction.atomic():
            for content in submission.parts.values_list("content", flat=True).iterator(
                chunk_size=4
            ):
                file.write(content)
            file.seek(0)
            read = readers.read(file, about.filename, about.format, about.mapping)
            received = create(
                submitted_of(read, about, submission.digest),
                submission.user,
                submission,
                submission.team,
            )
    except (BadFile, Invalid) as problem:
        _refuse(submission, str(problem))
    except (NotAllowed, NotVisible):
        _refuse(submission, "Whoever sent it may not write in the team any more.")
    except (OperationalError, InterfaceError):  # the database is away: it is sent again
        raise
    except Exception as bug:
        log.exception("The file of submission %s cannot be stored.", key)
        _refuse(
            submission,
            f"Internal error in perfdash ({type(bug).__name__}); the log of the worker has the "
            "details.",
        )
    submission.parts.all().delete()
    return received


def _refuse(submission: Submission, problem: str) -> None:
    """Note why a file was refused; what was begun has been rolled back."""
    submission.refresh_from_db()
    submission.state, submission.problem = Submission.State.REFUSED, problem
    submission.save(update_fields=["state", "problem"])
    record(Action.RESULTS_REFUSED, user=None, subject=submission, filename=submission.filename)
