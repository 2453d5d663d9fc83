"""REST resource of reports and of public links to them."""

from collections.abc import Callable, Mapping

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import IgnoresAccept, Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.errors import NotPossible
from campaigns.kit.moment import one_moment
from campaigns.kit.rights import Right
from campaigns.models import Conclusion, PublicLink
from campaigns.reviews import public_links
from campaigns.reviews.reports import building, files, markdown, sizing
from campaigns.reviews.reports.values import Report
from campaigns.reviews.rows import require_to_see

WRITERS: Mapping[str, tuple[str, Callable[[Report], str]]] = {
    "md": ("text/markdown; charset=utf-8", markdown.markdown),
    "html": ("text/html; charset=utf-8", files.standalone),
}


class ReportQuery(Input):
    """The format of a report."""

    format = serializers.ChoiceField(choices=sorted(WRITERS), default="md")


class PublicLinkOutput(Selectable, serializers.ModelSerializer[PublicLink]):
    """A public link without its text, of which only the hash is stored."""

    made_by = serializers.CharField(source="made_by.username")

    class Meta:
        model = PublicLink
        fields = ["id", "made_by", "created_at", "last_used_at", "revoked_at"]


class NewPublicLinkOutput(PublicLinkOutput):
    """A new link. `address`: its only copy."""

    address = serializers.CharField()

    class Meta(PublicLinkOutput.Meta):
        fields = [*PublicLinkOutput.Meta.fields, "address"]


def _conclusion(user: User, pk: int) -> Conclusion:
    """Return a conclusion that the user may see, with all its evidence. Raise Http404, NotVisible."""
    conclusion = get_object_or_404(Conclusion.objects.select_related("author", "team"), pk=pk)
    require_to_see(user, conclusion)
    return conclusion


class OneReport(Api):
    """GET: the report of a conclusion."""

    of = Conclusion
    content_negotiation_class = IgnoresAccept

    @operation(
        "get_report",
        "conclusions",
        query=ReportQuery,
        answer={"text/markdown": OpenApiTypes.STR, "text/html": OpenApiTypes.STR},
    )
    @one_moment()
    def get(self, request: Request, pk: int) -> HttpResponse:
        """Return the report as a file: `md` for a pull request, or self-contained `html`."""
        ending = self.read_query(ReportQuery)["format"]
        conclusion = _conclusion(self.user, pk)
        media_type, write = WRITERS[ending]
        return files.response(conclusion, write(building.report_of(conclusion)), ending, media_type)


class SizingQuery(Input):
    """The format of the sizing tables."""

    format = serializers.ChoiceField(choices=sorted(sizing.WRITERS), default="csv")


class Sizing(Api):
    """GET: the sizing tables of a conclusion."""

    of = Conclusion
    content_negotiation_class = IgnoresAccept

    @operation(
        "get_sizing",
        "conclusions",
        query=SizingQuery,
        answer={"text/csv": OpenApiTypes.STR, "text/markdown": OpenApiTypes.STR},
    )
    @one_moment()
    def get(self, request: Request, pk: int) -> HttpResponse:
        """Return what each target carries with its recommended setting, a line a target: `csv`, or `md` for a document."""
        ending = self.read_query(SizingQuery)["format"]
        conclusion = _conclusion(self.user, pk)
        media_type, write = sizing.WRITERS[ending]
        text = write(sizing.sizing_of(conclusion))
        return files.response(conclusion, text, f"sizing.{ending}", media_type)


class PublicLinks(Api):
    """GET: public links to a report. POST: a new one."""

    of = Conclusion
    takes = {"get": Right.REVIEW, "post": Right.REVIEW}
    reads_body = True
    """Answers are not stored for an Idempotency-Key: they hold the only copy of the link."""

    @operation("list_public_links", "conclusions", answer=PublicLinkOutput)
    def get(self, request: Request, pk: int) -> Response:
        """List the public links of a conclusion, the newest first, including revoked ones."""
        rows = PublicLink.objects.filter(conclusion=pk).select_related("made_by")
        return self.page(rows, PublicLinkOutput, "-pk")

    @operation("make_public_link", "conclusions", answer=NewPublicLinkOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Create a link by which anybody can read the accepted report. `address` is returned only here."""
        conclusion = get_object_or_404(Conclusion, pk=pk)
        require_to_see(self.user, conclusion)
        try:
            link, text = public_links.make_link(conclusion, self.user)
        except public_links.NoLink as refusal:
            raise NotPossible(str(refusal)) from None
        address = request.build_absolute_uri(reverse("public-report", args=[text]))
        data = {**self.shown(link, PublicLinkOutput), "address": address}
        return Response(data, status=status.HTTP_201_CREATED)


class RevokePublicLink(Api):
    """POST: revoke a public link."""

    of = Conclusion
    takes = {"post": Right.REVIEW}

    @operation("revoke_public_link", "conclusions", answer=PublicLinkOutput)
    def post(self, request: Request, pk: int, link: int) -> Response:
        """Revoke a link at once and for good; its record stays."""
        rows = PublicLink.objects.select_related("made_by", "conclusion")
        result = public_links.revoke_link(get_object_or_404(rows, pk=link, conclusion=pk))
        return Response(self.shown(result, PublicLinkOutput))
