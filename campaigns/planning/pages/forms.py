"""The campaign form between the browser and `planning.checking.check`: read, map, prefill."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import SystemRandom
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict

from campaigns.kinds.base import Driver, Preset
from campaigns.kinds.base.values import BLIND_LABEL
from campaigns.kinds.registry import all_kinds
from campaigns.kit.forms import as_text, is_key
from campaigns.kit.units import written
from campaigns.models import Campaign, Target
from campaigns.planning.calibrating import PAIRS, TAG, question_of
from campaigns.planning.design import FIELDS, Span
from campaigns.planning.pages import contrast_fields as contrasts
from campaigns.planning.pages.contrast_fields import NEXT_PAIR
from campaigns.targets.variables import Variables, variables_of

VALUES = ("target", "primary_metric", *contrasts.NAMES, *FIELDS)
MOST_LOOKED_AT = 20
"""Earlier campaigns on a target whose URLs are offered."""
NUMBERS = (forms.IntegerField, forms.FloatField)

Errors = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Entered:
    """What stands in the form, as text, right or wrong.

    values: `target`, `primary_metric` and the fields of DesignForm. parameters: the single value
    of each parameter. varied: the parameters that are factors. levels: those of each factor.
    excluded: one combination a line. hard: factors that are ticked as hard to change; None: nobody
    was asked yet, so as the settings say. teams: whose targets may be chosen.
    """

    kind: str
    values: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    varied: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    excluded: str = ""
    hard: frozenset[str] | None = None
    teams: frozenset[int] = frozenset()

    @property
    def targets(self) -> QuerySet[Target]:
        """What may be measured."""
        return Target.objects.filter(team__in=self.teams, retired_at=None)

    @property
    def target(self) -> Target | None:
        """The chosen target; None where what was sent is none to choose."""
        key = self.values.get("target", "")
        return self.targets.filter(pk=int(key)).first() if is_key(key) else None

    @property
    def variables(self) -> Variables:
        """What the kind and the settings of the chosen target let be set; nothing without a kind."""
        driver = self.driver
        return Variables({}, ()) if driver is None else variables_of(driver, self.target)

    @property
    def driver(self) -> Driver | None:
        """The driver of the chosen kind; None where what was sent is no kind to choose."""
        return kinds_to_choose().get(self.kind)


def kinds_to_choose() -> dict[str, Driver]:
    """Kinds that perfdash can execute."""
    return {kind: driver for kind, driver in all_kinds().items() if driver.executable}


def read(post: QueryDict, teams: frozenset[int]) -> Entered:
    """Take what the browser sent, for a campaign of one of these teams; what the kind does not know is left aside."""
    kind = post.get("kind", "")
    values = {name: _plain(post.get(name, "")) for name in VALUES}
    variables = Entered(kind, values, teams=teams).variables
    known = variables.fields
    return Entered(
        kind=kind,
        values=values,
        teams=teams,
        parameters={
            name: _plain(post.get(f"p-{name}", "")) if f"p-{name}" in post else _absent(form_field)
            for name, form_field in known.items()
        },
        varied=frozenset(name for name in known if f"vary-{name}" in post),
        levels={
            name: split_levels(form_field, "\n".join(post.getlist(f"levels-{name}")))
            for name, form_field in known.items()
            if f"levels-{name}" in post
        },
        excluded=_plain(post.get("excluded", "")),
        hard=frozenset(
            name
            for name in known
            if f"hard-{name}" in post
            or (f"asked-hard-{name}" not in post and name in variables.hard)
        ),
    )


def blank(kind: str, teams: frozenset[int], target: Target | None = None) -> Entered:
    """A new form of a kind, with its initial values and a seed that stays while one types."""
    values = {name: as_text(form_field.initial) for name, form_field in FIELDS.items()}
    values["seed"] = str(new_seed())
    entered = Entered(kind=kind, values=values, teams=teams)
    return with_kind(entered, target)


def new_seed() -> int:
    """Draw a seed for the order of runs."""
    return SystemRandom().randrange(1, 2**31)


def as_calibration(entered: Entered, target: Target | None) -> Entered:
    """Begin with one setting under two blind labels."""
    values = {
        "question": question_of(target.name if target else "this server"),
        "order": str(Campaign.Order.PAIRED),
        "paired_factor": BLIND_LABEL,
        "repetitions": str(PAIRS),
        "tags": TAG,
    }
    return replace(entered, values={**entered.values, **values})


def with_kind(entered: Entered, target: Target | None = None) -> Entered:
    """Fill in initial values that the kind requires and the form lacks: parameters, target, metric."""
    driver = entered.driver
    if driver is None:
        return entered
    values = dict(entered.values)
    if values.get("primary_metric") not in {metric.name for metric in driver.metrics}:
        values["primary_metric"] = driver.primary_metric.name
    possible = targets_of(driver, entered)
    if target is not None and target in possible:
        values["target"] = str(target.pk)
    elif values.get("target") not in {str(known.pk) for known in possible}:
        values["target"] = str(possible[0].pk) if possible else ""
    entered = replace(entered, values=values)
    initial = {name: as_text(f.initial) for name, f in driver.parameters.base_fields.items()}
    begun = {name: known[0] for name, known in offers_of(entered).items()}
    return replace(entered, parameters=initial | begun | dict(entered.parameters))


def offers_of(entered: Entered) -> dict[str, list[str]]:
    """Return values of parameters that the chosen target is known to serve, the one to begin with first.

    Those that its driver knows; else those of the last campaigns on it that went through.
    """
    driver, target = entered.driver, entered.target
    if driver is None or target is None:
        return {}
    known = driver.offers(target.base_url, settings.SANDBOX_URL)
    result = {name: list(values) for name, values in known.items() if values}
    done = target.campaign_set.filter(kind=entered.kind, state=Campaign.State.FINISHED)
    initial = {name: as_text(f.initial) for name, f in driver.parameters.base_fields.items()}
    for parameters in done.order_by("-pk").values_list("parameters", flat=True)[:MOST_LOOKED_AT]:
        # A parameter that varied stands with the factors, not here.
        for name in driver.urls(target.base_url, initial | parameters):
            value = parameters.get(name)
            if isinstance(value, str) and value not in result.setdefault(name, []):
                result[name].append(value)
    return result


def presets_of(driver: Driver) -> Sequence[Preset]:
    """What a form may begin with; nothing where there is no sandbox."""
    return driver.presets(settings.SANDBOX_URL) if settings.SANDBOX_URL else ()


def with_preset(entered: Entered, name: str) -> Entered:
    """Fill in the values of a preset, which do not vary any more, and the levels of those that do.

    An unknown one changes nothing.
    """
    result = (
        [each for each in presets_of(entered.driver) if each.name == name] if entered.driver else []
    )
    if not result:
        return entered
    values, factors = result[0].parameters, result[0].factors
    return replace(
        entered,
        parameters={**entered.parameters, **values},
        varied=(entered.varied - values.keys()) | factors.keys(),
        levels={**entered.levels, **{each: tuple(levels) for each, levels in factors.items()}},
    )


def targets_of(driver: Driver, entered: Entered) -> list[Target]:
    """Targets that the kind can measure, the ready ones first."""
    rows = entered.targets.filter(family__in=driver.families).select_related("team")
    return sorted(rows, key=lambda target: target.health != Target.Health.READY)


def from_data(data: Mapping[str, Any], teams: frozenset[int]) -> Entered:
    """Prefill with a stored definition, as `planning.drafts.as_data` gives it."""
    factors: Mapping[str, Any] = data["factors"]
    entered = Entered(
        kind=str(data["kind"]),
        teams=teams,
        values={name: _typed(name, data.get(name)) for name in VALUES}
        | contrasts.as_entered(data.get(contrasts.PATH)),
        parameters={name: as_text(value) for name, value in data["parameters"].items()},
        varied=frozenset(factors),
        levels={name: tuple(map(as_text, levels)) for name, levels in factors.items()},
        hard=frozenset(data["hard_to_change"]) if "hard_to_change" in data else None,
        excluded="\n".join(
            ", ".join(f"{name}={as_text(level)}" for name, level in combination.items())
            for combination in data["excluded"]
        ),
    )
    return with_kind(entered)


def as_shown(entered: Entered) -> dict[str, str]:
    """Return what stands in the form as texts by the path of an error: to compare one with another."""
    hard = ", ".join(sorted(entered.hard & entered.varied)) if entered.hard else ""
    parameters = {
        f"parameters.{name}": f"varies: {', '.join(entered.levels.get(name, ()))}"
        if name in entered.varied
        else _written(form_field, entered.parameters.get(name, ""))
        for name, form_field in entered.variables.fields.items()
    }
    target = entered.target
    return {
        **entered.values,
        **parameters,
        "kind": entered.kind,
        "target": target.name if target else "",
        "excluded": entered.excluded,
        "hard_to_change": hard,
    }


def stored_in(path: str) -> frozenset[str]:
    """Return the names under which a definition holds what stands at a path of `as_shown`."""
    if path in contrasts.NAMES:
        return frozenset({contrasts.PATH})
    if path.startswith("parameters."):
        return frozenset({"parameters", "factors"})
    return frozenset({path})


def refusals(entered: Entered, refused: Iterable[tuple[str, Any, str]]) -> dict[str, list[str]]:
    """Return what a target refused of the levels that stand in the form, by the path of an error."""
    data: dict[str, list[str]] = {}
    for name, level, sentence in refused:
        text = as_text(level)
        varied = name in entered.varied
        stands = entered.levels.get(name, ()) if varied else (entered.parameters.get(name, ""),)
        if text in stands:
            what = f" {text}" if text and varied else " this"
            data.setdefault(f"parameters.{name}", []).append(
                f"The target refused{what}: {sentence}"
            )
    return data


def _typed(name: str, value: Any) -> str:
    """Write a stored value of the design as somebody would type it."""
    if value is not None and isinstance(FIELDS.get(name), Span):
        return written(value)
    return as_text(value)


def to_data(entered: Entered) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return what `check` takes, and the errors that only the text of the form can have."""
    variables = entered.variables
    known = variables.fields
    excluded, errors = combinations(entered.excluded, known)
    contrast, wrong = contrasts.read_entered(entered.values)
    if wrong:
        errors |= {contrasts.PATH: [wrong]}
    data: dict[str, Any] = {
        **{name: text for name, text in entered.values.items() if name not in contrasts.NAMES},
        "primary_contrast": contrast,
        "kind": entered.kind,
        "parameters": {
            name: value_of(known[name], entered.parameters.get(name, ""))
            for name in known
            if name not in entered.varied
        },
        "factors": {
            name: list(entered.levels.get(name, ())) for name in known if name in entered.varied
        },
        "excluded": excluded,
        "hard_to_change": _hard(entered, variables),
    }
    if entered.values.get("order") != Campaign.Order.PAIRED:  # hidden fields are ignored
        data |= {"paired_factor": "", "baseline": ""}
    paired = known.get(data["paired_factor"])
    if paired is not None and data.get("baseline"):
        data["baseline"] = str(as_level(paired, data["baseline"]))
    return data, errors


