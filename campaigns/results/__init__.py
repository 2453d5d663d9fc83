"""The only writer of measurements: everything an attempt observed, in one transaction.

An attempt is closed once, by whoever holds its lease with the right fencing token; a latecomer
changes nothing. `closing` closes it, `storing` stores what it observed, `settling` says what becomes
of its run, `importing` takes what was measured elsewhere.
"""

from campaigns.results.closing import Fenced, close
from campaigns.results.importing import import_run
from campaigns.results.settling import release_leases, settle
from campaigns.results.storing import (
    MOST_LETTERS,
    NotANumber,
    Outcome,
    UnknownMetric,
    Value,
    pack_samples,
    storable,
)

__all__ = [
    "MOST_LETTERS",
    "Fenced",
    "NotANumber",
    "Outcome",
    "UnknownMetric",
    "Value",
    "close",
    "import_run",
    "pack_samples",
    "release_leases",
    "settle",
    "storable",
]
