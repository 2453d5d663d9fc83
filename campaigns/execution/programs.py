"""Define programs: drafts, their trial, their publication, and their end."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import yaml
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from campaigns.execution.parcels import seal_for_trial
from campaigns.execution.program_rights import require_definer
from campaigns.kinds.program.definition import (
    Definition,
    ProgramMetric,
    changed_use,
    read_definition,
    stored_definition,
)
from campaigns.kinds.program.driver import Program as ProgramDriver
from campaigns.kinds.program.driver import driver_for
from campaigns.kinds.registry import all_kinds, families
from campaigns.kit import encryption, yaml_text
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import BadFile, Invalid, NotPossible
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues
from campaigns.kit.messages import send
from campaigns.kit.redaction import SHORTEST
from campaigns.models import Campaign, Program, Target, Team
from campaigns.planning.pools import MEASURE
from campaigns.results.readers import all_readers
from campaigns.results.readers.plain_csv.mapped import mapping_of
from campaigns.targets import quiet
from campaigns.targets.allowed import allowed_on
from campaigns.targets.probes import busy
from campaigns.targets.ssh_logins import require_admin

MOST_LETTERS = 50_000
MOST_DEPTH = 20
MOST_SECRET = 100_000
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of C: the other one takes a minute for thousands of brackets."""
TRIAL_SECONDS = 600.0
"""The longest that a trial may take."""
TRIAL_GIVEN_UP = timedelta(seconds=TRIAL_SECONDS + 300)


def read_yaml(text: str) -> Any:
    """Return the definition in a YAML text. Raise Invalid."""
    if len(text) > MOST_LETTERS:
        raise Invalid({"definition": [f"It is longer than {MOST_LETTERS:,} letters."]})
    try:
        _refuse_unreadable(text)
        return yaml.load(text, LOADER)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, Invalid):
            raise
        place = getattr(error, "problem_mark", None)
        where = f"Line {place.line + 1}: " if place is not None else ""
        what = getattr(error, "problem", None) or "this is no YAML"
        raise Invalid({"definition": [f"{where}{what}."]}) from None


