"""Prove that pgbench, its log and the database count the same transactions, and tell who was let in."""

import time
from collections.abc import Mapping
from typing import Any

from campaigns.kinds.base import Context, Parameters, Proof
from campaigns.kinds.base.load_fields import KEPT
from campaigns.kinds.sql import scripts
from campaigns.kinds.sql.server import Session, balances, committed
from campaigns.kinds.sql.summary import CONNECT, Transactions

COUNTED_SECONDS = 13.0
"""How long a server may take to count what idle connections have committed: PostgreSQL flushes at least every 10 s."""
BACKGROUND = 200
"""Transactions of the server's own and of who watches it that are no error."""
COMMITS_OF_A_CONNECTION = 2
"""What a server commits to let a connection in, as PostgreSQL 18 counts it."""


def logged_proof(processed: int, lines: int, result: Mapping[str, Any]) -> Proof:
    """Compare the log with pgbench's summary, to one."""
    name = "transactions in the log"
    if rate := result["sampling_rate"]:
        return Proof(name, processed, f"{lines}: a sample of {rate:.1%}", "", ok=True)
    if result["killed"] or result["summaries"] < result["processes"]:
        text = f"{lines}: {result['processes'] - result['summaries']} of {result['processes']} processes wrote no summary"
        return Proof(name, f"at least {processed}", text, "", lines >= processed)
    return Proof(name, processed, lines, "count", lines == processed)


def committed_proof(
    here: Session,
    before: int | None,
    done: int,
    unwritten: int,
    parameters: Parameters,
    context: Context,
) -> Proof:
    """Compare the transactions that the database counts with those of pgbench, once it has counted all of them.

    unwritten: how many more there may be, of processes that were killed.
    """
    name = "transactions committed"
    after = committed(here)
    if before is None or after is None:
        return Proof(name, done, "not counted by this server", "", ok=True)
    end = time.monotonic() + COUNTED_SECONDS
    while after - before < done and time.monotonic() < end:
        context.check()
        time.sleep(0.25)
        after = committed(here) or after
    counts = after - before
    if parameters["script"] == scripts.OWN:
        return Proof(name, f"{done} or more", counts, "count", counts >= done)
    each = COMMITS_OF_A_CONNECTION * done if parameters["connections"] != KEPT else 0
    most = (done + each) * 1.01 + BACKGROUND + int(parameters["clients"]) * 4 + unwritten
    return Proof(name, done, counts, "count", done <= counts <= most)


def seen_proof(work: Mapping[str, Any], done: Transactions) -> Proof:
    """Tell how many clients the database has shown at a time. It is asked once a second: a short run may end before it has."""
    seen, clients = work["seen"], int(done.parameters["clients"])
    if seen is None:
        text: float | str = f"not looked: {work['unseen']}"
    elif seen >= clients:
        text = seen
    elif outside := sum(1 for failure, _, _ in done.ended if failure == CONNECT):
        text = f"{seen}: not let in, or disconnected: {outside}"
    else:
        text = f"{seen} seen at a time; all were let in"
    return Proof(
        "clients in pg_stat_activity", clients, text, "count" if seen == text else "", ok=True
    )


def balance_proofs(
    here: Session, before: Mapping[str, int], done: int, *, whole: bool
) -> list[Proof]:
    """Prove pgbench's classical check: the sums of all balances are that of the history."""
    now = balances(here)
    moved = {name: now[name] - before[name] for name in now}
    full = moved["tellers"] == moved["branches"] == moved["history"] or not moved["tellers"]
    return [
        Proof("sum of balances", moved["history"], moved["accounts"], "count",
              moved["accounts"] == moved["history"] and full),
        Proof("transactions in the history", done, moved["transactions"], "count",
              moved["transactions"] == done if whole else moved["transactions"] >= done),
    ]  # fmt: skip
