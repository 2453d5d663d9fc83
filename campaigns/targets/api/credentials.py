"""REST resources of credentials. No secret, and no certificate, is ever in an answer."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import FormInput, Name
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput, Part
from campaigns.kit.api.views import Api
from campaigns.kit.database_clock import database_now
from campaigns.kit.mappings import FieldValues
from campaigns.kit.revisions import revision_of
from campaigns.kit.rights import Right, team_for
from campaigns.models import Credential
from campaigns.models.credentials import MOST_PLACES
from campaigns.targets.credentials import saving
from campaigns.targets.credentials.ends import warning_of
from campaigns.targets.credentials.forms import SECRETS, CredentialForm
from campaigns.targets.credentials.uses import uses_of

TAG = "credentials"
MOST_NAMED = 20


class CredentialInput(FormInput):
    """The fields of a credential. places: scheme, host and port of each server that may get it."""

    form = CredentialForm
    places = serializers.ListField(
        child=serializers.CharField(max_length=2000), max_length=MOST_PLACES, required=False
    )


class NewCredentialInput(CredentialInput):
    """A credential of a team: by number or name; needed of those alone who operate in several."""

    without = ["forget_password", "forget_token", "forget_certificate"]
    team = Name()


class EditCredentialInput(CredentialInput):
    """The fields that change; what is not sent stays."""

    without = ["name"]


class Use(Part):
    """A campaign that names a credential and may still run."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()


class CredentialOutput(ModelOutput[Credential]):
    """A login of a team. `has`: which secrets are stored. `version`: counts the changes of its values.

    `warning`: that its certificate has ended or ends soon; empty where it does not. `used_by`: the first campaigns that may still run with it.
    """

    url = serializers.HyperlinkedIdentityField("api-credential")
    places = serializers.ListField(child=serializers.CharField())
    has = serializers.SerializerMethodField()
    warning = serializers.SerializerMethodField()
    used_by = serializers.SerializerMethodField()

    class Meta:
        model = Credential
        fields = [
            *("id", "url", "team", "name", "places", "username", "ca", "has", "version"),
            *("subject", "fingerprint", "begins_at", "ends_at", "warning", "used_by"),
            *("created_at", "changed_at"),
        ]

    def get_has(self, row: Credential) -> list[str]:
        """Return the names of the secrets that are stored."""
        return [name for name in SECRETS if getattr(row, name)]

    def get_warning(self, row: Credential) -> str:
        """Return what is to be known of its end."""
        return warning_of(row, database_now())

    @extend_schema_field(Use(many=True))
    def get_used_by(self, row: Credential) -> list[dict[str, object]]:
        """Return campaigns."""
        request = self.context["request"]
        return [
            {
                "id": each.pk,
                "name": each.name,
                "url": reverse("api-campaign", args=[each.pk], request=request),
            }
            for each in uses_of(row).open[:MOST_NAMED]
        ]


class CredentialAnswer(CredentialOutput):
    """A credential that was saved. `warnings`: what is odd about it."""

    warnings = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(CredentialOutput.Meta):
        fields = [*CredentialOutput.Meta.fields, "warnings"]


class Credentials(Api):
    """GET: the credentials of your teams. POST: a new one."""

    takes = {"post": Right.OPERATE}

    @operation("list_credentials", TAG, answer=CredentialOutput)
    def get(self, request: Request) -> Response:
        """List credentials, by name."""
        return self.page(self.visible(Credential.objects.all()), CredentialOutput, "name")

    @operation("create_credential", TAG, body=NewCredentialInput, answer=CredentialAnswer)
    def post(self, request: Request) -> Response:
        """Save a credential; `warnings` hold notes on it."""
        data = self.read(NewCredentialInput)
        team = team_for(self.user, data.pop("team"), Right.OPERATE)
        row = saving.save_credential(_as_form(data), team=team)
        output = answer_of(request, row, data)
        return Response(
            output, status=status.HTTP_201_CREATED, headers={"Location": str(output["url"])}
        )


class OneCredential(Api):
    """GET: one credential. PATCH: change it. DELETE: where nothing that may still run names it."""

    of = Credential
    takes = {"patch": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_credential", TAG, answer=CredentialOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One credential, without its secrets."""
        return self.one(get_object_or_404(Credential, pk=pk), CredentialOutput, saving.revised)

    @operation("edit_credential", TAG, body=EditCredentialInput, answer=CredentialAnswer)
    def patch(self, request: Request, pk: int) -> Response:
        """Change the fields that are sent. A secret that is not sent stays; for a new address each is sent again, or forgotten."""
        row = get_object_or_404(Credential, pk=pk)
        changes = self.read(EditCredentialInput)
        saved = saving.save_credential(
            dict(saving.as_data(row)) | dict(_as_form(changes)), row, seen=self.seen
        )
        self.revision = revision_of(saving.revised(saved))
        return Response(answer_of(request, saved, changes))

    @operation("delete_credential", TAG)
    def delete(self, request: Request, pk: int) -> Response:
        """Delete it. 409 while a campaign or template that may still run names it."""
        row = get_object_or_404(Credential, pk=pk)
        with self.unchanged(row, saving.revised):
            saving.delete_credential(row, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def answer_of(request: Request, row: Credential, data: FieldValues) -> dict[str, object]:
    """Return the answer to a credential that was saved."""
    output = dict(CredentialOutput(row, context={"request": request}).data)
    return output | {"warnings": saving.remarks_after(row, data)}


def _as_form(data: FieldValues) -> FieldValues:
    """Return what was sent as the form takes it: an address a line."""
    places = data.get("places")
    return {**data, "places": "\n".join(places)} if places is not None else data
