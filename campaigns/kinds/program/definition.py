"""The definition of a program: what an operator says once, and what a campaign of it keeps.

It is one document for the page, the REST API, bundles and the database. Its hash is part of the kind's name, so equal
definitions are one kind everywhere, and a changed one is another.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from campaigns.kinds.programs.commands import FILE_NAME
from campaigns.kit.errors import Invalid

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}\Z", re.ASCII)
PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,49}\Z", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}\Z", re.ASCII)
METRIC = re.compile(r"[A-Za-z0-9_.%/+-][A-Za-z0-9_.%/+ -]{0,79}\Z", re.ASCII)
PLACE = re.compile(r"\{\{[^{}]*\}\}|\{([a-z][a-z0-9_]*(?::[A-Za-z0-9_.-]+)?)\}", re.ASCII)
"""A placeholder; in two braces it stands for itself in one."""
SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
RESERVED = ("blind_label", "directory", "target")
"""Names that mean something else in a campaign, or as a placeholder."""
OPTIONS_WITH_VALUE = ("-o", "+o", "-O", "+O", "--init-file", "--rcfile")
"""Of shells."""
OF_TARGET = ("url", "host", "port", "username")
STANDARD_OUTPUT = ""
CSV_READER = "plain_csv"
MOST_PARAMETERS, MOST_METRICS = 20, 60
MOST_LETTERS_OF_TEXT = 1000
MOST_MESSAGES = 20
LARGEST = 1e15
"""Of a number; beyond that not every whole number is one."""
PRINTED = ("stdout", "stderr")
"""Names of what a command prints, which no file has."""
OWN_METRICS = ("command_duration", "command_cpu_time", "command_peak_memory")
"""Metrics of every program; the output of none may have a metric of these names."""
KEEP_SECRETS = frozenset(
    {"name", "label", "summary", "question", "secrets", "metrics", "families"}
    | {"seconds", "memory_mib", "output_bytes"}
)
"""Fields that may change without the stored secrets being forgotten. Any other could let a program print them differently."""

Text = Annotated[str, Meta(max_length=2000)]
Short = Annotated[str, Meta(max_length=200)]


class Parameter(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A parameter, which is a factor of campaigns unless `varies` is false. choices: of a choice alone.

    unlimited: the number that means no limit.
    """

    name: Short
    type: Literal["integer", "number", "choice", "text"] = "integer"
    label: Short = ""
    help: Text = ""
    initial: int | float | str | None = None
    minimum: float | None = None
    maximum: float | None = None
    unlimited: float | None = None
    choices: Annotated[list[Short], Meta(max_length=100)] = []
    varies: bool = True
    role: Literal["setting", "load", "work", "instrument"] = "setting"


