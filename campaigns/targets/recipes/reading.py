"""Read recipes: the shipped ones, and texts of users. Nothing is stored.

In an argument of a command, `!script NAME` stands for a script of the folder `scripts`: on one line, without its comments.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from msgspec import Meta, Struct

from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Json
from campaigns.kit.structs import Problems, converted
from campaigns.targets.actions import MANUAL, BadAction, Role, parse
from campaigns.targets.actions.values import flaw_of, flaws_together

FOLDER = Path(__file__).parent
SCRIPTS = FOLDER / "scripts"
MOST_LETTERS = 40_000
DEEPEST = 20
MOST_READINESS = 1
NO_JSON = {"yaml": ["The recipe holds something that JSON does not have."]}
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Words = Annotated[str, Meta(max_length=2000, extra={"message": "Give a text."})]
Choice = Annotated[
    str, Meta(max_length=200, extra={"message": "Give texts: write on, no and 1 in quotes."})
]
Number = Annotated[float | None, Meta(extra={"message": "Give a number."})]
Switch = Annotated[bool, Meta(extra={"message": "Give true or false."})]


class UsedPreset(Struct, forbid_unknown_fields=True, frozen=True):
    """A preset of a kind of test that answers the question."""

    kind: Words = ""
    name: Words = ""


class Readiness(Struct, forbid_unknown_fields=True, frozen=True):
    """A readiness check of the target, as its page has it."""

    name: Words = ""
    action: dict[str, Any] = {}


class OfSetting(Struct, forbid_unknown_fields=True, frozen=True):
    """The fields of a setting, as its form and REST have them: their types. What they mean is checked there."""

    name: Words = ""
    label: Words = ""
    unit: Words = ""
    type: Words = ""
    minimum: Number = None
    maximum: Number = None
    unlimited: Number = None
    choices: Annotated[list[Choice], Meta(extra={"message": "Give a list of texts."})] = []
    hard_to_change: Switch = True
    is_build: Switch = False
    apply: Any = None
    read_back: Any = None


class Recipe(Struct, forbid_unknown_fields=True, frozen=True):
    """A setting, with what is known of it.

    question: that it answers. published: the figure or the advice. source: the document. costs: what a change costs. needs: the
    rights of the login. families: of the targets that can have it; empty: each. tried: on what. adapt: what to change for another
    server. setting, readiness: as the page of a target and REST have them.
    """

    title: Words = ""
    question: Words = ""
    published: Words = ""
    source: Words = ""
    costs: Words = ""
    needs: Words = ""
    families: Annotated[list[Words], Meta(max_length=20)] = []
    preset: UsedPreset | None = None
    tried: Words = ""
    adapt: Words = ""
    setting: dict[str, Any] = {}
    readiness: Annotated[list[Readiness], Meta(max_length=MOST_READINESS)] = []

    @property
    def name(self) -> str:
        """The name of its setting."""
        return str(self.setting.get("name", ""))

    def fits(self, family: str) -> bool:
        """Return whether targets of a family can have it."""
        return not self.families or family in self.families


def read_recipe(text: str) -> Recipe:
    """Return the recipe of a text of YAML. Raise Invalid.

    What its setting means is checked where it is imported, as for any other one; here, what the page of a target cannot show or
    ask: that it says what it is, that each field has its type, what it does, and how its value is read back.
    """
    data = _document(text)
    if not isinstance(data, Mapping):
        raise Invalid(
            {"yaml": ["Give a recipe: title, question, source, costs and setting, as YAML."]}
        )
    problems = Problems()
    recipe = converted(dict(data), Recipe, problems)
    for name in ("title", "question", "source", "costs"):
        if not getattr(recipe, name).strip() and name not in problems:
            problems[name] = [f"A recipe says its {name}."]
    problems.update(_wrong_setting(recipe.setting))
    for number, ready in enumerate(recipe.readiness):
        problems.update(_wrong_action(ready.action, Role.READY, f"readiness.{number}.action"))
    if problems:
        raise Invalid(problems)
    return recipe


@cache
def shipped() -> Mapping[str, Recipe]:
    """Return the recipes of this folder by the names of their files."""
    files = sorted(FOLDER.glob("*.yaml"))
    return {path.stem: read_recipe(path.read_text(encoding="utf-8")) for path in files}


def shipped_text(name: str) -> str:
    """Return the text of a shipped recipe."""
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def _wrong_setting(setting: Json) -> dict[str, list[str]]:
    apply, read = setting.get("apply"), setting.get("read_back")
    if not setting:
        return {"setting": ["A recipe has a setting, with apply and read_back."]}
    if not isinstance(apply, Mapping):
        return {"setting.apply": ["Say how it is set: an action with its way."]}
    if not isinstance(read, Mapping):
        return {
            "setting.read_back": ["Say how it is read back, so that it is known to be in force."]
        }
    if read.get("way") == MANUAL != apply.get("way"):
        return {"setting.read_back": ["What a worker sets is read back by HTTP, SQL or a command."]}
    problems = Problems()
    converted(dict(setting), OfSetting, problems, "setting")
    wrong = _wrong_action(apply, Role.APPLY, "setting.apply")
    wrong |= _wrong_action(read, Role.READ, "setting.read_back")
    if not wrong:
        both = flaws_together(parse(apply, Role.APPLY), parse(read, Role.READ))
        wrong = {f"setting.read_back.{name}": [text] for name, text in both.items()}
    return problems | wrong


def _wrong_action(action: Json, role: Role, path: str) -> dict[str, list[str]]:
    try:
        parse(action, role)
    except BadAction as bad:
        return {f"{path}.{name}".rstrip("."): [text] for name, text in bad.errors.items()}
    return {}


def _document(text: str) -> Any:
    if len(text) > MOST_LETTERS:
        raise Invalid({"yaml": [f"A recipe has at most {MOST_LETTERS:,} letters."]})
    try:
        _refuse_deep_or_repeated(text)
        value = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
        json.dumps(value, allow_nan=False)
    except Invalid:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"Line {mark.line + 1}: " if mark is not None else ""
        why = getattr(error, "problem", None) or "this is no YAML"
        raise Invalid({"yaml": [f"{where}{why}."]}) from None
    except (TypeError, ValueError, RecursionError, OverflowError):
        raise Invalid(NO_JSON) from None
    if not _is_json(value) or flaw_of(value):
        raise Invalid(NO_JSON)
    return value


def _is_json(value: Any) -> bool:
    """Return whether a value is one of JSON: YAML has dates, bytes, sets, and names that are no texts, too."""
    if isinstance(value, dict):
        return all(isinstance(name, str) for name in value) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float)


def _refuse_deep_or_repeated(text: str) -> None:
    """Raise Invalid for aliases, of which a few lines make any size, and for what is nested deeply."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.AliasEvent):
            raise Invalid({"yaml": ["A recipe has no aliases (*): write the text again."]})
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Invalid({"yaml": [f"It is nested deeper than {DEEPEST} levels."]})


class _Loader(Loader):  # type: ignore[misc]
    """Reads plain values, and scripts of this folder."""


def _script(_: Any, node: Any) -> str:
    known = sorted(path.stem for path in SCRIPTS.glob("*.sh"))
    name = str(node.value)
    if name not in known:
        raise yaml.constructor.ConstructorError(
            None,
            None,
            f"there is no script {name:.60}; there are {', '.join(known)}",
            node.start_mark,
        )
    return script(name)


_Loader.add_constructor("!script", _script)


@cache
def script(name: str) -> str:
    """Return a script as one argument of a command: its lines joined by blanks, without comments."""
    lines: Sequence[str] = (SCRIPTS / f"{name}.sh").read_text(encoding="utf-8").splitlines()
    return " ".join(
        line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")
    )
