"""The interface of a kind of test."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from campaigns.kinds.base.generating import with_generators
from campaigns.kinds.base.parameters import (
    CredentialParameter,
    ParameterField,
    of_other_families,
    parameters_of,
)
from campaigns.kinds.base.quiet import NO_TASK_LIST
from campaigns.kinds.base.snippets import Snippet
from campaigns.kinds.base.values import (
    ClosedLoop,
    Context,
    EffectiveSetting,
    Measured,
    Metric,
    Preset,
    Proof,
    Recomputed,
    Subject,
    Target,
)
from campaigns.kit.charts.labels import called
from campaigns.kit.mappings import Parameters, Settings
from campaigns.kit.network import WEB_SCHEMES, Rules

MOST_ESSENTIAL = 6
NAMED: Mapping[str, Callable[[ParameterField], bool]] = {
    "factors": lambda field: field.varies,
    "essential": lambda field: field.essential,
    "work": lambda field: field.is_work,
    "addresses": lambda field: field.address,
    "load": lambda field: field.role == "load",
    "may_be_load": lambda field: field.may_be_load,
    "instruments": lambda field: field.role == "instrument",
    "credentials": lambda field: isinstance(field, CredentialParameter),
}
"""What a field says, by the name under which a driver lists those that do."""


class Driver(ABC):
    """One kind of test. Subclass it, declare the class variables, write the four steps."""

    label: ClassVar[str]
    summary: ClassVar[str]
    question: ClassVar[str]
    families: ClassVar[tuple[str, ...]]
    """Kinds of server that it can measure."""
    schemes: ClassVar[tuple[str, ...]] = WEB_SCHEMES
    """Of the base URLs of these servers."""
    parameters: ClassVar[type[forms.Form]]
    """Its fields are instances of `ParameterField`, which say what each parameter is."""
    first_factors: ClassVar[tuple[str, ...]] = ()
    """Factors that come before the others where a campaign varies several; those follow in the order of the form."""
    metrics: ClassVar[tuple[Metric, ...]]
    amount: ClassVar[tuple[str, ...]] = ()
    """Proofs of `verify` that count the work done: cells that differ in one did other work."""
    sample: ClassVar[str] = "sample"
    """The noun for one row of `Measured.samples`: file, sync."""
    work_units: ClassVar[tuple[str, ...]] = ("run",)
    """The nouns of what a run does, by each of which the target's CPU time is divided where it is watched: file, GB."""
    rate: ClassVar[tuple[str, str]] = ("throughput", "B/s")
    """Name and unit of `rate_series` in its progress."""
    passing: ClassVar[frozenset[str]] = frozenset()
    """Facts of the target that come and go by themselves: a change of one ends no stretch of a history."""
    closed_loop: ClassVar[ClosedLoop | None] = None
    """What the Universal Scalability Law is fitted to; None without a closed loop of requests."""
    executable: ClassVar[bool] = True
    """False where runs are only imported (`external`)."""
    why_read: ClassVar[str] = "A worker reads it, to prove that all of it was synced."
    """Why workers connect to the URLs of `reads`, as a sentence."""
    one_upstream: ClassVar[bool] = False
    """True where all targets of a campaign load what one other server has, such as a feed."""
    generators: ClassVar[bool] = False
    """True where several machines may share the load (`Context.generate`).

    The parameters of GeneratorsForm are then added to its own.
    """

    # What the fields of `parameters` say (`ParameterField`), as names.
    factors: ClassVar[tuple[str, ...]] = ()
    essential: ClassVar[tuple[str, ...]] = ()
    work: ClassVar[tuple[str, ...]] = ()
    addresses: ClassVar[tuple[str, ...]] = ()
    load: ClassVar[tuple[str, ...]] = ()
    may_be_load: ClassVar[tuple[str, ...]] = ()
    instruments: ClassVar[tuple[str, ...]] = ()
    credentials: ClassVar[tuple[str, ...]] = ()
    time_limit: ClassVar[str] = ""
    """Empty where there is none."""
    of_one_family: ClassVar[Mapping[str, str]] = {}
    """The only family of servers that has a parameter, by the parameter's name."""

    def __init_subclass__(cls, **options: Any) -> None:
        """List the parameters by what they are, those of GeneratorsForm included where `generators` is set."""
        super().__init_subclass__(**options)
        if twice := sorted(
            {*NAMED, "time_limit", "of_one_family", "unlimited"} & cls.__dict__.keys()
        ):
            raise TypeError(
                f"{cls.__name__} lists {', '.join(twice)}; let its fields say that (kinds/base/parameters.py)."
            )
        if cls.generators:
            cls.parameters = with_generators(cls.parameters)
        if hasattr(cls, "parameters"):
            cls._list(parameters_of(cls.parameters))

    @classmethod
    def _list(cls, fields: Mapping[str, ParameterField]) -> None:
        first = {name: fields[name] for name in cls.first_factors}
        ordered = {**first, **fields}
        for listed, says in NAMED.items():
            setattr(cls, listed, tuple(name for name, field in ordered.items() if says(field)))
        cls.time_limit = next((name for name, field in fields.items() if field.time_limit), "")
        cls.of_one_family = {
            name: field.only_for for name, field in fields.items() if field.only_for
        }

    @abstractmethod
    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Check within seconds that the target answers. Raise DriverError where it does not."""

    def probes(self, family: str) -> bool:
        """Return whether `probe` tells the health of servers of a family; False where it only asks their machine."""
        return family in self.families

    def executes(self, parameters: Parameters) -> str:
        """Return what the server executes that the author of a campaign wrote, such as SQL; empty where that is nothing."""
        return ""

    def rights(
        self, target: Target, access: Context | Rules, parameters: Parameters | None = None
    ) -> tuple[str, ...] | None:
        """Return by which rights of the target's login what `executes` names reaches beyond the target, such as superuser.

        access: the context of an attempt; the network rules alone before one. None: logins have no such rights.
        Raise DriverError where the server does not answer.
        """
        return None

    def quiet(self, target: Target, rules: Rules) -> str:
        """Return why a target is not shown to do nothing, as text; empty where its list of tasks is empty.

        Asked of a target that shares a machine or an upstream with the one that is measured. Raise DriverError where it does not answer.
        """
        if unready := [proof.name for proof in self.probe(target, rules) if not proof.ok]:
            return f"not proved: not ready ({', '.join(unready)})"
        return NO_TASK_LIST

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
        """Do the work while the clock runs; nothing else is measured."""

    @abstractmethod
    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the work was done."""

    def urls(self, base_url: str, parameters: Parameters) -> Mapping[str, str]:
        """Return the URLs that a run requests, by parameter; all of them have to be on the target.

        A run leases the address of its target only: another run could load any other address.
        """
        return {}

    def misfits(
        self, family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, str]:
        """Return a message for each parameter that does not fit servers of a family, by name.

        parameters: the fixed ones; factors: the levels of those that vary.
        """
        return dict(of_other_families(self.parameters, family, parameters, factors))

    def lacks(self, target: Target, parameters: Parameters) -> str:
        """Return what a run needs that the target is known not to have, such as a login, and what to do; empty where that is nothing.

        target: without its secrets. Nothing is asked of it: that is for `look`.
        """
        return ""

    def reads(self, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return the URLs of servers besides the target that a worker requests, by parameter, such as a feed to prove a sync by.

        parameters: also as texts that are not checked yet.
        """
        return {}

    def sends(self, base_url: str, parameters: Parameters) -> Mapping[str, Sequence[str]]:
        """Return the URLs of all servers that get a credential, by the parameter that names it; by default that of the target.

        parameters: also as texts that are not checked yet.
        """
        return {name: [base_url] for name in self.credentials if parameters.get(name)}

    def offers(self, base_url: str, sandbox_url: str) -> Mapping[str, Sequence[str]]:
        """Return values of parameters that a target is known to serve; the first is the form's initial value.

        sandbox_url: the sandbox of this installation, empty where there is none.
        """
        return {}

    def look(  # noqa: B027  most kinds need nothing that could be missing
        self, target: Target, parameters: Parameters, rules: Rules
    ) -> None:
        """Check within seconds, without loading the target, that what a run needs is there.

        Raise DriverError where no run could succeed, TargetUnavailable where there is no answer.
        """

    def lacking(self) -> Mapping[str, Mapping[str, str]]:
        """Return the levels that this machine cannot run, by parameter, each with what is missing."""
        return {}

    def presets(self, sandbox_url: str) -> Sequence[Preset]:
        """Return sets of initial values: for what the sandbox at a URL serves, if it is not empty, and for any server."""
        return ()

    def snippets(
        self, family: str, settings: Settings, parameters: Parameters
    ) -> Sequence[Snippet]:
        """Return commands that set the settings; a setting that no tool of the family has is left out.

        settings: parameters and settings of the target by name, each with the value to set; parameters:
        the fixed ones. An option is used only if the documentation of its tool has it.
        """
        return ()

    def concurrency(self, parameters: Parameters) -> int | None:
        """Return how many requests at a time the parameters mean; None where that is unknown."""
        return None

    def units(self, parameters: Parameters) -> int | None:
        """Return how many units of work a run is to do, each of which may fail; None where that is unknown."""
        return None

    def work_done(self, measured: Measured, seconds: float) -> Mapping[str, float]:
        """Return how much was done in the seconds that `measure` took, by the nouns of `work_units`; what is unknown is left out."""
        return {self.work_units[0]: float(measured.units_done)}

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return facts about the target that must stay the same within a session, by name.

        Called before and after the measurement. A simulated target has a fact SIMULATOR.
        """
        return {}

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return the parts of a target whose versions its facts tell, the most important one first."""
        return ()

    def is_torn(self, facts: Mapping[str, str]) -> bool:
        """Return whether facts say that parts of the target ran different versions of one subject."""
        return False

    def clean_up(  # noqa: B027  most kinds leave nothing behind
        self, target: Target, parameters: Parameters, context: Context
    ) -> None:
        """Remove what a run has left; called after every attempt, cancelled ones included."""

    def offers_rate(self, parameters: Parameters) -> bool:
        """Return whether its load begins at a fixed rate, however many requests are still being answered."""
        return False

    def prepares_at_length(self, parameters: Parameters) -> bool:
        """Return whether `apply` does as much as `measure`, and so needs the time of a whole run."""
        return False

    def seconds_beside_load(self, parameters: Parameters) -> float:
        """Return the seconds that `measure` may take beside the load, to prepare what makes it and to read what became of it."""
        return 0.0

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return the estimated seconds of one run, for a plan without earlier runs."""
        return 60.0

    def recompute(
        self, samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]
    ) -> Recomputed | None:
        """Compute values and distributions of a run from its stored samples; None where the kind cannot.

        values: the stored ones, such as the duration that a rate is over. Raise KeyError, TypeError or
        ValueError where the samples are not those of `Measured.samples`.
        """
        return None

    def role(self, name: str) -> str:
        """Return what the levels of a parameter are: load, work, instrument or setting. Load comes first: it is work besides."""
        if name in self.load:
            return "load"
        if name in self.work:
            return "work"
        return "instrument" if name in self.instruments else "setting"

    def label_of(self, name: str) -> str:
        """Return how people call a parameter: the label that its form declares, else its name in words."""
        field = self.parameters.base_fields.get(name)
        return str(field.label) if field is not None and field.label else called(name)

    @property
    def shown_first(self) -> tuple[str, ...]:
        """The parameters that the form shows at once."""
        return self.essential or tuple(self.parameters.base_fields)[:MOST_ESSENTIAL]

    @property
    def primary_metric(self) -> Metric:
        """The metric that answers the question, unless a campaign names another."""
        return next(metric for metric in self.metrics if metric.primary)