class ProgramMetric(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A metric of the output, by its name there. better: which direction is."""

    name: Short
    label: Short = ""
    unit: Annotated[str, Meta(max_length=20)] = ""
    better: Literal["lower", "higher", "neither"] = "lower"
    primary: bool = False


class Definition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program. reader: the format of its output; empty: only how long it takes is measured.

    output: the file that is read; empty: the standard output. mapping: of columns, where the reader is CSV_READER. version: a command that prints the program's version.
    families: of the servers that a campaign may name; empty: all.
    """

    name: Short
    arguments: Annotated[list[Text], Meta(min_length=1, max_length=100)]
    label: Short = ""
    summary: Text = ""
    question: Annotated[str, Meta(max_length=300)] = ""
    where: Literal["worker", "target"] = "worker"
    parameters: Annotated[list[Parameter], Meta(max_length=MOST_PARAMETERS)] = []
    environment: Annotated[dict[Short, Text], Meta(max_length=50)] = {}
    secrets: Annotated[list[Short], Meta(max_length=20)] = []
    files: Annotated[list[Short], Meta(max_length=20)] = []
    reader: Short = ""
    output: Short = STANDARD_OUTPUT
    mapping: dict[str, Any] = {}
    metrics: Annotated[list[ProgramMetric], Meta(max_length=MOST_METRICS)] = []
    version: Annotated[list[Text], Meta(max_length=20)] = []
    families: Annotated[list[Short], Meta(max_length=20)] = []
    seconds: Annotated[float, Meta(ge=1, le=86_400)] = 600.0
    memory_mib: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    output_bytes: Annotated[int, Meta(ge=1000, le=16_000_000)] = 1_000_000

    @property
    def kind(self) -> str:
        """Return the name of the kind: its own and the beginning of its hash."""
        return f"{self.name}-{self.digest[:8]}"

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the definition."""
        return sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()

    @property
    def title(self) -> str:
        """Return what people read."""
        return self.label or self.name

    def as_json(self) -> dict[str, Any]:
        """Return it as `read_definition` takes it, without what has its initial value."""
        shown: dict[str, Any] = msgspec.to_builtins(self)
        return shown


def stored_definition(data: Mapping[str, Any]) -> Definition:
    """Return a definition that was checked when it was stored."""
    return msgspec.convert(data, Definition)


def changed_use(before: Definition, after: Definition) -> list[str]:
    """Return the fields by which a changed program could show a secret that was entered for another command."""
    names = [name for name in Definition.__struct_fields__ if name not in KEEP_SECRETS]
    return [name for name in names if _use(before, name) != _use(after, name)]


def _use(definition: Definition, name: str) -> Any:
    """Return a field; of parameters what decides which values they may have."""
    if name != "parameters":
        return getattr(definition, name)
    return [
        (each.name, each.type, each.minimum, each.maximum, each.choices)
        for each in definition.parameters
    ]


def read_definition(
    data: Any, readers: Sequence[str], families: Sequence[str], taken: Sequence[str]
) -> Definition:
    """Return the definition of an input. Raise Invalid with messages by path.

    readers: the formats that can be read; families: of servers; taken: names of kinds that are no programs.
    """
    if not isinstance(data, Mapping):
        raise Invalid({"": ["Give a definition: an object with at least “name” and “arguments”."]})
    try:
        definition = msgspec.convert(dict(data), Definition)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        path = re.sub(r"\[(\d+|\.\.\.)\]", r".\1", place).strip(".`")
        quotes = "; put it into quotes" if message.startswith("Expected `str`, got") else ""
        raise Invalid({path: [f"{message}{quotes}."]}) from None
    errors: dict[str, list[str]] = {}
    for path, message in islice(_unstorable(definition.as_json()), MOST_MESSAGES):
        errors.setdefault(path, []).append(message)
    if not errors:
        wrong = _errors(definition, readers, families, taken)
        for path, message in islice(wrong, MOST_MESSAGES):
            errors.setdefault(path, []).append(message)
    if errors:
        raise Invalid(errors)
    return definition


def _unstorable(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the numbers and letters that neither a database nor a command takes."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _unstorable(name, path)
            yield from _unstorable(each, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _unstorable(each, f"{path}.{number}")
    elif isinstance(value, str):
        if any((letter < " " and letter not in "\n\t") or letter == "\x7f" for letter in value):
            yield path, "It holds a control character."
        elif any("\ud800" <= letter <= "\udfff" for letter in value):
            yield path, "It holds half of a letter (a lone surrogate)."
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        yield path, f"A number is at most {LARGEST:g}."


def _errors(
    definition: Definition, readers: Sequence[str], families: Sequence[str], taken: Sequence[str]
) -> Iterator[tuple[str, str]]:
    if not NAME.match(definition.name):
        yield "name", "Use 1 to 40 small letters, digits and “-”, a letter first."
    elif definition.name in taken:
        yield "name", f"“{definition.name}” is a kind of perfdash's own; take another name."
    if definition.reader and definition.reader not in readers:
        yield "reader", f"There is no format “{definition.reader}”; there are {', '.join(readers)}."
    if definition.mapping and definition.reader != CSV_READER:
        yield "mapping", f"Only the reader {CSV_READER} has a mapping of columns."
    if definition.output and definition.output not in definition.files:
        yield "output", f"“{definition.output}” is not among `files`, which are read back."
    for family in definition.families:
        if family not in families:
            yield "families", f"There is no family “{family}”; there are {', '.join(families)}."
    for name in definition.environment:
        if not VARIABLE.match(name) or name.startswith("PERFDASH"):
            yield "environment", f"“{name}” is no name of a variable that can be set."
    for path, names in (("secrets", definition.secrets), ("files", definition.files)):
        for name in names:
            if not FILE_NAME.match(name):
                yield (
                    path,
                    f"“{name}” is no plain file name: letters, digits, “_”, “.” and “-”, no folder.",
                )
        if len(set(names)) < len(names):
            yield path, "A name is there twice."
    for name in definition.files:
        if name in PRINTED:
            yield "files", f"“{name}” is what the command prints; take another name."
    yield from _wrong_parameters(definition.parameters)
    yield from _wrong_places(definition)
    yield from _wrong_metrics(definition)


def _wrong_parameters(parameters: Sequence[Parameter]) -> Iterator[tuple[str, str]]:
    names = [each.name for each in parameters]
    for number, each in enumerate(parameters):
        path = f"parameters.{number}"
        if not PARAMETER.match(each.name):
            yield f"{path}.name", "Use small letters, digits and “_”, a letter first."
        elif each.name in RESERVED:
            yield f"{path}.name", f"“{each.name}” is a word of perfdash's own; take another name."
        elif names.count(each.name) > 1:
            yield f"{path}.name", f"“{each.name}” is there twice."
        if (each.type == "choice") != bool(each.choices):
            yield f"{path}.choices", "A choice needs its choices, and nothing else has any."
        if each.role == "load" and (each.type not in ("integer", "number") or not each.varies):
            yield f"{path}.role", "A load is a number that varies."
        if (each.minimum is not None or each.maximum is not None) and each.type not in (
            "integer",
            "number",
        ):
            yield f"{path}.minimum", "Only a number has limits."
        if each.unlimited is not None:
            if each.type not in ("integer", "number"):
                yield f"{path}.unlimited", "Only a number can mean no limit."
            elif each.role == "load":
                yield f"{path}.unlimited", "A load is never without a limit."
            elif flaw := flaw_of(each, each.unlimited):
                yield f"{path}.unlimited", flaw
        if each.initial is None:
            yield f"{path}.initial", "Give the value that a new campaign begins with."
        elif flaw := flaw_of(each, each.initial):
            yield f"{path}.initial", flaw


def flaw_of(parameter: Parameter, value: Any) -> str:
    """Return why a value is none of a parameter; empty where it is."""
    if parameter.type in ("integer", "number"):
        if isinstance(value, bool | str) or (
            parameter.type == "integer" and float(value) != int(value)
        ):
            return f"{value!r} is no {parameter.type}."
        if parameter.minimum is not None and value < parameter.minimum:
            return f"{value:g} is below {parameter.minimum:g}."
        if parameter.maximum is not None and value > parameter.maximum:
            return f"{value:g} is above {parameter.maximum:g}."
        return ""
    if not isinstance(value, str):
        return f"{value!r} is no text; put it into quotes."
    if parameter.type == "choice":
        return "" if value in parameter.choices else f"“{value}” is not among the choices."
    if not 0 < len(value.strip()) <= len(value) <= MOST_LETTERS_OF_TEXT:
        return f"A text has 1 to {MOST_LETTERS_OF_TEXT} letters."
    if value.startswith("-"):
        return "A text does not begin with “-”: the program could take it for an option."
    return ""


def _wrong_places(definition: Definition) -> Iterator[tuple[str, str]]:
    types = {each.name: each.type for each in definition.parameters}
    used: set[str] = set()
    if not definition.arguments[0].strip():
        yield "arguments.0", "Give the program first."
    script = _script_of(definition.arguments)
    for path, text in _places_may_be_in(definition):
        for match in PLACE.finditer(text):
            name = match[1]
            if name is None:
                continue
            used.add(name)
            if path == "arguments.0":
                yield path, "The program itself cannot be a parameter."
            elif path == f"arguments.{script}":
                yield (
                    path,
                    f"A shell would run “{{{name}}}” as part of its program. Give it as an argument behind the program, "
                    'and use it as "$1": sh, -c, echo "$1", sh, {value}.',
                )
            if message := _wrong_place(definition, types, name, text, match):
                yield path, message
    for each in definition.parameters:
        if each.name not in used:
            yield (
                "parameters",
                f"“{each.name}” stands nowhere: write {{{each.name}}} as an argument or in a variable.",
            )


def _wrong_place(
    definition: Definition, types: Mapping[str, str], name: str, text: str, match: re.Match[str]
) -> str:
    kind, colon, rest = name.partition(":")
    if colon:
        known = {"secret": definition.secrets, "file": definition.files, "target": OF_TARGET}
        if kind in known and rest in known[kind]:
            return ""
        return f"There is no {{{name}}}: declare it, or write {{{{{name}}}}} for these letters."
    if name == "directory":
        return ""
    if name not in types:
        return f"There is no parameter “{name}”; write {{{{{name}}}}} for these letters."
    if types[name] != "text":
        return ""
    before, after = text[: match.start()], text[match.end() :]
    in_words = len(before.split()) > 1 or before != before.strip()
    if after or in_words or (before and before[-1] not in "=:,/"):
        return (
            f"“{name}” is a text: let it be an argument of its own, or the end of one word behind “=”, “:”, “,” or “/”, so "
            "that it cannot become an option or a command."
        )
    return ""


def _script_of(arguments: Sequence[str]) -> int | None:
    """Return the place of the program that a shell among the arguments gets as text; None where there is none."""
    for place, text in enumerate(arguments):
        if text.rpartition("/")[2] in SHELLS:
            for number in range(place + 1, len(arguments)):
                if arguments[number - 1] in OPTIONS_WITH_VALUE:
                    continue
                if not arguments[number].startswith(("-", "+")):
                    given = any(
                        option.startswith("-") and not option.startswith("--") and "c" in option
                        for option in arguments[place + 1 : number]
                    )
                    return number if given else None
    return None


def _wrong_metrics(definition: Definition) -> Iterator[tuple[str, str]]:
    names = [each.name for each in definition.metrics]
    for number, each in enumerate(definition.metrics):
        path = f"metrics.{number}"
        if not METRIC.match(each.name) or each.name in OWN_METRICS:
            yield f"{path}.name", f"“{each.name}” cannot be the name of a metric of the output."
        elif names.count(each.name) > 1:
            yield f"{path}.name", f"“{each.name}” is there twice."
        if each.primary and each.better == "neither":
            yield f"{path}.better", "The primary metric needs a direction."
    if sum(each.primary for each in definition.metrics) > 1:
        yield "metrics", "One metric is primary, not several."
    if definition.metrics and not definition.reader:
        yield "metrics", "Without a reader of its output there are no metrics but its duration."


def _places_may_be_in(definition: Definition) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(definition.arguments):
        yield f"arguments.{number}", text
    for name, text in definition.environment.items():
        yield f"environment.{name}", text


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values in place of its placeholders."""
    return PLACE.sub(
        lambda match: match[0][1:-1] if match[1] is None else values[match[1]],
        text,
    )
