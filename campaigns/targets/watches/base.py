"""The contract between a source of observations and the rest of perfdash. Pure: no Django.

A source is a module, or a folder, of `sources`; its name is that of the source, and it holds `source`, an
instance of a subclass of Source.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from campaigns.kit.http.credentials import Tls
from campaigns.kit.mappings import JsonObject
from campaigns.kit.network import Rules
from campaigns.kit.ssh.access import SshAccess


class WatchFailed(Exception):
    """The source cannot be read (any more); the message says why and what to do. It never fails a run."""


class Key(NamedTuple):
    """A quantity of the catalog, and the group, device or state that it is of; empty: the whole machine."""

    quantity: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a source read at one instant: counters as they stand, gauges as they are.

    at: seconds since the epoch by the clock of the source. uptime: seconds since the machine started, where known.
    received: the worker's monotonic seconds when the frame arrived.
    """

    at: float
    received: float
    values: Mapping[Key, float]
    uptime: float | None = None


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One question for the time: asked and answered in the worker's monotonic seconds, `clock` by the source."""

    asked: float
    answered: float
    clock: float


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the target. at, until: seconds since the epoch by the clock of the source.

    kind: one of EVENT_KINDS. touches: the resource (of campaigns.stats.binding) that it uses, or empty.
    """

    kind: str
    text: str
    at: float
    until: float | None = None
    touches: str = ""


EVENT_KINDS = (
    "timer",
    "autovacuum",
    "task",
    "login",
    "swap",
    "oom",
    "reclaim",
    "restart",
    "steal",
    "throttled",
    "clock",
    "disk_full",
    "read_only",
    "raid",
    "snapshot",
)


READS = ("machine", "groups", "database", "queues")
"""What sources read: CPU and memory of the machine, groups of processes, a database, queue gauges."""


class Sink(Protocol):
    """Takes what a source reads; called from the source's own thread."""

    def frame(self, frame: Frame) -> None:
        """Take a frame."""

    def clock(self, reading: ClockReading) -> None:
        """Take a reading of the clock."""

    def fact(self, name: str, value: str | float) -> None:
        """Take a fact about the machine that does not change during a run: cores, memory_total, kernel."""

    def event(self, event: Event) -> None:
        """Take an event."""

    def cost(self, cpu_seconds: float) -> None:
        """Take the processor time that watching has used on the target so far."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a source is reached: its address, the credentials, and the rules of where workers may connect.

    groups: of processes, in order (campaigns.targets.watches.groups). options: the values of the source's options.
    tls: which certificates are trusted, as the target says; never its own certificate.
    """

    address: str
    rules: Rules
    step_seconds: float = 1.0
    username: str = ""
    password: str = field(default="", repr=False)
    ssh: SshAccess | None = None
    groups: Sequence["Group"] = ()
    options: JsonObject = field(default_factory=dict)
    tls: Tls = field(default_factory=Tls)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of processes: patterns of fnmatch, matched with cgroup, program name, then command line."""

    name: str
    patterns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Option:
    """A field of a watch that its source needs besides address, user name and password. type: text, integer, choice or boolean."""

    name: str
    label: str
    help: str = ""
    type: str = "text"
    initial: str | int | bool = ""
    choices: Sequence[str] = ()
    required: bool = False
    required_by_ssh: bool = False
    """Whether it is required where the address begins with ssh://."""


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a source that is asked after the run is read: seconds since the epoch by the worker's clock."""

    begin: float
    end: float


SSH = "ssh://"
"""What an address begins with whose source is reached by SSH, and could be reached otherwise."""


class Source:
    """A way to observe a target. `live`: it is sampled while the run goes on; else it is asked afterwards."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    needs: ClassVar[str]
    """What must be there on the target, in one sentence."""
    address_help: ClassVar[str]
    uses_ssh: ClassVar[bool] = False
    """Whether it logs in by SSH: the watch then has a key or password and an accepted host key."""
    may_use_ssh: ClassVar[bool] = False
    """Whether it does so where the address begins with ssh://."""
    has_login: ClassVar[bool] = False
    """Whether it takes a user name and a password without SSH."""
    live: ClassVar[bool] = True
    steps: ClassVar[tuple[float, float]] = (1.0, 1.0)
    """The initial and the least seconds between two samples."""
    options: ClassVar[Sequence[Option]] = ()
    reads: ClassVar[Sequence[str]] = ("machine",)
    """What it reads, of READS."""

    def is_by_ssh(self, address: str) -> bool:
        """Return whether an address is reached by a login by SSH."""
        return self.uses_ssh or (self.may_use_ssh and address.startswith(SSH))

    def check_address(self, address: str) -> str:
        """Return the address in one form. Raise ValueError with a message for the form."""
        raise NotImplementedError

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where the worker connects to, for the network's rules."""
        raise NotImplementedError

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read until stopped. `stopped(seconds)` waits for at most so long and returns whether to end.

        Return soon after it is stopped, leaving nothing on the target. Raise WatchFailed where the source cannot be
        read, or was too slow three times in a row; HostKeyRefused passes, so that a person can accept the key.
        """
        raise NotImplementedError

    def fetch(self, access: Access, sink: Sink, span: Span) -> None:
        """Read what was recorded in a span, for sources that are not live. Raise WatchFailed."""
        raise NotImplementedError

    def expected_events(self, access: Access, span: Span) -> Sequence[Event]:
        """Return what is known before to happen in a span (timers, cron). Raise WatchFailed."""
        return ()
