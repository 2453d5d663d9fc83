"""REST resources of programs: define, try, publish, retire."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.execution import programs
from campaigns.kinds.program.definition import Definition
from campaigns.kit.api.inputs import Input, Name
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right, team_for
from campaigns.models import Program, Target

TAG = "programs"
OBJECT: JsonObject = {"type": "object", "additionalProperties": True}
DEFINITION: JsonObject = {
    **OBJECT,
    "required": ["name", "arguments"],
    "description": f"A definition: {', '.join(Definition.__struct_fields__)}. The guide “Bring your own program” describes each.",
}


@extend_schema_field(DEFINITION)
class DefinitionField(serializers.JSONField):
    """A definition, unchecked; `programs.save_draft` reports its errors."""


@extend_schema_field({"type": "array", "items": OBJECT})
class MetricsField(serializers.JSONField):
    """Metrics as in a definition, unchecked."""


class ProgramInput(Input):
    """A definition, and the secrets that it names. Those that are not sent stay, unless the program does something else with them."""

    definition = DefinitionField()
    secrets = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False, allow_blank=True), required=False
    )


class NewProgramInput(ProgramInput):
    """A program of a team: by number or name; needed of those alone who operate in several."""

    team = Name()


class TrialInput(Input):
    """Parameters of a trial, by default their initial values, and its target by number."""

    parameters = serializers.DictField(child=serializers.JSONField(), required=False)
    target = serializers.IntegerField(required=False, allow_null=True, min_value=1)


class PublishInput(Input):
    """metrics: in place of those of the definition, such as those that the trial found."""

    metrics = MetricsField(required=False)


class ProgramOutput(ModelOutput[Program]):
    """A version of a program. `kind`: of campaigns that use it. `trial`: of a draft, what the last one found."""

    url = serializers.HyperlinkedIdentityField("api-program")
    state = serializers.ChoiceField(choices=Program.State.choices, read_only=True)
    definition = serializers.JSONField()
    has_secrets = serializers.SerializerMethodField()
    trial = serializers.JSONField(allow_null=True)
    trial_is_on = serializers.SerializerMethodField()

    class Meta:
        model = Program
        fields = [
            *("id", "url", "team", "name", "version", "kind", "state", "definition", "has_secrets"),
            *("created_at", "published_at", "trial", "trial_is_on"),
        ]

    def get_has_secrets(self, row: Program) -> list[str]:
        """Return the names of secrets that are stored."""
        return sorted(name for name, text in row.secrets.items() if text)

    def get_trial_is_on(self, row: Program) -> bool:
        """Return whether a worker is to run it, or runs it."""
        return row.trial_began_at is not None


class ProgramAnswer(ProgramOutput):
    """A draft that was saved. `warnings`: which secrets were forgotten because the program has changed."""

    warnings = serializers.SerializerMethodField()

    class Meta(ProgramOutput.Meta):
        fields = [*ProgramOutput.Meta.fields, "warnings"]

    def get_warnings(self, row: Program) -> list[str]:
        """Return the remarks for whoever saved it."""
        return programs.remarks_on(row)


class Programs(Api):
    """GET: all versions of programs. POST: the draft of a new program."""

    takes = {"post": Right.OPERATE}

    @operation("list_programs", TAG, answer=ProgramOutput)
    def get(self, request: Request) -> Response:
        """List all versions of the programs of the sender's teams, by their number."""
        return self.page(self.visible(Program.objects.all()), ProgramOutput, "pk")

    @operation("create_program", TAG, body=NewProgramInput, answer=ProgramAnswer)
    def post(self, request: Request) -> Response:
        """Save a program as a draft; try it, then publish it. One that runs on targets takes an admin, as does one on workers beside other teams."""
        data = self.read(NewProgramInput)
        team = team_for(self.user, data.get("team"), Right.OPERATE)
        row = _saved(
            data, lambda body, secrets: programs.save_draft(body, secrets, team, self.user)
        )
        output = self.shown(row, ProgramAnswer)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneProgram(Api):
    """GET: one version. PUT: its definition, as a draft. DELETE: a draft."""

    of = Program
    takes = {"put": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_program", TAG, answer=ProgramOutput)
    def get(self, request: Request, pk: int) -> Response:
        """Return one version with its definition."""
        return self.one(get_object_or_404(Program, pk=pk), ProgramOutput, programs.revised)

    @operation("replace_program", TAG, body=ProgramInput, answer=ProgramAnswer)
    def put(self, request: Request, pk: int) -> Response:
        """Replace the definition of a draft; what was published stays, and the answer is a draft of its next version.

        Stored secrets are forgotten if the command, its environment, its files, its reader or its place change; `warnings` name them.
        """
        row, data = get_object_or_404(Program, pk=pk), self.read(ProgramInput)
        with self.unchanged(row, programs.revised):
            saved = _saved(
                data,
                lambda body, secrets: programs.save_draft(body, secrets, row.team, self.user, row),
            )
        return Response(self.shown(saved, ProgramAnswer))

    @operation("delete_program", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a draft; what was published is retired instead."""
        row = get_object_or_404(Program, pk=pk)
        with self.unchanged(row, programs.revised):
            programs.delete_draft(row, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TryProgram(Api):
    """POST: run a draft once."""

    of = Program
    takes = {"post": Right.OPERATE}

    @operation(
        "try_program", TAG, body=TrialInput, answer=ProgramOutput, code=status.HTTP_202_ACCEPTED
    )
    def post(self, request: Request, pk: int) -> Response:
        """Have a worker run a draft once; look at `trial` when `trial_is_on` is false again."""
        row, data = get_object_or_404(Program, pk=pk), self.read(TrialInput)
        target = None
        if data.get("target"):
            target = self.visible(Target.objects.filter(pk=data["target"])).first()
            if target is None:
                raise Invalid({"target": [f"There is no target {data['target']}."]})
        programs.request_trial(row, data.get("parameters") or {}, target, self.user)
        row.refresh_from_db()
        return Response(self.shown(row, ProgramOutput), status=status.HTTP_202_ACCEPTED)


class PublishProgram(Api):
    """POST: make a draft the version in use."""

    of = Program
    takes = {"post": Right.OPERATE}

    @operation("publish_program", TAG, body=PublishInput, answer=ProgramOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Publish a draft: authors choose it by its name, as a kind. The version before is superseded.

        A draft with the definition of an earlier version brings that back, which is the answer; the draft is deleted.
        """
        row, data = get_object_or_404(Program, pk=pk), self.read(PublishInput)
        return Response(
            self.shown(programs.publish(row, self.user, data.get("metrics")), ProgramOutput)
        )


class RetireProgram(Api):
    """POST: take a program out of use."""

    of = Program
    takes = {"post": Right.OPERATE}

    @operation("retire_program", TAG, answer=ProgramOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Retire all versions of a program, and delete their secrets; results stay. 409 while a campaign runs it."""
        row = programs.retire(get_object_or_404(Program, pk=pk), self.user)
        return Response(self.shown(row, ProgramOutput))


def _saved(data: JsonObject, save: Any) -> Program:
    """Save a draft; errors of the definition are reported below `definition`."""
    try:
        row: Program = save(data["definition"], data.get("secrets") or {})
    except Invalid as invalid:
        raise Invalid(
            {
                path if path in ("secrets", "team") else f"definition.{path}".rstrip("."): texts
                for path, texts in invalid.errors.items()
            }
        ) from None
    return row
