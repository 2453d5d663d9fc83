"""The parameters of the kind `content_delivery`."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import load_fields
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    CredentialParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)
from campaigns.kinds.base.places import check_place
from campaigns.kit.mappings import Parameters

HTTP, PULP, KATELLO = "http", "pulp", "katello"
MOST_PARALLEL = 100
MOST_PORTS = 28_232
"""Local ports that a generator has for connections to one address: Linux gives out 32768 to 60999."""
MOST_RETRIES = 10
NONE, ONE, OWN = "none", "one", "own"
AS_IT_IS, COLD, WARM = "as it is", "cold", "warm"
MIRRORS = ("mirrorlist", "metalink")
DNF = "dnf"


def check_repository(value: str) -> None:
    """Raise ValidationError where the text is no place on the target, or that of a list of mirrors."""
    check_place(value)
    name = value.rstrip("/").rpartition("/")[2].lower()
    if any(mirrors in name for mirrors in MIRRORS):
        raise ValidationError(
            "A list of mirrors leads to other servers than the one that a run holds: give the directory of the repository itself."
        )


class ContentDeliveryForm(forms.Form):
    """The parameters of one run, in which each host fetches the same packages."""

    hosts = load_fields.hosts("Hosts that fetch at once.")
    repository = TextParameter(
        label="Repository",
        address=True,
        essential=True,
        max_length=500,
        validators=[check_repository],
        help_text="Directory of repodata/, a PULP_MANIFEST, or a list of paths (.txt): a path below the target's base URL, or a whole "
        "URL on the target.",
    )
    packages = IntegerParameter(
        label="Packages",
        role="work",
        essential=True,
        initial=2000,
        min_value=0,
        max_value=500_000,
        help_text="Packages that each host fetches, the first ones by name. 0: all of the repository.",
    )
    parallel = IntegerParameter(
        label="Parallel",
        essential=True,
        initial=3,
        min_value=1,
        max_value=MOST_PARALLEL,
        help_text="Downloads of a host at a time, with a connection each. dnf has 3.",
    )
    identity = ChoiceParameter(
        label="Identity",
        role="work",
        essential=True,
        initial=NONE,
        choices=[
            (NONE, "none: hosts show no certificate"),
            (ONE, "one: all hosts show the certificate of the credential, or of the target"),
            (OWN, "own: each host of a population shows its own"),
        ],
        help_text="How hosts are known to the server.",
    )
    content_state = ChoiceParameter(
        label="State of the content",
        role="work",
        essential=True,
        initial=AS_IT_IS,
        choices=[
            (AS_IT_IS, "as it is"),
            (COLD, "cold: the server has no package stored, and fetches each when it is asked for first"),
            (WARM, "warm: the server has every package stored"),
        ],
        help_text="Of a Pulp or a Katello, before each run.",
    )  # fmt: skip
    order = ChoiceParameter(
        label="Order of the packages",
        role="work",
        initial="shuffled",
        choices=[
            ("same", "same: all hosts fetch in the order of the names"),
            ("shuffled", "shuffled: each host in an order of its own, the same in each run"),
            ("dnf", "dnf: as dnf does, which is the order of the names"),
        ],
        help_text="With the same order, a package is asked for by all hosts at about the same time.",
    )
    metadata = ChoiceParameter(
        label="Metadata",
        role="work",
        initial="fetch",
        choices=[
            ("fetch", "fetch: what dnf fetches of an empty cache"),
            ("repomd", "repomd: only repomd.xml, as with a cache that has expired"),
            ("none", "none: packages only"),
        ],
        help_text="What each host fetches before the packages.",
    )
    profile = ChoiceParameter(
        label="Profile",
        role="work",
        initial="dnf-4",
        choices=[
            ("dnf-4", "dnf-4: requests, headers and connections of dnf 4.14"),
            ("plain", "plain: a kept connection for each download at a time"),
        ],
        help_text="Which client's requests are made.",
    )
    population = IntegerParameter(
        label="Population",
        role="work",
        required=False,
        min_value=1,
        help_text="With own identities: the number of a population, as the page of the target shows it.",
    )
    credential = CredentialParameter(
        help_text="The name of a credential of the team. With the identity one, hosts show its certificate; its user or token is sent with "
        "each request. Empty: what the target has."
    )
    rounds = IntegerParameter(
        label="Rounds",
        role="work",
        initial=1,
        min_value=1,
        max_value=2,
        help_text="With 2, each host fetches everything again; the second round has a metric of its own.",
    )
    repository_id = IntegerParameter(
        label="Id of the repository",
        only_for=KATELLO,
        varies=False,
        required=False,
        min_value=1,
        help_text="Of a Katello, for cold content: the id of the repository there. It needs the policy on_demand.",
    )
    proxy_id = IntegerParameter(
        label="Id of the smart proxy",
        only_for=KATELLO,
        varies=False,
        required=False,
        min_value=1,
        help_text="In place of a repository: the smart proxy whose on_demand repositories give up their packages.",
    )
    verify = ChoiceParameter(
        label="Verify",
        role="instrument",
        initial="size",
        choices=[
            ("size", "size: each file has its size"),
            ("sample", "sample: the SHA-256 of 5 % of the packages, too"),
            ("all", "all: the SHA-256 of each package, too"),
        ],
        help_text="What is compared with the repository. Only SHA-256 finds other bytes of the right size.",
    )
    no_data_seconds = NumberParameter(
        label="Give up without data after seconds",
        role="work",
        time_limit=True,
        initial=30.0,
        min_value=0.1,
        max_value=3600,
        help_text="A download that gets less than 1000 B/s for so long is given up. dnf has 30.",
    )
    retries = ChoiceParameter(
        label="Retries",
        role="work",
        initial=DNF,
        choices=[
            (DNF, "dnf: at most twice, as long as other downloads of the host run"),
            *((str(number), str(number)) for number in range(MOST_RETRIES + 1)),
        ],
        help_text="How often a package is asked for again after a failure.",
    )
    start = ChoiceParameter(
        label="Start",
        role="work",
        initial="barrier",
        choices=[
            ("barrier", "barrier: all at one instant"),
            ("ramp", "ramp: one after the other, evenly"),
        ],
        help_text="When the hosts begin.",
    )
    ramp_seconds = load_fields.ramp_seconds(
        "With a ramp: seconds over which the hosts begin, evenly.", initial=10.0, least=0.1
    )
    processes = IntegerParameter(
        label="Processes",
        role="instrument",
        required=False,
        min_value=1,
        max_value=256,
        help_text="Processes of a generator that share the hosts. Empty: one for 50 hosts, at most one a core.",
    )

    def clean(self) -> dict[str, Any]:
        """Check what several fields say together."""
        values: dict[str, Any] = super().clean() or {}
        if values.get("identity") == OWN and not values.get("population"):
            self._complain(
                "population", "Own identities are those of a population: give its number."
            )
        elif values.get("population") and values.get("identity") != OWN:
            self._complain(
                "population",
                "Only own identities have a population: leave it empty, or choose own.",
            )
        connections, most = connections_of(values), MOST_PORTS * int(values.get("generators") or 1)
        if connections > most:
            self._complain(
                "parallel",
                f"{connections:,} connections at a time, and {most:,} local ports for them: give fewer hosts, fewer downloads at a "
                "time, or more generators.",
            )
        return values

    def _complain(self, name: str, message: str) -> None:
        if name not in self.errors:
            self.add_error(name, message)


def connections_of(parameters: Parameters) -> int:
    """Return how many connections all hosts have at a time."""
    return int(parameters.get("hosts") or 0) * int(parameters.get("parallel") or 0)


def packages_planned(parameters: Parameters) -> int | None:
    """Return how many packages all hosts fetch in a run; None where the repository decides."""
    each = int(parameters["packages"] or 0)
    return int(parameters["hosts"]) * each * int(parameters["rounds"]) or None
