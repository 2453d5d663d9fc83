"""Compare what a bundle states with what its data give."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from msgspec import ValidationError

from campaigns.findings.store import is_of_version_1, read, shape_of, values_of
from campaigns.kit.mappings import Json
from campaigns.reviews.bundles.manifest import CampaignEntry
from campaigns.reviews.bundles.tables import FINDINGS
from campaigns.reviews.bundles.writing import DEFINITION
from campaigns.stats.changes import MISSING, Change, changed, counts, exactly, moved

OF_A_RUN = re.compile(r"(cells(?::.*)?)\.cells\.(\d+)\.runs\.(\d+)\.\w+")
LETTERS = 120
SUMMARIES = ("cells", "density", "percentiles", "drift", "phases", "surroundings", "usl")
"""Findings that only describe runs. The others are judged by rules, which a version of the methods may change."""
READABLE = "a finding"
OF_A_RULE = "too_many_failures"
"""The value of a summary that a rule decides."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of the bundle that differs from the one recomputed from its data."""

    file: str
    place: str
    stated: Any
    recomputed: Any

    def __str__(self) -> str:
        return (
            f"{self.file}: {self.place}: the bundle says {_short(self.stated)}, "
            f"its data give {_short(self.recomputed)}"
        )


class Comparing:
    """Compares one campaign. exact: to the last bit, else within the tolerances. texts: also compare sentences.

    same_rules: the findings were judged by the rules of the present methods. otherwise: places that were judged by other ones, and differ.
    """

    def __init__(self, folder: str, *, exact: bool, texts: bool, same_rules: bool) -> None:
        self.folder, self.exact, self.texts, self.same_rules = folder, exact, texts, same_rules
        self.numbers = 0
        self.otherwise: list[str] = []

    def definition(self, value: Any, gives: Json) -> Iterator[Difference]:
        """Compare the definition with the rows."""
        for change in exactly(value, _as_json(gives)):
            yield Difference(self.folder + DEFINITION, change.path, change.before, change.after)

    def findings(self, stored: Json, results: Json, entry: CampaignEntry) -> Iterator[Difference]:
        """Compare findings. Values of runs come first, since other differences follow from them."""
        file = self.folder + FINDINGS.file
        computed = {name: each for name, each in results.items() if not name.startswith("brief:")}
        for name in sorted(stored.keys() - computed.keys()):
            if not says_nothing(name, stored[name]["result"]):
                yield Difference(file, name, "a finding", MISSING)
        for name in sorted(computed.keys() - stored.keys()):
            yield Difference(file, name, MISSING, "a finding")
        for name, line in stored.items():
            if line["data_hash"] != entry.data_hash:
                yield Difference(file, f"{name}, data_hash", line["data_hash"], entry.data_hash)
            if line.get("versions") != dict(entry.versions):
                yield Difference(file, f"{name}, versions", line.get("versions"), entry.versions)
        differences = [
            (change, self._place(change, name, computed[name]))
            for name in sorted(stored.keys() & computed.keys())
            for change in self._changes(name, stored[name]["result"], computed[name])
        ]
        differences.sort(key=lambda each: "(run " not in each[1])
        for change, place in differences:
            if not self.same_rules and is_of_a_rule(change):
                self.otherwise.append(place)
            else:
                yield Difference(file, place, change.before, change.after)

    def _changes(self, name: str, value: Any, gives: Any) -> list[Change]:
        again = _as_json(gives)
        self.numbers += _numbers(again)
        if not self.exact and is_of_version_1(value):
            return _since_version_1(name, value, again)
        result = (
            exactly({name: value}, {name: again})
            if self.exact
            else moved({name: value}, {name: again})
        )
        if self.texts and self.exact:
            return result
        return [each for each in result if counts(each) or MISSING in (each.before, each.after)]

    def _place(self, change: Change, name: str, result: Any) -> str:
        match = OF_A_RUN.fullmatch(change.path)
        if not match:
            return change.path
        try:
            run = result["cells"][int(match[2])]["runs"][int(match[3])]
        except (IndexError, KeyError):
            return change.path
        return f"{change.path} (run {run['position']})"


def says_nothing(name: str, result: Any) -> bool:
    """Return whether a finding describes a metric that no run has a value of; such ones were stored until none of them was offered."""
    match name.partition(":")[0], result:
        case "cells", {"cells": cells}:
            return all(
                _is_empty(each["summary"]) and all(run["value"] is None for run in each["runs"])
                for each in cells
            )
        case "brief", {"cells": cells}:
            return all(_is_empty(each["summary"]) and not any(each["values"]) for each in cells)
        case "density", {"cells": cells}:
            return all(each["density"] is None for each in cells)
        case "drift", {"blocks": blocks, "sessions": sessions}:
            return not blocks and not sessions
    return False


def _is_empty(summary: Json | None) -> bool:
    return summary is None or all(summary[name] is None for name in ("mean", "gmean", "median"))


def is_of_a_rule(change: Change) -> bool:
    """Return whether a value is decided by rules; a finding that cannot be read is not."""
    name = change.path.split(".", 1)[0].split(":", 1)[0]
    if change.path.endswith(f".{OF_A_RULE}"):
        return True
    return name not in SUMMARIES and change.after != READABLE


def _since_version_1(name: str, value: Any, again: Any) -> list[Change]:
    """Compare a finding of version 1 with one of today; what only one of both shapes has is left out.

    Its sentences were stored then and are written at each reading now, so the answer is not compared.
    """
    shape = shape_of(name)
    if name == "answer" or shape is None:
        return []
    values = values_of(value, shape)
    try:
        read(values, shape)
    except ValidationError as error:
        return [Change(name, f"no such finding: {error}", READABLE)]
    return changed({name: values}, {name: values_of(again, shape)})


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, cls=DjangoJSONEncoder))


def _numbers(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_numbers, value.values()))
    if isinstance(value, list):
        return sum(map(_numbers, value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
