"""URLs of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import include, path, re_path

from campaigns.web import (
    accounts,
    compare,
    define,
    health,
    home,
    importing,
    listing,
    metrics,
    queues,
    targets,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("running/", home.running, name="home-running"),
    # Those who watch ask without a slash at the end, or with one; a redirection would confuse them.
    re_path(r"^health/?$", health.health, name="health"),
    re_path(r"^ready/?$", health.ready, name="ready"),
    re_path(r"^metrics/?$", metrics.metrics, name="metrics"),
    path("sign-in/", accounts.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/<str:token>/", accounts.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("account/tokens/", accounts.create_token, name="token-create"),
    path("account/tokens/<int:pk>/revoke/", accounts.revoke_token, name="token-revoke"),
    path("targets/", targets.target_list, name="target-list"),
    path("targets/new/", targets.target_new, name="target-new"),
    path("targets/<int:pk>/", targets.target_page, name="target"),
    path("targets/<int:pk>/health/", targets.target_health, name="target-health"),
    path("targets/<int:pk>/probe/", targets.target_probe, name="target-probe"),
    path("targets/<int:pk>/edit/", targets.target_edit, name="target-edit"),
    path("targets/<int:pk>/retire/", targets.target_retire, name="target-retire"),
    path("queues/", queues.queue_list, name="queue-list"),
    path("queues/part/", queues.queue_part, name="queue-part"),
    path("compare/", compare.compare, name="compare"),
    path("compare/comparison.csv", compare.compare_csv, name="compare-csv"),
    path("import/", importing.import_page, name="import"),
    path("import/preview/", importing.import_preview, name="import-preview"),
    path("import/<int:pk>/", importing.import_wait, name="import-wait"),
    path("campaigns/", listing.campaign_list, name="campaign-list"),
    path("campaigns/new/", define.campaign_new, name="campaign-new"),
    path("campaigns/plan/", define.campaign_plan, name="campaign-plan"),
    path("campaigns/<int:pk>/edit/", define.campaign_edit, name="campaign-edit"),
    path("campaigns/<int:pk>/clone/", define.campaign_clone, name="campaign-clone"),
    path("campaigns/<int:pk>/delete/", listing.campaign_delete, name="campaign-delete"),
    path("campaigns/<int:pk>/", include("campaigns.web.campaign_urls")),
]
