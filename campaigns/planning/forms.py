"""The fields of a campaign that do not depend on its kind, and of a target. Validation only."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.durations import DurationField
from campaigns.kit.forms import Text
from campaigns.models import Campaign
from campaigns.planning.pools import MEASURE, check_measuring_pool
from campaigns.targets import quiet_hours

MOST_REPETITIONS = 200
USUAL_FAMILY = "http"
FEWEST_ADAPTIVE = 8
"""Blocks that a campaign has before its precision may end it."""


def _percent(label: str, help_text: str, *, initial: float, most: float = 100) -> forms.FloatField:
    return forms.FloatField(
        min_value=0.1,
        max_value=most,
        initial=initial,
        required=False,
        label=label,
        help_text=help_text,
    )


class DesignForm(forms.Form):
    """Question and design; percentages as people write them."""

    question = Text(
        max_length=500,
        label="What do you want to know?",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One question; the answer will be one sentence. Locked at launch.",
    )
    name = Text(
        max_length=120,
        required=False,
        label="Short name",
        help_text="Shown in lists. Empty: the beginning of the question.",
    )
    tags = Text(max_length=300, required=False, help_text="Words, separated by commas.")
    order = forms.ChoiceField(
        choices=Campaign.Order.choices, initial=Campaign.Order.INTERLEAVED, required=False
    )
    paired_factor = forms.CharField(max_length=50, required=False)
    baseline = forms.CharField(max_length=2000, required=False)
    repetitions = forms.IntegerField(min_value=1, max_value=MOST_REPETITIONS, initial=3)
    warm_ups = forms.IntegerField(
        min_value=0, max_value=100, initial=0, required=False, label="Warm-up runs"
    )
    cool_down_seconds = forms.FloatField(
        min_value=0, max_value=86400, initial=0, required=False, label="Cool-down"
    )
    run_limit_seconds = forms.FloatField(
        min_value=1,
        max_value=86400,
        initial=3600,
        required=False,
        label="Longest run",
        help_text="A run above it counts as timed out.",
    )
    pool = forms.CharField(
        max_length=50,
        initial=MEASURE,
        required=False,
        validators=[check_measuring_pool],
        label="Pool of workers",
        widget=forms.TextInput(attrs={"list": "pools"}),
        help_text="Its workers measure the runs; choose one near the target.",
    )
    time_budget_seconds = DurationField(
        min_value=1,
        max_value=366 * 86400,
        required=False,
        label="Time budget",
        help_text="Such as 90 min or 8 h, from its first run on; then the campaign ends. Empty: none.",
    )
    max_failed_percent = _percent(
        "Most runs that may fail",
        "Share of ended runs, void ones included; above it, the campaign pauses.",
        initial=50,
    )
    max_consecutive_failures = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=5,
        required=False,
        label="Failures in a row",
        help_text="The campaign pauses after this many failed or void runs in a row.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**53,
        required=False,
        help_text="Determines the order of runs; stored.",
    )
    smallest_effect_percent = _percent(
        "Smallest effect of interest",
        "A smaller difference would not change your decision.",
        initial=5,
        most=500,
    )
    margin_percent = _percent(
        "Equivalence margin", "“Equivalent” means inside this margin.", initial=2
    )
    failed_limit_percent = _percent(
        "Failure limit",
        "If a larger share of a cell's work failed, that is its result; the remaining work is "
        "not judged.",
        initial=5,
    )
    stop_rule = forms.ChoiceField(
        choices=Campaign.StopRule.choices, initial=Campaign.StopRule.FIXED, required=False
    )

    stop_width_percent = forms.FloatField(
        min_value=0.1,
        max_value=50,
        initial=3,
        required=False,
        label="Target precision",
        help_text="Half the 95 % interval of the primary contrast, or without one of every change.",
    )
    stop_most = forms.IntegerField(
        min_value=FEWEST_ADAPTIVE,
        max_value=MOST_REPETITIONS,
        initial=30,
        required=False,
        label="Most blocks",
        help_text="If it is not precise enough by then, it ends.",
    )

    settings_afterwards = forms.ChoiceField(
        choices=Campaign.Afterwards.choices,
        initial=Campaign.Afterwards.RESTORE,
        required=False,
        label="Settings of the target at the end",
        help_text="When the campaign is finished or cancelled.",
    )

    def clean(self) -> dict[str, Any]:
        """Fill what was left empty with the initial value of its field."""
        cleaned = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            empty = cleaned.get(name) in (None, "") and name not in self.errors
            if empty and field.initial is not None:
                cleaned[name] = field.initial
        margin, effect = cleaned.get("margin_percent"), cleaned.get("smallest_effect_percent")
        if margin is not None and effect is not None and margin > effect:
            self.add_error(
                "margin_percent",
                f"The margin ({margin:g} %) is wider than the smallest effect of interest "
                f"({effect:g} %); make it at most as wide.",
            )
        if cleaned.get("stop_rule") == Campaign.StopRule.PRECISION:
            self._check_precision(cleaned)
        return cleaned

    def _check_precision(self, cleaned: dict[str, Any]) -> None:
        """Refuse what a stop by precision cannot be kept with."""
        repetitions, most = cleaned.get("repetitions"), cleaned.get("stop_most")
        if cleaned.get("order") not in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED):
            self.add_error(
                "stop_rule", "Only interleaved and paired campaigns go on block by block."
            )
        if repetitions is not None and repetitions < FEWEST_ADAPTIVE:
            self.add_error(
                "repetitions",
                f"A stop at the first narrow interval favours small noise: begin with "
                f"{FEWEST_ADAPTIVE} blocks at least.",
            )
        elif repetitions is not None and most is not None and most < repetitions:
            self.add_error("stop_most", f"It begins with {repetitions} blocks; allow as many.")

    def clean_tags(self) -> list[str]:
        """Split at commas, drop doubles, keep the order."""
        tags = [tag.strip() for tag in self.cleaned_data["tags"].split(",")]
        if long := [tag for tag in tags if len(tag) > 40]:
            raise ValidationError(f"“{long[0][:40]}…” is longer than 40 characters.")
        return list(dict.fromkeys(tag for tag in tags if tag))


class TargetForm(forms.Form):
    """A server under test. An empty password leaves the stored one as it is."""

    name = Text(max_length=100)
    family = forms.ChoiceField()
    base_url = forms.CharField(
        max_length=500,
        label="Base URL",
        help_text="http:// or https://, host and port; no user name in it.",
    )
    username = Text(
        max_length=200,
        required=False,
        label="User name",
        help_text="For kinds that sign in at the server; the downloader does not.",
    )
    password = forms.CharField(
        max_length=500,
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Encrypted at rest, and never shown again. Empty: as it was.",
    )
    forget_password = forms.BooleanField(required=False, label="Forget the stored password")
    max_concurrency = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        required=False,
        label="Most requests at a time",
        help_text="A campaign that asks for more is refused. Empty: no limit.",
    )
    max_requests_per_second = forms.FloatField(
        min_value=0.01,
        max_value=1_000_000,
        required=False,
        label="Most requests a second",
        help_text="No run begins more of them in any second. Empty: no limit.",
    )
    quiet_hours = Text(
        max_length=5000,
        required=False,
        label="Quiet hours",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            "Nothing loads the server then. One window per line: Mon-Fri 08:00-18:00, or "
            "Sat,Sun 00:00-24:00, or daily 22:00-06:00. Empty: none."
        ),
    )
    quiet_zone = Text(
        max_length=60,
        required=False,
        initial="UTC",
        label="Time zone of the quiet hours",
        widget=forms.TextInput(attrs={"list": "zones"}),
        help_text="Such as Europe/Berlin; summer time is respected.",
    )
    is_production = forms.BooleanField(
        required=False,
        label="This is a production server",
        help_text="Others depend on it: its name must be typed before it is loaded.",
    )
    is_dedicated = forms.BooleanField(
        required=False,
        label="This server belongs to perfdash alone",
        help_text=(
            "A kind that empties its server may then delete unclaimed content at once. Never "
            "tick it for a server with content of others."
        ),
    )
    hardware = Text(
        max_length=2000,
        required=False,
        label="Hardware and network",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What it runs on, in your words; stored with every run measured from now on.",
    )
    ca_bundle = Text(
        max_length=200_000,
        required=False,
        label="CA bundle",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="PEM. For a server whose certificate no public authority has signed.",
    )
    skip_verification = forms.BooleanField(
        required=False,
        label="Do not verify the server's certificate",
        help_text="Any server that answers is trusted, and gets the password: only for a network of your own.",
    )
    client_certificate = Text(
        max_length=50_000,
        required=False,
        label="Client certificate",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="PEM. In place of user name and password, where the server takes it.",
    )
    client_key = forms.CharField(
        max_length=50_000,
        required=False,
        label="Key of the client certificate",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocomplete": "off"}),
        help_text="PEM, without a passphrase. Encrypted at rest, and never shown again. Empty: as it was.",
    )
    notes = Text(max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2}))
    confirm_address = forms.BooleanField(
        required=False,
        label="This server is mine; perfdash may put load on it",
        help_text="Needed for a loopback or private address that no rule allows yet.",
    )

    def __init__(self, *arguments: Any, families: list[str], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["family"] = forms.ChoiceField(
            choices=[(family, family) for family in families],
            initial=USUAL_FAMILY if USUAL_FAMILY in families else None,
        )

    def clean_quiet_hours(self) -> str:
        """Refuse lines that cannot be read."""
        text: str = self.cleaned_data["quiet_hours"]
        _read_hours(quiet_hours.parse, text)
        return text

    def clean_quiet_zone(self) -> str:
        """Refuse a zone that nobody knows; UTC where none is given."""
        name: str = self.cleaned_data["quiet_zone"] or "UTC"
        _read_hours(quiet_hours.zone_of, name)
        return name


def _read_hours(read: Callable[[str], object], text: str) -> None:
    try:
        read(text)
    except quiet_hours.BadQuietHours as error:
        raise ValidationError(str(error)) from None
