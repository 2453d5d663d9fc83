"""All addresses: pages, and the REST interface."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("campaigns.api.urls")),
    path("", include("campaigns.web.urls")),
]
