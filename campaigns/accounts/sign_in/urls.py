"""URLs of sign-in and of one's own account; most views are django-allauth's."""

from allauth.account import views as accounts
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView

from campaigns.accounts.access import LINK_PATH
from campaigns.accounts.sign_in import invitations, oidc, own_email, password, sessions
from campaigns.accounts.sign_in.password import by_mail

urlpatterns = [
    path("sign-in/", password.SignIn.as_view(), name="account_login"),
    path(f"{LINK_PATH}<str:token>/", password.sign_in_by_link, name="sign-in-link"),
    path(
        "sign-in/reset/",
        by_mail(password.ForgottenPassword.as_view()),
        name="account_reset_password",
    ),
    path(
        "sign-in/reset/code/",
        by_mail(accounts.confirm_password_reset_code),
        name="account_confirm_password_reset_code",
    ),
    path(
        "sign-in/reset/password/",
        by_mail(accounts.complete_password_reset),
        name="account_complete_password_reset",
    ),
    path(
        "sign-in/reset/done/",
        by_mail(login_not_required(RedirectView.as_view(pattern_name="account_login"))),
        name="account_password_reset_completed",
    ),
    path("sign-in/oidc/", oidc.begin, name="oidc-begin"),
    path("sign-in/oidc/back/", oidc.callback, name="oidc-callback"),
    path("sign-in/invitation/<str:token>/", invitations.invitation, name="invitation"),
    path("sign-out/", require_POST(accounts.logout), name="account_logout"),
    path("account/confirm/", accounts.reauthenticate, name="account_reauthenticate"),
    path("account/password/", accounts.password_change, name="account_change_password"),
    path("account/password/set/", accounts.password_set, name="account_set_password"),
    path("account/email/", own_email.email, name="email"),
    # The account page lists the second factors.
    path("account/second-factor/", RedirectView.as_view(pattern_name="account"), name="mfa_index"),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("account/oidc/connect/", oidc.connect, name="oidc-connect"),
    path("account/oidc/disconnect/", oidc.disconnect, name="oidc-disconnect"),
    path("account/sessions/<int:pk>/end/", sessions.session_end, name="session-end"),
    path("account/sessions/end-others/", sessions.session_end_others, name="session-end-others"),
    path("teams/<int:pk>/invitations/", invitations.team_invitations, name="team-invitations"),
    path("invitations/<int:pk>/revoke/", invitations.invitation_revoke, name="invitation-revoke"),
]
