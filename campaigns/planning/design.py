"""The fields of a design, each declared once: `DesignForm`.

From a declaration come the form on the page, input and output of the REST API, the JSON Schema of a
definition, the copy into and out of the model, the amendment and its text. A new field needs a line
here, a column of Campaign with its migration, and the code in which it acts. A field of a Django form
is enough for it: it holds type, label, help, initial value and limits, and a model field could hold no
percentages. What depends on the kind or the target is no such field; `checking` reads it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import pretty_name

from campaigns.kit.forms import DurationField, Text
from campaigns.kit.mappings import CleanedData, Columns, FieldValues
from campaigns.kit.numbers import plain_percent
from campaigns.models import Campaign
from campaigns.planning.fitness.checks import NAMES
from campaigns.planning.pools import MEASURE, check_measuring_pool

MOST_REPETITIONS = 200
FEWEST_ADAPTIVE = 8
SERVER_WAIT_SECONDS = 1800
"""The fewest blocks of a campaign that may stop by precision."""


def always(_: Campaign) -> bool:
    """Return True: the definition of every campaign names the field."""
    return True


def _is_adaptive(campaign: Campaign) -> bool:
    return campaign.stop_rule == Campaign.StopRule.PRECISION


class Declared(forms.Field):
    """What a field of the design says that a field of a form does not.

    unit: stands behind the input. group: the part of the page that shows it with others of that group.
    column: of Campaign; the field's own name unless given. locked: fixed at launch, only an amendment
    changes it. hashed: the hash of findings covers it; not so for what changes none, nor for a field
    that is added, or every stored finding would be taken for one of other data. written: whether the
    definition of a campaign names it; older ones name no field that was added later.
    """

    def __init__(
        self,
        *,
        unit: str = "",
        group: str = "",
        column: str = "",
        locked: bool = False,
        hashed: bool = True,
        written: Callable[[Campaign], bool] = always,
        **named: Any,
    ) -> None:
        super().__init__(**{"required": False, **named})
        self.unit, self.group, self.column = unit, group, column
        self.locked, self.hashed, self.written = locked, hashed, written

    def stored(self, value: Any) -> Any:
        """Return a checked value as the column holds it."""
        return value

    def shown(self, value: Any) -> Any:
        """Return what the column holds as a definition has it."""
        return value

    def as_text(self, value: Any) -> str:
        """Return what the column holds as a sentence names it."""
        return str(value).replace("_", " ")


class Line(Declared, Text):
    """Text of a person, without control characters."""

    def as_text(self, value: Any) -> str:
        """Return the text between quotation marks."""
        return f"“{value}”"


class Name(Declared, forms.CharField):
    """A name that is looked up, such as that of a factor."""


class Level(Name):
    """A level of a factor; `checking` finds out which one is meant, with its type."""

    def shown(self, value: Any) -> str:
        """Return it as text."""
        return "" if value is None else str(value)


class Tags(Line):
    """Words, separated by commas; REST takes a list as well."""

    def clean(self, value: Any) -> list[str]:
        """Split at commas, drop doubles, keep the order. Raise ValidationError."""
        tags = [tag.strip() for tag in super().clean(value).split(",")]
        if long := [tag for tag in tags if len(tag) > 40]:
            raise ValidationError(f"“{long[0][:40]}…” is longer than 40 characters.")
        return list(dict.fromkeys(tag for tag in tags if tag))


class Checks(Tags):
    """Names of checks of fitness, separated by commas; REST takes a list as well."""

    def clean(self, value: Any) -> list[str]:
        """Refuse names of no check. Raise ValidationError."""
        names = super().clean(value)
        if unknown := [name for name in names if name not in NAMES]:
            raise ValidationError(
                f"There is no check “{unknown[0]}”; there are {', '.join(NAMES)}."
            )
        return names

    def as_text(self, value: Any) -> str:
        """Return the names."""
        return ", ".join(value) or "none"


class Whole(Declared, forms.IntegerField):
    """A whole number."""


class Number(Declared, forms.FloatField):
    """A number."""


class Span(Declared, DurationField):
    """Seconds that may be typed with units."""


class Percent(Number):
    """A percentage; the column holds a share of 1, and has the name without `_percent`."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**{"min_value": 0.1, "max_value": 100, "unit": "%", **named})

    def stored(self, value: Any) -> Any:
        """Return the share."""
        return value / 100

    def shown(self, value: Any) -> float:
        """Return the percentage."""
        return round(float(value) * 100, 6)

    def as_text(self, value: Any) -> str:
        """Return the percentage with its sign."""
        return f"{'±' if '±' in self.unit else ''}{plain_percent(100 * value)}"


