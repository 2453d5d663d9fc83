"""The driver of a program that an operator has defined: one instance a definition.

It starts the command on the worker in an engine program, or on the target by SSH, and reads its output with a reader of imports.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from types import new_class
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import (
    Context,
    Driver,
    DriverError,
    EffectiveSetting,
    Found,
    GeneratorFailed,
    Health,
    Measured,
    Metric,
    NotClean,
    Parameters,
    Proof,
    Target,
)
from campaigns.kinds.base import parameters as fields
from campaigns.kinds.base.commanding import (
    ask,
    lacks_login,
    log_in,
    outputs_of,
    place_of,
    redacted,
    remove_stale,
    run_anywhere,
    run_here,
    shown_of,
)
from campaigns.kinds.program.definition import (
    MOST_LETTERS_OF_TEXT,
    Definition,
    Parameter,
    filled,
)
from campaigns.kinds.programs.commands import Command, Ran, new_marker, why_failed
from campaigns.kinds.programs.health import verdict_of
from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import CleanedData
from campaigns.kit.network import DEFAULT_PORTS, Rules

VERSION_SECONDS = 20.0
NOT_READ_BACK = "an argument of the command, not read back"
DURATION = Metric("command_duration", "Duration of the command", "s", lower_is_better=True)
CPU_TIME = Metric("command_cpu_time", "CPU time of the command", "s", lower_is_better=True)
PEAK_MEMORY = Metric(
    "command_peak_memory", "Peak memory of the command", "MB", lower_is_better=True
)


class Program(Driver):
    """The kind of one definition. Its class variables are set by `driver_for`."""

    definition: ClassVar[Definition]

    def probes(self, family: str) -> bool:
        """Return False: a program says nothing about the health of a target."""
        return False

    def probe(self, target: Target, rules: Rules) -> list[Proof]:
        """Log in, where the program runs on the target; on the worker there is nothing to look at."""
        if self.definition.where == "worker":
            return []
        log_in(target, rules)
        return [Proof("SSH login", "accepted", "accepted", "", ok=True)]

    def lacks(self, target: Target, parameters: Parameters) -> str:
        """Return what its SSH login lacks, where the program runs on the target."""
        return lacks_login(target) if self.definition.where == "target" else ""

    def look(self, target: Target, parameters: Parameters, rules: Rules) -> None:
        """Check that commands can reach the target."""
        if self.definition.where == "target":
            log_in(target, rules)

    def reset(self, target: Target, parameters: Parameters, context: Context) -> list[Proof]:
        """Empty the directory of the run; on a target, remove what dead runs have left."""
        if self.definition.where == "target":
            left = remove_stale(target, context)
            return [Proof("directories of earlier runs", 0, len(left), "", not left)]
        try:
            shutil.rmtree(context.directory, ignore_errors=True)
            context.directory.mkdir(parents=True, mode=0o700)
        except OSError as error:
            raise NotClean(
                f"The directory of the run cannot be emptied: {error}. Check WORK_DIRECTORY."
            ) from error
        return [
            Proof("files in the directory", 0, len(os.listdir(context.directory)), "files", ok=True)
        ]

    def apply(
        self, target: Target, parameters: Parameters, context: Context
    ) -> list[EffectiveSetting]:
        """Read the version of the program. Its parameters are its arguments, which nothing reads back."""
        mine = [
            EffectiveSetting(name, parameters[name], NOT_READ_BACK, ok=True)
            for name in self.parameters.base_fields
        ]
        if not self.definition.version:
            return mine
        text = self._version(target, context)
        return [*mine, EffectiveSetting("version", "as installed", text, bool(text))]

    def measure(self, target: Target, parameters: Parameters, context: Context) -> Measured:
        """Run the command, and read its output."""
        command, ran = self.run(target, parameters, context)
        outputs = outputs_of(ran, context.secrets)
        values = own_values(ran)
        failure = why_failed(command, shown_of(ran, context.secrets))
        if ran.not_separated:
            context.say(f"The program could read what the worker's user can: {ran.not_separated}.")
        if not failure and ran.left:
            names = (
                redacted(f" ({', '.join(ran.left_names)})", context.secrets)
                if ran.left_names
                else ""
            )
            context.say(
                f"The command ended with {ran.left} of its processes still running{names}; they were killed."
            )
        if not failure and self.definition.reader:
            found, failure = self._read(ran, context)
            values |= found
        return Measured(
            values=values,
            health=health_of(ran),
            failure=redacted(failure, context.secrets),
            outputs=outputs,
            units_done=int(not failure),
            units_failed=int(bool(failure)),
            work={"exit_status": ran.exit_status, "bytes": len(ran.output)},
        )

    def run(self, target: Target, parameters: Parameters, context: Context) -> tuple[Command, Ran]:
        """Run the command once. Raise DriverError, Cancelled."""
        if missing := [name for name in self.definition.secrets if not context.secrets.get(name)]:
            raise DriverError(
                f"The secret “{missing[0]}” of this program is not stored here: an operator enters it on its page."
            )
        command = self.command(target, parameters, context)
        return command, run_anywhere(command, self.definition.where, target, context)

    def find(self, ran: Ran, context: Context) -> Found:
        """Return what the reader finds in the output. Raise DriverError where it cannot be read."""
        definition = self.definition
        name = definition.output or "its standard output"
        content = ran.files.get(definition.output) if definition.output else ran.output
        if content is None:
            raise DriverError(f"The command ended well, but did not write {name}.")
        if definition.output in ran.cut:
            raise DriverError(
                f"{name} is longer than {definition.output_bytes:,} bytes; raise the limit of the program."
            )
        if context.read is None:
            raise GeneratorFailed("Outputs cannot be read from here.")
        try:
            return context.read(definition.reader, content, definition.mapping)
        except BadFile as error:
            raise DriverError(
                f"The command ended well, but {name} cannot be read as {definition.reader}: {error}"
            ) from None

    def verify(
        self, target: Target, parameters: Parameters, context: Context, measured: Measured
    ) -> list[Proof]:
        """Prove that the command succeeded, and printed what is read."""
        status = measured.work["exit_status"]
        proofs = [Proof("exit status", 0, status, "", status == 0)]
        if self.definition.reader:
            known = [name for name in measured.values if name in self._read_metrics]
            proofs.append(Proof("metrics in the output", "at least 1", len(known), "", bool(known)))
        return proofs

    def environment(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return the kernel of the target, where the program runs there."""
        if self.definition.where == "worker":
            return {}
        return {"kernel": ask(target, context, ["uname", "-srm"]).strip()}

    def estimate_seconds(self, parameters: Parameters) -> float:
        """Return a guess: nobody knows, but it ends at its limit."""
        return min(60.0, self.definition.seconds)

    def command(self, target: Target, parameters: Parameters, context: Context) -> Command:
        """Return the command of a run, with the values in place of its placeholders."""
        definition = self.definition
        marker = new_marker()
        root = self._root(context, marker)
        values = places(definition, target, parameters, root)
        return Command(
            arguments=[filled(text, values) for text in definition.arguments],
            seconds=min(definition.seconds, context.deadline_seconds),
            output_bytes=definition.output_bytes,
            marker=marker,
            memory_bytes=definition.memory_mib * 1024 * 1024,
            environment={
                name: filled(text, values) for name, text in definition.environment.items()
            },
            secrets={name: context.secrets[name] for name in definition.secrets},
            files=definition.files,
        )

    def _root(self, context: Context, marker: str) -> str:
        if self.definition.where == "worker":
            return place_of(marker, context)
        from campaigns.kinds.programs import run_remotely

        return f"{run_remotely.ROOT}/{run_remotely.NAME}{marker}"

    @property
    def _read_metrics(self) -> frozenset[str]:
        return frozenset(metric.name for metric in self.definition.metrics)

    def _read(self, ran: Ran, context: Context) -> tuple[dict[str, float], str]:
        """Return the declared values in the output, and why the run failed."""
        try:
            found = self.find(ran, context)
        except GeneratorFailed:
            raise
        except DriverError as error:
            return {}, str(error)
        units = {metric.name: metric.unit for metric in self.definition.metrics}
        values = {each.name: each.value for each in found.metrics if each.name in units}
        for each in found.metrics:
            if each.name in units and each.unit != units[each.name]:
                return {}, (
                    f"The output gives “{each.name}” in {each.unit or 'no unit'}; the program declares "
                    f"{units[each.name] or 'no unit'}."
                )
        if found.failure:
            return values, f"The output says that the run failed: {found.failure}"
        primary = self.primary_metric.name
        if primary in units and primary not in values:
            known = ", ".join(each.name for each in found.metrics[:20])
            return (
                values,
                f"The output has no “{primary}”, which is the primary metric; it has {known}.",
            )
        return values, ""

    def _version(self, target: Target, context: Context) -> str:
        arguments = self.definition.version
        if self.definition.where == "target":
            return _first_line(ask(target, context, arguments))
        command = Command(arguments, VERSION_SECONDS, 100_000, new_marker())
        ran = run_here(command, context, context.directory / "version")
        if failure := why_failed(command, ran):
            raise DriverError(f"The version cannot be read: {failure}")
        return _first_line((ran.output or ran.errors).decode(errors="replace"))


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")


