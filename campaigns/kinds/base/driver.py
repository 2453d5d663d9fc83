"""A kind of test, as the rest knows it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from campaigns.kinds.base.generating import with_generators
from campaigns.kinds.base.snippets import Snippet
from campaigns.kinds.base.values import (
    ClosedLoop,
    Context,
    EffectiveSetting,
    Measured,
    Metric,
    Parameters,
    Preset,
    Proof,
    Recomputed,
    Target,
)
from campaigns.kit.network import Rules


class Driver(ABC):
    """One kind of test. Subclass it, declare the class variables, write the four steps."""

    label: ClassVar[str]
    summary: ClassVar[str]
    question: ClassVar[str]
    families: ClassVar[tuple[str, ...]]
    """Kinds of server that it can measure."""
    parameters: ClassVar[type[forms.Form]]
    factors: ClassVar[tuple[str, ...]]
    metrics: ClassVar[tuple[Metric, ...]]
    work: ClassVar[tuple[str, ...]] = ()
    """Parameters that say what work is done: cells that differ in one are not comparable."""
    amount: ClassVar[tuple[str, ...]] = ()
    """Proofs of `verify` that say how much was done: cells that differ in one did other work."""
    of_one_family: ClassVar[Mapping[str, str]] = {}
    """The family of servers that alone knows a parameter, by the parameter's name."""
    sample: ClassVar[str] = "sample"
    """What one row of `Measured.samples` is, as people count it: file, sync."""
    rate: ClassVar[tuple[str, str]] = ("throughput", "B/s")
    """What `rate_series` of its progress is: name and unit."""
    closed_loop: ClassVar[ClosedLoop | None] = None
    """What the Universal Scalability Law is fitted to; None where requests are not made in a closed loop."""
    executable: ClassVar[bool] = True
    """False where runs only come in from outside (`external`)."""
    generators: ClassVar[bool] = False
    """True where load comes from virtual hosts, which several machines may share (`Context.generate`).

    Its parameters then have those of GeneratorsForm, too; `generators` may be among its factors.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the parameters that a kind with several generators has."""
        super().__init_subclass__(**options)
        if cls.generators:
            cls.parameters = with_generators(cls.parameters)

    @abstractmethod
    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Look whether the target answers, within seconds. Raise DriverError where it does not."""

    @abstractmethod
    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Bring the target to its clean state and prove it."""

    @abstractmethod
    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Set the cell's levels and read them back."""

    @abstractmethod
    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Run the clock; here and nowhere else."""

    @abstractmethod
    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the work was really done."""

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """What a run asks for, by the parameter that says so; all of it has to be on the target.

        A run leases its target's address alone: what it loads elsewhere, another one could load too.
        """
        return {}

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return what does not fit servers of a family: a sentence by the name of the parameter.

        parameters: those that are fixed; factors: the levels of those that vary.
        """
        return {}

    def offers(self, base_url: str, sandbox_url: str) -> Mapping[str, Sequence[str]]:
        """Return values of parameters that a target is known to serve; a form begins with the first.

        sandbox_url: of the sandbox of this installation, empty where there is none.
        """
        return {}

    def look(  # noqa: B027  most kinds begin with nothing that could be missing
        self, target: Target, parameters: Parameters, rules: Rules
    ) -> None:
        """Ask, without loading the target, for what a run begins with, within seconds.

        Raise DriverError where no run could succeed, TargetUnavailable where there is no answer.
        """

    def lacking(self) -> Mapping[str, Mapping[str, str]]:
        """Name the levels that this machine cannot run, by parameter, each with what is missing."""
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Offer values to begin with, of things that the sandbox at a URL serves."""
        return ()

    def snippets(
        self, family: str, settings: Mapping[str, Any], parameters: Parameters
    ) -> Sequence[Snippet]:
        """Write settings as the tools of a server's family take them; what no tool is known for is left out.

        settings: parameters and settings of the target by name, each with the value to set; parameters:
        what is fixed beside them. Nothing is guessed: an option stands here only if its tool has it.
        """
        return ()

    def concurrency(self, parameters: Parameters) -> int | None:
        """Return how many requests at a time the parameters ask for; None where that is not known."""
        return None

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Facts about the target that must stay the same within a session, by name.

        Asked before and after what is measured. A target that is no real one has a fact STAND_IN.
        """
        return {}

    def clean_up(  # noqa: B027  most kinds leave nothing behind
        self, target: Target, parameters: Parameters, context: Context
    ) -> None:
        """Remove what a run has left; called after every attempt, also a cancelled one."""

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether `apply` does as much as `measure`, and so gets the time of a whole run, too."""
        return False

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Guess the seconds of one run, for a plan without earlier runs."""
        return 60.0

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute values and distributions of a run from its stored samples; None where none follows.

        values: those that are stored, for what a rate is over. Raise KeyError, TypeError or ValueError
        where the samples are not what `Measured.samples` gives.
        """
        return None

    @property
    def primary_metric(self) -> Metric:
        """The metric that answers the question unless a campaign names another."""
        return next(metric for metric in self.metrics if metric.primary)