def _hard(entered: Entered, variables: Variables) -> list[str] | None:
    """What is ticked; in an order that changes everything at random nothing is."""
    in_blocks = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED, "")
    if entered.hard is None or entered.values.get("order", "") not in in_blocks:
        return None
    return [name for name in variables.fields if name in entered.hard & entered.varied]


def contrasts_of(entered: Entered) -> contrasts.ContrastForm:
    """Return the choice of the primary contrast, with what the levels that stand in the form allow."""
    driver = entered.driver
    names = entered.variables.factors
    paired = entered.values.get("order") == Campaign.Order.PAIRED
    return contrasts.ContrastForm(
        {name: entered.levels.get(name, ()) for name in names if name in entered.varied},
        entered.values,
        only=entered.values.get("paired_factor", "") if paired else "",
        not_among=driver.work if driver else (),
    )


def split_levels(form_field: forms.Field, text: str) -> tuple[str, ...]:
    """One level a line; numbers may also stand on one line, between commas or blanks."""
    pattern = r"[\s,;]+" if isinstance(form_field, NUMBERS) else r"[\r\n]+"
    return tuple(part.strip() for part in re.split(pattern, text) if part.strip())


def value_of(form_field: forms.Field, text: str) -> Any:
    """Return what was typed as a field takes it: of a box whether it is ticked."""
    if isinstance(form_field, forms.BooleanField):
        return text in {"on", "True", "true", "1"}
    return text