class YesNo(Declared, forms.BooleanField):
    """Yes or no."""

    def as_text(self, value: Any) -> str:
        """Return a word."""
        return "yes" if value else "no"


class Choice(Declared, forms.ChoiceField):
    """One of a few."""

    @property
    def options(self) -> list[tuple[str, str]]:
        """Return values with their labels."""
        choices: Any = self.choices
        return list(choices)

    def as_text(self, value: Any) -> str:
        """Return the label."""
        return dict(self.options).get(value, str(value)).lower()


class DesignForm(forms.Form):
    """Question and design; percentages as people write them."""

    question = Line(
        max_length=500,
        required=True,
        label="What do you want to know?",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One question; the answer will be one sentence. Locked at launch.",
        locked=True,
    )
    name = Line(
        max_length=120,
        label="Short name",
        help_text="Shown in lists. Empty: the beginning of the question.",
    )
    tags = Tags(max_length=300, help_text="Words, separated by commas.")
    order = Choice(choices=Campaign.Order.choices, initial=Campaign.Order.INTERLEAVED)
    paired_factor = Name(max_length=50)
    baseline = Level(max_length=2000)
    repetitions = Whole(
        min_value=1,
        max_value=MOST_REPETITIONS,
        initial=3,
        required=True,
        unit="of each cell",
        group="runs",
    )
    warm_ups = Whole(
        min_value=0,
        max_value=100,
        initial=0,
        label="Warm-up runs",
        unit="not analysed",
        group="runs",
    )
    cool_down_seconds = Number(
        min_value=0,
        max_value=86400,
        initial=0,
        label="Cool-down",
        unit="s between runs",
        group="runs",
    )
    seed = Whole(
        min_value=0,
        max_value=2**53,
        help_text="Determines the order of runs; stored.",
        group="runs",
    )
    settings_afterwards = Choice(
        choices=Campaign.Afterwards.choices,
        initial=Campaign.Afterwards.RESTORE,
        label="Settings of the target at the end",
        help_text="When the campaign is finished or cancelled.",
        written=lambda campaign: campaign.settings_afterwards != Campaign.Afterwards.RESTORE,
    )
    smallest_effect_percent = Percent(
        max_value=500,
        initial=5,
        label="Smallest effect of interest",
        help_text="A smaller difference would not change your decision.",
        group="criteria",
        locked=True,
    )
    margin_percent = Percent(
        initial=2,
        label="Equivalence margin",
        help_text="“Equivalent” means inside this margin.",
        group="criteria",
        locked=True,
    )
    failed_limit_percent = Percent(
        initial=5,
        label="Failure limit",
        help_text="If a larger share of a cell's work failed, that is its result; the remaining work is not judged.",
        unit="% of the work",
        group="criteria",
        locked=True,
        hashed=False,  # the criteria hold it
    )
    stop_rule = Choice(
        choices=Campaign.StopRule.choices, initial=Campaign.StopRule.FIXED, locked=True
    )
    stop_width_percent = Percent(
        max_value=50,
        initial=3,
        label="Target precision",
        help_text="Half the 95 % interval of the primary contrast, or without one of every change.",
        unit="± %",
        group="precision",
        locked=True,
        written=_is_adaptive,
    )
    stop_most = Whole(
        min_value=FEWEST_ADAPTIVE,
        max_value=MOST_REPETITIONS,
        initial=30,
        label="Most blocks",
        help_text="If it is not precise enough by then, it ends.",
        unit="blocks",
        group="precision",
        locked=True,
        written=_is_adaptive,
    )
    run_limit_seconds = Number(
        min_value=1,
        max_value=86400,
        initial=3600,
        label="Longest run",
        help_text="A run above it counts as timed out.",
        unit="s",
        group="limits",
    )
    time_budget_seconds = Span(
        min_value=1,
        max_value=366 * 86400,
        label="Time budget",
        help_text="Such as 90 min or 8 h, from its first run on; then the campaign ends. Empty: none.",
        group="limits",
        hashed=False,
    )
    max_consecutive_failures = Whole(
        min_value=1,
        max_value=10_000,
        initial=5,
        label="Failures in a row",
        help_text="The campaign pauses after this many failed or void runs in a row.",
        unit="runs",
        group="limits",
        hashed=False,
    )
    max_failed_percent = Percent(
        initial=50,
        label="Most runs that may fail",
        help_text="Share of ended runs, void ones included; above it, the campaign pauses.",
        group="limits",
        column="max_failed_share",
        hashed=False,
    )
    server_wait_seconds = Span(
        min_value=1,
        max_value=366 * 86400,
        initial=SERVER_WAIT_SECONDS,
        label="Longest wait for a server",
        help_text="Such as 30 min or 8 h. A server that does not answer is awaited so long; then the campaign pauses.",
        group="limits",
        hashed=False,
        written=lambda campaign: campaign.server_wait_seconds != SERVER_WAIT_SECONDS,
    )
    required_checks = Checks(
        max_length=300,
        label="Required checks of fitness",
        help_text=f"Separated by commas; of {', '.join(NAMES)}. Launched only if the targets have passed them.",
        group="limits",
        hashed=False,
        written=lambda campaign: bool(campaign.required_checks),
    )
    unfit_reason = Line(
        max_length=500,
        label="Reason to launch without",
        help_text="If a required check is missing or not passed: why it is launched all the same. It stands beside the result.",
        group="limits",
        hashed=False,
        written=lambda campaign: bool(campaign.unfit_reason),
    )
    requires_watch = YesNo(
        initial=False,
        label="Void runs whose target is not watched",
        help_text="A run begins only once every watch of its target has seen it.",
        group="limits",
        hashed=False,
        written=lambda campaign: campaign.requires_watch,
    )
    pool = Name(
        max_length=50,
        initial=MEASURE,
        validators=[check_measuring_pool],
        label="Pool of workers",
        widget=forms.TextInput(attrs={"list": "pools"}),
        help_text="Its workers measure the runs; choose one near the target.",
        group="limits",
        written=lambda campaign: campaign.pool != MEASURE,
    )

    def clean(self) -> CleanedData:
        """Fill what was left empty with the initial value of its field."""
        cleaned = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            empty = cleaned.get(name) in (None, "") and name not in self.errors
            if empty and field.initial is not None:
                cleaned[name] = field.initial
        margin, effect = cleaned.get("margin_percent"), cleaned.get("smallest_effect_percent")
        if margin is not None and effect is not None and margin > effect:
            self.add_error("margin_percent", too_wide(margin, effect))
        if cleaned.get("stop_rule") == Campaign.StopRule.PRECISION:
            self._check_precision(cleaned)
        return cleaned

    def _check_precision(self, cleaned: CleanedData) -> None:
        """Refuse what a stop by precision cannot be kept with."""
        repetitions, most = cleaned.get("repetitions"), cleaned.get("stop_most")
        if cleaned.get("order") not in IN_BLOCKS:
            self.add_error("stop_rule", NO_BLOCKS)
        if repetitions is not None and repetitions < FEWEST_ADAPTIVE:
            self.add_error(
                "repetitions",
                f"A stop at the first narrow interval favours small noise: begin with "
                f"{FEWEST_ADAPTIVE} blocks at least.",
            )
        elif repetitions is not None and most is not None and most < repetitions:
            self.add_error("stop_most", f"It begins with {repetitions} blocks; allow as many.")


