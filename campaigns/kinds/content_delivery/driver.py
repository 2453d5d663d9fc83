"""The kind `content_delivery`: virtual hosts fetch the packages of a repository at once, as dnf does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from campaigns.kinds.base import (
    SIMULATOR,
    Context,
    CutShort,
    Driver,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    NotClean,
    Parameters,
    ParametersRefused,
    Preset,
    Proof,
    Recomputed,
    Snippet,
    Subject,
    Target,
)
from campaigns.kinds.base.content import BYTES, UNITS, content_proofs
from campaigns.kinds.base.pulp import (
    HOSTS,
    facts_of,
    is_torn,
    pulp_of,
    pulp_subjects,
    versions_of,
)
from campaigns.kinds.base.quiet import busy_text
from campaigns.kinds.base.servers import (
    katello_facts,
    katello_of,
    katello_proofs,
    katello_quiet,
    katello_subjects,
    require_services,
    target_facts,
)
from campaigns.kinds.base.snippets import command, foreman_snippets
from campaigns.kinds.content_delivery import preparing
from campaigns.kinds.content_delivery.form import (
    AS_IT_IS,
    COLD,
    HTTP,
    KATELLO,
    OWN,
    PULP,
    WARM,
    ContentDeliveryForm,
    connections_of,
    packages_planned,
)
from campaigns.kinds.content_delivery.presets import SANDBOX_CONTENT, presets
from campaigns.kinds.content_delivery.program.files import OWN_FAILURES
from campaigns.kinds.content_delivery.reading import (
    Listing,
    listing_of,
    look_at,
    server_of,
    store_listing,
    stored_listing,
)
from campaigns.kinds.content_delivery.running import (
    as_target,
    asking_as_host,
    credential_for,
    deliver,
    fetch_once,
    shown_by,
    url_at,
    url_for,
)
from campaigns.kinds.content_delivery.summary import Delivered, of_hosts
from campaigns.kinds.load.failures import FAILURES
from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.health import is_local
from campaigns.kinds.servers.pulp_tasks import UNFINISHED
from campaigns.kit.mappings import Settings
from campaigns.kit.network import Rules, normalised_address

SANDBOX = "perfdash-sandbox"
"""How the header Server of the sandbox begins, which simulates a server."""
MEANINGS = {
    **FAILURES,
    **OWN_FAILURES,
    "not asked for": "the host had stopped after a failure, as dnf does",
}
OTHERS = "tasks of the server meanwhile"
NONE_MEANWHILE = "none"
MOST_NAMES = 3


class ContentDelivery(Driver):
    """Measures how many hosts a server serves with packages at once, and how long a package takes."""

    label = "Content delivery"
    summary = "Lets virtual hosts fetch the packages of a repository at once, as dnf does."
    question = "How many hosts can this server serve with packages at once?"
    families = (HTTP, PULP, KATELLO)
    parameters = ContentDeliveryForm
    generators = True
    sample = "host"
    work_units = ("package", "GB")
    rate = ("packages per second", "1/s")
    passing = frozenset({HOSTS})
    amount = (UNITS, BYTES)
    metrics = (
        Metric("package_time", "Time of a package, mean", "s", lower_is_better=True, primary=True, of_survivors=True),
        Metric("package_time_p50", "Time of a package, median", "s", lower_is_better=True, percentile=0.5, of_survivors=True),
        Metric("package_time_p95", "Time of a package, p95", "s", lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("package_time_p99", "Time of a package, p99", "s", lower_is_better=True, percentile=0.99, of_survivors=True),
        Metric("package_time_max", "Time of the slowest package", "s", lower_is_better=True, of_survivors=True),
        Metric("host_time", "Time of a host, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("host_time_p95", "Time of a host, p95", "s", lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("host_time_per_package", "Time of a host ÷ its packages", "s", lower_is_better=True, of_survivors=True),
        Metric("package_rate", "Packages per second", "1/s", lower_is_better=False),
        Metric("middle_rate", "Packages per second, middle 80 %", "1/s", lower_is_better=False),
        Metric("throughput", "Throughput", "MB/s", lower_is_better=False),
        Metric("metadata_time", "Time of a host's metadata, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("first_byte_p95", "Time to the first byte, p95", "s", lower_is_better=True, percentile=0.95, of_survivors=True),
        Metric("connect_time", "Time to connect, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("tls_time", "Time of a TLS handshake, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("second_round_package_time", "Time of a package in the second round, mean", "s", lower_is_better=True, of_survivors=True),
        Metric("packages_failed", "Packages that failed", "count", lower_is_better=True),
        Metric("hosts_failed", "Hosts that failed", "count", lower_is_better=True),
        Metric("retried", "Packages asked for again", "count", lower_is_better=True),
        Metric("first_try", "Packages at the first try", "%", lower_is_better=False),
        Metric("cold_share", "Packages that the server had to fetch", "%", lower_is_better=True, directed=False),
    )  # fmt: skip

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Prove that the server answers."""
        if target.family == KATELLO:
            with katello_of(target, rules) as katello:
                return katello_proofs(katello)
        if target.family == PULP:
            with pulp_of(target, rules, log_in=False) as pulp:
                return [Proof("Pulp", "any", versions_of(pulp.status()), "", ok=True)]
        answer = server_of(target.base_url, asking_as_host(target, as_target(target), rules))
        return [Proof("HTTP status", "below 500", answer.status, "", answer.status < 500)]

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return whether tasks are at work, by the list of tasks; a server of files has none."""
        if target.family == KATELLO:
            return katello_quiet(target, rules)
        if target.family == PULP:
            with pulp_of(target, rules) as pulp:
                return busy_text(pulp.count("tasks/", state__in=UNFINISHED))
        return super().quiet(target, rules)

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that the repository is there, as a host sees it; hosts of a population are known only to a run."""
        shown = shown_by(target, parameters)
        if parameters["identity"] != OWN:
            with _content_elsewhere(target, rules):
                look_at(url_at(target, parameters), asking_as_host(target, shown, rules))

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """Return the URL of the repository; its packages are below it."""
        return {"repository": url_for(base_url, parameters)}

    def sends(self, base_url: str, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return the URL of the repository for the credential."""
        url = url_for(base_url, parameters)
        return {name: [url] for name in self.credentials if parameters.get(name)}

    def offers(self, base_url: str, sandbox_url: str) -> Mapping[str, Sequence[str]]:
        """Return repositories of the sandbox, where it is the target."""
        if not sandbox_url or base_url.rstrip("/").count("/") != 2:
            return {}
        if normalised_address(base_url) != normalised_address(sandbox_url):
            return {}
        return {"repository": SANDBOX_CONTENT}

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return messages for a state of the content, and for identities, that a family has not."""
        found = dict(super().misfits(family, parameters, factors))
        states = set(factors.get("content_state", (parameters.get("content_state"),)))
        if family == HTTP and states - {AS_IT_IS, None}:
            found["content_state"] = (
                "Only a Pulp or a Katello can be asked for it: leave it as it is, or choose another target."
            )
        if family != KATELLO and OWN in factors.get("identity", (parameters.get("identity"),)):
            found["identity"] = (
                "Only a Katello has populations of hosts: choose none or one, or another target."
            )
        if (
            family == KATELLO
            and COLD in states
            and not (parameters.get("repository_id") or parameters.get("proxy_id"))
        ):
            found["repository_id"] = (
                "Cold content of a Katello needs the id of its repository, or that of a smart proxy."
            )
        return found

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Read the repository, let a pilot host fetch everything once, bring the content to its state, and prove it."""
        context.directory.mkdir(parents=True, exist_ok=True)
        at_work = self.quiet(target, context.rules) if target.family != HTTP else ""
        if at_work:
            raise NotClean(
                f"“{target.name}” is {at_work}. Let them end: they take from what the server has for the hosts."
            )
        shown = shown_by(target, parameters, context)
        url = url_at(target, parameters)
        with _content_elsewhere(target, context):
            listing = listing_of(url, parameters, asking_as_host(target, shown, context))
        pilot = fetch_once(target, parameters, context, listing, shown)
        store_listing(context, listing)
        size = listing.bytes
        return [
            Proof("packages of the pilot host", len(listing.files), pilot.fetched, "count", pilot.fetched == len(listing.files)),
            Proof("requests of the pilot host", "any", pilot.count("requests"), "count", ok=True),
            Proof("bytes of the packages", "any", "not told" if size is None else size, "B", ok=True),
            *self._state(target, parameters, context, listing, pilot),
        ]  # fmt: skip

    def _state(
        self,
        target: Target,
        parameters: Parameters,
        context: Context,
        listing: Listing,
        pilot: Delivered,
    ) -> list[Proof]:
        """Bring the content to its state, which the pilot host may have changed, and prove it."""
        state = parameters["content_state"]
        if state == AS_IT_IS:
            if not pilot.tells_cold:
                return []
            share = 100.0 * pilot.count("cold") / max(1, pilot.fetched)
            return [
                Proof(
                    "packages that the server had to fetch for the pilot host",
                    "any",
                    round(share, 1),
                    "%",
                    ok=True,
                )
            ]
        if target.family == KATELLO:
            if state == WARM:
                return [
                    Proof(
                        "packages stored by the server",
                        "any",
                        "all that the pilot host fetched",
                        "",
                        ok=True,
                    )
                ]
            with katello_of(target, context) as katello:
                require_services(katello)
                return preparing.cold_at_katello(katello, target, parameters, context)
        with pulp_of(target, context) as pulp:
            if state == COLD:
                return preparing.cold_at_pulp(pulp, target, listing.url)
            return preparing.warm_at_pulp(pulp, listing.url, len(listing.files))

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Say what hosts fetch, and how; nothing is set on the server."""
        listing = stored_listing(context.directory)
        credential = credential_for(target, parameters)
        asked, there = parameters["packages"], len(listing.files)
        return [
            EffectiveSetting("packages of a host", asked or "all", there, ok=not asked or asked == there),
            EffectiveSetting("metadata of a host", parameters["metadata"], f"{len(listing.documents)} documents", ok=True),
            EffectiveSetting("repository", parameters["repository"], listing.url, ok=True),
            *([EffectiveSetting("credential", credential.name, credential.fact, ok=True)] if credential else []),
        ]  # fmt: skip

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Let the hosts fetch, timed by the program from their common start."""
        listing = stored_listing(context.directory)
        shown = shown_by(target, parameters, context)
        began = _instant(target, context)
        ended_before = _ended_since(target, context, began)
        try:
            delivered = deliver(target, parameters, context, listing, shown)
        except CutShort as cut:
            return cut.measured("packages")
        for kind, count in delivered.failures().items():
            words = delivered.examples().get(kind, "")
            context.say(
                f"{count:,} packages failed ({kind}: {MEANINGS.get(kind, '')})"
                + (f"; first: {words}" if words else "")
            )
        figures = delivered.figures() | {"target_is_here": float(is_local(listing.url))}
        verdict = judge(figures)
        return Measured(
            values=delivered.values(),
            health=Health(verdict.word, verdict.reasons, figures),
            samples=delivered.samples(),
            series=delivered.series(),
            distributions=delivered.distributions(),
            phases=delivered.phases(),
            units_done=delivered.fetched,
            units_failed=delivered.missing,
            failures=delivered.failures(),
            examples=delivered.examples(),
            failure=delivered.failure(),
            work={
                "delivered": delivered,
                "began": began,
                "ended": _instant(target, context),
                "ended_before": ended_before,
            },
        )

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that each host fetched what the metadata say, and that the server did nothing else meanwhile."""
        delivered: Delivered = measured.work["delivered"]
        listing = stored_listing(context.directory)
        ended = measured.units_done + measured.units_failed
        return [
            Proof("packages processed", delivered.planned, ended, "count", ended == delivered.planned),
            *_sizes(delivered),
            Proof("verified", "any", VERIFIED[parameters["verify"]], "", ok=True),
            *_contents(listing),
            *preparing.tells_state(parameters["content_state"], delivered.count("cold"), delivered.fetched),
            *self._at_server(target, parameters, context, listing, measured),
        ]  # fmt: skip

    def _at_server(
        self,
        target: Target,
        parameters: Parameters,
        context: Context,
        listing: Listing,
        measured: Measured,
    ) -> list[Proof]:
        if target.family == PULP:
            with pulp_of(target, context) as pulp:
                before = measured.work["ended_before"]
                between = pulp.tasks_between(measured.work["began"], measured.work["ended"])
                names = [task for task in between if task["pulp_href"] not in before]
                proofs = [
                    Proof(OTHERS, NONE_MEANWHILE, _names(names) or NONE_MEANWHILE, "", not names)
                ]
                if parameters["content_state"] == COLD:
                    proofs.append(preparing.stored_after(pulp, listing.url, len(listing.files)))
                return proofs
        if target.family == KATELLO:
            busy = katello_quiet(target, context.rules)
            return [Proof(OTHERS, NONE_MEANWHILE, busy or NONE_MEANWHILE, "", not busy)]
        return []

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return versions and settings of the server, as far as it tells them."""
        if target.family == KATELLO:
            with katello_of(target, context) as katello:
                return katello_facts(katello, target)
        if target.family == PULP:
            with pulp_of(target, context) as pulp:
                return facts_of(pulp.status(), target)
        answer = server_of(target.base_url, asking_as_host(target, as_target(target), context))
        server = answer.headers.get("Server", "")
        facts = {"server": server or "not told", **target_facts(target)}
        if server.startswith(SANDBOX):
            facts[SIMULATOR] = "sandbox of perfdash"
        return facts

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the versions of Katello and Foreman, or the components of Pulp."""
        return [*pulp_subjects(facts), *katello_subjects(facts)]

    def is_torn(self, facts: Mapping[str, str]) -> bool:
        """Return whether workers of Pulp have other versions than its API."""
        return is_torn(facts)

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return the published question, and smaller ones."""
        return presets(sandbox_url)

    def snippets(
        self, family: str, settings: Settings, parameters: Parameters
    ) -> Sequence[Snippet]:
        """Return what one host does by hand, and the options of foreman-installer."""
        found = list(foreman_snippets(settings)) if family == KATELLO else []
        if settings.get("parallel") not in (None, ""):
            options = [("--parallel-max", settings["parallel"])]
            text = command("curl --parallel --remote-name-all URLS", options)
            found.append(Snippet("curl", text, ("parallel",), CURL))
        return found

    def concurrency(self, parameters: Parameters) -> int:
        """Return how many downloads all hosts have at a time."""
        return connections_of(parameters)

    def units(self, parameters: Parameters) -> int | None:
        """Return how many packages all hosts fetch; None where the repository decides."""
        return packages_planned(parameters)

    def offers_rate(self, parameters: Parameters) -> bool:
        """Return True with a ramp: the hosts begin whatever the server does."""
        return bool(parameters.get("start") == "ramp")

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return packages and gigabytes that hosts fetched."""
        done = {"package": float(measured.units_done)}
        if window := measured.work.get("delivered"):
            done["GB"] = window.bytes_fetched / 1e9
        return done

    def seconds_beside_load(self, parameters: Parameters) -> float:
        """Return the seconds to read the certificates of the hosts, before the load."""
        return 60.0

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: how long a package takes is what is measured."""
        packages = packages_planned(parameters) or 2000 * int(parameters["hosts"])
        ramp = float(parameters["ramp_seconds"]) if self.offers_rate(parameters) else 0.0
        return 20.0 + ramp + packages / 2000

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute what follows from the rows of the hosts."""
        began = [_us(each) for each in samples["start_seconds"]]
        ended = [_us(each) for each in samples["end_seconds"]]
        failures = samples["failure"]
        packages = (
            values["host_time"] / values["host_time_per_package"]
            if values.get("host_time_per_package")
            else 0.0
        )
        found = of_hosts(began, ended, failures, packages)
        known = {name: value for name, value in found.items() if name in values}
        times = [
            end - begin
            for begin, end, failure in zip(began, ended, failures, strict=True)
            if not failure and begin is not None and end is not None
        ]
        return Recomputed(known, {"host_time": times} if times else {})


VERIFIED = {
    "size": "sizes only: other bytes of the right size would not be found",
    "sample": "sizes of all, and the SHA-256 of 5 % of the packages",
    "all": "sizes and the SHA-256 of all",
}
"""What the level of `verify` finds, as the page of a run says it."""
CURL = "curl(1), --parallel-max; dnf.conf(5) has max_parallel_downloads and max_downloads_per_mirror for it"


@contextmanager
def _content_elsewhere(target: Target, access: Context | Rules) -> Iterator[None]:
    """Say where a Pulp serves its content by its own word, if no repository is found and the target has no content URL."""
    try:
        yield
    except ParametersRefused as refused:
        if target.family != PULP or target.content_url or "repository" not in refused.refused:
            raise
        with pulp_of(target, access, log_in=False) as pulp:
            origin = str((pulp.status().get("content_settings") or {}).get("content_origin") or "")
        if not origin or normalised_address(origin) == normalised_address(target.base_url):
            raise
        advice = f" This Pulp says that it serves content at {origin}: give that as the content URL, on the page of the target."
        raise ParametersRefused(
            f"{refused}{advice}", {"repository": f"{refused.refused['repository']}{advice}"}
        ) from None


def _sizes(delivered: Delivered) -> list[Proof]:
    """Prove that hosts that failed nothing have the bytes that the metadata say."""
    expected = delivered.bytes_each
    if expected is None:
        return []
    sizes = [delivered.column("bytes")[row] for row in delivered.passed]
    wrong = sum(size != expected for size in sizes)
    return [Proof("hosts with other bytes than the metadata say", 0, wrong, "hosts", wrong == 0)]


def _contents(listing: Listing) -> list[Proof]:
    """Return the proofs of which content was fetched, as far as the repository tells."""
    files = [
        (each.sha256, each.size) for each in listing.files if each.sha256 and each.size is not None
    ]
    if len(files) == len(listing.files):
        return content_proofs([(digest, int(size or 0)) for digest, size in files], "packages")
    proofs = [Proof(UNITS, "any", len(listing.files), "packages", ok=True)]
    if listing.bytes is not None:
        proofs.append(Proof(BYTES, "any", listing.bytes, "B", ok=True))
    return proofs


def _instant(target: Target, context: Context) -> str:
    """Return the time of a Pulp's clock, by which its tasks are found; empty for other servers."""
    if target.family != PULP:
        return ""
    with pulp_of(target, context, log_in=False) as pulp:
        date = pulp.date()
    try:
        return (parsedate_to_datetime(date) if date else datetime.now(UTC)).isoformat()
    except ValueError:
        return datetime.now(UTC).isoformat()


def _ended_since(target: Target, context: Context, began: str) -> frozenset[str]:
    """Return the tasks of a Pulp that ended in the second in which the load begins, before it: its clock tells no more."""
    if target.family != PULP:
        return frozenset()
    with pulp_of(target, context) as pulp:
        return frozenset(task["pulp_href"] for task in pulp.list("tasks/", finished_at__gte=began))


def _names(tasks: Sequence[Mapping[str, Any]]) -> str:
    shown = ", ".join(str(task["name"]) for task in tasks[:MOST_NAMES])
    return shown + (f" and {len(tasks) - MOST_NAMES} more" if len(tasks) > MOST_NAMES else "")


def _us(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e6)


driver = ContentDelivery()
