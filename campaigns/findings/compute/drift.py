"""Drift between blocks, and where sessions begin."""

from collections.abc import Sequence
from typing import Any

from campaigns.findings.compute.sessions import split_sessions
from campaigns.findings.values import BlockEffect, Drift, Missing, SessionStretch
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.blocks import BlockFit, BlockRun, fit_blocks
from campaigns.stats.logs import pct_of

IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
MOST_BLOCKS = 1000
"""More effects than that take minutes to fit."""


def drift(campaign: Campaign, runs: Sequence[ObservedRun]) -> Drift:
    """Return effects of blocks in % around 0, how much they and the runs within vary, and the sessions."""
    made = [run for run in runs if run.state == "ok" and run.value is not None]
    missing, result = _fitted(campaign, made)
    sessions = split_sessions(made)
    return Drift(
        missing=missing,
        blocks=_effects(result, made) if result else [],
        block_sd_pct=pct_of(result.block_sd) if result else None,
        sd_pct=pct_of(result.fit.sd) if result else None,
        efficiency=result.efficiency if result else None,
        sessions=[
            SessionStretch(**_ends(session), number=session[0].session, runs=len(session))
            for session in sessions
        ],
    )


def _fitted(campaign: Campaign, made: Sequence[ObservedRun]) -> tuple[Missing, BlockFit | None]:
    if campaign.order not in IN_BLOCKS:
        return "not_in_blocks", None
    if any(run.value is None or not 0 < run.value < float("inf") for run in made):
        return "not_positive", None
    if len({run.part for run in made}) > MOST_BLOCKS:
        return "too_many", None
    cells = {cell: place for place, cell in enumerate(sorted({run.cell for run in made}))}
    result = fit_blocks(
        [BlockRun(cells[run.cell], run.part, run.value or 0.0) for run in made], len(cells)
    )
    if result is None or result.fit.df < 1 or len(result.blocks) < 2:
        return "too_few", None
    return "", result


def _effects(block_fit: BlockFit, made: Sequence[ObservedRun]) -> list[BlockEffect]:
    by_part: dict[int, list[ObservedRun]] = {}
    for run in made:
        by_part.setdefault(run.part, []).append(run)
    return [
        BlockEffect(
            **_ends(by_part[part]),
            block=by_part[part][0].block,
            session=by_part[part][0].session,
            effect_pct=pct_of(float(effect)),
        )
        for part, effect in zip(block_fit.blocks, block_fit.effects, strict=True)
    ]


def _ends(runs: Sequence[ObservedRun]) -> dict[str, Any]:
    """Return the fields of a Stretch: first and last position, and instants where every run has one."""
    starts = [run.started_at for run in runs if run.started_at]
    known = len(starts) == len(runs)
    return {
        "first": min(run.position for run in runs),
        "last": max(run.position for run in runs),
        "started_at": min(starts).isoformat() if known else None,
        "ended_at": max(starts).isoformat() if known else None,
    }
