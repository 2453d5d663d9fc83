"""REST resources of the populations of a target. No certificate or key is ever in an answer."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import Flag, FormInput, Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput, text
from campaigns.kit.api.views import Api
from campaigns.kit.database_clock import database_now
from campaigns.kit.rights import Right
from campaigns.models import Population, Target
from campaigns.targets.api.targets import in_use
from campaigns.targets.populations.asking import ask_deletion, ask_for, forget, go_on
from campaigns.targets.populations.forms import PopulationForm
from campaigns.targets.populations.notes import note_on

TAG = "populations"


class PopulationInput(FormInput):
    """The hosts that are registered."""

    form = PopulationForm


class PopulationOutput(ModelOutput[Population]):
    """Hosts that are registered at a target. `registered`: how many are by now. `problem`: why the work on them failed last.

    `note`: what it waits for, such as the end of quiet hours, or what to do; empty where there is neither.
    """

    url = serializers.SerializerMethodField()
    number = serializers.IntegerField(source="pk")
    problem = text()
    note = serializers.SerializerMethodField()

    class Meta:
        model = Population
        fields = [
            "url",
            "number",
            "state",
            "hosts",
            "registered",
            "organization",
            "activation_keys",
            "days",
            "problem",
            "note",
            "created_at",
        ]

    @extend_schema_field(serializers.URLField())
    def get_url(self, row: Population) -> str:
        """The address of this resource."""
        return reverse(
            "api-population", args=[row.target_id, row.pk], request=self.context["request"]
        )

    def get_note(self, row: Population) -> str:
        """What it waits for, or what to do."""
        return note_on(row, database_now())


class Populations(Api):
    """GET: the populations of a target. POST: a new one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_populations", TAG, answer=PopulationOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """List the populations of a target."""
        rows = get_object_or_404(Target, pk=pk).populations.all()
        return self.whole([self.shown(row, PopulationOutput) for row in rows], PopulationOutput)

    @operation(
        "create_population",
        TAG,
        body=PopulationInput,
        answer=PopulationOutput,
        code=status.HTTP_202_ACCEPTED,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Have hosts registered at a Katello. It takes a while: `state` and `registered` tell how far it has come."""
        row = ask_for(in_use(pk), self.read(PopulationInput), self.user)
        output = self.shown(row, PopulationOutput)
        return Response(
            output, status=status.HTTP_202_ACCEPTED, headers={"Location": output["url"]}
        )


class DeletionQuery(Input):
    """forget: delete it here, though its hosts could not be deleted at the server."""

    forget = Flag(default=False)


class OnePopulation(Api):
    """GET: one population. DELETE: delete its hosts at the server, and then the population."""

    of = Target
    takes = {"delete": Right.OPERATE}

    @operation("get_population", TAG, answer=PopulationOutput)
    def get(self, request: Request, pk: int, number: int) -> Response:
        """One population of a target; 404 once it is deleted."""
        row = get_object_or_404(Population, target=pk, pk=number)
        return Response(self.shown(row, PopulationOutput))

    @operation(
        "delete_population",
        TAG,
        query=DeletionQuery,
        answer=PopulationOutput,
        code=status.HTTP_202_ACCEPTED,
        also=[status.HTTP_200_OK],
    )
    def delete(self, request: Request, pk: int, number: int) -> Response:
        """Have its hosts deleted at the server; `problem` tells why that failed, and it is tried again.

        200 with `forget=true`: it is deleted here alone. 409 unless its hosts could not be deleted.
        """
        row = get_object_or_404(Population, target=pk, pk=number)
        if self.read_query(DeletionQuery)["forget"]:
            forget(row, self.user)
            return Response(self.shown(row, PopulationOutput))
        row = ask_deletion(row, self.user)
        return Response(self.shown(row, PopulationOutput), status=status.HTTP_202_ACCEPTED)


class PopulationAgain(Api):
    """POST: have the hosts registered that a population lacks."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("go_on_with_population", TAG, answer=PopulationOutput, code=status.HTTP_202_ACCEPTED)
    def post(self, request: Request, pk: int, number: int) -> Response:
        """Go on with a population that is `failed`, after what `problem` names is mended. 409 for any other."""
        row = go_on(get_object_or_404(Population, target=pk, pk=number), self.user)
        return Response(self.shown(row, PopulationOutput), status=status.HTTP_202_ACCEPTED)
