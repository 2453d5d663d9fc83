"""Expect of each run the content that the first run of its cell worked on: a feed may change meanwhile."""

from collections.abc import Sequence
from dataclasses import replace

from campaigns.kinds.base import Proof
from campaigns.kinds.base.content import PROOFS
from campaigns.models import Attempt, Run
from campaigns.models import Proof as ProofRow


def as_before(run: Run, proofs: Sequence[Proof]) -> list[Proof]:
    """Return the proofs, those of content with what the cell's first accepted run had as expected."""
    if not any(proof.name in PROOFS for proof in proofs):
        return list(proofs)
    rows = ProofRow.objects.filter(
        attempt__run__cell=run.cell_id,
        attempt__run__purpose=Run.Purpose.MEASURED,
        attempt__state=Attempt.State.ACCEPTED,
        name__in=PROOFS,
    ).exclude(attempt__run=run)
    before: dict[str, float | str] = dict(rows.order_by("-pk").values_list("name", "measured"))
    return [
        replace(
            proof, expected=before[proof.name], ok=proof.ok and proof.measured == before[proof.name]
        )
        if proof.name in before
        else proof
        for proof in proofs
    ]