IN_BLOCKS = (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
NO_BLOCKS = "Only interleaved and paired campaigns go on block by block."


def too_wide(margin: float, effect: float) -> str:
    """Return the message for a margin above the smallest effect, both in percent."""
    return (
        f"The margin ({plain_percent(margin)}) is wider than the smallest effect of interest "
        f"({plain_percent(effect)}); make it at most as wide."
    )


def _declared() -> dict[str, Declared]:
    """Return the fields by name, with the columns that have the same name."""
    fields = {}
    for name, field in DesignForm.base_fields.items():
        if isinstance(field, Declared):
            field.column = field.column or name.removesuffix("_percent")
            fields[name] = field
    return fields


FIELDS: Mapping[str, Declared] = _declared()
COLUMNS = tuple(field.column for field in FIELDS.values())
LOCKED = tuple(name for name, field in FIELDS.items() if field.locked)


def in_group(group: str) -> list[str]:
    """Return the names of the fields of a group."""
    return [name for name, field in FIELDS.items() if field.group == group]


def label_of(name: str) -> str:
    """Return the label of a field, as a form writes it."""
    return str(FIELDS[name].label or pretty_name(name))


def as_columns(clean: FieldValues) -> Columns:
    """Return checked values by column."""
    return {field.column: field.stored(clean[name]) for name, field in FIELDS.items()}


def values_of(campaign: Campaign, *, every: bool = False) -> CleanedData:
    """Return the design of a campaign as a definition has it; every: also what it does not name."""
    return {
        name: field.shown(getattr(campaign, field.column))
        for name, field in FIELDS.items()
        if every or field.written(campaign)
    }
