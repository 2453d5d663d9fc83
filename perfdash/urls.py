"""All addresses: pages, and the REST interface."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("campaigns.urls.api")),
    path("", include("campaigns.urls.pages")),
]

handler400 = "perfdash.errors.bad_request"
handler403 = "perfdash.errors.permission_denied"
handler404 = "perfdash.errors.not_found"
handler500 = "perfdash.errors.server_error"
