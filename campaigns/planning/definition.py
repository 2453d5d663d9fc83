"""What users state of a campaign, each field declared once: `Definition`.

From a declaration come the form on the page, the reading and the documents of REST, the JSON Schema of a definition, the copy
into and out of the model, the amendment and its text. A leaf is declared by a form field (`leaves`); a new one needs a line
here, a column of Campaign with its migration, and the code in which it acts; without a `group` also one in templates/planning. Structured parts are declared beside their rules:
`criterion`, `contrasts`, `search`. `checking` says what depends on the kind or the target.
"""

from typing import Annotated, Any

from django import forms
from msgspec import Meta, Struct

from campaigns.kit.structs import leaf
from campaigns.models import Campaign, Factor
from campaigns.planning import contrasts
from campaigns.planning import criterion as criteria
from campaigns.planning.contrasts import StatedContrast
from campaigns.planning.criterion import Criterion
from campaigns.planning.fitness.checks import NAMES
from campaigns.planning.leaves import (
    SCALAR,
    Checks,
    Choice,
    Level,
    Line,
    Name,
    Number,
    Percent,
    Span,
    Tags,
    Whole,
    YesNo,
)
from campaigns.planning.pools import MEASURE, check_measuring_pool
from campaigns.planning.search import StatedSearch

MOST_REPETITIONS = 200
FEWEST_ADAPTIVE = 8
"""The fewest blocks of a campaign that may stop by precision."""
SERVER_WAIT_SECONDS = 1800
COMBINATIONS = "Give combinations such as {“engine”: “futures”, “concurrency”: 100}."
MOST_FACTORS = 6
MOST_TARGETS = 6


def _is_adaptive(campaign: Campaign) -> bool:
    return campaign.stop_rule == Campaign.StopRule.PRECISION


def stated(description: str, message: str = "", **schema: Any) -> Meta:
    """Return the annotation of a field that the kind or the target decides on. message: for a value of another shape."""
    return Meta(
        description=description,
        extra={"message": message} if message else None,
        extra_json_schema=schema or None,
    )


