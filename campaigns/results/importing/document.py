"""Reads a submission: JSON as the REST API takes it, checked run by run.

Everything that is wrong is told at once, by its path. Texts become what can be stored and shown.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.kit.errors import Invalid
from campaigns.kit.form_errors import is_list_of_words
from campaigns.kit.redaction import storable
from campaigns.models import Campaign
from campaigns.models.campaigns import FACTOR_LETTERS, METRIC_LETTERS
from campaigns.results.importing.fields import (
    FACT_LETTERS,
    SHOWN,
    Problems,
    context_of,
    info_of,
    instant_of,
    level_of,
    mapping_at,
    no_others,
    text_of,
    whole_of,
)
from campaigns.results.importing.submitted import (
    MOST_VALUES,
    Scalar,
    Submitted,
    SubmittedMetric,
    SubmittedRun,
)

DEFINITION = (
    *("question", "name", "tags", "source", "order", "paired_factor", "baseline"),
    *(
        "primary_metric",
        "primary_contrast",
        "smallest_effect_percent",
        "margin_percent",
        "failed_limit_percent",
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
NOT_OBSERVED = "not observed"
LARGEST = 1e18
MOST_FACTS_LETTERS = 50_000_000
"""Of all runs of a request together."""
ID_LETTERS = 100


def read_submission(data: Any, *, appended: bool = False) -> Submitted:
    """Check a whole document. Raise Invalid with every error by its path.

    appended: to a campaign that is there, whose definition it does not bring.
    """
    problems = Problems()
    if not isinstance(data, Mapping):
        raise Invalid({"": ["Send an object with `runs`."]})
    known = [name for name in TOP if not (appended and name in ("id", "campaign"))]
    no_others(data, known, "", problems)
    definition = mapping_at(data, "campaign", problems)
    no_others(definition, DEFINITION, "campaign", problems)
    metrics = _metrics(data, problems)
    context = context_of(data, "", problems)
    runs = list(_runs(data, context, problems))
    if not runs and not problems:
        problems.note("runs", "Send at least one run.")
    if (count := sum(max(1, len(run.values)) for run in runs)) > MOST_VALUES:
        problems.note(
            "runs", f"These are {count:,} values; send {MOST_VALUES:,} at most in one request."
        )
    if sum(_letters(run.context) for run in runs) > MOST_FACTS_LETTERS:
        problems.note(
            "context",
            f"It is kept with each run, and these {len(runs):,} runs would have more than "
            f"{MOST_FACTS_LETTERS:,} letters of it; send less, or send it as `info`.",
        )
    for name in ("question", "name", "source"):
        if definition.get(name) is not None and not isinstance(definition[name], str):
            problems.note(f"campaign.{name}", "Send a text.")
    factors = _factors(definition, problems)
    work = definition.get("work", [])
    if not is_list_of_words(work):
        problems.note("campaign.work", "Send the names of tags as a list.")
    external_id = text_of(data.get("id", ""), "id", ID_LETTERS, problems)
    info = info_of(data, "", problems)
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


def _letters(context: Mapping[str, str]) -> int:
    return sum(len(name) + len(value) for name, value in context.items())


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _metrics(data: Mapping[str, Any], problems: Problems) -> list[SubmittedMetric]:
    found = []
    for name, given in mapping_at(data, "metrics", problems).items():
        path = f"metrics.{name[:SHOWN]}"
        if not isinstance(given, dict):
            problems.note(path, "Send an object with `unit` and `lower_is_better`.")
            continue
        no_others(given, METRIC, path, problems)
        if not text_of(name, path, METRIC_LETTERS, problems):
            problems.note(path, "Give the metric a name.")
        unit = text_of(given.get("unit", ""), f"{path}.unit", 20, problems)
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
        label = text_of(given.get("label", ""), f"{path}.label", 100, problems)
        found.append(SubmittedMetric(name, label or _pretty(name), unit, lower, fidelity))
    return found


def _pretty(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _factors(definition: Mapping[str, Any], problems: Problems) -> dict[str, list[Scalar]]:
    found: dict[str, list[Scalar]] = {}
    for name, levels in mapping_at(definition, "factors", problems, "campaign").items():
        path = f"campaign.factors.{name[:SHOWN]}"
        if not isinstance(levels, list):
            problems.note(path, "Send its levels as a list, in the order to show them.")
            continue
        text_of(name, path, FACTOR_LETTERS, problems)
        found[name] = [level_of(level, path, problems) for level in levels]
    return found


def _runs(
    data: Mapping[str, Any], context: Mapping[str, str], problems: Problems
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
    entry: Mapping[str, Any], path: str, context: Mapping[str, str], problems: Problems
) -> Iterator[SubmittedRun]:
    """One run; or several, where its values are lists: one number a repetition, or null."""
    no_others(entry, RUN, path, problems)
    values = mapping_at(entry, "values", problems, path)
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
    if not any(lengths):
        problems.note(f"{path}.values", "Its lists are empty; send a number a repetition, or null.")
    for place in range(lengths.pop()):
        yield _run(
            entry, {name: each[place] for name, each in values.items()}, path, context, problems
        )


def _run(
    entry: Mapping[str, Any],
    values: Mapping[str, Any],
    path: str,
    context: Mapping[str, str],
    problems: Problems,
) -> SubmittedRun:
    numbers: dict[str, float] = {}
    censored = set()
    for name, given in values.items():
        value = given
        if isinstance(given, dict):
            value, limited = _limited(given, f"{path}.values.{name[:SHOWN]}", problems)
            if limited:
                censored.add(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.note(f"{path}.values.{name[:SHOWN]}", "Send a number, or null: not observed.")
        elif not abs(value) <= LARGEST:
            problems.note(f"{path}.values.{name[:SHOWN]}", f"It is above {LARGEST:g}.")
        else:
            numbers[name] = float(value)
    failed, reason = _ending(entry, path, problems)
    lost = bool(values) and not numbers and not failed and "state" not in entry
    if not numbers and not failed and not lost:
        problems.note(f"{path}.values", "It has no value; send one, or `state`: “failed”.")
    own = context_of(entry, path, problems) if "context" in entry else {}
    started = instant_of(entry.get("started_at"), f"{path}.started_at", problems)
    finished = instant_of(entry.get("finished_at"), f"{path}.finished_at", problems)
    if started and finished and finished < started:
        problems.note(f"{path}.finished_at", "It is before `started_at`.")
    return SubmittedRun(
        levels=_levels(entry, path, problems),
        values=numbers,
        censored=frozenset(censored),
        failed=failed,
        lost=lost,
        reason=reason or (NOT_OBSERVED if lost else ""),
        started_at=started,
        finished_at=finished,
        units_done=whole_of(entry, "units_done", path, problems),
        units_failed=whole_of(entry, "units_failed", path, problems),
        block=whole_of(entry, "block", path, problems) or None,
        external_id=text_of(entry.get("id", ""), f"{path}.id", ID_LETTERS, problems),
        context={**context, **own} if own else context,
        info=info_of(entry, path, problems) if "info" in entry else {},
    )


def _limited(given: Mapping[str, Any], at: str, problems: Problems) -> tuple[Any, bool]:
    """A value, and whether it is a lower limit."""
    no_others(given, VALUE, at, problems)
    if "value" not in given:
        problems.note(at, "It has no `value`; send a number, or null: not observed.")
    limited = given.get("censored", False)
    if not isinstance(limited, bool):
        problems.note(f"{at}.censored", "Send true or false.")
    return given.get("value"), limited is True


def _levels(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Scalar]:
    found = {}
    for name, level in mapping_at(entry, "tags", problems, path).items():
        at = f"{path}.tags.{name[:SHOWN]}"
        if not text_of(name, at, FACTOR_LETTERS, problems):
            problems.note(at, "Give the tag a name.")
        found[name] = level_of(level, at, problems)
    return found


def _ending(entry: Mapping[str, Any], path: str, problems: Problems) -> tuple[bool, str]:
    state = entry.get("state", "ok")
    if state not in STATES:
        problems.note(f"{path}.state", f"There are {' and '.join(STATES)}.")
    reason = text_of(entry.get("reason", ""), f"{path}.reason", FACT_LETTERS, problems)
    failed = state == "failed"
    return failed, storable(reason) or ("reported as failed" if failed else "")
