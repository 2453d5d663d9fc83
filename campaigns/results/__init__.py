"""The only writer of measurements: everything an attempt observed, in one transaction.

An attempt is closed once, by whoever holds its lease with the right fencing token; a latecomer
changes nothing. `closing` closes it, and puts away what its generators were asked for; `storing` stores
what it observed, `settling` says what becomes of its run, `bulk` stores what was measured elsewhere.
"""

from campaigns.results.bulk import ReceivedRun, count_received, store_received
from campaigns.results.closing import Fenced, close, put_away
from campaigns.results.settling import settle
from campaigns.results.storing import (
    MOST_LETTERS,
    NotANumber,
    Outcome,
    UnknownMetric,
    Value,
    pack_samples,
)

__all__ = [
    "MOST_LETTERS",
    "Fenced",
    "NotANumber",
    "Outcome",
    "ReceivedRun",
    "UnknownMetric",
    "Value",
    "close",
    "count_received",
    "pack_samples",
    "put_away",
    "settle",
    "store_received",
]
