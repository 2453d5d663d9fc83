"""URLs of conclusions, below conclusions/."""

from django.urls import path

from campaigns.reviews.pages.conclusions import actions, page

urlpatterns = [
    path("", page.conclusion_list, name="conclusion-list"),
    path("new/", actions.conclusion_new, name="conclusion-new"),
    path("<int:pk>/", page.conclusion_page, name="conclusion"),
    path("<int:pk>/edit/", actions.conclusion_edit, name="conclusion-edit"),
    path("<int:pk>/send/", actions.conclusion_send, name="conclusion-send"),
    path("<int:pk>/decide/", actions.conclusion_decide, name="conclusion-decide"),
    path("<int:pk>/withdraw/", actions.conclusion_withdraw, name="conclusion-withdraw"),
    path("<int:pk>/delete/", actions.conclusion_delete, name="conclusion-delete"),
]
