"""Read a submission: JSON of the REST API, checked run by run.

`submitted` declares it and checks its types; the rest is checked here. All errors are reported at once,
each with its path. Texts become what can be stored and shown.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from msgspec import UNSET

from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Json
from campaigns.kit.redaction import storable
from campaigns.kit.structs import SHOWN, Problems, converted, too_long
from campaigns.models.campaigns import FACTOR_LETTERS, METRIC_LETTERS
from campaigns.results.importing.submitted import (
    MOST_VALUES,
    AboutInput,
    LimitInput,
    MetricInput,
    RunInput,
    RunsInput,
    SubmissionInput,
    Submitted,
    SubmittedRun,
)
from campaigns.results.readers.base import ReadMetric, Scalar

NOT_OBSERVED = "not observed"
MOST_FACTS = 50
MOST_INFO_BYTES = 10_000
MOST_FACTS_LETTERS = 50_000_000
"""Values of all runs of a request together."""
LEVEL_LETTERS = 500
FACT_LETTERS = 2000
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
Values = Mapping[str, float | LimitInput | None]


def read_submission(data: Any, *, appended: bool = False) -> Submitted:
    """Check a whole document. Raise Invalid with every error by its path.

    appended: the runs are for an existing campaign, whose definition is not submitted.
    """
    if not isinstance(data, Mapping):
        raise Invalid({"": ["Send an object with `runs`."]})
    problems = Problems()
    sent = converted(data, RunsInput if appended else SubmissionInput, problems)
    reading = _Reading(problems)
    metrics = list(reading.metrics(sent.metrics))
    facts = reading.facts(sent.context, "context")
    runs = list(reading.runs(sent.runs or [], facts))
    if not runs and not problems:
        problems.note("runs", "Send at least one run.")
    if (count := sum(max(1, len(run.values)) for run in runs)) > MOST_VALUES:
        problems.note(
            "runs", f"These are {count:,} values; send {MOST_VALUES:,} at most in one request."
        )
    if sum(_letters(run.context) for run in runs if run.context) > MOST_FACTS_LETTERS:
        problems.note(
            "context",
            f"It is kept with each run, and these {len(runs):,} runs would have more than "
            f"{MOST_FACTS_LETTERS:,} letters of it; send less, or send it as `info`.",
        )
    reading.info(sent.info, "info")
    whole = sent if isinstance(sent, SubmissionInput) else None
    about = whole.campaign if whole else None
    definition = data["campaign"] if about else {}
    factors = reading.factors(about) if about else {}
    external_id = reading.text(whole.id, "id") if whole else ""
    if problems:
        raise Invalid(problems)
    return Submitted(
        runs=runs,
        metrics=metrics,
        definition={
            name: value
            for name, value in definition.items()
            if name not in ("factors", "work", "roles")
        },
        factors=factors,
        work=about.work if about else (),
        roles=about.roles if about else {},
        info=sent.info,
        external_id=external_id,
        digest=_digest(data) if external_id else "",
    )


def _letters(context: Mapping[str, str]) -> int:
    return sum(len(name) + len(value) for name, value in context.items())


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


class _Reading:
    """Turns submitted values into stored ones, and notes errors. None: an error is already noted."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self._storable = cache(storable)
        self._levels: dict[tuple[Any, ...], dict[str, Scalar]] = {}

    def metrics(self, sent: Mapping[str, MetricInput | None]) -> Iterator[ReadMetric]:
        for name, metric in sent.items():
            if metric is None:
                continue
            path = f"metrics.{name[:SHOWN]}"
            self.name(name, path, METRIC_LETTERS, "Give the metric a name.")
            unit = self.text(metric.unit or "", f"{path}.unit")
            if not unit:
                self.problems.note(
                    f"{path}.unit", "Say its unit, such as s, MB/s, 1/s, count or share."
                )
            label = self.text(metric.label, f"{path}.label")
            yield ReadMetric(
                name, label or _pretty(name), unit, metric.lower_is_better, metric.fidelity
            )

    def factors(self, about: AboutInput) -> dict[str, list[Scalar]]:
        """Return the levels by factor; check the texts of the definition, too."""
        for field in ("question", "name", "source"):
            if not isinstance(getattr(about, field), str | None):
                self.problems.note(f"campaign.{field}", "Send a text.")
        result = {}
        for name, levels in about.factors.items():
            path = f"campaign.factors.{name[:SHOWN]}"
            self.text(name, path, FACTOR_LETTERS)
            result[name] = [self.level(level, path) for level in levels or ()]
        return result

    def runs(
        self, sent: Sequence[RunInput | None], facts: Mapping[str, str]
    ) -> Iterator[SubmittedRun]:
        for number, run in enumerate(sent):
            if run is not None:
                yield from self._repetitions(run, f"runs.{number}", facts)

    def _repetitions(
        self, run: RunInput, path: str, facts: Mapping[str, str]
    ) -> Iterator[SubmittedRun]:
        """Return one run, or several where its values are lists: one number a repetition, or null."""
        sets = self._sets(run, path)
        levels = self.levels(run.tags, path)
        started = self.instant(run.started_at, f"{path}.started_at")
        finished = self.instant(run.finished_at, f"{path}.finished_at")
        if started and finished and finished < started:
            self.problems.note(f"{path}.finished_at", "It is before `started_at`.")
        if run.context:
            facts = {**facts, **self.facts(run.context, f"{path}.context")}
        external_id = self.text(run.id, f"{path}.id") if run.id else ""
        reason = self._storable(self.text(run.reason, f"{path}.reason")) if run.reason else ""
        if run.info:
            self.info(run.info, f"{path}.info")
        failed = run.state == "failed"
        for values in sets:
            numbers, censored = _observed(values)
            lost = bool(values) and not numbers and run.state is UNSET
            if not numbers and not failed and not lost:
                self.problems.note(
                    f"{path}.values", "It has no value; send one, or `state`: “failed”."
                )
            yield SubmittedRun(
                levels=levels,
                values=numbers,
                censored=censored,
                state="failed" if failed else "lost" if lost else "ok",
                reason=reason or ("reported as failed" if failed else NOT_OBSERVED if lost else ""),
                started_at=started,
                finished_at=finished,
                units_done=run.units_done,
                units_failed=run.units_failed,
                block=run.block or None,
                external_id=external_id,
                context=facts,
                info=run.info,
            )

    def _sets(self, run: RunInput, path: str) -> list[Values]:
        """Return the values of each repetition."""
        if list not in map(type, run.values.values()):
            return [run.values]  # type: ignore[list-item]
        lists = {name: each for name, each in run.values.items() if isinstance(each, list)}
        lengths = {len(each) for each in lists.values()}
        if len(lengths) > 1 or len(lists) < len(run.values):
            self.problems.note(
                f"{path}.values", "Lists of values are of one length, a number a repetition."
            )
            return []
        for name in ("id", "block", "started_at", "finished_at"):
            if getattr(run, name):
                self.problems.note(
                    f"{path}.{name}",
                    "It belongs to one run; send these repetitions as runs of their own.",
                )
                return []
        if not any(lengths):
            self.problems.note(
                f"{path}.values", "Its lists are empty; send a number a repetition, or null."
            )
        return [dict(zip(lists, each, strict=True)) for each in zip(*lists.values(), strict=True)]

    def text(self, text: str, path: str, most: int | None = None) -> str:
        """Return a text without outer spaces; empty where it is too long, or cannot be shown."""
        if most is not None and len(text) > most:
            self.problems.note(path, too_long(text, most))
            return ""
        if not text.isprintable():
            self.problems.note(path, "It holds control characters; take them out.")
            return ""
        return text.strip()

    def name(self, name: str, path: str, most: int, message: str) -> None:
        """Note what is wrong with a name; the message is for an empty one."""
        if not self.text(name, path, most):
            self.problems.note(path, message)

    def levels(self, tags: Mapping[str, Scalar], path: str) -> dict[str, Scalar]:
        """Return the levels that tags name. Runs with the same tags share one object."""
        key = (*tags.items(), *map(type, tags.values()))
        known = self._levels.get(key)
        if known is not None:
            return known
        problems, levels = len(self.problems), {}
        for name, level in tags.items():
            at = f"{path}.tags.{name[:SHOWN]}"
            self.name(name, at, FACTOR_LETTERS, "Give the tag a name.")
            levels[name] = self.level(level, at)
        if len(self.problems) == problems:
            self._levels[key] = levels
        return levels

    def level(self, level: Scalar, path: str) -> Scalar:
        """Return a text, number or boolean; 5.0 becomes 5, since the database does not distinguish them."""
        if isinstance(level, str):
            return self.text(level, path, LEVEL_LETTERS)
        return int(level) if isinstance(level, float) and level.is_integer() else level

    def facts(self, context: Mapping[str, Scalar], path: str) -> dict[str, str]:
        """Return facts of the environment as text, without secrets."""
        if len(context) > MOST_FACTS:
            self.problems.note(path, f"More than {MOST_FACTS} facts; leave some out.")
            return {}
        result = {}
        for name, fact in context.items():
            at = f"{path}.{name[:SHOWN]}"
            self.name(name, at, 100, "Give the fact a name.")
            text = fact if isinstance(fact, str) else json.dumps(fact)
            result[name] = self._storable(self.text(text, at, FACT_LETTERS))
        return result

    def info(self, info: Json, path: str) -> None:
        if info and len(json.dumps(info)) > MOST_INFO_BYTES:
            self.problems.note(path, f"It is larger than {MOST_INFO_BYTES:,} bytes; send less.")

    def instant(self, text: str | None, path: str) -> datetime | None:
        """Return an instant of ISO 8601 with its offset; None where there is none, or it is wrong."""
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                self.problems.note(path, "Say its offset, such as Z or +01:00 at its end.")
                return None
            if EARLIEST <= moment < LATEST:
                return moment
        except OverflowError:
            pass
        except ValueError:
            self.problems.note(path, "Send an instant such as 2026-11-22T09:30:00Z.")
            return None
        self.problems.note(path, "Send an instant of the years 1990 to 2099.")
        return None


def _observed(values: Values) -> tuple[Mapping[str, float], frozenset[str]]:
    """Return the observed numbers, and the names of those that are lower limits."""
    if {*map(type, values.values())} == {float}:
        return values, frozenset()  # type: ignore[return-value]
    numbers, censored = {}, set()
    for name, value in values.items():
        limit = value if isinstance(value, LimitInput) else LimitInput(value)
        if limit.value is not None:
            numbers[name] = limit.value
        if limit.censored:
            censored.add(name)
    return numbers, frozenset(censored)


def _pretty(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")