def _written(form_field: forms.Field, text: str) -> str:
    """Write a single value as it is compared: of a box its tick."""
    if isinstance(form_field, forms.BooleanField):
        return "yes" if value_of(form_field, text) else "no"
    return text


def _absent(form_field: forms.Field) -> str:
    """Return the value of a field that the browser did not send: an unticked box, or the initial value."""
    return "" if isinstance(form_field, forms.BooleanField) else as_text(form_field.initial)


def _plain(text: str) -> str:
    """Line ends as one character, as they are meant; browsers send two."""
    return text.replace("\r\n", "\n").strip()


def combinations(
    text: str, known: Mapping[str, forms.Field]
) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Read one combination a line, and give what is wrong with the lines that are none."""
    result, wrong = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = [part.partition("=") for part in NEXT_PAIR.split(line)]
        if not all(equals and name.strip() for name, equals, _ in parts):
            wrong.append(
                f"Line {number} is no combination; "
                "write name=level, and a comma between two of them."
            )
            continue
        result.append(
            {
                name.strip(): as_level(known.get(name.strip()), level.strip())
                for name, _, level in parts
            }
        )
    return result, {"excluded": wrong} if wrong else {}


def as_level(form_field: forms.Field | None, text: str) -> Any:
    """The level as its field understands it; as it was typed where it does not."""
    if form_field is None:
        return text
    try:
        return form_field.clean(text)
    except ValidationError:
        return text