def places(
    definition: Definition, target: Target, parameters: Parameters, root: str
) -> dict[str, str]:
    """Return the text of every placeholder."""
    parts = urlsplit(target.base_url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme) or ""
    return {
        "directory": f"{root}/work",
        "target:url": target.base_url.rstrip("/"),
        "target:host": parts.hostname or "",
        "target:port": str(port),
        "target:username": target.username,
        **{f"secret:{name}": f"{root}/secrets/{name}" for name in definition.secrets},
        **{f"file:{name}": f"{root}/work/{name}" for name in definition.files},
        **{each.name: as_argument(parameters[each.name]) for each in definition.parameters},
    }


def as_argument(value: Any) -> str:
    """Return a value of a parameter as an argument."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def health_of(ran: Ran) -> Health:
    """Judge whether the command could run, as far as that was observed: not where it ran on a target."""
    figures = {name: float(value) for name, value in ran.figures.items()}
    verdict = verdict_of(figures, (), ())
    return Health(verdict.word, verdict.reasons, figures)


def own_values(ran: Ran) -> dict[str, float]:
    """Return the values of OWN_METRICS."""
    values = {DURATION.name: ran.seconds}
    if ran.cpu_seconds is not None:
        values[CPU_TIME.name] = ran.cpu_seconds
    if ran.peak_memory_bytes is not None:
        values[PEAK_MEMORY.name] = ran.peak_memory_bytes / 1e6
    return values


class Argument(fields.TextParameter):
    """A text that becomes an argument, and no option."""

    def validate(self, value: Any) -> None:
        """Refuse texts that a program could take for an option. Raise ValidationError."""
        super().validate(value)
        if str(value).startswith("-"):
            raise ValidationError(
                "A text does not begin with “-”: the program could take it for an option."
            )


def field_of(parameter: Parameter) -> fields.ParameterField:
    """Return the form field of a parameter."""
    is_number = parameter.type in ("integer", "number")
    common: dict[str, Any] = {
        "label": parameter.label or None,
        "help_text": parameter.help,
        "initial": parameter.initial,
        "varies": parameter.varies,
        "role": parameter.role,
        "may_be_load": is_number and parameter.varies and parameter.role == "setting",
        "unlimited": parameter.unlimited,
    }
    match parameter.type:
        case "integer":
            return fields.IntegerParameter(
                min_value=_whole(parameter.minimum, -(10**15)),
                max_value=_whole(parameter.maximum, 10**15),
                **common,
            )
        case "number":
            return fields.NumberParameter(
                min_value=parameter.minimum, max_value=parameter.maximum, **common
            )
        case "choice":
            choices = [(each, each) for each in parameter.choices]
            return fields.ChoiceParameter(choices=choices, **common)
    return Argument(max_length=MOST_LETTERS_OF_TEXT, **common)


def _whole(limit: float | None, otherwise: int) -> int:
    return otherwise if limit is None else int(limit)


def metrics_of(definition: Definition) -> tuple[Metric, ...]:
    """Return the metrics of a program: those of its output, and its own."""
    declared = tuple(
        Metric(
            each.name,
            each.label or each.name.replace("_", " "),
            each.unit,
            lower_is_better=each.better != "higher",
            primary=each.primary,
            directed=each.better != "neither",
        )
        for each in definition.metrics
    )
    primary = not any(metric.primary for metric in declared)
    own = (
        Metric(DURATION.name, DURATION.label, DURATION.unit, lower_is_better=True, primary=primary),
        CPU_TIME,
        *((PEAK_MEMORY,) if definition.where == "worker" else ()),
    )
    return (*declared, *own)


def driver_for(definition: Definition, families: Sequence[str]) -> Program:
    """Return the driver of a definition. families: of servers, where it names none."""
    form = type(
        "ProgramForm",
        (forms.Form,),
        {
            "__doc__": "Its parameters.",
            "__module__": __name__,
            **{each.name: field_of(each) for each in definition.parameters},
        },
    )
    members: CleanedData = {
        "__doc__": definition.summary or definition.title,
        "__module__": __name__,
        "definition": definition,
        "label": definition.title,
        "summary": definition.summary or f"Runs {definition.arguments[0]}.",
        "question": definition.question or f"How fast is {definition.title}?",
        "families": tuple(definition.families or families),
        "parameters": form,
        "metrics": metrics_of(definition),
    }
    made: type[Program] = new_class(
        f"Program_{definition.kind}", (Program,), exec_body=lambda into: into.update(members)
    )
    return made()
