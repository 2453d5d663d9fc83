"""The kind `external`: runs that were made elsewhere and are imported. Nothing is executed."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from django import forms

from campaigns.kinds.base import Driver, DriverError, Metric, Subject
from campaigns.kit.versions import PYPI

VERSION = "version"


class ExternalForm(forms.Form):
    """No parameters: an import brings its factors, and its facts as text."""


class External(Driver):
    """The kind of imported campaigns."""

    label = "External"
    summary = "Runs that were made elsewhere; an import brings them in, and nothing is executed."
    question = "What do measurements say that somebody made without perfdash?"
    families = ("external",)
    parameters = ExternalForm
    metrics = (Metric("duration", "Duration", "s", lower_is_better=True, primary=True),)
    executable = False

    def _refuse(self, *arguments: Any, **options: Any) -> NoReturn:
        raise DriverError(
            "Runs of the kind External come from outside and are not executed. "
            "Import a file, send them by the REST API, or choose another kind."
        )

    def subjects(self, facts: Mapping[str, str]) -> Sequence[Subject]:
        """Return what a fact named `version` tells: an import or a submission may say what was measured."""
        return [Subject(VERSION, facts[VERSION], PYPI, VERSION)] if facts.get(VERSION) else []

    probe = reset = apply = measure = verify = _refuse


driver = External()
