"""Templates of teams, and campaigns that begin with one."""

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import FormInput
from campaigns.kit.api.openapi import NOT_FOUND, operation
from campaigns.kit.api.outputs import ModelOutput
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.filters import LARGEST
from campaigns.kit.rights import Right, find, visible
from campaigns.models import Campaign, Template
from campaigns.planning import templates
from campaigns.planning.filters import TemplateFilters


class TemplateInput(FormInput):
    """The name and description of a template."""

    form = templates.TemplateForm


class NewTemplateInput(TemplateInput):
    """A template of a campaign's definition."""

    campaign = serializers.IntegerField(min_value=1, max_value=LARGEST)


class TemplateOutput(ModelOutput[Template]):
    """A template. `definition`: as a campaign takes it, without name and seed."""

    team = serializers.CharField(source="team.name")
    made_by = serializers.SerializerMethodField()
    definition = serializers.JSONField()

    class Meta:
        model = Template
        fields = [
            "id",
            "team",
            "name",
            "notes",
            "definition",
            "made_by",
            "created_at",
            "retired_at",
        ]

    def get_made_by(self, template: Template) -> str | None:
        """Its name, null where nobody is known."""
        return template.made_by.get_username() if template.made_by else None


class Templates(Api):
    """GET: templates of one's teams. POST: a new one."""

    takes = {"post": Right.WRITE}

    @operation("list_templates", "templates", answer=TemplateOutput, filters=TemplateFilters)
    def get(self, request: Request) -> Response:
        """Templates of your teams, the newest first, with those that were retired."""
        rows = visible(Template.objects.select_related("team", "made_by"), self.user)
        return self.page(rows, TemplateOutput, "-pk", TemplateFilters)

    @operation(
        "create_template",
        "templates",
        body=NewTemplateInput,
        answer=TemplateOutput,
        refusals=[NOT_FOUND],
    )
    def post(self, request: Request) -> Response:
        """Keep the definition of a campaign, without its results, for its team."""
        data = self.read(NewTemplateInput)
        campaign = find(Campaign.objects.all(), self.user, Right.WRITE, pk=data.pop("campaign"))
        try:
            made = templates.make_template(campaign, data, self.user)
        except templates.NoTemplate as refusal:
            raise NotPossible(str(refusal)) from None
        return Response(self.shown(made, TemplateOutput), status=status.HTTP_201_CREATED)


class OneTemplate(Api):
    """GET: one template. PATCH: another name, other notes."""

    of = Template
    takes = {"patch": Right.WRITE}

    @operation("get_template", "templates", answer=TemplateOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One template, also a retired one."""
        row = get_object_or_404(Template, pk=pk)
        return self.one(row, TemplateOutput, templates.description_of)

    @operation("edit_template", "templates", body=TemplateInput, answer=TemplateOutput)
    def patch(self, request: Request, pk: int) -> Response:
        """Change its name or notes; what is not sent stays."""
        template = get_object_or_404(Template, pk=pk)
        data = templates.description_of(template) | self.read(TemplateInput)
        try:
            with self.unchanged(template, templates.description_of):
                templates.change_template(template, data, self.user)
        except templates.NoTemplate as refusal:
            raise NotPossible(str(refusal)) from None
        return Response(self.shown(template, TemplateOutput))


class RetireTemplate(Api):
    """POST: let no further campaign begin with it."""

    of = Template
    takes = {"post": Right.WRITE}

    @operation("retire_template", "templates", answer=TemplateOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Let no further campaign begin with it; those that did stay as they are."""
        template = templates.retire_template(get_object_or_404(Template, pk=pk), self.user)
        return Response(self.shown(template, TemplateOutput))
