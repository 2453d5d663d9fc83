"""Read a CSV by a mapping of its columns."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NoReturn

from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import Json
from campaigns.kit.units import UNITS, convert
from campaigns.results.readers.base import Builder, Fidelity, ReadMetric, Scalar, Source, refuse
from campaigns.results.readers.base.forms import NO_VALUE, advice_on
from campaigns.results.readers.base.tables import count
from campaigns.results.readers.base.texts import clean, instant_at, instant_of, number_of

BASES = {unit.dimension: unit.symbol for unit in UNITS.values() if unit.factor == 1.0}
CLOCK = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)", re.ASCII)
FIDELITIES: tuple[Fidelity, ...] = ("raw", "aggregated", "rounded")
PLACES = ("started_at", "finished_at", "units_done", "units_failed")
KEYS = {"factors", "work", "roles", "metrics", "state", "delimiter", *PLACES}
METRIC_KEYS = {"unit", "lower_is_better", "label", "written", "fidelity", "latency"}
MOST_METRICS = 50
ROLES = ("load", "setting", "work", "instrument", "target", "build")
UNIT_LETTERS = 20


class WrittenOtherwise(BadFile):
    """A field is written in a form that the whole file will have, such as decimal commas: the file is refused."""


Converting = Callable[[str], float | None]


@dataclass(frozen=True, slots=True)
class Mapped:
    """A checked mapping. metrics: by column, with the parser of a field. good: texts that mean ok."""

    factors: tuple[str, ...]
    work: tuple[str, ...]
    roles: Mapping[str, str]
    metrics: Mapping[str, tuple[ReadMetric, Converting]]
    places: Mapping[str, str]
    state: str
    good: frozenset[str]
    delimiter: str

    def columns(self) -> list[str]:
        """The columns that it names."""
        named = (*self.factors, *self.metrics, *self.places.values(), self.state)
        return [name for name in dict.fromkeys(named) if name]

    def run(self, builder: Builder, source: Source, record: dict[str, str], where: str) -> None:
        """Add the run of one line. Raise BadFile that names the column, or WrittenOtherwise."""
        levels: dict[str, Scalar] = {name: record[name].strip() for name in self.factors}
        values = {}
        for column, (metric, converting) in self.metrics.items():
            text = record[column].strip()
            if text.lower() in NO_VALUE:
                source.note(f"{column[:80]}: “{text}” is taken as no value.")
            elif text:
                result = converting(text)
                if result is None:
                    _refuse(where, column, text, "is not written as it should be")
                values[metric.name] = result
        word = record[self.state].strip() if self.state else ""
        bad = bool(self.state) and word.lower() not in self.good
        builder.run(
            levels,
            values,
            reason=(word or "no state") if bad else "" if values else "no value",
            started_at=self._instant(record, "started_at", where),
            finished_at=self._instant(record, "finished_at", where),
            units_done=self._count(record, "units_done", where),
            units_failed=self._count(record, "units_failed", where),
        )

    def _instant(self, record: dict[str, str], place: str, where: str) -> datetime | None:
        text = record[self.places[place]].strip() if place in self.places else ""
        if not text:
            return None
        seconds = number_of(text)
        result = instant_at(seconds) if seconds is not None else instant_of(text)
        if result is None:
            _refuse(
                where,
                self.places[place],
                text,
                "is no instant of the years 1990 to 2099, as YYYY-MM-DD HH:MM:SS or in seconds since 1970",
            )
        return result

    def _count(self, record: dict[str, str], place: str, where: str) -> int:
        column = self.places.get(place)
        return count(record, column, where) if column and record[column].strip() else 0


def _refuse(where: str, column: str, text: str, wrong: str) -> NoReturn:
    """Raise WrittenOtherwise if a form is known in which the field is written, else BadFile."""
    if advice := advice_on(text):
        raise WrittenOtherwise([(where, f"{column[:80]}: {advice}")])
    refuse(where, f"{column[:80]}: “{text[:40]}” {wrong}.")


def mapping_of(values: Json) -> Mapped:
    """Check a mapping. Raise BadFile that names what is wrong."""
    _known(values, KEYS, "mapping")
    factors = values.get("factors", [])
    if not isinstance(factors, list | tuple) or not all(isinstance(each, str) for each in factors):
        refuse("mapping.factors", "This must be a list of names of columns.")
    work = values.get("work", [])
    if not isinstance(work, list | tuple) or not all(each in factors for each in work):
        refuse("mapping.work", "This must be a list of those factors that name what is done.")
    roles = values.get("roles", {})
    if not isinstance(roles, Mapping) or not all(each in factors for each in roles):
        refuse(
            "mapping.roles",
            'This must give the roles of some of those factors, like {"clients": "load"}.',
        )
    if wrong := [role for role in roles.values() if role not in ROLES]:
        refuse("mapping.roles", f"“{str(wrong[0])[:40]}” is none of {', '.join(ROLES)}.")
    metrics = values.get("metrics")
    if not isinstance(metrics, Mapping) or not 0 < len(metrics) <= MOST_METRICS:
        refuse("mapping.metrics", f"Name the columns with values, 1 to {MOST_METRICS} of them.")
    places = {key: values[key] for key in PLACES if values.get(key)}
    for key, column in places.items():
        if not isinstance(column, str):
            refuse(f"mapping.{key}", "This must be the name of a column.")
    state = values.get("state") or {}
    if not isinstance(state, Mapping) or (state and not isinstance(state.get("column"), str)):
        refuse("mapping.state", 'This must be like {"column": "status", "ok": ["passed"]}.')
    text = state.get("ok", ["ok"])
    delimiter = values.get("delimiter", ",")
    if delimiter not in (",", ";", "\t", "|"):
        refuse("mapping.delimiter", "The delimiter is a comma, a semicolon, a bar or a tab.")
    if not isinstance(text, list | tuple):
        refuse("mapping.state.ok", "This must be a list of words.")
    return Mapped(
        factors=tuple(dict.fromkeys(factors)),
        work=tuple(dict.fromkeys(work)),
        roles=dict(roles),
        metrics={str(name): _metric(str(name), value) for name, value in metrics.items()},
        places=places,
        state=state.get("column", ""),
        good=frozenset(str(word).lower() for word in text),
        delimiter=delimiter,
    )


def _metric(column: str, value: Any) -> tuple[ReadMetric, Converting]:
    where = f"mapping.metrics.{clean(column, 80)}"
    if not isinstance(value, Mapping):
        refuse(where, 'This must be like {"unit": "s", "lower_is_better": true}.')
    _known(value, METRIC_KEYS, where)
    unit = value.get("unit")
    if not isinstance(unit, str) or not 0 < len(clean(unit)) <= UNIT_LETTERS:
        refuse(f"{where}.unit", f"Give the unit, in up to {UNIT_LETTERS} letters.")
    better = value.get("lower_is_better")
    if better not in (True, False, None):
        refuse(f"{where}.lower_is_better", "This is true, false, or null where neither is better.")
    fidelity = value.get("fidelity", "raw")
    if fidelity not in FIDELITIES:
        refuse(f"{where}.fidelity", f"This is one of {', '.join(FIDELITIES)}.")
    written = value.get("written", "number")
    if written not in ("number", "H:MM:SS"):
        refuse(f"{where}.written", "This is “number” or “H:MM:SS”.")
    base = BASES[UNITS[unit].dimension] if unit in UNITS else clean(unit)
    metric = ReadMetric(
        name=re.sub(r"\W+", "_", column.strip().lower(), flags=re.ASCII).strip("_")[:60] or "value",
        label=clean(str(value.get("label") or column), 100),
        unit="s" if written == "H:MM:SS" else base,
        lower_is_better=better,
        fidelity=fidelity,
        latency=value.get("latency") is True,
    )
    if written == "H:MM:SS":
        return metric, _clock
    return metric, _converter(unit, base)


def _converter(unit: str, base: str) -> Converting:
    def converting(text: str) -> float | None:
        number = number_of(text)
        if number is None or unit not in UNITS:
            return number
        return convert(number, unit, base)

    return converting


def _clock(text: str) -> float | None:
    match = CLOCK.fullmatch(text)
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3]) if match else None


def _known(values: Json, keys: set[str], where: str) -> None:
    for key in values:
        if key not in keys:
            near = get_close_matches(str(key)[:80], sorted(keys), 2)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            refuse(where, f"“{clean(str(key), 80)}” is no part of it.{meant}")
