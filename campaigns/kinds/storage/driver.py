"""The kind `storage`: fio on the target, by SSH; docs/reference/kinds/storage.md defines what is measured."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from campaigns.kinds.base import (
    Context,
    Distribution,
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    NotClean,
    Output,
    Parameters,
    Phase,
    Preset,
    Proof,
    Series,
    Target,
)
from campaigns.kinds.base.commanding import (
    ask,
    lacks_login,
    log_in,
    remove_stale,
    run_there,
    scratch_place,
)
from campaigns.kinds.programs.commands import Command, Ran, new_marker, why_failed
from campaigns.kinds.storage import facts as machine
from campaigns.kinds.storage.form import StorageForm
from campaigns.kinds.storage.presets import PRESETS
from campaigns.kinds.storage.profiles import (
    GIB,
    MIB,
    OWN,
    PROFILES,
    Job,
    Profile,
    options_of,
    own_profile,
    published_line,
    size_text,
)
from campaigns.kinds.storage.report import NotFio, Report, read_report
from campaigns.kit.mappings import JsonObject
from campaigns.kit.network import SSH_SCHEMES, Rules

SLACK_BYTES = GIB
SLACK_SHARE = 0.05
MOST_BYTES = 16_000_000
LEAST_STEP_SECONDS, MOST_DOCUMENTS = 5, 100
SLOW = 10e6
"""Bytes a second of a device on which a command prints MOST_DOCUMENTS, of some 40 kB each."""
MACHINE = "machine"
"""The family of targets that are a machine with an SSH login, and no server that another kind measures."""
CACHE, STORAGE = "the page cache", "the storage"
MEASURES = "measures"
"""The effective setting that says whether a run measured STORAGE or CACHE."""
NO_SPACE = b"No space left on device"
FACTS = ("kernel", "ram_bytes", "tuned", "huge_pages", "governor", "fio")
"""Facts of the machine that must stay the same within a session."""
OF_DIRECTORY = ("device", "file_system")
DROP = "sync; echo 3 >/proc/sys/vm/drop_caches"

THROUGHPUTS = {
    "read": "Sequential read",
    "write": "Sequential write",
    "random_read": "Random read",
    "random_write": "Random write",
}
LATENCIES = {"p50": "median", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def _metrics() -> tuple[Metric, ...]:
    found: list[Metric] = []
    for name, label in THROUGHPUTS.items():
        primary = name == "read"
        found += [
            Metric(f"{name}_throughput", label, "MB/s", lower_is_better=False, primary=primary),
            Metric(f"{name}_iops", f"{label}, operations", "1/s", lower_is_better=False),
        ]
        found += [
            Metric(
                f"{name}_clat_{short}",
                f"{label}, completion latency, {text}",
                "µs",
                lower_is_better=True,
            )
            for short, text in LATENCIES.items()
        ]
    return (
        *found,
        Metric("fsync_p99", "Synchronisation, p99", "ms", lower_is_better=True),
        Metric("cpu_user", "CPU of fio, user", "%", lower_is_better=True),
        Metric("cpu_system", "CPU of fio, system", "%", lower_is_better=True),
    )


class NoSpace(DriverError):
    """The directory is too small, or filled up; the run says nothing about its speed."""

    void = True
    lasting = True


class Storage(Driver):
    """Measures the storage of a target's machine with fio."""

    label = "Storage"
    summary = "Runs fio on the target's machine by SSH: the published storage benchmark, the maintenance tool's check, or own options."
    question = "Is this storage fast enough?"
    families = (MACHINE, "candlepin", "http", "katello", "postgresql", "pulp")
    schemes = SSH_SCHEMES
    parameters = StorageForm
    first_factors = ("directory", "profile", "rw")
    amount = ("bytes read and written",)
    work_units = ("phase",)
    metrics = _metrics()

    def probes(self, family: str) -> bool:
        """Return whether a target is nothing but a machine."""
        return family == MACHINE

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Log in."""
        log_in(target, rules)
        return [Proof("SSH login", "accepted", "accepted", "", ok=True)]

    def lacks(self, target: Target, parameters: Parameters) -> str:
        """Return what its SSH login lacks."""
        return lacks_login(target)

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that commands can reach the target."""
        log_in(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Remove what dead runs have left, and check directory, space and fio. Raise NotClean, NoSpace."""
        directory = parameters["directory"]
        left = remove_stale(target, context, directory)
        begun = datetime.now(UTC).timestamp()
        found = _facts(target, context, directory)
        here = (begun + datetime.now(UTC).timestamp()) / 2
        if found.get("directory") != "writable":
            raise NotClean(
                f"{directory} on {target.name} is {found.get('directory', 'not there')}."
            )
        if found["fio"] == machine.UNKNOWN:
            raise NotClean(
                f"There is no fio on {target.name}: install it (Debian, EL: the package fio)."
            )
        if parameters["drop_caches"]:
            ask(target, context, ["sh", "-c", DROP])
        needed = round(size_bytes(parameters, found) * (1 + SLACK_SHARE)) + SLACK_BYTES
        free = machine.number_of(found, "free_bytes") or 0.0
        if free < needed:
            raise NoSpace(
                f"There is no space for it: {directory} on {target.name} has {free / GIB:.1f} GiB free, and the run "
                f"needs {needed / GIB:.1f} GiB."
            )
        skew = abs((machine.number_of(found, "clock") or here) - here)
        return [
            Proof("files of earlier runs", 0, len(left), "", not left),
            Proof("free space", f"at least {needed}", free, "B", ok=True),
            Proof("clock skew", "at most 1", round(skew, 3), "s", ok=True),
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """State the size, what it measures, and the device."""
        found = _facts(target, context, parameters["directory"])
        size = size_bytes(parameters, found)
        measures = CACHE if is_cached(parameters, found) else STORAGE
        return [
            EffectiveSetting(
                "size", parameters["size_gib"] or "of the profile", size_text(size), ok=True
            ),
            EffectiveSetting(MEASURES, STORAGE, measures, ok=True),
            *(EffectiveSetting(name, "as it is", found[name], ok=True) for name in OF_DIRECTORY),
        ]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Run the commands of the profile one after another."""
        found = _facts(target, context, parameters["directory"])
        size, profile = size_bytes(parameters, found), profile_of(parameters)
        done = _Done(parameters, size, profile)
        for job in profile.jobs:
            command = done.command(job, context.deadline_seconds)
            ran = run_there(command, target, context)
            if NO_SPACE in ran.errors or NO_SPACE in ran.output:
                raise NoSpace(
                    f"There was no space left in {parameters['directory']} during {job.name}; its files are removed."
                )
            done.add(job, command, ran)
            if done.failure:
                break
        return done.measured()

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that all bytes were read and written, and nothing is left."""
        done, expected = measured.work["bytes"], measured.work["expected"]
        left = remove_stale(target, context, parameters["directory"])
        return [
            Proof(
                "bytes read and written",
                "any" if expected is None else expected,
                done,
                "B",
                expected is None or done == expected,
            ),
            Proof("files that are left", 0, len(left), "", not left),
        ]

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return facts of the machine; those of the directory are settings of the run."""
        found = _facts(target, context, "")
        return {name.replace("_", " "): found[name] for name in FACTS if name in found}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return the published benchmark, and shorter looks at storage."""
        return PRESETS

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return the seconds at 200 MB/s; twice an unknown memory is taken for 32 GiB."""
        profile = profile_of(parameters)
        gib = parameters["size_gib"] or profile.size_gib or 32.0
        seconds = len(profile.jobs) * gib * GIB / 200e6
        limit = parameters["limit_seconds"] * len(profile.jobs)
        return float(max(5.0, min(seconds, limit) if limit else seconds))


class _Done:
    """What the commands of a run have done so far."""

    def __init__(self, parameters: Parameters, size: int, profile: Profile) -> None:
        self.parameters, self.size, self.profile = parameters, size, profile
        self.values: dict[str, float] = {}
        self.outputs: list[Output] = []
        self.phases: list[Phase] = []
        self.series: list[Series] = []
        self.distributions: list[Distribution] = []
        self.bytes, self.failure = 0, ""
        self.lines: list[str] = []
        if parameters["profile"] == "published":
            self.lines = [
                published_line(job, size_text(size), parameters["directory"])
                for job in profile.jobs
            ]

    def command(self, job: Job, seconds: float) -> Command:
        """Return the command of a job, and note it."""
        marker, directory = new_marker(), self.parameters["directory"]
        arguments = arguments_of(job, self.parameters, self.size, scratch_place(directory, marker))
        self.lines.append(" ".join(arguments))
        return Command(arguments, seconds, MOST_BYTES, marker, scratch=directory)

    def add(self, job: Job, command: Command, ran: Ran) -> None:
        """Add what a command printed."""
        printed = ((f"{job.name}.json", ran.output), (f"{job.name}.stderr", ran.errors))
        cut = ran.ended_by == "output"
        self.outputs += [Output(name, content, cut) for name, content in printed if content]
        self.phases.append(Phase(job.name, ran.seconds))
        self.failure = why_failed(command, ran, f"fio ({job.name})")
        if ran.ended_by:
            return
        try:
            report = read_report(ran.output, job, step_seconds(self.size))
        except NotFio as error:
            self.failure = self.failure or f"{job.name}: {error}"
            return
        self._take(job, report)

    def _take(self, job: Job, report: Report) -> None:
        self.values |= report.values
        self.bytes += report.bytes_done
        self.distributions += [
            Distribution.of(f"{name}_clat", list(counts), list(counts.values()))
            for name, counts in report.latencies.items()
        ]
        if len(report.series) > 1:
            self.series.append(Series(job.name, "B/s", step_seconds(self.size), report.series))
        if report.error and not self.failure:
            self.failure = f"fio ended with error {report.error} in {job.name}."

    def measured(self) -> Measured:
        """Return the result of the run."""
        commands = "".join(f"{line}\n" for line in self.lines).encode()
        free = self.parameters["limit_seconds"] or any(j.has_many_files for j in self.profile.jobs)
        work: JsonObject = {
            "bytes": self.bytes,
            "expected": None if free else self.size * len(self.profile.jobs),
        }
        return Measured(
            values=self.values,
            health=Health("healthy", (), {}),
            failure=self.failure,
            phases=self.phases,
            series=self.series,
            distributions=self.distributions,
            outputs=[Output("commands", commands), *self.outputs],
            units_done=len(self.phases) - bool(self.failure),
            units_failed=int(bool(self.failure)),
            work=work,
        )


def arguments_of(job: Job, parameters: Parameters, size: int, directory: str) -> list[str]:
    """Return the command of a job with all of its options."""
    others = {
        "bs": parameters["block_size"],
        "iodepth": str(parameters["depth"] or ""),
        "direct": parameters["direct"],
        "ioengine": parameters["engine"],
        "runtime": str(parameters["limit_seconds"] or ""),
    }
    given = {name: text for name, text in others.items() if text}
    return [
        *(
            "nice",
            "-n",
            "0",
            "fio",
            "--output-format=json+",
            f"--status-interval={step_seconds(size)}",
        ),
        f"--directory={directory}",
        *options_of(job, size, given),
    ]


def step_seconds(size: int) -> int:
    """Return the seconds between fio's documents: 5, or more where a large file on a slow device would bring too many to store."""
    return max(LEAST_STEP_SECONDS, round(size / SLOW / MOST_DOCUMENTS))


def profile_of(parameters: Parameters) -> Profile:
    """Return the profile of a run."""
    if parameters["profile"] == OWN:
        return own_profile(parameters["rw"])
    return PROFILES[parameters["profile"]]


def twice_ram(found: Mapping[str, str]) -> int:
    """Return twice the memory in whole GiB, as the published script computes it, in bytes."""
    return max(1, int((machine.number_of(found, "ram_bytes") or 0) / GIB)) * 2 * GIB


def size_bytes(parameters: Parameters, found: Mapping[str, str]) -> int:
    """Return the size of the file, in whole MiB."""
    gib = parameters["size_gib"] or profile_of(parameters).size_gib
    return max(MIB, round(gib * 1024) * MIB) if gib else twice_ram(found)


def is_cached(parameters: Parameters, found: Mapping[str, str]) -> bool:
    """Return whether the page cache is measured: the file is smaller than twice the memory, and not read past the cache."""
    jobs = profile_of(parameters).jobs
    buffered = parameters["direct"] == "0" or (
        not parameters["direct"] and any(job.written_out["direct"] == "0" for job in jobs)
    )
    is_known = machine.number_of(found, "ram_bytes") is not None
    return buffered and not (is_known and size_bytes(parameters, found) >= twice_ram(found))


def _facts(target: Target, context: Context, directory: str) -> dict[str, str]:
    return machine.read_facts(
        ask(target, context, ["sh", "-c", machine.SCRIPT, "facts", directory])
    )


driver = Storage()