class Definition(Struct, kw_only=True, forbid_unknown_fields=True):
    """A campaign as REST, YAML and the form state it; percentages as people write them.

    What is not sent has the initial value of its form field. The defaults here are what a field holds that is wrong.
    """

    question: Annotated[
        str,
        leaf(
            Line(
                max_length=500,
                required=True,
                label="What do you want to know?",
                widget=forms.Textarea(attrs={"rows": 2}),
                help_text="One question; the answer will be one sentence. Locked at launch.",
                locked=True,
            )
        ),
    ] = ""
    name: Annotated[
        str,
        leaf(
            Line(
                max_length=120,
                label="Short name",
                help_text="Shown in lists. Empty: the beginning of the question.",
            )
        ),
    ] = ""
    tags: Annotated[
        list[str], leaf(Tags(max_length=300, help_text="Words, separated by commas."))
    ] = []
    kind: Annotated[
        str,
        stated(
            "What is measured: a kind of perfdash, or a version of a program; the server takes a program's name alone, too.",
            "Give the name of a kind, or of a program.",
        ),
    ] = ""
    target: Annotated[
        str | int | None,
        stated(
            "The server to measure: its name, or its id.",
            "Give the name or the number of one target.",
        ),
    ] = None
    targets: Annotated[
        list[str | int] | None,
        stated(
            "Several servers to compare side by side, in place of “target”: 2 to 6 names or ids, of one family and team. "
            "“target” is a factor by itself then.",
            "Give a list of targets, by number or name: [3, 7].",
            maxItems=MOST_TARGETS,
        ),
    ] = None
    parameters: Annotated[
        dict[str, Any],
        stated(
            "Fixed parameters by name; what is missing takes its initial value.",
            "Give the parameters by name: {“concurrency”: 10}.",
        ),
    ] = {}
    factors: Annotated[
        dict[
            str,
            Annotated[
                Annotated[list[Any], Meta(min_length=1)] | dict[str, Any],
                Meta(extra={"message": "Give a list of levels, such as [5, 10]."}),
            ],
        ],
        stated(
            "What varies: lists of levels by name of the parameter. The levels of “configuration” are named sets of settings.",
            "Give the levels of each factor: {“concurrency”: [5, 10]}.",
            maxProperties=MOST_FACTORS,
        ),
    ] = {}
    excluded: Annotated[
        list[
            Annotated[
                dict[str, Annotated[Any, Meta(extra_json_schema=SCALAR)]],
                Meta(extra={"message": COMBINATIONS}),
            ]
        ],
        stated("Combinations of levels that are left out.", COMBINATIONS),
    ] = []
    primary_metric: Annotated[
        str | None, stated("The kind's own unless given.", "Give the name of a metric.")
    ] = None
    primary_contrast: Annotated[
        StatedContrast | None,
        stated("The comparison that answers the question.", contrasts.EXAMPLE),
    ] = None
    criterion: Annotated[
        Criterion | None,
        stated(
            "What every cell has to keep, and what “carried” means where a factor is load.",
            f"Give an object such as {criteria.EXAMPLE}.",
        ),
    ] = None
    search: Annotated[
        StatedSearch | None,
        stated(
            "A search for capacity, instead of levels of a load.",
            "Give the search as fields: {“load”: “hosts”, “largest”: 2000}.",
            required=["largest"],
        ),
    ] = None
    roles: Annotated[
        dict[
            str,
            Annotated[
                str,
                Meta(
                    extra_json_schema={"enum": Factor.Role.values},
                    extra={"message": "Give the name of a role, such as “load”."},
                ),
            ],
        ]
        | None,
        stated(
            "Roles of factors other than those that the kind declares.",
            "Give the role of each factor, such as {“concurrency”: “load”}.",
        ),
    ] = None
    hard_to_change: Annotated[
        list[str] | None,
        stated(
            "Factors that are changed as seldom as possible; without it, as the target's settings say.",
            "Give a list of factors, such as [“puma_workers”].",
        ),
    ] = None
    order: Annotated[
        str,
        Meta(description="The order of runs."),
        leaf(Choice(choices=Campaign.Order.choices, initial=Campaign.Order.INTERLEAVED)),
    ] = ""
    paired_factor: Annotated[
        str,
        Meta(description="With the order paired: the factor of two levels that are compared."),
        leaf(Name(max_length=50)),
    ] = ""
    baseline: Annotated[
        str,
        Meta(
            description="The level of the paired factor to compare against; the first unless given."
        ),
        leaf(Level(max_length=2000)),
    ] = ""
    repetitions: Annotated[
        int,
        Meta(description="Runs of each cell."),
        leaf(
            Whole(
                min_value=1,
                max_value=MOST_REPETITIONS,
                initial=3,
                required=True,
                unit="of each cell",
                group="runs",
            )
        ),
    ] = 0
    warm_ups: Annotated[
        int,
        Meta(description="Runs before the first block, which are not analysed."),
        leaf(
            Whole(
                min_value=0,
                max_value=100,
                initial=0,
                label="Warm-up runs",
                unit="not analysed",
                group="runs",
            )
        ),
    ] = 0
    cool_down_seconds: Annotated[
        float,
        Meta(description="Seconds between two runs."),
        leaf(
            Number(
                min_value=0,
                max_value=86400,
                initial=0,
                label="Cool-down",
                unit="s between runs",
                group="runs",
            )
        ),
    ] = 0.0
    seed: Annotated[
        int | None,
        leaf(
            Whole(
                min_value=0,
                max_value=2**53,
                help_text="Determines the order of runs; stored.",
                group="runs",
            )
        ),
    ] = None
    settings_afterwards: Annotated[
        str,
        leaf(
            Choice(
                choices=Campaign.Afterwards.choices,
                initial=Campaign.Afterwards.RESTORE,
                label="Settings of the target at the end",
                help_text="When the campaign is finished or cancelled.",
                stated_in=lambda campaign: (
                    campaign.settings_afterwards != Campaign.Afterwards.RESTORE
                ),
            )
        ),
    ] = ""
    anew: Annotated[
        bool,
        leaf(
            YesNo(
                initial=False,
                label="Install each build anew",
                help_text="At the begin of each whole plot, even if it is in force: two installations of one version may differ.",
                hashed=False,
                stated_in=lambda campaign: campaign.anew,
            )
        ),
    ] = False
    smallest_effect_percent: Annotated[
        float,
        leaf(
            Percent(
                max_value=500,
                initial=5,
                label="Smallest effect of interest",
                help_text="A smaller difference would not change your decision.",
                group="criteria",
                locked=True,
            )
        ),
    ] = 0.0
    margin_percent: Annotated[
        float,
        leaf(
            Percent(
                initial=2,
                label="Equivalence margin",
                help_text="“Equivalent” means inside this margin.",
                group="criteria",
                locked=True,
            )
        ),
    ] = 0.0
    failed_limit_percent: Annotated[
        float,
        leaf(
            Percent(
                initial=5,
                label="Failure limit",
                help_text="If a larger share of a cell's work failed, that is its result; the remaining work is not judged.",
                unit="% of the work",
                group="criteria",
                locked=True,
                hashed=False,  # the criteria hold it
            )
        ),
    ] = 0.0
    stop_rule: Annotated[
        str,
        Meta(
            description="Whether it ends after the repetitions, or goes on until it is precise enough."
        ),
        leaf(
            Choice(choices=Campaign.StopRule.choices, initial=Campaign.StopRule.FIXED, locked=True)
        ),
    ] = ""
    stop_width_percent: Annotated[
        float,
        leaf(
            Percent(
                max_value=50,
                initial=3,
                label="Target precision",
                help_text="Half the 95 % interval of the primary contrast, or without one of every change.",
                unit="± %",
                group="precision",
                locked=True,
                stated_in=_is_adaptive,
            )
        ),
    ] = 0.0
    stop_most: Annotated[
        int,
        leaf(
            Whole(
                min_value=FEWEST_ADAPTIVE,
                max_value=MOST_REPETITIONS,
                initial=30,
                label="Most blocks",
                help_text="If it is not precise enough by then, it ends.",
                unit="blocks",
                group="precision",
                locked=True,
                stated_in=_is_adaptive,
            )
        ),
    ] = 0
    run_limit_seconds: Annotated[
        float,
        leaf(
            Number(
                min_value=1,
                max_value=86400,
                initial=3600,
                label="Longest run",
                help_text="A run above it counts as timed out.",
                unit="s",
                group="limits",
            )
        ),
    ] = 0.0
    time_budget_seconds: Annotated[
        float | None,
        leaf(
            Span(
                min_value=1,
                max_value=366 * 86400,
                label="Time budget",
                help_text="Such as 90 min or 8 h, from its first run on; then the campaign ends. Empty: none.",
                group="limits",
                hashed=False,
            )
        ),
    ] = None
    max_consecutive_failures: Annotated[
        int,
        leaf(
            Whole(
                min_value=1,
                max_value=10_000,
                initial=5,
                label="Failures in a row",
                help_text="The campaign pauses after this many failed or void runs in a row.",
                unit="runs",
                group="limits",
                hashed=False,
            )
        ),
    ] = 0
    max_failed_percent: Annotated[
        float,
        leaf(
            Percent(
                initial=50,
                label="Most runs that may fail",
                help_text="Share of ended runs, void ones included; above it, the campaign pauses.",
                group="limits",
                column="max_failed_share",
                hashed=False,
            )
        ),
    ] = 0.0
    server_wait_seconds: Annotated[
        float | None,
        leaf(
            Span(
                min_value=1,
                max_value=366 * 86400,
                initial=SERVER_WAIT_SECONDS,
                label="Longest wait for a server",
                help_text="Such as 30 min or 8 h. A server that does not answer is awaited so long; then the campaign pauses.",
                group="limits",
                hashed=False,
                stated_in=lambda campaign: campaign.server_wait_seconds != SERVER_WAIT_SECONDS,
            )
        ),
    ] = None
    required_checks: Annotated[
        list[str],
        leaf(
            Checks(
                max_length=300,
                label="Required checks of fitness",
                help_text=f"Separated by commas; of {', '.join(NAMES)}. Launched only if the targets have passed them.",
                group="limits",
                hashed=False,
                stated_in=lambda campaign: bool(campaign.required_checks),
            )
        ),
    ] = []
    unfit_reason: Annotated[
        str,
        leaf(
            Line(
                max_length=500,
                label="Reason to launch without",
                help_text="If a required check is missing or not passed: why it is launched all the same. It stands beside the result.",
                group="limits",
                hashed=False,
                stated_in=lambda campaign: bool(campaign.unfit_reason),
            )
        ),
    ] = ""
    requires_watch: Annotated[
        bool,
        leaf(
            YesNo(
                initial=False,
                label="Void runs whose target is not watched",
                help_text="A run begins only once every watch of its target has seen it.",
                group="limits",
                hashed=False,
                stated_in=lambda campaign: campaign.requires_watch,
            )
        ),
    ] = False
    pool: Annotated[
        str,
        leaf(
            Name(
                max_length=50,
                initial=MEASURE,
                validators=[check_measuring_pool],
                label="Pool of workers",
                widget=forms.TextInput(attrs={"list": "pools"}),
                help_text="Its workers measure the runs; choose one near the target.",
                group="limits",
                stated_in=lambda campaign: campaign.pool != MEASURE,
            )
        ),
    ] = ""
