"""URLs of the page Notifications."""

from django.urls import path

from campaigns.accounts.pages import notifications

urlpatterns = [
    path("", notifications.notifications, name="notifications"),
    path("channels/", notifications.channel_new, name="channel-new"),
    path("channels/<int:pk>/", notifications.channel_edit, name="channel-edit"),
    path("channels/<int:pk>/trial/", notifications.channel_trial, name="channel-trial"),
    path("channels/<int:pk>/secret/", notifications.channel_secret, name="channel-secret"),
    path("channels/<int:pk>/delete/", notifications.channel_delete, name="channel-delete"),
    path("confirm/<str:token>/", notifications.channel_confirm, name="channel-confirm"),
]
