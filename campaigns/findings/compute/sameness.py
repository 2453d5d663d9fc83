"""Find out which cells did the same work, by what their runs proved and not by the address of it.

Cells that differ in an address alone (`Driver.addresses`: a feed, a proxy) are compared where number, bytes and
the digest of the content are equal; an equal number, or number and size, is comparable within one campaign, and said to be
not proved. The same address with other content is refused as well.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from campaigns.findings.values import OtherContent, SameContent
from campaigns.kinds.base.content import BYTES, DIGEST, PROOFS, UNITS
from campaigns.models import Attempt, Campaign, Cell, Proof, Run
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.roles import work_of


@dataclass(frozen=True, slots=True)
class Content:
    """The content that the runs of a cell worked on; None where it was not proved. unit: of the number."""

    units: float
    unit: str
    bytes: float | None = None
    digest: str | None = None

    def is_proved_same(self, other: "Content") -> bool:
        """Return whether both are proved to be the same."""
        return self.digest is not None and self._key == other._key

    def is_other(self, other: "Content") -> bool:
        """Return whether anything that both have is different."""
        return any(
            one is not None and two is not None and one != two
            for one, two in zip(self._key, other._key, strict=True)
        )

    @property
    def _key(self) -> tuple[float, float | None, str | None]:
        return self.units, self.bytes, self.digest


class Sameness(NamedTuple):
    """What the cells of a campaign worked on. same: factors whose cells are compared although they are addresses."""

    same: Sequence[SameContent]
    other: Sequence[OtherContent]


def contents_of(keys: Sequence[int]) -> dict[int, dict[int, Content]]:
    """Return the content of each cell, by campaign; without cells of which nothing was proved, or whose runs disagree."""
    rows = (
        Proof.objects.filter(attempt__run__campaign__in=keys, name__in=PROOFS)
        .filter(step=Proof.Step.VERIFY, attempt__state=Attempt.State.ACCEPTED)
        .filter(attempt__run__purpose=Run.Purpose.MEASURED)
        .order_by()
        .values_list(
            "attempt__run__campaign_id", "attempt__run__cell_id", "name", "measured", "unit"
        )
        .distinct()
    )
    found: dict[tuple[int, int], dict[str, set[tuple[Any, str]]]] = {}
    for campaign, cell, name, measured, unit in rows:
        found.setdefault((campaign, cell), {}).setdefault(name, set()).add((measured, unit))
    result: dict[int, dict[int, Content]] = {}
    for (campaign, cell), proofs in found.items():
        if UNITS not in proofs or any(len(values) > 1 for values in proofs.values()):
            continue
        one = {name: next(iter(values)) for name, values in proofs.items()}
        size, digest = one.get(BYTES), one.get(DIGEST)
        result.setdefault(campaign, {})[cell] = Content(
            units=float(one[UNITS][0]),
            unit=one[UNITS][1],
            bytes=None if size is None else float(size[0]),
            digest=None if digest is None else str(digest[0]),
        )
    return result


def compared_work(campaign: Campaign) -> tuple[str, ...]:
    """Return the factors and parameters of work whose cells are not compared: without addresses of the same content."""
    work = work_of(campaign)
    if not addresses_varied(campaign):
        return work
    same = {each.factor for each in sameness_of(campaign).same}
    return tuple(name for name in work if name not in same)


def addresses_varied(campaign: Campaign) -> Set[str]:
    """Return the factors that are addresses."""
    driver = driver_if_known(campaign.kind)
    return {factor.name for factor in campaign.factors.all()} & set(
        driver.addresses if driver else ()
    )


def sameness_of(campaign: Campaign) -> Sameness:
    """Compare what the cells worked on, for each factor that is an address."""
    same: list[SameContent] = []
    other: list[OtherContent] = []
    varied = addresses_varied(campaign)
    contents = contents_of([campaign.pk]).get(campaign.pk, {}) if varied else {}
    cells = list(campaign.cells.all()) if contents else []
    for factor in sorted(varied) if contents else ():
        groups = _groups(factor, cells)
        pairs = [pair for group in groups for pair in combinations(group, 2)]
        unlike = [
            OtherContent(
                factor=factor,
                baseline=one.levels_by_factor[factor],
                candidate=two.levels_by_factor[factor],
                units=(contents[one.pk].units, contents[two.pk].units),
                bytes=(contents[one.pk].bytes, contents[two.pk].bytes),
                unit=contents[one.pk].unit,
            )
            for one, two in pairs
            if one.pk in contents
            and two.pk in contents
            and contents[one.pk].is_other(contents[two.pk])
        ]
        other += unlike
        if pairs and not unlike and all(cell.pk in contents for group in groups for cell in group):
            same.append(_same(factor, groups, contents))
    return Sameness(same, other)


def _groups(factor: str, cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells that differ in the factor alone."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        others = sorted(each for each in cell.levels_by_factor.items() if each[0] != factor)
        groups.setdefault(repr(others), []).append(cell)
    return [group for group in groups.values() if len(group) > 1]


def _same(
    factor: str, groups: Sequence[Sequence[Cell]], contents: Mapping[int, Content]
) -> SameContent:
    every = [contents[cell.pk] for group in groups for cell in group]
    alike = len({(each.units, each.bytes) for each in every}) == 1
    return SameContent(
        factor=factor,
        addresses=len({repr(cell.levels_by_factor[factor]) for group in groups for cell in group}),
        units=every[0].units if alike else None,
        bytes=every[0].bytes if alike else None,
        unit=every[0].unit,
        proved=all(
            contents[one.pk].is_proved_same(contents[two.pk])
            for group in groups
            for one, two in combinations(group, 2)
        ),
    )
