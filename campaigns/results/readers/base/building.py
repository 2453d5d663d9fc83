"""Gather runs into a Read, within limits, and derive the factors."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import isfinite

from campaigns.kit.mappings import JsonObject
from campaigns.results.readers.base.documents import MOST_ELEMENTS, MOST_VALUES
from campaigns.results.readers.base.metrics import FAILED_SHARE
from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.texts import LEVEL_LETTERS, clean, number_of
from campaigns.results.readers.base.values import NOT_SET, Read, ReadMetric, ReadRun, Scalar, State

MOST_CELLS = 500
MOST_METRICS = 200
MOST_FACTORS = 6
MOST_NAMES = 100
"""Settings in a file; those that do not differ are facts."""
MOST_NOTES = 100
MOST_UNITS = 10**15


class Builder:
    """Collects runs in the order of the file. work: factors that name what is done. roles: of further factors."""

    def __init__(
        self,
        name: str,
        label: str,
        work: Iterable[str] = (),
        roles: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.label, self.work, self.roles = name, label, tuple(work), dict(roles or {})
        self._metrics: dict[str, ReadMetric] = {}
        self._runs: list[JsonObject] = []
        self._names: dict[str, None] = {}
        self._values = 0
        self._dropped: dict[str, None] = {}
        self.facts: dict[str, str] = {}
        self.info: dict[str, str] = {}
        self._guesses: dict[str, str] = {}

    def declare(self, *metrics: ReadMetric) -> None:
        """Declare metrics; those without a value in any run are left out at the end."""
        for metric in metrics:
            self._metrics.setdefault(metric.name, metric)
        if len(self._metrics) > MOST_METRICS:
            refuse("", f"The file has more than {MOST_METRICS} metrics; leave some out.")

    def fact(self, name: str, value: object) -> None:
        """Add a fact of the environment, if it is known."""
        _note(self.facts, name, value)

    def note(self, name: str, value: object) -> None:
        """Add further information."""
        _note(self.info, name, value)

    def guess(self, factor: str, why: str) -> None:
        """Record that the file does not say that this is a factor. why: a sentence on what it was read from.

        People are asked, and its levels are not ranked before somebody states its role.
        """
        self._guesses.setdefault(clean(factor, 80), clean(why, 300))

    def drop(self, sentence: str) -> None:
        """Record what is left out, and why; each sentence once."""
        if len(self._dropped) < MOST_NOTES:
            self._dropped.setdefault(clean(sentence))

    def run(
        self,
        levels: Mapping[str, Scalar],
        values: Mapping[str, float],
        *,
        reason: str = "",
        state: State | None = None,
        started_at: datetime | None = None,
        finished_at: datetime | None = None,
        units_done: int = 0,
        units_failed: int = 0,
    ) -> None:
        """Add a run; one with a reason failed, unless its state is given. Raise BadFile above the limits."""
        self._values += max(1, len(values))
        if self._values > MOST_VALUES:
            refuse("", f"The file gives more than {MOST_VALUES:,} values; split it.")
        for name, value in values.items():
            if not isfinite(value):
                refuse(name, "The number is larger than anything that can be measured.")
        if max(units_done, units_failed) > MOST_UNITS:
            refuse("a run", f"It has more than {MOST_UNITS:,} requests or items; it is damaged.")
        typed = {clean(name, 80): _level(level) for name, level in levels.items()}
        self._names.update(dict.fromkeys(typed))
        if len(self._names) > MOST_NAMES:
            refuse("", f"The file names more than {MOST_NAMES} settings; split it.")
        self._runs.append(
            {
                "levels": typed,
                "values": dict(values),
                "reason": clean(reason, 500),
                "state": state or ("failed" if reason else "ok"),
                "started_at": started_at,
                "finished_at": finished_at,
                "units_done": units_done,
                "units_failed": units_failed,
            }
        )

    def requests(
        self,
        levels: Mapping[str, Scalar],
        values: Mapping[str, float],
        *,
        total: int,
        failed: int | None,
        reason: str = "no request succeeded",
        started_at: datetime | None = None,
        finished_at: datetime | None = None,
    ) -> None:
        """Add a run of requests, with the share of failed ones. reason: why it failed if none succeeded.

        failed: None if the file does not say.
        """
        share = {FAILED_SHARE: failed / total} if total and failed is not None else {}
        self.run(
            levels,
            {**values, **share},
            reason=reason if failed is not None and failed >= total else "",
            started_at=started_at,
            finished_at=finished_at,
            units_done=total - (failed or 0),
            units_failed=failed or 0,
        )

    def build(
        self, *, name: str, question: str, primary: Iterable[str], tags: Iterable[str] = ()
    ) -> Read:
        """Return what was read. primary: names of metrics, of which the first with values is chosen."""
        if not self._runs:
            refuse("", f"There is no run in this file of {self.label}.")
        used = {metric for run in self._runs for metric in run["values"]}
        metrics = tuple(metric for metric in self._metrics.values() if metric.name in used)
        if not metrics:
            refuse("", f"No run in this file has a value: {self._why_none()}.")
        first = next((each for each in primary if each in used), metrics[0].name)
        factors = self._factors()
        return Read(
            format=self.name,
            label=self.label,
            name=clean(name, 200),
            question=clean(question, 300),
            metrics=metrics,
            primary_metric=first,
            factors=factors,
            runs=tuple(ReadRun(**run) for run in self._runs),
            facts=self.facts,
            info=self.info,
            tags=tuple(clean(tag, 50) for tag in tags),
            dropped=tuple(self._dropped),
            work=tuple(name for name in self.work if name in factors),
            roles={name: role for name, role in self.roles.items() if name in factors},
            guesses={
                name: why for name, why in self._guesses.items() if len(factors.get(name, ())) > 1
            },
        )

    def _why_none(self) -> str:
        """Return why no run has a value."""
        reasons = sorted({run["reason"] for run in self._runs if run["reason"]})
        if not reasons:
            return f"none of its runs has a figure of {self.label}"
        more = f", and {len(reasons) - 3:,} more reasons" if len(reasons) > 3 else ""
        return clean("; ".join(reasons[:3]), 300).rstrip(".") + more

    def _factors(self) -> dict[str, tuple[Scalar, ...]]:
        names = dict(self._names)
        if len(names) > MOST_FACTORS:
            self._fold_constants(names)
        if len(names) > MOST_FACTORS:
            self._fold_partial(names)
        if len(names) > MOST_FACTORS:
            refuse(
                "",
                f"The runs differ in {len(names)} settings ({some(names)}); at most {MOST_FACTORS} "
                "may differ in one file. Split the file, so that each has fewer.",
            )
        factors = {}
        for name in names:
            levels = self._typed(name)
            for run in self._runs:
                run["levels"][name] = levels[_key(run["levels"].get(name, NOT_SET))]
            factors[name] = _in_order({_key(each): each for each in levels.values()})
        cells = {tuple(map(_key, run["levels"].values())) for run in self._runs}
        for run in self._runs:
            run["levels"] = {name: run["levels"][name] for name in names}
        if len(cells) > MOST_CELLS or any(len(each) > MOST_CELLS for each in factors.values()):
            refuse("", f"The file has more than {MOST_CELLS} different settings; split it.")
        return factors

    def _fold_constants(self, names: dict[str, None]) -> None:
        """Turn factors with one level into facts, if there are too many factors."""
        for name in list(names):
            result = {_key(run["levels"].get(name, NOT_SET)): 0 for run in self._runs}
            if len(result) == 1 and len(names) > MOST_FACTORS:
                self.fact(name, self._runs[0]["levels"].get(name))
                self.drop(f"{name} has one level only, and is a fact, since factors are too many.")
                del names[name]
                for run in self._runs:
                    run["levels"].pop(name, None)

    def _fold_partial(self, names: dict[str, None]) -> None:
        """Join factors that not all runs have, such as parameters of single tests, into one."""
        partial = [
            name
            for name in names
            if name not in self.work
            and any(run["levels"].get(name, NOT_SET) == NOT_SET for run in self._runs)
        ]
        if len(partial) < 2:
            return
        joined = "parameters" if "parameters" not in names else "further parameters"
        for run in self._runs:
            own = [(name, run["levels"].pop(name, NOT_SET)) for name in partial]
            text = ", ".join(f"{name}={level}" for name, level in own if level != NOT_SET)
            run["levels"][joined] = clean(text, LEVEL_LETTERS) or NOT_SET
        for name in partial:
            del names[name]
        names[joined] = None
        self.drop(f"{some(partial)} are one factor, “{joined}”, since not all runs have them.")

    def _typed(self, name: str) -> dict[tuple[str, str], Scalar]:
        """Return the levels; texts that are all numbers become numbers."""
        result = {
            _key(each): each for each in (run["levels"].get(name, NOT_SET) for run in self._runs)
        }
        if all(isinstance(each, str) for each in result.values()):
            numbers = {key: _number(str(each)) for key, each in result.items()}
            if None not in numbers.values() and len(set(numbers.values())) == len(numbers):
                return {key: number for key, number in numbers.items() if number is not None}
        return result


def some(names: Iterable[str], most: int = 4) -> str:
    """Return the first names, and the number of the others: for messages, which never list all."""
    listed = [clean(name, 60) for name in names]
    if len(listed) <= most:
        return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))
    return f"{', '.join(listed[: most - 1])} and {len(listed) - most + 1} more"


def varying(
    values: Iterable[Mapping[str, Scalar]],
) -> tuple[list[dict[str, Scalar]], dict[str, Scalar]]:
    """Split the settings of runs: those that differ, run by run, and those that all of them share.

    Raise BadFile if they are more than a document may have values.
    """
    settings: list[Mapping[str, Scalar]] = []
    count = 0
    for each in values:
        settings.append(each)
        count += len(each)
        if count > MOST_ELEMENTS:
            refuse(
                "", f"The runs have more than {MOST_ELEMENTS:,} settings in all; split the file."
            )
    first = settings[0] if settings else {}
    shared = {
        name: level
        for name, level in first.items()
        if all(_key(each.get(name, NOT_SET)) == _key(level) for each in settings)
    }
    return [
        {name: level for name, level in each.items() if name not in shared} for each in settings
    ], shared


def _note(notes: dict[str, str], name: str, value: object) -> None:
    text = clean(str(value)) if value is not None else ""
    if text and len(notes) < MOST_NOTES:
        notes.setdefault(clean(name, 80), text)


def _level(level: Scalar) -> Scalar:
    """Return a level as it is stored: 5.0 becomes 5, since the database does not distinguish them."""
    if isinstance(level, float) and level.is_integer():
        return int(level)
    return clean(level, LEVEL_LETTERS) or NOT_SET if isinstance(level, str) else level


def _key(level: Scalar) -> tuple[str, str]:
    """Return a key that distinguishes 1, 1.0, True and “1”."""
    return type(level).__name__, repr(level)


def _number(text: str) -> int | float | None:
    number = number_of(text)
    if number is None:
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _in_order(levels: dict[tuple[str, str], Scalar]) -> tuple[Scalar, ...]:
    """Sort numbers; keep the order of texts in the file."""
    results = list(levels.values())
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in results):
        return tuple(sorted(results, key=lambda each: (float(each), type(each).__name__)))
    return tuple(results)
