"""What is stored of the campaign that receives runs, read in one message while its row is locked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from psycopg.types.json import Jsonb

from campaigns.kit.mappings import Levels
from campaigns.kit.statements import Message, all_names, loaded, selected
from campaigns.models import Campaign, Cell, DeclaredMetric
from campaigns.results.bulk import FEW, Keys
from campaigns.results.importing.submitted import Submitted, distinct_levels

FEW_CELLS = 20
"""Up to so many cells are looked up by their levels; for more, all cells of the campaign are read."""
_CAMPAIGN = (
    *("id", "team_id", "name", "kind", "state", "order", "closed_at", "counted_from"),
    *("analysis_requested_at", "analysis_sent_at", "analysis_began_at"),
)
_CELL = ("id", "campaign_id", "position", "levels_by_factor", "received", "target_id")
_ENCODER = json.JSONEncoder(sort_keys=True)


@dataclass(slots=True)
class Stored:
    """The campaign, and what its new runs are compared with.

    roles: of the author in its team. now: the clock of the database. session: the first one. submission: a key that is
    reserved for it. has_all_cells: whether `cells` are all, and not those with the submitted levels alone. blocks: the
    keys of those that were looked up, by number; None: there is no such block. metric_keys: those of stored metrics, by
    name, of metrics that have values somewhere. has_external_ids: whether any of the
    submitted ids is stored. keys: reserved for the runs.
    """

    campaign: Campaign
    roles: Sequence[str]
    now: datetime
    last_position: int
    session: int
    submission: int
    cells: Sequence[Cell]
    has_all_cells: bool
    blocks: dict[int, int | None]
    metrics: dict[str, DeclaredMetric]
    metric_keys: dict[str, int]
    has_external_ids: bool
    keys: Keys


def read_stored(key: int, submitted: Submitted, author: User | None) -> Stored:
    """Lock a campaign until the transaction ends, and read it. Raise Campaign.DoesNotExist.

    The lock is a statement of its own: one that also reads other tables would show them as they were before it waited.
    """
    message = Message()
    message.add(_LOCK, key)
    message.add(_PLACES, author.pk if author else None, key)
    levels = few_levels(submitted)
    if levels is None:
        message.add(_CELLS, key)
    else:
        message.add(f"{_CELLS} AND c.levels_by_factor = ANY(%s)", key, [*map(Jsonb, levels)])
    if submitted.metrics:
        message.add(_METRICS, key)
    else:
        names = {name for run in submitted.runs for name in run.values}
        message.add(f"{_METRICS} AND m.name = ANY(%s)", key, [*names])
    count = len(submitted.runs)
    message.add(_KEYS_AND_BLOCKS if count <= FEW else _KEYS, count)
    if ids := [run.external_id for run in submitted.runs if run.external_id]:
        message.add(_EXTERNAL_IDS, key, ids)
    locked, places, cells, metrics, keys, *known = message.send()
    if not locked:
        raise Campaign.DoesNotExist
    ((roles, now, last_position, session, submission),) = places
    return Stored(
        campaign=loaded(Campaign, _CAMPAIGN, locked[0]),
        roles=roles or (),
        now=now,
        last_position=last_position or 0,
        session=session,
        submission=submission,
        cells=[_cell(row) for row in cells],
        has_all_cells=levels is None,
        blocks={row[4] + 1: row[-1] for row in cells},
        metrics={
            metric.name: metric
            for metric in (loaded(DeclaredMetric, _METRIC_NAMES, row[1:]) for row in metrics)
        },
        metric_keys={row[_NAME]: row[0] for row in metrics if row[0] is not None},
        has_external_ids=bool(known and known[0]),
        keys=Keys(*([list(column) for column in zip(*keys, strict=True)] or ([], []))),
    )


def read_all_cells(campaign: Campaign) -> list[Cell]:
    """Return all cells of a campaign by position."""
    message = Message()
    message.add(_CELLS, campaign.pk)
    (cells,) = message.send()
    return [_cell(row) for row in cells]


def _cell(row: Sequence[object]) -> Cell:
    identifier, campaign, position, levels, received, target, _ = row
    values = [identifier, campaign, position, json.loads(str(levels)), received, target]
    return loaded(Cell, _CELL, values)


def few_levels(submitted: Submitted) -> list[Mapping[str, object]] | None:
    """Return the submitted combinations of levels; None where they are many."""
    result: dict[str, Mapping[str, object]] = {}
    for levels in distinct_levels(submitted.runs):
        result[levels_key(levels)] = levels
        if len(result) > FEW_CELLS:
            return None
    return list(result.values())


def levels_key(levels: Levels) -> str:
    """Return the key of a combination of levels; keys are equal where the database's values are."""
    return _ENCODER.encode(levels)


_METRIC_NAMES = all_names(DeclaredMetric)
_NAME = 1 + _METRIC_NAMES.index("name")
_LOCK = (
    f"SELECT {selected(Campaign, 'c', _CAMPAIGN)} FROM campaigns_campaign c WHERE c.id = %s"  # noqa: S608
    " FOR NO KEY UPDATE"
)
# Imported campaigns have no try-outs, whose positions are counted on their own.
_PLACES = """
SELECT (SELECT m.roles FROM campaigns_membership m WHERE m.team_id = c.team_id AND m.user_id = %s), clock_timestamp(),
       (SELECT max(r.position) FROM campaigns_run r WHERE r.campaign_id = c.id AND r.purpose <> 'trial'),
       (SELECT s.id FROM campaigns_session s WHERE s.campaign_id = c.id ORDER BY s.number LIMIT 1),
       nextval('campaigns_submission_id_seq')
FROM campaigns_campaign c WHERE c.id = %s"""
_CELLS = (
    f"SELECT {selected(Cell, 'c', _CELL)}, b.id FROM campaigns_cell c LEFT JOIN campaigns_block b"  # noqa: S608
    " ON b.campaign_id = c.campaign_id AND b.number = c.received + 1 WHERE c.campaign_id = %s"
)
_METRICS = (
    f"SELECT s.id, {selected(DeclaredMetric, 'm', _METRIC_NAMES)} FROM campaigns_declaredmetric m"  # noqa: S608
    " LEFT JOIN campaigns_storedmetric s ON s.name = m.name AND s.unit = m.unit AND s.fidelity = m.fidelity"
    " AND s.lower_is_better IS NOT DISTINCT FROM m.lower_is_better WHERE m.campaign_id = %s"
)
_KEYS = (
    "SELECT nextval('campaigns_run_id_seq'), nextval('campaigns_attempt_id_seq')"
    " FROM generate_series(1, %s)"
)
_KEYS_AND_BLOCKS = _KEYS.replace(" FROM", ", nextval('campaigns_block_id_seq') FROM")
_EXTERNAL_IDS = (
    "SELECT 1 FROM campaigns_run WHERE campaign_id = %s AND external_id = ANY(%s)"
    " AND external_id <> '' LIMIT 1"
)
