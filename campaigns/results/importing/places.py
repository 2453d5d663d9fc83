"""Find or create the cell, block and position of submitted runs."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Levels
from campaigns.kit.statements import Message
from campaigns.models import Block, Campaign, Cell, Factor, Level
from campaigns.planning.definition import MOST_FACTORS
from campaigns.planning.kind_fields import MOST_CELLS
from campaigns.planning.levels import MOST_BYTES
from campaigns.planning.roles import check_loads
from campaigns.results.bulk import count_received
from campaigns.results.importing.stored import Stored, levels_key, read_all_cells
from campaigns.results.importing.submitted import Submitted, SubmittedRun

Errors = dict[str, list[str]]
_OF_ALL_BLOCKS = {"stratum": "{}", "phase": ""}


class Places:
    """Cells, blocks and positions of one campaign, which is locked. Nothing is stored before `store`.

    submitted: its factors have levels in the order of display; further ones are added in the order of the
    runs. Its roles are those of factors that are new.
    """

    def __init__(self, stored: Stored, submitted: Submitted) -> None:
        self.campaign = stored.campaign
        self.last_position = stored.last_position
        self._stored = stored
        self._cells: dict[str, Cell] = {}
        self._keys: dict[int, str] = {}
        self._is_whole = False
        self._last_cell = 0
        self._names: list[str] = []
        self._order, self._roles = submitted.factors, submitted.stated_roles
        self._guesses = submitted.guesses
        self._blocks: dict[int, Block] = {}
        self._changed: dict[str, Cell] = {}
        self._sent_blocks = {run.block for run in submitted.runs if run.block}
        if stored.has_all_cells:
            self._know_whole(stored.cells)
        else:
            self._know(stored.cells)

    def place(self, number: int, run: SubmittedRun, errors: Errors) -> tuple[Cell, Block, int]:
        """Return cell, block and position; note errors of the place at `runs.<number>`."""
        cell = self._cell(number, run, errors)
        cell.received += 1
        block = self._block(number, run, cell, errors)
        self.last_position += 1
        return cell, block, self.last_position

    def store(self, message: Message) -> None:
        """Create missing factors, levels, cells and blocks, and count the runs of cells.

        Where that takes no more than a statement, it becomes part of the message.
        """
        new = [cell for cell in self._changed.values() if cell._state.adding]
        known = [cell for cell in self._changed.values() if not cell._state.adding]
        if new:
            self._check(new)
            self._store_cells(new)
        count_received(known, message)
        self._store_blocks(message)

    def _cell(self, number: int, run: SubmittedRun, errors: Errors) -> Cell:
        key = self._key(run.levels)
        cell = self._cells.get(key)
        if cell is None and not self._is_whole:
            self._read_whole()
            cell = self._cells.get(key)
        if cell is None:
            self._check_names(number, run, errors)
            self._last_cell += 1
            levels = {name: run.levels[name] for name in self._names if name in run.levels}
            cell = Cell(campaign=self.campaign, position=self._last_cell, levels_by_factor=levels)
            self._cells[key] = cell
        self._changed[key] = cell
        return cell

    def _key(self, levels: Levels) -> str:
        """Return the key of the levels of a submitted run, whose object others may share."""
        key = self._keys.get(id(levels))
        if key is None:
            key = self._keys[id(levels)] = levels_key(levels)
        return key

    def _read_whole(self) -> None:
        """Read the whole campaign, since a cell may be new to it."""
        self._know_whole(read_all_cells(self.campaign))

    def _know_whole(self, cells: Iterable[Cell]) -> None:
        self._is_whole = True
        self._know(cells)
        self._last_cell = len(self._cells)
        self._names = [factor.name for factor in self.campaign.factors.all()]
        if not self._cells:
            self._names = list(self._order)

    def _know(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            self._cells.setdefault(levels_key(cell.levels_by_factor), cell)

    def _check_names(self, number: int, run: SubmittedRun, errors: Errors) -> None:
        """Check that every run has a level of every factor."""
        if not self._cells and not self._names:
            self._names = list(run.levels)
        missing = [name for name in self._names if name not in run.levels]
        unknown = [name for name in run.levels if name not in self._names]
        if missing:
            errors[f"runs.{number}.tags"] = [
                f"It has no {', '.join(missing)}; every run has a level of each factor. Send “none” "
                "where there is none."
            ]
        elif unknown:
            errors[f"runs.{number}.tags"] = [
                f"{', '.join(unknown)} does not vary in this campaign ({', '.join(self._names) or 'nothing does'}). "
                "Send it with every run of a new campaign, or as `info`."
            ]

    def _block(self, number: int, run: SubmittedRun, cell: Cell, errors: Errors) -> Block:
        in_blocks = self.campaign.order != Campaign.Order.BLOCKED
        if run.block is None and in_blocks:
            errors[f"runs.{number}.block"] = [
                f"In the order “{self.campaign.order}” each run says in which block it was made: send "
                "a number."
            ]
        place = run.block or cell.received
        if place not in self._blocks:
            self._blocks[place] = Block(campaign=self.campaign, number=place, repetition=place)
        if in_blocks and run.block is not None:
            cells = self._occupied[place]
            key = self._key(run.levels)
            if key in cells:
                errors[f"runs.{number}.block"] = [
                    f"Block {place} has a run of these levels already; a block holds one of each."
                ]
            cells.add(key)
        return self._blocks[place]

    @cached_property
    def _occupied(self) -> defaultdict[int, set[str]]:
        """Return the cells that have a run, by the number of the block, for the submitted blocks."""
        runs = self.campaign.runs.filter(block__number__in=self._sent_blocks)
        result: defaultdict[int, set[str]] = defaultdict(set)
        for number, levels in runs.values_list("block__number", "cell__levels_by_factor"):
            result[number].add(levels_key(levels))
        return result

    def _check(self, new: Sequence[Cell]) -> None:
        """Raise Invalid where there are too many cells, or a level is too long."""
        if len(self._names) > MOST_FACTORS:
            raise Invalid(
                {"factors": [f"{len(self._names)} factors; at most {MOST_FACTORS} vary."]}
            )
        if len(self._cells) > MOST_CELLS:
            raise Invalid(
                {
                    "factors": [
                        f"That makes {len(self._cells):,} cells; a campaign has {MOST_CELLS} at most. "
                        "What names a build or a run belongs into `info`, tests of one build are "
                        "metrics of one run."
                    ]
                }
            )
        loads = self.campaign.factors.filter(role=Factor.Role.LOAD)
        errors: Errors = {}
        for name in loads.values_list("name", flat=True):
            levels = {cell.levels_by_factor[name]: None for cell in new}
            check_loads([name], {name: list(levels)}, "", errors)
        if errors:
            raise Invalid(errors)
        for cell in new:
            if len(json.dumps(cell.levels_by_factor, ensure_ascii=False).encode()) > MOST_BYTES:
                raise Invalid(
                    {"factors": [f"The levels of a cell have more than {MOST_BYTES:,} bytes."]}
                )

    def _store_cells(self, new: Sequence[Cell]) -> None:
        levels = self._store_levels(new)
        by_order = sorted(new, key=lambda cell: self._rank(cell, levels)) if self._is_new else new
        for position, cell in enumerate(by_order, start=self._last_cell - len(new) + 1):
            cell.position = position
        Cell.objects.bulk_create(by_order)
        through = Cell.levels.through
        through.objects.bulk_create(
            through(cell_id=cell.pk, level_id=levels[name, json.dumps(level)].pk)
            for cell in new
            for name, level in cell.levels_by_factor.items()
        )

    @property
    def _is_new(self) -> bool:
        return all(cell._state.adding for cell in self._cells.values())

    def _rank(self, cell: Cell, levels: Mapping[tuple[str, str], Level]) -> tuple[int, ...]:
        result = (levels[name, json.dumps(level)] for name, level in cell.levels_by_factor.items())
        return tuple(level.position for level in result)

    def _store_levels(self, new: Sequence[Cell]) -> dict[tuple[str, str], Level]:
        known: dict[tuple[str, str], Level] = {}
        for position, name in enumerate(self._names, start=1):
            factor, _ = Factor.objects.get_or_create(
                campaign=self.campaign,
                name=name,
                defaults={
                    "position": position,
                    "role": self._roles.get(name, ""),
                    "guess": self._guesses.get(name, ""),
                },
            )
            stored = {json.dumps(level.value): level for level in factor.levels.all()}
            met = [cell.levels_by_factor[name] for cell in new]
            made = []
            for value in [*self._order.get(name, ()), *_sorted(met)]:
                text = json.dumps(value)
                if text not in stored and value in met:
                    stored[text] = Level(factor=factor, position=len(stored) + 1, value=value)
                    made.append(stored[text])
            Level.objects.bulk_create(made)
            known |= {(name, text): level for text, level in stored.items()}
        return known

    def _store_blocks(self, message: Message) -> None:
        stored = self._stored.blocks
        if unread := [number for number in self._blocks if number not in stored]:
            rows = self.campaign.blocks.filter(number__in=unread)
            stored = stored | dict(rows.values_list("number", "pk"))
        new: list[Block] = []
        for number, block in self._blocks.items():
            if key := stored.get(number):
                block.pk = key
            else:
                block.session_id = self._stored.session
                new.append(block)
        keys = self._stored.keys.blocks
        if len(new) <= len(keys):
            for block, key in zip(new, keys, strict=False):
                block.pk = key
            message.insert_rows(
                Block,
                ("id", "campaign_id", "session_id", "number", "repetition"),
                (
                    (block.pk, self.campaign.pk, block.session_id, block.number, block.repetition)
                    for block in new
                ),
                **_OF_ALL_BLOCKS,
            )
        else:
            Block.objects.bulk_create(new)


def _sorted(levels: Sequence[Any]) -> list[Any]:
    """Sort numbers; leave anything else in its order."""
    items = list({json.dumps(level): level for level in levels}.values())
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in items):
        return sorted(items)
    return items
