"""Claim an analysis, so that one worker computes it at a time, and report that it is still running."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from time import monotonic

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from campaigns.models import Campaign
from campaigns.planning.analyses import lost

ALIVE_SECONDS = 15.0

log = logging.getLogger(__name__)


@contextmanager
def claimed(campaign: int) -> Iterator[Campaign | None]:
    """Claim the requested analysis of a campaign. None: it is done, or another worker has it.

    A request from here on leads to another analysis, since this one may not read data that arrives now.
    """
    wanted = Campaign.objects.filter(pk=campaign, analysis_requested_at__isnull=False)
    free = wanted.filter(Q(analysis_began_at=None) | lost())
    if not free.update(analysis_began_at=Now(), analysis_sent_at=Now()):
        yield None
        return
    mine = Campaign.objects.get(pk=campaign)
    ended, begun = threading.Event(), monotonic()
    threading.Thread(target=_go_on, args=(mine, ended), name="analysis", daemon=True).start()
    try:
        yield copy(mine)
    finally:
        ended.set()
        _claim(mine).update(
            analysis_began_at=None, analysis_sent_at=None, analysis_seconds=monotonic() - begun
        )


def report_alive(mine: Campaign) -> None:
    """Report that this worker still computes, unless another one has claimed the analysis since."""
    _claim(mine).update(analysis_sent_at=Now())


def _go_on(mine: Campaign, ended: threading.Event) -> None:
    """Report repeatedly until the end. A short analysis opens no connection for this."""
    while not ended.wait(ALIVE_SECONDS):
        try:
            report_alive(mine)
        except (DatabaseError, InterfaceError) as error:
            log.warning("The database is away: %s", error)
        finally:
            connection.close()


def _claim(mine: Campaign) -> QuerySet[Campaign]:
    return Campaign.objects.filter(pk=mine.pk, analysis_began_at=mine.analysis_began_at)
