"""The parameters of the kind `sql`."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import load_fields
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)
from campaigns.kinds.load.schedule import OPEN
from campaigns.kinds.sql import scripts
from campaigns.kit.mappings import CleanedData
from campaigns.kit.sql_tls import AUTOMATIC

MOST_CLIENTS = 5000
TOGETHER, APART = "together", "apart"
LABELS = {
    scripts.KV_READ: "kv-read: read a row by its key",
    scripts.KV_WRITE: "kv-write: change a row by its key",
    scripts.KV_MIXED: "kv-mixed: both, so many percent of them reads",
    scripts.TPCB: "tpcb-like: pgbench's own, five statements in a transaction",
    scripts.SIMPLE_UPDATE: "simple-update: the same without tellers and branches",
    scripts.SELECT_ONLY: "select-only: pgbench's own, one SELECT",
    scripts.OWN: "own: the script below",
}


class SqlText(TextParameter):
    """A text of several lines, in which white space stays."""

    def __init__(self, **options: Any) -> None:
        rows = forms.Textarea({"rows": 4, "spellcheck": "false"})
        super().__init__(required=False, strip=False, initial="", widget=rows, **options)


class SqlForm(forms.Form):
    """The parameters of one run."""

    script = ChoiceParameter(
        label="Script",
        role="work",
        essential=True,
        initial=scripts.KV_READ,
        choices=list(LABELS.items()),
        help_text="What a transaction does, over and over.",
    )
    clients = IntegerParameter(
        label="Clients",
        role="load",
        essential=True,
        initial=4,
        min_value=1,
        max_value=MOST_CLIENTS,
        help_text="Clients at a time, each with one connection and one transaction.",
    )
    loop = load_fields.loop(
        varies=False,
        closed="a client begins again when it is answered",
        opened="transactions begin at a rate, whatever the server does",
        help_text="What decides when a transaction begins.",
    )
    rate = load_fields.rate("In an open loop: transactions a second, at random instants (Poisson).")
    duration_seconds = IntegerParameter(
        label="Duration in seconds",
        varies=False,
        essential=True,
        initial=20,
        min_value=1,
        max_value=86_400,
        help_text="Seconds that are measured.",
    )
    warm_up_seconds = IntegerParameter(
        label="Warm-up in seconds",
        varies=False,
        initial=2,
        min_value=0,
        max_value=3600,
        help_text="Seconds before them that do not count.",
    )
    transactions = IntegerParameter(
        label="Transactions per client",
        varies=False,
        required=False,
        min_value=1,
        max_value=100_000_000,
        help_text="Transactions of each client in place of seconds, so that all cells do the same; no warm-up then.",
    )
    rows = IntegerParameter(
        label="Rows",
        role="work",
        initial=100_000,
        min_value=1,
        max_value=1_000_000_000,
        help_text="Rows of the table kv.",
    )
    value_bytes = IntegerParameter(
        label="Value size in bytes",
        role="work",
        initial=16,
        min_value=1,
        max_value=100_000,
        help_text="Bytes of each value in the table kv.",
    )
    read_percent = IntegerParameter(
        label="Reads in percent",
        role="work",
        initial=95,
        min_value=0,
        max_value=100,
        help_text="With kv-mixed: percent that only read.",
    )
    scale = IntegerParameter(
        label="Scale",
        role="work",
        initial=1,
        min_value=1,
        max_value=100_000,
        help_text="With pgbench's own scripts: units of 100,000 accounts, some 15 MB.",
    )
    protocol = ChoiceParameter(
        label="Protocol",
        initial="prepared",
        choices=[(name, name) for name in ("prepared", "extended", "simple")],
        help_text="How statements are sent. PgBouncer before 1.21 takes only simple in transaction mode.",
    )
    connections = load_fields.connections(
        kept="one connection a client",
        each="a new connection for every transaction",
        help_text="How long a connection lasts; each: with as many threads as clients.",
    )
    client_processes = ChoiceParameter(
        label="Client processes",
        role="instrument",
        initial=TOGETHER,
        choices=[
            (TOGETHER, "together: one pgbench, which begins when all clients are connected"),
            (APART, "apart: a pgbench for each client, so that those who are not let in show"),
        ],
        help_text="Which processes the clients are in.",
    )
    threads = IntegerParameter(
        label="Threads",
        role="instrument",
        required=False,
        min_value=1,
        max_value=1000,
        help_text="Threads of pgbench; empty: as many as cores, at most 4 and as clients.",
    )
    late_after_ms = NumberParameter(
        label="Latency limit in ms",
        role="work",
        required=False,
        min_value=0.1,
        max_value=3_600_000,
        help_text="A transaction that took longer is not good; in an open loop one that would begin later is skipped.",
    )
    tries = IntegerParameter(
        label="Tries",
        initial=1,
        min_value=1,
        max_value=100,
        help_text="How often a transaction is tried that failed by serialization or deadlock.",
    )
    sslmode = ChoiceParameter(
        label="SSL mode",
        initial=AUTOMATIC,
        choices=[
            (AUTOMATIC, "automatic: by the target's certificates"),
            ("disable", "disable: without TLS"),
            ("require", "require: TLS, any certificate"),
            ("verify-full", "verify-full: TLS, checked certificate"),
        ],
        help_text="TLS of the connections. automatic: verify-full with a CA bundle of the target, else TLS where the server offers it.",
    )
    own_script = SqlText(
        label="Own script",
        varies=False,
        essential=True,
        max_length=scripts.MOST_BYTES,
        help_text="With the script own: pgbench's script language; no \\shell. “-- script: NAME, weight N” begins a further one.",
    )
    variables = TextParameter(
        label="Variables",
        varies=False,
        required=False,
        initial="",
        max_length=1000,
        help_text="Variables of one's own script: name=value, separated by commas.",
    )
    initialise = SqlText(
        label="Initialisation in SQL",
        varies=False,
        max_length=scripts.MOST_BYTES,
        help_text=f"SQL that makes the tables of one's own script, in the schema {scripts.SCHEMA} unless it names another, before each run.",
    )

    def clean(self) -> CleanedData:
        """Check what belongs together. Raise ValidationError."""
        clean: CleanedData = super().clean() or self.cleaned_data
        errors: dict[str, str] = {}
        if "loop" in clean:
            load_fields.check_rate(
                self,
                needed=clean["loop"] == OPEN,
                needless="A closed loop has no rate: leave it empty, or choose the loop open.",
                missing="Give the rate of the open loop, in transactions a second.",
            )
        _check_texts(clean, errors)
        if errors:
            raise ValidationError(errors)
        return clean


def _check_texts(clean: CleanedData, errors: dict[str, str]) -> None:
    """Add errors of one's own script and its variables; they are not used with other scripts, and checked all the same."""
    own = clean.get("own_script") or ""
    variables: dict[str, str] = {}
    try:
        variables = scripts.variables_of(clean.get("variables") or "")
    except scripts.BadScript as error:
        errors["variables"] = str(error)
    try:
        if own.strip():
            scripts.check(own, variables)
        elif clean.get("script") == scripts.OWN:
            errors["own_script"] = "Give the script: SQL with pgbench's commands."
    except scripts.BadScript as error:
        errors["own_script"] = str(error)
    text = clean.get("initialise") or ""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.replace("\t", " ").rstrip("\r").isprintable():
            errors["initialise"] = f"Line {number} holds a character that is no text."
    try:
        scripts.check_initialise(text)
    except scripts.BadScript as error:
        errors.setdefault("initialise", str(error))