def _refuse_unreadable(text: str) -> None:
    """Raise Invalid for aliases and for what is nested too deeply, and YAMLError, before anything is made of a text."""
    depth = 0
    for event in yaml.parse(text, LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise Invalid({"definition": ["Write it without aliases (“*name”)."]})
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise Invalid({"definition": ["It is nested too deeply."]})


def as_yaml(definition: Definition) -> str:
    """Return a definition as YAML."""
    return yaml_text.as_yaml(definition.as_json(), width=100)


def checked_definition(data: Any) -> Definition:
    """Return the definition of an input. Raise Invalid with messages by path."""
    definition = read_definition(data, tuple(all_readers()), families(), tuple(all_kinds()))
    if definition.mapping:
        try:
            mapping_of(definition.mapping)
        except BadFile as error:
            raise Invalid({"mapping": [str(error)]}) from None
    return definition


def driver_of_draft(row: Program) -> ProgramDriver:
    """Return the driver of a version that may be no kind yet."""
    return driver_for(stored_definition(row.definition), families())


@transaction.atomic
def save_draft(
    data: Any, secrets: FieldValues, team: Team, user: User, row: Program | None = None
) -> Program:
    """Store a definition as the draft of a version, and return it. Raise Invalid, PermissionDenied.

    row: the version that it changes; a published one stays, and gets a draft beside it. A secret that is not given stays, as
    long as the definition names it and the program does the same with it; else it is forgotten, see `Program.forgotten`.
    """
    definition = checked_definition(data)
    require_definer(definition, user)
    if row is not None and row.name != definition.name:
        raise Invalid(
            {"name": [f"It is called “{row.name}”; a program of another name is a new one."]}
        )
    same = Program.objects.filter(name=definition.name).select_for_update(no_key=True)
    others = list(same.order_by("-version"))
    if others and others[0].team_id != team.pk:
        raise Invalid({"name": [f"There is a program “{definition.name}” of another team."]})
    if row is None and others:
        raise Invalid(
            {
                "name": [
                    f"There is a program “{definition.name}” already; change that, or take another name."
                ]
            }
        )
    for other in others:
        _require_admin_for(stored_definition(other.definition), user)
    draft = next((each for each in others if each.state == Program.State.DRAFT), None)
    latest = others[0] if others else None  # the draft, where there is one
    changed = changed_use(stored_definition(latest.definition), definition) if latest else []
    known = latest.secrets if latest else {}
    kept = _secrets(definition, secrets, {} if changed else known)
    if draft is None:
        draft = Program(
            team=team, name=definition.name, version=1 + (others[0].version if others else 0)
        )
    elif _without_metrics(draft.definition) != _without_metrics(definition.as_json()):
        draft.trial, draft.trial_began_at = None, None
    draft.author, draft.definition, draft.secrets = user, definition.as_json(), kept
    draft.forgotten = [
        name for name in definition.secrets if known.get(name) and not kept.get(name)
    ]
    draft.forgotten_for = changed if draft.forgotten else []
    try:
        with transaction.atomic():
            draft.save()
    except IntegrityError:  # somebody has made it meanwhile
        raise Invalid({"name": [f"There is a program “{definition.name}” already."]}) from None
    record(
        Action.PROGRAM_SAVED,
        user=user,
        subject=draft,
        version=draft.version,
        where=definition.where,
        program=definition.arguments[0],
        secrets_changed=sorted(name for name in secrets if secrets[name]),
        secrets_forgotten=draft.forgotten,
    )
    return draft


@transaction.atomic
def publish(row: Program, user: User, metrics: Any = None) -> Program:
    """Make a draft the version in use, and return that: an earlier one, where that has the same definition.

    metrics: replace those of its definition. Raise Invalid, NotPossible, PermissionDenied.
    """
    row = Program.objects.select_for_update(no_key=True).get(pk=row.pk)
    if row.state != Program.State.DRAFT:
        raise NotPossible(f"“{row}” is {row.get_state_display()}; only a draft is published.")
    data = dict(row.definition)
    if metrics is not None:
        data["metrics"] = metrics
    definition = checked_definition(data)
    require_definer(definition, user)
    if definition.reader and not any(each.primary for each in definition.metrics):
        raise Invalid(
            {
                "metrics": [
                    "Choose the primary metric among those that the reader finds: try the program first."
                ]
            }
        )
    if row.trial and row.trial.get("metrics") is not None and definition.reader:
        _check_found(definition, row.trial)
    if missing := missing_secrets(row):
        raise Invalid({"secrets": [f"The secret “{missing[0]}” has no value."]})
    former = Program.objects.select_for_update(no_key=True).filter(kind=definition.kind).first()
    if former is not None and former.state == Program.State.PUBLISHED:
        raise Invalid({"": [f"It is the same as version {former.version}, which is in use."]})
    if former is not None and stored_definition(former.definition) != definition:
        # A kind has 32 bits of the hash: somebody may have looked for another definition with the same.
        raise Invalid({"": [f"Its hash is that of version {former.version}: change its summary."]})
    in_use = Program.objects.filter(name=row.name, state=Program.State.PUBLISHED)
    in_use.update(state=Program.State.SUPERSEDED)
    if (
        former is not None
    ):  # one definition is one kind: that version comes back, and the draft goes
        former.secrets = row.secrets
        row.delete()
        row = former
    row.definition, row.kind = definition.as_json(), definition.kind
    row.state, row.published_at, row.author = Program.State.PUBLISHED, database_now(), user
    row.trial_began_at = None  # one that is on finds no draft any more
    row.save()
    record(Action.PROGRAM_PUBLISHED, user=user, subject=row, version=row.version, kind=row.kind)
    return row


@transaction.atomic
def retire(row: Program, user: User) -> Program:
    """Take a program out of use, with all of its versions and their secrets; return the latest of these.

    Raise NotPossible, PermissionDenied.
    """
    rows = Program.objects.filter(name=row.name).select_for_update(no_key=True)
    for each in rows:
        _require_admin_for(stored_definition(each.definition), user)
    kinds = [each.kind for each in rows if each.kind]
    if not kinds:
        raise NotPossible(f"“{row}” was never published: delete the draft.")
    running = Campaign.objects.filter(kind__in=kinds, state__in=Campaign.ACTIVE).first()
    if running is not None:
        raise NotPossible(
            f"The campaign “{running.name}” ({running.pk}) runs it: cancel that, or wait until it has ended."
        )
    rows.filter(state=Program.State.DRAFT).delete()
    rows.exclude(state=Program.State.DRAFT).update(state=Program.State.RETIRED, secrets={})
    latest = Program.objects.filter(name=row.name).order_by("-version")[0]
    record(Action.PROGRAM_RETIRED, user=user, subject=latest, version=latest.version)
    return latest


@transaction.atomic
def delete_draft(row: Program, user: User) -> None:
    """Delete a draft. Raise NotPossible for a version that was published, PermissionDenied."""
    if row.state != Program.State.DRAFT:
        raise NotPossible(
            f"“{row}” is {row.get_state_display()}: campaigns may have it. Retire it."
        )
    _require_admin_for(stored_definition(row.definition), user)
    record(Action.PROGRAM_DELETED, user=user, subject=row, version=row.version)
    row.delete()


@transaction.atomic
def request_trial(row: Program, parameters: FieldValues, target: Target | None, user: User) -> None:
    """Have a worker run a draft once. Raise Invalid, NotPossible, PermissionDenied."""
    if row.state != Program.State.DRAFT:
        raise NotPossible(f"“{row}” is {row.get_state_display()}; a draft is tried.")
    definition = stored_definition(row.definition)
    require_definer(definition, user)
    driver = driver_of_draft(row)
    values = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    if unknown := [name for name in parameters if name not in values]:
        raise Invalid({f"parameters.{unknown[0]}": ["There is no such parameter."]})
    form = driver.parameters({**values, **parameters})
    if not form.is_valid():
        raise Invalid({f"parameters.{name}": texts for name, texts in messages_of(form).items()})
    texts = (*definition.arguments, *definition.environment.values())
    needs = definition.where == "target" or any("{target:" in text for text in texts)
    if needs and target is None:
        raise Invalid({"target": ["Choose the target of the trial."]})
    if target is not None:
        _check_target(target, row, driver)
    given_up = Q(trial_began_at__lt=Now() - TRIAL_GIVEN_UP)
    ahead = Q(trial_began_at__gt=Now() + TRIAL_GIVEN_UP)  # of a clock that was set back since
    free = Q(trial_began_at=None) | given_up | ahead
    claimed = Program.objects.filter(free, pk=row.pk, state=Program.State.DRAFT).update(
        trial={"parameters": dict(form.cleaned_data), "target": target.pk if target else None},
        trial_began_at=Now(),
    )
    if not claimed:
        raise NotPossible("A trial of it is on already.")
    record(
        Action.PROGRAM_TRIED,
        user=user,
        subject=row,
        version=row.version,
        target=target.name if target else "",
    )
    key = seal_for_trial(row, target)
    transaction.on_commit(lambda: send("campaigns.try_program", row.pk, MEASURE, key))


def _check_target(target: Target, row: Program, driver: ProgramDriver) -> None:
    """Raise Invalid where a target must not be used for a trial."""
    why = ""
    if target.team_id != row.team_id or target.retired_at is not None:
        why = "Choose a target of the program's own team."
    elif target.family not in driver.families:
        why = f"“{target.name}” is a {target.family} server; the program is for {', '.join(driver.families)}."
    elif allowed_on(target).production is not None:  # by the mark of any target of that server
        why = f"“{target.name}” is a production server: try the program on another."
    elif quiet.on_by(target, database_now()) is not None:
        why = f"“{target.name}” has quiet hours now."
    elif on := busy(target, database_now(), 0.0):
        why = on.why
    if why:
        raise Invalid({"target": [why]})


def _check_found(definition: Definition, trial: Mapping[str, Any]) -> None:
    """Raise Invalid where a declared metric was not in the output of the trial, or in another unit."""
    found = {each["name"]: each for each in trial["metrics"]}
    for number, each in enumerate(definition.metrics):
        if each.name not in found:
            known = ", ".join(list(found)[:20])
            raise Invalid(
                {f"metrics.{number}.name": [f"The trial found no “{each.name}”; it found {known}."]}
            )
        if each.unit != found[each.name]["unit"]:
            raise Invalid(
                {f"metrics.{number}.unit": [f"The trial found it in “{found[each.name]['unit']}”."]}
            )


def suggested_metrics(trial: Mapping[str, Any]) -> list[ProgramMetric]:
    """Return the metrics that a trial found, with the direction that the reader knows, and its primary one."""
    words = {True: "lower", False: "higher", None: "neither"}
    return [
        msgspec.convert(
            {
                "name": each["name"],
                "label": each["label"][:200],
                "unit": each["unit"],
                "better": words[each["lower_is_better"]],
                "primary": each["name"] == trial.get("primary")
                and each["lower_is_better"] is not None,
            },
            ProgramMetric,
        )
        for each in trial.get("metrics") or ()
    ]


def versions(rows: QuerySet[Program]) -> list[Program]:
    """Return the newest version of each program, by name."""
    newest = rows.values("name").annotate(newest=Max("version")).values_list("name", "newest")
    wanted = set(newest)
    return [
        row for row in rows.select_related("team", "author") if (row.name, row.version) in wanted
    ]


def missing_secrets(row: Program) -> list[str]:
    """Return the names of the secrets of a version that have no value."""
    return [name for name in row.definition.get("secrets", ()) if not row.secrets.get(name)]


def remarks_on(row: Program) -> list[str]:
    """Return warnings for the user who saved a draft: which secrets were forgotten."""
    if not row.forgotten:
        return []
    fields, names = _quoted(row.forgotten_for), _quoted(row.forgotten)
    have = "have" if len(row.forgotten_for) > 1 else "has"
    secrets, were, them = (
        ("secrets", "were", "them") if len(row.forgotten) > 1 else ("secret", "was", "it")
    )
    return [
        f"{fields} {have} changed, so the stored {secrets} {names} {were} forgotten. Enter {them} again. "
        "A stored secret does not go to a changed program by itself."
    ]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def revised(row: Program) -> Columns:
    """Return the values that the revision of a version covers."""
    return {"state": row.state, "definition": row.definition, "secrets": row.secrets}


def _secrets(
    definition: Definition, given: FieldValues, known: Mapping[str, str]
) -> dict[str, str]:
    """Return the secrets of a version, encrypted. Raise Invalid for one that the definition does not name."""
    for name, text in given.items():
        if name not in definition.secrets:
            raise Invalid({"secrets": [f"The definition names no secret “{name}”."]})
        if not isinstance(text, str) or len(text) > MOST_SECRET or "\0" in text:
            raise Invalid({"secrets": [f"“{name}” is no text of at most {MOST_SECRET:,} letters."]})
        if text and len(text.strip()) < SHORTEST:
            raise Invalid(
                {
                    "secrets": [
                        f"“{name}” is shorter than {SHORTEST} letters: it could not be struck out of what the program "
                        "prints. Take a longer one."
                    ]
                }
            )
    return {
        name: encryption.encrypt(str(given[name])) if given.get(name) else known[name]
        for name in definition.secrets
        if given.get(name) or known.get(name)
    }


def _require_admin_for(definition: Definition, user: User) -> None:
    """Raise PermissionDenied where a program runs on the target's machine and the user may define no commands there."""
    if definition.where == "target":
        require_admin(user)


def _without_metrics(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "metrics"}
