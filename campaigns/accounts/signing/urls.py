"""URLs of sign-in and of one's own account, beside those of tokens."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from campaigns.accounts.signing import code, invitations, oidc, own, password, sessions

urlpatterns = [
    path("sign-in/", password.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/<str:token>/", password.sign_in_by_link, name="sign-in-link"),
    path("sign-in/code/", code.sign_in_code, name="sign-in-code"),
    path("sign-in/code/give-up/", code.sign_in_restart, name="sign-in-restart"),
    path("sign-in/oidc/", oidc.begin, name="oidc-begin"),
    path("sign-in/oidc/back/", oidc.callback, name="oidc-callback"),
    path("sign-in/invitation/<str:token>/", invitations.invitation, name="invitation"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("account/password/", own.password, name="password"),
    path("account/email/", own.email, name="email"),
    path("account/second-factor/on/", code.factor_on, name="factor-on"),
    path("account/second-factor/off/", code.factor_off, name="factor-off"),
    path("account/recovery-codes/", code.recovery_codes, name="recovery-codes"),
    path("account/oidc/connect/", oidc.connect, name="oidc-connect"),
    path("account/oidc/disconnect/", oidc.disconnect, name="oidc-disconnect"),
    path("account/sessions/<int:pk>/end/", sessions.session_end, name="session-end"),
    path("account/sessions/end-others/", sessions.session_end_others, name="session-end-others"),
    path("teams/<int:pk>/invitations/", invitations.team_invitations, name="team-invitations"),
    path("invitations/<int:pk>/revoke/", invitations.invitation_revoke, name="invitation-revoke"),
]
