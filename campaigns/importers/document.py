"""Reads a submission: JSON as the REST API takes it, checked run by run.

Everything that is wrong is told at once, by its path. Texts become what can be stored and shown.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from campaigns.definition.errors import Invalid, is_list_of_words
from campaigns.importers.submitted import (
    MOST_VALUES,
    Scalar,
    Submitted,
    SubmittedMetric,
    SubmittedRun,
)
from campaigns.models import Campaign
from campaigns.models.campaigns import FACTOR_LETTERS, METRIC_LETTERS
from campaigns.results import storable

DEFINITION = (
    *("question", "name", "tags", "source", "order", "paired_factor", "baseline"),
    *(
        "primary_metric",
        "primary_contrast",
        "smallest_effect_percent",
        "margin_percent",
        "factors",
        "work",
    ),
)
TOP = ("id", "campaign", "metrics", "context", "info", "runs")
METRIC = ("label", "unit", "lower_is_better", "fidelity")
RUN = (
    *("id", "tags", "values", "state", "reason", "started_at", "finished_at", "block", "context"),
    *("info", "units_done", "units_failed"),
)
VALUE = ("value", "censored")
STATES = ("ok", "failed")
LARGEST = 1e18
MOST_BLOCK = 1_000_000
MOST_UNITS = 2**31 - 1
MOST_FACTS = 50
MOST_INFO_BYTES = 10_000
LEVEL_LETTERS = 500
FACT_LETTERS = 2000
ID_LETTERS = 100
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
SHOWN = 60


class _Problems(dict[str, list[str]]):
    """Messages by path; told when everything was looked at."""

    def note(self, path: str, message: str) -> None:
        self.setdefault(path, []).append(message)


def read_submission(data: Any, *, appended: bool = False) -> Submitted:
    """Check a whole document. Raise Invalid with every error by its path.

    appended: to a campaign that is there, whose definition it does not bring.
    """
    problems = _Problems()
    if not isinstance(data, Mapping):
        raise Invalid({"": ["Send an object with `runs`."]})
    known = [name for name in TOP if not (appended and name in ("id", "campaign"))]
    _no_others(data, known, "", problems)
    definition = _mapping(data, "campaign", problems)
    _no_others(definition, DEFINITION, "campaign", problems)
    metrics = _metrics(data, problems)
    context = _context(data, "", problems)
    runs = list(_runs(data, context, problems))
    if not runs and not problems:
        problems.note("runs", "Send at least one run.")
    if (count := sum(max(1, len(run.values)) for run in runs)) > MOST_VALUES:
        problems.note(
            "runs", f"These are {count:,} values; send {MOST_VALUES:,} at most in one request."
        )
    factors = _factors(definition, problems)
    work = definition.get("work", [])
    if not is_list_of_words(work):
        problems.note("campaign.work", "Send the names of tags as a list.")
    external_id = _text(data.get("id", ""), "id", ID_LETTERS, problems)
    info = _info(data, "", problems)
    if problems:
        raise Invalid(problems)
    return Submitted(
        runs=runs,
        metrics=metrics,
        definition={
            name: value for name, value in definition.items() if name not in ("factors", "work")
        },
        factors=factors,
        work=work,
        info=info,
        external_id=external_id,
        digest=_digest(data) if external_id else "",
    )


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _no_others(given: Mapping[str, Any], known: Any, path: str, problems: _Problems) -> None:
    for name in given:
        if name not in known:
            problems.note(
                f"{path}.{str(name)[:SHOWN]}".strip("."),
                f"There is no field “{str(name)[:SHOWN]}” here; there are {', '.join(known)}.",
            )


def _mapping(
    data: Mapping[str, Any], name: str, problems: _Problems, at: str = ""
) -> dict[str, Any]:
    given = data.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        problems.note(f"{at}.{name}".strip("."), "Send an object: names with their values.")
        return {}
    return given


def _text(given: Any, path: str, most: int, problems: _Problems) -> str:
    if not isinstance(given, str):
        problems.note(path, "Send a text.")
        return ""
    if len(given) > most:
        problems.note(path, f"It has {len(given):,} letters; at most {most} are stored.")
        return ""
    if not given.isprintable():
        problems.note(path, "It holds control characters; take them out.")
        return ""
    return given.strip()


def _metrics(data: Mapping[str, Any], problems: _Problems) -> list[SubmittedMetric]:
    found = []
    for name, given in _mapping(data, "metrics", problems).items():
        path = f"metrics.{name[:SHOWN]}"
        if not isinstance(given, dict):
            problems.note(path, "Send an object with `unit` and `lower_is_better`.")
            continue
        _no_others(given, METRIC, path, problems)
        if not _text(name, path, METRIC_LETTERS, problems):
            problems.note(path, "Give the metric a name.")
        unit = _text(given.get("unit", ""), f"{path}.unit", 20, problems)
        if not unit:
            problems.note(f"{path}.unit", "Say its unit, such as s, MB/s, 1/s, count or share.")
        lower = given.get("lower_is_better", "missing")
        if not isinstance(lower, bool | None):
            problems.note(
                f"{path}.lower_is_better", "Send true, false, or null where neither way is better."
            )
        fidelity = given.get("fidelity", Campaign.Fidelity.RAW)
        if fidelity not in Campaign.Fidelity.values:
            problems.note(f"{path}.fidelity", f"There are {', '.join(Campaign.Fidelity.values)}.")
        label = _text(given.get("label", ""), f"{path}.label", 100, problems)
        found.append(SubmittedMetric(name, label or _pretty(name), unit, lower, fidelity))
    return found


def _pretty(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _factors(definition: Mapping[str, Any], problems: _Problems) -> dict[str, list[Scalar]]:
    found: dict[str, list[Scalar]] = {}
    for name, levels in _mapping(definition, "factors", problems, "campaign").items():
        path = f"campaign.factors.{name[:SHOWN]}"
        if not isinstance(levels, list):
            problems.note(path, "Send its levels as a list, in the order to show them.")
            continue
        _text(name, path, FACTOR_LETTERS, problems)
        found[name] = [_level(level, path, problems) for level in levels]
    return found


def _level(given: Any, path: str, problems: _Problems) -> Scalar:
    """A text, a number, yes or no; 5.0 is 5, as it is to the database."""
    if isinstance(given, bool):
        return given
    if isinstance(given, int | float):
        return int(given) if float(given).is_integer() else given
    return _text(given, path, LEVEL_LETTERS, problems)


def _context(data: Mapping[str, Any], at: str, problems: _Problems) -> dict[str, str]:
    found = {}
    given = _mapping(data, "context", problems, at)
    if len(given) > MOST_FACTS:
        problems.note(f"{at}.context".strip("."), f"More than {MOST_FACTS} facts; leave some out.")
        return {}
    for name, value in given.items():
        path = f"{at}.context.{name[:SHOWN]}".strip(".")
        if isinstance(value, dict | list) or value is None:
            problems.note(path, "Send a text, a number, true or false.")
            continue
        _text(name, path, 100, problems)
        words = value if isinstance(value, str) else json.dumps(value)
        found[name] = storable(_text(words, path, FACT_LETTERS, problems))
    return found


def _info(data: Mapping[str, Any], at: str, problems: _Problems) -> dict[str, Any]:
    given = _mapping(data, "info", problems, at)
    if given and len(json.dumps(given)) > MOST_INFO_BYTES:
        problems.note(
            f"{at}.info".strip("."), f"It is larger than {MOST_INFO_BYTES:,} bytes; send less."
        )
    return given


def _runs(
    data: Mapping[str, Any], context: Mapping[str, str], problems: _Problems
) -> Iterator[SubmittedRun]:
    given = data.get("runs", [])
    if not isinstance(given, list):
        problems.note("runs", "Send a list of runs.")
        return
    for number, entry in enumerate(given):
        path = f"runs.{number}"
        if not isinstance(entry, dict):
            problems.note(path, "Send an object with `tags` and `values`.")
            continue
        yield from _repetitions(entry, path, context, problems)


def _repetitions(
    entry: Mapping[str, Any], path: str, context: Mapping[str, str], problems: _Problems
) -> Iterator[SubmittedRun]:
    """One run; or several, where its values are lists: one number a repetition, null: it failed."""
    _no_others(entry, RUN, path, problems)
    values = _mapping(entry, "values", problems, path)
    lengths = {len(value) for value in values.values() if isinstance(value, list)}
    if not lengths:
        yield _run(entry, values, path, context, problems)
        return
    if len(lengths) > 1 or not all(isinstance(value, list) for value in values.values()):
        problems.note(f"{path}.values", "Lists of values are of one length, a number a repetition.")
        return
    for name in ("id", "block", "started_at", "finished_at"):
        if entry.get(name) is not None:
            problems.note(
                f"{path}.{name}",
                "It belongs to one run; send these repetitions as runs of their own.",
            )
            return
    for place in range(lengths.pop()):
        yield _run(
            entry, {name: each[place] for name, each in values.items()}, path, context, problems
        )


def _run(
    entry: Mapping[str, Any],
    values: Mapping[str, Any],
    path: str,
    context: Mapping[str, str],
    problems: _Problems,
) -> SubmittedRun:
    numbers: dict[str, float] = {}
    censored = set()
    for name, given in values.items():
        value = given
        if isinstance(given, dict):
            _no_others(given, VALUE, f"{path}.values.{name[:SHOWN]}", problems)
            value = given.get("value")
            if given.get("censored") is True:
                censored.add(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.note(f"{path}.values.{name[:SHOWN]}", "Send a number, or null: not observed.")
        elif not abs(value) <= LARGEST:
            problems.note(f"{path}.values.{name[:SHOWN]}", f"It is above {LARGEST:g}.")
        else:
            numbers[name] = float(value)
    failed, reason = _ending(entry, bool(values) and not numbers, path, problems)
    if not numbers and not failed:
        problems.note(f"{path}.values", "It has no value; send one, or `state`: “failed”.")
    own = _context(entry, path, problems) if "context" in entry else {}
    started = _instant(entry.get("started_at"), f"{path}.started_at", problems)
    finished = _instant(entry.get("finished_at"), f"{path}.finished_at", problems)
    if started and finished and finished < started:
        problems.note(f"{path}.finished_at", "It is before `started_at`.")
    return SubmittedRun(
        levels=_levels(entry, path, problems),
        values=numbers,
        censored=frozenset(censored),
        failed=failed,
        reason=reason,
        started_at=started,
        finished_at=finished,
        units_done=_whole(entry, "units_done", path, problems),
        units_failed=_whole(entry, "units_failed", path, problems),
        block=_whole(entry, "block", path, problems) or None,
        external_id=_text(entry.get("id", ""), f"{path}.id", ID_LETTERS, problems),
        context={**context, **own} if own else context,
        info=_info(entry, path, problems) if "info" in entry else {},
    )


def _levels(entry: Mapping[str, Any], path: str, problems: _Problems) -> dict[str, Scalar]:
    found = {}
    for name, level in _mapping(entry, "tags", problems, path).items():
        at = f"{path}.tags.{name[:SHOWN]}"
        if not _text(name, at, FACTOR_LETTERS, problems):
            problems.note(at, "Give the tag a name.")
        found[name] = _level(level, at, problems)
    return found


def _ending(
    entry: Mapping[str, Any], nothing: bool, path: str, problems: _Problems
) -> tuple[bool, str]:
    state = entry.get("state", "failed" if nothing else "ok")
    if state not in STATES:
        problems.note(f"{path}.state", f"There are {' and '.join(STATES)}.")
    reason = _text(entry.get("reason", ""), f"{path}.reason", FACT_LETTERS, problems)
    failed = state == "failed"
    return failed, storable(reason) or ("reported as failed" if failed else "")


def _instant(given: Any, path: str, problems: _Problems) -> datetime | None:
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        problems.note(path, "Send an instant such as 2026-11-22T09:30:00Z.")
        return None
    if moment.tzinfo is None:
        problems.note(path, "Say its offset, such as Z or +01:00 at its end.")
        return None
    try:
        within = EARLIEST <= moment < LATEST
    except OverflowError:
        within = False
    if not within:
        problems.note(path, "Send an instant of the years 1990 to 2099.")
        return None
    return moment


def _whole(entry: Mapping[str, Any], name: str, path: str, problems: _Problems) -> int:
    given = entry.get(name)
    most = MOST_BLOCK if name == "block" else MOST_UNITS
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        problems.note(f"{path}.{name}", f"Send a whole number, 0 to {most:,}.")
        return 0
    if name == "block" and given == 0:
        problems.note(f"{path}.{name}", "Blocks are counted from 1.")
    return given
