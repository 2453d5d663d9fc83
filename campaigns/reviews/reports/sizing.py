"""The sizing tables of a conclusion: what each target carries, as texts, Markdown and CSV."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from campaigns.findings.store import findings_of, read
from campaigns.findings.values import CapacityFinding
from campaigns.findings.wording.sizing import SizingRow, SizingTable, sizing_table, with_classes
from campaigns.kit.downloads import lines_of
from campaigns.kit.mappings import Json, JsonObject
from campaigns.models import Campaign, Conclusion
from campaigns.planning.roles import work_of
from campaigns.reviews.reports.markdown import line, table
from campaigns.reviews.reports.values import Sizing
from campaigns.targets.sizes import class_of, sizes_of

ENDS = ("low", "estimate", "high")
NOTHING = "No campaign of this conclusion has a load, so there is nothing to size by."


def sizing_of(conclusion: Conclusion) -> list[SizingTable]:
    """Return one table for each load and conditions among the campaigns of a conclusion; rows of the same kind are together.

    Findings, targets and their sizes are as frozen when it was sent to review; while it can be edited, as they are now.
    """
    evidence = conclusion.evidence.defer(None).select_related("campaign__target")
    rows = evidence.order_by("position").prefetch_related("campaign__places__target")
    edited = conclusion.state in Conclusion.EDITABLE
    tables = (
        sizing_of_campaign(each.campaign)
        if edited or not each.snapshot
        else _frozen(each.snapshot, each.campaign)
        for each in rows
    )
    return merged(filter(None, tables))


def sizing_of_campaign(campaign: Campaign) -> SizingTable | None:
    """Return the table of one campaign; None without a capacity, or before all runs have ended."""
    if campaign.state in Campaign.ACTIVE:
        return None
    finding = findings_of(campaign, "", brief=True).capacity
    return _table(finding, measured_on(campaign)) if finding else None


def measured_on(campaign: Campaign) -> JsonObject:
    """Return what a table has beside the findings, for JSON: work, the name of the target, hardware and address of each by its name."""
    target = campaign.target
    name = target.name if target else "imported"
    hardware = {name: target.hardware} if target else {}
    hardware |= {place.level: place.target.hardware for place in campaign.places.all()}
    servers = {name: target.address} if target else {}
    servers |= {place.level: place.target.address for place in campaign.places.all()}
    work = list(work_of(campaign))
    return {"target": name, "work": work, "hardware": hardware, "servers": servers}


def _frozen(snapshot: Json, campaign: Campaign) -> SizingTable | None:
    """Return the table of frozen findings. A snapshot of an earlier version holds no hardware: that of today is used."""
    stored = snapshot["findings"].get("capacity")
    if stored is None:
        return None
    return _table(
        read(stored, CapacityFinding), snapshot.get("measured_on") or measured_on(campaign)
    )


def _table(finding: CapacityFinding, where: Json) -> SizingTable:
    return sizing_table(
        finding,
        target=where["target"],
        work=where["work"],
        sizes={name: sizes_of(text) for name, text in where["hardware"].items()},
        classes={name: class_of(text) for name, text in where["hardware"].items()},
        servers=where.get("servers", {}),
    )


def merged(tables: Iterable[SizingTable]) -> list[SizingTable]:
    """Put tables of the same load and the same conditions together, sorted by size, with rows of classes."""
    result: list[SizingTable] = []
    for each in tables:
        same = next(
            (t for t in result if (t.load, t.conditions) == (each.load, each.conditions)), None
        )
        if same is None:
            result.append(each)
            continue
        units = tuple(dict.fromkeys((*same.units, *each.units)))
        rows = sorted(
            [*same.rows, *each.rows],
            key=lambda row: [row.sizes.get(unit.removeprefix("per "), 0.0) for unit in units],
        )
        result[result.index(same)] = replace(same, units=units, rows=rows)
    return [with_classes(each) for each in result]


def as_markdown(tables: Sequence[SizingTable]) -> str:
    """Return the tables for a document; a sentence where there is none."""
    blocks = [
        f"{line(each.caption)}\n\n{table(each.heads, [each.cells(row) for row in each.rows])}"
        for each in tables
    ]
    return "\n\n".join(blocks or [NOTHING]) + "\n"


def as_csv(tables: Sequence[SizingTable]) -> str:
    """Return the numbers of all tables, a line a target; an end that is open is empty."""
    units = list(dict.fromkeys(unit for each in tables for unit in each.per_units))
    first = ("target", "work", "setting", "load", "conditions", "word", "binding", *ENDS)
    heads = [*first, *(f"{end}_per_{unit}" for unit in units for end in ENDS)]
    rows = (_numbers(each, row, units) for each in tables for row in each.rows)
    return "".join(lines_of([heads, *rows]))


def _numbers(of: SizingTable, row: SizingRow, units: Sequence[str]) -> list[str | float | None]:
    per = [end for unit in units for end in row.per(unit)]
    texts = [row.target, row.work, row.setting, of.load, of.conditions, str(row.word), row.binding]
    return [*texts, row.low, row.estimate, row.high, *per]


def for_report(tables: Sequence[SizingTable], *, public: bool) -> tuple[Sizing, ...]:
    """Return the tables as a report holds them. public: machines are numbered, and not named."""
    every = [row for each in tables for row in each.rows]
    names = list(dict.fromkeys(row.target for row in every if not row.targets))
    classes = list(dict.fromkeys(row.of_class for row in every if row.targets))

    def shown(row: SizingRow) -> SizingRow:
        if not public:
            return row
        if row.targets:
            number = classes.index(row.of_class) + 1
            return replace(row, target=f"class {number}, {row.targets} machines")
        return replace(row, target=f"machine {names.index(row.target) + 1}")

    return tuple(
        Sizing(
            each.caption,
            each.heads,
            tuple(each.cells(shown(row)) for row in each.rows),
        )
        for each in tables
    )


WRITERS: Mapping[str, tuple[str, Callable[[Sequence[SizingTable]], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}
