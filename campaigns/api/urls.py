"""URLs of the REST API."""

from django.urls import path, re_path

from campaigns.api import campaigns, documents, queues, schemas, views, whoami

urlpatterns = [
    path("whoami", whoami.WhoAmI.as_view(), name="api-whoami"),
    path("kinds", views.Kinds.as_view(), name="api-kinds"),
    path("kinds/<slug:kind>", views.OneKind.as_view(), name="api-kind"),
    path("kinds/<slug:kind>/schema", schemas.KindSchema.as_view(), name="api-kind-schema"),
    path("targets", views.Targets.as_view(), name="api-targets"),
    path("targets/<int:pk>", views.OneTarget.as_view(), name="api-target"),
    path("targets/<int:pk>/probe", views.Probe.as_view(), name="api-probe"),
    path("campaigns", campaigns.Campaigns.as_view(), name="api-campaigns"),
    path("campaigns/preview", campaigns.Preview.as_view(), name="api-preview"),
    path("campaigns/<int:pk>", campaigns.OneCampaign.as_view(), name="api-campaign"),
    path("campaigns/<int:pk>/launch", campaigns.Launch.as_view(), name="api-launch"),
    path("campaigns/<int:pk>/pause", campaigns.Pause.as_view(), name="api-pause"),
    path("campaigns/<int:pk>/resume", campaigns.Resume.as_view(), name="api-resume"),
    path("campaigns/<int:pk>/cancel", campaigns.Cancel.as_view(), name="api-cancel"),
    path("campaigns/<int:pk>/extend", campaigns.Extend.as_view(), name="api-extend"),
    path("campaigns/<int:pk>/amend", campaigns.Amend.as_view(), name="api-amend"),
    path("campaigns/<int:pk>/try", campaigns.Try.as_view(), name="api-try"),
    path("campaigns/<int:pk>/clone", campaigns.Clone.as_view(), name="api-clone"),
    path("campaigns/<int:pk>/move-up", queues.MoveUp.as_view(), name="api-move-up"),
    path("campaigns/<int:pk>/move-down", queues.MoveDown.as_view(), name="api-move-down"),
    path("queues", queues.Queues.as_view(), name="api-queues"),
    path("campaigns/<int:pk>/runs", campaigns.Runs.as_view(), name="api-runs"),
    path("campaigns/<int:pk>/runs/<int:position>", campaigns.OneRun.as_view(), name="api-run"),
    path("schemas/campaign.json", schemas.DefinitionSchema.as_view(), name="api-schema"),
    path("openapi.json", documents.OpenApi.as_view(), name="api-openapi"),
    path("openapi.yaml", documents.OpenApiYaml.as_view(), name="api-openapi-yaml"),
    path("docs", documents.docs, name="api-docs"),
    re_path("", views.Nothing.as_view(), name="api-nothing"),
]
