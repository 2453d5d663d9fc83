"""Runs that were made elsewhere and come in as files. Nothing here is ever executed."""

from typing import NoReturn

from django import forms

from campaigns.kinds.base import (
    Context,
    Driver,
    DriverError,
    EffectiveSetting,
    Measured,
    Metric,
    Parameters,
    Proof,
    Target,
)
from campaigns.kit.network import Rules


class ExternalForm(forms.Form):
    """No parameter of its own: an import brings its factors, and its facts as text."""


class External(Driver):
    """The kind of imported campaigns."""

    label = "External"
    summary = "Runs that were made elsewhere; an import brings them in, and nothing is executed."
    question = "What do measurements say that somebody made without perfdash?"
    families = ("external",)
    parameters = ExternalForm
    factors = ()
    metrics = (Metric("duration", "Duration", "s", lower_is_better=True, primary=True),)
    executable = False

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Raise DriverError: there is no server to look at."""
        self._refuse()

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Raise DriverError: nothing is executed."""
        self._refuse()

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Raise DriverError: nothing is executed."""
        self._refuse()

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Raise DriverError: nothing is executed."""
        self._refuse()

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Raise DriverError: nothing is executed."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DriverError(
            "Runs of the kind External come from outside and are not executed. "
            "Import a file, send them by the REST API, or choose another kind."
        )


driver = External()
